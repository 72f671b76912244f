# SPDX-License-Identifier: Apache-2.0
"""Filter hcpnet.hcpnet.objects; its documentation is in objects.yml."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

try:
    import hcpnet
except ImportError as error:
    HCPNET_IMPORT_ERROR: ImportError | None = error
else:
    HCPNET_IMPORT_ERROR = None


def as_texts(value: object, name: str) -> dict[str, str]:
    """A set as hcpnet takes it: a text as it is, objects as a list in JSON."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {f"{name}.yaml": str(value)}
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise AnsibleFilterError(f"hcpnet.hcpnet.objects: {name} is a text, an object or a list of objects")
    items = {"apiVersion": "v1", "kind": "List", "items": list(value)}
    try:
        return {f"{name}.json": json.dumps(items, allow_nan=False)}
    except (TypeError, ValueError) as error:
        raise AnsibleFilterError(f"hcpnet.hcpnet.objects: {name}: {error}") from error


def objects(value: object, observed: object = None, **options: object) -> list[dict[str, Any]]:
    """Make the objects of a set."""
    if HCPNET_IMPORT_ERROR is not None:
        raise AnsibleFilterError("hcpnet.hcpnet.objects needs the Python package hcpnet") from HCPNET_IMPORT_ERROR
    try:
        return hcpnet.manifest.render(as_texts(value, "set"), observed=as_texts(observed, "observed"), **options)
    except (hcpnet.Error, TypeError, ValueError) as error:
        raise AnsibleFilterError(f"hcpnet.hcpnet.objects: {error}") from error


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their names."""
        return {"objects": objects}
