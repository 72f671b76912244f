# SPDX-License-Identifier: Apache-2.0
"""A program under measurement together with all that it forks: started, weighed, ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path


class ProcessGroup:
    """One program that leads a process group of its own, while it runs."""

    process: subprocess.Popen | None = None

    def launch(self, cores: str, command: list[str], log: str | Path, environment: dict[str, str]) -> None:
        """Starts it on these cores; `environment` on top of ours. taskset becomes the program."""
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                ["taskset", "-c", cores, *command],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def members(self) -> list[int]:
        """Its processes: some programs fork."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(ProcessLookupError):
                if entry.name.isdigit() and os.getpgid(int(entry.name)) == self.process.pid:
                    found.append(int(entry.name))
        return found

    def cpu_seconds(self) -> float:
        """CPU time that the threads of its processes have used so far; those that ended do not count."""
        total = 0
        for pid in self.members():
            tasks: list[Path] = []
            with contextlib.suppress(FileNotFoundError):
                tasks.extend(Path(f"/proc/{pid}/task").iterdir())
            for task in tasks:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory_kib(self, *kinds: str) -> int:
        """The sum of such lines of smaps_rollup, Rss for example, over its processes."""
        total = 0
        for pid in self.members():
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.split(":")[0] in kinds:
                    total += int(line.split()[1])
        return total

    def stop(self) -> None:
        """Asks it to end, and kills it with all that it has started if it is still there after ten seconds."""
        if self.process is None:
            return
        for ask in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, ask)
                self.process.wait(10)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.process = None
