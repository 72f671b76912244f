# SPDX-License-Identifier: Apache-2.0
"""PrimaryUDN: hcpnet check, render and plan, and what a real API server makes of the objects."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_objects import ALLOCATED, Object, additions, applied, full_hosted_cluster, key_of
from api_server import ROOT, ApiServer
from hcpnet_command import Hcpnet, wait_until
from test_render import VLAN

DATA = ROOT / "tests/cpp/data/manifest/udn"
FILES = {"hosted": [], "machines": ["--observed", str(DATA / "machines-observed.yaml")], "cluster": []}
CASES = ROOT / "tests/cpp/data/manifest/cases"


def render(hcpnet: Hcpnet, name: str, observed: Path | None = None) -> list[Object]:
    more = FILES[name] if observed is None else ["--observed", str(observed)]
    done = hcpnet("render", str(DATA / f"{name}.yaml"), *more, "-o", "json")
    assert done.returncode == 0, done.stderr
    objects: list[Object] = json.loads(done.stdout)["items"]
    return objects


def case(name: str) -> Object:
    """Data of a field case."""
    data: Object = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    return data


# --- the command


def test_hcp_14_policy_of_machines(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-14."""
    data = case("HCP-14")
    udn = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "PrimaryUDN",
        "metadata": {"name": "hcp-hcp1", "namespace": "clusters"},
        "spec": {
            "hostedClusterRef": {"name": "hcp1", "infraID": data["infraID"]},
            "network": {"layer2": {"subnets": ["10.150.0.0/16"], "ipam": {"lifecycle": "Persistent"}}},
            "management": {"serviceNetwork": data["serviceNetwork"], "clusterNetwork": data["clusterNetwork"]},
        },
    }
    path = tmp_path / "udn.json"
    path.write_text(json.dumps(udn))
    done = hcpnet("render", str(path), "-o", "json")
    assert done.returncode == 0, done.stderr
    policies = [o for o in json.loads(done.stdout)["items"] if o["kind"] == "NetworkPolicy"]
    expected = data["expect_udn"]
    assert len(policies) == expected["policies_added"]
    spec = policies[0]["spec"]
    assert spec["podSelector"]["matchLabels"] == expected["podSelector"]
    assert spec["policyTypes"] == expected["policyTypes"]
    (rule,) = spec["egress"]
    assert [peer["ipBlock"]["cidr"] for peer in rule["to"]] == expected["ipBlocks"]
    assert rule["ports"] == expected["ports"]
    assert not set(data["must_stay_blocked"]) & {peer["ipBlock"]["cidr"].split("/")[0] for peer in rule["to"]}
    isolated = hcpnet("render", str(VLAN), "-o", "json")
    assert isolated.returncode == 0, isolated.stderr
    of_machines = [
        o
        for o in json.loads(isolated.stdout)["items"]
        if o["kind"] == "NetworkPolicy" and "virt-launcher" in json.dumps(o["spec"]["podSelector"])
    ]
    assert len(of_machines) == data["expect_non_udn"]["policies_added"]


