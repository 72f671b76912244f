# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects that run a set of specs."""

from hcpnet._core.manifest import cut_name, render

__all__ = ["cut_name", "render"]
