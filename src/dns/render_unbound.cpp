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

  /// unbound looks for the target of a redirection alone, and that only at its upstreams.
  void warn_of_alias(const RRset& set) {
    const auto target = make_name(set.rdata.front());
    if (!set.owner.is_wildcard())
      job_.warn("alias", "unbound answers an alias without what it leads to, in view " + view_.name,
                set.owner.to_string());
    else if (target && hidden_.owner_of(*target) != nullptr)
      job_.warn("alias",
                "unbound asks an upstream for what an alias leads to, though a zone has it, in view " + view_.name,
                set.owner.to_string());
  }

  void write_rrset(const Name& owner, const RRset& set) {
    if (set.type == Type::cname) warn_of_alias(set);
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

/// Who is answered, for whom is forwarded, and which view it is. unbound has one list for all views, of which the
/// longest prefix counts.
struct Access {
  const char* action = "";
  const View* view = nullptr;
};
using AccessList = std::map<Cidr, Access>;

void add_access(const Config& config, const OrderedView& ordered, AccessList& all) {
  const View& view = *ordered.view;
  const bool forwards = is_forwarding(config, view);
  const char* usual = forwards && !view.forwarding_allowed ? "allow" : "refuse_non_local";
  for (const Clause& clause : ordered.clauses) {
    const auto is_of_others = [&](const Cidr& part) {
      return std::ranges::any_of(clause.excluded,
                                 [&](const Cidr& other) { return other == part || is_inside(part, other); });
    };
    // Of a network that the view names, what it has of this prefix: the rest belongs to other views.
    const auto add = [&](const Cidr& clients, const char* action) {
      if (const auto part = intersection(clients, clause.prefix); part && !is_of_others(*part))
        all[*part] = {action, &view};
    };
    add(clause.prefix, view.allowed ? "refuse" : usual);
    for (const Cidr& clients : view.allowed.value_or(std::vector<Cidr>{})) add(clients, usual);
    if (!forwards) continue;
    for (const Cidr& clients : forwarded_clients(view).value_or(std::vector<Cidr>{})) add(clients, "allow");
  }
}

/// unbound has these networks in its list from the start, for everything and without a view.
void add_loopback(AccessList& all) {
  for (const char* text : {"127.0.0.0/8", "::1/128"}) {
    const Cidr loopback = parse_cidr(text).value();
    if (all.contains(loopback)) continue;
    const AccessList::value_type* longest = nullptr;
    for (const auto& one : all)
      if (is_inside(loopback, one.first) &&
          (longest == nullptr || one.first.prefix_length() > longest->first.prefix_length()))
        longest = &one;
    if (longest != nullptr) all.emplace(loopback, longest->second);
  }
}

std::string access_lines(const Config& config) {
  AccessList all;
  for (const OrderedView& view : ordered_views(config, Overlap::none)) add_access(config, view, all);
  add_loopback(all);
  std::string text;
  for (const auto& [clients, access] : all) {
    text += "    access-control: " + clients.to_string() + ' ' + access.action +
            "\n    access-control-view: " + clients.to_string() + ' ' + safe_word(access.view->name) + '\n';
  }
  return text;
}

/// unbound knows by itself that no public name server has names of private networks. The upstreams may well have them.
std::string unblock_lines(const Forwarding& forwarding) {
  std::set<Name> zones{parse_name("home.arpa").value(), parse_name("test").value()};
  for (const ZoneForwarding& zone : forwarding.zones) zones.insert(zone.zone);
  std::string text = "    unblock-lan-zones: yes\n";
  for (const Name& zone : zones) text += "    local-zone: \"" + zone.to_string() + "\" transparent\n";
  return text;
}

std::string forward_zone(const std::string& name, const std::vector<Endpoint>& upstreams) {
  std::string text = "\nforward-zone:\n    name: \"" + name + "\"\n";
  for (const Endpoint& upstream : upstreams)
    text += "    forward-addr: " + upstream.address.to_string() +
            (is_port_of_dns(upstream) ? "" : '@' + std::to_string(upstream.port)) + '\n';
  return text;
}

std::string server_part(const Job& job) {
  std::string text = "server:\n";
  std::set<std::uint16_t> ports;
  for (const Endpoint& listener : job.config.listeners) {
    if (!job.options.any_address)
      text += "    interface: " + listener.address.to_string() + '@' + std::to_string(listener.port) + '\n';
    else if (ports.insert(listener.port).second)
      for (const char* any : {"0.0.0.0", "::0"})
        text += std::string("    interface: ") + any + '@' + std::to_string(listener.port) + '\n';
  }
  text += access_lines(job.config);
  if (job.config.forwarding.is_enabled()) text += unblock_lines(job.config.forwarding);
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
  if (job.config.forwarding.resolv_conf && is_forwarding(job.config))
    job.warn("no-resolv-conf", "unbound does not read resolv.conf; name its servers as upstreams");
  if (job.config.forwarding.policy != UpstreamPolicy::sequential)
    job.warn("not-representable", "left out: policy; unbound chooses among upstreams by their speed");
  warn_of_own_conduct(job);
  const std::vector<Endpoint> upstreams = upstreams_of(job.config.forwarding);
  std::string text = "# " + std::string(kNotice) + server_part(job);
  for (const OrderedView& view : ordered_views(job.config)) {
    // The first place, and not the only one: else each view had unbound's own zones again.
    text += "\nview:\n    name: \"" + safe_word(view.view->name) + "\"\n    view-first: yes\n";
    // Else unbound would ask the root servers.
    if (upstreams.empty()) {
      text += "    local-zone: \".\" refuse\n";
      for (const ZoneForwarding* zone : forward_zones(job.config.forwarding, *view.view))
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
