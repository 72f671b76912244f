# SPDX-License-Identifier: Apache-2.0
"""Objects that are applied to a real API server, and what it makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml
from api_server import ApiServer

Object = dict[str, Any]

# What the server gives out itself, or keeps beside what was asked for.
ALLOCATED = {
    "Service": {"clusterIP", "clusterIPs", "ipFamilies"},
    "PersistentVolumeClaim": {"storageClassName"},
}
# How a HostedCluster publishes what it serves, where nothing else is asked for.
SERVICES_BY_DEFAULT: list[Object] = [
    {"service": name, "servicePublishingStrategy": {"type": kind}}
    for name, kind in (
        ("APIServer", "LoadBalancer"),
        ("OAuthServer", "Route"),
        ("Konnectivity", "Route"),
        ("Ignition", "Route"),
    )
]


def full_hosted_cluster(namespace: str) -> Object:
    """As an API server takes it."""
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": "blue", "namespace": namespace},
        "spec": {
            "platform": {"type": "KubeVirt", "kubevirt": {}},
            "pullSecret": {"name": "pull-secret"},
            "release": {"image": "quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64"},
            "services": SERVICES_BY_DEFAULT,
        },
    }


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
