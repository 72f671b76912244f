# SPDX-License-Identifier: Apache-2.0
"""Puts pip into an empty environment, as get-pip.py does, from what Python brings along.

ansible-test fetches get-pip.py from a host of its own, which is no package registry; scripts/deps.sh gives it this.
"""

import runpy
import subprocess
import sys

subprocess.run([sys.executable, "-m", "ensurepip"], check=True)  # by itself: it turns pip's settings off where it runs
words = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.argv = ["pip", "install", "--upgrade", *words]
runpy.run_module("pip", run_name="__main__")
