# SPDX-License-Identifier: Apache-2.0
"""The proxy: routes, counters, and configurations of other programs."""

from hcpnet._core.proxy import (
    Backend,
    BackendStats,
    Decision,
    EngineStats,
    Listener,
    ListenerKind,
    Protocol,
    Resolution,
    Route,
    RouteTable,
    render,
    route_tables,
)

__all__ = [
    "Backend",
    "BackendStats",
    "Decision",
    "EngineStats",
    "Listener",
    "ListenerKind",
    "Protocol",
    "Resolution",
    "Route",
    "RouteTable",
    "render",
    "route_tables",
]
