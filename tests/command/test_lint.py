# SPDX-License-Identifier: Apache-2.0
"""hcpnet lint."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from hcpnet_command import Hcpnet

EXAMPLE = Path(__file__).parents[2] / "examples/bootstrap"
NETWORK = "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n"
ENDPOINTS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: etcd-endpoints, namespace: openshift-etcd}\n"
KUBELET = "[Unit]\n[Service]\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf\n"


def test_a_set_is_every_file_below_a_folder(hcpnet: Hcpnet, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/endpoints").write_text(ENDPOINTS)
    (folder / "kubelet").write_text(KUBELET)
    (folder / ".git").mkdir()
    (folder / ".git/endpoints").write_text(ENDPOINTS)
    (folder / "link").symlink_to(folder / "deep/endpoints")
    done = hcpnet("lint", str(folder))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{folder}/deep/endpoints:3:")
    assert lines[0].endswith("[etcd-endpoints]")
    assert lines[1] == "1 error, 0 warnings, 0 infos; 2 files looked at"


def test_the_status_is_for_machines(hcpnet: Hcpnet, tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK)
    assert hcpnet("lint", str(file)).returncode == 0
    assert hcpnet("lint", str(file), "--fail-on", "warning").returncode == 0
    assert hcpnet("lint", str(file), "--fail-on", "info").returncode == 1
    assert hcpnet("lint").returncode == 2
    assert hcpnet("lint", str(file), "-o", "xml").returncode == 2
    gone = hcpnet("lint", str(tmp_path / "none"))
    assert gone.returncode == 1
    assert "[unreadable-file]" in gone.stderr


def test_json_and_sarif(hcpnet: Hcpnet, tmp_path: Path) -> None:
    file = tmp_path / "end points.yaml"
    file.write_text("# hcpnet-lint: ignore etcd-endpoints: it is made anew\n" + ENDPOINTS)
    body = json.loads(hcpnet("lint", str(file), "-o", "json").stdout)
    assert (body["errors"], body["findings"]) == (0, [])
    assert body["suppressed"][0]["reason"] == "it is made anew"
    sarif = json.loads(hcpnet("lint", str(file), "-o", "sarif").stdout)
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    (result,) = run["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "it is made anew"}]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "etcd-endpoints"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"].endswith("/end%20points.yaml")
    assert location["region"]["startLine"] == 4


def test_suppressions_come_from_a_file(hcpnet: Hcpnet, tmp_path: Path) -> None:
    file, list_ = tmp_path / "endpoints.yaml", tmp_path / "lint.yaml"
    file.write_text(ENDPOINTS)
    list_.write_text("- rule: etcd-endpoints\n  file: endpoints.yaml\n  reason: it is made anew\n")
    done = hcpnet("lint", str(file), "--suppressions", str(list_))
    assert done.returncode == 0, done.stdout
    assert "1 finding suppressed" in done.stdout
    list_.write_text("- rule: etcd-endpoints\n  file: other.yaml\n  reason: it is made anew\n")
    unused = hcpnet("lint", str(file), "--suppressions", str(list_))
    assert unused.returncode == 1
    assert "[suppression-unused]" in unused.stdout
    list_.write_text(
        "- rule: none\n  reason: x\n- rule: etcd-endpoints\n- {rule: etcd-endpoints, reason: why, files: z}\n"
    )
    wrong = hcpnet("lint", str(file), "--suppressions", str(list_))
    assert wrong.returncode == 1
    assert wrong.stderr.count("[bad-suppression]") == 3


def test_a_rule_explains_itself(hcpnet: Hcpnet) -> None:
    done = hcpnet("lint", "--explain", "etcd-certificate-usages")
    assert done.returncode == 0
    for word in ("etcd-certificate-usages (error)", "Why:", "Fix:", "Source:", "- X509v3", "+ X509v3"):
        assert word in done.stdout
    assert hcpnet("lint", "--explain", "none").returncode == 2
    assert hcpnet("lint", "--explain", "all").stdout.count("\nWhy: ") > 80


def test_takes_what_bootstrap_renders(hcpnet: Hcpnet, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "in")
    spec = tmp_path / "in/cluster.yaml"
    for layout in ("HandMade", "Installer"):
        out = tmp_path / layout
        spec.write_text((EXAMPLE / "cluster.yaml").read_text().replace("layout: HandMade", f"layout: {layout}"))
        assert hcpnet("bootstrap", "render", str(spec), "--output-dir", str(out)).returncode == 0
        done = hcpnet("lint", str(out), "--fail-on", "warning")
        assert done.returncode == 0, done.stdout
        assert "PRIVATE" not in done.stdout
