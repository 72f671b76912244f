#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""hcpnet.hcpnet.info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: info
short_description: Say what a set of specifications describes
description:
  - Says which networks a set has, where their servers are,
    and under which names HyperShift publishes its hosted clusters.
  - Nothing is changed.
version_added: 0.1.0
author:
  - hcpnet contributors (@hcpnet)
extends_documentation_fragment:
  - hcpnet.hcpnet.specs
attributes:
  check_mode:
    description: Does the same in check mode, since it changes nothing.
    support: full
  diff_mode:
    description: There is never a difference.
    support: none
options:
  published_names:
    description:
      - Say the names of the HostedClusters of the set too. It has to have one.
    type: bool
    default: false
  apps_domain:
    description:
      - Domain of the management cluster's router, for Routes without a host name. Without it, the observed one.
    type: str
"""

EXAMPLES = r"""
- name: Ask where the servers of a network are
  hcpnet.hcpnet.info:
    files: [network.yaml]
  register: network

- name: Ask under which names a hosted cluster is published
  hcpnet.hcpnet.info:
    files: [hostedcluster.yaml]
    observed: [observed.yaml]
    published_names: true
    apps_domain: apps.mgmt.example.com
"""

RETURN = r"""
version:
  description: Version of hcpnet.
  returned: success
  type: str
networks:
  description: Infras of the set.
  returned: success
  type: list
  elements: dict
  contains:
    name: {description: Name., type: str}
    namespace: {description: Namespace., type: str}
    cidr: {description: The network., type: str}
    gateway: {description: 'Its gateway, or null.', type: str}
    dhcp: {description: 'Address of the DHCP server, or null.', type: str}
    dns: {description: 'Address of the DNS server, or null.', type: str}
    proxy: {description: 'Address of the proxy, or null.', type: str}
    clusters:
      description: Hosted clusters that are attached.
      type: list
      elements: dict
published:
  description: HostedClusters of the set.
  returned: where O(published_names) is true
  type: list
  elements: dict
  contains:
    hosted_cluster: {description: C(namespace/name)., type: str}
    control_plane_namespace: {description: Where its Services are., type: str}
    names:
      description: 'Service, host, port and where it leads to.'
      type: list
      elements: dict
findings:
  description:
    - What was found, as M(hcpnet.hcpnet.check) returns it.
  returned: always
  type: list
  elements: dict
"""

from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hcpnet.hcpnet.plugins.module_utils.specs import (
    SPEC_ARGUMENTS,
    check_set,
    fail_with,
    finding,
    read_set,
)

if TYPE_CHECKING:
    from hcpnet.manifest import PublishedName
    from hcpnet.spec import ValidDhcp, ValidDns, ValidInfra, ValidProxy


def server_of(component: ValidDhcp | ValidDns | ValidProxy | None) -> str | None:
    """The address of a server, if there is one."""
    return None if component is None else str(component.server_ip)


def network(infra: ValidInfra) -> dict[str, Any]:
    """An Infra as a value of Ansible."""
    return {
        "name": infra.metadata.name,
        "namespace": infra.metadata.namespace,
        "cidr": str(infra.cidr),
        "gateway": None if infra.gateway is None else str(infra.gateway),
        "dhcp": server_of(infra.dhcp),
        "dns": server_of(infra.dns),
        "proxy": server_of(infra.proxy),
        "clusters": [
            {
                "name": cluster.name,
                "hosted_cluster": cluster.hosted_cluster,
                "domain": cluster.domain,
                "control_plane_namespace": cluster.control_plane_namespace,
            }
            for cluster in infra.clusters
        ],
    }


def published_name(name: PublishedName) -> dict[str, Any]:
    """A name of a hosted cluster as a value of Ansible."""
    target = name.target
    leads_to = None if target is None else f"{target.namespace}/{target.service}:{target.port}"
    return {
        "service": name.service,
        "strategy": name.strategy,
        "host": name.host,
        "port": name.port,
        "target": leads_to,
        "needs_record": name.needs_record,
    }


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **SPEC_ARGUMENTS,
            "published_names": {"type": "bool", "default": False},
            "apps_domain": {"type": "str"},
        },
        supports_check_mode=True,
    )
    given = read_set(module)
    findings = check_set(module, given)
    import hcpnet  # read_set() has said so where the package is missing

    checked = hcpnet.spec.check(given.texts, hosted_clusters=True, record_files=given.record_files)
    result: dict[str, Any] = {"version": hcpnet.__version__, "networks": [network(infra) for infra in checked.infras]}
    if module.params["published_names"]:
        try:
            found = hcpnet.manifest.make_published_names(
                given.texts,
                observed=given.observed,
                apps_domain=module.params["apps_domain"] or "",
                record_files=given.record_files,
            )
        except hcpnet.SpecError as error:
            fail_with(module, error)
        result["published"] = [
            {
                "hosted_cluster": cluster.hosted_cluster,
                "control_plane_namespace": cluster.control_plane_namespace,
                "names": [published_name(name) for name in cluster.names],
            }
            for cluster in found.clusters
        ]
        findings += [finding(d) for d in found.warnings]
    module.exit_json(changed=False, findings=findings, **result)


if __name__ == "__main__":
    main()
