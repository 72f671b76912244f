# SPDX-License-Identifier: Apache-2.0
"""The modules bootstrap, pki and lint of the collection hcpnet.hcpnet, run by ansible-playbook."""

from __future__ import annotations

import base64
import datetime
import importlib
import json
import shutil
import stat
from pathlib import Path
from typing import Any

from ansible_playbook import Ansible
from api_objects import Object
from folders import change, contents

# By name: mypy looks at this folder without the package.
IN_PYTHON: Any = importlib.import_module("hcpnet.bootstrap")
NETWORK = "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n"
ENDPOINTS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: etcd-endpoints, namespace: openshift-etcd}\n"


def bootstrap(cluster: Path, out: Path, **arguments: object) -> Object:
    return {"hcpnet.hcpnet.bootstrap": {"files": [str(cluster)], "output_dir": str(out), **arguments}}


def pki(folder: Path, **arguments: object) -> Object:
    return {"hcpnet.hcpnet.pki": {"folder": str(folder), **arguments}}


def lint(*paths: Path, **arguments: object) -> Object:
    return {"hcpnet.hcpnet.lint": {"paths": [str(p) for p in paths], **arguments}}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def secrets_of(out: Path) -> list[str]:
    """Pieces of every secret below a folder, as they stand there and in base64."""
    words = ["PRIVATE KEY", base64.b64encode(b"-----BEGIN PRIVATE KEY-----").decode()[:32]]
    for path in out.rglob("*"):
        if path.suffix == ".key":
            words.append(path.read_text().splitlines()[1])
        elif path.name.startswith("kubeadmin-password"):
            words.append(path.read_text().strip())
        elif path.name == "pull-secret.json":
            auths = json.loads(path.read_text())["auths"].values()
            words += [auth["auth"] for auth in auths]
    assert len(words) > 12
    return words


def assert_hidden(out: Path, *shown: str) -> None:
    """Lines of warnings are broken anywhere."""
    everything = squeezed("".join(shown))
    assert not [word for word in secrets_of(out) if squeezed(word) in everything]


def squeezed(text: str) -> str:
    return "".join(text.split())


# --- bootstrap


