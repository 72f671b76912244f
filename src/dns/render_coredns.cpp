// SPDX-License-Identifier: Apache-2.0
// Corefile. Each view is a server block, the most specific first: CoreDNS takes the first whose view matches.
//
// Inside it every zone is a sequence of templates, of which the first that matches answers: the names that exist, by
// type; then NODATA for their other types; then, from the deepest name up, what a wildcard gives and what it does not
// (RFC 4592 section 3.3.1); NXDOMAIN for the rest. So nothing of a zone ever reaches `forward`.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <set>

#include "dns/render_common.hpp"

namespace hcpnet::dns::rendering {
namespace {

constexpr std::chrono::seconds kMinReload{2};

/// "^NAME$", or for a suffix every name below it. CoreDNS compares with names in lower case.
std::string regex(const Name& name, bool below) {
  std::string escaped;
  for (const char c : without_dot(name)) {
    if (c == '.' || c == '*') escaped += '\\';
    escaped += c;
  }
  if (name.is_root()) return below ? "^[^.]" : "^\\.$";
  return (below ? "\\." : "^") + escaped + "\\.$";
}

/// Text that passes through the quotes of a Corefile and through Go's template language unchanged.
bool is_inert(std::string_view text) {
  return text.find_first_of("\"\\{}\n") == std::string_view::npos;
}

/// A star in the middle of a name is a character like another here: regex() escapes it.
bool fits_template(const RRset& set) {
  std::string owner = set.owner.to_string();
  std::ranges::replace(owner, '*', 'x');
  if (set.type == Type::cname || !is_plain(parse_name(owner).value())) return false;
  return std::ranges::all_of(set.rdata,  // the generic form has a backslash
                             [&](const std::string& rdata) { return is_inert(rdata_to_string(set.type, rdata)); });
}

class TemplateWriter {
 public:
  TemplateWriter(const Zone& zone, std::string& text)
      : zone_(zone), nodes_(nodes_of(zone)), apex_(zone.apex().to_string()), text_(text) {
    for (const std::string& line : record_lines(apex_, zone.soa(), zone.negative_ttl())) soa_ = line;
  }

  void write() {
    if (!zone_.is_available()) return add("ANY ANY", {}, {"rcode SERVFAIL"});
    write_names();
    write_wildcards();
    add("ANY ANY", {}, {"rcode NXDOMAIN", authority()});
  }

 private:
  /// Names that get the same records share a template.
  class Answers {
   public:
    void add(const RRset& set, std::string match) {
      const auto same = std::ranges::find_if(groups_, [&](const Group& g) {
        return g.set->type == set.type && g.set->ttl == set.ttl && g.set->rdata == set.rdata;
      });
      if (same != groups_.end())
        same->matches.push_back(std::move(match));
      else
        groups_.push_back({&set, {std::move(match)}});
    }
    void write(TemplateWriter& to) const {
      for (const Group& group : groups_) {
        std::vector<std::string> lines;
        // The name as it was asked: some resolvers vary its case and want it back.
        for (const std::string& record : record_lines("{{ .Question.Name }}", *group.set, group.set->ttl))
          lines.push_back("answer \"" + record + '"');
        lines.emplace_back("fallthrough");
        to.add("IN " + to_string(group.set->type), group.matches, lines);
      }
    }

   private:
    struct Group {
      const RRset* set;
      std::vector<std::string> matches;
    };
    std::vector<Group> groups_;
  };

  void write_names() {
    Answers answers;
    std::vector<std::string> all;
    for (const auto& [name, sets] : nodes_) {
      if (name.is_wildcard()) continue;
      all.push_back(regex(name, false));
      for (const RRset* set : sets) answers.add(*set, all.back());
    }
    answers.write(*this);
    add("IN ANY", all, {"rcode NOERROR", authority(), "fallthrough"});
  }

  /// A name's closest encloser is the deepest name that exists above it; only that one's wildcard may answer.
  void write_wildcards() {
    std::size_t deepest = 0;
    for (const auto& [name, sets] : nodes_) deepest = std::max(deepest, name.label_count());
    for (std::size_t labels = deepest + 1; labels-- > zone_.apex().label_count();) {
      Answers answers;
      std::vector<std::string> wild, closed;
      for (const auto& [name, sets] : nodes_) {
        if (name.label_count() != labels) continue;
        if (const auto* wildcard = find_wildcard(nodes_, name)) {
          wild.push_back(regex(name, true));
          for (const RRset* set : wildcard->second) answers.add(*set, wild.back());
        } else if (is_below_wildcard(nodes_, name, zone_.apex())) {
          closed.push_back(regex(name, true));
        }
      }
      answers.write(*this);
      if (!wild.empty()) add("IN ANY", wild, {"rcode NOERROR", authority(), "fallthrough"});
      if (!closed.empty()) add("IN ANY", closed, {"rcode NXDOMAIN", authority(), "fallthrough"});
    }
  }

  [[nodiscard]] std::string authority() const { return "authority \"" + soa_ + '"'; }

