# SPDX-License-Identifier: Apache-2.0
"""Keys and certificates of a cluster, in a folder that follows a plan."""

from hcpnet._core.pki import (
    ExpiryEntry,
    OutputFile,
    PkiPlan,
    PlannedCertificate,
    StoreChange,
    StoredPki,
    complete_pki,
    plan_pki,
    report_expiry,
)

__all__ = [
    "ExpiryEntry",
    "OutputFile",
    "PkiPlan",
    "PlannedCertificate",
    "StoreChange",
    "StoredPki",
    "complete_pki",
    "plan_pki",
    "report_expiry",
]
