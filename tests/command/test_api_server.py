# SPDX-License-Identifier: Apache-2.0
"""Rendered objects on a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import ROOT, SHARED_CRDS, ApiServer
from hcpnet_command import Hcpnet
from test_render import FORMS, VLAN, Object, by_name, render

CRDS = [
    "k8s.cni.cncf.io_multi-networkpolicies.yaml",
    "k8s.cni.cncf.io_network-attachment-definitions.yaml",
    "monitoring.coreos.com_servicemonitors.yaml",
    "security.openshift.io_securitycontextconstraints.yaml",
]
# What the server gives out itself, or keeps beside what was asked for.
ALLOCATED = {
    "Service": {"clusterIP", "clusterIPs", "ipFamilies"},
    "PersistentVolumeClaim": {"storageClassName"},
}


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    if not SHARED_CRDS.is_dir():
        pytest.skip(f"no CRDs of {', '.join(CRDS)} beside this clone")
    server = ApiServer(tmp_path_factory.mktemp("kube"))
    try:
        server.load_crds(*(SHARED_CRDS / name for name in CRDS))
        for namespace in ("hcp", "hcp-blue", "hcp-red"):
            assert server.kubectl("create", "namespace", namespace).returncode == 0
        yield server
    finally:
        server.stop()


def key_of(found: Object) -> tuple[str, str, str]:
    return found["kind"], found["metadata"].get("namespace", ""), found["metadata"]["name"]


def applied(api: ApiServer, objects: list[Object], *arguments: str) -> dict[tuple[str, str, str], Object]:
    done = api.apply(yaml.safe_dump_all(objects), *arguments)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return {key_of(o): o for o in (answer["items"] if answer["kind"] == "List" else [answer])}


def additions(asked: object, live: object, path: str = "") -> Iterator[str]:
    """Paths of what `live` has and `asked` has not."""
    if isinstance(asked, dict) and isinstance(live, dict):
        for key, value in live.items():
            if key in asked:
                yield from additions(asked[key], value, f"{path}/{key}")
            else:
                yield f"{path}/{key}"
    elif isinstance(asked, list) and isinstance(live, list):
        for index, (one, other) in enumerate(zip(asked, live, strict=False)):
            yield from additions(one, other, f"{path}/{index}")


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


@pytest.fixture(scope="session")
def api_with_kinds(api: ApiServer) -> ApiServer:
    api.load_crds(*sorted((ROOT / "deploy/crds").glob("*.yaml")))
    return api


def test_the_server_takes_our_kinds(api_with_kinds: ApiServer) -> None:
    done = api_with_kinds.apply(VLAN.read_text())
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
    ],
)
def test_both_refuse(hcpnet: Hcpnet, api_with_kinds: ApiServer, tmp_path: Path, old: str, new: str) -> None:
    text = VLAN.read_text()
    assert old in text
    changed = tmp_path / "changed.yaml"
    changed.write_text(text.replace(old, new))
    assert hcpnet("render", str(changed)).returncode == 1
    assert api_with_kinds.apply(changed.read_text(), "--dry-run=server").returncode != 0
