# SPDX-License-Identifier: Apache-2.0
"""hcpnet.proxy."""

import pytest
from hcpnet import Endpoint, SpecError
from hcpnet.proxy import Backend, Listener, ListenerKind, Protocol, Route, RouteTable, render, route_tables
from support import RECORD_FILES, SPEC, WITH_FILES

TEXTS = {"set.yaml": SPEC.format(cluster="blue")}


def test_renders_for_other_programs() -> None:
    (haproxy,) = render(TEXTS, "haproxy", any_address=True, file_prefix="/etc/haproxy/").values()
    assert next(iter(haproxy)) == "haproxy.cfg"
    assert "bind :443" in haproxy["haproxy.cfg"]
    assert "map_str(/etc/haproxy/maps/443-exact.map)" in haproxy["haproxy.cfg"]
    (envoy,) = render(TEXTS, "envoy").values()
    assert set(envoy) == {"envoy.yaml", "lds.yaml", "cds.yaml"}


def test_a_set_may_name_files_of_records() -> None:
    assert list(render(WITH_FILES, "envoy", record_files=RECORD_FILES)) == ["hcp/vlan"]
    assert list(route_tables(WITH_FILES, record_files=RECORD_FILES)) == ["hcp/vlan"]
    for missing in (lambda: render(WITH_FILES, "envoy"), lambda: route_tables(WITH_FILES)):
        with pytest.raises(SpecError, match="was not given beside the specs"):
            missing()


def test_takes_endpoints() -> None:
    endpoints = {"e.yaml": '"ns/kube-apiserver:6443": ["198.51.100.77:6443"]'}
    (files,) = render(TEXTS, "envoy", endpoints=endpoints).values()
    assert "198.51.100.77" in files["cds.yaml"]


def test_refuses() -> None:
    with pytest.raises(ValueError, match="not a target"):
        render(TEXTS, "nginx")
    with pytest.raises(SpecError):
        render({"set.yaml": SPEC.format(cluster="Blue")}, "envoy")


HTTPS = Endpoint("192.0.2.4", 443)
SSH = Endpoint("192.0.2.4", 22)
DNS = Endpoint("192.0.2.4", 53)
BLUE, STRANGER = "192.0.2.101", "192.0.2.140"


def table() -> RouteTable:
    return RouteTable(
        [
            Listener(HTTPS, deny=["192.0.2.9/32"]),
            Listener(Endpoint("198.51.100.1", 443), only_names=["api.example.com"]),
            Listener(SSH, kind=ListenerKind.tcp),
            Listener(DNS, kind=ListenerKind.udp),
        ],
        [
            Backend("api", endpoints=[Endpoint("10.0.0.1", 6443)]),
            Backend("apps", host="apps.svc", port=443),
            Backend("own", host="own.svc", port=1),
        ],
        [
            Route(443, "api", names=["api.example.com"]),
            Route(443, "apps", names=["*.apps.example.com"], source_prefixes=["192.0.2.128/25"]),
            Route(443, "own", no_sni=True, other_sni=True, source_cluster="ns/blue"),
            Route(22, "own", not_tls=True),
            Route(53, "own", not_tls=True, protocol=Protocol.udp),
        ],
        clusters={BLUE: "ns/blue"},
    )


def test_a_table_decides_by_name_and_by_source() -> None:
    routes = table()
    decision = routes.find(HTTPS, "API.example.com", STRANGER)
    assert (decision.backend, decision.rule, decision.matched) == ("api", "exact", "api.example.com")
    assert routes.find(HTTPS, "x.y.apps.example.com", STRANGER).rule == "wildcard"
    assert routes.find(HTTPS, "x.apps.example.com", "198.51.100.7").rule == "source_not_allowed"
    assert routes.find(HTTPS, None, BLUE).backend == "own"
    assert routes.find(HTTPS, "192.0.2.4", BLUE).rule == "no_sni"
    assert routes.find(HTTPS, "", BLUE).rule == "unusable_name"
    assert routes.find(HTTPS, None, STRANGER).backend is None
    assert routes.find(HTTPS, None, STRANGER, clusters={STRANGER: "ns/blue"}).backend == "own"
    assert routes.find(SSH, None, STRANGER, not_tls=True).backend == "own"
    assert routes.find(DNS, None, STRANGER, not_tls=True, protocol=Protocol.udp).backend == "own"
    assert routes.find(DNS, None, STRANGER, not_tls=True).rule == "no_match"


def test_a_table_explains() -> None:
    routes = table()
    first, second = routes.explain("x.apps.example.com", 443, STRANGER)
    assert (first.listener, first.rule, first.targets) == (HTTPS, "wildcard", ["apps.svc:443"])
    assert (second.listener, second.rule, second.targets) == (Endpoint("198.51.100.1", 443), "name_not_allowed", [])
    assert routes.explain("api.example.com", 443, "192.0.2.9")[0].rule == "source_denied"
    assert routes.explain("", 443, BLUE)[0].source_cluster == "ns/blue"
    assert routes.explain("", 443, BLUE, clusters={})[0].source_cluster == ""
    assert [answer.protocol for answer in routes.explain("", 53, BLUE)] == ["UDP"]


def test_a_table_that_is_wrong_says_all_of_it() -> None:
    with pytest.raises(SpecError) as error:
        RouteTable(
            [Listener(HTTPS)],
            [Backend("a")],
            [Route(443, "b", names=["a.example.com", "a..b"]), Route(443, "a", names=["a.example.com"])],
        )
    assert {d.code for d in error.value.diagnostics} == {
        "empty-backend",
        "unknown-backend",
        "bad-host-name",
        "duplicate-route",
    }
    with pytest.raises(ValueError, match="not a network"):
        Listener(HTTPS, allow=["192.0.2.0/33"])


OBSERVED = """
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: blue-0, namespace: ns}
status: {addresses: [{type: InternalIP, address: 127.81.1.101}]}
"""


def test_the_tables_of_a_set_are_there_without_serving_it() -> None:
    tables = route_tables(
        TEXTS, observed={"o.yaml": OBSERVED}, endpoints={"e.yaml": '"ns/kube-apiserver:6443": ["198.51.100.77:6443"]'}
    )
    assert list(tables) == ["hcp/vlan"]
    [answer] = tables["hcp/vlan"].explain("api.blue.example.com", 6443, "127.81.1.101")
    assert (answer.rule, answer.targets) == ("exact", ["198.51.100.77:6443"])
    assert answer.source_cluster == "hcp/blue"
