// SPDX-License-Identifier: Apache-2.0
// What `hcpnet bootstrap render` takes for 3 + 3 nodes, but for reading and writing files.
#include <benchmark/benchmark.h>

#include <chrono>
#include <hcpnet/bootstrap/render.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace hcpnet;

spec::ValidBootstrapCluster cluster(const std::string& layout) {
  std::string text = R"(apiVersion: hcpnet.io/v1alpha1
kind: BootstrapCluster
metadata: {name: ocp4}
spec:
  clusterName: ocp4
  baseDomain: example.com
  openshiftVersion: 4.18.0
  releaseImage: registry.example.com/release:4.18.0
  networks: {machine: 192.168.126.0/24, gateway: 192.168.126.1}
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
  pullSecretFile: p
  sshKeyFile: s
  pki: {layout: )" + layout +
                     R"(}
  nodes:
  - {name: bootstrap, role: Bootstrap, macAddress: "52:54:00:00:00:01", address: 192.168.126.100}
)";
  for (int i = 0; i < 3; ++i)
    for (const auto& [name, role, base] : {std::tuple{"master-", "ControlPlane", 101}, {"worker-", "Worker", 111}})
      text += "  - {name: " + std::string(name) + std::to_string(i) + ", role: " + role +
              ", macAddress: \"52:54:00:00:" + (base == 101 ? "01:0" : "02:0") + std::to_string(i) +
              "\", address: 192.168.126." + std::to_string(base + i) + "}\n";
  return spec::check({{"cluster.yaml", text}}).value().bootstrap_clusters.at(0);
}

bootstrap::Inputs inputs() {
  bootstrap::Inputs made;
  made.now = std::chrono::system_clock::now();
  made.pull_secret = pki::Secret(R"({"auths":{"r":{"auth":"eA=="}}})");
  made.ssh_key = "ssh-ed25519 AAAA core";
  for (const char* name : {"etcd", "hyperkube", "pod"}) made.images[name] = "registry.example.com/" + std::string(name);
  made.ids = {"3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10", "ocp4-x7k2m"};
  made.kubeadmin = {pki::Secret("aaaaa-bbbbb-ccccc-ddddd"), "hash"};
  for (int i = 0; i < 97; ++i)  // as many as a release has, of their mean size
    made.crds.push_back({"crd-" + std::to_string(i) + ".yaml", std::string(30'000, 'x')});
  for (const char* pool : {"master", "worker"}) {
    auto& config = made.machine_configs[pool];
    config["ignition"]["version"] = "3.4.0";
    for (int i = 0; i < 40; ++i)
      config["storage"]["files"].push_back(
          {{"path", "/etc/file-" + std::to_string(i)}, {"contents", {{"source", "data:," + std::string(4'000, 'x')}}}});
  }
  return made;
}

void render_first(benchmark::State& state, const char* layout) {
  const auto described = cluster(layout);
  const bootstrap::Inputs given = inputs();
  for (auto _ : state) benchmark::DoNotOptimize(bootstrap::render(described, given, "out").value());
}
BENCHMARK_CAPTURE(render_first, hand_made, "HandMade")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(render_first, installer, "Installer")->Unit(benchmark::kMillisecond);

/// Every key and certificate is there already.
void render_again(benchmark::State& state) {
  const auto described = cluster("HandMade");
  bootstrap::Inputs given = inputs();
  for (pki::OutputFile& file : bootstrap::render(described, given, "out").value().files)
    if (file.name.starts_with("pki/")) given.pki.emplace(file.name.substr(4), std::move(file.text));
  for (auto _ : state) benchmark::DoNotOptimize(bootstrap::render(described, given, "out").value());
}
BENCHMARK(render_again)->Unit(benchmark::kMillisecond);

}  // namespace
