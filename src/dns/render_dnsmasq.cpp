// SPDX-License-Identifier: Apache-2.0
// dnsmasq.conf. dnsmasq has no views: one file per view, each for a process of its own.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <unordered_map>
#include <vector>

#include "dns/rdata_text.hpp"
#include "dns/render_common.hpp"

namespace hcpnet::dns::rendering {
namespace {

/// What dnsmasq reads as one line of its file, with the end of the line.
constexpr std::size_t kMaxLineBytes = 1024;

/// The aliases of a view whose following never ends, inside a zone or across several: with one dnsmasq would not start.
/// Linear in their number.
class AliasLoops {
 public:
  AliasLoops(const View& view, const HiddenNames& hidden) {
    for (const auto& zone : view.zones)
      for (const RRset& set : zone->rrsets())
        if (set.type == Type::cname && !hidden.contains(*zone, set.owner))
          aliases_.emplace(set.owner, Alias{&set, State::unknown});
    std::vector<Alias*> path;
    for (auto& [owner, first] : aliases_) {
      path.clear();
      Alias* at = &first;
      for (; at != nullptr && at->state == State::unknown; at = next(*at)) {
        at->state = State::followed;
        path.push_back(at);
      }
      // Where it meets one that was followed before, it ends as that does; where it meets itself, never.
      const bool is_loop = at != nullptr && at->state != State::ends;
      for (Alias* alias : path) alias->state = is_loop ? State::loops : State::ends;
    }
  }
  [[nodiscard]] bool contains(const Name& owner) const {
    const auto found = aliases_.find(owner);
    return found != aliases_.end() && found->second.state == State::loops;
  }

 private:
  enum class State : std::uint8_t { unknown, followed, ends, loops };
  struct Alias {
    const RRset* set;
    State state;
  };

  Alias* next(const Alias& alias) {
    const auto target = make_name(alias.set->rdata.front());
    const auto found = target ? aliases_.find(*target) : aliases_.end();
    return found == aliases_.end() ? nullptr : &found->second;
  }

  std::unordered_map<Name, Alias> aliases_;
};

class ZoneLines {
 public:
  ZoneLines(Job& job, const View& view, const HiddenNames& hidden, const AliasLoops& loops, const Zone& zone,
            std::string& text)
      : job_(job), view_(view), hidden_(hidden), loops_(loops), zone_(zone), nodes_(nodes_of(zone)), text_(text) {}

  void write() {
    text_ += "local=/" + without_dot(zone_.apex()) + "/\n";
    for (const auto& [name, sets] : nodes_) {
      if (hidden_.contains(zone_, name)) {
        for (const RRset* set : sets) job_.warn_of_hidden(view_, zone_, *set);
        continue;
      }
      // A wildcard's own entry makes other types NODATA, where dnsmasq would say NXDOMAIN. And names below one that
      // exists are not the wildcard's (RFC 4592 section 3.3.1), whether or not it is left out.
      if (is_plain(name) && name != zone_.apex() &&
          (name.is_wildcard() || is_below_wildcard(nodes_, name, zone_.apex())))
        text_ += "local=/" + without_dot(name) + "/\n";
      // What dnsmasq has of its own it answers, where a delegation asks for a referral: what is behind one is left out.
      if (!is_plain(name) || is_delegated(zone_, name)) {
        for (const RRset* set : sets) leave_out(*set);
        continue;
      }
      for (const RRset* set : sets) write_rrset(*set);
    }
  }

 private:
  void leave_out(const RRset& set) {
    job_.warn("not-representable", "left out of view " + view_.name, set.owner.to_string() + ' ' + to_string(set.type));
  }

  /// dnsmasq looks for the target of an alias among its own names, and not where a wildcard or an upstream has it.
  [[nodiscard]] bool is_followed(const RRset& alias) const {
    const auto target = make_name(alias.rdata.front());
    const Zone* owner = target ? hidden_.owner_of(*target) : nullptr;
    if (owner == nullptr) return false;
    const Zone::Found found = owner->find(*target, Type::any);
    return found.outcome != Zone::Outcome::referral && !found.from_wildcard;
  }

