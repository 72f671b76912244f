# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with manifests, certificates, Ignition configs and the like, found before it does."""

from hcpnet._core.lint import (
    Report,
    Rule,
    SuppressedFinding,
    Suppression,
    check,
    find_rule,
    parse_suppressions,
    read_files,
    rules,
)

__all__ = [
    "Report",
    "Rule",
    "SuppressedFinding",
    "Suppression",
    "check",
    "find_rule",
    "parse_suppressions",
    "read_files",
    "rules",
]
