// SPDX-License-Identifier: Apache-2.0
// A program that carries the network of a hosted cluster inside itself: on loopback, without root, on ports that the
// system chooses.
#include <filesystem>
#include <hcpnet/stack.hpp>
#include <iostream>
#include <random>

int main() {
  const auto state_dir =
      std::filesystem::temp_directory_path() / ("hcpnet-embed-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directories(state_dir);

  hcpnet::StackOptions options;
  options.texts = {{"network.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: clusters}
spec:
  networkConfig: {cidr: 127.90.0.0/24, gateway: 127.90.0.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: 127.90.0.2, rangeStart: 127.90.0.100, rangeEnd: 127.90.0.199}
    dns: {serverIP: 127.90.0.3, clusterName: blue, baseDomain: example.com}
    proxy: {serverIP: 127.90.0.4, controlPlaneNamespace: clusters-blue, internalProxyService: 198.51.100.10}
)"}};
  options.state_dir = state_dir.string();
  options.port_map = {{67, 0}, {53, 0}, {443, 0}, {6443, 0}};

  int status = 1;
  try {
    hcpnet::Stack stack(options);
    stack.start();
    for (const hcpnet::StackListener& l : stack.listeners())
      std::cout << l.service << " on " << l.bound.to_string() << '\n';
    for (const hcpnet::RouteExplanation& r :
         stack.route("oauth.blue.example.com", 443, *hcpnet::parse_ip_address("127.90.0.100"))) {
      std::cout << r.server_name << " -> " << r.backend << " (" << r.rule << ")\n";
      status = r.backend == "blue-oauth-openshift" ? 0 : 1;
    }
    stack.stop();
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
  }
  std::filesystem::remove_all(state_dir);
  return status;
}
