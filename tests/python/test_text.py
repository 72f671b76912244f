# SPDX-License-Identifier: Apache-2.0
"""hcpnet.text."""

import json
from pathlib import Path
from typing import Any, TypeAlias

import hcpnet
import pytest
import yaml
from hcpnet.text import apply_hypershift_patches, apply_json_patch, apply_merge_patch, render_yaml
from ruamel.yaml import YAML

Json: TypeAlias = Any
DATA = Path(__file__).parents[1] / "cpp/data/text"


def strings(name: str) -> list[str]:
    """Those of a field case."""
    found: list[str] = json.loads((DATA / name).read_text())["vectors"][0]["strings"]
    return found


def everywhere(text: str) -> Json:
    """A string as value, key and list item."""
    return {"a": text, "b": [text, [text, {"k": text}], "end"], text: {text: text}, "z": {"y": text}}


def read_as_1_2(text: str) -> Json:
    """What a reader of YAML 1.2 makes of it."""
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(text)


@pytest.mark.parametrize("case", ["MAN-01.json", "MAN-03.json"])
def test_yaml_of_the_field_cases_is_read_back_in_both_versions(case: str) -> None:
    assert len(strings(case)) > 10
    for text in strings(case):
        document = everywhere(text)
        written = render_yaml(document)
        assert yaml.safe_load(written) == document, written
        assert read_as_1_2(written) == document, written
        assert not any(line.endswith((" ", "\t")) for line in written.split("\n")), written


def test_numbers_stay_numbers_in_both_versions() -> None:
    document = [0, -5, 2**64 - 1, 1.5, 1e100, 1e-7, -0.0, 100000.0, True, None]
    written = render_yaml(document)
    assert repr(yaml.safe_load(written)) == repr(document)
    assert repr(read_as_1_2(written)) == repr(document)


def test_several_documents() -> None:
    documents = [{"kind": "A", "apiVersion": "v1", "data": {"f": "a\n\n"}}, ["b"], "c", None]
    written = render_yaml(*documents)
    assert written.startswith("apiVersion: v1\nkind: A\n")
    assert list(yaml.safe_load_all(written)) == documents
    assert render_yaml() == ""


@pytest.mark.parametrize("wrong", [float("nan"), "\ud800", b"bytes", {1, 2}])
def test_what_json_lacks_is_refused(wrong: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        render_yaml({"a": wrong})


def test_json_patch_leaves_its_arguments_alone() -> None:
    document = {"a": {"x": 1}}
    patch = [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/b/x", "value": 2}]
    assert apply_json_patch(document, patch) == {"a": {"x": 1}, "b": {"x": 2}}
    assert document == {"a": {"x": 1}}


def test_a_failed_operation_is_named() -> None:
    with pytest.raises(hcpnet.PatchError, match=r"operation 1 \(remove /b\): missing target") as caught:
        apply_json_patch({"a": 1}, [{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}])
    assert (caught.value.operation, caught.value.op, caught.value.pointer) == (1, "remove", "/b")
    assert "missing target" in caught.value.reason
    assert isinstance(caught.value, hcpnet.Error)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(hcpnet.PatchError) as caught:
        apply_json_patch({}, {})
    assert caught.value.operation is None


def test_merge_patch() -> None:
    assert apply_merge_patch({"a": 1, "l": [1, 2]}, {"a": None, "l": [3], "o": {"n": None}}) == {"l": [3], "o": {}}


def test_hypershift_keeps_annotations_before_4_19() -> None:
    vm = {"spec": {"template": {"metadata": {"annotations": {"a/b": ""}}, "spec": {}}}}
    patch = [{"op": "remove", "path": "/spec/template/metadata/annotations/a~1b"}]
    old = apply_hypershift_patches(vm, [patch], release="4.18")
    assert old.patched["spec"]["template"]["metadata"]["annotations"] == {}
    assert old.object == vm
    assert old.kept == ["/spec/template/metadata/annotations/a~1b"]
    assert apply_hypershift_patches(vm, [patch]).kept == []
    with pytest.raises(ValueError, match="no release"):
        apply_hypershift_patches(vm, [patch], release="x")
