// SPDX-License-Identifier: Apache-2.0
#include "dns/render_common.hpp"

#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>

#include "dns/folded_name.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns::rendering {
namespace {

constexpr std::uint16_t kDnsPort = 53;

/// Prefix lengths of both families on one scale.
unsigned specificity(const Cidr& cidr) {
  return cidr.prefix_length() + (cidr.network().is_v4() ? 96 : 0);
}

bool is_word_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

Diagnostic finding(Severity severity, const char* code, std::string message, std::string found) {
  return {severity, {}, 0, 0, {}, code, std::move(message), std::move(found), {}};
}

}  // namespace

void Job::error(const char* code, std::string message, std::string found) {
  errors.add(finding(Severity::error, code, std::move(message), std::move(found)));
}

void Job::warn(const char* code, std::string message, std::string found) {
  out.warnings.add(finding(Severity::warning, code, std::move(message), std::move(found)));
}

void Job::warn_of_hidden(const View& view, const Zone& zone, const RRset& set) {
  if (!is_delegated(zone, set.owner))
    warn("records-hidden",
         "left out of view " + view.name + ": a zone below " + zone.apex().to_string() + " has the name",
         set.owner.to_string() + ' ' + to_string(set.type));
}

HiddenNames::HiddenNames(const View& view) {
  for (const auto& zone : view.zones) zones_.emplace(zone->apex(), zone.get());
}

bool HiddenNames::contains(const Zone& zone, Name name) const {
  for (; name != zone.apex(); name = name.parent())
    if (zones_.contains(name)) return true;
  return false;
}

const Zone* HiddenNames::owner_of(Name name) const {
  for (;; name = name.parent()) {
    if (const auto found = zones_.find(name); found != zones_.end()) return found->second;
    if (name.is_root()) return nullptr;
  }
}

bool is_delegated(const Zone& zone, const Name& name) {
  return zone.find_delegation(FoldedName(name), Type::a) != nullptr;
}

bool is_delegation(const Zone& zone, const RRset& set) {
  return set.type == Type::ns && set.owner != zone.apex() && !set.owner.is_wildcard();
}

bool is_inside(const Cidr& inner, const Cidr& outer) {
  return inner != outer && inner.prefix_length() >= outer.prefix_length() && outer.contains(inner.network());
}

std::optional<Cidr> intersection(const Cidr& a, const Cidr& b) {
  if (a == b || is_inside(a, b)) return a;
  return is_inside(b, a) ? std::optional(b) : std::nullopt;
}

std::vector<OrderedView> ordered_views(const Config& config, Overlap overlap) {
  std::vector<OrderedView> ordered;
  for (const View& view : config.views) {
    OrderedView one{&view, {}};
    for (const Cidr& prefix : view.clients) one.clauses.push_back({prefix, {}});
    std::ranges::stable_sort(one.clauses, std::greater{}, [](const Clause& c) { return specificity(c.prefix); });
    if (!one.clauses.empty()) ordered.push_back(std::move(one));
  }
  std::ranges::stable_sort(ordered, std::greater{},
                           [](const OrderedView& v) { return specificity(v.clauses.front().prefix); });
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (Clause& clause : ordered[i].clauses)
      for (std::size_t j = overlap == Overlap::first_wins ? i + 1 : 0; j < ordered.size(); ++j)
        for (const Clause& other : ordered[j].clauses)
          if (j != i && is_inside(other.prefix, clause.prefix)) clause.excluded.push_back(other.prefix);
  return ordered;
}

Nodes nodes_of(const Zone& zone) {
  Nodes nodes;
  for (const RRset& set : zone.rrsets()) {
    nodes[set.owner].push_back(&set);
    for (Name above = set.owner; above != zone.apex();) nodes.try_emplace(above = above.parent());
  }
  return nodes;
}

const Nodes::value_type* find_wildcard(const Nodes& nodes, const Name& name) {
  const auto child = name.wildcard_child();
  const auto found = child ? nodes.find(*child) : nodes.end();
  return found == nodes.end() ? nullptr : &*found;
}

bool is_below_wildcard(const Nodes& nodes, const Name& name, const Name& apex) {
  for (Name above = name; above != apex;) {
    above = above.parent();
    if (find_wildcard(nodes, above)) return true;
  }
  return false;
}

bool is_plain(const Name& name) {
  const std::string text = name.to_string();
  std::string_view rest = text;
  if (name.is_wildcard()) rest.remove_prefix(1);
  return std::ranges::all_of(rest, [](char c) { return c == '.' || is_word_byte(c); });
}

std::string safe_word(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // A dot in front would hide the file, or lead out of the folder.
    if (is_word_byte(c) || (c == '.' && !word.empty()))
      word += c;
    else
      word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return word;
}

std::string without_dot(const Name& name) {
  std::string text = name.to_string();
  if (!name.is_root()) text.pop_back();
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(fold(static_cast<std::uint8_t>(c))); });
  return text;
}

