# SPDX-License-Identifier: Apache-2.0
"""hcpnet dns: zone, explain, query and render, from files and of a running process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hcpnet_command import NETWORK, Hcpnet


def test_zone_prints_every_record_of_each_view(hcpnet: Hcpnet) -> None:
    done = hcpnet("dns", "zone", str(hcpnet.network))
    assert done.returncode == 0, done.stderr
    assert "; hcp/vlan, view vlan (127.83.0.0/24), zone blue.example.com.\n" in done.stdout
    assert "api.blue.example.com. 30 IN A 127.83.0.4\n" in done.stdout
    assert "api.blue.example.com. 30 IN A 198.51.100.10\n" in done.stdout


def test_explain_names_view_zone_and_rule(hcpnet: Hcpnet) -> None:
    done = hcpnet("dns", "explain", "api.blue.example.com", "--from", "127.83.0.9", str(hcpnet.network))
    assert done.stdout == (
        "hcp/vlan: view vlan, because of 127.83.0.0/24\n"
        "  api.blue.example.com.: exact, zone blue.example.com., by api.blue.example.com.\n"
        "    api.blue.example.com. 30 IN A 127.83.0.4\n"
    )
    other = hcpnet("dns", "explain", "other.test", "--from", "2001:db8::1", "-o", "json", str(hcpnet.network))
    (found,) = json.loads(other.stdout)["explanations"]
    assert (found["view"], found["prefix"], found["upstreams"]) == ("pod", "::/0", ["resolv.conf"])
    assert [s["rule"] for s in found["steps"]] == ["forwarded"]


def test_query_answers_each_view_from_files(hcpnet: Hcpnet) -> None:
    done = hcpnet("dns", "query", "api.blue.example.com", str(hcpnet.network), "-o", "json")
    answers = {a["view"]: a for a in json.loads(done.stdout)["answers"]}
    assert answers["vlan"]["answers"] == ["api.blue.example.com. 30 IN A 127.83.0.4"]
    assert answers["pod"]["answers"] == ["api.blue.example.com. 30 IN A 198.51.100.10"]
    done = hcpnet("dns", "query", "x.blue.example.com", "--type", "aaaa", "--from", "127.83.0.9", str(hcpnet.network))
    assert done.stdout.startswith(
        "; hcp/vlan, view vlan: NXDOMAIN, authoritative\n; authority: blue.example.com. 30 IN SOA "
    )


@pytest.mark.parametrize(
    "arguments",
    [("a..b",), ("a", "--type", "NOTYPE"), ("a", "--type", "axfr"), ("a", "--from", "nobody")],
    ids=["name", "type", "transfer", "address"],
)
def test_wrong_use_is_status_2(hcpnet: Hcpnet, arguments: tuple[str, ...]) -> None:
    assert hcpnet("dns", "query", *arguments, str(hcpnet.network)).returncode == 2


@pytest.mark.parametrize("command", ["query", "explain"])
def test_a_client_without_an_address_is_wrong_use(hcpnet: Hcpnet, command: str) -> None:
    done = hcpnet("dns", command, "api.blue.example.com", "--from", "", str(hcpnet.network))
    assert (done.returncode, done.stderr) == (2, "hcpnet: --from: '' is not an address\n")


def test_explain_is_about_types_of_records(hcpnet: Hcpnet) -> None:
    done = hcpnet(
        "dns", "explain", "api.blue.example.com", "--from", "127.83.0.9", "--type", "any", str(hcpnet.network)
    )
    assert done.returncode == 2
    assert "no record has the type any" in done.stderr


def test_the_running_process_is_asked_where_no_file_is_given(hcpnet: Hcpnet) -> None:
    hcpnet.up()
    zones = {(z["view"], z["apex"]): z for z in hcpnet.ask("dns", "zone")["zones"]}
    assert zones["vlan", "blue.example.com."]["available"]
    for name, client in (("api.blue.example.com", "127.83.0.9"), ("other.test", "127.83.0.9"), ("x", "2001:db8::1")):
        arguments = ("dns", "explain", name, "--from", client)
        of_files = json.loads(hcpnet(*arguments, "-o", "json", str(hcpnet.network)).stdout)
        assert hcpnet.ask(*arguments) == of_files
    (answer,) = hcpnet.ask("dns", "query", "api.blue.example.com", "--from", "127.83.0.9")["answers"]
    assert answer["answers"] == ["api.blue.example.com. 30 IN A 127.83.0.4"]
    assert answer["authoritative"]
    (answer,) = hcpnet.ask("dns", "query", "api.blue.example.com", "--from", "127.0.0.1")["answers"]
    assert answer["answers"] == ["api.blue.example.com. 30 IN A 198.51.100.10"]


def test_without_a_process_and_files_it_says_so(hcpnet: Hcpnet) -> None:
    for command in (("zone",), ("explain", "a", "--from", "127.0.0.1"), ("query", "a")):
        assert hcpnet("dns", *command, "--state-dir", str(hcpnet.state)).returncode == 1


def contents(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("target", ["zonefile", "hosts", "coredns", "bind", "unbound", "dnsmasq"])
def test_render_writes_files_and_leaves_what_did_not_change(hcpnet: Hcpnet, target: str) -> None:
    out = hcpnet.folder / "out"
    command = ("dns", "render", "--target", target, "--output-dir", str(out), str(hcpnet.network))
    assert hcpnet(*command).returncode == 0
    first = contents(out)
    times = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    assert first
    assert hcpnet(*command).returncode == 0
    assert contents(out) == first
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()} == times


def test_render_bumps_the_serial_of_a_changed_zone_alone(hcpnet: Hcpnet) -> None:
    out = hcpnet.folder / "out"
    command = ("dns", "render", "--target", "zonefile", "--output-dir", str(out), str(hcpnet.network))
    hcpnet(*command)
    first = contents(out)
    hcpnet.network.write_text(NETWORK.replace("198.51.100.10", "198.51.100.11"))
    hcpnet(*command)
    second = contents(out)
    assert second["vlan/blue.example.com.zone"] == first["vlan/blue.example.com.zone"]
    old, new = (int(c["pod/blue.example.com.zone"].split(" SOA ")[1].split()[2]) for c in (first, second))
    assert new > old


def test_render_prints_everything_without_a_folder(hcpnet: Hcpnet) -> None:
    done = hcpnet("dns", "render", "--target", "coredns", "--pod-address", "127.83.9.9", str(hcpnet.network))
    assert done.returncode == 0, done.stderr
    assert "    bind 127.83.0.3 127.83.9.9\n" in done.stdout
    assert "\n    forward . /etc/resolv.conf {\n" in done.stdout
    assert hcpnet("dns", "render", "--target", "nsd", str(hcpnet.network)).returncode == 2
    assert hcpnet("dns", "render", "--target", "bind", "--pod-address", "x", str(hcpnet.network)).returncode == 2


def test_render_writes_nothing_in_part(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(NETWORK.replace("198.51.100.10", "proxy.hcp.svc"))  # whose address nothing tells
    out = hcpnet.folder / "out"
    done = hcpnet("dns", "render", "--target", "bind", "--output-dir", str(out), str(hcpnet.network))
    assert done.returncode == 1
    assert "[unavailable-zone]" in done.stderr
    assert not out.exists()


def test_files_may_follow_options(hcpnet: Hcpnet) -> None:
    endpoints = hcpnet.folder / "endpoints.yaml"
    endpoints.write_text('"clusters-blue/oauth-openshift:6443": ["198.51.100.22:6443"]\n')
    done = hcpnet(
        "dns", "query", "api.blue.example.com", "--endpoints", str(endpoints), "-o", "json", str(hcpnet.network)
    )
    assert done.returncode == 0, done.stderr
