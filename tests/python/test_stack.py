# SPDX-License-Identifier: Apache-2.0
"""hcpnet.Stack: serving, and looking inside."""

import contextlib
import errno
import os
import pathlib
import socket
from datetime import UTC, datetime, timedelta

import hcpnet
import pytest
from hcpnet import proxy
from hcpnet.dhcp import LeaseEventKind, LeaseState
from support import (
    CLIENT,
    TIMEOUT,
    Vlan,
    ask,
    bound,
    client_hello,
    echo_server,
    own_sockets,
    release,
    take_lease,
    through_proxy,
    wait_for,
)

MAC = bytes.fromhex("020000000001")


def test_serves_dns(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options()) as stack:
        assert stack.is_running
        assert ask(bound(stack, "dns", 53), "api.blue.example.com") == (0, ["127.81.1.4"])
        assert ask(bound(stack, "dns", 53), "nobody.blue.example.com") == (3, [])
        stats = stack.stats().dns["hcp/vlan"]
        assert (stats.queries_udp, stats.tcp_connections, stats.coalesced) == (2, 0, 0)
        assert [(r.proto, r.family, r.type, r.count) for r in stats.requests] == [("udp", 1, "A", 2)]
        assert sum(stats.durations.counts) == sum(stats.response_sizes["udp"].counts) == 2
        assert stats.query_sizes["udp"].sum_bytes < stats.response_sizes["udp"].sum_bytes
        assert len(stats.durations.counts) == len(stats.durations.bounds) + 1
        names = {"blue.example.com", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
        names.add("kubernetes.default.svc.cluster.local")
        assert {zone.zone.apex for zone in stack.zones()} == {name + "." for name in names}
        why = stack.explain("api.blue.example.com", CLIENT)["hcp/vlan"]
        assert (why.view, [step.rule for step in why.steps]) == ("vlan", ["exact"])
        with pytest.raises(ValueError, match="no record has the type 'ANY'"):
            stack.explain("api.blue.example.com", CLIENT, "ANY")
    assert not stack.is_running


def test_programs_that_are_started_do_not_get_sockets(vlan: Vlan) -> None:
    before = own_sockets()
    with (
        hcpnet.Stack(**vlan.options()) as stack,
        socket.create_connection(bound(stack, "dns", 53), TIMEOUT),
    ):
        wait_for(lambda: stack.stats().dns["hcp/vlan"].tcp_connections == 1)
        assert [number for number in own_sockets() - before if os.get_inheritable(number)] == []


def test_gives_leases_and_shows_them(vlan: Vlan) -> None:
    events: list[hcpnet.StackEvent] = []
    before = datetime.now(UTC).replace(microsecond=0)
    with hcpnet.Stack(**vlan.options(), on_event=events.append) as stack:
        address = take_lease(bound(stack, "dhcp", 67), MAC)
        [lease] = stack.leases()
        assert stack.stats().dhcp.sent["ACK"] == 1
        assert stack.stats().dhcp.events == {"bound": 1}
        assert stack.stats().dhcp.shared == {}
        (pool,) = stack.stats().dhcp.subnets["hcp/vlan"].pools
        assert (str(pool.range), pool.size, pool.bound) == ("127.81.1.100-127.81.1.149", 50, 1)
        assert (pool.offered, pool.declined) == (0, 0)
    assert (str(lease.address), lease.mac, lease.subnet, lease.state) == (
        address,
        "02:00:00:00:00:01",
        "hcp/vlan",
        LeaseState.bound,
    )
    assert before <= lease.started <= datetime.now(UTC)
    assert lease.expires - lease.started == timedelta(hours=1)
    changes = [event.lease for event in events if event.kind is hcpnet.StackEvent.Kind.lease]
    assert [(c.kind, c.lease.mac) for c in changes if c] == [(LeaseEventKind.bound, "02:00:00:00:00:01")]


def test_leases_survive_a_restart(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options()) as stack:
        address = take_lease(bound(stack, "dhcp", 67), MAC)
    with hcpnet.Stack(**vlan.options()) as stack:
        assert [str(lease.address) for lease in stack.leases()] == [address]
        assert take_lease(bound(stack, "dhcp", 67), MAC) == address


LEASE_NAMES = """---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: names, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan}, leaseDomain: vms.example.com, reverse: true}
"""


def test_leases_have_names_while_they_last(vlan: Vlan) -> None:
    vlan.file.write_text(vlan.file.read_text() + LEASE_NAMES)
    with hcpnet.Stack(**vlan.options()) as stack:
        dhcp, dns = bound(stack, "dhcp", 67), bound(stack, "dns", 53)
        assert ask(dns, "web.vms.example.com") == (3, [])
        address = take_lease(dhcp, MAC, "Web")
        wait_for(lambda: ask(dns, "web.vms.example.com") == (0, [address]))
        pointer = ".".join(reversed(address.split("."))) + ".in-addr.arpa"
        assert ask(dns, pointer) == (0, [])  # no A, but the name is there
        assert ask(dns, "99.1.81.127.in-addr.arpa") == (3, [])

        take_lease(dhcp, bytes.fromhex("020000000002"), "web")  # somebody else's name
        others = {f"vm{i}": take_lease(dhcp, bytes([2, 0, 0, 0, 1, i]), f"vm{i}") for i in range(30)}
        wait_for(lambda: ask(dns, "vm29.vms.example.com")[0] == 0)
        assert {name: ask(dns, name + ".vms.example.com") for name in others} == {
            name: (0, [other]) for name, other in others.items()
        }
        assert 'hcpnet_dns_lease_names{server="hcp/vlan"} 31' in stack.metrics()
        assert 'hcpnet_dns_lease_names_refused_total{server="hcp/vlan"} 1' in stack.metrics()

        vlan.file.write_text(vlan.file.read_text().replace("clusterName: blue", "clusterName: green"))
        stack.reload()
        assert ask(dns, "api.green.example.com")[0] == 0
        assert ask(dns, "web.vms.example.com") == (0, [address])
    with hcpnet.Stack(**vlan.options()) as stack:
        dhcp, dns = bound(stack, "dhcp", 67), bound(stack, "dns", 53)
        assert ask(dns, "web.vms.example.com") == (0, [address])
        release(dhcp, MAC, address)
        wait_for(lambda: ask(dns, "web.vms.example.com") == (3, []))
        assert ask(dns, pointer) == (3, [])


def test_passes_tls_through_by_name(vlan: Vlan) -> None:
    payload = client_hello("api.blue.example.com") + bytes(range(256)) * 4096
    with echo_server() as (host, port):
        vlan.endpoints = {"ns/kube-apiserver:6443": [f"{host}:{port}"]}
        with hcpnet.Stack(**vlan.options()) as stack:
            assert through_proxy(bound(stack, "proxy", 6443), payload) == payload
            [route] = stack.route("api.blue.example.com", 6443, CLIENT)
            assert (route.rule, route.matched, route.targets) == ("exact", "api.blue.example.com", [f"{host}:{port}"])
            assert stack.stats().proxies["hcp/vlan"].decisions["exact"] == 1


def test_an_embedder_resolves_names_and_keeps_the_access_log(vlan: Vlan) -> None:
    asked: list[tuple[str, int]] = []
    lines: list[str] = []
    payload = client_hello("api.blue.example.com") + b"x" * 1000
    with echo_server() as place:

        def resolve(host: str, port: int) -> list[hcpnet.Endpoint]:
            asked.append((host, port))
            return [hcpnet.Endpoint(*place)]

        with hcpnet.Stack(**vlan.options(), resolve=resolve, access_log=lines.append) as stack:
            assert through_proxy(bound(stack, "proxy", 6443), payload) == payload
            wait_for(lambda: lines != [])
    assert asked == [("kube-apiserver.ns.svc.cluster.local", 6443)]
    assert "api.blue.example.com" in lines[0]


def test_an_embedder_says_for_how_long_a_name_is_known(vlan: Vlan) -> None:
    asked: list[str] = []
    payload = client_hello("api.blue.example.com") + b"x"
    with echo_server() as place:

        def resolve(host: str, _port: int) -> proxy.Resolution:
            asked.append(host)
            return proxy.Resolution([hcpnet.Endpoint(*place)], ttl=2)

        with hcpnet.Stack(**vlan.options(), resolve=resolve) as stack:

            def is_asked_again() -> bool:
                assert through_proxy(bound(stack, "proxy", 6443), payload) == payload
                return len(asked) == 2

            assert not is_asked_again()
            assert not is_asked_again()
            wait_for(is_asked_again)


def test_an_embedder_says_where_services_are_served(vlan: Vlan) -> None:
    payload = client_hello("api.blue.example.com") + b"x"
    with echo_server() as place, hcpnet.Stack(**vlan.options()) as stack:
        stack.set_endpoints({"ns/kube-apiserver:6443": [hcpnet.Endpoint(*place)]})
        assert through_proxy(bound(stack, "proxy", 6443), payload) == payload
        with pytest.raises(hcpnet.SpecError) as error:
            stack.set_endpoints({"kube-apiserver": []})
        assert [d.code for d in error.value.diagnostics] == ["bad-endpoint"]
        stack.set_endpoints({"ns/kube-apiserver:6443": []})
        with contextlib.suppress(ConnectionResetError):
            assert through_proxy(bound(stack, "proxy", 6443), payload) == b""
        assert stack.stats().proxies["hcp/vlan"].closed["no_endpoint"] == 1


@pytest.mark.parametrize("answer", [[], None, ["no endpoint"]])
def test_an_embedder_that_cannot_resolve_costs_the_connection_alone(
    vlan: Vlan, answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", raised.append)
    with hcpnet.Stack(**vlan.options(), resolve=lambda _host, _port: answer) as stack:  # type: ignore[arg-type, return-value]
        with contextlib.suppress(ConnectionResetError):
            assert through_proxy(bound(stack, "proxy", 6443), client_hello("api.blue.example.com")) == b""
        assert stack.stats().proxies["hcp/vlan"].resolve_failures == 1
        assert ask(bound(stack, "dns", 53), "api.blue.example.com")[0] == 0
    assert len(raised) == (answer != [])


def test_reload_serves_the_new_file_and_refuses_a_wrong_one(vlan: Vlan) -> None:
    kinds: list[hcpnet.StackEvent.Kind] = []
    with hcpnet.Stack(**vlan.options(), on_event=lambda event: kinds.append(event.kind)) as stack:
        assert stack.last_reload() is None
        vlan.write("green")
        stack.reload()
        applied = stack.last_reload()
        assert all(warning.severity is hcpnet.Severity.warning for warning in stack.warnings())
        assert ask(bound(stack, "dns", 53), "api.green.example.com") == (0, ["127.81.1.4"])
        vlan.file.write_text("spec: [")
        with pytest.raises(hcpnet.SpecError) as error:
            stack.reload()
        assert error.value.diagnostics
        assert ask(bound(stack, "dns", 53), "api.green.example.com") == (0, ["127.81.1.4"])
        stats = stack.stats()
        refused = stack.last_reload()
    assert applied is not None
    assert applied.was_applied
    assert refused is not None
    assert not refused.was_applied
    assert {d.code for d in refused.diagnostics if d.severity is hcpnet.Severity.error} == {"yaml-syntax"}
    assert applied.time <= refused.time <= datetime.now(UTC)
    assert (stats.reloads, stats.reloads_refused, stats.reload_errors) == (1, 1, {"yaml-syntax": 1})
    assert kinds == [hcpnet.StackEvent.Kind.reloaded, hcpnet.StackEvent.Kind.reload_refused]


def test_a_later_stack_takes_over(vlan: Vlan, tmp_path: pathlib.Path) -> None:
    kinds: list[hcpnet.StackEvent.Kind] = []
    socket_path = tmp_path / "handover.sock"
    with hcpnet.Stack(
        **vlan.options(), handover_socket=socket_path, on_event=lambda event: kinds.append(event.kind)
    ) as old:
        before = {(x.service, x.bound) for x in old.listeners() if x.service != "dhcp"}
        with hcpnet.Stack(**vlan.options(), handover_socket=socket_path, takes_over=True) as new:
            assert {(x.service, x.bound) for x in new.listeners() if x.service != "dhcp"} == before
            assert ask(bound(new, "dns", 53), "api.blue.example.com") == (0, ["127.81.1.4"])
    assert kinds[0] is hcpnet.StackEvent.Kind.handed_over


@pytest.mark.parametrize("only", [["dns"], ["proxy", "dns"]])
def test_serves_only_its_part(vlan: Vlan, only: list[str]) -> None:
    with hcpnet.Stack(**vlan.options(), only=only) as stack:
        assert {listener.service for listener in stack.listeners()} == set(only)
    with pytest.raises(ValueError, match="'http' is none of dhcp, dns, proxy"):
        hcpnet.Stack(**vlan.options(), only=[*only, "http"])


def test_texts_need_no_file(vlan: Vlan) -> None:
    options = vlan.options()
    del options["files"]
    with hcpnet.Stack(**options, texts={"set.yaml": vlan.file.read_text()}) as stack:
        assert {listener.service for listener in stack.listeners()} == {"dhcp", "dns", "proxy"}


def test_a_taken_port_is_an_os_error_that_names_it(vlan: Vlan) -> None:
    with socket.create_server(("127.81.1.4", 0)) as taken:
        options = vlan.options()
        options["port_map"][443] = taken.getsockname()[1]
        stack = hcpnet.Stack(**options)
        with pytest.raises(OSError, match=r"127\.81\.1\.4") as error:
            stack.start()
        assert error.value.errno == errno.EADDRINUSE
        assert str(error.value).endswith(": Address already in use"), "and nothing about our source"
        assert not stack.is_running
    with stack:
        assert stack.is_running


def test_a_wrong_set_does_not_start(vlan: Vlan) -> None:
    vlan.file.write_text("kind: Infra\n")
    with pytest.raises(hcpnet.SpecError), hcpnet.Stack(**vlan.options()):
        pass


def test_a_set_that_serves_nothing_does_not_start() -> None:
    with pytest.raises(hcpnet.SpecError) as error, hcpnet.Stack():
        pass
    assert [d.code for d in error.value.diagnostics] == ["nothing-to-serve"]


def test_observes_on_request(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options(), observe=hcpnet.Endpoint("127.0.0.1", 0)) as stack:
        [listener] = [one for one in stack.listeners() if one.service == "observe"]
        assert listener.bound.port != 0
        assert "hcpnet_up 1" in stack.metrics()
        assert stack.troubles() == []


def test_log_records_are_seen(vlan: Vlan) -> None:
    records: list[hcpnet.LogRecord] = []
    with hcpnet.Stack(**vlan.options(), log=records.append):
        pass
    assert records
    assert {record.level for record in records} <= {"debug", "info", "warning", "error"}
    assert all(record.message and record.component for record in records)
