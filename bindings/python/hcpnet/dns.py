# SPDX-License-Identifier: Apache-2.0
"""Zones and counters of DNS; zone files, and the configuration of other servers."""

from hcpnet._core.dns import (
    Answer,
    ExplainStep,
    Explanation,
    RRset,
    ServerStats,
    Zone,
    explain,
    next_serial,
    parse_hosts_file,
    parse_zone_file,
    query,
    render,
    render_zone_file,
)

__all__ = [
    "Answer",
    "ExplainStep",
    "Explanation",
    "RRset",
    "ServerStats",
    "Zone",
    "explain",
    "next_serial",
    "parse_hosts_file",
    "parse_zone_file",
    "query",
    "render",
    "render_zone_file",
]
