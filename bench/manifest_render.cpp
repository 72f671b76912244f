// SPDX-License-Identifier: Apache-2.0
// Objects of many clusters, each with a VLAN of its own, and their YAML: manifest_render CLUSTERS ROUNDS [FILE].
// Prints what it took as JSON. The objects go to FILE, a list for each cluster, so that others can do the same with
// them.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/guest.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <string>
#include <vector>

namespace {

using namespace hcpnet;
using Clock = std::chrono::steady_clock;
using Objects = std::vector<nlohmann::json>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string spec_of(std::size_t number) {
  const std::string name = "c" + std::to_string(number);
  return "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: Infra\nmetadata: {name: " + name +
         ", namespace: hcp}\nspec:\n  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, "
         "networkAttachmentDefinition: " +
         name +
         ", dnsServers: [198.51.100.53]}\n  infraComponents:\n"
         "    dhcp: {serverIP: 192.0.2.2, rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}\n"
         "    dns: {serverIP: 192.0.2.3}\n    proxy: {serverIP: 192.0.2.4, internalProxyService: 172.30.9.4}\n"
         "---\napiVersion: hostedcluster.densityops.com/v1alpha1\nkind: InfraClusterAttachment\nmetadata: {name: " +
         name + ", namespace: hcp}\nspec:\n  infraRef: {name: " + name + "}\n  hostedClusterRef: {name: " + name +
         ", namespace: hcp}\n  dns: {clusterName: " + name +
         ", baseDomain: hc.example.com}\n  externalService: {enabled: true, addressPoolName: public}\n"
         "  appsIngress: {enabled: true, metallb: {addressPoolName: apps, ipAddressPoolRange: "
         "192.0.2.200-192.0.2.204}}\n";
}

/// From the text of one cluster's specs to everything that is applied for it.
Objects objects_of(std::size_t number, const manifest::BuildOptions& options) {
  const spec::ValidSet set = spec::check({{"spec.yaml", spec_of(number)}}).value();
  Objects objects = manifest::build(set, {}, options).value().objects;
  manifest::Built guest = manifest::build_guest(set, "hcp/c" + std::to_string(number)).value();
  for (nlohmann::json& object : guest.objects) objects.push_back(std::move(object));
  return objects;
}

nlohmann::json measure(std::size_t clusters, std::size_t rounds, const char* file) {
  manifest::BuildOptions options;
  options.deployment = manifest::Deployment::split;
  options.link = *manifest::parse_link("bridge:br-vlan7");
  std::vector<Objects> all(clusters);
  std::vector<double> building, writing;
  std::size_t objects = 0, bytes = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < clusters; ++i) all[i] = objects_of(i, options);
    building.push_back(seconds_since(start));
    objects = bytes = 0;
    start = Clock::now();
    for (const Objects& list : all) {
      objects += list.size();
      bytes += text::render_yaml_documents(list).size();
    }
    writing.push_back(seconds_since(start));
  }
  if (file != nullptr) std::ofstream(file, std::ios::binary) << nlohmann::json(all).dump();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"objects", objects},
          {"bytes", bytes},
          {"build_seconds", building},
          {"yaml_seconds", writing},
          {"peak_kib", usage.ru_maxrss}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    const nlohmann::json result =
        measure(std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10), argc > 3 ? argv[3] : nullptr);
    std::puts(result.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manifest_render: %s\n", error.what());
    return 1;
  }
}
