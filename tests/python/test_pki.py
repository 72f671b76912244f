# SPDX-License-Identifier: Apache-2.0
"""hcpnet.pki."""

import datetime
import subprocess
from ipaddress import ip_address
from pathlib import Path

import pytest
from hcpnet import SpecError, bootstrap, pki

EXAMPLE = Path(__file__).parents[2] / "examples/bootstrap"
NOW = datetime.datetime(2027, 1, 15, 8, tzinfo=datetime.UTC)


def plan(layout: str = "HandMade") -> pki.PkiPlan:
    return pki.plan_pki(
        layout,
        "ocp4.example.com",
        api_vip="192.168.126.10",
        service_address="172.30.0.1",
        bootstrap=("bootstrap", "192.168.126.100"),
        control_plane=[("master-0", "192.168.126.101")],
    )


def test_a_plan_is_a_table() -> None:
    hand_made = {c.name: c for c in plan().certificates}
    admin, server, root = hand_made["admin"], hand_made["kube-apiserver"], hand_made["root-ca"]
    assert (admin.common_name, admin.organizations) == ("system:admin", ["system:masters"])
    assert admin.issuer == "kubernetes-ca"
    assert (admin.client_auth, admin.server_auth, admin.is_authority) == (True, False, False)
    assert {"localhost", "api.ocp4.example.com", "api-int.ocp4.example.com"} <= set(server.dns_names)
    assert {ip_address("172.30.0.1"), ip_address("192.168.126.100")} <= set(server.addresses)
    assert root.is_authority
    assert root.issuer == ""
    assert root.lifetime > admin.lifetime == datetime.timedelta(days=365)
    assert plan().bundles["server-ca-bundle"] == ["kubernetes-ca", "root-ca"]
    assert plan().key_pairs == ["service-account"]
    assert {c.issuer for c in plan("Installer").certificates if c.is_authority} == {""}
    with pytest.raises(ValueError, match="neither"):
        plan("Other")
    named = bootstrap.plan_pki([EXAMPLE / "cluster.yaml"])
    assert {c.name for c in plan().certificates} <= {c.name for c in named.certificates}


def test_keeps_what_is_right_and_renews_the_rest(tmp_path: Path) -> None:
    made = pki.complete_pki(plan(), tmp_path / "pki", now=NOW)
    assert {c.action for c in made.changes} == {"made"}
    assert not (tmp_path / "pki").exists()
    assert set(made.write(tmp_path / "pki")) == {f.name for f in made.files}
    (key,) = [f for f in made.files if f.name == "admin.key"]
    assert key.mode == 0o600
    assert (tmp_path / "pki/admin.key").stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in repr(key)
    verify = ["openssl", "verify", "-attime", str(int(NOW.timestamp())), "-purpose", "sslclient"]
    verify += ["-CAfile", "root-ca.crt", "-untrusted", "kubernetes-ca.crt", "admin.crt"]
    subprocess.run(verify, cwd=tmp_path / "pki", check=True, capture_output=True, timeout=60)

    again = pki.complete_pki(plan(), tmp_path / "pki", now=NOW)
    assert {c.action for c in again.changes} == {"kept"}
    assert again.write(tmp_path / "pki") == []
    dates = {c.name: c.not_after for c in again.changes}
    assert dates["admin"] == NOW + datetime.timedelta(days=365)
    assert dates["service-account"] is None

    late = NOW + datetime.timedelta(days=340)
    due = pki.complete_pki(plan(), tmp_path / "pki", now=late)
    assert {c.name: c.action for c in due.changes}["admin"] == "renewed"
    assert {c.name: c.action for c in due.changes}["root-ca"] == "kept"
    rsa = pki.complete_pki(plan(), tmp_path / "pki", now=NOW, algorithm="RSA2048")
    (change,) = [c for c in rsa.changes if c.name == "admin"]
    assert (change.action, "RSA2048" in change.reason) == ("replaced", True)
    with pytest.raises(ValueError, match="kind of key"):
        pki.complete_pki(plan(), tmp_path / "pki", algorithm="DSA")
    with pytest.raises(ValueError, match="2260"):
        pki.complete_pki(plan(), tmp_path / "pki", now=datetime.datetime(3000, 1, 1))


