#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.check."""

from __future__ import annotations

DOCUMENTATION = r"""
module: check
short_description: Check the specification of a network for hosted control planes
description:
  - Reads a set of specifications and says everything that is wrong with it at once,
    each problem with file, line and path.
  - A set that passes can be rendered with the same options. Nothing is changed.
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
extends_documentation_fragment:
  - hcpnet.hcpnet.specs
  - hcpnet.hcpnet.specs.deployment
attributes:
  check_mode:
    description: Does the same in check mode, since it changes nothing.
    support: full
  diff_mode:
    description: There is never a difference.
    support: none
seealso:
  - module: hcpnet.hcpnet.render
"""

EXAMPLES = r"""
- name: Check a set before anything else is done with it
  hcpnet.hcpnet.check:
    files: [network.yaml]
    observed: [observed.yaml]

- name: Check an object that is written here
  hcpnet.hcpnet.check:
    definitions:
      - apiVersion: hcpnet.io/v1alpha1
        kind: PrimaryUDN
        metadata: {name: blue, namespace: clusters}
        spec:
          hostedClusterRef: {name: blue}
          network: {layer2: {subnets: [10.150.0.0/16], ipam: {lifecycle: Persistent}}}
"""

RETURN = r"""
findings:
  description:
    - What was found. Warnings alone where the module succeeds.
  returned: always
  type: list
  elements: dict
  contains:
    severity: {description: C(error) or C(warning)., type: str}
    file: {description: File that was given., type: str}
    line: {description: 'Line, from 1.', type: int}
    column: {description: 'Column, from 1.', type: int}
    path: {description: JSON pointer of the value., type: str}
    code: {description: Kind of problem., type: str}
    message: {description: A sentence., type: str}
    found: {description: What stands there., type: str}
    expected: {description: What could stand there., type: str}
object_count:
  description: How many objects the set becomes.
  returned: success
  type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    DEPLOYMENT_ARGUMENTS,
    SPEC_ARGUMENTS,
    check_set,
    read_set,
    render_set,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec={**SPEC_ARGUMENTS, **DEPLOYMENT_ARGUMENTS}, supports_check_mode=True)
    given = read_set(module)
    findings = check_set(module, given)
    objects = render_set(module, given)
    module.exit_json(changed=False, findings=findings, object_count=len(objects))


if __name__ == "__main__":
    main()
