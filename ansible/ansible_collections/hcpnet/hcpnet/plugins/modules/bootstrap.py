#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.bootstrap."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bootstrap
short_description: Write what a self-managed cluster boots from
description:
  - Makes keys, certificates, kubeconfigs, static pods, manifests, Ignition configs, load balancer, machine network
    and the scripts of the installation's stages, as C(hcpnet bootstrap render) does.
  - Everything is written, or nothing. What is there and still right stays, keys and certificates above all,
    so a second run changes nothing. Files that no longer belong to the cluster stay too.
  - Sends nothing anywhere.
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
requirements:
  - python >= 3.11
  - hcpnet
attributes:
  check_mode:
    description: Writes nothing, and says which files it would write.
    support: full
  diff_mode:
    description:
      - Shows how each file changes. Of files for their owner alone (keys, kubeconfigs, Ignition configs, Secrets,
        passwords) and of certificates it only says that they change. So it does of files
        that together with those before them have more than 1 MiB, as they were and as they are.
    support: full
options:
  files:
    description:
      - Files with a BootstrapCluster, on the host where the module runs. YAML, or JSON where the name ends in C(.json).
      - Files that the object names, such as the pull secret, are relative to the file that the object stands in.
        What is in them is in no option, result or diff.
    type: list
    elements: path
    required: true
  name:
    description:
      - Name of the BootstrapCluster, where the files hold several.
    type: str
  output_dir:
    description:
      - Folder for everything. It is made if need be.
    type: path
    required: true
seealso:
  - module: hcpnet.hcpnet.pki
  - module: hcpnet.hcpnet.lint
"""

EXAMPLES = r"""
- name: Write what the cluster boots from
  hcpnet.hcpnet.bootstrap:
    files: [cluster.yaml]
    output_dir: out
  register: rendered

- name: Say which certificates are new
  ansible.builtin.debug:
    msg: "{{ rendered.changes | rejectattr('action', 'equalto', 'kept') | list }}"

- name: Look at all of it
  hcpnet.hcpnet.lint:
    paths: [out]
"""

RETURN = r"""
written:
  description:
    - Files below O(output_dir) that were new, or had another content or another mode.
    - In check mode those that would be written.
  returned: success
  type: list
  elements: str
changes:
  description:
    - What became of each key and certificate, in the order in which they depend on each other.
  returned: success
  type: list
  elements: dict
  contains:
    name: {description: Name in the folder C(pki)., type: str}
    action: {description: 'C(kept), C(made), C(renewed), C(replaced) or C(imported).', type: str}
    reason: {description: 'Why it was replaced, or empty.', type: str}
    not_after: {description: 'When the certificate ends, in UTC; null for a pair of keys without one.', type: str}
ignition:
  description:
    - What is in each Ignition config.
  returned: success
  type: list
  elements: dict
  contains:
    name: {description: Name in the folder C(ignition)., type: str}
    version: {description: Version of the specification., type: str}
    files: {description: How many files., type: int}
    units: {description: How many units., type: int}
    bytes: {description: Size of the config., type: int}
findings:
  description:
    - What was found, as M(hcpnet.hcpnet.check) returns it. Warnings alone where the module succeeds,
      such as what is missing because it comes out of the release image.
    - C(line) is 0 and C(path) is empty where it is about a file as a whole.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    fail_with,
    finding,
    key_change,
    require_hcpnet,
    sentence,
    write_files,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "path", "required": True},
            "name": {"type": "str"},
            "output_dir": {"type": "path", "required": True},
        },
        supports_check_mode=True,
    )
    require_hcpnet(module)
    from hcpnet import bootstrap

    folder = module.params["output_dir"]
    try:
        rendering = bootstrap.render(module.params["files"], folder, name=module.params["name"] or "")
    except ValueError as error:
        fail_with(module, error)
    findings = [finding(d) for d in rendering.warnings]
    for warning in findings:
        module.warn(sentence(warning))
    result = write_files(module, folder, rendering)
    result["changes"] = [key_change(change) for change in rendering.changes]
    result["ignition"] = [
        {
            "name": config.name,
            "version": config.version,
            "files": config.files,
            "units": config.units,
            "bytes": config.bytes,
        }
        for config in rendering.ignition
    ]
    module.exit_json(**result, findings=findings)


if __name__ == "__main__":
    main()
