// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/machine_network.hpp>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone.hpp>
#include <memory>
#include <utility>

namespace hcpnet::bootstrap {
namespace {

constexpr std::uint32_t kTtl = 300;  // seconds

dns::Name name(const std::string& text) {
  return dns::parse_name(text).value();  // of labels that the spec's rules have passed
}

/// The octets of an address from `begin` to `end`, the last one first, with a dot behind each.
std::string reversed(Ipv4 address, unsigned begin, unsigned end) {
  std::string text;
  for (unsigned i = end; i > begin; --i) text += std::to_string(address.bytes()[i - 1]) + '.';
  return text;
}

std::shared_ptr<const dns::Zone> forward_zone(const spec::ValidBootstrapCluster& cluster) {
  std::vector<dns::RRset> records;
  const auto add = [&](const std::string& host, Ipv4 address) {
    records.push_back(dns::make_a(name(host + '.' + cluster.domain), address, kTtl));
  };
  add("api", cluster.api_vip);
  add("api-int", cluster.api_vip);
  add("*.apps", cluster.ingress_vip);
  for (const spec::ValidNode& node : cluster.nodes) add(node.name, node.address);
  return std::make_shared<const dns::Zone>(name(cluster.domain), std::move(records));
}

std::shared_ptr<const dns::Zone> reverse_zone(const spec::ValidBootstrapCluster& cluster) {
  const unsigned octets = std::min(cluster.machine_network.prefix_length() / 8, 3u);
  const std::string apex = reversed(cluster.machine_network.network(), 0, octets) + "in-addr.arpa";
  std::vector<dns::RRset> records;
  const auto add = [&](Ipv4 address, const std::string& host) {
    const dns::Name target = name(host + '.' + cluster.domain);
    records.push_back(
        {name(reversed(address, octets, 4) + apex), dns::Type::ptr, kTtl, {std::string(as_text(target.wire()))}});
  };
  // Both names of the one address: nodes come by api-int, everybody else by api.
  add(cluster.api_vip, "api");
  add(cluster.api_vip, "api-int");
  for (const spec::ValidNode& node : cluster.nodes) add(node.address, node.name);
  return std::make_shared<const dns::Zone>(name(apex), std::move(records));
}

}  // namespace

std::vector<RenderedFile> render_zones(const spec::ValidBootstrapCluster& cluster, const PreviousZones& previous,
                                       std::optional<std::uint32_t> day) {
  dns::Config config;
  config.views.push_back({"zones", {}, {forward_zone(cluster), reverse_zone(cluster)}});
  dns::RenderOptions options;
  options.previous = previous;
  options.day = day;
  return dns::render(config, dns::RenderTarget::zonefile, options).value().files;
}

}  // namespace hcpnet::bootstrap
