# SPDX-License-Identifier: Apache-2.0
"""The collection hcpnet.hcpnet, run by ansible-playbook, against a real API server where objects are applied."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_playbook import Ansible
from api_objects import Object, full_hosted_cluster
from api_server import ROOT, ApiServer

CASES = ROOT / "tests/cpp/data/manifest/cases"
VLAN = ROOT / "tests/cpp/data/manifest/two-clusters.yaml"
NAMES = ROOT / "tests/cpp/data/manifest/udn/names"
UDN: Object = {
    "apiVersion": "hcpnet.io/v1alpha1",
    "kind": "PrimaryUDN",
    "metadata": {"name": "playbook", "namespace": "clusters-playbook"},
    "spec": {
        "hostedClusterRef": {"name": "blue"},
        "network": {"layer2": {"subnets": ["10.150.0.0/16"], "ipam": {"lifecycle": "Persistent"}}},
    },
}


def render(**arguments: object) -> Object:
    return {"hcpnet.hcpnet.render": {"files": [str(VLAN)], **arguments}}


# --- modules


def test_check_says_every_problem(ansible: Ansible, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    text = VLAN.read_text().replace("serverIP: 192.0.2.3", "serverIP: 203.0.113.3")
    bad.write_text(text.replace("clusterName: red", "clusterName: Red"))
    (good, wrong, none, missing), _ = ansible.run(
        [
            {"hcpnet.hcpnet.check": {"files": [str(VLAN)]}},
            {"hcpnet.hcpnet.check": {"files": [str(bad)]}},
            {"hcpnet.hcpnet.check": {}},
            {"hcpnet.hcpnet.check": {"files": [str(tmp_path / "missing.yaml")]}},
        ]
    )
    assert (good["failed"], good["changed"]) == (False, False)
    assert good["object_count"] > 10
    assert wrong["failed"]
    paths = {f["path"] for f in wrong["findings"]}
    assert {"/spec/infraComponents/dns/serverIP", "/spec/dns/clusterName"} <= paths
    assert all(f["line"] > 0 and f["file"] == str(bad) for f in wrong["findings"])
    assert none["msg"] == "there is no set: give files or definitions"
    assert "No such file" in missing["msg"]


def test_files_of_records_are_given_beside_the_set(ansible: Ansible, tmp_path: Path) -> None:
    policy = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "DNSPolicy",
        "metadata": {"name": "records", "namespace": "hcp"},
        "spec": {
            "targetRef": {"kind": "Infra", "name": "vlan7"},
            "zoneFiles": [{"path": "zones/corp", "zone": "corp.example"}],
        },
    }
    spec, zone = tmp_path / "network.yaml", tmp_path / "zones/corp"
    spec.write_text(VLAN.read_text() + "---\n" + json.dumps(policy) + "\n")
    zone.parent.mkdir()
    zone.write_text("$TTL 9\n@ SOA ns h 1 2 3 4 5\nx A 192.0.2.77\n")
    files = {"files": [str(spec)], "record_files": [str(zone)]}
    (made, described, without), _ = ansible.run(
        [
            {"hcpnet.hcpnet.render": files},
            {"hcpnet.hcpnet.info": files},
            {"hcpnet.hcpnet.check": {"files": [str(spec)]}},
        ]
    )
    assert not made["failed"], made
    assert "x.corp.example. 9 IN A 192.0.2.77" in json.dumps(made["objects"])
    assert [n["name"] for n in described["networks"]] == ["vlan7"]
    assert [f["code"] for f in without["findings"] if f["severity"] == "error"] == ["unreadable-file"]


def test_render_writes_once(ansible: Ansible, tmp_path: Path) -> None:
    dest = tmp_path / "out.yaml"
    task = render(dest=str(dest), mode="0640")
    (checked,), _ = ansible.run([task], "--check", "--diff")
    assert checked["changed"]
    assert not dest.exists()
    (first, second), _ = ansible.run([task, task], "--diff")
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["diff"] == checked["diff"]
    assert second["diff"]["before"] == second["diff"]["after"]
    assert dest.stat().st_mode & 0o777 == 0o640
    assert list(yaml.safe_load_all(dest.read_text())) == first["objects"]
    (again,), _ = ansible.run([task], "--check")
    assert not again["changed"]


def test_dest_may_be_a_name_alone(ansible: Ansible) -> None:
    (first, second), _ = ansible.run([render(dest="out.yaml")] * 2)
    assert (first["failed"], first["changed"], second["changed"]) == (False, True, False)
    assert list(yaml.safe_load_all((ansible.folder / "out.yaml").read_text())) == first["objects"]


def test_dest_is_a_file(ansible: Ansible, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # would be waited for
    tasks = [render(dest=str(tmp_path / name)) for name in ("pipe", ".")]
    for flags in ([], ["--check"]):
        results, _ = ansible.run(tasks, *flags)
        assert [r["msg"] for r in results] == [
            f"{tmp_path}/pipe: this is no regular file",
            f"{tmp_path}: this is no regular file",
        ]


def test_case_ans_03_a_diff_is_true_and_hides_secrets(ansible: Ansible, tmp_path: Path) -> None:
    """Case ANS-03."""
    data = yaml.safe_load((CASES / "ANS-03.yaml").read_text())
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token"},
        "data": data["secret"]["data"],
        "stringData": {"plain": data["forbid_in_output"][1]},
    }
    dest, spec = tmp_path / "out.yaml", tmp_path / "network.yaml"
    spec.write_text(VLAN.read_text())
    task = {"hcpnet.hcpnet.render": {"files": [str(spec)], "dest": str(dest)}}
    ansible.run([task])
    dest.write_text(yaml.safe_dump(secret) + "---\n" + json.dumps(secret) + "\n" + dest.read_text())
    spec.write_text(VLAN.read_text().replace("rangeEnd: 192.0.2.149", "rangeEnd: 192.0.2.148"))
    (checked,), first = ansible.run([task], "--check", "--diff", "-vvv")
    (done,), second = ansible.run([task], "--diff", "-vvv")
    assert checked["diff"] == done["diff"]
    assert "192.0.2.148" in done["diff"]["after"]
    (tmp_path / "secret.json").write_text(json.dumps({"secret_object": secret}))
    among_others = {"apiVersion": "v1", "kind": "List", "items": ["{{ secret_object }}"]}
    wrong = [{"hcpnet.hcpnet.render": {"definitions": [w]}} for w in ("{{ secret_object }}", among_others)]
    refused, third = ansible.run(wrong, "-vvv", "-e", f"@{tmp_path}/secret.json")
    assert all(result["failed"] for result in refused)
    for printed in (first, second, third, json.dumps([checked, done])):
        assert not [word for word in data["forbid_in_output"] if word in printed]
    assert "kind: Secret" in done["diff"]["before"]


def test_case_ans_05_types_of_yaml_are_not_guessed(ansible: Ansible) -> None:
    """Case ANS-05: what YAML makes a number of is refused where a text is needed, and quotes are recommended."""
    data = yaml.safe_load((CASES / "ANS-05.yaml").read_text())
    assert (data["mac_bad"], data["hostname"], data["vlan"]) == (45045, 31, 8)  # as Ansible's YAML 1.1 reads them
    vlan, *others = yaml.safe_load_all(VLAN.read_text())

    def with_policy(**spec: object) -> Object:
        policy = {
            "apiVersion": "hcpnet.io/v1alpha1",
            "kind": "DHCPPolicy",
            "metadata": {"name": "typed", "namespace": "hcp"},
            "spec": {"targetRef": {"kind": "Infra", "name": "vlan7"}, **spec},
        }
        others_without = [o for o in others if o["kind"] != "DHCPPolicy"]
        return {"hcpnet.hcpnet.check": {"definitions": [vlan, *others_without, policy]}}

    def reservation(mac: str, name: str = "worker") -> Object:
        return with_policy(reservations=[{"macAddress": mac, "address": "192.0.2.50", "hostName": name}])

    listed, timed = copy.deepcopy(vlan), copy.deepcopy(vlan)
    listed["spec"]["networkConfig"]["dnsServers"] = "{{ dns }}"
    timed["spec"]["infraComponents"]["dhcp"]["leaseTime"] = "{{ lease_time }}"
    tasks = [
        with_policy(authoritative="{{ authoritative }}"),
        {"hcpnet.hcpnet.check": {"definitions": [listed, *others]}},
        {"hcpnet.hcpnet.check": {"definitions": [timed, *others]}},
        reservation("{{ mac }}"),
        reservation("{{ mac_bad }}"),
        reservation("{{ mac }}", "{{ hostname }}"),
        {"hcpnet.hcpnet.check": {"files": [str(VLAN)], "without": "ServiceMonitor,MultiNetworkPolicy"}},
        {"hcpnet.hcpnet.info": {"files": [str(VLAN)], "published_names": "no"}},
        {"hcpnet.hcpnet.check": {"files": [str(VLAN)], "link": "{{ vlan }}"}},
    ]
    (truth, servers, lease, good, mac, name, words, flag, link), _ = ansible.run(tasks, "-e", f"@{CASES}/ANS-05.yaml")
    for refused, path, code in (  # of a definition nothing is guessed either
        (truth, "/spec/authoritative", "wrong-type"),
        (servers, "/spec/networkConfig/dnsServers", "wrong-type"),
        (lease, "/spec/infraComponents/dhcp/leaseTime", "bad-duration"),
    ):
        assert refused["failed"]
        assert [f["code"] for f in refused["findings"] if f["path"].endswith(path)] == [code]
    assert not good["failed"], good
    for refused, field in ((mac, "macAddress"), (name, "hostName")):
        assert refused["failed"]
        (finding,) = [f for f in refused["findings"] if f["path"].endswith(f"/reservations/0/{field}")]
        assert finding["code"] == "wrong-type"
        assert "quotes make it a string" in finding["message"]
    assert not words["failed"], words
    assert not flag["failed"], flag
    assert "published" not in flag
    assert link["failed"]
    assert "8" in link["msg"]


def test_info(ansible: Ansible) -> None:
    files = {"files": [str(NAMES / "set.yaml")], "observed": [str(NAMES / "management.yaml")]}
    (network, names), _ = ansible.run(
        [
            {"hcpnet.hcpnet.info": {"files": [str(VLAN)]}},
            {"hcpnet.hcpnet.info": {**files, "published_names": True}},
        ]
    )
    (vlan,) = network["networks"]
    assert (vlan["name"], vlan["cidr"], vlan["dhcp"]) == ("vlan7", "192.0.2.0/24", "192.0.2.2")
    assert [c["name"] for c in vlan["clusters"]] == ["blue", "red"]
    assert network["version"]
    (blue,) = names["published"]
    hosts = {n["service"]: n["host"] for n in blue["names"]}
    assert hosts["OAuthServer"] == "oauth-clusters-blue.apps.mgmt.example.com"


def test_the_filter_makes_the_same_objects(ansible: Ansible) -> None:
    text = "{{ lookup('ansible.builtin.file', '" + str(VLAN) + "') | hcpnet.hcpnet.objects(deployment='split') }}"
    wrong = "{{ {'kind': 'Infra'} | hcpnet.hcpnet.objects }}"
    (made, filtered, refused), _ = ansible.run(
        [
            render(deployment="split"),
            {"ansible.builtin.set_fact": {"filtered": text}},
            {"ansible.builtin.set_fact": {"refused": wrong}},
        ]
    )
    assert filtered["ansible_facts"]["filtered"] == made["objects"]
    assert refused["failed"]
    assert "hcpnet.hcpnet.objects" in json.dumps(refused)


# --- role and playbooks, on an API server


@pytest.fixture
def on_server(api: ApiServer, tmp_path: Path) -> Ansible:
    return Ansible(tmp_path, api.folder / "kubeconfig")


def changes(done: subprocess.CompletedProcess[str]) -> int:
    """How many tasks changed something, by the recap."""
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("localhost") and "changed=" in line]
    return int(line.split("changed=")[1].split()[0])


def extra(**variables: object) -> list[str]:
    return ["-e", json.dumps(variables)]


def test_case_ans_01_a_second_run_changes_nothing(on_server: Ansible, api: ApiServer, tmp_path: Path) -> None:
    """Case ANS-01: the Service of the case, whose live form has defaults and a node port, and a whole network."""
    data = yaml.safe_load((CASES / "ANS-01.yaml").read_text())
    definition = {**data["definition"], "metadata": {"name": "ans-01", "namespace": "hcp"}}
    apply: Object = {"apply": True, "server_side_apply": {"field_manager": "hcpnet"}}
    task = {"kubernetes.core.k8s": {"definition": definition, **apply}}
    (first, second), _ = on_server.run([task, task], "--diff")
    assert (first["changed"], second["changed"]) == (True, data["expect"]["changed"])
    live = ["-n", "hcp", "get", "service", "ans-01", "-o", "json"]
    before = api.kubectl(*live).stdout
    (checked,), _ = on_server.run([task], "--check", "--diff")
    assert checked["changed"] is data["expect"]["changed"]
    assert not [result.get("diff") for result in (second, checked) if result.get("diff")]
    another = {**definition, "spec": {**definition["spec"], "selector": {"app": "other"}}}
    (checked,), _ = on_server.run([{"kubernetes.core.k8s": {"definition": another, **apply}}], "--check", "--diff")
    assert checked["changed"]
    assert api.kubectl(*live).stdout == before  # check mode writes nothing

    spec = tmp_path / "network.yaml"
    spec.write_text(VLAN.read_text().replace("vlan7", "vlan17"))
    variables = extra(
        hcpnet_files=[str(spec)],
        hcpnet_deployment="split",
        hcpnet_link="bridge:br-vlan17,vlan=17",
    )
    play = "hcpnet.hcpnet.isolated_vlan"
    assert changes(on_server.playbook(play, *variables)) == 1
    words = ["-n", "hcp", "get", "deployment", "vlan17-dhcp", "-o", "json", "--show-managed-fields"]
    deployed = json.loads(api.kubectl(*words).stdout)
    assert deployed["metadata"]["managedFields"][0]["manager"] == "hcpnet"
    on_server.playbook(play, *variables)  # a new PersistentVolumeClaim has one resourceVersion more after it
    assert changes(on_server.playbook(play, *variables)) == 0
    assert changes(on_server.playbook(play, *variables, "--check", "--diff")) == 0

    spec.write_text(spec.read_text().replace("rangeEnd: 192.0.2.149", "rangeEnd: 192.0.2.148"))
    assert changes(on_server.playbook(play, *variables, "--check")) == 1
    assert changes(on_server.playbook(play, *variables)) == 1
    assert changes(on_server.playbook(play, *variables)) == 0


def test_isolated_vlan_refuses_another_set(on_server: Ansible, tmp_path: Path) -> None:
    (tmp_path / "udn.json").write_text(json.dumps(UDN))
    done = on_server.playbook("hcpnet.hcpnet.isolated_vlan", *extra(hcpnet_files=[str(tmp_path / "udn.json")]))
    assert done.returncode != 0
    assert "The set has no Infra" in done.stdout


@pytest.fixture
def hosted_cluster(api: ApiServer) -> Callable[[], Object]:
    """A HostedCluster that somebody else has made, and how it looks now."""
    api.kubectl("create", "namespace", "clusters-playbook")
    words = ["apply", "--server-side", "--field-manager", "somebody-else", "-f", "-"]
    done = api.kubectl(*words, stdin=json.dumps(full_hosted_cluster("clusters-playbook")))
    assert done.returncode == 0, done.stderr

    def look() -> Object:
        shown: Object = json.loads(
            api.kubectl("-n", "clusters-playbook", "get", "hostedcluster", "blue", "-o", "json").stdout
        )
        return shown

    return look


def test_primary_udn(on_server: Ansible, api: ApiServer, hosted_cluster: Callable[[], Object], tmp_path: Path) -> None:
    (tmp_path / "udn.json").write_text(json.dumps(UDN))
    variables = extra(hcpnet_files=[str(tmp_path / "udn.json")])
    assert changes(on_server.playbook("hcpnet.hcpnet.primary_udn", *variables)) == 1
    assert changes(on_server.playbook("hcpnet.hcpnet.primary_udn", *variables)) == 0
    assert changes(on_server.playbook("hcpnet.hcpnet.primary_udn", *variables, "--check")) == 0
    namespace = json.loads(api.kubectl("get", "namespace", "clusters-playbook-blue", "-o", "json").stdout)
    assert namespace["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"] == ""
    udn = json.loads(api.kubectl("-n", "clusters-playbook-blue", "get", "userdefinednetworks", "-o", "json").stdout)
    assert [o["metadata"]["name"] for o in udn["items"]] == ["playbook"]
    annotations: dict[str, Any] = hosted_cluster()["metadata"]["annotations"]
    assert json.loads(annotations["hypershift.openshift.io/kubevirt-vm-jsonpatch"])
