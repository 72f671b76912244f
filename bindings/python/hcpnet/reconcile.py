# SPDX-License-Identifier: Apache-2.0
"""What brings a cluster to what a set asks for."""

from hcpnet._core.reconcile import Action, Held, ObjectWrite, Plan, WriteStep, make_guest_plan, make_plan, overlay

__all__ = ["Action", "Held", "ObjectWrite", "Plan", "WriteStep", "make_guest_plan", "make_plan", "overlay"]
