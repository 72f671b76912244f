# SPDX-License-Identifier: Apache-2.0
"""What brings a cluster to what a set asks for."""

from hcpnet._core.reconcile import Action, Held, Plan, make_guest_plan, make_plan

__all__ = ["Action", "Held", "Plan", "make_guest_plan", "make_plan"]
