# SPDX-License-Identifier: Apache-2.0
"""The hcpnet command as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NETWORK = """\
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: hcp}
spec:
  networkConfig: {cidr: 127.83.0.0/24, gateway: 127.83.0.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: 127.83.0.2, rangeStart: 127.83.0.100, rangeEnd: 127.83.0.149}
    dns: {serverIP: 127.83.0.3, clusterName: blue, baseDomain: example.com}
    proxy: {serverIP: 127.83.0.4, controlPlaneNamespace: clusters-blue, internalProxyService: 198.51.100.10}
"""
PORT_MAPS = [word for port in (67, 53, 443, 6443) for word in ("--map-port", f"{port}=0")]


def wait_until(condition: Callable[[], object], what: str | Callable[[], str] = "it never came") -> None:
    """Asks until it holds, and for a minute at most; `what` is said then."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what if isinstance(what, str) else what()
        time.sleep(0.02)  # between two questions


def examples_of(page: str, language: str) -> list[tuple[str, str]]:
    """The commands on a page of docs/, each with what it prints."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"<!-- command -->\n```sh\nhcpnet (.*?)\n```\n```{language}\n(.*?)```", text, re.S)


class Hcpnet:
    """The command, and the processes it started."""

    def __init__(self, command: str, folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.state = folder / "state"
        self.network = folder / "network.yaml"
        self.network.write_text(NETWORK)
        self.processes: list[subprocess.Popen[str]] = []

    def __call__(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.command, *arguments], input=stdin, capture_output=True, text=True, timeout=60)

    def example(self, line: str) -> str:
        """What a command of the docs prints, as if it were run in the source tree."""
        done = self(*(str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(line)))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def up(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts serving self.network and waits until it answers."""
        full = [self.command, "up", str(self.network), "--state-dir", str(self.state), *PORT_MAPS, *arguments]
        process = subprocess.Popen(full, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.processes.append(process)
        deadline = time.monotonic() + 30
        while self("status", "--state-dir", str(self.state)).returncode != 0:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "it does not answer"
        return process

    def ask(self, *arguments: str) -> dict[str, Any]:
        done = self(*arguments, "--state-dir", str(self.state), "-o", "json")
        assert done.returncode == 0, done.stderr
        body: dict[str, Any] = json.loads(done.stdout)
        return body

    def bound(self, service: str, configured_port: int) -> tuple[str, int]:
        for listener in self.ask("status")["listeners"]:
            if listener["service"] == service and listener["configured"].endswith(f":{configured_port}"):
                address, port = listener["bound"].rsplit(":", 1)
                return address, int(port)
        raise AssertionError(f"no {service} listener for {configured_port}")
