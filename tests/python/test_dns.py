# SPDX-License-Identifier: Apache-2.0
"""hcpnet.dns."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address

import hcpnet
import pytest
from hcpnet.dns import explain, next_serial, parse_hosts_file, parse_zone_file, query, render, render_zone_file, zones
from support import errors_of

NETWORK = {
    "network.yaml": """
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: clusters}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dns: {serverIP: 192.0.2.3, clusterName: blue, baseDomain: example.com}
    proxy: {serverIP: 192.0.2.4, controlPlaneNamespace: clusters-blue, internalProxyService: 198.51.100.10}
""",
}
ZONE = '$ORIGIN a.test.\n@ 30 IN SOA ns hostmaster 7 1 1 1 1\nx 30 IN TXT "a;b"\n'


def test_zone_file_round_trip() -> None:
    zone, warnings = parse_zone_file("z", ZONE)
    assert (zone.apex, zone.is_available, warnings) == ("a.test.", True, [])
    assert zone.rrsets[1].lines == ['x.a.test. 30 IN TXT "a;b"']
    assert [r.owner for r in zone.rrsets] == ["a.test.", "x.a.test."]
    text = render_zone_file(zone, 8)
    assert 'x.a.test. 30 IN TXT "a;b"\n' in text
    assert render_zone_file(parse_zone_file("again", text)[0], 8) == text


def test_zone_file_errors_have_lines() -> None:
    with pytest.raises(hcpnet.SpecError) as error:
        parse_zone_file("z", ZONE + "y 30 IN A 192.0.2\n", origin="a.test")
    assert [(d.line, d.code) for d in error.value.diagnostics] == [(4, "zone-rdata")]
    with pytest.raises(ValueError, match="domain name"):
        parse_zone_file("z", ZONE, "a..b")


def test_zone_file_warnings_have_lines() -> None:
    zone, warnings = parse_zone_file("z", ZONE + "y 30 IN A 192.0.2.1\ny 30 IN A 192.0.2.1\n")
    assert [(w.line, w.code) for w in warnings] == [(5, "zone-duplicate")]
    assert zone.rrsets[2].lines == ["y.a.test. 30 IN A 192.0.2.1"]


def test_zones_of_a_set() -> None:
    shown = {(z.server, z.view, z.zone.apex) for z in zones(NETWORK)}
    assert ("clusters/vlan", "vlan", "blue.example.com.") in shown
    assert ("clusters/vlan", "pod", "blue.example.com.") in shown


def test_records_in_files_are_part_of_a_set() -> None:
    policy = """
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: clusters}
spec:
  targetRef: {kind: Infra, name: vlan}
  zoneFiles: [{path: zones/a, zone: a.test}]
