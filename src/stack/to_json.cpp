// SPDX-License-Identifier: Apache-2.0
#include "stack/to_json.hpp"

#include <cmath>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <nlohmann/json.hpp>

#include "dhcp/lease_file_reader.hpp"
#include "dhcp/lease_import.hpp"
#include "timestamp.hpp"

namespace hcpnet {
namespace {

using Json = nlohmann::json;

/// 0 to 1, four digits behind the point: what is not free of `size` addresses.
double utilization(std::uint64_t used, std::uint64_t size) {
  if (size == 0) return 1;
  constexpr double kDigits = 10'000;
  return std::round(static_cast<double>(used) / static_cast<double>(size) * kDigits) / kDigits;
}

}  // namespace

Json to_json(const Diagnostics& diagnostics) {
  Json all = Json::array();
  for (const Diagnostic& d : diagnostics)
    all.push_back({{"severity", to_string(d.severity)},
                   {"file", d.file},
                   {"line", d.line},
                   {"column", d.column},
                   {"path", d.path},
                   {"code", d.code},
                   {"message", d.message},
                   {"found", d.found},
                   {"expected", d.expected}});
  return all;
}

Json to_json(const dhcp::Lease& lease) {
  return {{"address", lease.address.to_string()},
          {"mac", lease.mac.to_string()},
          {"clientId", dhcp::hex_bytes(lease.client_id)},
          {"hostName", printable(lease.host_name)},
          {"subnet", lease.subnet},
          {"state", to_string(lease.state)},
          {"started", timestamp(lease.started)},
          {"expires", timestamp(lease.expires)}};
}

Json to_json(const dhcp6::Lease& lease) {
  return {{"address", lease.address.to_string()},
          {"duid", lease.client.duid.to_string()},
          {"iaid", lease.client.iaid},
          {"mac", lease.client.mac ? lease.client.mac->to_string() : ""},
          {"hostName", printable(lease.host_name)},
          {"subnet", lease.subnet},
          {"state", to_string(lease.state)},
          {"started", timestamp(lease.started)},
          {"expires", timestamp(lease.expires)}};
}

Json to_json(const dhcp::LeaseImport& outcome) {
  return {{"imported", outcome.imported},
          {"unchanged", outcome.unchanged},
          {"leftOut", outcome.left_out},
          {"diagnostics", to_json(outcome.warnings)}};
}

Json to_json(const dhcp::EndedLease& ended) {
  return ended.lease ? to_json(*ended.lease) : to_json(ended.lease6.value());
}

Json subnets_to_json(const dhcp::ServerStats& stats) {
  Json all = Json::array();
  for (const auto& [name, subnet] : stats.subnets) {
    Json pools = Json::array();
    std::uint64_t used_in_pools = 0;
    for (const dhcp::ServerStats::PerPool& pool : subnet.pools) {
      const std::uint64_t used = pool.bound + pool.offered + pool.declined;
      used_in_pools += used;
      pools.push_back({{"pool", pool.range.to_string()},
                       {"size", pool.size},
                       {"bound", pool.bound},
                       {"offered", pool.offered},
                       {"declined", pool.declined},
                       {"utilization", utilization(used, pool.size)}});
    }
    all.push_back({{"subnet", name},
                   {"poolSize", subnet.pool_size},
                   {"bound", subnet.bound},
                   {"offered", subnet.offered},
                   {"declined", subnet.declined},
                   {"utilization", utilization(used_in_pools, subnet.pool_size)},
                   {"pools", std::move(pools)}});
  }
  return all;
}

Json to_json(const dhcp::KeptAddress& kept) {
  return {{"address", kept.address.to_string()},
          {"mac", kept.mac ? kept.mac->to_string() : ""},
          {"duid", kept.duid ? kept.duid->to_string() : ""},
          {"clientId", dhcp::hex_bytes(kept.client_id)},
          {"hostName", printable(kept.host_name)},
          {"subnet", kept.subnet},
          {"byHand", kept.is_by_hand}};
}

Json to_json(const LeaseFeed::Event& event) {
  return std::visit(
      [&](const auto& what) {
        return Json{{"time", timestamp(event.time)}, {"event", to_string(what.kind)}, {"lease", to_json(what.lease)}};
      },
      event.what);
}

bool is_lease_of(const dhcp::Lease& lease, const std::string& key) {
  if (parse_ip_address(key) == IpAddress(lease.address) || parse_mac_address(key) == lease.mac) return true;
  const auto id = dhcp::parse_hex_bytes(key, dhcp::kMaxStoredClientIdBytes);
  if (id && !id->empty() && *id == lease.client_id) return true;
  return !key.empty() && key == lease.host_name;
}

bool is_lease_of(const dhcp6::Lease& lease, const std::string& key) {
  if (parse_ip_address(key) == IpAddress(lease.address)) return true;
  const auto mac = parse_mac_address(key);
  if (mac && lease.client.mac == mac) return true;
  const auto duid = dhcp6::parse_duid(key);
  if (duid && lease.client.duid == *duid) return true;
  return !key.empty() && key == lease.host_name;
}

Json to_json(const RouteExplanation& answer) {
  return {{"proxy", answer.proxy},
          {"listener", answer.listener.to_string()},
          {"protocol", answer.protocol == proxy::Protocol::udp ? "UDP" : "TCP"},
          {"serverName", printable(answer.server_name)},
          {"source", answer.source.to_string()},
          {"sourceCluster", answer.source_cluster},
          {"rule", answer.rule},
          {"matched", answer.matched},
          {"backend", answer.backend},
          {"targets", answer.targets}};
}

Json to_json(const StackReload& reload) {
  return {{"time", timestamp(std::chrono::floor<std::chrono::seconds>(reload.time))},
          {"applied", reload.was_applied},
          {"diagnostics", to_json(reload.diagnostics)}};
}

Json to_json(const StackZone& zone) {
  Json clients = Json::array();
  for (const Cidr& cidr : zone.clients) clients.push_back(cidr.to_string());
  Json records = Json::array();
  for (const dns::RRset& rrset : zone.zone->rrsets())
    for (const std::string& rdata : rrset.rdata)
      records.push_back({{"name", rrset.owner.to_string()},
                         {"ttl", rrset.ttl},
                         {"type", dns::to_string(rrset.type)},
                         {"data", dns::rdata_to_string(rrset.type, rdata)}});
  return {{"server", zone.server},
          {"view", zone.view},
          {"clients", clients},
          {"apex", zone.zone->apex().to_string()},
          {"available", zone.zone->is_available()},
          {"records", records}};
}

Json to_json(const std::string& server, const dns::Explanation& explanation) {
  Json steps = Json::array();
  for (const dns::ExplainStep& s : explanation.steps)
    steps.push_back({{"name", s.name},
                     {"zone", s.zone},
                     {"rule", to_string(s.rule)},
                     {"matched", s.matched},
                     {"records", s.records}});
  return {{"server", server},
          {"view", explanation.view},
          {"prefix", explanation.prefix ? explanation.prefix->to_string() : ""},
          {"steps", steps},
          {"upstreams", explanation.upstreams}};
}

}  // namespace hcpnet
