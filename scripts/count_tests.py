#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the JUnit reports of test steps and prints the closing line.

A failed step without a failed test in its report (a broken build, a lint finding) counts as one failure.
"""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Count:
    """What a report says: names of failed tests, and reasons by name of skipped ones."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def skip_reason(case: ElementTree.Element, skipped: ElementTree.Element) -> str:
    """The message of pytest.skip() or GTEST_SKIP(); CTest keeps the latter only in the output of the test."""
    output = case.findtext("system-out") or ""
    said = re.search(r": Skipped\n(.*)", output)
    return said.group(1).strip() if said else skipped.get("message") or "no reason given"


def read_report(report: Path) -> Count:
    """Counts one JUnit file, of CTest or of pytest."""
    count = Count()
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name") or "?"
        if case.get("classname") not in (None, name):
            name = f"{case.get('classname')}.{name}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed.append(name)
        elif skipped is not None:
            count.skipped[name] = skip_reason(case, skipped)
        else:
            count.passed += 1
    return count


def main() -> int:
    """Prints failures and skips by name, then the closing line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failed", action="append", default=[], help="a step that failed")
    parser.add_argument("folder", type=Path, help="where STEP.xml files lie")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()

    passed = failed = skipped = 0
    for step in arguments.steps:
        report = arguments.folder / f"{step}.xml"
        count = read_report(report) if report.exists() else Count()
        if step in arguments.failed and not count.failed:
            count.failed.append("the step itself")
        for name in count.failed:
            print(f"failed  {step}: {name}")
        for name, reason in count.skipped.items():
            print(f"skipped {step}: {name}: {reason}")
        passed, failed, skipped = passed + count.passed, failed + len(count.failed), skipped + len(count.skipped)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or arguments.failed else 0


if __name__ == "__main__":
    sys.exit(main())
