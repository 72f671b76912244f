# SPDX-License-Identifier: Apache-2.0
"""hcpnet.proxy.Engine: serving, callbacks, and the ends of interpreters and processes."""

import contextlib
import errno
import gc
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import hcpnet
import pytest
from hcpnet import Endpoint, pki
from hcpnet.proxy import (
    Backend,
    Balance,
    Ejection,
    Engine,
    HealthCheck,
    Listener,
    ListenerKind,
    ProxyHeader,
    ProxyHeaderVersion,
    Resolution,
    Route,
    RouteTable,
    SocketBuffers,
    TcpKeepalive,
    encode_proxy_header,
    parse_proxy_header,
)
from support import (
    CLIENT,
    TIMEOUT,
    client_hello,
    daemon_threads,
    echo_server,
    own_sockets,
    read_all,
    run_script,
    server_of,
    through_proxy,
    wait_for,
)

EXAMPLE = Path(__file__).parents[2] / "examples/embed_proxy.py"
NAME = "a.example.com"
HELLO = client_hello(NAME) + b"and more"
HTTPS = Endpoint("127.0.0.1", 443)
ANY_PORT = {443: 0}
NOWHERE = ("127.0.0.1", 9)
LONG = timedelta(hours=1)  # passed only when something is broken
TWO_TO_64_MICROSECONDS = timedelta(days=213_503_982, hours=9)  # and an hour


def table(places: dict[str, tuple[str, int]], listener: Endpoint = HTTPS) -> RouteTable:
    """Each name has a backend of the same name."""
    return RouteTable(
        [Listener(listener)],
        [Backend(name, endpoints=[Endpoint(*place)]) for name, place in places.items()],
        [Route(listener.port, name, names=[name]) for name in places],
    )


def table_to(backend: Backend, listener: Listener | None = None) -> RouteTable:
    return RouteTable([listener or Listener(HTTPS)], [backend], [Route(443, backend.name, names=[NAME])])


def address_of(engine: Engine) -> tuple[str, int]:
    [listener] = engine.listeners()
    return str(listener.bound.address), listener.bound.port


def exchange(engine: Engine, payload: bytes = HELLO) -> bytes:
    """What a client gets; nothing where it is turned away."""
    try:
        return through_proxy(address_of(engine), payload)
    except OSError as error:
        if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
            raise
        return b""


def test_leads_each_name_to_its_backend() -> None:
    with server_of(lambda _: b"a") as a, server_of(lambda _: b"b") as b:
        engine = Engine(table({NAME: a, "b.example.com": b}), port_map=ANY_PORT)
        assert engine.listeners() == []
        with engine as same:
            assert same is engine
            [listener] = engine.listeners()
            assert (listener.configured, listener.kind) == (HTTPS, ListenerKind.tls)
            assert listener.bound.port not in (0, 443)
            assert exchange(engine) == b"a"
            assert exchange(engine, client_hello("b.example.com")) == b"b"
            assert exchange(engine, client_hello("c.example.com")) == b""
        stats = engine.stats()
        assert (stats.accepted, stats.active) == (3, 0)
        assert (stats.decisions["exact"], stats.decisions["no_match"]) == (2, 1)
        assert (stats.closed["finished"], stats.closed["unknown_name"]) == (2, 1)
        assert (stats.backends[NAME].total, stats.backends[NAME].bytes_to_client) == (1, 1)
        assert engine.listeners() == []


