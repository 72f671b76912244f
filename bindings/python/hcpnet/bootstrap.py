# SPDX-License-Identifier: Apache-2.0
"""What a self-managed cluster boots from: keys, kubeconfigs, static pods, manifests, Ignition configs, stages."""

from hcpnet._core.bootstrap import (
    IgnitionReport,
    OutputFile,
    PkiChange,
    Rendering,
    Stage,
    graph,
    hypershift_pointer,
    merge_ignition,
    render,
    retarget_kubeconfig,
    stages,
)

__all__ = [
    "IgnitionReport",
    "OutputFile",
    "PkiChange",
    "Rendering",
    "Stage",
    "graph",
    "hypershift_pointer",
    "merge_ignition",
    "render",
    "retarget_kubeconfig",
    "stages",
]
