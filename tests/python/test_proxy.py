# SPDX-License-Identifier: Apache-2.0
"""hcpnet.proxy."""

from ipaddress import ip_address, ip_network

import pytest
from hcpnet import Endpoint, SpecError, WireError
from hcpnet.proxy import (
    Backend,
    HttpHostReader,
    Listener,
    ListenerKind,
    Protocol,
    ProxyHeader,
    ProxyHeaderVersion,
    Route,
    RouteTable,
    encode_proxy_header,
    parse_http_host,
    parse_proxy_header,
    render,
    route_tables,
)
from support import RECORD_FILES, SPEC, WITH_FILES

TEXTS = {"set.yaml": SPEC.format(cluster="blue")}


def test_renders_for_other_programs() -> None:
    (haproxy,) = render(TEXTS, "haproxy", any_address=True, file_prefix="/etc/haproxy/").values()
    assert next(iter(haproxy)) == "haproxy.cfg"
    assert "bind :443" in haproxy["haproxy.cfg"]
    assert "map_str(/etc/haproxy/maps/443-exact.map)" in haproxy["haproxy.cfg"]
    (envoy,) = render(TEXTS, "envoy").values()
    assert set(envoy) == {"envoy.yaml", "lds.yaml", "cds.yaml"}


def test_render_refuses_a_prefix_that_haproxy_has_no_way_to_write() -> None:
    for bad in ("/etc/my files/", 'a"/', "a,b/", "a)/", "#/", "a\\b/", "a\n/"):
        with pytest.raises(ValueError, match="file name"):
            render(TEXTS, "haproxy", file_prefix=bad)
    assert render(TEXTS, "haproxy", file_prefix="/srv/\u00e4-1.2_%41/")
    assert render(TEXTS, "envoy", file_prefix="/etc/my files/")


def test_a_set_may_name_files_of_records() -> None:
    assert list(render(WITH_FILES, "envoy", record_files=RECORD_FILES)) == ["hcp/vlan"]
    assert list(route_tables(WITH_FILES, record_files=RECORD_FILES)) == ["hcp/vlan"]
    for missing in (lambda: render(WITH_FILES, "envoy"), lambda: route_tables(WITH_FILES)):
        with pytest.raises(SpecError, match="was not given beside the specs"):
            missing()


POLICY = """
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan}
  allowedNames: [{port: 443, side: pod, names: [oauth.blue.example.com]}]
"""


def test_a_side_of_a_proxy_on_every_address_has_to_be_known() -> None:
    texts = {**TEXTS, "policy.yaml": POLICY}
    with pytest.raises(SpecError, match="which are on this side"):
        render(texts, "envoy", any_address=True)
    (files,) = render(texts, "envoy", any_address=True, pod_addresses=["198.51.100.4"]).values()
    assert "198.51.100.4" in files["lds.yaml"]


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


def test_a_table_shows_what_it_is_made_of() -> None:
    routes = table()
    https, public, ssh, dns = routes.listeners
    assert (https.address, https.kind, https.allow) == (HTTPS, ListenerKind.tls, [])
    assert https.deny == [ip_network("192.0.2.9/32")]
    assert (public.only_names, ssh.kind, dns.kind) == (["api.example.com"], ListenerKind.tcp, ListenerKind.udp)
    api, apps, _ = routes.backends
    assert (api.name, api.endpoints, api.host, api.is_unserved) == ("api", [Endpoint("10.0.0.1", 6443)], "", False)
    assert (apps.endpoints, apps.host, apps.port) == ([], "apps.svc", 443)
    _, wildcard, rest, _, datagrams = routes.routes
    assert (wildcard.port, wildcard.backend, wildcard.names) == (443, "apps", ["*.apps.example.com"])
    assert wildcard.source_prefixes == [ip_network("192.0.2.128/25")]
    assert (rest.no_sni, rest.other_sni, rest.not_tls, rest.source_cluster) == (True, True, False, "ns/blue")
    assert (datagrams.not_tls, datagrams.protocol) == (True, Protocol.udp)
    assert routes.clusters == {ip_address(BLUE): "ns/blue"}


