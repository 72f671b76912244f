# SPDX-License-Identifier: Apache-2.0
"""Fixtures."""

from pathlib import Path

import pytest
from support import Vlan


@pytest.fixture
def vlan(tmp_path: Path) -> Vlan:
    """A set with the hosted cluster blue.example.com."""
    made = Vlan(tmp_path)
    made.write("blue")
    return made
