# SPDX-License-Identifier: Apache-2.0
"""Rendered objects on a real API server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_objects import ALLOCATED, Object, additions, applied, key_of
from api_server import ApiServer
from hcpnet_command import Hcpnet
from test_render import FORMS, VLAN, by_name, render

POOL = "{enabled: true, metallb: {addressPoolName: apps, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}"
APPS_POLICY = """---
apiVersion: hcpnet.io/v1alpha1
kind: AppsPolicy
metadata: {name: blue, namespace: hcp}
spec:
  targetRef: {kind: InfraClusterAttachment, name: blue}
  staticVIP: 192.0.2.200
"""


@pytest.mark.parametrize("form", FORMS)
def test_every_object_is_applied_and_a_second_apply_changes_nothing(hcpnet: Hcpnet, api: ApiServer, form: str) -> None:
    objects = render(hcpnet, "--deployment", form, "--link", "bridge:br-vlan7,vlan=7")
    applied(api, objects, "--dry-run=server")
    first = applied(api, objects)
    assert set(first) == {key_of(o) for o in objects}
    second, third = applied(api, objects), applied(api, objects)
    for key in first:
        # The server stores a new claim once more at its second apply, though nothing that it shows has changed.
        before, after = (second, third) if key[0] == "PersistentVolumeClaim" else (first, second)
        assert after[key]["metadata"]["resourceVersion"] == before[key]["metadata"]["resourceVersion"], key


@pytest.mark.parametrize("form", FORMS)
def test_the_server_defaults_nothing(hcpnet: Hcpnet, api: ApiServer, form: str) -> None:
    objects = render(hcpnet, "--deployment", form, "--link", "bridge:br-vlan7,vlan=7")
    live = applied(api, objects)
    for asked in objects:
        kind = asked["kind"]
        got = live[key_of(asked)]
        for part in ("spec", "data", "rules", "subjects", "roleRef"):
            added = set(additions(asked.get(part, {}), got.get(part, {})))
            added -= {f"/{name}" for name in ALLOCATED.get(kind, set())}
            added = {a for a in added if not a.endswith("/nodePort") and a != "/healthCheckNodePort"}
            assert not added, (kind, asked["metadata"]["name"], part, added)


def with_static_vip() -> str:
    text = VLAN.read_text()
    assert POOL in text
    return text.replace(POOL, "{enabled: false}") + APPS_POLICY


@pytest.mark.parametrize("static", [False, True], ids=["pool", "static"])
def test_objects_inside_of_a_hosted_cluster(hcpnet: Hcpnet, api: ApiServer, tmp_path: Path, static: bool) -> None:
    (tmp_path / "set.yaml").write_text(with_static_vip() if static else VLAN.read_text())
    done = hcpnet("render", str(tmp_path / "set.yaml"), "--guest", "hcp/blue", "-o", "json")
    assert done.returncode == 0, done.stderr
    objects: list[Object] = json.loads(done.stdout)["items"]
    for namespace in ("metallb-system", "openshift-ingress"):
        api.kubectl("create", "namespace", namespace)
    applied(api, objects, "--dry-run=server")
    first, second = applied(api, objects), applied(api, objects)
    for key, found in first.items():
        if found.get("type") == "kubernetes.io/service-account-token":
            continue  # a controller writes the token into it
        assert second[key]["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"], key
    for asked in objects:
        for part in ("spec", "rules", "subjects", "roleRef"):
            added = set(additions(asked.get(part, {}), first[key_of(asked)].get(part, {})))
            added -= {f"/{name}" for name in ALLOCATED.get(asked["kind"], set())}
            assert not {a for a in added if not a.endswith("/nodePort")}, (key_of(asked), added)
    words = ["auth", "can-i", "--as", "system:serviceaccount:openshift-ingress:hcpnet-apps-reader"]
    for allowed, asked_for in (
        (True, ["get", "services/oooi-ingress", "-n", "openshift-ingress"]),
        (False, ["get", "services/router-internal-default", "-n", "openshift-ingress"]),
        (False, ["update", "services/oooi-ingress", "-n", "openshift-ingress"]),
        (False, ["get", "secrets", "-n", "openshift-ingress"]),
        (False, ["list", "nodes"]),
    ):
        assert (api.kubectl(*words, *asked_for).returncode == 0) is allowed, asked_for


def test_objects_of_an_owner_go_with_it(hcpnet: Hcpnet, api: ApiServer, tmp_path: Path) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "namespace": "hcp"}}
    uid = applied(api, [owner])[("ConfigMap", "hcp", "owner")]["metadata"]["uid"]
    owned = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "owned",
            "namespace": "hcp",
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}],
        },
    }
    applied(api, [owned])
    assert api.kubectl("-n", "hcp", "delete", "configmap", "owner").returncode == 0
    done = api.kubectl("-n", "hcp", "wait", "--for=delete", "configmap/owned", "--timeout=120s")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("kind", "name", "pointer", "value"),
    [
        ("Service", "vlan7-dns", ("spec", "ports", 0, "port"), 70000),
        ("Service", "vlan7-dns", ("metadata", "name"), "8472.dns"),
        ("Deployment", "vlan7-network", ("spec", "strategies"), {}),
        ("Deployment", "vlan7-network", ("spec", "template", "spec", "containers", 0, "image"), ""),
        ("NetworkPolicy", "vlan7-network", ("spec", "ingress", 0, "ports", 0, "protocol"), "ICMP"),
        ("ServiceMonitor", "vlan7-metrics", ("spec", "endpoints", 0, "scheme"), "gopher"),
    ],
)
def test_the_server_refuses_what_is_broken(  # so a pass above means something
    hcpnet: Hcpnet, api: ApiServer, kind: str, name: str, pointer: tuple[str | int, ...], value: object
) -> None:
    found = by_name(render(hcpnet))[(kind, name)]
    at: Any = found
    for step in pointer[:-1]:
        at = at[step]
    at[pointer[-1]] = value
    done = api.apply(yaml.safe_dump(found), "--dry-run=server")
    assert done.returncode != 0


def test_the_server_takes_our_kinds(api_with_kinds: ApiServer) -> None:
    for text in (VLAN.read_text(), with_static_vip()):
        done = api_with_kinds.apply(text)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cidr: 192.0.2.0/24", "cidr: 192.0.2.0"),
        ("gateway: 192.0.2.1", "gateway: 198.51.100.1"),
        ("gateway: 192.0.2.1", "gateway: 999.999.999.999"),
        ("networkAttachmentDefinition: vlan7", "attachment: {kind: Bridge, name: vlan7}"),
        ("    networkAttachmentDefinition: vlan7\n", ""),
        ("networkAttachmentDefinition: vlan7", "networkAttachmentDefinition: vlan7\n    topology: Localnet"),
        ("dhcp: {serverIP: 192.0.2.2, ", "dhcp: {"),
        ("dns: {serverIP: 192.0.2.3}", "dns: {serverIp: 192.0.2.3}"),
        ("clusterName: red", "clusterName: Red"),
        ("infraRef: {name: vlan7}", "infraRef: {}"),
        (", ipAddressPoolRange: 192.0.2.210-192.0.2.214", ""),
        ("maxConnections: 5000", "maxConnections: 0"),
        ("targetRef: {kind: Infra, name: vlan7}", "targetRef: {kind: Service, name: vlan7}"),
        ("targetRef: {kind: InfraClusterAttachment, name: blue}", "targetRef: {kind: Infra, name: vlan7}"),
        ("staticVIP: 192.0.2.200", "staticVIP: 192.0.2.999"),
        ("  staticVIP: 192.0.2.200\n", ""),
    ],
)
def test_both_refuse(hcpnet: Hcpnet, api_with_kinds: ApiServer, tmp_path: Path, old: str, new: str) -> None:
    text = with_static_vip()
    assert old in text
    changed = tmp_path / "changed.yaml"
    changed.write_text(text.replace(old, new))
    assert hcpnet("render", str(changed)).returncode == 1
    assert api_with_kinds.apply(changed.read_text(), "--dry-run=server").returncode != 0


# --- hcpnet names: docs/names.md, "What only one of the two refuses"

HOSTED_CLUSTER: Object = {
    "apiVersion": "hypershift.openshift.io/v1beta1",
    "kind": "HostedCluster",
    "metadata": {"name": "blue", "namespace": "hcp"},
    "spec": {
        "dns": {"baseDomain": "hc.example.com"},
        "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
        "networking": {
            "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
            "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            "networkType": "OVNKubernetes",
        },
        "platform": {"type": "KubeVirt", "kubevirt": {}},
        "pullSecret": {"name": "pull-secret"},
        "release": {"image": "quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64"},
    },
}


def merged(hcpnet: Hcpnet, patch: Object, name: str) -> Object:
    """A HostedCluster of this name, by `hcpnet patch`."""
    template, patch_file = hcpnet.folder / "template.json", hcpnet.folder / "patch.json"
    template.write_text(json.dumps({**HOSTED_CLUSTER, "metadata": {"name": name, "namespace": "hcp"}}))
    patch_file.write_text(json.dumps(patch))
    done = hcpnet("patch", "--template", str(template), "--mergepatch", str(patch_file), "-o", "json")
    assert done.returncode == 0, done.stderr
    whole: Object = json.loads(done.stdout)
    return whole


@pytest.mark.parametrize("policy", ["maxConnections: 5000", "publishAPIOn443: true"])
def test_the_server_takes_the_services_that_are_made(hcpnet: Hcpnet, api: ApiServer, policy: str) -> None:
    vlan = hcpnet.folder / "vlan.yaml"
    vlan.write_text(VLAN.read_text().replace("maxConnections: 5000", policy))
    made = hcpnet("names", "--services", str(vlan), "-o", "json")
    assert made.returncode == 0, made.stderr
    patches: list[Object] = json.loads(made.stdout)["hostedClusters"]
    assert [p["metadata"]["name"] for p in patches] == ["blue", "red"]
    wholes = [merged(hcpnet, patch, patch["metadata"]["name"]) for patch in patches]
    applied(api, wholes, "--dry-run=server")
    first = applied(api, wholes)
    second = applied(api, wholes)
    for key, value in first.items():
        assert second[key]["metadata"]["resourceVersion"] == value["metadata"]["resourceVersion"], key
        assert (
            value["spec"]["services"] == next(p for p in patches if p["metadata"]["name"] == key[2])["spec"]["services"]
        )
    shown = hcpnet.folder / "shown.yaml"
    shown.write_text(api.kubectl("-n", "hcp", "get", "hostedclusters", "-o", "yaml").stdout)
    named = hcpnet("names", str(vlan), str(shown), "-o", "json")
    assert named.returncode == 0, named.stderr
    (blue, _) = json.loads(named.stdout)["clusters"]
    assert blue["names"][0]["port"] == (443 if "443" in policy else 6443)
    changed = [{**w, "spec": {**w["spec"], "services": w["spec"]["services"][::-1]}} for w in wholes]
    done = api.apply(yaml.safe_dump_all(changed), "--dry-run=server")
    assert done.returncode != 0
    assert "immutable" in done.stderr
    for whole in wholes:
        assert api.kubectl("-n", "hcp", "delete", "hostedcluster", whole["metadata"]["name"]).returncode == 0


def service(name: str, kind: str, **parts: object) -> Object:
    return {"service": name, "servicePublishingStrategy": {"type": kind, **parts}}


GOOD = [
    service("APIServer", "LoadBalancer", loadBalancer={"hostname": "api.blue.example.com"}),
    service("OAuthServer", "Route", route={"hostname": "oauth.blue.example.com"}),
    service("Konnectivity", "NodePort", nodePort={"address": "192.0.2.9", "port": 30001}),
    service("Ignition", "NodePort", nodePort={"address": "nodes.example.com", "port": 30002}),
]


def with_service(index: int, changed: Object) -> Object:
    return {"services": [changed if i == index else s for i, s in enumerate(GOOD)]}


BOTH_REFUSE: dict[str, Object] = {
    "three services": {"services": GOOD[:3]},
    "seven services": {"services": GOOD + GOOD[:3]},
    "unknown service": with_service(1, service("OAuth", "Route")),
    "unknown strategy": with_service(1, service("OAuthServer", "Ingress")),
    "route of another strategy": with_service(
        0, service("APIServer", "LoadBalancer", route={"hostname": "a.example.com"})
    ),
    "node port of another strategy": with_service(
        1, service("OAuthServer", "Route", nodePort={"address": "192.0.2.9"})
    ),
    "load balancer of another strategy": with_service(1, service("OAuthServer", "Route", loadBalancer={})),
    "node port without its part": with_service(3, service("Ignition", "NodePort")),
    "node port without address": with_service(3, service("Ignition", "NodePort", nodePort={"port": 30002})),
    "one label": with_service(1, service("OAuthServer", "Route", route={"hostname": "oauth"})),
    "digits in the last label": with_service(1, service("OAuthServer", "Route", route={"hostname": "oauth.lan1"})),
    "wildcard": with_service(1, service("OAuthServer", "Route", route={"hostname": "*.example.com"})),
    "address as a host name": with_service(1, service("OAuthServer", "Route", route={"hostname": "192.0.2.9"})),
    "address that is none": with_service(2, service("Konnectivity", "NodePort", nodePort={"address": "a_b"})),
    "unknown field": with_service(1, service("OAuthServer", "Route", route={"host": "oauth.blue.example.com"})),
    "base domain that is none": {"dns": {"baseDomain": "hc_example.com"}},
    "named certificate of the load balancer": {
        "configuration": {"apiServer": {"servingCerts": {"namedCertificates": [{"names": ["api.blue.example.com"]}]}}}
    },
    "unknown platform": {"platform": {"type": "Xen", "kubevirt": None}},
}
WE_REFUSE: dict[str, Object] = {
    "a service twice": with_service(3, GOOD[0]),
    "a needed service missing": with_service(3, service("OIDC", "None")),
    "None": with_service(3, service("Ignition", "None")),
    "OAuth by LoadBalancer": with_service(1, service("OAuthServer", "LoadBalancer")),
    "Ignition by LoadBalancer": with_service(3, service("Ignition", "LoadBalancer")),
    "API by Route without hostname": with_service(0, service("APIServer", "Route")),
    "one route name twice": {
        "services": [
            *GOOD[:3],
            service("Ignition", "Route", route={"hostname": "oauth.blue.example.com"}),
        ]
    },
    "one node port twice": with_service(
        3, service("Ignition", "NodePort", nodePort={"address": "192.0.2.9", "port": 30001})
    ),
    "localhost": with_service(3, service("Ignition", "NodePort", nodePort={"address": "localhost", "port": 30002})),
    "port": with_service(3, service("Ignition", "NodePort", nodePort={"address": "192.0.2.9", "port": 70000})),
    "long label": with_service(1, service("OAuthServer", "Route", route={"hostname": 64 * "a" + ".example.com"})),
    "hyphen at the end": with_service(1, service("OAuthServer", "Route", route={"hostname": "oauth-.example.com"})),
    "address of no host": with_service(
        3, service("Ignition", "NodePort", nodePort={"address": "0.0.0.0", "port": 30002})
    ),
}
SERVER_REFUSES: dict[str, Object] = {
    "no services": {"services": None},
    "no release": {"release": None},
    "no pull secret": {"pullSecret": None},
}


def refusals(hcpnet: Hcpnet, api: ApiServer, spec: Object, name: str = "case") -> tuple[bool, bool]:
    """Who refuses a HostedCluster: we, the server."""
    whole = merged(hcpnet, {"spec": {"services": GOOD, **spec}}, name)
    ours = hcpnet("names", "-o", "json", "--apps-domain", "apps.example.com", "-", stdin=json.dumps(whole))
    if ours.returncode == 1 and "[no-services]" in ours.stderr:
        ours = hcpnet("names", "--services", "-", stdin=json.dumps(whole))
    theirs = api.apply(yaml.safe_dump(whole), "--dry-run=server")
    return ours.returncode == 1, theirs.returncode != 0


def test_neither_refuses_what_is_good(hcpnet: Hcpnet, api: ApiServer) -> None:
    assert refusals(hcpnet, api, {}) == (False, False)


@pytest.mark.parametrize("case", BOTH_REFUSE)
def test_both_refuse_a_hosted_cluster(hcpnet: Hcpnet, api: ApiServer, case: str) -> None:
    assert refusals(hcpnet, api, BOTH_REFUSE[case]) == (True, True)


@pytest.mark.parametrize("case", WE_REFUSE)
def test_only_we_refuse_a_hosted_cluster(hcpnet: Hcpnet, api: ApiServer, case: str) -> None:
    assert refusals(hcpnet, api, WE_REFUSE[case]) == (True, False)


def test_only_we_refuse_a_namespace_that_is_too_long(hcpnet: Hcpnet, api: ApiServer) -> None:
    assert refusals(hcpnet, api, {}, name=60 * "b") == (True, False)


@pytest.mark.parametrize("case", SERVER_REFUSES)
def test_only_the_server_refuses_a_hosted_cluster(hcpnet: Hcpnet, api: ApiServer, case: str) -> None:
    assert refusals(hcpnet, api, SERVER_REFUSES[case]) == (False, True)


POLICY = """---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: files, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan7}, zoneFiles: [{path: corp.zone, zone: corp.example.org}]}
"""
SOA = "$TTL 9\n@ SOA ns h 1 2 3 4 5\n"


def padding(size: int) -> str:
    """Records that are written as so many bytes."""
    least = len('p0000.corp.example.org. 9 IN TXT ""\n')
    count = size // (least + 200) + 1
    share, more = divmod(size - count * least, count)
    return "".join(f'p{i:04} TXT "{"a" * (share + (i < more))}"\n' for i in range(count))


def test_a_config_map_may_be_as_large_as_the_server_allows(hcpnet: Hcpnet, api: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(VLAN.read_text() + POLICY)
    zone = tmp_path / "corp.zone"

    def made(size: int) -> tuple[str, dict[str, Any]]:
        zone.write_text(SOA + (padding(size) if size else ""))
        done = hcpnet("render", str(tmp_path / "set.yaml"))
        maps = [o for o in yaml.safe_load_all(done.stdout) if o["kind"] == "ConfigMap"]
        return done.stderr, maps[0] if maps else {}

    limit = 1024 * 1024
    _, small = made(0)
    room = limit - sum(len(text.encode()) for text in small["data"].values())
    _, largest = made(room)
    assert sum(len(text.encode()) for text in largest["data"].values()) == limit
    applied(api, [largest], "--dry-run=server")
    problems, nothing = made(room + 1)
    assert "[config-too-large]" in problems
    assert not nothing
    largest["data"]["observed.yaml"] += "\n"
    refused = api.apply(yaml.safe_dump_all([largest]), "--dry-run=server")
    assert refused.returncode != 0
    assert f"{limit} bytes" in refused.stderr, refused.stderr
