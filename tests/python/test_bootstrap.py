# SPDX-License-Identifier: Apache-2.0
"""hcpnet.bootstrap."""

import base64
import shutil
from pathlib import Path

import pytest
from hcpnet import SpecError
from hcpnet.bootstrap import (
    graph,
    hypershift_pointer,
    load_balancer,
    machine_network,
    merge_ignition,
    render,
    retarget_kubeconfig,
    stages,
)

EXAMPLE = Path(__file__).parents[2] / "examples/bootstrap"


def test_renders_and_writes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rendering = render([EXAMPLE / "cluster.yaml"], out)
    assert not out.exists()
    names = {f.name for f in rendering.files}
    assert {"README.md", "ignition/bootstrap.ign", "manifests/apply.sh", "stages/04-release.sh"} <= names
    assert {c.action for c in rendering.changes} == {"made"}
    assert [i.name for i in rendering.ignition] == ["bootstrap.ign"]
    assert {w.code for w in rendering.warnings} == {"no-crds", "no-feature-gates", "no-machine-configs"}
    (key,) = [f for f in rendering.files if f.name == "pki/admin.key"]
    assert key.mode == 0o600
    assert b"PRIVATE KEY" in key.content
    assert "PRIVATE" not in repr(key)
    assert len(rendering.write(out)) == len(rendering.files)
    assert (out / "pki/admin.key").read_bytes() == key.content
    again = render([EXAMPLE / "cluster.yaml"], out)
    assert {c.action for c in again.changes} == {"kept"}
    assert again.write(out) == []


def test_what_is_odd_in_the_spec_is_a_warning_too(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "in")
    spec = tmp_path / "in/cluster.yaml"
    lines = spec.read_text().splitlines(keepends=True)
    spec.write_text("".join(line for line in lines if "name: master-2" not in line))
    first, *_ = render([spec], tmp_path / "out").warnings
    assert first.code == "even-control-plane"
    assert first.line > 0


def test_refuses(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "in")
    (tmp_path / "in/pull-secret.json").write_text("not-a-secret")
    with pytest.raises(SpecError) as raised:
        render([tmp_path / "in/cluster.yaml"], tmp_path / "out")
    assert [d.code for d in raised.value.diagnostics] == ["bad-pull-secret"]
    assert "not-a-secret" not in str(raised.value)
    with pytest.raises(ValueError, match="one is needed"):
        render([EXAMPLE / "cluster.yaml"], tmp_path, name="other")
    with pytest.raises(ValueError, match="neither"):
        graph([EXAMPLE / "cluster.yaml"], format="svg")


def test_stages_and_their_graph() -> None:
    found = stages([EXAMPLE / "cluster.yaml"])
    assert found[0].name == "01-prerequisites"
    assert "pki" in {made for stage in found for made in stage.makes}
    assert all(stage.title and stage.needs and stage.run and stage.verify for stage in found)
    assert graph([EXAMPLE / "cluster.yaml"]).startswith("flowchart LR")
    assert graph([EXAMPLE / "cluster.yaml"], format="dot").startswith("digraph")


def test_ignition() -> None:
    base = {"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/a"}]}}
    merged = merge_ignition(base, files={"/b": (b"x", 0o600)}, units={"u.service": "[Service]\n"}, ssh_key="ssh-rsa A")
    assert [f["path"] for f in merged["storage"]["files"]] == ["/a", "/b"]
    assert merged["storage"]["files"][1]["mode"] == 0o600
    assert merged["systemd"]["units"][0]["name"] == "u.service"
    with pytest.raises(SpecError):
        merge_ignition({"ignition": {"version": "2.2.0"}})
    with pytest.raises(ValueError, match="release"):
        merge_ignition(base, release="5.0")
    pointer = hypershift_pointer("ignition.example.com", "PEM", b"token")
    (source,) = pointer["ignition"]["config"]["merge"]
    assert source["httpHeaders"][0]["value"] == "Bearer " + base64.b64encode(b"token").decode()


def test_kubeconfig() -> None:
    text = "clusters: [{name: hc1, cluster: {server: 'https://api.hc1.example.com:6443'}}]\n"
    assert "tls-server-name: api.hc1.example.com" in retarget_kubeconfig(text, "192.0.2.4")
    with pytest.raises(SpecError):
        retarget_kubeconfig("a: 1\n", "192.0.2.4")
    with pytest.raises(ValueError, match="address"):
        retarget_kubeconfig(text, "proxy")


def test_load_balancer_and_network_are_those_of_a_rendering(tmp_path: Path) -> None:
    spec = [EXAMPLE / "cluster.yaml"]
    rendered = {f.name: f.content for f in render(spec, tmp_path / "out").files}
    balancer = {f.name: f.content for f in load_balancer(spec)}
    assert set(balancer) == {
        "haproxy-bootstrap.cfg",
        "haproxy.cfg",
        "proxy.yaml",
        "endpoints-bootstrap.yaml",
        "endpoints.yaml",
    }
    network = {f.name: f.content for f in machine_network(spec, name="ocp4")}
    assert {"zones/ocp4.example.com.zone", "libvirt/network.xml", "nftables.nft"} <= set(network)
    for folder, files in (("load-balancer", balancer), ("network", network)):
        assert {f"{folder}/{name}": content for name, content in files.items()} == {
            name: content for name, content in rendered.items() if name.startswith(f"{folder}/")
        }


def test_a_changed_zone_gets_a_later_serial(tmp_path: Path) -> None:
    text = (EXAMPLE / "cluster.yaml").read_text()
    changed = tmp_path / "cluster.yaml"
    changed.write_text(text.replace("ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.12"))
    first = {f.name: f.content.decode() for f in machine_network([EXAMPLE / "cluster.yaml"])}
    again = {f.name: f.content.decode() for f in machine_network([EXAMPLE / "cluster.yaml"], previous=first)}
    assert again == first
    second = {f.name: f.content.decode() for f in machine_network([changed], previous=first)}
    zone, reverse = "zones/ocp4.example.com.zone", "zones/126.168.192.in-addr.arpa.zone"
    (soa,) = [line for line in second[zone].splitlines() if " SOA " in line]
    assert int(soa.split()[6]) > 2_000_000_000
    assert second[reverse] == first[reverse]
    with pytest.raises(ValueError, match="one is needed"):
        load_balancer([changed], name="other")
