# SPDX-License-Identifier: Apache-2.0
"""The proxy: counters, and its routes for other programs."""

from hcpnet._core.proxy import (
    BackendStats,
    EngineStats,
    render,
)

__all__ = [
    "BackendStats",
    "EngineStats",
    "render",
]