  void add(const std::string& what, const std::vector<std::string>& matches, const std::vector<std::string>& lines) {
    text_ += "    template " + what + ' ' + apex_ + " {\n";
    for (const std::string& match : matches) text_ += "        match " + match + '\n';
    for (const std::string& line : lines) text_ += "        " + line + '\n';
    text_ += "    }\n";
  }

  const Zone& zone_;
  Nodes nodes_;
  std::string apex_, soa_;
  std::string& text_;
};

/// A template answers, and can't refer.
bool is_delegation(const Zone& zone, const RRset& set) {
  return set.type == Type::ns && set.owner != zone.apex() && !set.owner.is_wildcard();
}

/// Whether all zones of the view can be templates; a template of an enclosing zone would hide a zone file below it, so
/// all or none.
bool is_inline(const View& view, std::size_t max_names) {
  std::size_t names = 0;
  for (const auto& zone : view.zones) {
    if (!zone->is_available()) continue;
    for (const RRset& set : zone->rrsets())
      if (++names > max_names || !fits_template(set) || is_delegation(*zone, set)) return false;
  }
  return true;
}

void write_zones(Job& job, const View& view, std::string& text) {
  std::vector<const Zone*> zones;
  for (const auto& zone : view.zones) zones.push_back(zone.get());
  // The longest apex owns a name.
  std::ranges::stable_sort(zones, std::greater{}, [](const Zone* zone) { return zone->apex().label_count(); });
  const bool all_inline = is_inline(view, job.options.coredns.max_inline_names);
  for (const Zone* zone : zones) {
    if (all_inline || !zone->is_available())
      TemplateWriter(*zone, text).write();
    else
      text += "    file " + job.add_zone_file(view, *zone) + ' ' + zone->apex().to_string() + '\n';
  }
}

std::string incidr(const Cidr& cidr) {
  return "incidr(client_ip(), '" + cidr.to_string() + "')";
}

std::string expression(const OrderedView& view) {
  std::string text;
  std::set<Cidr> whole;
  for (const Clause& clause : view.clauses) {
    if (clause.excluded.empty()) whole.insert(clause.prefix);
    std::string one = incidr(clause.prefix);
    for (const Cidr& other : clause.excluded) one += " && !" + incidr(other);
    text +=
        (text.empty() ? "" : " || ") + (clause.excluded.empty() || view.clauses.size() == 1 ? one : '(' + one + ')');
  }
  const bool is_everyone = whole.contains(*parse_cidr("0.0.0.0/0")) && whole.contains(*parse_cidr("::/0"));
  return is_everyone ? "true" : text;
}

/// An address for one of CoreDNS's own listeners: ":8080", "192.0.2.3:8080".
std::string listen(const Endpoint& endpoint) {
  return endpoint.address.is_unspecified() ? ':' + std::to_string(endpoint.port) : endpoint.to_string();
}

/// Names that no zone of the view owns: with forwarding the block is for every name. Without it the block is for the
/// view's zones, and CoreDNS itself answers REFUSED for the rest.
std::string keys(const Job& job, const View& view, std::uint16_t port) {
  const std::string suffix = ':' + std::to_string(port) + ' ';
  std::string text;
  const Forwarding& forwarding = job.config.forwarding;
  const bool is_for_all = !forwarding.upstreams.empty() || forwarding.resolv_conf;
  if (is_forwarding(job.config, view) && is_for_all) return '.' + suffix;
  for (const auto& zone : view.zones) text += zone->apex().to_string() + suffix;
  if (is_forwarding(job.config, view))
    for (const ZoneForwarding* zone : forward_zones(forwarding)) text += zone->zone.to_string() + suffix;
  return text.empty() ? '.' + suffix : text;
}

const char* policy_name(UpstreamPolicy policy) {
  switch (policy) {
    case UpstreamPolicy::random:
      return "random";
    case UpstreamPolicy::round_robin:
      return "round_robin";
    case UpstreamPolicy::sequential:
      break;
  }
  return "sequential";
}

void write_forward_to(const std::string& from, const std::vector<std::string>& upstreams, bool is_choice,
                      UpstreamPolicy policy, std::string& text) {
  text += "    forward " + from;
  for (const std::string& upstream : upstreams) text += ' ' + upstream;
  text += is_choice ? std::string(" {\n        policy ") + policy_name(policy) + "\n    }\n" : "\n";
}

std::vector<std::string> as_words(const std::vector<Endpoint>& upstreams) {
  std::vector<std::string> words;
  for (const Endpoint& upstream : upstreams)
    words.push_back(is_port_of_dns(upstream) ? upstream.address.to_string() : upstream.to_string());
  return words;
}

void write_forward(const Job& job, const View& view, std::string& text) {
  const Forwarding& forwarding = job.config.forwarding;
  if (!is_forwarding(job.config, view)) {
    if (view.zones.empty()) text += "    template ANY ANY . {\n        rcode REFUSED\n    }\n";
    return;
  }
  for (const ZoneForwarding* zone : forward_zones(forwarding))
    write_forward_to(zone->zone.to_string(), as_words(zone->upstreams), zone->upstreams.size() > 1, forwarding.policy,
                     text);
  std::vector<Endpoint> upstreams = upstreams_of(forwarding);
  upstreams.resize(std::min(upstreams.size(), kMaxCoreDnsUpstreams - (forwarding.resolv_conf ? 1 : 0)));
  std::vector<std::string> words = as_words(upstreams);
  if (forwarding.resolv_conf) words.emplace_back("/etc/resolv.conf");
  if (!words.empty())  // a file may hold several
    write_forward_to(".", words, words.size() > 1 || forwarding.resolv_conf, forwarding.policy, text);
}

/// Who of a view's clients is answered at all.
void write_access(Job& job, const View& view, std::string& text) {
  if (view.allowed) {
    text += "    acl {\n        allow net";
    for (const Cidr& client : *view.allowed) text += ' ' + client.to_string();
    text += "\n        block\n    }\n";
  }
  if (view.forwarding_allowed && !view.forwarding_allowed->empty())
    job.warn("not-representable", "left out of view " + view.name + ": forwardedClients");
}

/// The plugins that listen by themselves or act on the whole process stand once, in the first block. Metrics are
/// counted per block, so `prometheus` stands in each; the blocks share one listener.
void write_services(const CoreDnsOptions& options, bool is_first, std::string& text) {
  if (is_first && options.health) text += "    health " + listen(*options.health) + '\n';
  if (is_first && options.ready) text += "    ready " + listen(*options.ready) + '\n';
  if (is_first && options.reload.count() > 0) text += "    reload " + std::to_string(options.reload.count()) + "s\n";
  if (options.prometheus) text += "    prometheus " + listen(*options.prometheus) + '\n';
  text += "    errors\n";
  if (options.cache_ttl.count() > 0) text += "    cache " + std::to_string(options.cache_ttl.count()) + '\n';
}

struct Port {
  std::uint16_t number = 0;
  std::string addresses;
};

std::vector<Port> ports_of(const Job& job) {
  std::map<std::uint16_t, std::string> by_number;
  for (const Endpoint& listener : job.config.listeners) {
    std::string& addresses = by_number[listener.port];
    if (!job.options.any_address) addresses += ' ' + listener.address.to_string();
  }
  std::vector<Port> ports;
  for (auto& [number, addresses] : by_number) ports.push_back({number, std::move(addresses)});
  return ports;
}

/// CoreDNS would find out only when it starts.
void check_options(Job& job) {
  const CoreDnsOptions& options = job.options.coredns;
  if (options.reload.count() != 0 && options.reload < kMinReload)
    job.error("bad-option", "reload: CoreDNS takes 2 s or more", std::to_string(options.reload.count()) + 's');
  if (options.cache_ttl.count() < 0) job.error("bad-option", "the longest time in the cache is negative");
  std::map<std::uint16_t, std::string> used;
  for (const Endpoint& listener : job.config.listeners) used[listener.port] = "DNS";
  const std::pair<const char*, const std::optional<Endpoint>&> services[] = {
      {"health", options.health}, {"ready", options.ready}, {"prometheus", options.prometheus}};
  for (const auto& [name, endpoint] : services) {
    if (!endpoint) continue;
    if (const auto [other, is_new] = used.try_emplace(endpoint->port, name); !is_new)
      job.error("port-collides", std::string(name) + " and " + other->second + " have the same port",
                std::to_string(endpoint->port));
  }
  const std::size_t room = kMaxCoreDnsUpstreams - (job.config.forwarding.resolv_conf ? 1 : 0);
  if (upstreams_of(job.config.forwarding).size() > room)
    job.warn("too-many-upstreams",
             "CoreDNS takes " + std::to_string(kMaxCoreDnsUpstreams) + " upstreams; the last ones are left out");
}

}  // namespace

void coredns(Job& job) {
  check_options(job);
  warn_of_own_conduct(job);
  if (!require_plain_apexes(job) || job.errors.has_errors()) return;
  std::string text = "# " + std::string(kNotice);
  bool is_first = true;
  for (const Port& port : ports_of(job)) {
    for (const OrderedView& view : ordered_views(job.config, Overlap::none)) {
      text += '\n' + keys(job, *view.view, port.number) + "{\n    view " + safe_word(view.view->name) +
              " {\n        expr " + expression(view) + "\n    }\n";
      if (!port.addresses.empty()) text += "    bind" + port.addresses + '\n';
      write_services(job.options.coredns, is_first, text);
      write_access(job, *view.view, text);
      std::vector<RenderedFile> files;
      files.swap(job.out.files);
      write_zones(job, *view.view, text);
      // Another port shows the same views: one copy of their files is enough.
      for (RenderedFile& file : job.out.files)
        if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
      job.out.files = std::move(files);
      write_forward(job, *view.view, text);
      text += "}\n";
      is_first = false;
    }
  }
  job.out.files.insert(job.out.files.begin(), {"Corefile", std::move(text)});
}

}  // namespace hcpnet::dns::rendering
