# SPDX-License-Identifier: Apache-2.0
"""The static pods of a rendering as real processes on loopback: their flags, with other paths and ports."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import yaml
from api_server import ROOT, tool
from hcpnet_command import Hcpnet

BOOTSTRAP_ADDRESS = "192.168.126.100"  # of examples/bootstrap
# What only a test wants: no waiting for the disk; no Endpoints of the loopback address, which the API refuses.
MORE = {"etcd": ["--unsafe-no-fsync"], "kube-apiserver": ["--endpoint-reconciler-type=none"]}


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class ControlPlane:
    """etcd, kube-apiserver and kube-controller-manager of one rendering."""

    def __init__(self, hcpnet: Hcpnet, folder: Path, layout: str, more_spec: str = "") -> None:
        self.folder, self.out = folder, folder / "out"
        shutil.copytree(ROOT / "examples/bootstrap", folder / "in")
        spec = folder / "in/cluster.yaml"
        spec.write_text(spec.read_text().replace("layout: HandMade", f"layout: {layout}") + more_spec)
        done = hcpnet("bootstrap", "render", str(spec), "--output-dir", str(self.out))
        assert done.returncode == 0, done.stderr
        self.etcd_port, peer, self.port, manager = free_ports(4)
        self.rewrites = {
            "/etc/kubernetes/pki": str(self.out / "pki"),
            "/etc/kubernetes/kubeconfigs": str(folder / "kubeconfigs"),
            "/var/lib/etcd": str(folder / "etcd"),
            BOOTSTRAP_ADDRESS: "127.0.0.1",
            "0.0.0.0": "127.0.0.1",
            ":2379": f":{self.etcd_port}",
            ":2380": f":{peer}",
            "--secure-port=6443": f"--secure-port={self.port}",
            "--secure-port=10257": f"--secure-port={manager}",
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.make_kubeconfigs()

    def make_kubeconfigs(self) -> None:
        """Each goes to loopback, and checks the name that it would have dialled."""
        (self.folder / "kubeconfigs").mkdir()
        for path in (self.out / "kubeconfig").iterdir():
            config = yaml.safe_load(path.read_text())
            cluster = config["clusters"][0]["cluster"]
            host, port = cluster["server"].removeprefix("https://").split(":")
            assert port == "6443"
            cluster.update({"server": f"https://127.0.0.1:{self.port}", "tls-server-name": host})
            self.kubeconfig(path.stem).write_text(yaml.safe_dump(config))

    def kubeconfig(self, name: str) -> Path:
        return self.folder / f"kubeconfigs/{name}.kubeconfig"

    def pod(self, name: str) -> dict[str, Any]:
        pod = yaml.safe_load((self.out / f"bootstrap-node/etc/kubernetes/manifests/{name}.yaml").read_text())
        assert isinstance(pod, dict)
        return pod

    def arguments(self, name: str) -> list[str]:
        container = self.pod(name)["spec"]["containers"][0]
        assert container["command"] == [name]
        arguments = []
        for argument in container["args"]:
            for old, new in self.rewrites.items():
                argument = argument.replace(old, new)
            arguments.append(argument)
        return arguments + MORE.get(name, [])

    def start(self, name: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen([tool(name), *self.arguments(name)], stdout=log, stderr=log)

    def start_api(self) -> None:
        """Starts etcd and the API server, and waits until they are ready."""
        self.start("etcd")
        self.start("kube-apiserver")
        deadline = time.monotonic() + 240
        while not self.is_ready():
            assert all(p.poll() is None for p in self.processes.values()), self.logs()
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.2)  # between two questions

    def is_ready(self) -> bool:
        try:
            return self.ask("localhost", self.port, self.server_ca, None, "/readyz") == 200
        except OSError:
            return False

    @property
    def server_ca(self) -> Path:
        (flag,) = [a for a in self.arguments("kube-controller-manager") if a.startswith("--root-ca-file=")]
        return Path(flag.split("=", 1)[1])

    @staticmethod
    def ask(host: str, port: int, authority: Path, client: tuple[Path, Path] | None, path: str) -> int:
        """Status of one request to 127.0.0.1, the certificate checked against `host`."""
        context = ssl.create_default_context(cafile=str(authority))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go does: what is in the bundle is trusted
        if client:
            context.load_cert_chain(client[0], client[1])
        connection = HTTPSConnection(host)
        raw = socket.create_connection(("127.0.0.1", port), timeout=30)
        connection.sock = context.wrap_socket(raw, server_hostname=host)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def kubectl(self, identity: str, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [tool("kubectl"), "--kubeconfig", str(self.kubeconfig(identity)), *arguments]
        env = {**os.environ, "HOME": str(self.folder)}
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, env=env)

    def read(self, identity: str, *arguments: str) -> dict[str, Any]:
        done = self.kubectl(identity, *arguments, "-o", "json")
        assert done.returncode == 0, done.stderr
        value = json.loads(done.stdout)
        assert isinstance(value, dict)
        return value

    def may(self, identity: str, verb: str, resource: str) -> bool:
        done = self.kubectl(identity, "auth", "can-i", verb, resource, "--all-namespaces")
        assert done.stdout.strip() in ("yes", "no"), done.stderr
        return done.stdout.strip() == "yes"

    def apply_manifests(self) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "HOME": str(self.folder), "OC": tool("kubectl")}
        command = ["bash", str(self.out / "manifests/apply.sh"), str(self.kubeconfig("localhost"))]
        return subprocess.run(command, capture_output=True, text=True, timeout=400, env=env)

    def logs(self) -> str:
        return "\n".join(log.read_text(errors="replace")[-3000:] for log in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        for process in reversed(self.processes.values()):
            process.terminate()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
