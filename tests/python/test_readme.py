# SPDX-License-Identifier: Apache-2.0
"""The Python snippet of the README, as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_snippet_runs() -> None:
    (snippet,) = re.findall(r"<!-- snippet: python -->\n```python\n(.*?)\n```", README.read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "blue-oauth-openshift"
    assert {line.split()[0] for line in lines[:-1]} == {"dns", "proxy"}