def test_bootstrap_writes_once_and_shows_no_secret(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = bootstrap(cluster, out)
    (checked,), first_output = ansible.run([task], "--check", "--diff", "-vvv")
    assert checked["changed"]
    assert not out.exists()
    (first, second), second_output = ansible.run([task, task], "--diff", "-vvv")
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["written"] == checked["written"]
    assert set(first["written"]) == set(contents(out))
    assert {c["action"] for c in first["changes"]} == {"made"}
    assert (second["written"], second["diff"]) == ([], [])
    assert {c["action"] for c in second["changes"]} == {"kept"}
    assert [config["name"] for config in first["ignition"]] == ["bootstrap.ign"]
    assert {f["code"] for f in first["findings"]} == {"no-crds", "no-feature-gates", "no-machine-configs"}
    assert "[no-crds]" in squeezed(first_output)
    diffs = {d["after_header"]: d["after"] for d in first["diff"]}
    assert "frontend" in diffs[str(out / "load-balancer/haproxy.cfg")]
    for path in out.rglob("*"):
        if path.is_file() and mode_of(path) == 0o600:
            assert diffs[str(path)] == "********\n"
    assert_hidden(out, first_output, second_output, json.dumps([checked, first, second]))


def test_bootstrap_changes_what_has_to(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = bootstrap(cluster, out, name="ocp4")
    IN_PYTHON.render([cluster], out).write(out)
    keys = contents(out / "pki")
    change(cluster, "ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.12")
    (checked,), _ = ansible.run([task], "--check", "--diff")
    (done,), _ = ansible.run([task], "--diff")
    assert done["changed"]
    assert (done["written"], done["diff"]) == (checked["written"], checked["diff"])
    (zone,) = [d for d in done["diff"] if d["after_header"].endswith("/ocp4.example.com.zone")]
    assert ("192.168.126.12" in zone["before"], "192.168.126.12" in zone["after"]) == (False, True)
    assert contents(out / "pki") == keys

    key = out / "pki/admin.key"
    key.chmod(0o644)
    (checked,), _ = ansible.run([task], "--check", "--diff")
    assert mode_of(key) == 0o644
    (done, again), _ = ansible.run([task, task], "--diff")
    assert (done["changed"], done["written"]) == (True, ["pki/admin.key"])
    assert (checked["written"], checked["diff"]) == (done["written"], done["diff"])
    assert done["diff"][0]["before"] == "mode 0644\n********\n"
    assert done["diff"][0]["after"] == "mode 0600\n********\n"
    assert mode_of(key) == 0o600
    assert not again["changed"]


def test_bootstrap_says_every_problem_and_writes_nothing(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(cluster.read_text())
    change(wrong, "apiVIP: 192.168.126.10", "apiVIP: 10.9.9.9")
    change(wrong, "clusterName: ocp4", "clusterName: Ocp4")
    (cluster.parent / "pull-secret.json").write_text("bm90LWEtc2VjcmV0")
    (cluster.parent / "id_ed25519.pub").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nbm90LWEta2V5\n")
    (spec, inputs, name, missing, none), printed = ansible.run(
        [
            bootstrap(wrong, out),
            bootstrap(cluster, out),
            bootstrap(cluster, out, name="other"),
            bootstrap(tmp_path / "missing.yaml", out),
            {"hcpnet.hcpnet.bootstrap": {"files": [], "output_dir": str(out)}},
        ],
        "--diff",
        "-vvv",
    )
    assert all(result["failed"] for result in (spec, inputs, name, missing, none))
    assert {f["path"] for f in spec["findings"]} >= {"/spec/apiVIP", "/spec/clusterName"}
    assert all(f["line"] > 0 and f["file"] == str(wrong) for f in spec["findings"])
    assert sorted(f["code"] for f in inputs["findings"]) == ["bad-pull-secret", "bad-ssh-key"]
    lines = inputs["msg"].splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{cluster.parent}/pull-secret.json: ")
    assert lines[0].endswith(" [bad-pull-secret]")
    assert "one is needed" in name["msg"]
    assert [f["code"] for f in missing["findings"]] == ["unreadable-file"]
    assert not out.exists()
    assert "bm90LWEt" not in printed


# --- pki


def test_pki_is_made_once_and_renewed(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    task = pki(made, files=[str(cluster)])
    (checked,), first_output = ansible.run([task], "--check", "--diff", "-vvv")
    assert checked["changed"]
    assert not made.exists()
    (first, second, report), second_output = ansible.run([task, task, pki(made)], "--diff", "-vvv")
    assert (first["changed"], second["changed"], report["changed"]) == (True, False, False)
    assert set(first["written"]) == set(checked["written"]) == set(contents(made))
    actions = {c["name"]: c["action"] for c in first["changes"]}
    assert set(actions.values()) == {"made"}
    assert {c["name"]: c["action"] for c in checked["changes"]} == actions
    assert {c["action"] for c in second["changes"]} == {"kept"}
    assert {c["not_after"] is None for c in first["changes"] if c["name"] == "service-account"} == {True}
    ends = {c["name"]: c["not_after"] for c in second["changes"]}
    (admin,) = [c for c in report["certificates"] if (c["file"], c["common_name"]) == ("admin.crt", "system:admin")]
    assert (admin["state"], admin["is_authority"], admin["not_after"]) == ("valid", False, ends["admin"])
    assert_hidden(made, first_output, second_output, json.dumps([checked, first, second, report]))

    old = tmp_path / "old"
    long_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=700)
    IN_PYTHON.complete_pki([cluster], old, now=long_ago).write(old)
    before = contents(old)
    renew = pki(old, files=[str(cluster)])
    (reported, renewed, again), _ = ansible.run([pki(old, days=14), renew, renew])
    assert {c["state"] for c in reported["certificates"]} == {"expired", "valid"}
    assert reported["certificates"][0]["state"] == "expired"  # what ends first is in front
    assert {c["action"] for c in renewed["changes"]} == {"kept", "renewed"}
    assert "ended at" in next(c["reason"] for c in renewed["changes"] if c["name"] == "admin")
    assert set(renewed["written"]) == {name for name, content in contents(old).items() if before[name] != content}
    assert not again["changed"]


def test_pki_takes_its_options_from_the_spec(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pki"
    IN_PYTHON.complete_pki([cluster], folder).write(folder)
    change(cluster, "layout: HandMade", "layout: HandMade\n    key: RSA2048")
    task = pki(folder, files=[str(cluster)], name="ocp4")
    (checked,), _ = ansible.run([task], "--check")
    (admin,) = [c for c in checked["changes"] if c["name"] == "admin"]
    assert admin["action"] == "replaced"
    assert "not RSA2048" in admin["reason"]
    authorities = "\n    authorities: [{name: etcd-ca, certificateFile: old.crt, keyFile: old.key}]"
    change(cluster, "key: RSA2048", "key: ECDSAP256" + authorities)
    for half in ("crt", "key"):
        shutil.copy(folder / f"root-ca.{half}", cluster.parent / f"old.{half}")
    (imported, again), _ = ansible.run([task, task])
    assert {c["name"]: c["action"] for c in imported["changes"]}["etcd-ca"] == "imported"
    assert "etcd-ca.crt" in imported["written"]
    assert not again["changed"]


def test_pki_says_every_problem_and_writes_nothing(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    folder, ended = tmp_path / "pki", tmp_path / "ended"
    files = {"files": [str(cluster)]}
    stored = IN_PYTHON.complete_pki([cluster], folder)
    stored.write(folder)
    IN_PYTHON.complete_pki([cluster], ended, now=datetime.datetime(2010, 1, 1, tzinfo=datetime.UTC)).write(ended)
    (folder / "root-ca.key").unlink()
    (folder / "service-account.key").write_text("bm90LWEta2V5\n")
    (folder / "extra.pem").write_text("bm90LWEta2V5\n")
    before, before_ended = contents(folder), contents(ended)
    (broken, expired, report, gone, both, lonely, days), printed = ansible.run(
        [
            pki(folder, **files),
            pki(ended, **files),
            pki(folder),
            pki(tmp_path / "none"),
            pki(folder, **files, days=3),
            pki(folder, name="ocp4"),
            pki(folder, days=-1),
        ],
        "--diff",
        "-vvv",
    )
    assert all(result["failed"] for result in (broken, expired, report, gone, both, lonely, days))
    assert sorted(f["code"] for f in broken["findings"]) == ["pki-bad-key", "pki-missing-key"]
    assert len(broken["msg"].splitlines()) == 2
    assert {f["code"] for f in expired["findings"]} == {"pki-expired"}
    assert [(f["code"], f["file"]) for f in report["findings"]] == [("pki-bad-certificate", f"{folder}/extra.pem")]
    assert len(report["certificates"]) > 10
    assert [f["code"] for f in gone["findings"]] == ["unreadable-file"]
    assert "mutually exclusive" in both["msg"]
    assert "name" in lonely["msg"]
    assert "days: -1" in days["msg"]
    assert (contents(folder), contents(ended)) == (before, before_ended)
    assert "bm90LWEta2V5" not in printed


# --- lint


def test_lint_fails_by_severity_and_says_why(ansible: Ansible, tmp_path: Path) -> None:
    endpoints, network, notes = (tmp_path / "set" / name for name in ("endpoints.yaml", "network.yaml", "notes"))
    endpoints.parent.mkdir()
    endpoints.write_text(ENDPOINTS)
    network.write_text(NETWORK)
    notes.write_text("nothing\n")
    keep = {"rule": "etcd-endpoints", "reason": "it is made anew"}
    listed = tmp_path / "lint.yaml"
    listed.write_text("- {rule: operator-network, file: network.yaml, reason: the lab has it}\n")
    (found, info, kept, both, unused), printed = ansible.run(
        [
            lint(endpoints.parent),
            lint(network, fail_on="info"),
            lint(endpoints.parent, suppressions=[keep]),
            lint(endpoints.parent, suppressions=[keep], suppression_files=[str(listed)], fail_on="info"),
            lint(endpoints.parent, suppressions=[{**keep, "file": "endpoints.*"}, {**keep, "file": "other"}]),
        ]
    )
    assert (found["failed"], found["changed"]) == (True, False)
    assert [(f["code"], f["severity"], f["file"], f["line"]) for f in found["findings"]] == [
        ("etcd-endpoints", "error", str(endpoints), 3),
        ("operator-network", "info", str(network), 1),
    ]
    assert found["msg"].startswith(f"{endpoints}:3: ")
    assert found["msg"].endswith(" [etcd-endpoints]")
    assert "\n" not in found["msg"]  # the info does not fail it
    assert [rule["id"] for rule in found["rules"]] == ["etcd-endpoints", "operator-network"]
    assert all(rule["title"] and rule["why"] and rule["fix"] and rule["source"] for rule in found["rules"])
    assert found["counts"] == {"error": 1, "warning": 0, "info": 1, "dropped": 0}
    assert (found["file_count"], found["unrecognised"]) == (3, [str(notes)])
    assert info["failed"]
    assert "[operator-network]" in info["msg"]
    assert not kept["failed"], kept
    assert [(s["code"], s["reason"]) for s in kept["suppressed"]] == [("etcd-endpoints", "it is made anew")]
    assert not both["failed"], both
    assert both["findings"] == []
    assert not unused["failed"], unused
    assert [f["code"] for f in unused["findings"] if f["severity"] == "warning"] == ["suppression-unused"]
    assert "[suppression-unused]" in squeezed(printed)


def test_lint_says_every_problem_with_what_it_is_given(ansible: Ansible, tmp_path: Path) -> None:
    file, listed = tmp_path / "network.yaml", tmp_path / "lint.yaml"
    file.write_text(NETWORK)
    listed.write_text("- rule: operator-network\n- {rule: operator-network, reason: x, files: y}\n")
    wrong = [{"rule": "none", "reason": "x"}, {"rule": "operator-network", "reason": ""}]
    (paths, suppressions, incomplete), _ = ansible.run(
        [
            lint(tmp_path / "one", file, tmp_path / "two"),
            lint(file, suppressions=wrong, suppression_files=[str(listed)]),
            lint(file, suppressions=[{"rule": "operator-network"}]),
        ]
    )
    assert [(f["code"], f["file"]) for f in paths["findings"]] == [
        ("unreadable-file", str(tmp_path / "one")),
        ("unreadable-file", str(tmp_path / "two")),
    ]
    assert suppressions["failed"]
    assert {f["code"] for f in suppressions["findings"]} == {"bad-suppression"}
    assert [(f["file"], f["line"], f["path"]) for f in suppressions["findings"]] == [
        ("(suppressions)", 1, "/0"),
        ("(suppressions)", 1, "/1/reason"),
        (str(listed), 1, "/0"),
        (str(listed), 2, "/1/files"),
    ]
    assert incomplete["failed"]
    assert "reason" in incomplete["msg"]


def test_lint_takes_what_bootstrap_writes_and_reports_once(ansible: Ansible, cluster: Path, tmp_path: Path) -> None:
    out, dest, text = tmp_path / "out", tmp_path / "lint.sarif", tmp_path / "lint.txt"
    IN_PYTHON.render([cluster], out).write(out)
    task = lint(out, fail_on="warning", dest=str(dest), mode="0640")
    (checked,), _ = ansible.run([task], "--check", "--diff")
    assert checked["changed"]
    assert not dest.exists()
    (first, second), _ = ansible.run([task, task], "--diff")
    assert not first["failed"], first
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["diff"] == checked["diff"]
    assert mode_of(dest) == 0o640
    assert json.loads(dest.read_text())["version"] == "2.1.0"

    bad = tmp_path / "endpoints.yaml"
    bad.write_text(ENDPOINTS)
    (failed, again), _ = ansible.run([lint(bad, dest=str(text), format="text")] * 2)
    assert (failed["failed"], failed["changed"], again["changed"]) == (True, True, False)
    assert "[etcd-endpoints]" in text.read_text()
