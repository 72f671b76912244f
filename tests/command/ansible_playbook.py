# SPDX-License-Identifier: Apache-2.0
"""ansible-playbook with the collection hcpnet.hcpnet."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from api_objects import Object
from api_server import ROOT

PYTHONPATH = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]  # where hcpnet is


def environment_of_ansible() -> Path:
    """Where scripts/deps.sh has put Ansible; the test fails when it has not."""
    words = ["bash", "-c", "source scripts/deps.sh && echo $HCPNET_ANSIBLE"]
    folder = Path(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip())
    assert (folder / "complete").exists(), "Ansible is not installed: run scripts/deps.sh test"
    return folder


class Ansible:
    """ansible-playbook with our collection, on this host."""

    def __init__(self, folder: Path, kubeconfig: Path | None = None) -> None:
        self.folder = folder
        self.bin = environment_of_ansible()
        self.env = {
            "PATH": f"{self.bin}/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in PYTHONPATH),
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT}/ansible:{self.bin}/collections",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "K8S_AUTH_KUBECONFIG": str(kubeconfig or ""),
        }
        (folder / "inventory").write_text(
            f"localhost ansible_connection=local ansible_python_interpreter={self.bin}/bin/python\n"
        )

    def playbook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / "bin/ansible-playbook"), "-i", str(self.folder / "inventory"), *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300)

    def run(self, tasks: list[Object], *flags: str) -> tuple[list[Object], str]:
        """The result of each task, and everything that was printed. A task may fail: its result says so."""
        steps: list[Object] = []
        names = [f"result_{index}" for index in range(len(tasks))]
        for name, task in zip(names, tasks, strict=True):
            steps.append({"name": name, **task, "register": name, "ignore_errors": True})
        file = self.folder / "results"
        content = f"{{{{ [{', '.join(names)}] | to_json }}}}"
        keep = {"content": content, "dest": str(file), "mode": "0600"}
        steps.append({"name": "Keep them", "ansible.builtin.copy": keep, "check_mode": False, "diff": False})
        play = [{"name": "Test", "hosts": "localhost", "gather_facts": False, "tasks": steps}]
        (self.folder / "play.json").write_text(json.dumps(play))
        done = self.playbook("play.json", *flags)
        assert done.returncode == 0, done.stdout + done.stderr
        results: list[Object] = json.loads(file.read_text())
        return results, done.stdout + done.stderr
