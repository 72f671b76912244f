# SPDX-License-Identifier: Apache-2.0
"""hcpnet bootstrap and hcpnet pki."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
import yaml
from api_server import tool
from folders import change, contents
from hcpnet_command import Hcpnet


def test_renders_once_and_keeps_it(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out))
    assert first.returncode == 0, first.stderr
    assert "PRIVATE" not in first.stdout + first.stderr
    before = contents(out)
    again = hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out), "-o", "json")
    report = json.loads(again.stdout)
    assert report["written"] == []
    assert {entry["action"] for entry in report["pki"]} == {"kept"}
    assert contents(out) == before
    for path in out.rglob("*"):
        if path.suffix in (".key", ".kubeconfig", ".ign") or path.parent.name == "auth":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize("layout", ["HandMade", "Installer"])
def test_openssl_verifies_every_certificate(hcpnet: Hcpnet, cluster: Path, tmp_path: Path, layout: str) -> None:
    change(cluster, "layout: HandMade", f"layout: {layout}")
    pki = tmp_path / "out/pki"
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(tmp_path / "out")).returncode == 0
    roots = tmp_path / "roots.pem"
    issued = []
    for path in sorted(pki.glob("*.crt")):
        if "bundle" in path.name:
            continue
        names = subprocess.check_output(["openssl", "x509", "-noout", "-subject", "-issuer", "-in", path], text=True)
        subject, issuer = (line.split("=", 1)[1] for line in names.splitlines())
        if subject == issuer:
            with roots.open("a") as file:
                file.write(path.read_text())
        else:
            issued.append(path)
    assert len(issued) > 10
    between = tmp_path / "between.pem"
    between.write_text("".join(p.read_text() for p in pki.glob("*-ca.crt")))
    for path in issued:
        subprocess.run(["openssl", "verify", "-CAfile", roots, "-untrusted", between, path], check=True)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("apiVIP: 192.168.126.10", "apiVIP: 10.9.9.9", "address-outside-cidr"),
        ("4.18.0\n", "4.99.0\n", "bad-version"),
        ("pullSecretFile: pull-secret.json", "pullSecretFile: cluster.yaml", "bad-pull-secret"),
        ("sshKeyFile: id_ed25519.pub", "sshKeyFile: none.pub", "unreadable-file"),
        ("image-references.json", "pull-secret.json", "bad-image-references"),
        ("  pki:\n", "  crdsFolder: none\n  pki:\n", "unreadable-file"),
        ("  pki:\n", "  featureGateFile: cluster.yaml\n  pki:\n", "bad-feature-gate"),
        ("  pki:\n", "  images: {etcd: 'a$b'}\n  pki:\n", "bad-image"),
        ("address: 192.168.126.101}", "address: 192.168.126.101, interface: ens/3}", "bad-name"),
    ],
)
def test_a_problem_writes_nothing(hcpnet: Hcpnet, cluster: Path, tmp_path: Path, old: str, new: str, code: str) -> None:
    change(cluster, old, new)
    done = hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.count(" error: ") == 1
    assert f"[{code}]" in done.stderr
    assert not (tmp_path / "out").exists()


def test_expiry_is_a_status(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(tmp_path / "out"))
    pki = str(tmp_path / "out/pki")
    assert hcpnet("pki", "expiry", pki).returncode == 0
    soon = hcpnet("pki", "expiry", pki, "--days", "400", "-o", "json")
    assert soon.returncode == 0, "a third of a year is the most that a certificate of a year is due before its end"
    (tmp_path / "out/pki/broken.crt").write_text("rubbish")
    broken = hcpnet("pki", "expiry", pki)
    assert broken.returncode == 1
    assert "pki-bad-certificate" in broken.stderr
    (tmp_path / "empty").mkdir()
    nothing = hcpnet("pki", "expiry", str(tmp_path / "empty"))
    assert nothing.returncode == 1, "a folder that is mistyped has nothing that could be due"
    assert "holds no certificate" in nothing.stderr


def test_kubeconfig_goes_through_the_proxy(hcpnet: Hcpnet, tmp_path: Path) -> None:
    source = tmp_path / "hosted.yaml"
    source.write_text("clusters: [{name: hc1, cluster: {server: 'https://api.hc1.example.com:6443'}}]\nusers: []\n")
    output = tmp_path / "via.yaml"
    done = hcpnet("bootstrap", "kubeconfig", str(source), "--server", "192.0.2.4", "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert "server: https://192.0.2.4:6443" in output.read_text()
    assert "tls-server-name: api.hc1.example.com" in output.read_text()
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


def test_kubeconfig_of_another_account(hcpnet: Hcpnet, tmp_path: Path) -> None:
    source, secret, output = tmp_path / "admin.yaml", tmp_path / "secret.yaml", tmp_path / "reader.yaml"
    source.write_text(
        "clusters: [{name: hc1, cluster: {server: 'https://api.hc1.example.com:6443'}}]\n"
        "users: [{name: admin, user: {client-key-data: YWRtaW4=}}]\n"
    )
    token = base64.b64encode(b"reader").decode()
    secret.write_text(f"kind: Secret\ntype: kubernetes.io/service-account-token\ndata: {{token: {token}}}\n")
    words = ["bootstrap", "kubeconfig", str(source), "--token-secret", str(secret), "--output", str(output)]
    done = hcpnet(*words, "--server", "192.0.2.4")
    assert done.returncode == 0, done.stderr
    text = output.read_text()
    assert "token: reader" in text
    assert "YWRtaW4=" not in text
    assert "server: https://192.0.2.4:6443" in text
    secret.write_text("kind: Secret\ntype: kubernetes.io/service-account-token\n")
    done = hcpnet(*words)
    assert (done.returncode, "bad-token-secret" in done.stderr) == (1, True)
    assert output.read_text() == text
    assert hcpnet("bootstrap", "kubeconfig", str(source), "--output", str(output)).returncode == 2


def machine_configs(folder: Path) -> None:
    """As the machine-config controller writes them, in small."""
    folder.mkdir()
    for pool in ("master", "worker"):
        config = {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [{"path": "/etc/pool", "mode": 0o644, "contents": {"source": f"data:,{pool}"}}]},
            "systemd": {"units": [{"name": "kubelet.service", "enabled": True, "contents": "[Service]\n"}]},
        }
        text = yaml.safe_dump({"kind": "MachineConfig", "spec": {"config": config}})
        (folder / f"rendered-{pool}-0123.yaml").write_text(text)


@pytest.mark.parametrize("layout", ["HandMade", "Installer"])
@pytest.mark.parametrize("has_base", [False, True])
@pytest.mark.parametrize("release", ["4.18.0", "4.19.0"])
def test_the_validator_takes_every_ignition_config(
    hcpnet: Hcpnet, cluster: Path, tmp_path: Path, layout: str, has_base: bool, release: str
) -> None:
    change(cluster, "layout: HandMade", f"layout: {layout}")
    change(cluster, "openshiftVersion: 4.18.0", f"openshiftVersion: {release}")
    if has_base:
        machine_configs(tmp_path / "configs")
        change(cluster, "  pki:\n", f"  kubeProxy: true\n  machineConfigsFolder: {tmp_path}/configs\n  pki:\n")
    out = tmp_path / "out"
    done = hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out), "-o", "json")
    assert done.returncode == 0, done.stderr
    configs = sorted((out / "ignition").glob("*.ign"))
    assert len(configs) == (7 if has_base or layout == "Installer" else 1)
    reported = {entry["name"]: entry for entry in json.loads(done.stdout)["ignition"]}
    for path in configs:
        subprocess.run([tool("ignition-validate"), str(path)], check=True, timeout=60)
        assert reported[path.name]["bytes"] == path.stat().st_size
    bootstrap = json.loads((out / "ignition/bootstrap.ign").read_text())
    assert bootstrap["ignition"]["version"] == ("3.5.0" if release == "4.19.0" else "3.4.0")
    # What a config holds is what lies beside it, byte for byte.
    for file in bootstrap["storage"]["files"]:
        beside = out / ("bootstrap-node" + file["path"])
        if beside.exists():
            encoded = file["contents"]["source"].removeprefix("data:text/plain;charset=utf-8;base64,")
            assert base64.b64decode(encoded) == beside.read_bytes()
            assert file["mode"] == stat.S_IMODE(beside.stat().st_mode)


def test_stages_verify_what_is_rendered(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    machine_configs(tmp_path / "configs")
    change(cluster, "  pki:\n", f"  machineConfigsFolder: {tmp_path}/configs\n  pki:\n")
    out = tmp_path / "out"
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out)).returncode == 0

    def stage(name: str, word: str = "verify") -> subprocess.CompletedProcess[str]:
        command = ["bash", str(out / f"stages/{name}.sh"), word]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    for name in ("05-pki", "06-kubeconfigs"):
        done = stage(name)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "ok: " in done.stdout
    (out / "pki/etcd-server.key").chmod(0o644)
    shutil.copy(out / "pki/admin.crt", out / "pki/etcd-server.crt")
    broken = stage("05-pki")
    assert broken.returncode == 1
    assert "not ok: keys are for their owner only" in broken.stderr
    assert "not ok: etcd-server -purpose sslserver" in broken.stderr
    done = stage("08-ignition")
    assert done.returncode == 0, done.stdout + done.stderr


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("authority", ["root-ca", "kubernetes-ca"])
def test_stages_verify_chains_of_an_authority_whose_root_is_elsewhere(
    hcpnet: Hcpnet, cluster: Path, tmp_path: Path, authority: str
) -> None:
    new = ("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    extensions = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    root = (*new, "-x509", "-days", "900", "-subj", "/CN=corp", *extensions, "-keyout", "root.key", "-out", "root.crt")
    subprocess.run(root, cwd=cluster.parent, check=True)
    request = (*new, "-subj", "/CN=Corp [1]*", *extensions, "-keyout", "corp.key", "-out", "corp.csr")
    subprocess.run(request, cwd=cluster.parent, check=True)
    sign = ("openssl", "x509", "-req", "-in", "corp.csr", "-CA", "root.crt", "-CAkey", "root.key", "-CAcreateserial")
    end = ("-copy_extensions", "copyall", "-days", "800", "-out", "corp.crt")
    subprocess.run((*sign, *end), cwd=cluster.parent, check=True)
    imported = f"[{{name: {authority}, certificateFile: corp.crt, keyFile: corp.key}}]"
    change(cluster, "layout: HandMade", f"layout: HandMade\n    authorities: {imported}")
    out = tmp_path / "out"
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out)).returncode == 0
    stage = ["bash", str(out / "stages/05-pki.sh"), "verify"]
    done = subprocess.run(stage, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_members_of_etcd_that_vote_count(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out)).returncode == 0
    members = [{"name": "etcd-bootstrap"}, {"name": "master-0"}, {"name": "master-1", "isLearner": True}, {"ID": 4}]
    program(tmp_path / "bin/oc", f"echo '{json.dumps({'members': members})}'")
    script = f"PATH={tmp_path}/bin:$PATH; source stages/common.sh; members; has_members"
    done = subprocess.run(["bash", "-c", script], cwd=out, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("1\n", 1), done.stderr


def test_manifests_are_applied_from_any_folder(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(out)).returncode == 0
    is_there = '*.kubeconfig|*.yaml|*.json) [ -r "$file" ] || exit 3'
    program(tmp_path / "bin/oc", f'for file in "$KUBECONFIG" "$@"; do case $file in {is_there}; esac; done')
    command = ["bash", "out/manifests/apply.sh", "out/kubeconfig/admin.kubeconfig"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "OC": "bin/oc"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_graph_shows_every_stage(hcpnet: Hcpnet, cluster: Path) -> None:
    mermaid = hcpnet("bootstrap", "graph", str(cluster))
    assert mermaid.returncode == 0
    assert mermaid.stdout.startswith("flowchart LR\n")
    dot = hcpnet("bootstrap", "graph", str(cluster), "-o", "dot").stdout
    assert dot.startswith("digraph")
    for line in ("artefact_pki -> stage_06_kubeconfigs", "stage_08_ignition -> artefact_ignition"):
        assert line in dot
        assert line.replace("->", "-->") in mermaid.stdout
    assert hcpnet("bootstrap", "graph", str(cluster), "-o", "svg").returncode == 2


def test_pointer_is_what_a_hosted_node_boots_with(hcpnet: Hcpnet, cluster: Path, tmp_path: Path) -> None:
    assert hcpnet("bootstrap", "render", str(cluster), "--output-dir", str(tmp_path / "out")).returncode == 0
    authority, token, output = tmp_path / "out/pki/root-ca.crt", tmp_path / "token", tmp_path / "user-data.ign"
    token.write_text("a-token")
    files = ("--ca-file", str(authority), "--token-file", str(token), "--output", str(output))
    done = hcpnet("bootstrap", "pointer", "ignition.hc1.example.com", *files)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    config = json.loads(output.read_text())["ignition"]
    (source,) = config["config"]["merge"]
    assert source["source"] == "https://ignition.hc1.example.com/ignition"
    assert source["httpHeaders"][0]["value"] == "Bearer " + base64.b64encode(b"a-token").decode()
    subprocess.run([tool("ignition-validate"), str(output)], check=True, timeout=60)
    for endpoint, ca_file, status in (
        ("a/b", authority, 2),
        ("ignition.example.com", token, 1),
        ("ignition.example.com", tmp_path / "none", 1),
    ):
        output.unlink(missing_ok=True)
        wrong = hcpnet(
            "bootstrap",
            "pointer",
            endpoint,
            "--ca-file",
            str(ca_file),
            "--token-file",
            str(token),
            "--output",
            str(output),
        )
        assert wrong.returncode == status
        assert not output.exists()
        assert "a-token" not in wrong.stdout + wrong.stderr
