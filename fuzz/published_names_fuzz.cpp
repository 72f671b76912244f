// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/manifest/published_names.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace hcpnet;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_names(const manifest::ClusterNames& cluster) {
  for (const manifest::PublishedName& name : cluster.names) {
    require(name.host.size() <= 253);
    require(!name.needs_record || (!name.host.empty() && !parse_ip_address(name.host)));
    require(name.target || name.service == "Ingress");
  }
  static_cast<void>(manifest::to_json(cluster).dump());
}

}  // namespace

/// HostedClusters beside any other kind: names or problems, both ways, never both and never neither.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const text::LoadLimits limits{.max_depth = 20, .max_nodes = 2000};
  Diagnostics warnings;
  const auto observed = spec::load_observed({{"o.yaml", text}}, {}, warnings, limits);
  const auto set = spec::check({{"f.yaml", text}}, limits, spec::KindSet::names);
  if (!set) return 0;
  for (const char* domain : {"", "apps.mgmt.example.com"}) {
    const auto names = manifest::make_published_names(*set, observed ? *observed : spec::Observed{}, {domain});
    if (!names) {
      require(names.error().has_errors());
      continue;
    }
    require(!names->warnings.has_errors());
    for (const manifest::ClusterNames& cluster : names->clusters) check_names(cluster);
  }
  if (const auto made = manifest::make_publishing_strategies(*set))
    require(!made->warnings.has_errors() && !made->hosted_clusters.empty());
  else
    require(made.error().has_errors());
  return 0;
}