def test_hcp_10_claim_of_a_machine(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-10."""
    data = case("HCP-10")
    vm = data["vm"]
    udn = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "PrimaryUDN",
        "metadata": {"name": data["udn"], "namespace": vm["namespace"]},
        "spec": {
            "claims": "Hcpnet",
            "network": {"layer2": {"subnets": ["10.150.0.0/16"], "ipam": {"lifecycle": "Persistent"}}},
            "virtualMachines": [{"name": vm["name"], "network": data["network"]}],
        },
    }
    observed = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": vm}
    (tmp_path / "udn.json").write_text(json.dumps(udn))
    (tmp_path / "observed.json").write_text(json.dumps(observed))
    done = hcpnet("render", str(tmp_path / "udn.json"), "--observed", str(tmp_path / "observed.json"), "-o", "json")
    assert done.returncode == 0, done.stderr
    by_kind = {o["kind"]: o for o in json.loads(done.stdout)["items"]}
    claim = by_kind["IPAMClaim"]
    assert claim["metadata"]["name"] == data["expect"]["name"]
    assert claim["spec"]["network"] == data["expect"]["specNetwork"]
    (owner,) = claim["metadata"]["ownerReferences"]
    assert f"{owner['kind']}/{owner['name']}" == data["expect"]["owner"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (vm["uid"], True, True)
    annotations = by_kind["VirtualMachine"]["spec"]["template"]["metadata"]["annotations"]
    (network,) = json.loads(annotations["v1.multus-cni.io/default-network"])
    assert network["ipam-claim-reference"] == data["expect"]["name"]


def test_hcp_05_role_of_who_writes_slices(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-05: `endpointslices/restricted` and `endpoints/restricted` are for the cluster's own addresses."""
    data = case("HCP-05")
    (role,) = [o for o in render(hcpnet, "hosted") if o["kind"] == "Role"]
    by_resource = {r: rule for rule in role["rules"] for r in rule["resources"]}
    slices, *restricted = data["expect_rules"]
    (resource,) = slices["resources"]
    assert by_resource[resource]["apiGroups"] == slices["apiGroups"]
    assert {"get", "list", "watch", "create", "update", "patch", "delete"} == set(by_resource[resource]["verbs"])
    # No slice here may hold such an address, because such a network is refused; and no Endpoints are written.
    for field in ("clusterNetwork", "serviceNetwork"):
        (tmp_path / "udn.yaml").write_text(HOSTED_UDN + f"  management: {{{field}: [10.150.0.0/16]}}\n")
        done = hcpnet("render", str(tmp_path / "udn.yaml"))
        assert (done.returncode, "[networks-overlap]" in done.stderr) == (1, True)
    assert all(rule["when"].endswith("hold cluster addresses") for rule in restricted)
    assert not {r for rule in restricted for r in rule["resources"]} & set(by_resource)
    assert "endpoints" not in by_resource
    assert by_resource["services/finalizers"] == {
        "apiGroups": [""],
        "resources": ["services/finalizers"],
        "verbs": ["update"],
    }
    for rule in role["rules"]:
        assert not set(data["forbid"]) & {*rule["verbs"], *rule["resources"], *rule["apiGroups"]}


def launcher(machine: str, address: str, network: str, namespace: str) -> Object:
    networks = {network: {"ip_addresses": [f"{address}/16"], "role": "primary"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"virt-launcher-{machine}-x",
            "namespace": namespace,
            "labels": {"kubevirt.io": "virt-launcher", "vm.kubevirt.io/name": machine},
            "annotations": {"k8s.ovn.org/pod-networks": json.dumps(networks)},
        },
        "spec": {"nodeName": "infra-1"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


HOSTED_UDN = """
apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: hcp-hcp1, namespace: clusters}
spec:
  hostedClusterRef: {name: hcp1}
  network: {layer2: {subnets: [10.150.0.0/16], ipam: {lifecycle: Persistent}}}
"""


def planned_slices(hcpnet: Hcpnet, tmp_path: Path, observed: list[Object]) -> list[Object]:
    (tmp_path / "udn.yaml").write_text(HOSTED_UDN)
    (tmp_path / "observed.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": observed}))
    words = ["plan", str(tmp_path / "udn.yaml"), "--observed", str(tmp_path / "observed.json"), "-o", "json"]
    done = hcpnet(*words)
    assert done.returncode == 0, done.stderr
    actions = json.loads(done.stdout)["actions"]
    return [a["object"] for a in actions if a["action"] == "create" and a["object"]["kind"] == "EndpointSlice"]


def check_managers(data: Object, labels: dict[str, str]) -> None:
    for label, values in data["must_not_label"].items():
        assert labels[label] not in values


def test_hcp_03a_load_balancer_on_the_network(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-03a."""
    data = case("HCP-03a")
    service = data["service"]
    namespace = service["namespace"]
    observed = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": service["name"], "namespace": namespace},
            "spec": {"clusterIP": "172.30.7.7", "ports": service["ports"]},
        },
        *(launcher(f"w{i}", a, f"{namespace}/{data['udn']}", namespace) for i, a in enumerate(data["endpoints"])),
    ]
    slices = planned_slices(hcpnet, tmp_path, observed)
    assert [s["endpoints"][0]["addresses"] for s in slices] == [[a] for a in data["endpoints"]]
    for made in slices:
        metadata = made["metadata"]
        assert data["expect_labels"].items() <= metadata["labels"].items()
        assert data["expect_annotations"].items() <= metadata["annotations"].items()
        assert not set(data["must_not_have_labels"]) & set(metadata["labels"])
        check_managers(data, metadata["labels"])


def test_hcp_03b_names_on_the_network(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-03b."""
    data = case("HCP-03b")
    service = data["service"]
    namespace = service["namespace"]
    observed: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": service["name"], "namespace": namespace},
            "spec": {
                "clusterIP": "None",
                "publishNotReadyAddresses": service["publishNotReadyAddresses"],
                "selector": {"app": "etcd"},
                "ports": service["ports"],
            },
        }
    ]
    for pod in data["pods"]:
        made = launcher(pod["name"], pod["udnIP"], f"{namespace}/{data['udn']}", namespace)
        made["metadata"]["name"] = pod["name"]
        made["metadata"]["labels"] = {"app": "etcd"}
        made["spec"] |= {"hostname": pod["name"], "subdomain": service["name"]}
        made["status"]["conditions"][0]["status"] = str(pod["ready"])
        observed.append(made)
    slices = planned_slices(hcpnet, tmp_path, observed)
    found = [
        {"hostname": e["hostname"], "addresses": e["addresses"], "ready": e["conditions"]["ready"]}
        for s in slices
        for e in s["endpoints"]
    ]
    assert found == data["expect_endpoints"]
    for made in slices:
        assert data["expect_labels"].items() <= made["metadata"]["labels"].items()
        keys = [*made["metadata"]["labels"], *made["metadata"].get("annotations", {})]
        assert not [k for k in keys if any(k.startswith(p) for p in data["must_not_have_prefix"])]
        check_managers(data, made["metadata"]["labels"])


