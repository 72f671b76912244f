# SPDX-License-Identifier: Apache-2.0
"""The network of hosted control planes on KubeVirt: DHCP, split-horizon DNS and a TLS-passthrough proxy.

`Stack` serves a set of spec files; `check_files` only checks one. The modules `spec`, `text`, `tls`, `dhcp`, `dhcp6`,
`dns`, `manifest`, `reconcile`, `bootstrap`, `pki`, `lint` and `proxy` hold what belongs to one part. Names are those
of the C++ library.
"""

from hcpnet import bootstrap, dhcp, dhcp6, dns, lint, manifest, pki, proxy, reconcile, spec, text, tls
from hcpnet._core import (
    CheckedFiles,
    Diagnostic,
    Endpoint,
    Error,
    LogRecord,
    PatchError,
    RouteExplanation,
    Severity,
    SpecError,
    Stack,
    StackEvent,
    StackListener,
    StackReload,
    StackStats,
    StackZone,
    WireError,
    __version__,
    check_files,
)

__all__ = [
    "CheckedFiles",
    "Diagnostic",
    "Endpoint",
    "Error",
    "LogRecord",
    "PatchError",
    "RouteExplanation",
    "Severity",
    "SpecError",
    "Stack",
    "StackEvent",
    "StackListener",
    "StackReload",
    "StackStats",
    "StackZone",
    "WireError",
    "__version__",
    "bootstrap",
    "check_files",
    "dhcp",
    "dhcp6",
    "dns",
    "lint",
    "manifest",
    "pki",
    "proxy",
    "reconcile",
    "spec",
    "text",
    "tls",
]
