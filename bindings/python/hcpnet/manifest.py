# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects that run a set of specs, and the names of hosted clusters."""

from hcpnet._core.manifest import (
    ClusterNames,
    PortFallback,
    PrimaryAddresses,
    PublishedName,
    PublishedNames,
    PublishingStrategies,
    ServiceTarget,
    VmPatchCheck,
    check_vm_patch,
    cut_name,
    first_internal_addresses,
    hypershift_vm_patch,
    ipam_claim_name,
    make_published_names,
    make_publishing_strategies,
    parse_pod_networks,
    render,
    render_guest,
)

__all__ = [
    "ClusterNames",
    "PortFallback",
    "PrimaryAddresses",
    "PublishedName",
    "PublishedNames",
    "PublishingStrategies",
    "ServiceTarget",
    "VmPatchCheck",
    "check_vm_patch",
    "cut_name",
    "first_internal_addresses",
    "hypershift_vm_patch",
    "ipam_claim_name",
    "make_published_names",
    "make_publishing_strategies",
    "parse_pod_networks",
    "render",
    "render_guest",
]