def test_hcp_01_addresses_of_machines(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """Case HCP-01."""
    data = case("HCP-01")
    observed: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "default-ingress-passthrough-service-x", "namespace": "clusters-hcp1"},
            "spec": {"clusterIP": "172.30.7.7", "ports": [{"name": "https-443", "port": 443, "targetPort": 31443}]},
        }
    ]
    observed += [
        {
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": {"name": m["name"], "namespace": "clusters-hcp1"},
            "status": {"phase": "Running", "addresses": m["addresses"]},
        }
        for m in data["machines"]
    ]
    by_family: dict[str, list[str]] = {}
    for made in planned_slices(hcpnet, tmp_path, observed):
        by_family.setdefault(made["addressType"], []).extend(made["endpoints"][0]["addresses"])
    assert by_family == data["expect"]


def test_the_example_renders(hcpnet: Hcpnet) -> None:
    done = hcpnet("render", str(ROOT / "examples/primary-udn/udn.yaml"))
    assert (done.returncode, done.stderr) == (0, "")
    kinds = [o["kind"] for o in yaml.safe_load_all(done.stdout)]
    assert kinds.count("Namespace") == kinds.count("UserDefinedNetwork") == 2
    assert kinds[-1] == "VirtualMachine"


def test_plan_as_text(hcpnet: Hcpnet, tmp_path: Path) -> None:
    (tmp_path / "udn.yaml").write_text(HOSTED_UDN)
    done = hcpnet("plan", str(tmp_path / "udn.yaml"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "create Namespace clusters-hcp1: it is not there"
    late = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters-hcp1"}}
    (tmp_path / "observed.json").write_text(json.dumps(late))
    done = hcpnet("plan", str(tmp_path / "udn.yaml"), "--observed", str(tmp_path / "observed.json"), "--recreate")
    assert "held Namespace clusters-hcp1: ImmutableField /metadata/labels: " in done.stdout
    done = hcpnet("plan", str(tmp_path / "udn.yaml"), "-o", "yaml")
    (held,) = yaml.safe_load(done.stdout)["held"]
    assert (held["object"]["kind"], held["reason"], held["field"]) == ("HostedCluster", "NotFound", "")


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "x.yaml", "-o", "kustomize"],
        ["plan", "x.yaml", "--without", "Pod"],
        ["plan", "x.yaml", "--guest-observed", "y.yaml"],
    ],
)
def test_wrong_use(hcpnet: Hcpnet, words: list[str]) -> None:
    assert hcpnet(*words).returncode == 2


# --- on an API server