@contextlib.contextmanager
def tls_server(folder: Path, name: str) -> Iterator[tuple[str, int]]:
    """Answers one client in capital letters, with a certificate that root-ca.crt in `folder` leads to."""
    plan = pki.plan_pki(
        "HandMade",
        name.removeprefix("api."),
        api_vip="192.168.126.10",
        service_address="172.30.0.1",
        bootstrap=("bootstrap", "192.168.126.100"),
        control_plane=[("master-0", "192.168.126.101")],
    )
    made = pki.complete_pki(plan, folder)
    made.write(folder)
    (folder / "chain.pem").write_text(made.chain_pem("kube-apiserver"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "chain.pem", folder / "kube-apiserver.key")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT)

        def serve() -> None:
            connection, _ = server.accept()
            connection.settimeout(TIMEOUT)
            with context.wrap_socket(connection, server_side=True) as tls:
                tls.sendall(tls.recv(100).upper())

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def test_a_tls_client_sees_the_certificate_of_the_server_that_it_names(tmp_path: Path) -> None:
    name = "api.ocp4.example.com"
    with tls_server(tmp_path, name) as place, Engine(table({name: place}), port_map=ANY_PORT) as engine:
        context = ssl.create_default_context(cafile=str(tmp_path / "root-ca.crt"))
        with (
            socket.create_connection(address_of(engine), TIMEOUT) as raw,
            context.wrap_socket(raw, server_hostname=name) as tls,
        ):
            tls.sendall(b"through")
            assert tls.recv(100) == b"THROUGH"


def test_another_table_moves_a_name() -> None:
    with server_of(lambda _: b"old") as old, server_of(lambda _: b"new") as new:
        engine = Engine(table({}), port_map=ANY_PORT)
        engine.replace(table({NAME: old}))  # for the start
        with engine:
            before = address_of(engine)
            assert exchange(engine) == b"old"
            engine.replace(table({NAME: new}))
            assert address_of(engine) == before
            assert exchange(engine) == b"new"
            [backend] = engine.table.backends
            assert backend.endpoints == [Endpoint(*new)]
            engine.replace(table({}))
            assert exchange(engine) == b""
    with pytest.raises(hcpnet.Error, match="was stopped"):
        engine.replace(table({}))


def test_a_table_that_cannot_be_served_changes_nothing() -> None:
    with echo_server() as place, socket.create_server(("127.0.0.1", 0)) as taken:
        wrong = table({}, Endpoint(*taken.getsockname()))
        with Engine(table({NAME: place}), port_map=ANY_PORT) as engine:
            before = address_of(engine)
            with pytest.raises(OSError, match=str(taken.getsockname()[1])) as error:
                engine.replace(wrong)
            assert error.value.errno == errno.EADDRINUSE
            assert address_of(engine) == before
            assert [backend.name for backend in engine.table.backends] == [NAME]
            assert exchange(engine) == HELLO
        engine = Engine(wrong)
        with pytest.raises(OSError, match=str(taken.getsockname()[1])):
            engine.start()
        assert engine.listeners() == []
        taken.close()
        with engine:
            assert len(engine.listeners()) == 1


def test_a_start_that_fails_forgets_nothing() -> None:
    with echo_server() as place, socket.create_server(("127.0.0.1", 0)) as taken:
        engine = Engine(table({NAME: place}, Endpoint(*taken.getsockname())))
        engine.set_other_listeners([Endpoint(*place)])
        with pytest.raises(OSError, match=str(taken.getsockname()[1])):
            engine.start()
        taken.close()
        with engine:
            assert exchange(engine) == b""
            assert engine.stats().loops_refused == 1


def test_a_client_belongs_to_the_cluster_that_was_said() -> None:
    with echo_server() as place:
        routes = RouteTable(
            [Listener(HTTPS)],
            [Backend("own", endpoints=[Endpoint(*place)])],
            [Route(443, "own", no_sni=True, source_cluster="ns/blue")],
            clusters={CLIENT: "ns/blue"},
        )
        hello = client_hello(None)
        with Engine(routes, port_map=ANY_PORT) as engine:
            assert exchange(engine, hello) == hello
            engine.set_source_clusters({})
            assert exchange(engine, hello) == b""
            assert engine.table.clusters == {}
            engine.replace(routes)
            assert exchange(engine, hello) == hello


def test_the_embedder_is_asked_for_endpoints() -> None:
    asked: list[tuple[str, int]] = []
    backend = Backend(NAME, host="api.internal", port=6443)
    with echo_server() as place:

        def resolve(host: str, port: int) -> Resolution:
            asked.append((host, port))
            return Resolution([Endpoint(*place)], ttl=3600)

        with Engine(table_to(backend), port_map=ANY_PORT, resolve=resolve) as engine:
            assert exchange(engine) == HELLO
            assert exchange(engine) == HELLO
    assert asked == [("api.internal", 6443)]


