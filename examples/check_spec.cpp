// SPDX-License-Identifier: Apache-2.0
// Checks a network description in memory, with nothing but the pure library: every problem at once, each with its line.
#include <hcpnet/spec/validate.hpp>
#include <iostream>

int main() {
  const auto checked = hcpnet::spec::check({{"network.yaml", R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DHCPServer
metadata: {name: vlan, namespace: clusters}
spec:
  networkConfig: {cidr: 192.0.2.0/26, gateway: 192.0.2.1, serverIP: 192.0.2.2}
  leaseConfig: {rangeStart: 192.0.2.10, rangeEnd: 192.0.2.64, leasetime: 1h}
)"}});
  if (checked) return 1;  // it must not be accepted
  const hcpnet::Diagnostics problems = checked.error();
  std::cout << problems.to_string();
  return problems.error_count() == 2 ? 0 : 1;
}
