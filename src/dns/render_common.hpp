// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/renderer.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hcpnet::dns::rendering {

/// What every target reads and writes.
struct Job {
  const Config& config;
  const RenderOptions& options;
  Rendered out;
  Diagnostics errors;

  void error(const char* code, std::string message, std::string found = {});
  void warn(const char* code, std::string message, std::string found = {});
  /// Of records that a zone below theirs hides. A delegation to it, with its addresses, is what a parent has: no word.
  void warn_of_hidden(const View& view, const Zone& zone, const RRset& set);
  /// Renders the zone into a file of its own; returns the name by which other files mention it.
  std::string add_zone_file(const View& view, const Zone& zone);
};

/// One client prefix of a view, without what other views claim inside it.
struct Clause {
  Cidr prefix;
  std::vector<Cidr> excluded;
};
/// A view where the first one that matches is taken.
struct OrderedView {
  const View* view = nullptr;
  std::vector<Clause> clauses;  ///< the longest prefix first
};
/// Whether the clauses of two views may hold the same client.
enum class Overlap : std::uint8_t {
  first_wins,  ///< yes: a prefix excludes only what a later view claims inside it: with the usual views nothing
  none,
};
/// The most specific view first.
[[nodiscard]] std::vector<OrderedView> ordered_views(const Config& config, Overlap overlap = Overlap::first_wins);

/// A zone's names, the empty ones between owners and apex too, in canonical order: parents come before children.
using Nodes = std::map<Name, std::vector<const RRset*>>;
[[nodiscard]] Nodes nodes_of(const Zone& zone);
/// The node of the wildcard below `name`; null when there is none.
[[nodiscard]] const Nodes::value_type* find_wildcard(const Nodes& nodes, const Name& name);
/// Whether a name above `name`, inside the zone, has a wildcard.
[[nodiscard]] bool is_below_wildcard(const Nodes& nodes, const Name& name, const Name& apex);

/// Names that two zones of a view have: the longest apex owns them.
class HiddenNames {
 public:
  explicit HiddenNames(const View& view);
  /// Whether a zone of the view with a longer apex owns what `zone` has at `name`.
  [[nodiscard]] bool contains(const Zone& zone, Name name) const;
  /// The zone of the view that owns the name; null when none does.
  [[nodiscard]] const Zone* owner_of(Name name) const;

 private:
  std::unordered_map<Name, const Zone*> zones_;  ///< by apex
};
/// Whether the name is at or below a zone cut of the zone.
[[nodiscard]] bool is_delegated(const Zone& zone, const Name& name);
/// Whether the set makes a zone cut.
[[nodiscard]] bool is_delegation(const Zone& zone, const RRset& set);

/// Whether a network is a part of another one, and not all of it.
[[nodiscard]] bool is_inside(const Cidr& inner, const Cidr& outer);
/// What two networks have in common.
[[nodiscard]] std::optional<Cidr> intersection(const Cidr& a, const Cidr& b);

/// Letters, digits, "-" and "_", with "*" as a whole first label: what no configuration language gives a meaning to.
[[nodiscard]] bool is_plain(const Name& name);
/// Text that is safe as a file name and as a word of every target: other bytes than letters, digits and ._- become %XX.
[[nodiscard]] std::string safe_word(std::string_view text);
/// A name without the dot at its end, in lower case.
[[nodiscard]] std::string without_dot(const Name& name);

/// Upstreams without repetitions, in their order.
[[nodiscard]] std::vector<Endpoint> upstreams_of(const Forwarding& forwarding);
/// Zones with upstreams of their own, the longest name first: some programs take the first that fits.
[[nodiscard]] std::vector<const ZoneForwarding*> forward_zones(const Forwarding& forwarding);
/// Those of which no zone of the view owns the name: what one owns is never forwarded.
[[nodiscard]] std::vector<const ZoneForwarding*> forward_zones(const Forwarding& forwarding, const View& view);
/// The networks for which names of no zone are forwarded: those that are answered at all. nullopt: all of the view.
[[nodiscard]] std::optional<std::vector<Cidr>> forwarded_clients(const View& view);
/// Whether some client of the view may have names of no zone.
[[nodiscard]] bool is_forwarding(const Config& config, const View& view);
/// Whether that is so in some view.
[[nodiscard]] bool is_forwarding(const Config& config);
/// Warns of what only hcpnet's own forwarder does.
void warn_of_own_conduct(Job& job);
[[nodiscard]] bool is_port_of_dns(const Endpoint& endpoint);
/// "OWNER TTL IN TYPE RDATA" for each record of the set.
[[nodiscard]] std::vector<std::string> record_lines(const std::string& owner, const RRset& rrset, std::uint32_t ttl);

/// What other name servers find wrong with a zone that is served here, and BIND then loads none of it; empty: nothing.
[[nodiscard]] std::string flaw_of(const Zone& zone);

/// True when every zone has its data; says so otherwise.
bool require_available(Job& job);
/// True when all names of all zones are plain; says so otherwise.
bool require_plain_apexes(Job& job);

void zone_files(Job& job);
void hosts(Job& job);
void coredns(Job& job);
void bind(Job& job);
void unbound(Job& job);
void dnsmasq(Job& job);

inline constexpr std::string_view kNotice = "Rendered by hcpnet; changes made here are lost.\n";

}  // namespace hcpnet::dns::rendering
