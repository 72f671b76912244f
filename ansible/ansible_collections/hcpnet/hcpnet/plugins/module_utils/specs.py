# SPDX-License-Identifier: Apache-2.0
"""A set of specifications as hcpnet takes it, and its answers as Ansible takes them."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.output import diff_of, find_changes, without_secrets

try:
    import hcpnet
    from hcpnet import manifest, spec
except ImportError:
    HCPNET_IMPORT_ERROR: str | None = traceback.format_exc()
else:
    HCPNET_IMPORT_ERROR = None

if TYPE_CHECKING:
    from datetime import datetime

    from hcpnet.bootstrap import Rendering
    from hcpnet.pki import StoreChange, StoredPki

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


def hide_secrets(module: AnsibleModule, definitions: Iterable[Any], kind: str = "") -> None:
    """Keeps values of Secrets, which no set has, out of everything that Ansible shows of this call, also from lists."""
    for definition in definitions:
        if not isinstance(definition, Mapping):
            continue
        items = definition.get("items")
        if isinstance(items, list):
            hide_secrets(module, items, "Secret" if definition.get("kind") == "SecretList" else "")
        if definition.get("kind", kind) != "Secret":
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
    """One line that says what is wrong and where; some problems are about a file as a whole."""
    place = f"{problem['file']}:{problem['line']}" if problem["line"] else problem["file"]
    parts = (place, problem["path"], f"{problem['message']} [{problem['code']}]")
    return ": ".join(part for part in parts if part)


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


def write_text(module: AnsibleModule, text: str) -> dict[str, Any]:
    """Bring the file of the option `dest` to a text; what of it is told to Ansible."""
    path = module.params["dest"]
    target = Path(path).absolute()  # atomic_move() fails for a name without a folder
    if target.exists() and not target.is_file():
        module.fail_json(msg=f"{path}: this is no regular file")  # a pipe would be waited for, a device replaced
    before = read_texts(module, [path])[path] if target.exists() else ""
    is_changed = before != text
    if is_changed and not module.check_mode:
        with tempfile.NamedTemporaryFile(dir=module.tmpdir, delete=False) as stream:
            stream.write(text.encode())
        module.atomic_move(stream.name, str(target))
    if target.exists():
        common = module.load_file_common_arguments(module.params, path=path)
        is_changed = module.set_fs_attributes_if_different(common, is_changed)
    diff = {
        "before": without_secrets(before),
        "after": without_secrets(text),
        "before_header": path,
        "after_header": path,
    }
    return {"changed": is_changed, "dest": path, "diff": diff}


def write_files(module: AnsibleModule, folder: str, made: Rendering | StoredPki) -> dict[str, Any]:
    """Write every file of what was made, or none; what of it is told to Ansible."""
    changes = find_changes(folder, made.files)
    if changes and not module.check_mode:
        try:
            made.write(folder)
        except ValueError as error:
            fail_with(module, error)
    result = {"changed": bool(changes), "written": [change.name for change in changes]}
    if module._diff:
        result["diff"] = diff_of(changes)
    return result


def key_change(change: StoreChange) -> dict[str, Any]:
    """What became of a key or certificate, as a value of Ansible."""
    end = change.not_after
    return {
        "name": change.name,
        "action": change.action,
        "reason": change.reason,
        "not_after": None if end is None else moment(end),
    }


def moment(time: datetime) -> str:
    """A time as RFC 3339 has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
