# SPDX-License-Identifier: Apache-2.0
"""The command under test: HCPNET_COMMAND names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hcpnet_command import Hcpnet


@pytest.fixture
def hcpnet(tmp_path: Path) -> Iterator[Hcpnet]:
    fixture = Hcpnet(os.environ["HCPNET_COMMAND"], tmp_path)
    yield fixture
    for process in fixture.processes:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()