  void write_rrset(const RRset& set) {
    if (&set == &zone_.soa() || (set.type == Type::ns && set.owner == zone_.apex()))
      return;  // dnsmasq makes none of its own
    const bool is_address = set.type == Type::a || set.type == Type::aaaa;
    if (set.owner.is_wildcard() && !is_address) return leave_out(set);
    if (set.type == Type::cname && loops_.contains(set.owner)) return leave_out(set);
    if (set.type == Type::cname && !is_followed(set))
      job_.warn(
          "alias",
          "dnsmasq answers an alias without what it leads to where that is no name of its own, in view " + view_.name,
          set.owner.to_string());
    for (const std::string& rdata : set.rdata) {
      const std::string value = rdata_to_string(set.type, rdata);
      const std::string owner = without_dot(set.owner);
      if (is_address)
        text_ += set.owner.is_wildcard() ? "address=/" + owner + '/' + value + '\n'
                                         : "host-record=" + owner + ',' + value + '\n';
      else if (set.type == Type::cname)
        text_ += "cname=" + owner + ',' + value.substr(0, value.size() - 1) + ',' + std::to_string(set.ttl) + '\n';
      else
        write_any(set, owner, rdata);
    }
  }

  void write_any(const RRset& set, const std::string& owner, const std::string& rdata) {
    const std::string line =
        "dns-rr=" + owner + ',' + std::to_string(static_cast<unsigned>(set.type)) + ',' + hexadecimal(rdata) + '\n';
    if (line.size() > kMaxLineBytes) return leave_out(set);
    text_ += line;
  }

  Job& job_;
  const View& view_;
  const HiddenNames& hidden_;
  const AliasLoops& loops_;
  const Zone& zone_;
  Nodes nodes_;
  std::string& text_;
};

std::string listen_lines(Job& job) {
  std::string text;
  std::optional<std::uint16_t> port;
  for (const Endpoint& listener : job.config.listeners) {
    if (!port) text += "port=" + std::to_string(*(port = listener.port)) + '\n';
    if (*port != listener.port)
      job.warn("not-representable", "dnsmasq listens on one port", listener.to_string());
    else if (!job.options.any_address)
      text += "listen-address=" + listener.address.to_string() + '\n';
  }
  return job.options.any_address ? text : text + "bind-interfaces\n";
}

std::string server_word(const Endpoint& upstream) {
  return upstream.address.to_string() + (is_port_of_dns(upstream) ? "" : '#' + std::to_string(upstream.port)) + '\n';
}

std::string forward_lines(Job& job, const View& view) {
  const Forwarding& forwarding = job.config.forwarding;
  if (view.allowed || (view.forwarding_allowed && !view.forwarding_allowed->empty()))
    job.warn("not-representable", "left out of view " + view.name + ": which of its clients are answered");
  if (!is_forwarding(job.config, view)) return "no-resolv\n";
  std::string text = forwarding.resolv_conf ? "" : "no-resolv\n";
  if (forwarding.policy == UpstreamPolicy::sequential) text += "strict-order\n";
  for (const Endpoint& upstream : upstreams_of(forwarding)) text += "server=" + server_word(upstream);
  for (const ZoneForwarding* zone : forward_zones(forwarding, view))
    for (const Endpoint& upstream : zone->upstreams)
      text += "server=/" + without_dot(zone->zone) + '/' + server_word(upstream);
  return text;
}

/// dnsmasq has one TTL for all that it answers itself.
std::uint32_t smallest_ttl(const View& view) {
  std::uint32_t smallest = Zone::kNegativeTtl;
  bool is_first = true;
  for (const auto& zone : view.zones) {
    for (const RRset& set : zone->rrsets()) {
      if (&set == &zone->soa()) continue;
      smallest = is_first ? set.ttl : std::min(smallest, set.ttl);
      is_first = false;
    }
  }
  return smallest;
}

}  // namespace

void dnsmasq(Job& job) {
  if (!require_available(job) || !require_plain_apexes(job)) return;
  if (job.config.views.size() > 1)
    job.warn("one-process-per-view",
             "dnsmasq has no views: each file is for a process that only the clients of its view can reach");
  if (job.config.forwarding.policy != UpstreamPolicy::sequential)
    job.warn("not-representable", "left out: policy; dnsmasq prefers the upstream that answered first");
  warn_of_own_conduct(job);
  const std::string listeners = listen_lines(job);
  for (const View& view : job.config.views) {
    std::string text =
        "# " + std::string(kNotice) + listeners + "no-hosts\nlocal-ttl=" + std::to_string(smallest_ttl(view)) + '\n';
    text += forward_lines(job, view);
    const HiddenNames hidden(view);
    const AliasLoops loops(view, hidden);
    for (const auto& zone : view.zones) ZoneLines(job, view, hidden, loops, *zone, text).write();
    job.out.files.push_back({"dnsmasq-" + safe_word(view.name) + ".conf", std::move(text)});
  }
}

}  // namespace hcpnet::dns::rendering