@pytest.mark.parametrize("workers", [1, 3])
def test_each_connection_has_its_line_before_the_stop_returns(workers: int) -> None:
    lines: list[str] = []
    with echo_server() as place:
        engine = Engine(
            table({NAME: place}), workers=workers, port_map=ANY_PORT, access_log=lines.append, access_log_format="json"
        )
        with engine:
            for _ in range(20):
                assert exchange(engine) == HELLO
        assert engine.stats().accepted == 20
    records = [json.loads(line) for line in lines]
    assert len(records) == 20
    assert {(r["sni"], r["backend"], r["reason"]) for r in records} == {(NAME, NAME, "finished")}
    assert {r["client"].split(":")[0] for r in records} == {CLIENT}


def test_a_template_says_what_a_line_holds() -> None:
    lines: list[str] = []
    with (
        echo_server() as place,
        Engine(
            table({NAME: place}), port_map=ANY_PORT, access_log=lines.append, access_log_format="%{sni} %{reason}"
        ) as engine,
    ):
        assert exchange(engine) == HELLO
    assert lines == [f"{NAME} finished"]


def test_without_an_access_log_a_connection_is_a_log_record() -> None:
    records: list[hcpnet.LogRecord] = []
    with (
        echo_server() as place,
        Engine(table({NAME: place}), port_map=ANY_PORT, log=records.append) as engine,
    ):
        assert exchange(engine) == HELLO
    [closed] = [record for record in records if record.message == "connection closed"]
    assert (closed.component, closed.fields["sni"]) == ("proxy", NAME)


@contextlib.contextmanager
def tunnel(engine: Engine) -> Iterator[socket.socket]:
    """A client that has sent a hello and not finished."""
    with socket.create_connection(address_of(engine), TIMEOUT) as client:
        client.sendall(HELLO)
        wait_for(lambda: engine.stats().decisions["exact"] == 1)
        yield client


def test_stop_lets_tunnels_finish() -> None:
    with echo_server() as place:
        engine = Engine(table({NAME: place}), port_map=ANY_PORT, drain_timeout=LONG)
        engine.start()
        address = address_of(engine)
        with tunnel(engine) as client:
            stopping = threading.Thread(target=engine.stop)
            stopping.start()
            wait_for(lambda: engine.is_draining)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, TIMEOUT)
            assert stopping.is_alive()
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == HELLO
        stopping.join()
        engine.stop()
        assert engine.stats().closed["finished"] == 1


def test_a_second_stop_brings_the_end_nearer() -> None:
    with echo_server() as place:
        engine = Engine(table({NAME: place}), workers=2, port_map=ANY_PORT, drain_timeout=LONG)
        engine.start()
        with tunnel(engine) as client:
            stopping = [threading.Thread(target=engine.stop) for _ in range(3)]
            for thread in stopping:
                thread.start()
            wait_for(lambda: engine.is_draining)
            engine.stop(timedelta(0))
            for thread in stopping:
                thread.join()
            with contextlib.suppress(ConnectionResetError):
                assert read_all(client) == b""
        assert engine.stats().closed["stopped"] == 1


def test_drain_turns_new_clients_away_and_leaves_tunnels() -> None:
    with echo_server() as place, Engine(table({NAME: place}), port_map=ANY_PORT) as engine:
        address = address_of(engine)
        with tunnel(engine) as client:
            assert not engine.is_draining
            engine.drain()
            assert engine.is_draining
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, TIMEOUT)
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == HELLO


def test_two_engines_serve_side_by_side() -> None:
    with (
        echo_server() as place,
        Engine(table({NAME: place}), port_map=ANY_PORT) as inner,
        Engine(table({NAME: address_of(inner)}), port_map=ANY_PORT) as outer,
    ):
        assert exchange(outer) == HELLO
        assert inner.stats().accepted == outer.stats().accepted == 1
        outer.set_other_listeners([listener.bound for listener in inner.listeners()])
        assert exchange(outer) == b""
        assert outer.stats().loops_refused == 1
        inner.stop()
        assert len(outer.listeners()) == 1


def test_limits_hold() -> None:
    with echo_server() as place, Engine(table({NAME: place}), port_map=ANY_PORT, max_connections=1) as engine:
        with tunnel(engine):
            assert exchange(engine) == b""
            assert engine.stats().limit_refused == 1
        wait_for(lambda: engine.stats().active == 0)
        assert exchange(engine) == HELLO


def test_a_client_that_says_nothing_is_not_waited_for() -> None:
    quick = timedelta(milliseconds=50)
    with (
        Engine(table({NAME: NOWHERE}), port_map=ANY_PORT, inspect_timeout=quick) as engine,
        socket.create_connection(address_of(engine), TIMEOUT) as client,
    ):
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
        wait_for(lambda: engine.stats().inspect_timeouts == 1)


def test_an_unhealthy_endpoint_is_left_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = Endpoint(*closed.getsockname())
    with echo_server() as place:
        backend = Backend(
            NAME,
            endpoints=[dead, Endpoint(*place)],
            balance=Balance.least_connections,
            health_check=HealthCheck(interval=timedelta(milliseconds=100), timeout=timedelta(milliseconds=100)),
        )
        with Engine(table_to(backend), port_map=ANY_PORT) as engine:

            def is_known() -> bool:
                found = engine.stats().backends
                return NAME in found and dead in found[NAME].endpoints and not found[NAME].endpoints[dead].is_healthy

            wait_for(is_known)
            assert exchange(engine) == HELLO
            assert engine.stats().endpoint_failures == 0


def test_headers_of_the_proxy_protocol_come_in_and_go_out() -> None:
    with echo_server() as place:
        backend = Backend(NAME, endpoints=[Endpoint(*place)], proxy_header=ProxyHeaderVersion.v1)
        listener = Listener(HTTPS, trusted_proxies=["127.0.0.0/8"])
        ends = ProxyHeader.Addresses(Endpoint("192.0.2.9", 4000), Endpoint("192.0.2.1", 443))
        with Engine(table_to(backend, listener), port_map=ANY_PORT) as engine:
            answer = exchange(engine, encode_proxy_header(ProxyHeaderVersion.v2, ends) + HELLO)
            assert parse_proxy_header(answer).addresses == ends
            assert answer.endswith(HELLO)
            assert exchange(engine) == b""
            assert engine.stats().proxy_header_refused == 1


def test_a_listener_refuses_sources_and_counts() -> None:
    listener = Listener(HTTPS, deny=[f"{CLIENT}/32"], max_connections=1)
    with (
        echo_server() as place,
        Engine(table_to(Backend(NAME, endpoints=[Endpoint(*place)]), listener), port_map=ANY_PORT) as engine,
    ):
        assert exchange(engine) == b""
        assert engine.stats().source_denied == 1


def test_parts_show_what_they_are_made_of() -> None:
    check = HealthCheck(kind=HealthCheck.Kind.tls, server_name="h.example.com", failures=4)
    backend = Backend(
        "a",
        host="a.svc",
        port=1,
        cluster="ns/blue",
        target="ns/a:1",
        connect_timeout=timedelta(milliseconds=1500),
        idle_timeout=timedelta(hours=2),
        balance=Balance.random_of_two,
        max_connections=7,
        health_check=check,
        ejection=Ejection(failures=0),
        proxy_header=ProxyHeaderVersion.v2,
    )
    listener = Listener(
        HTTPS, max_connections=9, trusted_proxies=["192.0.2.0/24"], interface="lo", dial_from=["127.0.0.1"]
    )
    routes = table_to(backend, listener)
    [shown] = routes.backends
    assert (shown.cluster, shown.target, shown.balance, shown.max_connections) == (
        "ns/blue",
        "ns/a:1",
        Balance.random_of_two,
        7,
    )
    assert (shown.connect_timeout, shown.idle_timeout) == (timedelta(seconds=1.5), timedelta(hours=2))
    assert (shown.ejection.failures, shown.ejection.duration) == (0, timedelta(seconds=30))
    assert shown.proxy_header is ProxyHeaderVersion.v2
    assert shown.health_check is not None
    assert (shown.health_check.kind, shown.health_check.server_name) == (HealthCheck.Kind.tls, "h.example.com")
    assert (shown.health_check.failures, shown.health_check.successes) == (4, 2)
    assert (shown.health_check.interval, shown.health_check.timeout) == (timedelta(seconds=10), timedelta(seconds=2))
    [accepting] = routes.listeners
    assert (accepting.max_connections, accepting.interface) == (9, "lo")
    assert [str(x) for x in accepting.trusted_proxies + accepting.dial_from] == ["192.0.2.0/24", "127.0.0.1"]
    plain = Backend("b")
    assert (plain.balance, plain.health_check, plain.idle_timeout) == (Balance.round_robin, None, None)
    assert (plain.ejection.failures, plain.connect_timeout) == (5, timedelta(seconds=30))
    keepalive, buffers = TcpKeepalive(probes=2), SocketBuffers(receive_bytes=0, send_bytes=262_144)
    assert (keepalive.idle, keepalive.interval, keepalive.probes) == (timedelta(minutes=1), timedelta(seconds=15), 2)
    assert (buffers.receive_bytes, buffers.send_bytes, SocketBuffers().send_bytes) == (0, 262_144, None)
    Engine(routes, keepalive=keepalive, buffers=buffers)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda t: Engine(t, workers=0), "workers: 0"),
        (lambda t: Engine(t, max_connections=0), "max_connections: 0"),
        (lambda t: Engine(t, max_connections_per_source=-1), "max_connections_per_source"),
        (lambda t: Engine(t, max_connect_attempts=101), "max_connect_attempts"),
        (lambda t: Engine(t, max_hello_bytes=32_769), "max_hello_bytes"),
        (lambda t: Engine(t, inspect_timeout=timedelta(0)), "inspect_timeout"),
        (lambda t: Engine(t, udp_idle_timeout=timedelta(days=36_500)), "udp_idle_timeout"),
        (lambda t: Engine(t, drain_timeout=timedelta(seconds=-1)), "drain_timeout"),
        (lambda t: Engine(t, drain_timeout=TWO_TO_64_MICROSECONDS), "drain_timeout"),
        (lambda t: Engine(t, access_log_format="%{none}"), "access_log_format"),
        (lambda t: Engine(t).stop(timedelta(seconds=-1)), "patience"),
        (lambda t: Engine(t).stop(timedelta(microseconds=-1)), "patience"),
        (lambda _: TcpKeepalive(idle=timedelta(seconds=32_768)), "idle"),
        (lambda _: TcpKeepalive(idle=TWO_TO_64_MICROSECONDS), "idle"),
        (lambda _: TcpKeepalive(probes=0), "probes"),
        (lambda _: SocketBuffers(send_bytes=1), "send_bytes"),
        (lambda _: Backend("a", connect_timeout=timedelta(0)), "connect_timeout"),
        (lambda _: Backend("a", idle_timeout=timedelta(0)), "idle_timeout"),
        (lambda _: Backend("a", max_connections=-1), "max_connections"),
        (lambda _: HealthCheck(failures=0), "failures"),
        (lambda _: HealthCheck(timeout=timedelta(minutes=1)), "timeout: must not be longer"),
        (lambda _: Ejection(duration=timedelta(0)), "duration"),
        (lambda _: Listener(HTTPS, max_connections=1_000_001), "max_connections"),
        (lambda _: Listener(HTTPS, interface="x" * 16), "interface"),
        (lambda _: Listener(HTTPS, dial_from=["nowhere"]), "nowhere"),
    ],
)
def test_a_value_out_of_its_range_is_named(make: Callable[[RouteTable], object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make(table({}))


@pytest.mark.parametrize("callback", ["access_log", "log", "resolve"])
def test_what_a_callback_raises_costs_nobody_else(callback: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda hook: raised.append(str(hook.exc_value)))

    def fail(*_: object) -> None:
        raise RuntimeError("told")

    with echo_server() as place:
        routes = RouteTable(
            [Listener(HTTPS)],
            [Backend("by name", host="a.internal", port=1), Backend("known", endpoints=[Endpoint(*place)])],
            [Route(443, "by name", names=["b.example.com"]), Route(443, "known", names=[NAME])],
        )
        options = {"resolve": lambda _host, _port: [Endpoint(*place)]} | {callback: fail}
        with Engine(routes, port_map=ANY_PORT, **options) as engine:  # type: ignore[arg-type]
            hello = client_hello("b.example.com")
            assert exchange(engine, hello) == (b"" if callback == "resolve" else hello)
            assert engine.stats().resolve_failures == (callback == "resolve")
            assert exchange(engine) == HELLO
    assert set(raised) == {"told"}


@pytest.mark.parametrize(
    ("answer", "kind"), [(None, "NoneType"), ("192.0.2.1", "str"), ([("192.0.2.1", 1)], "list"), ({}, "dict")]
)
def test_an_answer_of_the_wrong_class_is_named(answer: object, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[BaseException | None] = []
    monkeypatch.setattr("sys.unraisablehook", lambda hook: raised.append(hook.exc_value))
    routes = table_to(Backend(NAME, host="a.internal", port=1))
    with Engine(routes, port_map=ANY_PORT, resolve=lambda _host, _port: answer) as engine:  # type: ignore[arg-type,return-value]
        assert exchange(engine) == b""
        assert engine.stats().resolve_failures == 1
    [error] = raised
    assert isinstance(error, TypeError)
    assert str(error) == f"returned a {kind}: a sequence of Endpoint, or a Resolution, is needed"


def test_a_callback_inside_a_callback_changes_nothing() -> None:
    told: list[hcpnet.LogRecord] = []
    said: list[str] = []
    too_much = SocketBuffers(send_bytes=1 << 30)  # which start() says

    def access_log(_: str) -> None:
        with Engine(table({}), port_map=ANY_PORT, buffers=too_much, log=told.append):
            pass
        with pytest.raises(hcpnet.Error) as error:
            engine.stats()
        said.append(str(error.value))

    with echo_server() as place, Engine(table({NAME: place}), port_map=ANY_PORT, access_log=access_log) as engine:
        assert exchange(engine) == HELLO
    assert [record.fields["buffer"] for record in told] == ["send"]
    assert said == ["a callback must not call the engine that called it"]


def test_a_callback_cannot_call_its_engine() -> None:
    said: list[str] = []
    other = table({})

    def access_log(_: str) -> None:
        calls: list[Callable[[], object]] = [engine.stats, engine.stop, engine.listeners, lambda: engine.replace(other)]
        for call in calls:
            with pytest.raises(hcpnet.Error) as error:
                call()
            said.append(str(error.value))

    with echo_server() as place, Engine(table({NAME: place}), port_map=ANY_PORT, access_log=access_log) as engine:
        assert exchange(engine) == HELLO
    assert said == ["a callback must not call the engine that called it"] * 4


def test_stop_lets_go_of_the_callbacks() -> None:
    class Owner:
        def __init__(self) -> None:
            self.engine = Engine(table({}), port_map=ANY_PORT, access_log=self.access_log)

        def access_log(self, line: str) -> None: ...

    owner = Owner()
    seen = weakref.ref(owner)
    with owner.engine:
        pass
    del owner
    gc.collect()
    assert seen() is None


def test_an_engine_starts_once() -> None:
    with Engine(table({}), port_map=ANY_PORT) as engine, pytest.raises(hcpnet.Error, match="the engine runs already"):
        engine.start()
    with pytest.raises(hcpnet.Error, match="a stopped engine does not start again"):
        engine.start()
    with pytest.raises(TypeError, match="callable"):
        Engine(table({}), log=3)  # type: ignore[arg-type]


def run_with_table(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a new interpreter that has `table` and `address_of`."""
    prelude = """
        import gc, os, socket, threading
        from hcpnet.proxy import Backend, Engine, Listener, Route, RouteTable
        table = RouteTable(
            [Listener(hcpnet.Endpoint("127.0.0.1", 443))],
            [Backend("a", is_unserved=True)],
            [Route(443, "a", names=["a.example.com"])],
        )
        def address_of(engine):
            [listener] = engine.listeners()
            return str(listener.bound.address), listener.bound.port
    """
    return run_script(textwrap.dedent(prelude) + textwrap.dedent(script))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_open_engine_does_not_keep_the_interpreter(workers: int) -> None:
    done = run_with_table(
        f"""
        from datetime import timedelta
        engine = Engine(table, workers={workers}, port_map={{443: 0}}, drain_timeout=timedelta(0), access_log=print)
        engine.start()
        sys.engine = engine  # outlives the module
        sys.client = socket.create_connection(address_of(engine))
        while engine.stats().active == 0:
            pass
        print("alive", flush=True)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    alive, line = done.stdout.splitlines()
    assert alive == "alive"
    assert line.endswith("stopped")


@pytest.mark.parametrize("call", ["engine.stats(); engine.listeners()", "engine.replace(table)"])
def test_the_interpreter_ends_while_daemon_threads_call(call: str) -> None:
    done = run_with_table(
        f"""
        engine = Engine(table, workers=2, port_map={{443: 0}}, access_log=lambda line: None)
        engine.start()
        {daemon_threads(call)}
        """
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    assert "Fatal" not in done.stderr


def test_the_last_reference_may_go_inside_a_callback() -> None:
    done = run_with_table(
        """
        owner = {}
        gone = threading.Event()
        def access_log(line):
            owner.clear()
            gone.set()
        owner["engine"] = Engine(table, port_map={443: 0}, access_log=access_log)
        owner["engine"].start()
        address = address_of(owner["engine"])
        socket.create_connection(address).close()
        assert gone.wait(30)
        try:
            while True:
                socket.create_connection(address).close()
        except ConnectionError:
            print("closed", flush=True)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


def test_an_engine_that_is_forgotten_closes_at_once() -> None:
    with echo_server() as place:
        engines = [Engine(table({NAME: place}), workers=2, port_map=ANY_PORT, drain_timeout=LONG)]
        engines[0].start()
        address = address_of(engines[0])
        with socket.create_connection(address, TIMEOUT) as client:
            client.sendall(HELLO)
            wait_for(lambda: engines[0].stats().decisions["exact"] == 1)
            engines.clear()
            gc.collect()
            with contextlib.suppress(ConnectionResetError):
                assert read_all(client) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, TIMEOUT)


def test_a_forked_child_makes_its_own() -> None:
    done = run_with_table(
        """
        engine = Engine(table, port_map={443: 0}, log=lambda record: None)
        engine.start()
        child = os.fork()
        if child == 0:
            try:
                engine.stats()
            except hcpnet.Error as error:
                print(error, flush=True)
            engine.stop()  # nothing to do here
            del engine
            gc.collect()
            with Engine(table, port_map={443: 0}) as own:
                print(len(own.listeners()), flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        socket.create_connection(address_of(engine)).close()
        """
    )
    said = "this engine belongs to the process that made it; after a fork make a new one"
    assert (done.stdout.splitlines(), done.stderr) == ([said, "1", "0"], "")


def test_programs_that_are_started_do_not_get_sockets() -> None:
    before = own_sockets()
    routes = RouteTable(
        [Listener(HTTPS), Listener(Endpoint("127.0.0.1", 53), kind=ListenerKind.udp)],
        [Backend("a", is_unserved=True)],
        [Route(443, "a", names=[NAME])],
    )
    with Engine(routes, workers=2, port_map=ANY_PORT | {53: 0}):
        made = own_sockets() - before
        assert len(made) == 4
        assert [number for number in made if os.get_inheritable(number)] == []


def test_the_example_runs() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {"asked for bastion.internal", "one", "two"} <= set(lines)
    assert len([line for line in lines if re.search(r" bastion .* finished$", line)]) == 2
