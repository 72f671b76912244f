# SPDX-License-Identifier: Apache-2.0
"""YAML for every reader, JSON Patch, merge patch, and JSON Patch as HyperShift applies it."""

from hcpnet._core.text import (
    HypershiftPatched,
    apply_hypershift_patches,
    apply_json_patch,
    apply_merge_patch,
    render_yaml,
)

__all__ = [
    "HypershiftPatched",
    "apply_hypershift_patches",
    "apply_json_patch",
    "apply_merge_patch",
    "render_yaml",
]
