#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.render."""

from __future__ import annotations

DOCUMENTATION = r"""
module: render
short_description: Render the Kubernetes objects of a network for hosted control planes
description:
  - Makes the Kubernetes objects that run a set of specifications, in the order in which they can be applied.
  - Sends nothing anywhere. C(kubernetes.core.k8s) applies what it returns.
  - The same set always becomes the same objects, so a second run changes nothing.
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
extends_documentation_fragment:
  - hcpnet.hcpnet.specs
  - hcpnet.hcpnet.specs.deployment
  - ansible.builtin.files
attributes:
  check_mode:
    description: Writes no file, and says whether it would.
    support: full
  diff_mode:
    description: Shows how the file changes; values of Secrets are masked.
    support: full
options:
  dest:
    description:
      - File for the objects, as YAML documents. Without it nothing is written.
      - It is written whole or not at all.
    type: path
seealso:
  - module: hcpnet.hcpnet.check
  - module: kubernetes.core.k8s
"""

EXAMPLES = r"""
- name: Make the objects of an isolated VLAN
  hcpnet.hcpnet.render:
    files: [network.yaml]
    observed: [observed.yaml]
    deployment: split
    link: bridge:br-vlan7,vlan=7
  register: rendered

- name: Apply them
  kubernetes.core.k8s:
    definition: "{{ rendered.objects }}"
    apply: true
    server_side_apply:
      field_manager: hcpnet

- name: Keep the objects in a file
  hcpnet.hcpnet.render:
    files: [network.yaml]
    dest: manifests.yaml
    mode: "0644"
"""

RETURN = r"""
objects:
  description: The objects, in the order in which they can be applied.
  returned: success
  type: list
  elements: dict
findings:
  description:
    - What was found, as M(hcpnet.hcpnet.check) returns it.
  returned: always
  type: list
  elements: dict
dest:
  description: The file.
  returned: where O(dest) is given
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    DEPLOYMENT_ARGUMENTS,
    SPEC_ARGUMENTS,
    check_set,
    read_set,
    render_set,
    write_text,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={**SPEC_ARGUMENTS, **DEPLOYMENT_ARGUMENTS, "dest": {"type": "path"}},
        add_file_common_args=True,
        supports_check_mode=True,
    )
    given = read_set(module)
    findings = check_set(module, given)
    objects = render_set(module, given)
    result: dict[str, object] = {"changed": False}
    if module.params["dest"] is not None:
        from hcpnet.text import render_yaml  # read_set() has said so where the package is missing

        result = write_text(module, render_yaml(*objects))
    module.exit_json(**result, objects=objects, findings=findings)


if __name__ == "__main__":
    main()
