# SPDX-License-Identifier: Apache-2.0
"""A set of specifications as hcpnet takes it, and its answers as Ansible takes them."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    import hcpnet
    from hcpnet import manifest, spec
except ImportError:
    HCPNET_IMPORT_ERROR: str | None = traceback.format_exc()
else:
    HCPNET_IMPORT_ERROR = None

MASK = "********"
SECRET = re.compile(r"""kind["']?\s*:\s*["']?Secret(List)?\b""")
MAX_FILE_BYTES = 64 * 1024 * 1024  # what hcpnet takes at most, of observed objects
SPEC_ARGUMENTS: dict[str, Any] = {
    "files": {"type": "list", "elements": "path", "default": []},
    "definitions": {"type": "list", "elements": "dict", "default": []},
    "observed": {"type": "list", "elements": "path", "default": []},
    "record_files": {"type": "list", "elements": "path", "default": []},
}
DEPLOYMENT_ARGUMENTS: dict[str, Any] = {
    "deployment": {"type": "str", "choices": ["one", "split", "coredns-envoy"], "default": "one"},
    "image": {"type": "str"},
    "coredns_image": {"type": "str"},
    "link": {"type": "str"},
    "without": {
        "type": "list",
        "elements": "str",
        "choices": ["MultiNetworkPolicy", "MutatingAdmissionPolicy", "SecurityContextConstraints", "ServiceMonitor"],
        "default": [],
    },
    "admission_version": {"type": "str", "choices": ["v1", "v1beta1", "v1alpha1"], "default": "v1"},
}


def require_hcpnet(module: AnsibleModule) -> None:
    """Ends the module where the Python package is missing."""
    if HCPNET_IMPORT_ERROR is not None:
        module.fail_json(msg=missing_required_lib("hcpnet"), exception=HCPNET_IMPORT_ERROR)


def read_texts(module: AnsibleModule, paths: Iterable[str]) -> dict[str, str]:
    """The texts of files by their paths; ends the module where one can't be read."""
    texts: dict[str, str] = {}
    for path in paths:
        try:
            with Path(path).open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
            texts[path] = content.decode()  # hcpnet itself says when it is too much
        except OSError as error:
            module.fail_json(msg=f"{path}: {error.strerror}")
        except UnicodeDecodeError as error:
            module.fail_json(msg=f"{path}: this is no UTF-8, from byte {error.start} on")
    return texts


def hide_secrets(module: AnsibleModule, definitions: Iterable[Mapping[str, Any]]) -> None:
    """Keeps values of Secrets, which no set has, out of everything that Ansible shows of this call."""
    for definition in definitions:
        if definition.get("kind") != "Secret":
            continue
        for part in ("data", "stringData"):
            values = definition.get(part)
            if isinstance(values, Mapping):
                module.no_log_values.update(str(value) for value in values.values() if value)


@dataclass
class TextSet:
    """What hcpnet is given, by the names that findings call it."""

    texts: dict[str, str]
    observed: dict[str, str]
    record_files: dict[str, str]


def read_set(module: AnsibleModule) -> TextSet:
    """The texts of the set, of what was observed, and of the zone files and hosts files that policies name."""
    require_hcpnet(module)
    definitions = module.params["definitions"]
    hide_secrets(module, definitions)
    texts = read_texts(module, module.params["files"])
    if definitions:
        items = {"apiVersion": "v1", "kind": "List", "items": definitions}
        try:
            texts["(definitions).json"] = json.dumps(items, allow_nan=False)  # no file is called so
        except (TypeError, ValueError) as error:  # what YAML makes of 2026-01-02, or .inf
            module.fail_json(msg=f"definitions: {error}; quotes make it a text")
    if not texts:
        module.fail_json(msg="there is no set: give files or definitions")
    observed, records = (read_texts(module, module.params[name]) for name in ("observed", "record_files"))
    return TextSet(texts, observed, records)


def deployment_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of hcpnet.manifest.render()."""
    return {name: params[name] for name in DEPLOYMENT_ARGUMENTS if params.get(name) is not None}


def finding(diagnostic: hcpnet.Diagnostic) -> dict[str, Any]:
    """One problem as a value of Ansible."""
    return {
        "severity": diagnostic.severity.name,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "path": diagnostic.path,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "found": diagnostic.found,
        "expected": diagnostic.expected,
    }


def sentence(problem: Mapping[str, Any]) -> str:
    """One line that says what is wrong and where."""
    return f"{problem['file']}:{problem['line']}: {problem['path']}: {problem['message']} [{problem['code']}]"


def fail_with(module: AnsibleModule, error: ValueError) -> NoReturn:
    """Ends the module; of a set that is wrong with every problem at once."""
    problems = [finding(d) for d in getattr(error, "diagnostics", [])]
    errors = [p for p in problems if p["severity"] == "error"]
    module.fail_json(msg="\n".join(sentence(p) for p in errors) or str(error), findings=problems)
    raise AssertionError  # the process has ended


def check_set(module: AnsibleModule, given: TextSet) -> list[dict[str, Any]]:
    """Warnings about a set that is right; each is shown too. Ends the module where it is wrong."""
    try:
        checked = spec.check(given.texts, hosted_clusters=True, record_files=given.record_files)
    except ValueError as error:
        fail_with(module, error)
    warnings = [finding(d) for d in checked.warnings]
    for warning in warnings:
        module.warn(sentence(warning))
    return warnings


def render_set(module: AnsibleModule, given: TextSet) -> list[dict[str, Any]]:
    """The objects of a set; ends the module where it can't be deployed so."""
    try:
        return manifest.render(
            given.texts,
            observed=given.observed,
            record_files=given.record_files,
            **deployment_options(module.params),
        )
    except ValueError as error:
        fail_with(module, error)


def without_secrets(text: str) -> str:
    """YAML or JSON with the values of Secrets masked: what a diff may show."""
    return "".join(_mask(document) for document in _split(text))


def _split(text: str) -> list[str]:
    """The documents of a YAML text, each with the line that begins it."""
    documents = [""]
    for line in text.splitlines(keepends=True):
        if line.startswith("---"):
            documents.append("")
        documents[-1] += line
    return documents


def _mask(document: str) -> str:
    if not SECRET.search(document):
        return document
    lines = document.splitlines(keepends=True)
    others = "".join(line for line in lines if line != "kind: Secret\n")
    if others == document or SECRET.search(others):
        # A Secret in a list, in JSON, in flow style or in an annotation: what belongs to it can't be told line by line.
        return f"# {MASK}: there is a Secret here\n"
    shown = []
    is_hidden = False
    for line in lines:
        if line[0] not in " \t\r\n-#}]":  # it begins a key of the object
            key = line.split(":")[0].strip(" \"'")
            is_hidden = key in ("data", "stringData")
            shown.append(f"{key}: {MASK}\n" if is_hidden else line)
        elif not is_hidden:
            shown.append(line)
    return "".join(shown)
