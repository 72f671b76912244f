# SPDX-License-Identifier: Apache-2.0
"""The static pods of a rendering as real processes: their flags, with other paths.

On loopback they get other ports and addresses too; in a network namespace of their own they keep what was rendered.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any

import yaml
from api_server import ROOT, tool
from hcpnet_command import Hcpnet

# Of examples/bootstrap.
BOOTSTRAP_ADDRESS, MASTER_ADDRESS, WORKER_ADDRESS = "192.168.126.100", "192.168.126.101", "192.168.126.111"
API_VIP, INGRESS_VIP = "192.168.126.10", "192.168.126.11"
# What only a test wants: no waiting for the disk.
MORE = {"etcd": ["--unsafe-no-fsync"]}
CLONE_NEWNET = 0x4000_0000


@contextmanager
def network_namespace(*addresses: str) -> Iterator[None]:
    """A new network namespace for the calling thread and what it starts, with the addresses on its loopback device."""
    libc = ctypes.CDLL(None, use_errno=True)

    def require(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), what)

    with Path("/proc/thread-self/ns/net").open() as home:
        require(libc.unshare(CLONE_NEWNET), "unshare")
        try:
            for words in ("link set lo up", *(f"address add {address}/32 dev lo" for address in addresses)):
                subprocess.run(["ip", *words.split()], check=True, timeout=10)
            yield
        finally:
            require(libc.setns(home.fileno(), CLONE_NEWNET), "setns")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class ControlPlane:
    """etcd, kube-apiserver, kube-controller-manager and kube-scheduler of one rendering, on loopback."""

    address = "127.0.0.1"  # of the bootstrap node
    via = "127.0.0.1"  # where kubeconfigs lead

    def __init__(self, hcpnet: Hcpnet, folder: Path, layout: str, more_spec: str = "") -> None:
        self.folder, self.out = folder, folder / "out"
        shutil.copytree(ROOT / "examples/bootstrap", folder / "in")
        spec = folder / "in/cluster.yaml"
        spec.write_text(spec.read_text().replace("layout: HandMade", f"layout: {layout}") + more_spec)
        done = hcpnet("bootstrap", "render", str(spec), "--output-dir", str(self.out))
        assert done.returncode == 0, done.stderr
        self.rewrites = {
            "/etc/kubernetes/pki": str(self.out / "pki"),
            "/etc/kubernetes/kubeconfigs": str(folder / "kubeconfigs"),
            "/var/lib/etcd": str(folder / "etcd"),
        }
        self.more = {name: list(flags) for name, flags in MORE.items()}
        self.move()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.make_kubeconfigs()

    def move(self) -> None:
        """To addresses and ports that nobody else has."""
        self.etcd_port, peer, self.port, manager, scheduler = free_ports(5)
        self.rewrites |= {
            BOOTSTRAP_ADDRESS: "127.0.0.1",
            "0.0.0.0": "127.0.0.1",
            ":2379": f":{self.etcd_port}",
            ":2380": f":{peer}",
            "--secure-port=6443": f"--secure-port={self.port}",
            "--secure-port=10257": f"--secure-port={manager}",
            "--secure-port=10259": f"--secure-port={scheduler}",
        }
        # No Endpoints of the loopback address, which the API refuses.
        self.more["kube-apiserver"] = ["--endpoint-reconciler-type=none"]

    def make_kubeconfigs(self) -> None:
        """Each leads to the same place, and checks the name that it would have dialled."""
        (self.folder / "kubeconfigs").mkdir()
        for path in (self.out / "kubeconfig").iterdir():
            config = yaml.safe_load(path.read_text())
            cluster = config["clusters"][0]["cluster"]
            host, port = cluster["server"].removeprefix("https://").split(":")
            assert port == "6443"
            cluster.update({"server": f"https://{self.via}:{self.port}", "tls-server-name": host})
            self.kubeconfig(path.stem).write_text(yaml.safe_dump(config))

    def kubeconfig(self, name: str) -> Path:
        return self.folder / f"kubeconfigs/{name}.kubeconfig"

    def pod(self, name: str, node: str = "bootstrap-node") -> dict[str, Any]:
        pod = yaml.safe_load((self.out / f"{node}/etc/kubernetes/manifests/{name}.yaml").read_text())
        assert isinstance(pod, dict)
        return pod

    def arguments(self, name: str, node: str = "bootstrap-node") -> list[str]:
        container = self.pod(name, node)["spec"]["containers"][0]
        assert container["command"] == [name]
        arguments = []
        for argument in container["args"]:
            for old, new in self.rewrites.items():
                argument = argument.replace(old, new)
            arguments.append(argument)
        return arguments + self.more.get(name, [])

    def start(self, name: str) -> None:
        self.run(name, [tool(name), *self.arguments(name)])

    def run(self, name: str, command: list[str]) -> None:
        """As process `name`, whose output goes to a log of that name."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def start_api(self) -> None:
        """Starts etcd and the API server, and waits until they are ready."""
        self.start("etcd")
        self.start("kube-apiserver")
        self.wait_ready(self.address)

    def wait_ready(self, address: str) -> None:
        deadline = time.monotonic() + 240
        while not self.is_ready(address):
            assert all(p.poll() is None for p in self.processes.values()), self.logs()
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.2)  # between two questions

    def is_ready(self, address: str) -> bool:
        try:
            return self.ask("localhost", self.port, self.server_ca, None, "/readyz", address) == 200
        except (OSError, HTTPException):
            return False

    @property
    def server_ca(self) -> Path:
        (flag,) = [a for a in self.arguments("kube-controller-manager") if a.startswith("--root-ca-file=")]
        return Path(flag.split("=", 1)[1])

    @staticmethod
    def ask(
        host: str,
        port: int,
        authority: Path,
        client: tuple[Path, Path] | None,
        path: str,
        address: str = "127.0.0.1",
    ) -> int:
        """Status of one request to an address, the certificate checked against `host`."""
        context = ssl.create_default_context(cafile=str(authority))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go does: what is in the bundle is trusted
        if client:
            context.load_cert_chain(client[0], client[1])
        connection = HTTPSConnection(host)
        raw = socket.create_connection((address, port), timeout=30)
        try:
            connection.sock = context.wrap_socket(raw, server_hostname=host)
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()
            raw.close()

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

    def end(self, name: str) -> None:
        process = self.processes.pop(name)
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self) -> None:
        for name in reversed(list(self.processes)):
            self.end(name)


class NamespaceControlPlane(ControlPlane):
    """The same in a network namespace that has the nodes' addresses: every address and port as rendered."""

    address = BOOTSTRAP_ADDRESS
    via = BOOTSTRAP_ADDRESS
    etcd_port, port = 2379, 6443

    def move(self) -> None:
        """Nothing but this: a load balancer on the same host has the port at another address."""
        self.rewrites["--bind-address=0.0.0.0"] = f"--bind-address={BOOTSTRAP_ADDRESS}"

    def start_second_api(self) -> None:
        """On the first control-plane node, with the same etcd."""
        flags = [flag.replace(BOOTSTRAP_ADDRESS, MASTER_ADDRESS) for flag in self.arguments("kube-apiserver")]
        self.run("second-kube-apiserver", [tool("kube-apiserver"), *flags])
        self.wait_ready(MASTER_ADDRESS)