def what_is_there_before() -> list[Object]:
    """What the rendered objects are parts of: somebody else has made it."""
    pool = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "blue-workers", "namespace": "clusters"},
        "spec": {
            "clusterName": "blue",
            "replicas": 2,
            "management": {"upgradeType": "Replace"},
            "release": {"image": "quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64"},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {"type": "Persistent"}}},
        },
    }
    containers = [{"name": "operator", "image": "example.com/a:1"}, {"name": "helper", "image": "example.com/b:1"}]
    operator = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "operator", "namespace": "hypershift"},
        "spec": {
            "selector": {"matchLabels": {"name": "operator"}},
            "template": {"metadata": {"labels": {"name": "operator"}}, "spec": {"containers": containers}},
        },
    }
    machines = [
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
        }
        for name, namespace in (("w0", "vms"), ("w1", "vms"), ("w0", "lab"))
    ]
    return [full_hosted_cluster("clusters"), pool, operator, *machines]


def apply_as_somebody_else(api: ApiServer, objects: list[Object]) -> None:
    words = ["apply", "--server-side", "--field-manager", "somebody-else", "--force-conflicts", "-f", "-"]
    done = api.kubectl(*words, stdin=yaml.safe_dump_all(objects))
    assert done.returncode == 0, done.stderr


def apply_all(api: ApiServer, objects: list[Object], *arguments: str) -> dict[tuple[str, str, str], Object]:
    """An image that somebody else has chosen is taken from him by force, and nothing else is."""
    forced = [o for o in objects if key_of(o) == ("Deployment", "hypershift", "operator")]
    live = applied(api, [o for o in objects if o not in forced], *arguments)
    return live | (applied(api, forced, "--force-conflicts", *arguments) if forced else {})


@pytest.fixture(scope="module")
def api_before(api: ApiServer) -> ApiServer:
    for namespace in ("clusters", "hypershift"):
        api.kubectl("create", "namespace", namespace)
    return api


@pytest.mark.parametrize("name", FILES)
def test_every_object_is_applied_and_a_second_apply_changes_nothing(
    hcpnet: Hcpnet, api_before: ApiServer, tmp_path: Path, name: str
) -> None:
    api = api_before
    objects = render(hcpnet, name)
    namespaces = [o for o in objects if o["kind"] == "Namespace"]
    applied(api, namespaces, "--dry-run=server")
    live = applied(api, namespaces)
    for found in live.values():
        assert found["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"] == ""
    theirs = [o for o in what_is_there_before() if key_of(o) in {key_of(r) for r in objects}]
    if theirs:
        apply_as_somebody_else(api, theirs)
    if name == "machines":  # an owner has to be the one that is there, or its claim is collected as garbage
        (tmp_path / "machines.json").write_text(api.kubectl("get", "virtualmachines", "-A", "-o", "json").stdout)
        objects = render(hcpnet, name, tmp_path / "machines.json")
    apply_all(api, objects, "--dry-run=server")
    first = apply_all(api, objects)
    assert set(first) == {key_of(o) for o in objects}
    second = apply_all(api, objects)
    for key, found in first.items():
        assert second[key]["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"], key
    ours = [o for o in objects if key_of(o) not in {key_of(t) for t in theirs}]
    for asked in ours:
        for part in ("spec", "data", "rules"):
            added = set(additions(asked.get(part, {}), first[key_of(asked)].get(part, {})))
            added -= {f"/{field}" for field in ALLOCATED.get(asked["kind"], set())}
            added = {a for a in added if not a.endswith("/nodePort")}
            assert not added, (key_of(asked), added)


def test_parts_of_other_objects_leave_the_rest(hcpnet: Hcpnet, api_before: ApiServer) -> None:
    api = api_before
    objects = render(hcpnet, "hosted")
    applied(api, [o for o in objects if o["kind"] == "Namespace"])
    apply_as_somebody_else(
        api, [o for o in what_is_there_before() if o["metadata"]["namespace"] in ("clusters", "hypershift")]
    )
    live = apply_all(api, objects)
    containers = live[("Deployment", "hypershift", "operator")]["spec"]["template"]["spec"]["containers"]
    assert {c["name"]: c["image"] for c in containers} == {
        "operator": "registry.example.com/hypershift:1",
        "helper": "example.com/b:1",
    }
    kubevirt = live[("NodePool", "clusters", "blue-workers")]["spec"]["platform"]["kubevirt"]
    assert kubevirt["attachDefaultNetwork"] is True
    assert kubevirt["rootVolume"]["type"] == "Persistent"
    assert live[("HostedCluster", "clusters", "blue")]["spec"]["services"]


