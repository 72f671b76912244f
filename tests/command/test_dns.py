# SPDX-License-Identifier: Apache-2.0
"""hcpnet dns: zone, explain, query and render, from files and of a running process."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hcpnet_command import NETWORK, Hcpnet, wait_until


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


@pytest.mark.parametrize("target", ["zonefile", "hosts", "coredns", "bind", "unbound", "dnsmasq"])
def test_render_has_the_targets_of_name_servers_too(hcpnet: Hcpnet, target: str) -> None:
    words = ("render", "--target", target, "--any-address", "--file-prefix", "/etc/x/", str(hcpnet.network))
    one, other = hcpnet(*words), hcpnet("dns", *words)
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout != ""
    assert one.stderr == other.stderr


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


SERVERS = "---\n".join(
    f"""\
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {{name: {name}, namespace: hcp}}
spec:
  networkConfig: {{serverIP: 127.83.{number}.3, proxyIP: 127.83.{number}.4}}
  hostedClusterDomain: {name}.example.com
  staticEntries: [{{hostname: api.{name}.example.com, ip: 127.83.{number}.4}}]
"""
    for number, name in enumerate(("blue", "red"))
)


@pytest.mark.parametrize("prefix", ["", "/etc/bind/"])
def test_each_of_several_servers_names_its_own_files(hcpnet: Hcpnet, prefix: str) -> None:
    hcpnet.network.write_text(SERVERS)
    out = hcpnet.folder / "out"
    done = hcpnet(
        *("dns", "render", "--target", "bind", "--output-dir", str(out), "--file-prefix", prefix, str(hcpnet.network))
    )
    assert done.returncode == 0, done.stderr
    for name in ("blue", "red"):
        assert (out / f"hcp-{name}" / "vlan" / f"{name}.example.com.zone").exists()
        # Without a prefix names begin in the folder of the configuration.
        folder = f"{prefix}hcp-{name}/" if prefix else ""
        text = (out / f"hcp-{name}" / "named.conf").read_text()
        assert f'file "{folder}vlan/{name}.example.com.zone"' in text


def test_a_prefix_that_would_break_the_configuration_is_an_error(hcpnet: Hcpnet) -> None:
    for target in ("bind", "coredns"):
        done = hcpnet("dns", "render", "--target", target, "--file-prefix", 'a b"c\\', str(hcpnet.network))
        assert done.returncode == 1
        assert "[bad-option]" in done.stderr
        assert done.stdout == ""


def test_a_set_without_dns_server_is_told(hcpnet: Hcpnet) -> None:
    lines = NETWORK.splitlines(keepends=True)
    hcpnet.network.write_text("".join(line for line in lines if not line.startswith("    dns:")))
    for command in (
        ("zone",),
        ("explain", "a", "--from", "127.83.0.9"),
        ("query", "a"),
        ("render", "--target", "bind"),
    ):
        done = hcpnet("dns", *command, str(hcpnet.network))
        assert (done.returncode, done.stdout) == (1, ""), command
        assert done.stderr.endswith("hcpnet: the files describe no DNS server\n"), command


def test_render_writes_nothing_in_part(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(NETWORK.replace("198.51.100.10", "proxy.hcp.svc"))  # whose address nothing tells
    out = hcpnet.folder / "out"
    done = hcpnet("dns", "render", "--target", "bind", "--output-dir", str(out), str(hcpnet.network))
    assert done.returncode == 1
    assert "[unavailable-zone]" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("command", [("dns", "render", "--target", "bind"), ("render",), ("render", "-o", "kustomize")])
def test_a_file_is_no_folder_to_render_into(hcpnet: Hcpnet, command: tuple[str, ...]) -> None:
    out = hcpnet.folder / "out"
    out.write_text("mine")
    for path in (out, out / "below"):
        done = hcpnet(*command, "--output-dir", str(path), str(hcpnet.network))
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == f"hcpnet: --output-dir: {out} is a file, and a folder is needed here"
    assert out.read_text() == "mine"


def test_what_stands_in_the_way_of_a_rendered_file_is_named(hcpnet: Hcpnet) -> None:
    out = hcpnet.folder / "out"
    out.mkdir()
    command = ("dns", "render", "--target", "zonefile", "--output-dir", str(out), str(hcpnet.network))
    (out / "vlan").write_text("mine")
    done = hcpnet(*command)
    assert done.returncode == 1
    assert f"hcpnet: --output-dir: {out}/vlan is a file, and a folder is needed here\n" in done.stderr
    (out / "vlan").unlink()
    zone = out / "vlan" / "blue.example.com.zone"
    zone.mkdir(parents=True)
    done = hcpnet(*command)
    assert done.returncode == 1
    assert f"hcpnet: --output-dir: {zone} is a folder, and a file is needed here\n" in done.stderr
    assert contents(out) == {}, "nothing is written in part"


def test_a_rendering_takes_the_place_of_a_fifo_and_leaves_no_half_of_a_file(hcpnet: Hcpnet) -> None:
    out = hcpnet.folder / "out"
    command = ("dns", "render", "--target", "dnsmasq", "--output-dir", str(out), str(hcpnet.network))
    limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", hcpnet.command, *command]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert re.search(rf"^hcpnet: {re.escape(str(out))}/dnsmasq-\w+\.conf: can't be written$", done.stderr, re.MULTILINE)
    assert contents(out) == {}
    os.mkfifo(out / "dnsmasq-vlan.conf")
    assert hcpnet(*command).returncode == 0
    assert "api.blue.example.com" in contents(out)["dnsmasq-vlan.conf"]


def test_files_may_follow_options(hcpnet: Hcpnet) -> None:
    endpoints = hcpnet.folder / "endpoints.yaml"
    endpoints.write_text('"clusters-blue/oauth-openshift:6443": ["198.51.100.22:6443"]\n')
    done = hcpnet(
        "dns", "query", "api.blue.example.com", "--endpoints", str(endpoints), "-o", "json", str(hcpnet.network)
    )
    assert done.returncode == 0, done.stderr


POLICY = """\
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: files, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan}
  zoneFiles: [{path: zones/corp.zone, zone: corp.example.org}]
  hostsFiles: [{path: zones/hosts}, {path: zones/hosts, view: pod}]
