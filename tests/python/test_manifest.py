# SPDX-License-Identifier: Apache-2.0
"""hcpnet.manifest."""

import pytest
from hcpnet import Severity, SpecError
from hcpnet.manifest import (
    PublishedName,
    cut_name,
    make_published_names,
    make_publishing_strategies,
    render,
)
from support import RECORD_FILES, SPEC, WITH_FILES, errors_of

TEXTS = {"set.yaml": SPEC.format(cluster="blue")}


@pytest.mark.parametrize("deployment", ["one", "split", "coredns-envoy"])
def test_renders_objects(deployment: str) -> None:
    objects = render(TEXTS, deployment=deployment, link="macvlan:eth1")
    kinds = [o["kind"] for o in objects]
    assert kinds[0] == "ServiceAccount"
    assert kinds.count("Deployment") == (1 if deployment == "one" else 3)
    assert kinds.count("NetworkAttachmentDefinition") == 1
    assert render(TEXTS, deployment=deployment, link="macvlan:eth1") == objects


def test_records_in_files_are_part_of_the_objects() -> None:
    maps = [o["data"] for o in render(WITH_FILES, record_files=RECORD_FILES) if o["kind"] == "ConfigMap"]
    zones = [text for data in maps for key, text in data.items() if key.endswith(".zone")]
    assert ["x.corp.example.org. 9 IN A 192.0.2.1" in text for text in zones] == [True]
    guess = {name: text.replace("Namespace: ns,", "Namespace: hcp-blue,") for name, text in WITH_FILES.items()}
    (made,) = make_publishing_strategies(guess, record_files=RECORD_FILES).hosted_clusters
    assert made["kind"] == "HostedCluster"
    with pytest.raises(SpecError) as error:
        render(WITH_FILES)
    assert [code for _, _, code in errors_of(error)] == ["unreadable-file"]


def test_what_no_api_server_takes_is_refused() -> None:
    lines = "".join(f'x{n} TXT "{"a" * 200}"\n' for n in range(6000))
    with pytest.raises(SpecError) as error:
        render(WITH_FILES, deployment="split", record_files={name: text + lines for name, text in RECORD_FILES.items()})
    ((code, path),) = [(d.code, d.path) for d in error.value.diagnostics if d.severity is Severity.error]
    assert (code, path) == ("config-too-large", "/spec/zoneFiles/0/path")


def test_leaves_kinds_out() -> None:
    kinds = {o["kind"] for o in render(TEXTS, without=["ServiceMonitor", "SecurityContextConstraints"])}
    assert not kinds & {"ServiceMonitor", "SecurityContextConstraints", "ClusterRole"}
    assert "MultiNetworkPolicy" in kinds


def test_refuses() -> None:
    with pytest.raises(SpecError):
        render({"set.yaml": SPEC.format(cluster="Blue")})
    for wrong in ({"deployment": "two"}, {"link": "bridge"}):
        with pytest.raises(ValueError, match="is not"):
            render(TEXTS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="left out"):
        render(TEXTS, without=["Deployment"])
    with pytest.raises(ValueError, match="limit"):
        cut_name("a", "-dns", 10)


def test_cuts_names() -> None:
    assert cut_name("vlan7", "-dns") == "vlan7-dns"
    one, other = (cut_name("p" * 70 + end * 10, "-dns-config") for end in "xy")
    assert one != other
    assert len(one) == len(other) == 63


HOSTED = """
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt}
  dns: {baseDomain: example.com}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: LoadBalancer}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route}}
  - {service: Ignition, servicePublishingStrategy: {type: Route}}
"""
INGRESS = """
apiVersion: config.openshift.io/v1
kind: Ingress
metadata: {name: cluster}
spec: {domain: apps.mgmt.example.com}
"""


def row(name: PublishedName) -> tuple[str, str, str, int, str, str, bool]:
    target = "" if name.target is None else str(name.target)
    return name.service, name.strategy, name.host, name.port, target, name.source, name.needs_record


def test_published_names() -> None:
    made = make_published_names({"hc.yaml": HOSTED}, observed={"o.yaml": INGRESS})
    (cluster,) = made.clusters
    assert (cluster.hosted_cluster, cluster.control_plane_namespace) == ("clusters/blue", "clusters-blue")
    rows = [row(name) for name in cluster.names]
    api = "kube-apiserver.clusters-blue.svc:6443"
    assert rows[0] == ("APIServer", "LoadBalancer", "", 6443, api, "observed", False)
    host = "ignition-server-clusters-blue.apps.mgmt.example.com"
    ignition = "ignition-server-proxy.clusters-blue.svc:443"
    assert ("Ignition", "Route", host, 443, ignition, "router", True) in rows
    assert rows[-1] == ("Ingress", "", "*.apps.blue.example.com", 80, "", "spec", True)
    assert [(f.port, f.target is None) for f in cluster.fallbacks] == [(80, True), (443, True), (6443, False)]
    target = cluster.names[0].target
    assert target is not None
    assert (target.namespace, target.service, target.port) == ("clusters-blue", "kube-apiserver", 6443)
    assert [w.code for w in made.warnings] == ["by-address"]
    texts = {"hc.yaml": HOSTED, **WITH_FILES}
    with_files = make_published_names(texts, observed={"o.yaml": INGRESS}, record_files=RECORD_FILES)
    assert [c.hosted_cluster for c in with_files.clusters] == ["clusters/blue"]


def test_published_names_that_cannot_be_known() -> None:
    with pytest.raises(SpecError) as caught:
        make_published_names({"hc.yaml": HOSTED})
    assert [d.code for d in caught.value.diagnostics].count("host-unknown") == 3
    made = make_published_names({"hc.yaml": HOSTED}, apps_domain="apps.other.example.com")
    assert {n.host for n in made.clusters[0].names} >= {"oauth-clusters-blue.apps.other.example.com"}
    with pytest.raises(SpecError):
        make_published_names({"hc.yaml": HOSTED}, apps_domain="a b")


def test_publishing_strategies() -> None:
    made = make_publishing_strategies({"hc.yaml": HOSTED.split("  services:")[0]})
    (hosted,) = made.hosted_clusters
    assert hosted["metadata"] == {"name": "blue", "namespace": "clusters"}
    assert [s["service"] for s in hosted["spec"]["services"]] == [
        "APIServer",
        "OAuthServer",
        "OIDC",
        "Konnectivity",
        "Ignition",
    ]
    assert made.warnings == []
    with pytest.raises(SpecError):
        make_publishing_strategies({"hc.yaml": HOSTED})
