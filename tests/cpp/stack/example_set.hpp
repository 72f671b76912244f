// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/load.hpp>
#include <string>
#include <vector>

namespace hcpnet::test {

/// One VLAN and two clusters, blue and red: the worked example of docs/architecture.md, "From spec to servers".
inline std::vector<spec::SourceText> example_set() {
  return {{"set.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan7, namespace: hcp}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan7, dnsServers: [198.51.100.53]}
  infraComponents:
    dhcp: {serverIP: 192.0.2.2, rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}
    dns: {serverIP: 192.0.2.3}
    proxy: {serverIP: 192.0.2.4, internalProxyService: vlan7-proxy.hcp.svc}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: InfraClusterAttachment
metadata: {name: blue, namespace: hcp}
spec:
  infraRef: {name: vlan7}
  hostedClusterRef: {name: blue, namespace: hcp}
  dns: {clusterName: blue, baseDomain: hc.example.com}
  appsIngress: {enabled: true, metallb: {addressPoolName: blue, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: InfraClusterAttachment
metadata: {name: red, namespace: hcp}
spec:
  infraRef: {name: vlan7}
  hostedClusterRef: {name: red, namespace: hcp}
  dns: {clusterName: red, baseDomain: hc.example.com}
  appsIngress: {enabled: true, metallb: {addressPoolName: red, ipAddressPoolRange: 192.0.2.210-192.0.2.214}}
)"}};
}

/// What a cluster shows of it: ClusterIP of the proxy, three workers, both application addresses.
inline std::vector<spec::SourceText> example_observed() {
  return {{"observed.yaml", R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: vlan7-proxy, namespace: hcp}
  spec: {clusterIP: 172.30.9.4, ports: [{port: 443, protocol: TCP}]}
- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: b0, namespace: hcp-blue}, status: {addresses: [{type: InternalIP, address: 192.0.2.101}]}}
- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: b1, namespace: hcp-blue}, status: {addresses: [{type: InternalIP, address: 192.0.2.102}, {type: InternalIP, address: 10.132.0.9}]}}
- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: r0, namespace: hcp-red}, status: {addresses: [{type: InternalIP, address: 192.0.2.111}]}}
- {apiVersion: hostedcluster.densityops.com/v1alpha1, kind: InfraClusterAttachment, metadata: {name: blue, namespace: hcp}, status: {appsIngressStatus: {externalIP: 192.0.2.200}}}
- {apiVersion: hostedcluster.densityops.com/v1alpha1, kind: InfraClusterAttachment, metadata: {name: red, namespace: hcp}, status: {appsIngressStatus: {externalIP: 192.0.2.210}}}
)"}};
}

}  // namespace hcpnet::test
