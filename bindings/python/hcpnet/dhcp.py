# SPDX-License-Identifier: Apache-2.0
"""Leases, lease files and counters of DHCP."""

from hcpnet._core.dhcp import (
    KeptAddress,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    LeaseFileFormat,
    LeaseImport,
    LeaseList,
    LeaseState,
    ListedLease,
    ListedLease6,
    ServerStats,
    ServerStats6,
    StoppedServer,
    SubnetStats,
    parse_lease_file,
    read_oooi_leases,
    render_kea_leases6,
    render_lease_file,
)

__all__ = [
    "KeptAddress",
    "Lease",
    "LeaseEvent",
    "LeaseEventKind",
    "LeaseFileFormat",
    "LeaseImport",
    "LeaseList",
    "LeaseState",
    "ListedLease",
    "ListedLease6",
    "ServerStats",
    "ServerStats6",
    "StoppedServer",
    "SubnetStats",
    "parse_lease_file",
    "read_oooi_leases",
    "render_kea_leases6",
    "render_lease_file",
]
