# SPDX-License-Identifier: Apache-2.0
"""What is rendered in front of real API servers, in a network namespace with the addresses of the example.

HAProxy and hcpnet's own proxy run unchanged, kube-proxy with nftables in place of iptables.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from api_server import tool
from hcpnet_command import Hcpnet, wait_until
from rendered_control_plane import (
    API_VIP,
    BOOTSTRAP_ADDRESS,
    INGRESS_VIP,
    MASTER_ADDRESS,
    WORKER_ADDRESS,
    NamespaceControlPlane,
    network_namespace,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root: a network namespace of its own")

API_NAME = "api.ocp4.example.com"
SERVICE_ADDRESS = "172.30.0.1"  # the first of the service network


@pytest.fixture(autouse=True)
def _namespace() -> Iterator[None]:
    with network_namespace(API_VIP, INGRESS_VIP, BOOTSTRAP_ADDRESS, MASTER_ADDRESS, WORKER_ADDRESS):
        yield


class BalancedControlPlane(NamespaceControlPlane):
    """Every kubeconfig leads through the load balancer."""

    via = API_VIP

    def status(self, path: str = "/version") -> int | str:
        """What a client gets through the load balancer: a status, or the name of an error."""
        try:
            return self.ask(API_NAME, 6443, self.server_ca, None, path, API_VIP)
        except (OSError, HTTPException) as error:
            return type(error).__name__


class Haproxy:
    """HAProxy with a rendered configuration; what it says of its servers comes by a socket that only a test adds."""

    def __init__(self, running: BalancedControlPlane, configuration: str) -> None:
        self.running, self.folder = running, running.folder
        self.use(configuration)
        self.socket = self.folder / "haproxy.sock"
        (self.folder / "stats.cfg").write_text(f"global\n  stats socket {self.socket} level admin\n")
        files = ["-f", str(self.folder / "haproxy.cfg"), "-f", str(self.folder / "stats.cfg")]
        running.run("haproxy", ["haproxy", "-W", "-db", *files])
        self.process = running.processes["haproxy"]
        wait_until(self.socket.exists, running.logs)

    def use(self, configuration: str) -> None:
        # HAProxy wants two descriptors for each connection before it starts; not every machine of tests gives so many.
        assert "maxconn 20000" in configuration
        (self.folder / "haproxy.cfg").write_text(configuration.replace("maxconn 20000", "maxconn 2000"))

    def reload(self, configuration: str) -> None:
        self.use(configuration)
        self.process.send_signal(signal.SIGUSR2)

    def states(self, backend: str = "api") -> dict[str, str]:
        """Server to "UP" or "DOWN"; nothing while HAProxy is between two processes."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(self.socket))
                connection.sendall(b"show stat\n")
                text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return {}
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        servers = [row for row in rows if row["pxname"] == backend and row["svname"] not in ("FRONTEND", "BACKEND")]
        return {row["svname"]: row["status"].split()[0] for row in servers}

    def wait_for(self, server: str, state: str | None, backend: str = "api") -> None:
        """Until the server has this state; None: until there is no such server."""
        deadline = time.monotonic() + 240
        while not (states := self.states(backend)) or states.get(server) != state:
            assert time.monotonic() < deadline, f"{states}\n{self.running.logs()}"
            time.sleep(0.05)  # between two questions


def test_haproxy_sends_nobody_to_an_api_server_that_is_not_ready(hcpnet: Hcpnet, tmp_path: Path) -> None:
    running = BalancedControlPlane(hcpnet, tmp_path, "HandMade")
    configurations = {
        name: (running.out / f"load-balancer/{name}.cfg").read_text() for name in ("haproxy-bootstrap", "haproxy")
    }
    try:
        haproxy = Haproxy(running, configurations["haproxy-bootstrap"])
        for server in ("bootstrap", "master-0", "master-1", "master-2"):
            haproxy.wait_for(server, "DOWN")
        assert running.status() != 200

        running.start("etcd")
        running.start("kube-apiserver")
        haproxy.wait_for("bootstrap", "UP")
        assert running.is_ready(BOOTSTRAP_ADDRESS)
        assert running.status() == 200
        info = running.read("lb-int", "auth", "whoami")["status"]["userInfo"]
        assert info["username"] == "system:admin"

        running.start_second_api()
        haproxy.wait_for("master-0", "UP")
        restart_unnoticed(running, haproxy)

        haproxy.reload(configurations["haproxy"])
        haproxy.wait_for("bootstrap", None)
        running.end("kube-apiserver")
        assert [running.status() for _ in range(20)] == [200] * 20

        # Asked without TLS, a healthy API server answers 400, and counts as down.
        haproxy.reload(configurations["haproxy"].replace(" check-ssl verify none", ""))
        haproxy.wait_for("master-0", "DOWN")
        assert running.is_ready(MASTER_ADDRESS)
        assert running.status() != 200
    finally:
        running.stop()


def restart_unnoticed(running: BalancedControlPlane, haproxy: Haproxy) -> None:
    """The API server of the bootstrap node ends and comes back, while clients ask all the time."""
    seen: list[tuple[float, int | str]] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            seen.append((time.monotonic(), running.status()))

    # Started here, so that they are in this thread's network namespace.
    clients = [threading.Thread(target=ask) for _ in range(2)]
    for client in clients:
        client.start()
    ended_at = time.monotonic()
    try:
        running.end("kube-apiserver")
        haproxy.wait_for("bootstrap", "DOWN")
        running.start("kube-apiserver")
        haproxy.wait_for("bootstrap", "UP")
        assert running.is_ready(BOOTSTRAP_ADDRESS)
    finally:
        is_over.set()
        for client in clients:
            client.join()
    assert len(seen) > 50
    # A connection that the kernel had taken when the server closed its socket can't be given to another server.
    failed = [(at - ended_at, status) for at, status in seen if status != 200]
    assert all(after < 2 for after, _ in failed), failed
    assert len(failed) <= 2, failed


