# SPDX-License-Identifier: Apache-2.0
"""examples/dns-ends: names of a hosted cluster as its own pods, and as the management cluster, ask for them."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from api_server import free_port, tool
from hcpnet_command import Hcpnet
from test_coredns import ask

EXAMPLES = Path(__file__).parents[2] / "examples/dns-ends"
ROUTER, OAUTH = "172.31.40.1", "172.31.40.2"
GUEST_ANSWERS = {
    ("console-openshift-console.apps.blue.example.com", "A"): ("NOERROR", [ROUTER]),
    ("a.b.apps.blue.example.com", "A"): ("NOERROR", [ROUTER]),
    ("a.b.apps.blue.example.com", "AAAA"): ("NOERROR", []),
    ("apps.blue.example.com", "A"): ("NOERROR", []),
    ("oauth-blue.apps.mgmt.example.com", "A"): ("NOERROR", [OAUTH]),
    ("oauth-blue.apps.mgmt.example.com", "AAAA"): ("NOERROR", []),
    # Forwarded, these would come back to us.
    ("other.apps.mgmt.example.com", "A"): ("REFUSED", []),
    ("api.blue.example.com", "A"): ("REFUSED", []),
    ("registry.example.org", "A"): ("REFUSED", []),
}


def dig(server: tuple[str, int], name: str, kind: str) -> tuple[str, list[str]]:
    words = ["dig", f"@{server[0]}", "-p", str(server[1]), "+tries=1", "+timeout=10", name, kind]
    output = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    status = output.partition("status: ")[2].partition(",")[0]
    answers = output.partition("ANSWER SECTION:\n")[2].partition("\n\n")[0].splitlines()
    return status, [line.split()[-1] for line in answers]


def test_the_guest_side(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text((EXAMPLES / "guest.yaml").read_text().replace("192.0.2.53", "127.88.0.53"))
    hcpnet.up("--map-port", "5353=0")
    server = hcpnet.bound("dns", 5353)
    assert {question: dig(server, *question) for question in GUEST_ANSWERS} == GUEST_ANSWERS


@pytest.mark.parametrize("question", list(GUEST_ANSWERS))
def test_what_the_commands_say_of_the_guest_side(hcpnet: Hcpnet, question: tuple[str, str]) -> None:
    name, kind = question
    rcode, addresses = GUEST_ANSWERS[question]
    done = hcpnet("dns", "query", name, "--type", kind, str(EXAMPLES / "guest.yaml"))
    assert done.returncode == 0, done.stderr
    assert f": {rcode}" in done.stdout
    assert [line.split()[-1] for line in done.stdout.splitlines() if not line.startswith(";")] == addresses
    why = hcpnet("dns", "explain", name, "--type", kind, "--from", "10.132.0.9", str(EXAMPLES / "guest.yaml"))
    assert ("refused" in why.stdout) == (rcode == "REFUSED"), why.stdout


def corefile_of_dns_operator(servers: list[dict[str, object]], port: int) -> str:
    """What OpenShift's DNS operator makes of spec.servers; names of no zone are refused here."""
    blocks = []
    for server in servers:
        plugin = server["forwardPlugin"]
        assert isinstance(plugin, dict)
        zones = " ".join(f"{zone}:{port}" for zone in server["zones"])  # type: ignore[attr-defined]
        policy = {"Sequential": "sequential", "Random": "random", "RoundRobin": "round_robin"}[plugin["policy"]]
        upstreams = " ".join(plugin["upstreams"])
        blocks.append(
            f"{zones} {{\n  bind 127.0.0.1\n  forward . {upstreams} {{\n    policy {policy}\n  }}\n  cache 900\n}}\n"
        )
    return "".join(blocks)


@contextlib.contextmanager
def dns_operator(folder: Path, file: str, upstream: str, address: str) -> Iterator[int]:
    """The name servers that OpenShift's DNS operator makes of the example, in front of ours; the port."""
    text = (EXAMPLES / file).read_text()
    assert upstream in text
    servers = yaml.safe_load(text.replace(upstream, address))["spec"]["servers"]
    port = free_port()
    (folder / "Corefile").write_text(corefile_of_dns_operator(servers, port))
    with (folder / "log").open("wb") as log:
        coredns = subprocess.Popen([tool("coredns"), "-conf", str(folder / "Corefile")], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while "CoreDNS-" not in (folder / "log").read_text():
            assert coredns.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        yield port
    finally:
        coredns.kill()
        coredns.wait()


def test_the_management_side(hcpnet: Hcpnet, tmp_path: Path) -> None:
    hcpnet.up()
    address, bound = hcpnet.bound("dns", 53)
    pod_side = "198.51.100.10"  # not the VLAN's: the question comes from outside it
    with dns_operator(tmp_path, "dns-operator.yaml", "172.30.9.53:53", f"{address}:{bound}") as port:
        for name, wanted in {
            "api.blue.example.com": (0, [pod_side]),
            "oauth.blue.example.com": (0, [pod_side]),
            "no-such.blue.example.com": (3, []),
            "registry.example.org": (5, []),
        }.items():
            assert ask(port, name, "127.0.0.1") == wanted, name


def test_the_guest_side_through_its_dns_operator(hcpnet: Hcpnet, tmp_path: Path) -> None:
    hcpnet.network.write_text((EXAMPLES / "guest.yaml").read_text().replace("192.0.2.53", "127.88.0.53"))
    hcpnet.up("--map-port", "5353=0")
    address, bound = hcpnet.bound("dns", 5353)
    with dns_operator(tmp_path, "guest-dns-operator.yaml", "172.31.30.53:5353", f"{address}:{bound}") as port:
        for name, wanted in {
            "console-openshift-console.apps.blue.example.com": (0, [ROUTER]),
            "oauth-blue.apps.mgmt.example.com": (0, [OAUTH]),
            "other.apps.mgmt.example.com": (5, []),
        }.items():
            assert ask(port, name, "127.0.0.1") == wanted, name
