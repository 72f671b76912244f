# SPDX-License-Identifier: Apache-2.0
"""Commands that work on files: check, route, version, man, completion. Exit status 0, 1 and 2."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from hcpnet_command import NETWORK, Hcpnet


def test_check_accepts_a_good_file(hcpnet: Hcpnet) -> None:
    done = hcpnet("check", str(hcpnet.network))
    assert done.returncode == 0, done.stdout
    assert "0 errors" in done.stdout


def test_check_is_good_with_warnings_alone(hcpnet: Hcpnet) -> None:
    body = json.loads(hcpnet("check", str(hcpnet.network), "-o", "json").stdout)
    assert body["errors"] == 0
    assert body["warnings"] > 0, "a newer oooi drops the cluster fields of an Infra: a warning"
    assert all(d["severity"] == "warning" for d in body["diagnostics"])


def test_check_reports_every_problem_with_its_place(hcpnet: Hcpnet) -> None:
    hcpnet.network.write_text(NETWORK.replace("gateway:", "gatway:").replace("127.83.0.149", "127.83.1.149"))
    done = hcpnet("check", str(hcpnet.network), "-o", "json")
    assert done.returncode == 1
    problems = {
        (d["line"], d["code"], d["path"]) for d in json.loads(done.stdout)["diagnostics"] if d["severity"] == "error"
    }
    assert problems == {
        (5, "unknown-field", "/spec/networkConfig/gatway"),
        (5, "missing-field", "/spec/networkConfig/gateway"),
        (7, "address-outside-cidr", "/spec/infraComponents/dhcp/rangeEnd"),
    }


def test_check_takes_several_files_and_folders_as_one_set(hcpnet: Hcpnet) -> None:
    other = hcpnet.folder / "other.yaml"
    other.write_text(NETWORK)
    done = hcpnet("check", str(hcpnet.network), str(other))
    assert done.returncode == 1
    assert "duplicate-object" in done.stdout
    assert hcpnet("check", str(hcpnet.folder)).stdout == done.stdout


def test_check_reads_standard_input(hcpnet: Hcpnet) -> None:
    assert hcpnet("check", "-", stdin=NETWORK).returncode == 0
    assert "-:1:1:" in hcpnet("check", "-", stdin="[").stdout or "-:1" in hcpnet("check", "-", stdin="[").stdout


def test_check_names_a_file_that_is_not_there(hcpnet: Hcpnet) -> None:
    done = hcpnet("check", "/nowhere/network.yaml")
    assert done.returncode == 1
    assert "/nowhere/network.yaml: error: can't be read: No such file or directory [unreadable-file]" in done.stdout


def test_check_says_what_belongs_to_another_option(hcpnet: Hcpnet) -> None:
    """A folder as the examples have it, with what was observed beside the specs."""
    (hcpnet.folder / "observed.yaml").write_text(
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Service, metadata: {name: a}}]}\n"
    )
    (hcpnet.folder / "endpoints.yaml").write_text('"clusters-blue/oauth-openshift:6443": ["198.51.100.22:6443"]\n')
    done = hcpnet("check", str(hcpnet.folder))
    assert done.returncode == 1
    assert done.stdout.count("error:") == 2, done.stdout
    assert "it is given with --observed" in done.stdout
    assert "it is given with --endpoints" in done.stdout


def test_every_option_is_documented(hcpnet: Hcpnet) -> None:
    commands = re.findall(r'^    "(hcpnet[^"]*)"\) words="([^"]*)"', hcpnet("completion").stdout, re.MULTILINE)
    assert len(commands) > 20
    documented = (Path(__file__).parents[2] / "docs/commands.md").read_text()
    for command, words in commands:
        options = [word for word in words.split() if word.startswith("--") and word not in ("--help", "--output")]
        assert [o for o in options if not re.search(rf"{o}\b(?!-)", documented)] == [], command


def test_route_explains_from_files(hcpnet: Hcpnet) -> None:
    endpoints = hcpnet.folder / "endpoints.yaml"
    endpoints.write_text('"clusters-blue/oauth-openshift:6443": ["198.51.100.22:6443"]\n')
    done = hcpnet(
        "route", "OAuth.blue.example.com", "--port", "443", str(hcpnet.network), "--endpoints", str(endpoints)
    )
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "hcp/vlan 127.83.0.4:443: blue-oauth-openshift (exact oauth.blue.example.com)",
        "  198.51.100.22:6443",
    ]
    assert "closed (no_match)" in hcpnet("route", "", "--port", "443", str(hcpnet.network)).stdout


def test_route_knows_who_is_denied(hcpnet: Hcpnet) -> None:
    policy = hcpnet.folder / "policy.yaml"
    policy.write_text(
        "apiVersion: hcpnet.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: vlan, namespace: hcp}\n"
        "spec: {targetRef: {kind: Infra, name: vlan}, deniedSources: [10.1.2.0/24]}\n"
    )
    ask = ["route", "oauth.blue.example.com", "--port", "443", str(hcpnet.network), str(policy), "--from"]
    assert "closed (source_denied)" in hcpnet(*ask, "10.1.2.3").stdout
    assert "closed" not in hcpnet(*ask, "10.1.3.3").stdout


def test_standard_input_is_read_once(hcpnet: Hcpnet) -> None:
    for words in (["check", "-", "-"], ["check", "-", "--observed", "-"], ["up", "-", "--endpoints", "-"]):
        done = hcpnet(*words, stdin=hcpnet.network.read_text())
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert "-: error: standard input can be read once only, and it is given 2 times [stdin-twice]" in said
        assert said.count("error:") == 1


def test_counts_have_their_number(hcpnet: Hcpnet) -> None:
    network = hcpnet.network.read_text()
    assert "0 errors, " in hcpnet("check", str(hcpnet.network)).stdout
    hcpnet.network.write_text(network.replace("rangeStart: 127.83.0.100", "rangeStart: 127.84.0.100"))
    assert hcpnet("check", str(hcpnet.network)).stdout.splitlines()[-1].startswith("1 error, ")


def test_an_empty_list_is_told(hcpnet: Hcpnet) -> None:
    for items in ("[]", "null"):
        done = hcpnet("check", "-", stdin=f"# none\napiVersion: v1\nkind: List\nitems: {items}\n")
        assert done.returncode == 0
        assert done.stdout == "-:2:1: warning: this List holds nothing [empty-list]\n0 errors, 1 warning\n"


def test_a_relative_state_home_is_ignored(hcpnet: Hcpnet) -> None:
    env = {"XDG_STATE_HOME": "relative", "HOME": str(hcpnet.folder / "home")}
    done = subprocess.run([hcpnet.command, "status"], capture_output=True, text=True, env=env, timeout=60)
    assert str(hcpnet.folder / "home/.local/state/hcpnet/admin.sock") in done.stderr


@pytest.mark.parametrize("body", ["[]", "{}", '{"routes": 5}', '{"listeners": [5], "leases": 7}', "5", "no JSON"])
@pytest.mark.parametrize("status", [200, 409])
def test_an_answer_of_another_form_is_told_in_plain_words(hcpnet: Hcpnet, body: str, status: int) -> None:
    hcpnet.state.mkdir()
    path = str(hcpnet.state / "admin.sock")
    reply = f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
    commands = (["status"], ["leases", "list"], ["reload"], ["route", "a.example.com", "--port", "443"])
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def serve() -> None:
            for _ in range(2 * len(commands)):
                with server.accept()[0] as client:
                    client.recv(4096)
                    client.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        for words in commands:
            for form in ("text", "json"):
                done = hcpnet(*words, "--state-dir", str(hcpnet.state), "-o", form)
                assert done.returncode == 1, (words, done.stdout)
                assert done.stdout == ""
                assert done.stderr.startswith("hcpnet: "), done.stderr
                for word in ("json.exception", "type_error", "key '"):
                    assert word not in done.stderr
        thread.join()


WRONG_USE = """
nonsense
check
check --nonsense x
check -o xml x
route a.example.com x
route a --port 0 x
route a --port 443 --from nobody x
leases
up x --observe nowhere
up x --admin-tcp 192.0.2.1:80
up x --map-port 53
route api.example.com --port 6443 --observed x
dns zone --endpoints x
"""


@pytest.mark.parametrize("line", WRONG_USE.splitlines())
def test_wrong_use_is_2(hcpnet: Hcpnet, line: str) -> None:
    done = hcpnet(*line.split())
    assert done.returncode == 2, done.stderr
    assert done.stderr


def test_an_empty_state_directory_is_wrong_use(hcpnet: Hcpnet) -> None:
    done = hcpnet("status", "--state-dir", "")
    assert done.returncode == 2, done.stderr
    assert "--state-dir" in done.stderr


def test_an_unknown_command_is_named(hcpnet: Hcpnet) -> None:
    for words in (["nonsense"], ["nonsense", "network.yaml"]):
        assert hcpnet(*words).stderr.startswith("There is no command nonsense\n")


@pytest.mark.parametrize("command", ["diagnose"])
def test_a_planned_command_is_told_as_such(hcpnet: Hcpnet, command: str) -> None:
    done = hcpnet(command, str(hcpnet.network))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{command} is planned")


def test_version(hcpnet: Hcpnet) -> None:
    assert hcpnet("version").stdout.startswith("hcpnet 0.")


def test_manual_pages_and_completion_come_from_the_grammar(hcpnet: Hcpnet) -> None:
    assert hcpnet("man", "--output-dir", str(hcpnet.folder)).returncode == 0
    pages = {path.name for path in Path(hcpnet.folder).glob("*.1")}
    assert {"hcpnet.1", "hcpnet-up.1", "hcpnet-leases-list.1"} <= pages
    rendered = subprocess.run(
        ["man", "--warnings", "-l", str(hcpnet.folder / "hcpnet-up.1")],
        capture_output=True,
        text=True,
        env={"MANPAGER": "cat", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    assert rendered.returncode == 0
    assert "--pod-address" in rendered.stdout
    assert rendered.stderr == ""
    ask = 'COMP_CWORD=2; _hcpnet; echo "${COMPREPLY[*]}"\n'
    words = ("hcpnet leases l", "hcpnet up --ob")
    script = hcpnet("completion").stdout + "".join(f"COMP_WORDS=({line}); {ask}" for line in words)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=hcpnet.folder / "..", check=True)
    assert done.stdout.splitlines()[0].split()[0] == "list"
    assert done.stdout.splitlines()[1].split() == ["--observed", "--observe"]
