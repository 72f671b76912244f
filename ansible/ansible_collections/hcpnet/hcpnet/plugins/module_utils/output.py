# SPDX-License-Identifier: Apache-2.0
"""What is written to files, and what of it may be shown. Knows nothing of Ansible."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

MASK = "********"
SECRET = re.compile(r"""kind\\*["']?\s*:\s*\\*["']?Secret(List)?\b""")  # also of JSON inside of a quoted text
MAX_DIFF_BYTES = 1024 * 1024  # of all files together, as they were and as they are; what has no room is only named


class OutputFile(Protocol):
    """A file that is to be written, such as hcpnet.pki.OutputFile."""

    @property
    def name(self) -> str:
        """Below the folder."""

    @property
    def mode(self) -> int:
        """As of chmod."""

    @property
    def content(self) -> bytes:
        """All of it."""


class Change(NamedTuple):
    """A file that is new, or gets another content or another mode."""

    name: str
    path: str
    before: bytes | None  # None: no regular file is there that could be read
    after: bytes
    mode_before: int
    mode: int


def find_changes(folder: str, files: Iterable[OutputFile]) -> list[Change]:
    """Which of the files below a folder are not yet as they are to be."""
    changes = []
    for file in files:
        path, content = os.path.join(folder, file.name), file.content
        before, mode = _read(path, max(len(content), MAX_DIFF_BYTES) + 1)
        if (before, mode) != (content, file.mode):
            changes.append(Change(file.name, path, before, content, mode, file.mode))
    return changes


def _read(path: str, limit: int) -> tuple[bytes | None, int]:
    """Content, up to a limit, and mode of a regular file. No link is followed, and nothing is waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None, 0  # it is not there, or is replaced whatever it holds
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None, 0
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(limit), stat.S_IMODE(status.st_mode)
    finally:
        os.close(descriptor)


def diff_of(changes: Iterable[Change]) -> list[dict[str, str]]:
    """How files change, one diff for each. What is or was for its owner alone is masked."""
    room = MAX_DIFF_BYTES
    diffs = []
    for change in changes:
        before, after = change.before or b"", change.after
        reason = _why_hidden(change)
        if reason is None and len(before) + len(after) > room:
            reason = "(too long to be shown)"
        if reason is None:
            room -= len(before) + len(after)
            texts = [without_secrets(content.decode()) for content in (before, after)]
        else:
            texts = [f"{reason}\n" if before == after else f"{reason} as it was\n", f"{reason}\n"]
        if change.before is None:
            texts[0] = ""
        elif change.mode_before != change.mode:
            texts = [f"mode {change.mode_before:04o}\n{texts[0]}", f"mode {change.mode:04o}\n{texts[1]}"]
        headers = {"before_header": change.path, "after_header": change.path}
        diffs.append({"before": texts[0], "after": texts[1], **headers})
    return diffs


def _why_hidden(change: Change) -> str | None:
    """In place of what a diff shows; None where it may show all."""
    contents: Sequence[bytes] = [content for content in (change.before, change.after) if content is not None]
    modes = [change.mode] if change.before is None else [change.mode_before, change.mode]
    if any(mode & 0o077 == 0 for mode in modes) or any(b"PRIVATE KEY" in content for content in contents):
        return MASK
    if any(content.startswith(b"-----BEGIN ") for content in contents):
        return "(PEM)"  # which says nothing to a reader
    try:
        for content in contents:
            content.decode()
    except UnicodeDecodeError:
        return "(no text)"
    return None


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
