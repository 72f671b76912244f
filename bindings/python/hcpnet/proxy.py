# SPDX-License-Identifier: Apache-2.0
"""Counters of the proxy."""

from hcpnet._core.proxy import (
    BackendStats,
    EngineStats,
)

__all__ = [
    "BackendStats",
    "EngineStats",
]
