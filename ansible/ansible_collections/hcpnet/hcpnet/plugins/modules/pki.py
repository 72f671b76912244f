#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.pki."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pki
short_description: Make and renew the keys and certificates of a self-managed cluster
description:
  - With O(files) brings a folder to the keys and certificates that a BootstrapCluster has.
    What is there and still right is kept; what is missing, near its end or wrong is made anew.
    Everything is written, or nothing.
  - An authority that can't be used is an error, because everything below it would go with it.
  - Without O(files) says when the certificates of a folder end, and changes nothing.
  - M(hcpnet.hcpnet.bootstrap) does the same with the folder C(pki) of its output, and makes what depends on it.
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
requirements:
  - python >= 3.11
  - hcpnet
attributes:
  check_mode:
    description: Writes nothing, and says what would become of each key and certificate.
    support: full
  diff_mode:
    description: Says which files change. What is in keys and certificates is not shown; RV(changes) says why.
    support: full
options:
  folder:
    description:
      - Folder with keys and certificates. With O(files) it is made if need be.
    type: path
    required: true
  files:
    description:
      - Files with a BootstrapCluster, on the host where the module runs. YAML, or JSON where the name ends in C(.json).
      - Layout, names, kind of keys, time of renewal and authorities that exist already are those of the object.
        The files of such authorities are relative to the file that the object stands in;
        what is in them is in no option, result or diff.
    type: list
    elements: path
  name:
    description:
      - Name of the BootstrapCluster, where the files hold several.
    type: str
  days:
    description:
      - How long before its end a certificate is due, where certificates are only reported.
        At most a third of its lifetime. 30 unless given.
    type: int
seealso:
  - module: hcpnet.hcpnet.bootstrap
"""

EXAMPLES = r"""
- name: Make the keys and certificates of a cluster, and renew those that are due
  hcpnet.hcpnet.pki:
    files: [cluster.yaml]
    folder: out/pki
  register: pki

- name: Ask when certificates end
  hcpnet.hcpnet.pki:
    folder: /etc/kubernetes/pki
    days: 14
  register: report

- name: Refuse to go on with one that is about to end
  ansible.builtin.assert:
    that: report.certificates | rejectattr('state', 'equalto', 'valid') | list | length == 0
"""

RETURN = r"""
written:
  description:
    - Files below O(folder) that were new, or had another content or another mode.
    - In check mode those that would be written.
  returned: where O(files) is given
  type: list
  elements: str
changes:
  description:
    - What became of each key and certificate, issuers first.
  returned: where O(files) is given
  type: list
  elements: dict
  contains:
    name: {description: Its files are C(NAME.crt) and C(NAME.key)., type: str}
    action: {description: 'C(kept), C(made), C(renewed), C(replaced) or C(imported).', type: str}
    reason: {description: 'Why it was replaced, or empty.', type: str}
    not_after: {description: 'When the certificate ends, in UTC; null for a pair of keys without one.', type: str}
certificates:
  description:
    - The certificates in the files C(*.crt) and C(*.pem), the one that ends first in front.
  returned: where O(files) is not given
  type: list
  elements: dict
  contains:
    file: {description: File below O(folder)., type: str}
    common_name: {description: Common name of the subject., type: str}
    is_authority: {description: Whether it may sign others., type: bool}
    not_before: {description: 'When it begins, in UTC.', type: str}
    not_after: {description: 'When it ends, in UTC.', type: str}
    state: {description: 'C(valid), C(due), C(expired) or C(not yet valid).', type: str}
findings:
  description:
    - What was found, as M(hcpnet.hcpnet.check) returns it. Empty where the module succeeds.
    - C(line) is 0 and C(path) is empty where it is about a file as a whole.
  returned: always
  type: list
  elements: dict
"""

from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    fail_with,
    finding,
    key_change,
    moment,
    require_hcpnet,
    sentence,
    write_files,
)

DEFAULT_DAYS = 30
MAX_DAYS = 36_500


def complete(module: AnsibleModule) -> dict[str, Any]:
    """Bring the folder to what the BootstrapCluster has."""
    from hcpnet import bootstrap

    folder = module.params["folder"]
    try:
        stored = bootstrap.complete_pki(module.params["files"], folder, name=module.params["name"] or "")
    except ValueError as error:
        fail_with(module, error)
    result = write_files(module, folder, stored)
    return {**result, "changes": [key_change(change) for change in stored.changes]}


def report(module: AnsibleModule) -> dict[str, Any]:
    """When the certificates of the folder end; ends the module where some can't be read."""
    from hcpnet import pki

    days = DEFAULT_DAYS if module.params["days"] is None else module.params["days"]
    if not 0 <= days <= MAX_DAYS:
        module.fail_json(msg=f"days: {days} is not between 0 and {MAX_DAYS}", findings=[])
    entries, problems = pki.report_expiry(module.params["folder"], renew_before=timedelta(days=days))
    certificates = [
        {
            "file": entry.file,
            "common_name": entry.common_name,
            "is_authority": entry.is_authority,
            "not_before": moment(entry.not_before),
            "not_after": moment(entry.not_after),
            "state": entry.state,
        }
        for entry in entries
    ]
    findings = [finding(d) for d in problems]
    if findings:
        module.fail_json(msg="\n".join(map(sentence, findings)), findings=findings, certificates=certificates)
    return {"changed": False, "certificates": certificates}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "folder": {"type": "path", "required": True},
            "files": {"type": "list", "elements": "path"},
            "name": {"type": "str"},
            "days": {"type": "int"},
        },
        mutually_exclusive=[["files", "days"]],
        required_by={"name": ["files"]},
        supports_check_mode=True,
    )
    require_hcpnet(module)
    result = report(module) if module.params["files"] is None else complete(module)
    module.exit_json(**result, findings=[])


if __name__ == "__main__":
    main()
