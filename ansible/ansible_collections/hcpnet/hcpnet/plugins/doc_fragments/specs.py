# SPDX-License-Identifier: Apache-2.0
"""Documentation that the modules share."""

from __future__ import annotations


class ModuleDocFragment:
    """What a module reads, and what decides which objects a set becomes."""

    DOCUMENTATION = r"""
options:
  files:
    description:
      - Files of one set, on the host where the module runs. YAML, or JSON where the name ends in C(.json).
    type: list
    elements: path
    default: []
  definitions:
    description:
      - Objects of the same set that are given here.
      - They have the types that YAML gives them. Where a text is needed and YAML reads a number,
        such as C(12:30:45) or C(0x1F), the object is refused; quotes make it a text.
    type: list
    elements: dict
    default: []
  observed:
    description:
      - Files with objects as a cluster has them, in the form that C(kubectl get -o yaml) prints.
    type: list
    elements: path
    default: []
  record_files:
    description:
      - Zone files and hosts files that the set names, each as it is opened.
        A relative path in a DNSPolicy begins at the folder of the file that holds the policy.
    type: list
    elements: path
    default: []
requirements:
  - python >= 3.11
  - hcpnet
"""

    DEPLOYMENT = r"""
options:
  deployment:
    description:
      - How the servers of an isolated VLAN run. All in one process, in a pod each,
        or as CoreDNS and Envoy beside hcpnet for DHCP.
    type: str
    choices: [one, split, coredns-envoy]
    default: one
  image:
    description:
      - Image of hcpnet. Without it C(hcpnet:) and the version.
    type: str
  coredns_image:
    description:
      - Image of CoreDNS. Without it a released one.
    type: str
  link:
    description:
      - Makes the network attachments too, such as C(bridge:br-vlan7,vlan=7) or C(macvlan:eth1,mtu=1500).
        Without it they have to exist.
    type: str
  without:
    description:
      - Kinds to leave out because the cluster does not serve them.
    type: list
    elements: str
    choices: [MultiNetworkPolicy, MutatingAdmissionPolicy, SecurityContextConstraints, ServiceMonitor]
    default: []
  admission_version:
    description:
      - Version of C(admissionregistration.k8s.io) in which the cluster has MutatingAdmissionPolicy.
    type: str
    choices: [v1, v1beta1, v1alpha1]
    default: v1
"""
