# SPDX-License-Identifier: Apache-2.0
"""hcpnet patch, and the examples of docs/patch.md."""

from __future__ import annotations

import json

import pytest
from hcpnet_command import ROOT, Hcpnet, examples_of

TEMPLATE = ROOT / "examples/patch/vm-template.yaml"
L2BRIDGE = ROOT / "examples/patch/l2bridge.json"
LABELLED = """\
metadata: {labels: {hypershift.openshift.io/nodepool-name: blue}}
spec: {template: {spec: {nodeSelector: {}}}}
"""
EXAMPLES = examples_of("patch.md", "yaml")


def test_docs_have_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(("line", "expected"), EXAMPLES)
def test_examples_of_the_docs(hcpnet: Hcpnet, line: str, expected: str) -> None:
    assert hcpnet.example(line) == expected


def test_what_hypershift_keeps_is_noted(hcpnet: Hcpnet) -> None:
    unlabel = ROOT / "examples/patch/unlabel.json"
    done = hcpnet("patch", "--template", str(TEMPLATE), "--jsonpatch", str(unlabel), "--mode", "hypershift")
    assert done.returncode == 0, done.stderr
    assert "note: /metadata/labels/hypershift.openshift.io~1nodepool-name stays" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    as_the_rfc = hcpnet("patch", "--template", "-", "--jsonpatch", str(unlabel), stdin=LABELLED)
    assert (
        as_the_rfc.stdout
        == "metadata:\n  labels: {}\nspec:\n  template:\n    spec:\n      nodeSelector:\n        zone: a\n"
    )


def test_json_output_and_standard_input(hcpnet: Hcpnet) -> None:
    patch = hcpnet.folder / "patch.json"
    patch.write_text('[{"op": "add", "path": "/a/-", "value": "yes"}]')
    done = hcpnet("patch", "--template", "-", "--jsonpatch", str(patch), "-o", "json", stdin="a: [1.50, '2']\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"a": [1.5, "2", "yes"]}


def test_patches_are_applied_in_order(hcpnet: Hcpnet) -> None:
    for number in (1, 2):
        (hcpnet.folder / f"{number}.yaml").write_text(f"- {{op: replace, path: /a, value: {number}}}\n")
    files = [str(hcpnet.folder / f"{number}.yaml") for number in (2, 1)]
    done = hcpnet("patch", "--template", "-", "--jsonpatch", files[0], "--jsonpatch", files[1], stdin="a: 0\n")
    assert done.stdout == "a: 1\n"


def test_a_failed_operation_is_named_and_nothing_is_shown(hcpnet: Hcpnet) -> None:
    done = hcpnet("patch", "--template", "-", "--jsonpatch", str(L2BRIDGE), stdin="spec: {}\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "l2bridge.json: operation 0 (replace /spec/template/spec/domain" in done.stderr
    assert "missing target" in done.stderr


def test_yaml_in_an_annotation_is_refused(hcpnet: Hcpnet) -> None:
    patch = hcpnet.folder / "patch.yaml"
    patch.write_text("- {op: add, path: /a, value: 1}\n")
    words = ["patch", "--template", str(TEMPLATE), "--jsonpatch", str(patch)]
    assert hcpnet(*words).returncode == 0
    done = hcpnet(*words, "--mode", "hypershift")
    assert done.returncode == 1
    assert "json-syntax" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--jsonpatch", "a", "--mergepatch", "b"],
        ["--mergepatch", "b", "--mode", "hypershift"],
        ["--mergepatch", "b", "--release", "4.19"],
        ["--jsonpatch", "a", "--release", "4.19"],
        ["--jsonpatch", "a", "--mode", "hypershift", "--release", "new"],
        ["--jsonpatch", "a", "--mode", "other"],
        ["--jsonpatch", "a", "-o", "text"],
    ],
)
def test_wrong_use(hcpnet: Hcpnet, words: list[str]) -> None:
    done = hcpnet("patch", "--template", str(TEMPLATE), *words)
    assert done.returncode == 2
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a: 1\n---\nb: 1\n", "2 documents"), ("", "0 documents"), ("a: on\n", "/a"), ("{", "yaml-syntax")],
)
def test_a_template_that_cannot_be_read(hcpnet: Hcpnet, text: str, expected: str) -> None:
    done = hcpnet("patch", "--template", "-", "--jsonpatch", str(L2BRIDGE), stdin=text)
    assert done.returncode == 1
    assert expected in done.stderr
