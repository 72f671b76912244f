# SPDX-License-Identifier: Apache-2.0
"""Files as a test changes and compares them."""

from __future__ import annotations

from pathlib import Path


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
