# SPDX-License-Identifier: Apache-2.0
"""TLS ClientHello inspection."""

from hcpnet._core.tls import (
    ClientHello,
    HostKind,
    parse_client_hello,
)

__all__ = [
    "ClientHello",
    "HostKind",
    "parse_client_hello",
]