"""
ZONE = "$TTL 60\n@ IN SOA ns hostmaster 7 3600 600 86400 30\n  IN NS ns\nns IN A 127.83.0.53\nwww IN A 127.83.0.80\n"


def write_records(hcpnet: Hcpnet, zone: str = ZONE, hosts: str = "127.83.0.31 node.blue.example.com\n") -> Path:
    """A set with files of records beside it; each file is replaced whole."""
    folder = hcpnet.folder / "zones"
    folder.mkdir(exist_ok=True)
    for name, text in (("corp.zone", zone), ("hosts", hosts)):
        (folder / "new").write_text(text)
        (folder / "new").rename(folder / name)
    if hcpnet.network.read_text() != NETWORK + POLICY:
        hcpnet.network.write_text(NETWORK + POLICY)
    return folder


def dig(server: tuple[str, int], name: str, source: str = "127.83.0.200") -> str:
    words = ["dig", f"@{server[0]}", "-p", str(server[1]), "-b", source, "+short", "+tries=1", name, "A"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60).stdout.strip()


def test_records_of_files_are_served_and_followed(hcpnet: Hcpnet) -> None:
    write_records(hcpnet)
    hcpnet.up()
    server = hcpnet.bound("dns", 53)
    assert dig(server, "www.corp.example.org") == "127.83.0.80"
    assert dig(server, "node.blue.example.com") == "127.83.0.31"
    assert dig(server, "api.blue.example.com") == "127.83.0.4"
    assert dig(server, "node.blue.example.com", "127.0.0.1") == "127.83.0.31", "the hosts file is for both views"

    write_records(hcpnet, ZONE.replace("0.80", "0.81"))
    wait_until(lambda: dig(server, "www.corp.example.org") == "127.83.0.81")
    write_records(hcpnet, ZONE + "x IN A nonsense\n", "")
    wait_until(lambda: hcpnet.ask("status")["troubles"])
    assert dig(server, "www.corp.example.org") == "127.83.0.81"
    assert dig(server, "node.blue.example.com") == "127.83.0.31", "nothing of a refused reload is served"
    write_records(hcpnet, ZONE.replace("0.80", "0.82"))
    wait_until(lambda: dig(server, "www.corp.example.org") == "127.83.0.82")


def test_records_of_files_are_seen_by_every_command(hcpnet: Hcpnet) -> None:
    write_records(hcpnet)
    network = str(hcpnet.network)
    assert hcpnet("check", network).returncode == 0
    assert "www.corp.example.org. 60 IN A 127.83.0.80\n" in hcpnet("dns", "zone", network).stdout
    explained = hcpnet("dns", "explain", "www.corp.example.org", "--from", "127.83.0.9", network).stdout
    assert "exact, zone corp.example.org., by www.corp.example.org.\n" in explained
    for target in ("zonefile", "coredns", "bind"):
        folder = hcpnet.folder / target
        rendered = hcpnet("dns", "render", "--target", target, "--output-dir", str(folder), network)
        assert rendered.returncode == 0, rendered.stderr
        files = "".join(file.read_text() for file in folder.rglob("*") if file.is_file())
        assert "www" in files, target
        assert "127.83.0.80" in files, target


def errors(hcpnet: Hcpnet) -> list[dict[str, Any]]:
    found = json.loads(hcpnet("check", "-o", "json", str(hcpnet.network)).stdout)["diagnostics"]
    return [d for d in found if d["severity"] == "error"]


def test_problems_of_files_of_records_have_their_own_lines(hcpnet: Hcpnet) -> None:
    folder = write_records(hcpnet, ZONE + "x IN A nonsense\n", "127.83.0 a\n")
    found = [(d["file"], d["line"], d["column"], d["code"]) for d in errors(hcpnet)]
    assert found == [(f"{folder}/corp.zone", 6, 8, "zone-rdata"), (f"{folder}/hosts", 1, 1, "hosts-address")]
    write_records(hcpnet, hosts="127.83.0.31 node\n127.83.0.5 api.blue.example.com\n")
    (clash, other) = errors(hcpnet)
    assert (clash["file"], clash["line"], clash["code"]) == (f"{folder}/hosts", 2, "record-clash")
    assert clash["message"] == "hcp/vlan: api.blue.example.com. A is published already by hcp/vlan (view vlan)"
    assert other["message"].endswith("(view pod)")
    (folder / "hosts").unlink()
    (gone,) = errors(hcpnet)
    assert (gone["file"], gone["line"], gone["path"]) == (str(hcpnet.network), 17, "/spec/hostsFiles/0/path")


def test_a_zone_file_without_origin_has_absolute_names_alone(hcpnet: Hcpnet) -> None:
    write_records(hcpnet, "corp.example.org. 60 IN SOA ns host 7 3600 600 86400 30\n")
    hcpnet.network.write_text(NETWORK + POLICY.replace(", zone: corp.example.org", ""))
    found = [(d["line"], d["column"], d["code"]) for d in errors(hcpnet)]
    assert found == [(1, 29, "zone-origin"), (1, 32, "zone-origin")]
