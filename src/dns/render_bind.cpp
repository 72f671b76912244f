// SPDX-License-Identifier: Apache-2.0
// named.conf with one view for each of ours. BIND takes the first view that matches, and in a list of addresses the
// first that matches.
#include <algorithm>

#include "dns/render_common.hpp"

namespace hcpnet::dns::rendering {
namespace {

/// The longest prefix decides: what other views claim inside a prefix stands, negated, before it.
std::string match_clients(const OrderedView& view) {
  struct Element {
    Cidr prefix;
    bool is_excluded;
  };
  std::vector<Element> elements;
  for (const Clause& clause : view.clauses) {
    elements.push_back({clause.prefix, false});
    for (const Cidr& other : clause.excluded) elements.push_back({other, true});
  }
  std::ranges::stable_sort(elements, std::greater{}, [](const Element& e) { return e.prefix.prefix_length(); });
  std::string text;
  for (const Element& element : elements)
    text += std::string(element.is_excluded ? " !" : " ") + element.prefix.to_string() + ';';
  return text;
}

std::string listen_options(const Job& job) {
  if (job.options.any_address) {
    std::string text;
    std::vector<std::uint16_t> ports;
    for (const Endpoint& listener : job.config.listeners)
      if (std::ranges::find(ports, listener.port) == ports.end()) ports.push_back(listener.port);
    for (const std::uint16_t port : ports)
      for (const char* option : {"listen-on", "listen-on-v6"})
        text += std::string("    ") + option + " port " + std::to_string(port) + " { any; };\n";
    return text;
  }
  std::string text;
  bool has_v4 = false, has_v6 = false;
  for (const Endpoint& listener : job.config.listeners) {
    (listener.address.is_v4() ? has_v4 : has_v6) = true;
    text += std::string("    ") + (listener.address.is_v4() ? "listen-on" : "listen-on-v6") + " port " +
            std::to_string(listener.port) + " { " + listener.address.to_string() + "; };\n";
  }
  if (!has_v4) text += "    listen-on { none; };\n";
  if (!has_v6) text += "    listen-on-v6 { none; };\n";
  return text;
}

std::string forwarders(const std::vector<Endpoint>& upstreams) {
  std::string text = "forward only; forwarders {";
  for (const Endpoint& upstream : upstreams)
    text += ' ' + upstream.address.to_string() +
            (is_port_of_dns(upstream) ? "" : " port " + std::to_string(upstream.port)) + ';';
  return text + " };";
}

std::string clients(const std::optional<std::vector<Cidr>>& allowed) {
  if (!allowed) return " any;";
  if (allowed->empty()) return " none;";
  std::string text;
  for (const Cidr& client : *allowed) text += ' ' + client.to_string() + ';';
  return text;
}

std::string conduct(const Config& config, const View& view) {
  std::string text;
  if (view.allowed) text += "    allow-query {" + clients(view.allowed) + " };\n";
  const std::vector<Endpoint> upstreams = upstreams_of(config.forwarding);
  if (!is_forwarding(config, view) || upstreams.empty()) return text + "    recursion no;\n";
  // allow-query is about the zones alone. Who may ask for more may look into the cache too, and nobody else.
  text += "    recursion yes;\n    allow-recursion {" + clients(forwarded_clients(view)) + " };\n    " +
          forwarders(upstreams) + '\n';
  for (const ZoneForwarding* zone : forward_zones(config.forwarding, view))
    text += "    zone \"" + without_dot(zone->zone) + "\" { type forward; " + forwarders(zone->upstreams) + " };\n";
  return text;
}

/// BIND loads nothing of a zone that has more records of one name and type (since 9.18.28), unless told otherwise.
constexpr std::size_t kMaxRecordsPerType = 100;

std::string zone_statement(Job& job, const View& view, const Zone& zone) {
  if (const std::string flaw = flaw_of(zone); !flaw.empty())
    job.error("name-server", "BIND loads nothing of a zone like this: view " + view.name, flaw);
  // The names are ours to choose: an address may well belong to a name with an underscore.
  std::string text = "    zone \"" + without_dot(zone.apex()) + "\" { type primary; check-names ignore; ";
  // Else what is below a zone cut would be asked of the view's forwarders, and not of its own name servers.
  if (std::ranges::any_of(zone.rrsets(), [&](const RRset& set) { return is_delegation(zone, set); }))
    text += "forwarders { }; ";
  // Older ones, which have no bound, do not know the option: where it is not needed it is not said.
  if (std::ranges::any_of(zone.rrsets(), [](const RRset& set) { return set.rdata.size() > kMaxRecordsPerType; }))
    text += "max-records-per-type 0; ";
  return text + "file \"" + job.add_zone_file(view, zone) + "\"; };\n";
}

}  // namespace

void bind(Job& job) {
  if (!require_available(job) || !require_plain_apexes(job)) return;
  if (job.config.forwarding.resolv_conf && is_forwarding(job.config))
    job.warn("no-resolv-conf", "BIND does not read resolv.conf; name its servers as upstreams");
  if (job.config.forwarding.policy != UpstreamPolicy::sequential)
    job.warn("not-representable", "left out: policy; BIND chooses among upstreams by their speed");
  if (job.config.forwarding.upstreams.empty() && !job.config.forwarding.zones.empty())
    job.warn("not-representable", "left out: zones; BIND would ask the root servers for what they are not for");
  warn_of_own_conduct(job);
  // BIND validates unless told otherwise, and then believes nothing of an upstream that does not serve DNSSEC. Nothing
  // is validated by us either.
  std::string text = "// " + std::string(kNotice) + "options {\n" + listen_options(job) +
                     "    allow-transfer { none; };\n    notify no;\n    dnssec-validation no;\n};\n";
  for (const OrderedView& view : ordered_views(job.config)) {
    text += "\nview \"" + safe_word(view.view->name) + "\" {\n    match-clients {" + match_clients(view) + " };\n" +
            conduct(job.config, *view.view);
    for (const auto& zone : view.view->zones) text += zone_statement(job, *view.view, *zone);
    text += "};\n";
  }
  job.out.files.insert(job.out.files.begin(), {"named.conf", std::move(text)});
}

}  // namespace hcpnet::dns::rendering