class Router(BaseHTTPRequestHandler):
    """The health port of an ingress controller."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/healthz/ready" else 404)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def router() -> Iterator[None]:
    server = ThreadingHTTPServer((WORKER_ADDRESS, 1936), Router)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_haproxy_asks_the_router_whether_it_is_ready(hcpnet: Hcpnet, tmp_path: Path) -> None:
    running = BalancedControlPlane(hcpnet, tmp_path, "HandMade")
    with router():
        try:
            haproxy = Haproxy(running, (running.out / "load-balancer/haproxy.cfg").read_text())
            for backend in ("ingress-https", "ingress-http"):
                for server in ("worker-1", "worker-2"):
                    haproxy.wait_for(server, "DOWN", backend)
                assert haproxy.states(backend)["worker-0"] == "UP"
            Router.status = 500
            haproxy.wait_for("worker-0", "DOWN", "ingress-https")
            haproxy.wait_for("worker-0", "DOWN", "ingress-http")
            Router.status = 200
            haproxy.wait_for("worker-0", "UP", "ingress-https")
        finally:
            Router.status = 200
            running.stop()


def test_hcpnets_own_proxy_takes_the_place_of_haproxy(hcpnet: Hcpnet, tmp_path: Path) -> None:
    running = BalancedControlPlane(hcpnet, tmp_path, "Installer")
    balancer, endpoints = running.out / "load-balancer", tmp_path / "endpoints.yaml"
    shutil.copy(balancer / "endpoints-bootstrap.yaml", endpoints)
    state = ("--state-dir", str(tmp_path / "state"))
    try:
        running.start_api()
        files = (str(balancer / "proxy.yaml"), "--endpoints", str(endpoints))
        running.run("hcpnet", [hcpnet.command, "up", *files, *state])
        wait_until(lambda: running.status() == 200, running.logs)
        assert running.read("lb-ext", "auth", "whoami")["status"]["userInfo"]["username"] == "system:admin"
        listening = {listener["bound"] for listener in hcpnet.ask("status")["listeners"]}
        assert listening == {f"{API_VIP}:6443", f"{API_VIP}:22623", f"{INGRESS_VIP}:443", f"{INGRESS_VIP}:80"}

        running.start_second_api()
        shutil.copy(balancer / "endpoints.yaml", endpoints)
        reloaded = hcpnet("reload", *state)
        assert reloaded.returncode == 0, reloaded.stderr
        running.end("kube-apiserver")
        assert [running.status() for _ in range(20)] == [200] * 20
    finally:
        running.stop()


def test_kube_proxy_makes_the_service_address_lead_to_the_api_server(hcpnet: Hcpnet, tmp_path: Path) -> None:
    running = NamespaceControlPlane(hcpnet, tmp_path, "HandMade", "  kubeProxy: true\n")
    # A host has a default route; this is where one to the Services would lead.
    route = f"route add 172.30.0.0/16 dev lo src {BOOTSTRAP_ADDRESS}"
    subprocess.run(["ip", *route.split()], check=True, timeout=10)
    try:
        running.start_api()
        assert not running.may("kubelet-bootstrap", "list", "endpointslices")
        applied = running.kubectl("admin", "apply", "-f", str(running.out / "manifests/20-rbac.yaml"))
        assert applied.returncode == 0, applied.stderr
        assert running.may("kubelet-bootstrap", "list", "endpointslices")
        assert not running.may("kubelet-bootstrap", "list", "secrets")
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "master-0"},
            "status": {"addresses": [{"type": "InternalIP", "address": MASTER_ADDRESS}]},
        }
        made = running.kubectl("admin", "create", "-f", "-", stdin=yaml.safe_dump(node))
        assert made.returncode == 0, made.stderr
        running.run("kube-proxy", kube_proxy_command(running))

        def status() -> int | None:
            try:
                return running.ask("kubernetes.default.svc", 443, running.server_ca, None, "/version", SERVICE_ADDRESS)
            except OSError:
                return None

        wait_until(lambda: status() == 200, running.logs)
        rules = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True, timeout=10)
        assert "table ip kube-proxy" in rules.stdout
    finally:
        running.stop()


def kube_proxy_command(running: NamespaceControlPlane) -> list[str]:
    """As its pod has it, with nftables for iptables; the number of tracked connections is the host's to set."""
    config = yaml.safe_load((running.out / "node/etc/kubernetes/kube-proxy/config.yaml").read_text())
    assert config["mode"] == "iptables"
    config["mode"] = "nftables"
    config["clientConnection"]["kubeconfig"] = str(running.kubeconfig("kubelet-bootstrap"))
    config["conntrack"] = {"maxPerCore": 0, "min": 0}
    path = running.folder / "kube-proxy.yaml"
    path.write_text(yaml.safe_dump(config))
    running.rewrites |= {"/etc/kubernetes/kube-proxy/config.yaml": str(path), "$(NODE_NAME)": "master-0"}
    return [tool("kube-proxy"), *running.arguments("kube-proxy", "node")]
