# SPDX-License-Identifier: Apache-2.0
"""scripts/count_tests.py: the closing line of scripts/test."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "count_tests.py"
CTEST = """<testsuite name="Linux" tests="4">
<testcase name="A.works" classname="A.works" status="run"/>
<testcase name="A.fails" classname="A.fails" status="fail"><failure message=""/></testcase>
<testcase name="A.waits" classname="A.waits" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>[ RUN ] A.waits
a_test.cpp:5: Skipped
not root

[  SKIPPED ] A.waits</system-out></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_works"/>
<testcase classname="tests.test_a" name="test_breaks"><error message="setup"/></testcase>
<testcase classname="tests.test_a" name="test_waits"><skipped message="no IPv6 here"/></testcase>
</testsuite></testsuites>"""


def count(*arguments: str) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_counts_both_kinds_and_names_what_did_not_pass(tmp_path: Path) -> None:
    (tmp_path / "ctest.xml").write_text(CTEST)
    (tmp_path / "pytest.xml").write_text(PYTEST)
    status, lines = count("--failed", "ctest", "--failed", "pytest", str(tmp_path), "ctest", "pytest")
    assert status == 1
    assert lines == [
        "failed  ctest: A.fails",
        "skipped ctest: A.waits: not root",
        "failed  pytest: tests.test_a.test_breaks",
        "skipped pytest: tests.test_a.test_waits: no IPv6 here",
        "2 passed, 2 failed, 2 skipped",
    ]


def test_a_step_that_fails_without_a_failed_test_is_one_failure(tmp_path: Path) -> None:
    status, lines = count("--failed", "build", str(tmp_path), "format", "build")
    assert (status, lines) == (1, ["failed  build: the step itself", "0 passed, 1 failed, 0 skipped"])


def test_skips_alone_are_no_failure(tmp_path: Path) -> None:
    (tmp_path / "pytest.xml").write_text(PYTEST.replace('<error message="setup"/>', ""))
    status, lines = count(str(tmp_path), "pytest")
    assert (status, lines[-1]) == (0, "2 passed, 0 failed, 1 skipped")
