# SPDX-License-Identifier: Apache-2.0
"""hcpnet.reconcile, and what hcpnet.manifest has for primary networks."""

import json
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address

import pytest
from hcpnet import SpecError
from hcpnet.manifest import (
    check_vm_patch,
    first_internal_addresses,
    hypershift_vm_patch,
    ipam_claim_name,
    parse_pod_networks,
    render,
)
from hcpnet.reconcile import Action, ObjectWrite, Plan, make_guest_plan, make_plan, overlay

UDN = """
apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: vms}
spec:
  network: {layer2: {subnets: [10.150.0.0/16], ipam: {lifecycle: Persistent}}}
  virtualMachines: [{name: w0, addresses: [10.150.0.42]}]
"""


def test_plans_until_everything_is_there() -> None:
    plan = make_plan({"udn.yaml": UDN})
    assert isinstance(plan, Plan)
    assert [a.kind for a in plan.actions] == ["create"] * 2
    assert [a.object["kind"] for a in plan.actions] == ["Namespace", "UserDefinedNetwork"]
    assert plan.actions[0].patch is None
    assert plan.actions[0].reason
    objects = render({"udn.yaml": UDN})
    assert [a.object for a in plan.actions] == objects[:2]
    (held,) = plan.held
    assert (held.object["kind"], held.reason, held.field) == ("VirtualMachine", "NotFound", "")
    observed = {"observed.json": json.dumps({"kind": "List", "items": objects})}
    again = make_plan({"udn.yaml": UDN}, observed=observed)
    assert (again.actions, again.held) == ([], [])


def test_holds_what_cannot_be_changed() -> None:
    (ns, udn, _) = render({"udn.yaml": UDN})
    udn["spec"]["layer2"]["subnets"] = ["10.151.0.0/16"]
    observed = {"observed.json": json.dumps({"kind": "List", "items": [ns, udn]})}
    plan = make_plan({"udn.yaml": UDN}, observed=observed, may_recreate=True)
    (held, _) = plan.held
    assert (held.reason, held.field) == ("ImmutableField", "/spec/layer2/subnets/0")
    assert held.object["metadata"] == {"name": "blue", "namespace": "vms"}
    assert held.message
    assert all(isinstance(a, Action) for a in plan.actions)
    assert plan.warnings == []


def test_refuses_a_set_that_is_wrong() -> None:
    with pytest.raises(SpecError, match="networks-overlap"):
        make_plan({"udn.yaml": UDN.replace("10.150.0.0/16", "10.128.0.0/16")})
    with pytest.raises(ValueError, match="is not a version"):
        make_plan({"udn.yaml": UDN}, admission_version="v2")


def test_patches_of_machines() -> None:
    patch = hypershift_vm_patch()
    assert check_vm_patch(patch).problem == ""
    assert check_vm_patch(patch, "Passt").problem
    assert len(check_vm_patch(patch, release="4.18").kept) == 1
    assert check_vm_patch(hypershift_vm_patch("Passt"), "Passt", additional_networks=["a/b"]).kept == []
    with pytest.raises(ValueError, match="binding"):
        hypershift_vm_patch("bridge")
    with pytest.raises(ValueError, match="release"):
        check_vm_patch(patch, release="new")


def test_addresses() -> None:
    annotation = {"ns/udn": {"role": "primary", "ip_addresses": ["10.150.0.5/16", "2001:db8::5/64"]}}
    found = parse_pod_networks(json.dumps(annotation))
    assert (found.v4, found.v6) == (IPv4Address("10.150.0.5"), IPv6Address("2001:db8::5"))
    with pytest.raises(ValueError, match="role primary"):
        parse_pod_networks("{}")
    machine = [{"type": "InternalIP", "address": a} for a in ("fe80::1", "10.150.0.20", "10.8.0.2")]
    assert first_internal_addresses(machine).v4 == IPv4Address("10.150.0.20")
    assert first_internal_addresses(machine).v6 is None
    assert ipam_claim_name("W0") == "w0.default"


HOSTED = """
apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: clusters}
spec:
  hostedClusterRef: {name: blue}
  network: {layer2: {subnets: [10.150.0.0/16], ipam: {lifecycle: Persistent}}}
---
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  dns: {baseDomain: example.com}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: Route, route: {hostname: api.blue.example.com}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.blue.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route, route: {hostname: konnectivity.blue.example.com}}}
  - {service: Ignition, servicePublishingStrategy: {type: Route, route: {hostname: ignition.blue.example.com}}}
"""
ROUTER = """
apiVersion: v1
kind: Service
metadata: {name: router-internal-default, namespace: openshift-ingress}
spec: {clusterIP: 172.31.88.88}
"""


def test_plans_names_of_a_guest() -> None:
    plan = make_guest_plan({"set.yaml": HOSTED}, "clusters/blue", guest_observed={"guest.yaml": ROUTER})
    (config,) = [a.object for a in plan.actions if a.object["kind"] == "ConfigMap"]
    assert "172.31.88.88" in config["data"]["Corefile"]
    assert {w.code for w in plan.warnings} == {"address-unknown", "dns-unknown"}
    with pytest.raises(SpecError, match="no-primary-network"):
        make_guest_plan({"set.yaml": HOSTED}, "clusters/red")


def test_writes_to_a_server_that_others_write_to() -> None:
    write = ObjectWrite("update", max_conflicts=1, first_delay=timedelta(seconds=1))
    step = write.on_answer(409, 1.0, reason="Conflict")
    assert (step.kind, step.verb, step.delay) == ("send", "get", timedelta(seconds=1))
    assert write.verb == "get"
    assert write.on_answer(200, 0.5).verb == "update"
    assert write.on_answer(409, 1.0, reason="Conflict").kind == "requeue"
    waiting = ObjectWrite("create").on_answer(429, 0.0, retry_after=timedelta(seconds=7))
    assert waiting.delay == timedelta(seconds=7)
    assert ObjectWrite("create").on_answer(422, 0.5).kind == "refused"
    assert ObjectWrite("create").on_answer(201, 0.5).kind == "done"
    with pytest.raises(ValueError, match="verb"):
        ObjectWrite("patch")
    observed = {"metadata": {"resourceVersion": "7"}, "data": {"theirs": "1", "ours": "1"}}
    assert overlay(observed, {"data": {"ours": "2"}}) == {**observed, "data": {"theirs": "1", "ours": "2"}}