def test_a_backend_may_be_known_to_be_served_nowhere() -> None:
    routes = RouteTable([Listener(HTTPS)], [Backend("a", is_unserved=True)], [Route(443, "a", names=["a.example.com"])])
    [answer] = routes.explain("a.example.com", 443, STRANGER)
    assert (answer.rule, answer.backend, answer.targets) == ("exact", "a", [])


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
    assert tables["hcp/vlan"].clusters == {ip_address("127.81.1.101"): "hcp/blue"}
    assert {x.address.port for x in tables["hcp/vlan"].listeners} == {443, 6443}


V4 = ProxyHeader.Addresses(Endpoint("192.168.0.1", 56324), Endpoint("192.168.0.11", 443))
V6 = ProxyHeader.Addresses(Endpoint("2001:db8::1", 1), Endpoint("2001:db8::2", 65535))


@pytest.mark.parametrize("addresses", [V4, V6])
@pytest.mark.parametrize("version", [ProxyHeaderVersion.v1, ProxyHeaderVersion.v2])
def test_a_header_of_the_proxy_protocol_comes_back(
    version: ProxyHeaderVersion, addresses: ProxyHeader.Addresses
) -> None:
    header = encode_proxy_header(version, addresses)
    read = parse_proxy_header(header + b"more")
    assert read.addresses == addresses
    assert read.consumed_bytes == len(header)
    for size in range(len(header)):
        with pytest.raises(WireError) as error:
            parse_proxy_header(header[:size])
        assert error.value.code == "need_more", size


def test_a_header_of_the_proxy_protocol_is_the_specifications() -> None:
    assert encode_proxy_header(ProxyHeaderVersion.v1, V4) == b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"
    assert encode_proxy_header(ProxyHeaderVersion.none, V4) == b""
    assert parse_proxy_header(memoryview(b"PROXY UNKNOWN\r\n")).addresses is None
    mixed = ProxyHeader.Addresses(V4.source, V6.destination)
    assert b"::ffff:192.168.0.1" in encode_proxy_header(ProxyHeaderVersion.v1, mixed)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1\r\n", "other_protocol"),
        (b"PROXY TCP4 x y 1 2\r\n", "malformed"),
        (b"PROXY UNKNOWN " + b"x" * 107, "too_large"),
    ],
)
def test_what_is_no_header_of_the_proxy_protocol_says_why(data: bytes, code: str) -> None:
    with pytest.raises(WireError) as error:
        parse_proxy_header(data)
    assert error.value.code == code


REQUEST = b"GET /x HTTP/1.1\r\nHost: console.apps.example.com:80\r\nAccept: */*\r\n\r\n"


def test_the_host_of_a_request_is_read_while_it_comes() -> None:
    assert parse_http_host(REQUEST + b"body").name == "console.apps.example.com"
    reader = HttpHostReader()
    for size in range(len(REQUEST)):
        with pytest.raises(WireError) as error:
            reader.read(REQUEST[:size])
        assert error.value.code == "need_more", size
    assert reader.read(bytearray(REQUEST)).name == "console.apps.example.com"
    assert parse_http_host(b"GET / HTTP/1.0\r\n\r\n").name is None
    assert parse_http_host(b"GET / HTTP/1.0\r\nHost: \xff\r\n\r\n").name == "\udcff"


def test_a_request_that_servers_understand_differently_says_what_is_wrong() -> None:
    def code_of(data: bytes, **limits: int) -> str:
        with pytest.raises(WireError) as error:
            parse_http_host(data, **limits)
        return error.value.code

    assert code_of(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == "malformed"
    assert code_of(b"\x16\x03\x01") == "other_protocol"
    assert code_of(REQUEST, max_fields=1) == "too_large"
    assert code_of(REQUEST, max_bytes=20) == "too_large"
    reader = HttpHostReader()
    with pytest.raises(WireError):
        reader.read(REQUEST[:20])
    with pytest.raises(WireError) as error:
        reader.read(REQUEST[:5])
    assert error.value.code == "malformed"
