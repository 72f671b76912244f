# SPDX-License-Identifier: Apache-2.0
"""Zones and counters of DNS; zone files, and the configuration of other servers."""

from hcpnet._core.dns import (
    Answer,
    Durations,
    ExplainStep,
    Explanation,
    Requests,
    RRset,
    ServerStats,
    Sizes,
    Zone,
    explain,
    next_serial,
    parse_hosts_file,
    parse_zone_file,
    query,
    render,
    render_zone_file,
    zones,
)

__all__ = [
    "Answer",
    "Durations",
    "ExplainStep",
    "Explanation",
    "RRset",
    "Requests",
    "ServerStats",
    "Sizes",
    "Zone",
    "explain",
    "next_serial",
    "parse_hosts_file",
    "parse_zone_file",
    "query",
    "render",
    "render_zone_file",
    "zones",
]
