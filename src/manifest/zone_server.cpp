// SPDX-License-Identifier: Apache-2.0
#include "manifest/zone_server.hpp"
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/manifest/names.hpp>
#include <memory>
#include <utility>

#include "manifest/objects.hpp"
#include "manifest/workload.hpp"

namespace hcpnet::manifest {
namespace {

constexpr std::uint16_t kPort = 5353;  // nobody needs a privilege for it
constexpr std::uint16_t kHealthPort = 8080, kReadyPort = 8181;
constexpr std::uint32_t kTtl = 30;  // seconds: addresses of Services change with them
constexpr const char* kComponent = "names";

std::shared_ptr<const dns::Zone> make_zone(const std::string& name, const std::vector<IpAddress>& addresses) {
  const dns::Name owner = dns::parse_name(name).value();
  dns::RRset v4, v6;
  for (const IpAddress& address : addresses) {
    dns::RRset& rrset = address.is_v4() ? v4 : v6;
    dns::RRset one =
        address.is_v4() ? dns::make_a(owner, address.v4(), kTtl) : dns::make_aaaa(owner, address.v6(), kTtl);
    if (rrset.rdata.empty())
      rrset = std::move(one);
    else
      rrset.rdata.push_back(std::move(one.rdata.front()));
  }
  std::vector<dns::RRset> rrsets;
  for (dns::RRset* rrset : {&v4, &v6})
    if (!rrset->rdata.empty()) rrsets.push_back(std::move(*rrset));
  return std::make_shared<const dns::Zone>(owner.is_wildcard() ? owner.parent() : owner, std::move(rrsets));
}

Json corefile(const ZoneServer& server, Diagnostics& problems) {
  dns::View view{"all", {parse_cidr("0.0.0.0/0").value(), parse_cidr("::/0").value()}, {}};
  for (const auto& [name, addresses] : server.names) view.zones.push_back(make_zone(name, addresses));
  dns::Config config;
  config.listeners = {Endpoint{Ipv4(), kPort}};
  config.views = {std::move(view)};
  dns::RenderOptions options;
  options.any_address = true;
  options.file_prefix = "/etc/coredns/";
  options.coredns.health = Endpoint{Ipv4(), kHealthPort};
  options.coredns.ready = Endpoint{Ipv4(), kReadyPort};
  options.coredns.prometheus = Endpoint{Ipv4(), kObservePort};
  options.coredns.cache_ttl = std::chrono::seconds{0};  // it has the answers itself
  auto rendered = dns::render(config, dns::RenderTarget::coredns, options);
  if (!rendered) {
    problems.append(rendered.error());
    return Json::object();
  }
  problems.append(std::move(rendered->warnings));
  Json files = Json::object();
  for (const dns::RenderedFile& file : rendered->files) files[file.name] = file.text;
  return files;
}

}  // namespace

std::vector<Json> zone_server_objects(const ZoneServer& server, Diagnostics& problems) {
  Unit unit;
  unit.owner.name = server.owner;
  unit.owner.namespace_ = server.namespace_;
  unit.instance = cut_name(server.owner, "_primaryudn");
  Workload w;
  w.name = w.account = server.name;
  w.component = kComponent;
  w.config_name = cut_name(server.name, "-config");
  w.config = corefile(server, problems);
  w.config_path = "/etc/coredns";
  w.image = server.image;
  w.args = {"-conf", "/etc/coredns/Corefile"};
  w.ports = {{"dns-udp", kPort, "UDP"}, {"dns-tcp", kPort}};
  w.replicas = 2;
  w.has_file_capabilities = true;
  w.live_path = "/health";
  w.live_port = kHealthPort;
  w.ready_path = "/ready";
  w.ready_port = kReadyPort;
  Json budget = make_object(unit, "policy/v1", "PodDisruptionBudget", server.name, kComponent);
  budget["spec"] = {{"minAvailable", 1}, {"selector", {{"matchLabels", selector_labels(unit, kComponent)}}}};
  return {service_account(unit, w.account, kComponent), config_map(unit, w.config_name, kComponent, w.config),
          cluster_service(unit, server.name, kComponent, kComponent,
                          {{"dns-udp", 53, "UDP", kPort}, {"dns-tcp", 53, "TCP", kPort}}),
          std::move(budget), deployment(unit, w)};
}

}  // namespace hcpnet::manifest