std::vector<Endpoint> upstreams_of(const Forwarding& forwarding) {
  std::vector<Endpoint> unique;
  for (const Endpoint& upstream : forwarding.upstreams)
    if (std::ranges::find(unique, upstream) == unique.end()) unique.push_back(upstream);
  return unique;
}

std::vector<const ZoneForwarding*> forward_zones(const Forwarding& forwarding) {
  std::vector<const ZoneForwarding*> zones;
  for (const ZoneForwarding& zone : forwarding.zones) zones.push_back(&zone);
  std::ranges::stable_sort(zones, std::greater{}, [](const ZoneForwarding* zone) { return zone->zone.label_count(); });
  return zones;
}

std::vector<const ZoneForwarding*> forward_zones(const Forwarding& forwarding, const View& view) {
  const HiddenNames names(view);
  std::vector<const ZoneForwarding*> zones = forward_zones(forwarding);
  std::erase_if(zones, [&](const ZoneForwarding* zone) { return names.owner_of(zone->zone) != nullptr; });
  return zones;
}

std::optional<std::vector<Cidr>> forwarded_clients(const View& view) {
  if (!view.allowed) return view.forwarding_allowed;
  if (!view.forwarding_allowed) return view.allowed;
  std::vector<Cidr> both;
  for (const Cidr& answered : *view.allowed)
    for (const Cidr& forwarded : *view.forwarding_allowed)
      if (const auto part = intersection(answered, forwarded); part && std::ranges::find(both, *part) == both.end())
        both.push_back(*part);
  return both;
}

bool is_forwarding(const Config& config, const View& view) {
  const auto clients = forwarded_clients(view);
  return config.forwarding.is_enabled() && (!clients || !clients->empty());
}

bool is_forwarding(const Config& config) {
  return std::ranges::any_of(config.views, [&](const View& view) { return is_forwarding(config, view); });
}

void warn_of_own_conduct(Job& job) {
  const Forwarding own;
  const Forwarding& f = job.config.forwarding;
  const std::pair<bool, const char*> fields[] = {{f.min_ttl != own.min_ttl, "minTTLSeconds"},
                                                 {f.max_ttl != own.max_ttl, "maxTTLSeconds"},
                                                 {f.serve_stale != own.serve_stale, "serveStaleSeconds"},
                                                 {f.prefetch, "prefetch"},
                                                 {f.mix_case, "randomizeCase"},
                                                 {job.config.query_log, "queryLog"}};
  for (const auto& [is_set, name] : fields)
    if (is_set) job.warn("not-representable", std::string("left out: ") + name);
}

bool is_port_of_dns(const Endpoint& endpoint) {
  return endpoint.port == kDnsPort;
}

std::vector<std::string> record_lines(const std::string& owner, const RRset& rrset, std::uint32_t ttl) {
  std::vector<std::string> lines;
  for (const std::string& rdata : rrset.rdata)
    lines.push_back(owner + ' ' + std::to_string(ttl) + " IN " + to_string(rrset.type) + ' ' +
                    rdata_to_string(rrset.type, rdata));
  return lines;
}

std::string flaw_of(const Zone& zone) {
  const std::string of_zone = "the zone " + zone.apex().to_string() + " has ";
  for (const RRset& set : zone.rrsets()) {
    if (set.type != Type::ns) continue;
    if (set.owner.is_wildcard()) return of_zone + "name servers at the wildcard " + set.owner.to_string();
    if (set.owner != zone.apex()) continue;
    for (const std::string& rdata : set.rdata) {
      const auto server = make_name(rdata);
      if (!server || !server->is_below_or_equal(zone.apex()) || is_delegated(zone, *server)) continue;
      const FoldedName name(*server);
      const ZoneMatch match = zone.find(name, Type::a);
      if (match.outcome == Zone::Outcome::answer && match.rrset.type == Type::cname)
        return of_zone + "the name server " + server->to_string() + ", which is an alias";
      if (match.outcome != Zone::Outcome::answer && zone.find(name, Type::aaaa).outcome != Zone::Outcome::answer)
        return of_zone + "the name server " + server->to_string() + " without an address";
    }
  }
  return {};
}

bool require_available(Job& job) {
  bool is_good = true;
  for (const View& view : job.config.views) {
    for (const auto& zone : view.zones) {
      if (zone->is_available()) continue;
      is_good = false;
      job.error("unavailable-zone", "what the names of this zone point to is not known: view " + view.name,
                zone->apex().to_string());
    }
  }
  return is_good;
}

bool require_plain_apexes(Job& job) {
  bool is_good = true;
  for (const View& view : job.config.views) {
    for (const auto& zone : view.zones) {
      if (is_plain(zone->apex())) continue;
      is_good = false;
      job.error("name-not-supported", "a zone of this name can't be written for this server", zone->apex().to_string());
    }
  }
  return is_good;
}

}  // namespace hcpnet::dns::rendering
