# SPDX-License-Identifier: Apache-2.0
"""What the collection's modules write, and what of it a diff shows: without Ansible."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from api_server import ROOT

PLUGINS = ROOT / "ansible/ansible_collections/hcpnet/hcpnet/plugins"


@pytest.fixture(scope="module")
def output() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hcpnet_output", PLUGINS / "module_utils/output.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def file(name: str, content: bytes, mode: int = 0o644) -> SimpleNamespace:
    return SimpleNamespace(name=name, content=content, mode=mode)


def put(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.write_bytes(content)
    path.chmod(mode)


def shown(output: ModuleType, folder: Path, *files: SimpleNamespace) -> list[tuple[str, str]]:
    return [(d["before"], d["after"]) for d in output.diff_of(output.find_changes(str(folder), files))]


def test_what_is_new_or_another_or_has_another_mode_changes(output: ModuleType, tmp_path: Path) -> None:
    put(tmp_path / "same", b"a\n")
    put(tmp_path / "other", b"a\n")
    put(tmp_path / "longer", b"b\nc\n")
    put(tmp_path / "mode", b"a\n", 0o666)
    put(tmp_path / "empty", b"")
    names = ("same", "other", "longer", "mode", "empty", "deep/new")
    contents = (b"a\n", b"b\n", b"b\n", b"a\n", b"", b"n\n")
    files = [file(name, content) for name, content in zip(names, contents, strict=True)]
    changes = output.find_changes(str(tmp_path), files)
    assert [c.name for c in changes] == ["other", "longer", "mode", "deep/new"]
    assert [(d["before"], d["after"]) for d in output.diff_of(changes)] == [
        ("a\n", "b\n"),
        ("b\nc\n", "b\n"),
        ("mode 0666\na\n", "mode 0644\na\n"),
        ("", "n\n"),
    ]
    assert {d["after_header"] for d in output.diff_of(changes)} >= {str(tmp_path / "deep/new")}


def test_what_is_no_file_is_replaced_and_not_read(output: ModuleType, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", b"a\n")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")  # would be waited for
    assert shown(output, tmp_path, *(file(name, b"a\n") for name in ("link", "folder", "pipe"))) == [("", "a\n")] * 3


def test_what_is_for_its_owner_alone_is_masked(output: ModuleType, tmp_path: Path) -> None:
    key, mask = b"-----BEGIN PRIVATE KEY-----\n", f"{output.MASK}\n"
    put(tmp_path / "was-private", b"hunter2\n", 0o600)
    put(tmp_path / "had-a-key", b"# mine\n" + key)
    put(tmp_path / "too-open", b"hunter2\n")
    put(tmp_path / "other", b"hunter1\n", 0o600)
    found = shown(
        output,
        tmp_path,
        file("was-private", b"a\n"),
        file("had-a-key", b"a\n"),
        file("too-open", b"hunter2\n", 0o600),
        file("other", b"hunter2\n", 0o600),
        file("new", b"hunter2\n", 0o600),
    )
    was = f"{output.MASK} as it was\n"
    assert found == [
        (f"mode 0600\n{was}", f"mode 0644\n{mask}"),
        (was, mask),
        (f"mode 0644\n{mask}", f"mode 0600\n{mask}"),
        (was, mask),
        ("", mask),
    ]


def test_what_says_nothing_or_too_much_is_only_named(output: ModuleType, tmp_path: Path) -> None:
    put(tmp_path / "a.crt", b"-----BEGIN CERTIFICATE-----\nold\n")
    put(tmp_path / "bytes", b"\xff")
    put(tmp_path / "huge", b"x" * (output.MAX_DIFF_BYTES + 5))
    secret = b"apiVersion: v1\nkind: Secret\ndata:\n  a: aHVudGVyMg==\n"
    put(tmp_path / "secret.yaml", secret)
    found = shown(
        output,
        tmp_path,
        file("a.crt", b"-----BEGIN CERTIFICATE-----\nnew\n"),
        file("bytes", b"a\n"),
        file("huge", b"a\n"),
        file("secret.yaml", b"a: 1\n"),
        file("first", b"y" * output.MAX_DIFF_BYTES),
        file("short", b"short\n"),
    )
    assert found == [
        ("(PEM) as it was\n", "(PEM)\n"),
        ("(no text) as it was\n", "(no text)\n"),
        ("(too long to be shown) as it was\n", "(too long to be shown)\n"),
        (f"apiVersion: v1\nkind: Secret\ndata: {output.MASK}\n", "a: 1\n"),
        ("", "(too long to be shown)\n"),  # what came before it is counted too
        ("", "short\n"),
    ]


def test_a_secret_in_a_quoted_text_is_seen(output: ModuleType) -> None:
    """As the annotation of kubectl apply is written where the text is between double quotes."""
    note = r'"{\"data\":{\"p\":\"aHVudGVyMg==\"},\"kind\":\"Secret\"}"'
    for kind in ("Secret", "ConfigMap"):
        text = f"kind: {kind}\nmetadata:\n  annotations:\n    last: {note}\ndata:\n  p: a\n"
        assert output.without_secrets(text) == f"# {output.MASK}: there is a Secret here\n"