"""
    texts = {"dir/network.yaml": NETWORK["network.yaml"] + policy}
    records = {"dir/zones/a": ZONE}
    assert "a.test." in {z.zone.apex for z in zones(texts, record_files=records)}
    (answer,) = query(texts, "x.a.test", "192.0.2.9", "TXT", record_files=records)
    assert answer.answers == ['x.a.test. 30 IN TXT "a;b"']
    (found,) = explain(texts, "x.a.test", "192.0.2.9", "TXT", record_files=records)
    assert found.steps[0].rule == "exact"
    (files,) = render(texts, "zonefile", record_files=records).values()
    assert 'x.a.test. 30 IN TXT "a;b"\n' in files["vlan/a.test.zone"]
    with pytest.raises(hcpnet.SpecError) as error:
        zones(texts)
    assert [code for _, _, code in errors_of(error)] == ["unreadable-file"]


def test_an_apex_with_an_address_is_rendered_the_same_again() -> None:
    zone, _ = parse_zone_file("z", ZONE + "@ 30 IN A 192.0.2.1\n@ 30 IN TXT t\n")
    text = render_zone_file(zone, 8)
    assert "a.test. 30 IN NS localhost.\n" in text
    assert render_zone_file(parse_zone_file("again", text)[0], 8) == text


def test_hosts_file() -> None:
    assert parse_hosts_file("h", "192.0.2.1 a.test b # c\n::1 localhost\n") == [
        (IPv4Address("192.0.2.1"), ["a.test.", "b."]),
        (IPv6Address("::1"), ["localhost."]),
    ]
    with pytest.raises(hcpnet.SpecError) as error:
        parse_hosts_file("h", "192.0.2.1 a\n192.0.2 b\n")
    assert [d.line for d in error.value.diagnostics] == [2]


def test_query() -> None:
    (found,) = query(NETWORK, "api.blue.example.com", "192.0.2.101")
    assert (found.server, found.view, found.rcode) == ("clusters/vlan", "vlan", "NOERROR")
    assert found.answers == ["api.blue.example.com. 30 IN A 192.0.2.4"]
    (found,) = query(NETWORK, "nope.blue.example.com", IPv4Address("198.51.100.1"), "AAAA")
    assert (found.view, found.rcode, found.answers, found.upstreams) == ("pod", "NXDOMAIN", [], [])
    assert "SOA" in found.authority[0]
    (found,) = query(NETWORK, "www.example.org", "192.0.2.101")
    assert (found.rcode, found.upstreams) == ("", ["resolv.conf"])
    with pytest.raises(ValueError, match="type"):
        query(NETWORK, "x", "192.0.2.101", "NOPE")


def test_next_serial() -> None:
    assert next_serial(2026010199, 20260101) == 2026010200
    assert next_serial(2026010199, day=20260102) == 2026010200
    assert next_serial(4294967295) == 1


@pytest.mark.parametrize("target", ["zonefile", "hosts", "coredns", "bind", "unbound", "dnsmasq"])
def test_renders_every_target(target: str) -> None:
    files = render(NETWORK, target)["clusters/vlan"]
    assert files
    assert any("blue.example.com" in text for text in files.values())


def test_coredns_keeps_answers_for_the_cache_ttl_of_the_server() -> None:
    server = """
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: d, namespace: hcp}
spec:
  networkConfig: {serverIP: 192.0.2.8, proxyIP: 192.0.2.9}
  hostedClusterDomain: x.example.com
  staticEntries: [{hostname: api.x.example.com, ip: 192.0.2.9}]
  cacheTTL: 5m
"""
    assert "    cache 300\n" in render({"d.yaml": server}, "coredns")["hcp/d"]["Corefile"]


def test_a_changed_zone_file_gets_a_greater_serial() -> None:
    first = render(NETWORK, "zonefile", day=20260101)["clusters/vlan"]
    assert render(NETWORK, "zonefile", previous=first, day=20260101)["clusters/vlan"] == first
    name = "vlan/blue.example.com.zone"
    older = {name: first[name].replace("192.0.2.4", "192.0.2.5")}
    assert " 2026010100 3600 " in render(NETWORK, "zonefile", previous=older, day=20260101)["clusters/vlan"][name]


def test_render_refuses_other_targets() -> None:
    with pytest.raises(ValueError, match="target"):
        render(NETWORK, "nsd", any_address=True, file_prefix="/etc/", observed={})


def test_explain() -> None:
    (found,) = explain(NETWORK, "api.blue.example.com", "192.0.2.101")
    assert (found.view, found.prefix, found.upstreams) == ("vlan", IPv4Network("192.0.2.0/24"), [])
    (step,) = found.steps
    assert (step.name, step.zone, step.rule) == ("api.blue.example.com.", "blue.example.com.", "exact")
    assert step.matched == "api.blue.example.com."
    assert step.records == ["api.blue.example.com. 30 IN A 192.0.2.4"]
    (found,) = explain(NETWORK, "api.blue.example.com", IPv4Address("198.51.100.1"), "AAAA", observed={})
    assert [s.rule for s in found.steps] == ["nodata"]
