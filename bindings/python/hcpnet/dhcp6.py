# SPDX-License-Identifier: Apache-2.0
"""Leases of DHCPv6."""

from hcpnet._core.dhcp6 import (
    Lease,
    LeaseEvent,
)

__all__ = [
    "Lease",
    "LeaseEvent",
]
