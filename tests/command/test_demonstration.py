# SPDX-License-Identifier: Apache-2.0
"""A demonstration that is ended early leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hcpnet_command import Hcpnet

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "isolated-vlan"


@pytest.mark.skipif(os.geteuid() != 0, reason="root: network namespaces")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_all_is_removed(hcpnet: Hcpnet, tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    demonstration = subprocess.Popen(
        [sys.executable, str(EXAMPLE / "run.py"), "--hcpnet", hcpnet.command],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        text=True,
    )
    hcpnet.processes.append(demonstration)
    assert demonstration.stdout is not None
    for line in demonstration.stdout:
        if "hcpnet up" in line:
            break
    assert list(folder.iterdir()), "it was there"
    demonstration.send_signal(number)
    demonstration.stdout.read()
    demonstration.stdout.close()
    assert demonstration.wait() == 128 + number
    assert not list(folder.iterdir())
    name = f"hcpnet{demonstration.pid}-"
    assert name not in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert not list(Path("/etc").glob(f"netns/{name}*"))
