// SPDX-License-Identifier: Apache-2.0
// unbound.conf. Its views hold local zones only, and there a wildcard is a zone of type "redirect": everything at and
// below its name gets the same answer. What exists below a wildcard therefore becomes a zone of its own.
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <set>

#include "dns/render_common.hpp"

namespace hcpnet::dns::rendering {
namespace {

class LocalZones {
 public:
  LocalZones(Job& job, const View& view, const Zone& zone, std::string& text)
      : job_(job), view_(view), zone_(zone), nodes_(nodes_of(zone)), text_(text) {}

  void write() {
    for (const auto& [name, sets] : nodes_) {
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
  const Zone& zone_;
  Nodes nodes_;
  std::set<Name> redirects_;
  std::string& text_;
};

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
  for (const OrderedView& view : views) {
    for (const Clause& clause : view.clauses) {
      text += "    access-control: " + clause.prefix.to_string() +
              " allow\n    access-control-view: " + clause.prefix.to_string() + ' ' + safe_word(view.view->name) + '\n';
    }
  }
  for (const Endpoint& upstream : upstreams_of(job.config.forwarding)) {
    if (!upstream.address.is_loopback()) continue;
    text += "    do-not-query-localhost: no\n";
    break;
  }
  return text;
}

}  // namespace

void unbound(Job& job) {
  if (!require_available(job) || !require_plain_apexes(job)) return;
  if (job.config.forwarding.resolv_conf)
    job.warn("no-resolv-conf", "unbound does not read resolv.conf; name its servers as upstreams");
  const std::vector<OrderedView> views = ordered_views(job.config);
  const std::vector<Endpoint> upstreams = upstreams_of(job.config.forwarding);
  std::string text = "# " + std::string(kNotice) + server_part(job, views);
  for (const OrderedView& view : views) {
    text += "\nview:\n    name: \"" + safe_word(view.view->name) + "\"\n";
    // Else unbound would ask the root servers.
    if (upstreams.empty()) text += "    local-zone: \".\" refuse\n";
    for (const auto& zone : view.view->zones) LocalZones(job, *view.view, *zone, text).write();
  }
  if (!upstreams.empty()) {
    text += "\nforward-zone:\n    name: \".\"\n";
    for (const Endpoint& upstream : upstreams)
      text += "    forward-addr: " + upstream.address.to_string() +
              (is_port_of_dns(upstream) ? "" : '@' + std::to_string(upstream.port)) + '\n';
  }
  job.out.files.push_back({"unbound.conf", std::move(text)});
}

}  // namespace hcpnet::dns::rendering
