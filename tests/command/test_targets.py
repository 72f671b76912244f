# SPDX-License-Identifier: Apache-2.0
"""`hcpnet render --target haproxy|envoy`, driven through the real programs."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml
from api_server import free_port
from hcpnet_command import Hcpnet, wait_until
from test_envoy import Backends, client_hello, envoy_program

SERVER = "127.84.0.4"
SERVICES = {
    "kube-apiserver": "kube-apiserver:6443",
    "oauth-openshift": "oauth-openshift:6443",
    "ignition-server": "ignition-server-proxy:443",
    "konnectivity-server": "konnectivity-server:8091",
}
WORKERS = {"blue": "127.84.0.11", "red": "127.84.0.12"}
STRANGER = "127.84.0.13"
PODS = "127.0.0.1"


def network(clusters: list[str], **policy: object) -> str:
    documents: list[dict[str, Any]] = [
        {
            "apiVersion": "hostedcluster.densityops.com/v1alpha1",
            "kind": "Infra",
            "metadata": {"name": "vlan7", "namespace": "hcp"},
            "spec": {
                "networkConfig": {
                    "cidr": "127.84.0.0/24",
                    "gateway": "127.84.0.1",
                    "networkAttachmentDefinition": "vlan7",
                },
                "infraComponents": {"proxy": {"serverIP": SERVER, "internalProxyService": "198.51.100.10"}},
            },
        },
        {
            "apiVersion": "hcpnet.io/v1alpha1",
            "kind": "ProxyPolicy",
            "metadata": {"name": "p", "namespace": "hcp"},
            "spec": {
                "targetRef": {"kind": "Infra", "name": "vlan7"},
                "deniedSources": ["127.84.0.99/32"],
                "maxConnections": 1000,
                "maxConnectAttempts": 2,
                "tcpKeepalive": {"idleSeconds": 30, "intervalSeconds": 5, "probes": 3},
                "socketBuffers": {"receiveBytes": 262144, "sendBytes": 262144},
                "backends": [{"name": "blue-kube-apiserver", "idleTimeoutSeconds": 3600}],
                **policy,
            },
        },
    ]
    for number, name in enumerate(clusters):
        pool = f"127.84.0.2{number}0-127.84.0.2{number}4"
        documents.append(
            {
                "apiVersion": "hostedcluster.densityops.com/v1alpha1",
                "kind": "InfraClusterAttachment",
                "metadata": {"name": name, "namespace": "hcp"},
                "spec": {
                    "infraRef": {"name": "vlan7"},
                    "hostedClusterRef": {"name": name, "namespace": "hcp"},
                    "dns": {"clusterName": name, "baseDomain": "example.com"},
                    "appsIngress": {
                        "enabled": True,
                        "metallb": {"addressPoolName": name, "ipAddressPoolRange": pool},
                    },
                },
            }
        )
    return yaml.safe_dump_all(documents)


def observed(clusters: list[str]) -> str:
    items: list[dict[str, Any]] = []
    for number, name in enumerate(clusters):
        items.append(
            {
                "apiVersion": "hostedcluster.densityops.com/v1alpha1",
                "kind": "InfraClusterAttachment",
                "metadata": {"name": name, "namespace": "hcp"},
                "status": {"appsIngressStatus": {"externalIP": f"127.84.0.2{number}0"}},
            }
        )
        if name in WORKERS:
            items.append(
                {
                    "apiVersion": "cluster.x-k8s.io/v1beta1",
                    "kind": "Machine",
                    "metadata": {"name": f"{name}-0", "namespace": f"hcp-{name}"},
                    "status": {"addresses": [{"type": "InternalIP", "address": WORKERS[name]}]},
                }
            )
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})


class Target(Protocol):
    """A program with rendered files."""

    def reload(self) -> None:
        """The files have changed."""

    def stop(self) -> None:
        """It ends."""


class Rendered:
    """Files for one program, moved to free ports and to backends that say their name."""

    def __init__(self, hcpnet: Hcpnet, target: str, folder: Path, *options: str, **policy: object) -> None:
        self.hcpnet, self.target, self.folder = hcpnet, target, folder
        self.options, self.policy = options, policy
        self.backends = Backends()
        self.ports = {port: free_port() for port in (80, 443, 6443, 9901)}
        self.render(["blue", "red"])

    def render(self, clusters: list[str]) -> None:
        work = self.hcpnet.folder
        self.hcpnet.network.write_text(network(clusters, **self.policy))
        (work / "observed.yaml").write_text(observed(clusters))
        endpoints = {
            f"hcp-{cluster}/{service}": [f"127.0.0.1:{self.backends.port(f'{cluster}-{name}')}"]
            for cluster in clusters
            for name, service in SERVICES.items()
        }
        (work / "endpoints.yaml").write_text(yaml.safe_dump(endpoints))
        done = self.hcpnet(
            *("render", "--target", self.target, str(self.hcpnet.network)),
            *("--observed", str(work / "observed.yaml"), "--endpoints", str(work / "endpoints.yaml")),
            *("--output-dir", str(self.folder / "aside"), "--file-prefix", f"{self.folder}/live/"),
            *self.options,
        )
        assert (done.returncode, done.stderr.count("error")) == (0, 0), done.stderr
        apps = {
            f"127.84.0.2{number}0": (f"{name}-apps-https", f"{name}-apps-http") for number, name in enumerate(clusters)
        }
        move = self.move_haproxy if self.target == "haproxy" else self.move_envoy
        # What the main file names comes first; Envoy wants clusters before the listeners that use them.
        order = ["haproxy.cfg", "envoy.yaml", "lds.yaml", "cds.yaml"]
        files = [path for path in (self.folder / "aside").rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda p: order.index(p.name) if p.name in order else 9, reverse=True):
            live = self.folder / "live" / path.relative_to(self.folder / "aside")
            live.parent.mkdir(parents=True, exist_ok=True)
            incomplete = self.folder / "incomplete"
            incomplete.write_text(move(path.read_text(), apps) if path.name in order else path.read_text())
            incomplete.replace(live)

    def move_haproxy(self, text: str, apps: dict[str, tuple[str, str]]) -> str:
        for address, (https, http) in apps.items():
            text = text.replace(f"{address}:443", f"127.0.0.1:{self.backends.port(https)}")
            text = text.replace(f"{address}:80", f"127.0.0.1:{self.backends.port(http)}")
        return re.sub(rf"bind {SERVER}:(\d+)", lambda m: f"bind {SERVER}:{self.ports[int(m[1])]}", text)

    def move_envoy(self, text: str, apps: dict[str, tuple[str, str]]) -> str:
        def walk(value: object) -> None:
            if isinstance(value, list):
                for item in value:
                    walk(item)
            elif isinstance(value, dict):
                address, port = value.get("address"), value.get("port_value")
                if isinstance(address, str) and address in apps and port is not None:
                    value["address"], value["port_value"] = "127.0.0.1", self.backends.port(apps[address][port == 80])
                elif port in self.ports and address in (SERVER, "127.0.0.1", "0.0.0.0"):
                    value["port_value"] = self.ports[port]
                for item in value.values():
                    walk(item)

        document = yaml.safe_load(text)
        walk(document)
        return yaml.safe_dump(document)

    def connect(self, port: int, source: str, to: str = SERVER) -> socket.socket:
        return socket.create_connection((to, self.ports[port]), timeout=20, source_address=(source, 0))

    def ask(self, port: int, source: str, data: bytes, to: str = SERVER) -> str:
        """The backend that answers; empty when the connection is closed."""
        with self.connect(port, source, to) as connection:
            try:
                connection.sendall(data)
                return connection.recv(100).decode()
            except (ConnectionResetError, BrokenPipeError):
                return ""


class Haproxy:
    """HAProxy in master-worker mode, as its service unit starts it."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "live/haproxy.cfg"
        self.log = folder / "log"
        self.check()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(["haproxy", "-W", "-f", str(self.config)], stdout=log, stderr=log)

    def check(self) -> None:
        done = subprocess.run(["haproxy", "-c", "-f", str(self.config)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    def reload(self) -> None:
        self.check()
        self.process.send_signal(signal.SIGUSR2)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)


class Envoy:
    """Envoy, which watches its files."""

    def __init__(self, folder: Path) -> None:
        path = folder / "live/envoy.yaml"
        self.log = folder / "log"
        words = [envoy_program(), "-c", str(path)]
        done = subprocess.run([*words, "--mode", "validate"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        base = str(os.getpid() % 30000 + 2)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*words, "--base-id", base, "--concurrency", "1", "-l", "warning"], stdout=log, stderr=log
            )

    def reload(self) -> None:
        pass

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture(params=[Haproxy, Envoy], ids=["haproxy", "envoy"])
def running(request: pytest.FixtureRequest, hcpnet: Hcpnet, tmp_path: Path) -> Iterator[tuple[Rendered, Target]]:
    rendered = Rendered(hcpnet, request.param.__name__.lower(), tmp_path / "files")
    target = request.param(rendered.folder)

    def answers() -> bool:
        assert target.process.poll() is None, target.log.read_text()
        try:
            return rendered.ask(443, PODS, client_hello("oauth.blue.example.com")) == "blue-oauth-openshift"
        except ConnectionRefusedError:
            return False

    try:
        wait_until(answers, target.log.read_text)
        yield rendered, target
    finally:
        target.stop()
        rendered.backends.close()


def test_routes_as_hcpnet_does(running: tuple[Rendered, Target]) -> None:
    rendered, _ = running
    blue, red = WORKERS["blue"], WORKERS["red"]
    wanted = {
        (443, PODS, "oauth.blue.example.com"): "blue-oauth-openshift",
        (443, red, "OAUTH.Red.example.com"): "red-oauth-openshift",
        (443, PODS, "oidc.blue.example.com"): "blue-kube-apiserver",
        (443, blue, "ignition.blue.example.com"): "blue-ignition-server",
        (443, blue, "konnectivity.red.example.com"): "red-konnectivity-server",
        (443, blue, "console.apps.red.example.com"): "red-apps-https",
        (443, PODS, "a.b.apps.blue.example.com"): "blue-apps-https",
        (443, PODS, "apps.blue.example.com"): "",
        (443, PODS, "other.example.com"): "",
        (443, blue, "kubernetes"): "blue-kube-apiserver",
        (443, red, "kubernetes.default.svc"): "red-kube-apiserver",
        (443, STRANGER, "kubernetes"): "",
        (443, blue, None): "",
        (6443, PODS, "api.blue.example.com"): "blue-kube-apiserver",
        (6443, blue, "api.red.example.com"): "red-kube-apiserver",
        (6443, blue, None): "blue-kube-apiserver",
        (6443, red, None): "red-kube-apiserver",
        (6443, red, "172.20.0.1.nip.example.org"): "red-kube-apiserver",
        (6443, STRANGER, None): "",
        (443, "127.84.0.99", "oauth.blue.example.com"): "",
    }
    got = {(port, source, name): rendered.ask(port, source, client_hello(name)) for port, source, name in wanted}
    assert got == wanted
    assert rendered.ask(443, blue, b"GET / HTTP/1.0\r\n\r\n") == ""


def test_http_goes_by_host(running: tuple[Rendered, Target]) -> None:
    rendered, _ = running
    for host, backend in {
        "console.apps.blue.example.com": "blue-apps-http",
        "a.b.Apps.red.example.com:80": "red-apps-http",
        "other.example.com": None,
    }.items():
        asked: list[bytes] = []
        for name in ("blue-apps-http", "red-apps-http"):
            rendered.backends.heard[name] = asked if name == backend else []
        rendered.ask(80, PODS, f"GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head = b"".join(asked)
        assert (host.encode() in head, b"GET /x HTTP/1.1" in head) == (backend is not None, backend is not None), host


def test_reload_under_traffic(running: tuple[Rendered, Target]) -> None:
    """A third cluster comes: nobody is refused, nobody is led astray, and who is connected stays so."""
    rendered, target = running
    rendered.backends.open.add("blue-konnectivity-server")
    failures: list[str] = []
    count = 0
    is_over = threading.Event()

    def ask() -> None:
        nonlocal count
        hello = client_hello("oauth.red.example.com")
        while not is_over.is_set():
            try:
                answer = rendered.ask(443, PODS, hello)
            except OSError as error:
                answer = str(error)
            count += 1
            if answer != "red-oauth-openshift":
                failures.append(answer)

    with rendered.connect(443, PODS) as watch:
        watch.sendall(client_hello("konnectivity.blue.example.com"))
        assert watch.recv(100) == b"blue-konnectivity-server"
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            rendered.render(["blue", "red", "green"])
            target.reload()
            hello = client_hello("oauth.green.example.com")
            wait_until(lambda: rendered.ask(443, PODS, hello) == "green-oauth-openshift", lambda: "no third cluster")
            before = count
            wait_until(lambda: count > before + 100, lambda: "nobody is served any more")
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        assert failures == []
        watch.sendall(b"still there")
        watch.settimeout(0.2)
        with pytest.raises(TimeoutError):  # neither end has closed it
            watch.recv(100)


def test_envoy_on_every_address_goes_by_the_one_that_a_client_came_to(hcpnet: Hcpnet, tmp_path: Path) -> None:
    pod, another = "127.84.0.5", "127.84.0.6"
    allowed = [{"port": 443, "side": "pod", "names": ["oauth.blue.example.com"]}]
    options = ("--any-address", "--pod-address", pod)
    rendered = Rendered(hcpnet, "envoy", tmp_path / "files", *options, allowedNames=allowed)
    target = Envoy(rendered.folder)

    def ask(name: str, to: str) -> str:
        try:
            return rendered.ask(443, PODS, client_hello(f"oauth.{name}.example.com"), to)
        except ConnectionRefusedError:
            return "refused"

    try:
        wait_until(lambda: ask("blue", SERVER) == "blue-oauth-openshift", target.log.read_text)
        assert ask("red", SERVER) == "red-oauth-openshift"
        assert [ask("blue", to) for to in (pod, another)] == ["blue-oauth-openshift"] * 2
        assert [ask("red", to) for to in (pod, another)] == ["", ""]
    finally:
        target.stop()
        rendered.backends.close()


def test_a_server_that_speaks_first_is_not_heard_through_envoy_by_who_is_denied(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """The network filter for clients judges when they have said something, which is too late here."""
    port, admin = free_port(), free_port()
    with socket.create_server(("127.84.0.21", 0)) as server:
        backend = {
            **{"name": "ssh", "hostname": "ssh.example.com", "port": port, "targetService": "127.84.0.21"},
            **{"targetPort": server.getsockname()[1], "targetNamespace": "x"},
        }
        meta = {"name": "p", "namespace": "hcp"}
        policy = {
            "targetRef": {"kind": "ProxyServer", "name": "p"},
            "listeners": [{"port": port, "kind": "TCP"}],
            "allowedSources": ["127.84.0.0/24", PODS + "/32"],
            "deniedSources": [STRANGER + "/32"],
        }
        documents = [
            {
                **{"apiVersion": "hostedcluster.densityops.com/v1alpha1", "kind": "ProxyServer", "metadata": meta},
                "spec": {"networkConfig": {"serverIP": SERVER}, "backends": [backend]},
            },
            {"apiVersion": "hcpnet.io/v1alpha1", "kind": "ProxyPolicy", "metadata": meta, "spec": policy},
        ]
        hcpnet.network.write_text(yaml.safe_dump_all(documents))
        live = tmp_path / "files/live"
        words = ("render", "--target", "envoy", str(hcpnet.network))
        done = hcpnet(*words, "--output-dir", str(live), "--file-prefix", f"{live}/")
        assert (done.returncode, done.stderr) == (0, "")
        main = live / "envoy.yaml"
        main.write_text(main.read_text().replace("port_value: 9901", f"port_value: {admin}"))
        target = Envoy(tmp_path / "files")

        def greeting(source: str) -> bytes:
            with socket.create_connection((SERVER, port), timeout=20, source_address=(source, 0)) as client:
                return client.recv(100)

        def greet() -> None:
            for _ in range(2):
                with server.accept()[0] as connection:
                    connection.sendall(b"SSH-2.0-x")

        def is_open() -> bool:
            assert target.process.poll() is None, target.log.read_text()
            try:
                return greeting(STRANGER) == b""
            except ConnectionRefusedError:
                return False

        try:
            wait_until(is_open, target.log.read_text)
            thread = threading.Thread(target=greet, daemon=True)
            thread.start()
            assert [greeting(source) for source in (PODS, STRANGER, "127.85.0.1", WORKERS["blue"])] == [
                *(b"SSH-2.0-x", b"", b"", b"SSH-2.0-x")
            ]
            thread.join(timeout=20)
        finally:
            target.stop()


def test_a_prefix_that_would_break_the_configuration_is_wrong_use(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(network(["blue"]))
    done = hcpnet("render", "--target", "haproxy", "--file-prefix", "/etc/my files/", str(hcpnet.network))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--file-prefix" in done.stderr
    assert hcpnet("render", "--target", "envoy", "--file-prefix", "/etc/my files/", str(hcpnet.network)).returncode == 0


def test_envoy_finds_its_files_beside_it(hcpnet: Hcpnet, tmp_path: Path) -> None:
    (tmp_path / "network.yaml").write_text(network(["blue"]))
    (tmp_path / "observed.yaml").write_text(observed(["blue"]))
    words = [
        "render",
        "--target",
        "envoy",
        str(tmp_path / "network.yaml"),
        "--observed",
        str(tmp_path / "observed.yaml"),
    ]
    done = hcpnet(*words, "--output-dir", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    validate = [envoy_program(), "--mode", "validate", "-c", "envoy.yaml"]
    checked = subprocess.run(validate, capture_output=True, text=True, cwd=tmp_path / "out", timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr
