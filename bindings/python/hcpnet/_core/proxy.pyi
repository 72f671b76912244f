# SPDX-License-Identifier: Apache-2.0
import enum
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

from . import Endpoint, RouteExplanation

_Address: TypeAlias = str | IPv4Address | IPv6Address
_Network: TypeAlias = str | IPv4Network | IPv6Network

class ListenerKind(enum.Enum):
    tls = 0
    http = 1
    tcp = 2
    udp = 3

class Protocol(enum.Enum):
    tcp = 0
    udp = 1

class Listener:
    def __init__(
        self,
        address: Endpoint,
        *,
        kind: ListenerKind = ListenerKind.tls,
        only_names: Sequence[str] = (),
        allow: Sequence[_Network] = (),
        deny: Sequence[_Network] = (),
    ) -> None: ...

class Backend:
    def __init__(self, name: str, *, endpoints: Sequence[Endpoint] = (), host: str = "", port: int = 0) -> None: ...

class Route:
    def __init__(
        self,
        port: int,
        backend: str,
        *,
        names: Sequence[str] = (),
        no_sni: bool = False,
        other_sni: bool = False,
        not_tls: bool = False,
        source_prefixes: Sequence[_Network] = (),
        source_cluster: str = "",
        protocol: Protocol = Protocol.tcp,
    ) -> None: ...

class Decision:
    @property
    def backend(self) -> str | None: ...
    @property
    def rule(self) -> str: ...
    @property
    def matched(self) -> str: ...

class RouteTable:
    def __init__(
        self,
        listeners: Sequence[Listener],
        backends: Sequence[Backend],
        routes: Sequence[Route],
        *,
        clusters: Mapping[_Address, str] = ...,
    ) -> None: ...
    def find(
        self,
        listener: Endpoint,
        server_name: str | None,
        source: _Address,
        *,
        clusters: Mapping[_Address, str] | None = None,
        not_tls: bool = False,
        protocol: Protocol = Protocol.tcp,
    ) -> Decision: ...
    def explain(
        self,
        server_name: str,
        port: int,
        source: _Address,
        *,
        clusters: Mapping[_Address, str] | None = None,
    ) -> list[RouteExplanation]: ...

class Resolution:
    def __init__(self, endpoints: Sequence[Endpoint], ttl: int | None = None) -> None: ...

def route_tables(
    texts: dict[str, str],
    *,
    observed: dict[str, str] = ...,
    endpoints: dict[str, str] = ...,
    record_files: dict[str, str] = ...,
) -> dict[str, RouteTable]: ...
def render(
    texts: dict[str, str],
    target: str,
    *,
    observed: dict[str, str] = ...,
    endpoints: dict[str, str] = ...,
    record_files: dict[str, str] = ...,
    any_address: bool = False,
    file_prefix: str = "",
) -> dict[str, dict[str, str]]: ...

class EndpointStats:
    @property
    def total(self) -> int: ...
    @property
    def active(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def is_healthy(self) -> bool: ...
    @property
    def is_ejected(self) -> bool: ...

class BackendStats:
    @property
    def total(self) -> int: ...
    @property
    def active(self) -> int: ...
    @property
    def connect_failures(self) -> int: ...
    @property
    def connect_timeouts(self) -> int: ...
    @property
    def limit_refused(self) -> int: ...
    @property
    def bytes_to_backend(self) -> int: ...
    @property
    def bytes_to_client(self) -> int: ...
    @property
    def health_checks(self) -> int: ...
    @property
    def health_check_failures(self) -> int: ...
    @property
    def ejections(self) -> int: ...
    @property
    def endpoints(self) -> dict[Endpoint, EndpointStats]: ...

class ListenerStats:
    @property
    def total(self) -> int: ...
    @property
    def active(self) -> int: ...
    @property
    def limit_refused(self) -> int: ...
    @property
    def no_route(self) -> int: ...
    @property
    def inspect_timeouts(self) -> int: ...

class EngineStats:
    @property
    def accepted(self) -> int: ...
    @property
    def active(self) -> int: ...
    @property
    def limit_refused(self) -> int: ...
    @property
    def inspect_timeouts(self) -> int: ...
    @property
    def hello_too_large(self) -> int: ...
    @property
    def hello_malformed(self) -> int: ...
    @property
    def closed_before_hello(self) -> int: ...
    @property
    def connect_failures(self) -> int: ...
    @property
    def idle_timeouts(self) -> int: ...
    @property
    def downstream_resets(self) -> int: ...
    @property
    def upstream_resets(self) -> int: ...
    @property
    def bytes_to_backend(self) -> int: ...
    @property
    def bytes_to_client(self) -> int: ...
    @property
    def decisions(self) -> dict[str, int]: ...
    @property
    def listener_limit_refused(self) -> int: ...
    @property
    def source_limit_refused(self) -> int: ...
    @property
    def backend_limit_refused(self) -> int: ...
    @property
    def source_denied(self) -> int: ...
    @property
    def accept_backoffs(self) -> int: ...
    @property
    def proxy_header_refused(self) -> int: ...
    @property
    def endpoint_failures(self) -> int: ...
    @property
    def connect_timeouts(self) -> int: ...
    @property
    def loops_refused(self) -> int: ...
    @property
    def resolve_failures(self) -> int: ...
    @property
    def stale_answers(self) -> int: ...
    @property
    def routes_removed(self) -> int: ...
    @property
    def buffers_in_use(self) -> int: ...
    @property
    def udp_datagrams(self) -> int: ...
    @property
    def udp_dropped(self) -> int: ...
    @property
    def closed(self) -> dict[str, int]: ...
    @property
    def listeners(self) -> dict[Endpoint, ListenerStats]: ...
    @property
    def backends(self) -> dict[str, BackendStats]: ...
