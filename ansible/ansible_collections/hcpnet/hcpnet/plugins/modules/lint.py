#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.lint."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lint
short_description: Say what will go wrong with what was written for a cluster
description:
  - Looks at manifests, certificates, kubeconfigs, Ignition configs, HAProxy configurations, systemd units and the like,
    and says what will go wrong with them, why, and how to mend it, as C(hcpnet lint) does.
  - All paths are one set, because some rules are about what several files say together.
  - Fails where something is found that is as bad as O(fail_on) says. Changes nothing but the file O(dest).
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
requirements:
  - python >= 3.11
  - hcpnet
extends_documentation_fragment:
  - ansible.builtin.files
attributes:
  check_mode:
    description: Looks at everything all the same; writes no file, and says whether it would.
    support: full
  diff_mode:
    description: Shows how the file O(dest) changes. Nothing secret is in a finding.
    support: full
options:
  paths:
    description:
      - Files to look at, and folders with everything below them, on the host where the module runs.
        What a file is shows in its content and never in its name.
      - Of folders what begins with a dot is left out, and links are not followed.
    type: list
    elements: path
    required: true
  fail_on:
    description:
      - The severity from which on a finding fails the module.
    type: str
    choices: [error, warning, info]
    default: error
  suppressions:
    description:
      - Findings that stay as they are, beside those that comments in the files name.
    type: list
    elements: dict
    default: []
    suboptions:
      rule:
        description: Id of the rule.
        type: str
        required: true
      reason:
        description: Why they stay.
        type: str
        required: true
      file:
        description:
          - Name of a file, or a pattern with C(*). Without a slash it is about the last part of a name.
          - Without it every file.
        type: str
  suppression_files:
    description:
      - Files with such a list, in YAML.
    type: list
    elements: path
    default: []
  dest:
    description:
      - File for the report, also where the module fails. Without it nothing is written.
      - It should lie outside of O(paths).
    type: path
  format:
    description:
      - Form of the report in O(dest). C(sarif) is what code hosts show at the lines.
    type: str
    choices: [sarif, json, text]
    default: sarif
seealso:
  - module: hcpnet.hcpnet.bootstrap
"""

EXAMPLES = r"""
- name: Look at what a cluster boots from
  hcpnet.hcpnet.lint:
    paths: [out]

- name: Be stricter, but for what the lab keeps
  hcpnet.hcpnet.lint:
    paths: [manifests, cluster.kubeconfig]
    fail_on: warning
    suppressions:
      - rule: kube-proxy-workaround
        file: kube-proxy.yaml
        reason: the lab keeps it until the network operator is replaced
    dest: lint.sarif
    mode: "0644"
"""

RETURN = r"""
findings:
  description:
    - What was found, in the order of files and lines, as M(hcpnet.hcpnet.check) returns it.
      C(severity) may be C(info) too, and C(code) is the id of the rule.
    - Where a path or a list of suppressions can't be read these are the problems with it.
  returned: always
  type: list
  elements: dict
rules:
  description:
    - The rules by which something was found, each once.
  returned: where every path could be read
  type: list
  elements: dict
  contains:
    id: {description: 'Id, as the C(code) of findings.', type: str}
    title: {description: What is found., type: str}
    why: {description: What it comes to in practice., type: str}
    fix: {description: How to mend it., type: str}
    source: {description: 'The code, manual or specification that says so.', type: str}
suppressed:
  description:
    - What was found and stays as it is, with its C(reason) beside what a finding has.
  returned: where every path could be read
  type: list
  elements: dict
counts:
  description:
    - How many there are of each severity. Of each 1000 findings are kept, and C(dropped) says how many more there were.
  returned: where every path could be read
  type: dict
  contains:
    error: {description: Errors., type: int}
    warning: {description: Warnings., type: int}
    info: {description: Infos., type: int}
    dropped: {description: Findings that are only counted., type: int}
file_count:
  description: How many files were looked at.
  returned: where every path could be read
  type: int
unrecognised:
  description: Files that are nothing that a rule is about.
  returned: where every path could be read
  type: list
  elements: str
dest:
  description: The file.
  returned: where O(dest) is given
  type: str
"""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    fail_with,
    finding,
    read_texts,
    require_hcpnet,
    sentence,
    write_text,
)

if TYPE_CHECKING:
    from hcpnet.lint import Report, Suppression

SEVERITIES = ("info", "warning", "error")


def read_suppressions(module: AnsibleModule) -> list[Suppression]:
    """What is to stay as it is; ends the module with every problem of all the lists at once."""
    from hcpnet import SpecError, lint

    entries = module.params["suppressions"]
    given = [{key: value for key, value in entry.items() if value is not None} for entry in entries]
    texts = {"(suppressions)": json.dumps(given, ensure_ascii=False)} if given else {}  # JSON is YAML
    texts.update(read_texts(module, module.params["suppression_files"]))
    suppressions: list[Suppression] = []
    problems: list[dict[str, Any]] = []
    for name, text in texts.items():
        try:
            suppressions += lint.parse_suppressions(text, file=name)
        except SpecError as error:
            problems += [finding(d) for d in error.diagnostics]
    if problems:
        module.fail_json(msg="\n".join(map(sentence, problems)), findings=problems)
    return suppressions


def look(module: AnsibleModule) -> Report:
    """The report about all paths; ends the module where one can't be read."""
    from hcpnet import lint

    suppressions = read_suppressions(module)
    try:
        files = lint.read_files(module.params["paths"])
    except ValueError as error:
        fail_with(module, error)
    return lint.check(files, now=datetime.now(UTC), suppressions=suppressions)


def describe(report: Report) -> dict[str, Any]:
    """The report as a value of Ansible."""
    from hcpnet import lint

    findings = [finding(d) for d in report.findings]
    suppressed = [{**finding(s.finding), "reason": s.reason} for s in report.suppressed]
    rules = [lint.find_rule(code) for code in sorted({f["code"] for f in findings})]
    counted = json.loads(report.to_json())
    return {
        "findings": findings,
        "rules": [{"id": r.id, "title": r.title, "why": r.why, "fix": r.fix, "source": r.source} for r in rules],
        "suppressed": suppressed,
        "counts": {name: counted[name if name == "dropped" else f"{name}s"] for name in (*SEVERITIES, "dropped")},
        "file_count": report.files,
        "unrecognised": report.unrecognised,
    }


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "paths": {"type": "list", "elements": "path", "required": True},
            "fail_on": {"type": "str", "choices": ["error", "warning", "info"], "default": "error"},
            "suppressions": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "rule": {"type": "str", "required": True},
                    "reason": {"type": "str", "required": True},
                    "file": {"type": "str"},
                },
            },
            "suppression_files": {"type": "list", "elements": "path", "default": []},
            "dest": {"type": "path"},
            "format": {"type": "str", "choices": ["sarif", "json", "text"], "default": "sarif"},
        },
        add_file_common_args=True,
        supports_check_mode=True,
    )
    require_hcpnet(module)
    report = look(module)
    result: dict[str, Any] = {"changed": False}
    if module.params["dest"] is not None:
        forms = {"sarif": report.to_sarif, "json": report.to_json, "text": report.to_text}
        result = write_text(module, forms[module.params["format"]]())
    result.update(describe(report))
    least = SEVERITIES.index(module.params["fail_on"])
    bad = [f for f in result["findings"] if SEVERITIES.index(f["severity"]) >= least]
    if bad:
        module.fail_json(msg="\n".join(map(sentence, bad)), **result)
    for other in result["findings"]:
        if other["severity"] == "warning":
            module.warn(sentence(other))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
