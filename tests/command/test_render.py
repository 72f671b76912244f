# SPDX-License-Identifier: Apache-2.0
"""hcpnet render: what is written, and what is not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_objects import Object, key_of
from api_server import tool
from hcpnet_command import Hcpnet

ROOT = Path(__file__).parents[2]
VLAN = ROOT / "tests/cpp/data/manifest/two-clusters.yaml"
OBSERVED = ROOT / "tests/cpp/data/manifest/two-clusters-observed.yaml"
FORMS = ["one", "split", "coredns-envoy"]
Objects = dict[tuple[str, str], Any]


def by_name(objects: list[Object]) -> Objects:
    return {(o["kind"], o["metadata"]["name"]): o for o in objects}


def render(hcpnet: Hcpnet, *arguments: str) -> list[Object]:
    done = hcpnet("render", str(VLAN), "--observed", str(OBSERVED), *arguments)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("form", FORMS)
def test_yaml_and_json_say_the_same(hcpnet: Hcpnet, form: str) -> None:
    done = hcpnet("render", str(VLAN), "--observed", str(OBSERVED), "--deployment", form, "-o", "json")
    listed = json.loads(done.stdout)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert listed["items"] == render(hcpnet, "--deployment", form)


def test_output_dir_is_replaced_as_a_whole(hcpnet: Hcpnet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["render", str(VLAN), "--observed", str(OBSERVED), "-o", "kustomize", "--output-dir", str(out)]
    assert hcpnet(*words, "--deployment", "split").returncode == 0
    split = {p.name for p in out.iterdir()}
    listed = yaml.safe_load((out / "kustomization.yaml").read_text())["resources"]
    assert split == {*listed, "kustomization.yaml"}
    assert hcpnet(*words).returncode == 0
    one = {p.name for p in out.iterdir()}
    assert one != split
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("out")] == ["out"]


def test_kustomize_keeps_the_order(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """By itself it puts a HostedCluster before its network and the policy for its etcd."""
    udn, out = str(ROOT / "tests/cpp/data/manifest/udn/hosted.yaml"), tmp_path / "out"
    assert hcpnet("render", udn, "-o", "kustomize", "--output-dir", str(out)).returncode == 0
    words = [tool("kubectl"), "kustomize", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    objects = json.loads(hcpnet("render", udn, "-o", "json").stdout)["items"]
    assert [key_of(o) for o in yaml.safe_load_all(done.stdout)] == [key_of(o) for o in objects]


def test_nothing_is_written_when_anything_is_invalid(hcpnet: Hcpnet, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(VLAN.read_text().replace("serverIP: 192.0.2.3", "serverIP: 203.0.113.3"))
    out = tmp_path / "out"
    done = hcpnet("render", str(bad), "--output-dir", str(out))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "/spec/infraComponents/dns/serverIP" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("name", ["notes.txt", "network.yaml", "1-network.yaml", "10network.yaml", "observed.json"])
def test_a_folder_of_other_files_is_left_alone(hcpnet: Hcpnet, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    words = ["render", str(VLAN), "--observed", str(OBSERVED), "--output-dir", str(out)]
    assert hcpnet(*words).returncode == 0
    (out / name).write_text("mine")
    before = {p.name for p in out.iterdir()}
    done = hcpnet(*words, "--deployment", "split")
    assert (done.returncode, "something other than rendered files" in done.stderr) == (1, True)
    assert {p.name for p in out.iterdir()} == before


@pytest.mark.parametrize(
    "words",
    [
        ["--deployment", "two"],
        ["-o", "kustomize"],
        ["-o", "text"],
        ["--without", "Deployment"],
        ["--metallb-namespace", "metallb"],
        ["--guest", "hcp/blue", "--deployment", "split"],
        ["--link", "bridge"],
        ["--link", "vxlan:eth0"],
        ["--link", "bridge:a-name-that-is-too-long"],
        ["--link", "macvlan:eth0,vlan=7"],
        ["--link", "bridge:br0,vlan=4095"],
    ],
)
def test_wrong_use(hcpnet: Hcpnet, words: list[str]) -> None:
    done = hcpnet("render", str(VLAN), *words)
    assert done.returncode == 2
    assert done.stdout == ""


def test_the_configuration_in_the_pod_is_the_set(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """What `hcpnet up` reads in its pod routes like the files that it was rendered from."""
    data = by_name(render(hcpnet))[("ConfigMap", "vlan7-network-config")]["data"]
    for name, text in data.items():
        (tmp_path / name).write_text(text)
    for server_name in ("oauth.red.hc.example.com", "console.apps.blue.hc.example.com", "kubernetes"):
        words = ["route", server_name, "--port", "443", "--from", "192.0.2.101", "-o", "json"]
        source = hcpnet(*words, str(VLAN), "--observed", str(OBSERVED))
        pod = hcpnet(*words, str(tmp_path / "network.yaml"), "--observed", str(tmp_path / "observed.yaml"))
        assert source.returncode == pod.returncode == 0, source.stderr + pod.stderr
        assert json.loads(pod.stdout) == json.loads(source.stdout)
