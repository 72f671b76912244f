# SPDX-License-Identifier: Apache-2.0
"""A rendered PKI boots a real etcd and kube-apiserver, and each kubeconfig is who it should be."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hcpnet_command import Hcpnet

ROOT = Path(__file__).parents[2]
MASTERS = ("system:admin", {"system:masters", "system:authenticated"})
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
USERS = {
    "HandMade": {
        "kube-controller-manager": ("system:kube-controller-manager", {"system:authenticated"}),
        "kube-scheduler": ("system:kube-scheduler", {"system:authenticated"}),
        "kubelet-bootstrap": ("system:bootstrapper", {"system:authenticated"}),
    },
    "Installer": {
        "kube-controller-manager": MASTERS,
        "kube-scheduler": MASTERS,
        "kubelet-bootstrap": (
            BOOTSTRAPPER,
            {
                "system:serviceaccounts",
                "system:serviceaccounts:openshift-machine-config-operator",
                "system:authenticated",
            },
        ),
    },
}
# etcd's server, peer and authority; kube-apiserver's own certificates and who it takes; aggregator and kubelet clients
FILES = {
    "HandMade": (
        ("etcd-server", "etcd-peer-bootstrap", "etcd-ca"),
        (["kube-apiserver"], "client-ca-bundle", "server-ca-bundle"),
        ("front-proxy-client", "front-proxy-ca", "kube-apiserver-kubelet-client"),
    ),
    "Installer": (
        ("etcd-serving-bootstrap", "etcd-peer-bootstrap", "etcd-signer"),
        (
            [
                "kube-apiserver-service-network-server",
                "kube-apiserver-localhost-server",
                "kube-apiserver-lb-server",
                "kube-apiserver-internal-lb-server",
            ],
            "kube-apiserver-complete-client-ca-bundle",
            "kube-apiserver-complete-server-ca-bundle",
        ),
        ("aggregator-client", "aggregator-signer", "kube-apiserver-to-kubelet-client"),
    ),
}


def program(name: str) -> str:
    """Where scripts/tools.sh has put a program; the test fails when it has not."""
    script = f"source scripts/tools.sh && tool_path {name}"
    path = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    assert os.access(path, os.X_OK), f"{name} is not installed: run scripts/tools.sh {name}"
    return path


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Servers:
    """etcd and kube-apiserver with the files of one rendering."""

    def __init__(self, out: Path, layout: str, folder: Path) -> None:
        self.out, self.folder = out, folder
        self.pki = out / "pki"
        (etcd, peer, etcd_ca), (serving, clients, servers), (aggregator, aggregator_ca, kubelet) = FILES[layout]
        self.server_ca = self.pki / f"{servers}.crt"
        self.etcd_ca = self.pki / f"{etcd_ca}.crt"
        self.etcd_port, peer_port, self.port = free_ports(3)
        client_url, peer_url = f"https://127.0.0.1:{self.etcd_port}", f"https://127.0.0.1:{peer_port}"
        p = self.pki
        self.processes = [
            self.start(
                "etcd",
                "--unsafe-no-fsync",
                f"--data-dir={folder}/data",
                f"--listen-client-urls={client_url}",
                f"--advertise-client-urls={client_url}",
                f"--listen-peer-urls={peer_url}",
                f"--initial-advertise-peer-urls={peer_url}",
                f"--initial-cluster=default={peer_url}",
                f"--cert-file={p}/{etcd}.crt",
                f"--key-file={p}/{etcd}.key",
                f"--trusted-ca-file={self.etcd_ca}",
                "--client-cert-auth",
                f"--peer-cert-file={p}/{peer}.crt",
                f"--peer-key-file={p}/{peer}.key",
                f"--peer-trusted-ca-file={self.etcd_ca}",
                "--peer-client-cert-auth",
            )
        ]
        sni = [f"--tls-sni-cert-key={p}/{name}.crt,{p}/{name}.key" for name in serving[1:]]
        self.processes.append(
            self.start(
                "kube-apiserver",
                f"--etcd-servers={client_url}",
                f"--etcd-cafile={self.etcd_ca}",
                f"--etcd-certfile={p}/etcd-client.crt",
                f"--etcd-keyfile={p}/etcd-client.key",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--secure-port={self.port}",
                f"--tls-cert-file={p}/{serving[0]}.crt",
                f"--tls-private-key-file={p}/{serving[0]}.key",
                *sni,
                f"--client-ca-file={p}/{clients}.crt",
                "--service-account-issuer=https://127.0.0.1/",
                f"--service-account-key-file={p}/service-account.pub",
                f"--service-account-signing-key-file={p}/service-account.key",
                "--authorization-mode=Node,RBAC",
                "--service-cluster-ip-range=172.30.0.0/16",
                "--endpoint-reconciler-type=none",
                f"--requestheader-client-ca-file={p}/{aggregator_ca}.crt",
                "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                f"--proxy-client-cert-file={p}/{aggregator}.crt",
                f"--proxy-client-key-file={p}/{aggregator}.key",
                f"--kubelet-client-certificate={p}/{kubelet}.crt",
                f"--kubelet-client-key={p}/{kubelet}.key",
            )
        )

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen([program(name), *arguments], stdout=log, stderr=subprocess.STDOUT)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=60)

    def wait(self) -> None:
        deadline = time.monotonic() + 120
        while True:
            assert all(p.poll() is None for p in self.processes), self.logs()
            assert time.monotonic() < deadline, self.logs()
            try:
                if self.ask("localhost", self.port, self.server_ca, None, "GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.2)  # between two questions

    def logs(self) -> str:
        return "\n".join((self.folder / f"{n}.log").read_text()[-3000:] for n in ("etcd", "kube-apiserver"))

    @staticmethod
    def ask(
        host: str, port: int, authority: Path, client: tuple[Path, Path] | None, method: str, path: str, body: str = ""
    ) -> tuple[int, Any]:
        """One request to 127.0.0.1, its certificate checked against `host`."""
        context = ssl.create_default_context(cafile=str(authority))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go does: what is in the bundle is trusted
        if client:
            context.load_cert_chain(client[0], client[1])
        connection = http.client.HTTPConnection(host)
        raw = socket.create_connection(("127.0.0.1", port), timeout=30)
        connection.sock = context.wrap_socket(raw, server_hostname=host)
        try:
            connection.request(method, path, body or None, {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@pytest.fixture(params=["HandMade", "Installer"])
def servers(request: pytest.FixtureRequest, hcpnet: Hcpnet, tmp_path: Path) -> Iterator[tuple[Servers, str]]:
    layout = str(request.param)
    shutil.copytree(ROOT / "examples/bootstrap", tmp_path / "in")
    spec = tmp_path / "in/cluster.yaml"
    spec.write_text(spec.read_text().replace("layout: HandMade", f"layout: {layout}"))
    done = hcpnet("bootstrap", "render", str(spec), "--output-dir", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    started = Servers(tmp_path / "out", layout, tmp_path)
    try:
        started.wait()
        yield started, layout
    finally:
        started.stop()


def unpack(kubeconfig: Path, folder: Path) -> tuple[str, Path, tuple[Path, Path]]:
    text = kubeconfig.read_text()
    paths = []
    for field in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
        match = re.search(rf"{field}: (\S+)", text)
        assert match, field
        paths.append(folder / f"{kubeconfig.stem}.{field}")
        paths[-1].write_bytes(base64.b64decode(match[1]))
    server = re.search(r"https://([^:]+):6443", text)
    assert server
    return server[1], paths[0], (paths[1], paths[2])


def test_every_kubeconfig_is_who_it_should_be(servers: tuple[Servers, str], tmp_path: Path) -> None:
    running, layout = servers
    kubeconfigs = sorted((running.out / "kubeconfig").glob("*.kubeconfig"))
    assert len(kubeconfigs) == 8
    review = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    for kubeconfig in kubeconfigs:
        user, groups = USERS[layout].get(kubeconfig.stem, MASTERS)
        host, authority, client = unpack(kubeconfig, tmp_path)
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        status, body = running.ask(host, running.port, authority, client, "POST", path, review)
        assert status == 201, (kubeconfig.name, body)
        info = json.loads(body)["status"]["userInfo"]
        assert (info["username"], set(info["groups"])) == (user, groups)
        # What it may: secrets of all namespaces are for administrators and the controller manager's kind only.
        status, _ = running.ask(host, running.port, authority, client, "GET", "/api/v1/secrets")
        allowed = "system:masters" in groups or user == "system:kube-controller-manager"
        assert status == (200 if allowed else 403), kubeconfig.name


def test_etcd_and_the_api_server_take_only_their_own_clients(servers: tuple[Servers, str], tmp_path: Path) -> None:
    running, _ = servers
    etcd_client = (running.pki / "etcd-client.crt", running.pki / "etcd-client.key")
    assert running.ask("127.0.0.1", running.etcd_port, running.etcd_ca, etcd_client, "GET", "/health")[0] == 200
    assert running.ask("localhost", running.port, running.server_ca, etcd_client, "GET", "/api/v1/secrets")[0] == 401
    _, _, admin = unpack(running.out / "kubeconfig/admin.kubeconfig", tmp_path)
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
        running.ask("127.0.0.1", running.etcd_port, running.etcd_ca, admin, "GET", "/health")
