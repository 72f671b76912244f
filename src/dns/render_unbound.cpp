// SPDX-License-Identifier: Apache-2.0
// unbound.conf. Its views hold local zones only, and there a wildcard is a zone of type "redirect": everything at and
// below its name gets the same answer. What exists below a wildcard therefore becomes a zone of its own.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <map>
#include <set>

#include "dns/render_common.hpp"

namespace hcpnet::dns::rendering {
namespace {

class LocalZones {
 public:
  LocalZones(Job& job, const View& view, const HiddenNames& hidden, const Zone& zone, std::string& text)
      : job_(job), view_(view), hidden_(hidden), zone_(zone), nodes_(nodes_of(zone)), text_(text) {}

  void write() {
    for (const auto& [name, sets] : nodes_) {
      if (hidden_.contains(zone_, name)) {
        for (const RRset* set : sets) job_.warn_of_hidden(view_, zone_, *set);
        continue;
      }
      if (name.is_wildcard()) continue;  // written with the name above it
      const auto* wildcard = find_wildcard(nodes_, name);
      if (name == zone_.apex() || wildcard || starts_below_redirect(name)) {
        text_ += "    local-zone: \"" + name.to_string() + "\" " + (wildcard ? "redirect" : "static") + '\n';
        if (wildcard) redirects_.insert(name);
      }
      for (const RRset* set : wildcard ? wildcard->second : sets) write_rrset(name, *set);
      if (wildcard) check_redirect(name, sets);
    }
  }

 private:
  [[nodiscard]] bool starts_below_redirect(const Name& name) const { return redirects_.contains(name.parent()); }

  void write_rrset(const Name& owner, const RRset& set) {
    if (set.type == Type::ns && owner != zone_.apex() && !owner.is_wildcard())
      job_.warn("delegation",
                "unbound answers these records and what is below, and does not refer, in view " + view_.name,
                owner.to_string());
    for (const std::string& line : record_lines(owner.to_string(), set, set.ttl)) {
      // One kind of quotes encloses the record, so it must not be in it.
      if (!is_plain(owner) || line.find('\'') != std::string::npos)
        job_.warn("not-representable", "left out of view " + view_.name, line);
      else
        text_ += "    local-data: '" + line + "'\n";
    }
  }

  void check_redirect(const Name& name, const std::vector<const RRset*>& own) {
    job_.warn("wildcard-apex",
              "unbound answers the name above a wildcard like the names below it, in view " + view_.name,
              name.to_string());
    for (const RRset* set : own)
      if (set->type != Type::soa)
        job_.warn("not-representable", "left out of view " + view_.name, name.to_string() + ' ' + to_string(set->type));
  }

  Job& job_;
  const View& view_;
  const HiddenNames& hidden_;
  const Zone& zone_;
  Nodes nodes_;
  std::set<Name> redirects_;
  std::string& text_;
};

/// Who is answered, and for whom is forwarded: of two networks the longer prefix counts, so the view comes first.
std::string access_lines(const Config& config, const OrderedView& view) {
  const char* usual =
      is_forwarding(config, *view.view) && !view.view->forwarding_allowed ? "allow" : "refuse_non_local";
  std::map<Cidr, const char*> all;
  for (const Clause& clause : view.clauses) all[clause.prefix] = view.view->allowed ? "refuse" : usual;
  for (const Cidr& clients : view.view->allowed.value_or(std::vector<Cidr>{})) all[clients] = usual;
  for (const Cidr& clients : view.view->forwarding_allowed.value_or(std::vector<Cidr>{})) all[clients] = "allow";
  std::string text;
  for (const auto& [clients, what] : all) {
    text += "    access-control: " + clients.to_string() + ' ' + what +
            "\n    access-control-view: " + clients.to_string() + ' ' + safe_word(view.view->name) + '\n';
  }
  return text;
}

std::string forward_zone(const std::string& name, const std::vector<Endpoint>& upstreams) {
  std::string text = "\nforward-zone:\n    name: \"" + name + "\"\n";
  for (const Endpoint& upstream : upstreams)
    text += "    forward-addr: " + upstream.address.to_string() +
            (is_port_of_dns(upstream) ? "" : '@' + std::to_string(upstream.port)) + '\n';
  return text;
}

std::string server_part(const Job& job, const std::vector<OrderedView>& views) {
  std::string text = "server:\n";
  std::set<std::uint16_t> ports;
  for (const Endpoint& listener : job.config.listeners) {
    if (!job.options.any_address)
      text += "    interface: " + listener.address.to_string() + '@' + std::to_string(listener.port) + '\n';
    else if (ports.insert(listener.port).second)
      for (const char* any : {"0.0.0.0", "::0"})
        text += std::string("    interface: ") + any + '@' + std::to_string(listener.port) + '\n';
  }
  for (const OrderedView& view : views) text += access_lines(job.config, view);
  const auto is_local = [](const Endpoint& upstream) { return upstream.address.is_loopback(); };
  const auto has_local = [&](const ZoneForwarding& zone) { return std::ranges::any_of(zone.upstreams, is_local); };
  if (std::ranges::any_of(job.config.forwarding.upstreams, is_local) ||
      std::ranges::any_of(job.config.forwarding.zones, has_local))
    text += "    do-not-query-localhost: no\n";
  return text;
}

}  // namespace

void unbound(Job& job) {
  if (!require_available(job) || !require_plain_apexes(job)) return;
  if (job.config.forwarding.resolv_conf)
    job.warn("no-resolv-conf", "unbound does not read resolv.conf; name its servers as upstreams");
  if (job.config.forwarding.policy != UpstreamPolicy::sequential)
    job.warn("not-representable", "left out: policy; unbound chooses among upstreams by their speed");
  warn_of_own_conduct(job);
  const std::vector<OrderedView> views = ordered_views(job.config);
  const std::vector<Endpoint> upstreams = upstreams_of(job.config.forwarding);
  std::string text = "# " + std::string(kNotice) + server_part(job, views);
  for (const OrderedView& view : views) {
    text += "\nview:\n    name: \"" + safe_word(view.view->name) + "\"\n";
    // Else unbound would ask the root servers.
    if (upstreams.empty()) {
      text += "    local-zone: \".\" refuse\n";
      for (const ZoneForwarding* zone : forward_zones(job.config.forwarding))
        text += "    local-zone: \"" + zone->zone.to_string() + "\" transparent\n";
    }
    const HiddenNames hidden(*view.view);
    for (const auto& zone : view.view->zones) LocalZones(job, *view.view, hidden, *zone, text).write();
  }
  if (!upstreams.empty()) text += forward_zone(".", upstreams);
  for (const ZoneForwarding* zone : forward_zones(job.config.forwarding))
    text += forward_zone(zone->zone.to_string(), zone->upstreams);
  job.out.files.push_back({"unbound.conf", std::move(text)});
}

}  // namespace hcpnet::dns::rendering