def test_an_authority_is_imported(tmp_path: Path) -> None:
    other = {f.name: f.content for f in pki.complete_pki(plan(), tmp_path, now=NOW).files}
    pair = (other["root-ca.crt"], other["root-ca.key"])
    imported = pki.complete_pki(plan(), tmp_path, now=NOW, imports={"root-ca": pair})
    assert {c.name: c.action for c in imported.changes}["root-ca"] == "imported"
    assert {f.name: f.content for f in imported.files}["root-ca.crt"] == pair[0]
    for wrong in ({"root-ca": (pair[0], other["etcd-ca.key"])}, {"none": pair}):
        with pytest.raises(SpecError) as raised:
            pki.complete_pki(plan(), tmp_path, now=NOW, imports=wrong)
        (problem,) = raised.value.diagnostics
        assert problem.code in {"pki-key-mismatch", "pki-unknown-authority"}
        assert "PRIVATE" not in str(raised.value)


def test_a_spec_says_how_keys_are_made(tmp_path: Path) -> None:
    spec = tmp_path / "cluster.yaml"
    text = (EXAMPLE / "cluster.yaml").read_text()
    imports = "    authorities: [{name: etcd-ca, certificateFile: old.crt, keyFile: old.key}]\n"
    spec.write_text(text + "    key: ECDSAP384\n" + imports)
    with pytest.raises(SpecError) as raised:
        bootstrap.complete_pki([spec], tmp_path / "pki")
    assert [d.code for d in raised.value.diagnostics] == ["unreadable-file", "unreadable-file"]
    other = {f.name: f.content for f in pki.complete_pki(plan(), tmp_path, now=NOW).files}
    (tmp_path / "old.crt").write_bytes(other["etcd-ca.crt"])
    (tmp_path / "old.key").write_bytes(other["etcd-ca.key"])
    made = bootstrap.complete_pki([spec], tmp_path / "pki", now=NOW)
    assert {c.name: c.action for c in made.changes if c.action != "made"} == {"etcd-ca": "imported"}
    assert not (tmp_path / "pki").exists()
    made.write(tmp_path / "pki")
    shown = ["openssl", "pkey", "-noout", "-text", "-in", "admin.key"]
    done = subprocess.run(shown, cwd=tmp_path / "pki", check=True, capture_output=True, text=True, timeout=60)
    assert "P-384" in done.stdout
    again = bootstrap.complete_pki([spec], tmp_path / "pki", now=NOW, name="ocp4")
    assert {c.action for c in again.changes} == {"kept"}
    assert again.write(tmp_path / "pki") == []
    with pytest.raises(ValueError, match="one is needed"):
        bootstrap.complete_pki([spec], tmp_path / "pki", name="other")


def test_ends_are_reported(tmp_path: Path) -> None:
    pki.complete_pki(plan("Installer"), tmp_path, now=NOW).write(tmp_path)
    (tmp_path / "broken.crt").write_text("rubbish")
    entries, problems = pki.report_expiry(tmp_path, now=NOW + datetime.timedelta(hours=20))
    assert (entries[0].common_name, entries[0].state) == ("kubelet-signer", "due")
    assert entries[0].is_authority
    assert entries[0].file.endswith(".crt")
    assert entries[0].not_before < NOW < entries[0].not_after
    assert [p.code for p in problems] == ["pki-bad-certificate"]
    far = datetime.timedelta(days=100_000_000)
    assert pki.report_expiry(tmp_path, now=NOW, renew_before=far)[0][-1].state == "valid"
    assert {e.state for e in pki.report_expiry(tmp_path, now=NOW, renew_before=-far)[0]} == {"valid"}


def test_kubeconfigs_hold_their_keys_or_name_them(tmp_path: Path) -> None:
    made = pki.complete_pki(plan(), tmp_path, now=NOW)
    embedded = bootstrap.render_kubeconfigs("ocp4.example.com", plan(), made)
    assert len(embedded) == 8
    assert all(f.mode == 0o600 and b"client-key-data:" in f.content for f in embedded)
    named = bootstrap.render_kubeconfigs("ocp4.example.com", plan(), made, reference_folder="/etc/pki")
    (admin,) = [f.content for f in named if f.name == "admin.kubeconfig"]
    assert b"client-key: /etc/pki/admin.key" in admin
    assert b"key-data" not in admin
    assert made.chain_pem("admin").count("BEGIN CERTIFICATE") == 2
    assert made.bundles["server-ca-bundle"].count("BEGIN CERTIFICATE") == 2
    with pytest.raises(KeyError):
        made.chain_pem("none")
    with pytest.raises(ValueError, match="not those of the plan"):
        bootstrap.render_kubeconfigs("ocp4.example.com", plan("Installer"), made)