def etcd_pod(name: str, labels: dict[str, str]) -> Object:
    env = [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "ETCD_LISTEN_CLIENT_URLS", "value": "https://$(POD_IP):2379,https://localhost:2379"},
        {"name": "ETCD_LISTEN_PEER_URLS", "value": "https://$(POD_IP):2380"},
        {"name": "ETCD_LISTEN_METRICS_URLS", "value": "https://0.0.0.0:2382"},
    ]
    containers = [{"name": "etcd", "image": "etcd", "env": env}, {"name": "etcd-metrics", "image": "etcd"}]
    metadata = {"name": name, "namespace": "clusters-blue", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def environment(api: ApiServer, pod: Object) -> dict[str, str]:
    """What the API server would make of the pod's first container."""
    words = ["create", "--dry-run=server", "-o", "json", "-f", "-"]
    done = api.kubectl(*words, stdin=json.dumps(pod))
    assert done.returncode == 0, done.stderr
    created = json.loads(done.stdout)
    assert [c["name"] for c in created["spec"]["containers"]] == ["etcd", "etcd-metrics"]
    return {e["name"]: e.get("value", "") for e in created["spec"]["containers"][0]["env"]}


def test_etcd_listens_on_every_address(hcpnet: Hcpnet, api_before: ApiServer) -> None:
    api = api_before
    objects = render(hcpnet, "hosted")
    applied(api, [o for o in objects if o["kind"] == "Namespace"])
    plane = {"hypershift.openshift.io/hosted-control-plane": "true"}
    words = [f"{k}={v}" for k, v in plane.items()]
    assert api.kubectl("label", "--overwrite", "namespace", "clusters-blue", *words).returncode == 0
    applied(api, [o for o in objects if o["kind"].startswith("MutatingAdmissionPolicy")])
    etcd = etcd_pod("etcd-0", {"app": "etcd"})
    # An API server takes a moment to see a new policy or binding.
    wait_until(lambda: environment(api, etcd)["ETCD_LISTEN_CLIENT_URLS"] == "https://[::]:2379")
    changed = environment(api, etcd)
    assert changed == {
        "POD_IP": "",
        "ETCD_LISTEN_CLIENT_URLS": "https://[::]:2379",
        "ETCD_LISTEN_PEER_URLS": "https://[::]:2380",
        "ETCD_LISTEN_METRICS_URLS": "https://0.0.0.0:2382",
    }
    other = environment(api, etcd_pod("other", {"app": "other"}))
    assert other["ETCD_LISTEN_PEER_URLS"] == "https://$(POD_IP):2380"


def passthrough_service(namespace: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "default-ingress-passthrough-service-x", "namespace": namespace},
        "spec": {"ports": [{"name": "https-443", "port": 443, "targetPort": 31443}]},
    }


def test_slices_are_applied_and_planned_once(hcpnet: Hcpnet, api: ApiServer, tmp_path: Path) -> None:
    namespace = "clusters-hcp1"
    api.kubectl("create", "namespace", namespace)
    ports = [{"name": "peer", "port": 2380}, {"name": "client", "port": 2379}]
    discovery = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "etcd-discovery", "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"app": "etcd"},
            "ports": ports,
        },
    }
    apply_as_somebody_else(api, [discovery, passthrough_service(namespace)])
    services = json.loads(api.kubectl("-n", namespace, "get", "services", "-o", "json").stdout)["items"]
    etcd = launcher("etcd", "10.150.0.11", f"{namespace}/hcp-hcp1", namespace)
    etcd["metadata"] |= {"name": "etcd-0", "labels": {"app": "etcd"}, "uid": "11111111-1111-1111-1111-111111111111"}
    etcd["spec"] |= {"hostname": "etcd-0", "subdomain": "etcd-discovery"}
    machine = launcher("w0", "10.150.0.20", f"{namespace}/hcp-hcp1", namespace)
    machine["metadata"]["uid"] = "22222222-2222-2222-2222-222222222222"
    slices = planned_slices(hcpnet, tmp_path, [*services, etcd, machine])
    assert len(slices) == 2
    applied(api, slices, "--dry-run=server")
    first = applied(api, slices)
    second = applied(api, slices)
    for key, found in first.items():
        assert second[key]["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"], key
    for asked in slices:
        for part in ("endpoints", "ports"):
            added = set(additions(asked[part], first[key_of(asked)][part]))
            assert not added, added
    assert planned_slices(hcpnet, tmp_path, [*services, etcd, machine, *first.values()]) == []


