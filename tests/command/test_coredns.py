# SPDX-License-Identifier: Apache-2.0
"""The rendered Corefile in a real CoreDNS."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api_server import ROOT, free_port, tool
from hcpnet_command import Hcpnet
from test_render import by_name, render

VLAN_CLIENT, POD_CLIENT = "127.0.7.9", "127.0.0.9"


def ask(port: int, name: str, client: str) -> tuple[int, list[str]]:
    """RCODE and IPv4 addresses of the answer."""
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
        query.bind((client, 0))
        query.settimeout(10)
        query.sendto(struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + question, ("127.0.0.1", port))
        reply = query.recv(4096)
    flags, _, answers = struct.unpack("!3H", reply[2:8])
    at, addresses = 12 + len(question), []
    for _ in range(answers):
        while reply[at] and reply[at] < 0xC0:
            at += reply[at] + 1
        at += 2 if reply[at] else 1
        kind, _, _, length = struct.unpack("!HHIH", reply[at : at + 10])
        at += 10
        if kind == 1:
            addresses.append(socket.inet_ntoa(reply[at : at + length]))
        at += length
    return flags & 15, addresses


@contextmanager
def running(corefile: str, folder: Path, ready_port: int) -> Iterator[None]:
    """CoreDNS with this Corefile, once it is ready; its pod has the address 127.0.0.1."""
    (folder / "Corefile").write_text(corefile)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [tool("coredns"), "-conf", str(folder / "Corefile")],
            stdout=log,
            stderr=log,
            env={**os.environ, "POD_IP": "127.0.0.1"},
        )
    try:
        deadline = time.monotonic() + 60
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{ready_port}/ready", timeout=5):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_starts_and_answers_each_side_its_own(hcpnet: Hcpnet, tmp_path: Path) -> None:
    objects = by_name(render(hcpnet, "--deployment", "coredns-envoy"))
    text = objects[("ConfigMap", "vlan7-dns-config")]["data"]["Corefile"]
    port, health, ready, metrics = (free_port() for _ in range(4))
    for old, new in (
        (".:53 ", f".:{port} "),
        ("bind 192.0.2.3 {$POD_IP}", "bind {$POD_IP}"),
        (":8080", f":{health}"),
        (":8181", f":{ready}"),
        (":9464", f":{metrics}"),
        ("192.0.2.0/24", "127.0.7.0/24"),
    ):
        assert old in text
        text = text.replace(old, new)
    with running(text, tmp_path, ready):
        wanted = {
            ("api.blue.hc.example.com", VLAN_CLIENT): (0, ["192.0.2.4"]),
            ("api.blue.hc.example.com", POD_CLIENT): (0, ["172.30.9.4"]),
            ("x.y.apps.red.hc.example.com", VLAN_CLIENT): (0, ["192.0.2.210"]),
            ("x.y.apps.red.hc.example.com", POD_CLIENT): (0, ["172.30.9.4"]),
            ("kubernetes.default.svc", VLAN_CLIENT): (0, ["192.0.2.4"]),
            ("nothing.blue.hc.example.com", VLAN_CLIENT): (3, []),
        }
        assert {key: ask(port, *key) for key in wanted} == wanted


def test_names_of_a_guest_are_answered_and_no_others(hcpnet: Hcpnet, tmp_path: Path) -> None:
    folder = ROOT / "tests/cpp/data/manifest/udn/names"
    words = ["plan", str(folder / "set.yaml"), "--observed", str(folder / "management.yaml"), "-o", "json"]
    done = hcpnet(*words, "--guest", "clusters/blue", "--guest-observed", str(folder / "guest.yaml"))
    assert done.returncode == 0, done.stderr
    objects = [a["object"] for a in json.loads(done.stdout)["actions"]]
    (config,) = [o for o in objects if o["kind"] == "ConfigMap"]
    text = config["data"]["Corefile"]
    port, health, ready, metrics = (free_port() for _ in range(4))
    for old, new in ((":5353", f":{port}"), (":8080", f":{health}"), (":8181", f":{ready}"), (":9464", f":{metrics}")):
        assert old in text
        text = text.replace(old, new)
    client = "127.0.0.1"
    with running(text, tmp_path, ready):
        wanted = {
            "console-openshift-console.apps.blue.example.com": (0, ["172.31.88.88"]),
            "a.b.apps.blue.example.com": (0, ["172.31.88.88"]),
            "oauth-clusters-blue.apps.mgmt.example.com": (0, ["172.31.99.99"]),
            "x.oauth-clusters-blue.apps.mgmt.example.com": (3, []),  # NXDOMAIN: nobody else is asked
            "console.apps.mgmt.example.com": (5, []),  # REFUSED: somebody else's
            "kubernetes.default.svc.cluster.local": (5, []),
        }
        assert {name: ask(port, name, client) for name in wanted} == wanted
