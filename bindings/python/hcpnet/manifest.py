# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects that run a set of specs, and the names of hosted clusters."""

from hcpnet._core.manifest import (
    ClusterNames,
    PortFallback,
    PublishedName,
    PublishedNames,
    PublishingStrategies,
    ServiceTarget,
    cut_name,
    make_published_names,
    make_publishing_strategies,
    render,
)

__all__ = [
    "ClusterNames",
    "PortFallback",
    "PublishedName",
    "PublishedNames",
    "PublishingStrategies",
    "ServiceTarget",
    "cut_name",
    "make_published_names",
    "make_publishing_strategies",
    "render",
]