def test_the_role_is_enough_where_owners_are_guarded(hcpnet: Hcpnet, tmp_path: Path) -> None:
    """As on OpenShift: who has a Service kept until its slice is gone has to be allowed to."""
    namespace = "clusters-hcp1"
    (tmp_path / "kube").mkdir()
    api = ApiServer(tmp_path / "kube", "OwnerReferencesPermissionEnforcement")
    try:
        api.kubectl("create", "namespace", namespace)
        apply_as_somebody_else(api, [passthrough_service(namespace)])
        services = json.loads(api.kubectl("-n", namespace, "get", "services", "-o", "json").stdout)["items"]
        machine = launcher("w0", "10.150.0.20", f"{namespace}/hcp-hcp1", namespace)
        machine["metadata"]["uid"] = "22222222-2222-2222-2222-222222222222"
        (planned,) = planned_slices(hcpnet, tmp_path, [*services, machine])
        assert planned["metadata"]["ownerReferences"][0]["blockOwnerDeletion"]
        objects = json.loads(hcpnet("render", str(tmp_path / "udn.yaml"), "-o", "json").stdout)["items"]
        (role,) = [o for o in objects if o["kind"] == "Role"]
        account = f"{namespace}:writer"
        words = ["create", "rolebinding", "writer", f"--role={role['metadata']['name']}", f"--serviceaccount={account}"]
        assert api.kubectl("-n", namespace, *words).returncode == 0

        def write() -> subprocess.CompletedProcess[str]:
            return api.apply(yaml.safe_dump(planned), "--as", f"system:serviceaccount:{account}")

        less = [rule for rule in role["rules"] if rule["resources"] != ["services/finalizers"]]
        applied(api, [{**role, "rules": less}])
        # An API server takes a moment to see a new role.
        wait_until(lambda: "you can't set finalizers on" in write().stderr, lambda: write().stderr)
        applied(api, [role])
        wait_until(lambda: write().returncode == 0, lambda: write().stderr)
    finally:
        api.stop()


# --- both sides of what is refused

