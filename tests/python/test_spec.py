# SPDX-License-Identifier: Apache-2.0
"""hcpnet.spec and hcpnet.check_files."""

from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network

import hcpnet
import pytest
from hcpnet.spec import check
from support import RECORD_FILES, SPEC, WITH_FILES, Vlan, errors_of


def test_shows_a_set_as_it_will_be_served() -> None:
    valid = check({"set.yaml": SPEC.format(cluster="blue")})
    assert [infra.metadata.key for infra in valid.infras] == ["hcp/vlan"]
    infra = valid.infras[0]
    assert infra.cidr == IPv4Network("127.81.1.0/24")
    assert infra.gateway == IPv4Address("127.81.1.1")
    assert [cluster.domain for cluster in infra.clusters] == ["blue.example.com"]
    assert infra.dhcp is not None
    assert infra.dhcp.lease_time == timedelta(hours=1)
    assert (str(infra.dhcp.pool), len(infra.dhcp.pool)) == ("127.81.1.100-127.81.1.149", 50)
    assert "127.81.1.149" in infra.dhcp.pool
    assert IPv4Address("127.81.1.150") not in infra.dhcp.pool
    assert infra.dns is not None
    assert infra.dns.server_ip == IPv4Address("127.81.1.3")
    assert infra.proxy is not None
    assert infra.proxy.internal_proxy_service == "198.51.100.1"
    assert (valid.dhcp_servers, valid.dns_servers, valid.proxy_servers) == ([], [], [])


POLICY = """
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan}
  identity: clientID
  reservations: [{clientID: "hex:01525400000001", address: 127.81.1.111}]
  exclusions: [{rangeStart: 127.81.1.110}]
  pools: [{rangeStart: 127.81.1.10, rangeEnd: 127.81.1.19, clientClasses: [pxe]}]
  subnets: [{cidr: 127.82.0.0/24, gateway: 127.82.0.1, pools: [{rangeStart: 127.82.0.10, rangeEnd: 127.82.0.19}]}]
  clientClasses: [{name: pxe, match: {vendorClasses: [PXEClient], architectures: [7]}}]
  sharedStore: {endpoints: ["https://127.0.0.1:2379"], prefix: /vlan, caFile: ca.crt, maxSkewSeconds: 9}
"""


def test_shows_pools_and_subnets_of_a_policy() -> None:
    policy = check({"set.yaml": SPEC.format(cluster="blue") + POLICY}).infras[0].dhcp_policy
    assert policy.authoritative
    assert policy.identity == "clientID"
    assert [str(excluded) for excluded in policy.exclusions] == ["127.81.1.110-127.81.1.110"]
    (pool,) = policy.pools
    assert (str(pool.range), pool.client_classes) == ("127.81.1.10-127.81.1.19", ["pxe"])
    (subnet,) = policy.subnets
    assert (subnet.cidr, subnet.gateway) == (IPv4Network("127.82.0.0/24"), IPv4Address("127.82.0.1"))
    assert subnet.server_ip is None
    assert [str(pool.range) for pool in subnet.pools] == ["127.82.0.10-127.82.0.19"]
    assert policy.client_classes == ["pxe"]
    store = policy.shared_store
    assert store
    assert (store.endpoints, store.prefix) == (["https://127.0.0.1:2379"], "/vlan")
    assert (store.ca_file, store.certificate_file, store.key_file) == ("ca.crt", None, None)
    assert (store.server_name, store.username, store.password_file) == (None, None, None)
    assert store.max_skew == timedelta(seconds=9)
    plain = check({"set.yaml": SPEC.format(cluster="blue")}).infras[0].dhcp_policy
    assert (plain.pools, plain.subnets, plain.exclusions, plain.identity) == ([], [], [], "mac")
    assert plain.shared_store is None


def test_a_static_vip_is_known_without_a_load_balancer() -> None:
    attachment = """apiVersion: hostedcluster.densityops.com/v1alpha1
kind: InfraClusterAttachment
metadata: {name: blue, namespace: hcp}
spec:
  infraRef: {name: yard}
  hostedClusterRef: {name: blue}
  dns: {clusterName: blue, baseDomain: example.com}
---
apiVersion: hcpnet.io/v1alpha1
kind: AppsPolicy
metadata: {name: blue, namespace: hcp}
spec: {targetRef: {kind: InfraClusterAttachment, name: blue}, staticVIP: 192.0.2.200}
"""
    infra = """apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: yard, namespace: hcp}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {enabled: false}
    dns: {serverIP: 192.0.2.3}
    proxy: {serverIP: 192.0.2.4}
"""
    (cluster,) = check({"infra.yaml": infra, "attachment.yaml": attachment}).infras[0].clusters
    assert cluster.apps_vip == cluster.static_apps_vip == IPv4Address("192.0.2.200")
    assert str(cluster.apps_pool) == "192.0.2.200-192.0.2.200"


def test_names_and_texts_are_text() -> None:
    for texts in ({"a": 1}, {1: "a"}, {"a": b"a"}, {"a": None}):
        with pytest.raises(TypeError, match="are str, not"):
            check(texts)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="are str, not"):
            hcpnet.Stack(texts=texts)  # type: ignore[arg-type]
    for torn in ({"a.yaml": "\udc80"}, {"\udc80": "a"}):
        with pytest.raises(ValueError, match="surrogates"):
            check(torn)


def test_takes_the_files_of_records_that_a_set_names() -> None:
    assert [infra.metadata.key for infra in check(WITH_FILES, record_files=RECORD_FILES).infras] == ["hcp/vlan"]
    wrong = {name: text + "y A nonsense\n" for name, text in RECORD_FILES.items()}
    with pytest.raises(hcpnet.SpecError) as error:
        check(WITH_FILES, record_files=wrong)
    assert errors_of(error) == [("dir/zones/corp", 4, "zone-rdata")]


def test_checks_files_as_the_command_does(vlan: Vlan) -> None:
    checked = hcpnet.check_files([vlan.file])
    assert [infra.metadata.name for infra in checked.set.infras] == ["vlan"]
    assert all(w.severity is hcpnet.Severity.warning for w in checked.warnings)


def test_a_missing_file_is_a_finding(vlan: Vlan) -> None:
    with pytest.raises(hcpnet.SpecError) as error:
        hcpnet.check_files([vlan.file, vlan.folder / "nothing.yaml"])
    assert [(d.code, d.file) for d in error.value.diagnostics] == [
        ("unreadable-file", str(vlan.folder / "nothing.yaml"))
    ]


def test_one_path_is_no_list_of_paths(vlan: Vlan) -> None:
    with pytest.raises(TypeError):
        hcpnet.check_files(str(vlan.file))
