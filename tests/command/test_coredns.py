# SPDX-License-Identifier: Apache-2.0
"""A real CoreDNS: with the rendered Corefile, and beside ours."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from api_server import ROOT, free_port, tool
from hcpnet_command import NETWORK, Hcpnet
from test_render import by_name, render

VLAN_CLIENT, POD_CLIENT = "127.0.7.9", "127.0.0.9"


def ask(port: int, name: str, client: str, server: str = "127.0.0.1") -> tuple[int, list[str]]:
    """RCODE and IPv4 addresses of the answer."""
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
        query.bind((client, 0))
        query.settimeout(1)
        for attempt in range(10):  # CoreDNS says that it is ready before it listens
            query.sendto(struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + question, (server, port))
            try:
                reply = query.recv(4096)
                break
            except TimeoutError:
                if attempt == 9:
                    raise
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


@contextlib.contextmanager
def coredns(folder: Path, corefile: str, ready: str) -> Iterator[None]:
    """Runs until the page `ready` is there, and then as long as the block."""
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
                with urllib.request.urlopen(ready, timeout=5):
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
    with coredns(tmp_path, text, f"http://127.0.0.1:{ready}/ready"):
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
    with coredns(tmp_path, text, f"http://127.0.0.1:{ready}/ready"):
        wanted = {
            "console-openshift-console.apps.blue.example.com": (0, ["172.31.88.88"]),
            "a.b.apps.blue.example.com": (0, ["172.31.88.88"]),
            "oauth-clusters-blue.apps.mgmt.example.com": (0, ["172.31.99.99"]),
            "x.oauth-clusters-blue.apps.mgmt.example.com": (3, []),  # NXDOMAIN: nobody else is asked
            "console.apps.mgmt.example.com": (5, []),  # REFUSED: somebody else's
            "kubernetes.default.svc.cluster.local": (5, []),
        }
        assert {name: ask(port, name, client) for name in wanted} == wanted


def families(page: str) -> dict[str, tuple[str, set[str]]]:
    """Type and names of the labels of each family that CoreDNS could have."""
    found = {}
    for name, kind in re.findall(r"^# TYPE (coredns_\w+) (\w+)$", page, re.MULTILINE):
        samples = re.findall(rf"^{name}(?:_count)?{{(.*)}} ", page, re.MULTILINE)
        found[name] = (kind, set(re.findall(r'(\w+)="', ",".join(samples))))
    return found


# Older releases of CoreDNS have these, and dashboards made for them still ask.
NO_MORE_IN_COREDNS = {"coredns_forward_requests_total", "coredns_forward_responses_total"}
ONLY_WHEN_IT_HAPPENS = {
    "coredns_cache_evictions_total",
    "coredns_cache_served_stale_total",
    "coredns_cache_prefetch_total",
}


def test_our_metrics_have_its_names_types_and_labels(hcpnet: Hcpnet, tmp_path: Path) -> None:
    port, metrics = free_port(), free_port()
    attachment = "networkAttachmentDefinition: vlan"
    hcpnet.network.write_text(NETWORK.replace(attachment, f'{attachment}, dnsServers: ["127.0.0.1:{port}"]'))
    hcpnet.up("--observe", "127.0.0.1:0")
    address, ours = hcpnet.bound("dns", 53)
    corefile = f"""
.:{port} {{
    bind 127.0.0.1
    prometheus 127.0.0.1:{metrics}
    cache 30
    template IN A example.net {{
        answer "{{{{ .Name }}}} 60 IN A 192.0.2.7"
    }}
    forward . {address}:{ours}
}}
"""
    with coredns(tmp_path, corefile, f"http://127.0.0.1:{metrics}/metrics"):
        for _ in range(2):  # once from the upstream, once from the cache
            assert ask(port, "api.blue.example.com", "127.0.0.1") == (0, ["198.51.100.10"])
            assert ask(ours, "x.example.net", "127.0.0.1", address) == (0, ["192.0.2.7"])
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=10) as page:
            theirs = families(page.read().decode())
    observe = hcpnet.bound("observe", 0)
    with urllib.request.urlopen(f"http://{observe[0]}:{observe[1]}/metrics", timeout=10) as page:
        found = families(page.read().decode())
    assert len(found) >= 14, found
    for name, (kind, labels) in found.items():
        if name in NO_MORE_IN_COREDNS | ONLY_WHEN_IT_HAPPENS:
            continue
        assert name in theirs, name
        assert kind == theirs[name][0], name
        # Ours is one server of several in a process.
        assert labels - {"server"} <= theirs[name][1], name