UDN: Object = {
    "topology": "Layer2",
    "layer2": {
        "role": "Primary",
        "mtu": 1400,
        "subnets": ["10.150.0.0/16", "2001:db8:150::/64"],
        "reservedSubnets": ["10.150.255.0/24"],
        "infrastructureSubnets": ["10.150.254.0/28", "2001:db8:150::f0/124"],
        "defaultGatewayIPs": ["10.150.254.1", "2001:db8:150::f1"],
        "joinSubnets": ["100.70.0.0/16", "fd70::/64"],
        "ipam": {"mode": "Enabled", "lifecycle": "Persistent"},
    },
}
LAYER3: Object = {
    "topology": "Layer3",
    "layer3": {
        "role": "Primary",
        "subnets": [
            {"cidr": "10.150.0.0/16", "hostSubnet": 24},
            {"cidr": "10.152.0.0/16", "hostSubnet": 24},
            {"cidr": "2001:db8:150::/48", "hostSubnet": 64},
        ],
    },
}
#: What all three refuse: hcpnet, our CRD and OVN-Kubernetes' own.
ALL_REFUSE: dict[str, tuple[Object, dict[str, Any]]] = {
    "another topology": (UDN, {"/topology": "Localnet"}),
    "no layer": (UDN, {"/layer2": None}),
    "both layers": (UDN, {"/layer3": LAYER3["layer3"]}),
    "small MTU": (UDN, {"/layer2/mtu": 575}),
    "small MTU for IPv6": (UDN, {"/layer2/mtu": 1279}),
    "no subnets": (UDN, {"/layer2/subnets": None}),
    "two IPv4 subnets": (UDN, {"/layer2/subnets": ["10.150.0.0/16", "10.151.0.0/16"]}),
    "three subnets": (UDN, {"/layer2/subnets": ["10.150.0.0/16", "2001:db8:150::/64", "10.151.0.0/16"]}),
    "no network": (UDN, {"/layer2/subnets": ["10.150.0.0", "2001:db8:150::/64"]}),
    "reserved elsewhere": (UDN, {"/layer2/reservedSubnets": ["10.151.0.0/24"]}),
    "reserved with host bits": (UDN, {"/layer2/reservedSubnets": ["10.150.255.1/24"]}),
    "reserved in infrastructure": (UDN, {"/layer2/reservedSubnets": ["10.150.254.0/29"]}),
    "infrastructure elsewhere": (UDN, {"/layer2/infrastructureSubnets": ["10.151.0.0/28", "2001:db8:150::f0/124"]}),
    "one gateway": (UDN, {"/layer2/defaultGatewayIPs": ["10.150.254.1"]}),
    "gateway elsewhere": (UDN, {"/layer2/defaultGatewayIPs": ["10.151.0.1", "2001:db8:150::f1"]}),
    "gateway outside infrastructure": (UDN, {"/layer2/defaultGatewayIPs": ["10.150.0.1", "2001:db8:150::f1"]}),
    "gateway that is none": (UDN, {"/layer2/defaultGatewayIPs": ["10.150.254", "2001:db8:150::f1"]}),
    "two IPv4 join subnets": (UDN, {"/layer2/joinSubnets": ["100.70.0.0/16", "100.71.0.0/16"]}),
    "no IPAM": (UDN, {"/layer2/ipam/mode": "Disabled"}),
    "empty IPAM": (UDN, {"/layer2/ipam": {}}),
    "another lifecycle": (UDN, {"/layer2/ipam/lifecycle": "Short"}),
    "host subnet too short": (LAYER3, {"/layer3/subnets/2/hostSubnet": 48}),
    "host subnet of one address": (LAYER3, {"/layer3/subnets": [{"cidr": "10.150.0.0/16", "hostSubnet": 32}]}),
    "no Layer3 subnets": (LAYER3, {"/layer3/subnets": []}),
    "Layer3 subnets that overlap": (LAYER3, {"/layer3/subnets/1/cidr": "10.150.128.0/17"}),
    "a Layer3 subnet twice": (LAYER3, {"/layer3/subnets/1/cidr": "10.150.0.0/16"}),
    "two host subnets of a family": (LAYER3, {"/layer3/subnets/1/hostSubnet": 25}),
    "small MTU for IPv6 in Layer3": (LAYER3, {"/layer3/mtu": 1279}),
    "two IPv4 join subnets in Layer3": (LAYER3, {"/layer3/joinSubnets": ["100.70.0.0/16", "100.71.0.0/16"]}),
}
#: What hcpnet alone refuses: neither schema knows what else there is.
WE_REFUSE: dict[str, tuple[Object, dict[str, Any]]] = {
    "the pod network": (
        UDN,
        {
            "/layer2/subnets/0": "10.128.0.0/16",
            **{f"/layer2/{k}": None for k in ("reservedSubnets", "infrastructureSubnets", "defaultGatewayIPs")},
        },
    ),
    "its own join subnet": (UDN, {"/layer2/joinSubnets": ["10.150.4.0/24", "fd70::/64"]}),
    "the join subnet of the cluster": (UDN, {"/layer2/joinSubnets": ["100.64.0.0/16", "fd70::/64"]}),
}


def with_changes(network: Object, changes: dict[str, Any]) -> Object:
    network = copy.deepcopy(network)
    for pointer, value in changes.items():
        *steps, last = pointer[1:].split("/")
        at: Any = network
        for step in steps:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if isinstance(at, list):
            at[int(last)] = value
        elif value is None:
            del at[last]
        else:
            at[last] = value
    return network


def refusals(hcpnet: Hcpnet, api: ApiServer, network: Object) -> tuple[bool, bool, bool]:
    """Who refuses a network: hcpnet, our CRD, OVN-Kubernetes' CRD."""
    metadata = {"name": "case", "namespace": "hcp"}
    ours = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "PrimaryUDN",
        "metadata": metadata,
        "spec": {"network": network},
    }
    theirs = {"apiVersion": "k8s.ovn.org/v1", "kind": "UserDefinedNetwork", "metadata": metadata, "spec": network}
    checked = hcpnet("check", "-", stdin=json.dumps(ours))
    assert checked.returncode in (0, 1)
    return (
        checked.returncode == 1,
        api.apply(yaml.safe_dump(ours), "--dry-run=server").returncode != 0,
        api.apply(yaml.safe_dump(theirs), "--dry-run=server").returncode != 0,
    )


@pytest.mark.parametrize("network", [UDN, LAYER3])
def test_nobody_refuses_what_is_good(hcpnet: Hcpnet, api_with_kinds: ApiServer, network: Object) -> None:
    assert refusals(hcpnet, api_with_kinds, network) == (False, False, False)


