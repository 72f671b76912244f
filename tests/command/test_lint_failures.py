# SPDX-License-Identifier: Apache-2.0
"""What the lint says will fail does fail, with the real programs; and what it takes works."""

from __future__ import annotations

import csv
import json
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path

import pytest
from api_server import free_port, tool
from hcpnet_command import Hcpnet, wait_until

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"
BOTH = "extendedKeyUsage=serverAuth,clientAuth"
SERVER = "extendedKeyUsage=serverAuth"


class Authority:
    """An authority in a folder, and what it signs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "openssl.cnf").write_text("[req]\ndistinguished_name=dn\n[dn]\n")
        self._make("ca", "/CN=ca", ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"], [])

    def issue(self, name: str, subject: str, *extensions: str) -> Path:
        signer = ["-CA", str(self.folder / "ca.crt"), "-CAkey", str(self.folder / "ca.key")]
        self._make(name, subject, ["basicConstraints=critical,CA:FALSE", *extensions], signer)
        return self.folder / f"{name}.crt"

    def _make(self, name: str, subject: str, extensions: list[str], signer: list[str]) -> None:
        out = ["-keyout", str(self.folder / f"{name}.key"), "-out", str(self.folder / f"{name}.crt")]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "7"]
        added = [word for extension in extensions for word in ("-addext", extension)]
        config = ["-config", str(self.folder / "openssl.cnf")]
        command = ["openssl", "req", "-x509", *config, *curve, "-subj", subject, *added, *signer, *out]
        subprocess.run(command, check=True, capture_output=True, timeout=60)


@contextmanager
def etcd(authority: Authority, server: str, *more: str) -> Iterator[int]:
    """A member that serves with that certificate: its port, once it listens."""
    port, peer = free_port(), free_port()
    folder = authority.folder
    url, peer_url = f"https://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
    command = [tool("etcd"), "--name=a", f"--data-dir={folder / server}.etcd", "--unsafe-no-fsync"]
    command += [f"--listen-client-urls={url}", f"--advertise-client-urls={url}", f"--listen-peer-urls={peer_url}"]
    command += [f"--initial-advertise-peer-urls={peer_url}", f"--initial-cluster=a={peer_url}"]
    command += [f"--cert-file={folder / server}.crt", f"--key-file={folder / server}.key", *more]
    with (folder / f"{server}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or is_open(port), lambda: (folder / f"{server}.log").read_text())
        assert process.poll() is None, (folder / f"{server}.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def codes(hcpnet: Hcpnet, *paths: Path) -> set[str]:
    body = json.loads(hcpnet("lint", *map(str, paths), "-o", "json").stdout)
    return {finding["rule"] for finding in body["findings"]}


def status_by_gateway(authority: Authority, port: int) -> int:
    """Through etcd's own gateway, which dials the member with the certificate that it serves with."""
    context = ssl.create_default_context(cafile=str(authority.folder / "ca.crt"))
    context.load_cert_chain(authority.folder / "client.crt", authority.folder / "client.key")
    connection = HTTPSConnection("localhost", port, context=context, timeout=30)
    try:
        connection.request("POST", "/v3/maintenance/status", "{}")
        return connection.getresponse().status
    finally:
        connection.close()


def test_etcd_needs_both_usages(hcpnet: Hcpnet, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue("client", "/CN=etcd-client", "extendedKeyUsage=clientAuth")
    clients = ("--client-cert-auth=true", f"--trusted-ca-file={tmp_path / 'ca.crt'}")
    good = authority.issue("good", "/CN=etcd-server", BOTH, NAMES)
    with etcd(authority, "good", *clients) as port:
        wait_until(lambda: status_by_gateway(authority, port) == 200, lambda: (tmp_path / "good.log").read_text())
    wrong = authority.issue("wrong", "/CN=etcd-server", SERVER, NAMES)
    with etcd(authority, "wrong", *clients) as port:
        assert status_by_gateway(authority, port) != 200
        log = tmp_path / "wrong.log"
        wait_until(lambda: "incompatible key usage" in log.read_text() or "bad certificate" in log.read_text())
    assert codes(hcpnet, good) == set()
    assert codes(hcpnet, wrong) == {"etcd-certificate-usages"}


def test_a_client_refuses_a_server_without_names(hcpnet: Hcpnet, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    for name, extensions in {"good": [BOTH, NAMES], "wrong": [BOTH]}.items():
        certificate = authority.issue(name, "/CN=localhost", *extensions)
        with etcd(authority, name) as port:
            command = [tool("kubectl"), f"--server=https://localhost:{port}", "get", "--raw", "/health"]
            command += [f"--certificate-authority={tmp_path / 'ca.crt'}", "--kubeconfig=/dev/null"]
            command += ["--token=none"]  # without a user it asks for one; etcd does not look at it
            env = {**os.environ, "HOME": str(tmp_path)}
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
        if name == "good":
            assert "true" in done.stdout, done.stderr
            assert codes(hcpnet, certificate) == set()
        else:
            assert "legacy Common Name" in done.stderr
            assert codes(hcpnet, certificate) == {"server-certificate-names"}


def haproxy_status(stats: Path) -> str:
    """Of the one server: UP or DOWN, once a check has ended."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(stats))
        client.sendall(b"show stat\n")
        text = client.makefile().read()
    (row,) = [row for row in csv.DictReader(text.splitlines()) if row["svname"] == "master-0"]
    has_ended = row["check_status"] not in ("", "INI") and not row["check_status"].startswith("*")
    return row["status"] if has_ended else ""


@pytest.mark.parametrize(
    ("check", "status", "rules"),
    [
        ("check", "DOWN", {"haproxy-plain-check"}),
        ("check check-ssl verify none", "UP", set()),
    ],
)
def test_haproxy_takes_a_healthy_server_for_dead(
    hcpnet: Hcpnet, tmp_path: Path, check: str, status: str, rules: set[str]
) -> None:
    authority = Authority(tmp_path)
    authority.issue("server", "/CN=localhost", BOTH, NAMES)
    stats, config = tmp_path / "stats", tmp_path / "haproxy.cfg"
    with etcd(authority, "server") as port:
        text = f"""global
  stats socket {stats}
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen api
  bind 127.0.0.1:{free_port()}
  option httpchk GET /health
  server master-0 127.0.0.1:{port} {check} inter 100ms fall 1 rise 1
"""
        config.write_text(text)
        process = subprocess.Popen(["haproxy", "-db", "-f", str(config)], stderr=subprocess.DEVNULL)
        try:
            wait_until(stats.exists)
            wait_until(lambda: haproxy_status(stats) == status)
        finally:
            process.terminate()
            process.wait(timeout=60)
    config.write_text(text.replace(f":{port}", ":6443"))
    assert codes(hcpnet, config) == rules
