#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many lines of the given sources were reached: scripts/coverage.py BUILD_FOLDER NAME SOURCE...

Reads what a program built with --coverage left in BUILD_FOLDER. Below 90 % the exit status is 1, and what was not
reached is listed.
"""

import json
import subprocess
import sys
from pathlib import Path

LEAST = 0.9


def lines_of(build: Path, source: str) -> dict[int, int]:
    """Line -> how often it ran; the most of the functions that a template became."""
    notes = next(build.glob(f"src/**/{Path(source).parent.name}/{Path(source).name}.gcno"))
    command = ["gcov", "--json-format", "--stdout", str(notes)]
    report = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=Path.cwd()).stdout)
    lines: dict[int, int] = {}
    for file in report["files"]:
        if not file["file"].endswith(source):
            continue
        for line in file["lines"]:
            lines[line["line_number"]] = max(lines.get(line["line_number"], 0), line["count"])
    return lines


def main() -> int:
    """The whole program."""
    build, name, sources = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    reached = total = 0
    missed = []
    for source in sources:
        lines = lines_of(build, source)
        total += len(lines)
        reached += sum(count > 0 for count in lines.values())
        text = Path(source).read_text().splitlines()
        missed += [f"  {source}:{n}: {text[n - 1].strip()}" for n, count in sorted(lines.items()) if count == 0]
    print(f"{name:26} {reached:5} of {total:5} lines, {100 * reached / total:5.1f} %")
    if reached >= LEAST * total:
        return 0
    print("\n".join(missed))
    return 1


if __name__ == "__main__":
    sys.exit(main())
