# SPDX-License-Identifier: Apache-2.0
"""Reading and checking specs."""

from hcpnet._core.spec import (
    Ipv4Range,
    ObjectMeta,
    ValidCluster,
    ValidDhcp,
    ValidDhcpPolicy,
    ValidDhcpPool,
    ValidDhcpServer,
    ValidDhcpSubnet,
    ValidDns,
    ValidDnsServer,
    ValidInfra,
    ValidProxy,
    ValidProxyServer,
    ValidSet,
    ValidSharedStore,
    check,
)

__all__ = [
    "Ipv4Range",
    "ObjectMeta",
    "ValidCluster",
    "ValidDhcp",
    "ValidDhcpPolicy",
    "ValidDhcpPool",
    "ValidDhcpServer",
    "ValidDhcpSubnet",
    "ValidDns",
    "ValidDnsServer",
    "ValidInfra",
    "ValidProxy",
    "ValidProxyServer",
    "ValidSet",
    "ValidSharedStore",
    "check",
]
