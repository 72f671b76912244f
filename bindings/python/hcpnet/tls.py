# SPDX-License-Identifier: Apache-2.0
"""TLS ClientHello inspection."""

from hcpnet._core.tls import (
    ClientHello,
    ClientHelloReader,
    HostKind,
    classify_host,
    parse_client_hello,
)

__all__ = [
    "ClientHello",
    "ClientHelloReader",
    "HostKind",
    "classify_host",
    "parse_client_hello",
]