@pytest.mark.parametrize("name", ALL_REFUSE)
def test_all_refuse(hcpnet: Hcpnet, api_with_kinds: ApiServer, name: str) -> None:
    assert refusals(hcpnet, api_with_kinds, with_changes(*ALL_REFUSE[name])) == (True, True, True)


@pytest.mark.parametrize("name", WE_REFUSE)
def test_only_we_refuse(hcpnet: Hcpnet, api_with_kinds: ApiServer, name: str) -> None:
    assert refusals(hcpnet, api_with_kinds, with_changes(*WE_REFUSE[name])) == (True, False, False)


def test_secondary_networks_have_another_kind(hcpnet: Hcpnet, api_with_kinds: ApiServer) -> None:
    layer2 = {"role": "Secondary", "subnets": ["10.150.0.0/16"]}
    assert refusals(hcpnet, api_with_kinds, {"topology": "Layer2", "layer2": layer2}) == (True, True, False)


SERVICES: Object = {
    "network": UDN,
    "virtualMachines": [{"name": "w0"}],
    "services": [{"name": "web", "type": "NodePort", "ports": [{"name": "https", "port": 443, "nodePort": 30443}]}],
}
#: Whether hcpnet and our CRD refuse Services of virtual machines.
BAD_SERVICES: dict[str, tuple[dict[str, Any], tuple[bool, bool]]] = {
    "what is good": ({}, (False, False)),
    "nobody behind them": ({"/virtualMachines": None}, (True, True)),
    "of a hosted cluster": ({"/hostedClusterRef": {"name": "blue"}}, (True, True)),
    "a name that begins with a digit": ({"/services/0/name": "0-web"}, (True, True)),
    "no ports": ({"/services/0/ports": []}, (True, True)),
    "a node port of ClusterIP": ({"/services/0/type": "ClusterIP"}, (True, True)),
    "a headless one": ({"/services/0/type": "None"}, (True, True)),
    "an unknown machine": ({"/services/0/machines": ["w1"]}, (True, False)),
}


@pytest.mark.parametrize("name", BAD_SERVICES)
def test_services_that_are_refused(hcpnet: Hcpnet, api_with_kinds: ApiServer, name: str) -> None:
    changes, expected = BAD_SERVICES[name]
    ours = {
        "apiVersion": "hcpnet.io/v1alpha1",
        "kind": "PrimaryUDN",
        "metadata": {"name": "case", "namespace": "hcp"},
        "spec": with_changes(SERVICES, changes),
    }
    checked = hcpnet("check", "-", stdin=json.dumps(ours))
    applied_dry = api_with_kinds.apply(yaml.safe_dump(ours), "--dry-run=server")
    assert (checked.returncode == 1, applied_dry.returncode != 0) == expected, checked.stderr + applied_dry.stderr


def test_a_network_in_use_cannot_be_changed(api_with_kinds: ApiServer) -> None:
    api = api_with_kinds

    def udn(**changes: object) -> Object:
        network = with_changes(UDN, {"/layer2/mtu": 1400})
        spec: Object = {"network": network, "scope": "Namespaced"}
        spec.update(changes)
        return {
            "apiVersion": "hcpnet.io/v1alpha1",
            "kind": "PrimaryUDN",
            "metadata": {"name": "kept", "namespace": "hcp"},
            "spec": spec,
        }

    applied(api, [udn()])
    applied(api, [udn(networkName="kept")])  # what leaves the network as it is
    for changes in (
        {"network": with_changes(UDN, {"/layer2/mtu": 1300})},
        {"network": LAYER3},
        {"scope": "Cluster"},
    ):
        assert api.apply(yaml.safe_dump(udn(**changes)), "--dry-run=server").returncode != 0, changes
    assert api.kubectl("-n", "hcp", "delete", "primaryudn", "kept").returncode == 0
    no_overlay = {"transport": "NoOverlay", "noOverlay": {"outboundSNAT": "Enabled", "routing": "Managed"}}
    shared: Object = {"scope": "Cluster", "network": LAYER3, "uplinks": ["br-ex"]}
    applied(api, [udn(**shared)])
    refused: tuple[Object, ...] = ({"uplinks": ["br-two"]}, {"network": {**LAYER3, **no_overlay}})
    for more in refused:
        assert api.apply(yaml.safe_dump(udn(**{**shared, **more})), "--dry-run=server").returncode != 0, more
    assert api.kubectl("-n", "hcp", "delete", "primaryudn", "kept").returncode == 0
