# SPDX-License-Identifier: Apache-2.0
"""hcpnet names, and the examples of docs/names.md."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from api_server import SHARED_CRDS
from hcpnet_command import ROOT, Hcpnet, examples_of

DATA = ROOT / "tests/cpp/data/manifest"
VLAN = DATA / "two-clusters.yaml"
HOSTED = ROOT / "examples/names/hosted-cluster.yaml"
DRAFT = ROOT / "examples/names/draft.yaml"
APPS = ["--apps-domain", "apps.mgmt.example.com"]
EXAMPLES = examples_of("names.md", "text")


def test_docs_have_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("line", "expected"), EXAMPLES)
def test_examples_of_the_docs(hcpnet: Hcpnet, line: str, expected: str) -> None:
    assert hcpnet.example(line) == expected


def test_json_says_what_text_says(hcpnet: Hcpnet) -> None:
    done = hcpnet("names", str(HOSTED), *APPS, "-o", "json")
    assert done.returncode == 0, done.stderr
    (cluster,) = json.loads(done.stdout)["clusters"]
    assert cluster["hostedCluster"] == "clusters/blue"
    hosts = {name["host"]: name for name in cluster["names"]}
    assert hosts["ignition-server-clusters-blue.apps.mgmt.example.com"] == {
        "service": "Ignition",
        "strategy": "Route",
        "host": "ignition-server-clusters-blue.apps.mgmt.example.com",
        "port": 443,
        "target": "ignition-server-proxy.clusters-blue.svc:443",
        "source": "router",
        "needsRecord": True,
    }
    assert {f["port"]: f["target"] for f in cluster["fallbacks"]} == {
        80: None,
        443: None,
        6443: "kube-apiserver.clusters-blue.svc:6443",
    }


def test_what_was_observed_replaces_the_option(hcpnet: Hcpnet) -> None:
    done = hcpnet("names", str(DATA / "names/hosted-clusters.yaml"), "--observed", str(DATA / "names/observed.yaml"))
    assert done.returncode == 0, done.stderr
    assert "by-address" in done.stderr
    assert "  198.51.100.21:6443 -> " in done.stdout
    assert "  [2001:db8::1]:31444 -> " in done.stdout


@pytest.mark.skipif(not SHARED_CRDS.is_dir(), reason="no CRD of HostedCluster beside this clone")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        (["services", "items", "service"], "service: Ignition"),
        (["services", "items", "servicePublishingStrategy", "type"], "type: LoadBalancer"),
        (["platform", "type"], "type: KubeVirt"),
    ],
)
def test_the_words_of_the_schema_are_known(hcpnet: Hcpnet, path: list[str], text: str) -> None:
    crd = yaml.safe_load((SHARED_CRDS / "hypershift.openshift.io_hostedclusters-Hypershift-Default.yaml").read_text())
    at = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for step in path:
        at = at["items"] if step == "items" else at["properties"][step]
    assert len(at["enum"]) > 3
    field = text.split(":")[0]
    for word in at["enum"]:
        done = hcpnet("names", "-", *APPS, stdin=HOSTED.read_text().replace(text, f"{field}: {word}", 1))
        assert f"{field} has no such value" not in done.stderr, word
    done = hcpnet("names", "-", *APPS, stdin=HOSTED.read_text().replace(text, f"{field}: Other", 1))
    assert f"{field} has no such value" in done.stderr


def test_a_name_that_is_not_known_is_an_error(hcpnet: Hcpnet) -> None:
    done = hcpnet("names", str(HOSTED))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("[host-unknown]") == 3
    assert "hosted-cluster.yaml:10:" in done.stderr, "with file and line"


def test_unknown_is_shown_as_a_question_mark(hcpnet: Hcpnet) -> None:
    text = HOSTED.read_text().replace(", loadBalancer: {hostname: api.blue.example.com}", "")
    done = hcpnet("names", "-", *APPS, stdin=text)
    assert done.returncode == 0, done.stderr
    assert "  ?:6443 -> kube-apiserver.clusters-blue.svc:6443 (APIServer by LoadBalancer, observed, no record)\n" in (
        done.stdout
    )


def hosted_cluster_of(made: dict[str, Any]) -> dict[str, Any]:
    spec = {**made["spec"], "platform": {"type": "KubeVirt"}, "dns": {"baseDomain": "hc.example.com"}}
    return {**made, "spec": spec}


def test_both_ways_agree(hcpnet: Hcpnet) -> None:
    """HCP-06: what is made for a VLAN is what the VLAN serves."""
    done = hcpnet("names", "--services", str(VLAN))
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    assert json.loads(hcpnet("names", "--services", str(VLAN), "-o", "json").stdout) == {"hostedClusters": made}
    hosted = hcpnet.folder / "hosted.yaml"
    hosted.write_text(yaml.safe_dump_all([hosted_cluster_of(one) for one in made]))
    done = hcpnet("names", str(VLAN), str(hosted))
    assert done.returncode == 0, done.stderr
    assert "  oidc.red.hc.example.com:443 -> kube-apiserver.hcp-red.svc:6443 (OIDC by Route, spec)\n" in done.stdout


def test_a_vlan_that_serves_other_names_is_an_error(hcpnet: Hcpnet) -> None:
    """Fault 10: the names of the VLAN are not those that HyperShift publishes."""
    other = HOSTED.read_text().replace("namespace: clusters", "namespace: hcp")
    done = hcpnet("names", str(VLAN), "-", *APPS, stdin=other)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ignition-server-hcp-blue.apps.mgmt.example.com (Ignition)" in done.stderr
    assert "[not-resolved]" in done.stderr


def test_services_are_a_merge_patch(hcpnet: Hcpnet) -> None:
    patch = hcpnet.folder / "services.yaml"
    patch.write_text(hcpnet("names", "--services", str(DRAFT)).stdout)
    done = hcpnet("patch", "--template", str(DRAFT), "--mergepatch", str(patch))
    assert done.returncode == 0, done.stderr
    patched = yaml.safe_load(done.stdout)
    assert patched["spec"]["dns"] == {"baseDomain": "example.com"}
    assert len(patched["spec"]["services"]) == 5
    done = hcpnet("names", "-", stdin=done.stdout)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("clusters/blue (control plane clusters-blue)\n  api.blue.example.com:6443 -> ")


def test_what_is_there_cannot_be_changed(hcpnet: Hcpnet) -> None:
    text = HOSTED.read_text().replace("namespace: clusters", "namespace: hcp")
    done = hcpnet("names", "--services", str(VLAN), "-", stdin=text)
    assert done.returncode == 0
    assert "[services-immutable]" in done.stderr


@pytest.mark.parametrize("command", [["check"], ["dns", "zone"], ["route", "x", "--port", "443"]])
def test_other_commands_do_not_take_the_kind(hcpnet: Hcpnet, command: list[str]) -> None:
    done = hcpnet(*command, str(HOSTED))
    assert done.returncode == 1
    assert "[unknown-kind]" in done.stderr + done.stdout


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--apps-domain", "a b", str(HOSTED)],
        ["--apps-domain", "*.example.com", str(HOSTED)],
        ["--services", *APPS, str(VLAN)],
        ["-o", "yaml", str(HOSTED)],
    ],
)
def test_wrong_use(hcpnet: Hcpnet, words: list[str]) -> None:
    done = hcpnet("names", *words)
    assert done.returncode == 2
    assert done.stdout == ""


def test_sets_without_anything_to_tell(hcpnet: Hcpnet) -> None:
    done = hcpnet("names", str(VLAN))
    assert done.returncode == 1
    assert "[no-hosted-cluster]" in done.stderr
    done = hcpnet("names", "--services", str(HOSTED))
    assert done.returncode == 1
    assert "[no-cluster]" in done.stderr
    done = hcpnet("names", str(DRAFT))
    assert done.returncode == 1
    assert "[no-services]" in done.stderr
