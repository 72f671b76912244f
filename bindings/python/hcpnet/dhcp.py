# SPDX-License-Identifier: Apache-2.0
"""Leases and counters of DHCP."""

from hcpnet._core.dhcp import (
    Lease,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    ServerStats,
    SubnetStats,
)

__all__ = [
    "Lease",
    "LeaseEvent",
    "LeaseEventKind",
    "LeaseState",
    "ServerStats",
    "SubnetStats",
]
