# SPDX-License-Identifier: Apache-2.0
"""hcpnet bootstrap and hcpnet pki."""

from __future__ import annotations

import base64
import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hcpnet_command import Hcpnet

EXAMPLE = Path(__file__).parents[2] / "examples/bootstrap"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "in")
    return tmp_path / "in/cluster.yaml"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def change(cluster: Path, old: str, new: str) -> None:
    text = cluster.read_text()
    assert text.count(old) == 1
    cluster.write_text(text.replace(old, new))


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
        if path.suffix in (".key", ".kubeconfig"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


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
