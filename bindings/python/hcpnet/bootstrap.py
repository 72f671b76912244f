# SPDX-License-Identifier: Apache-2.0
"""What a self-managed cluster boots from: keys, static pods, Ignition configs, load balancer."""

from hcpnet._core.bootstrap import (
    IgnitionReport,
    Rendering,
    Stage,
    complete_pki,
    graph,
    hypershift_pointer,
    load_balancer,
    machine_network,
    merge_ignition,
    plan_pki,
    render,
    render_kubeconfigs,
    retarget_kubeconfig,
    stages,
)

__all__ = [
    "IgnitionReport",
    "Rendering",
    "Stage",
    "complete_pki",
    "graph",
    "hypershift_pointer",
    "load_balancer",
    "machine_network",
    "merge_ignition",
    "plan_pki",
    "render",
    "render_kubeconfigs",
    "retarget_kubeconfig",
    "stages",
]
