# SPDX-License-Identifier: Apache-2.0
"""Zones and counters of DNS."""

from hcpnet._core.dns import (
    RRset,
    ServerStats,
    Zone,
)

__all__ = [
    "RRset",
    "ServerStats",
    "Zone",
]
