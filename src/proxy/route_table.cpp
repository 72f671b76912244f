// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/tls/client_hello.hpp>

#include "proxy/route_compiler.hpp"

namespace hcpnet::proxy {

std::string_view to_string(Rule rule) noexcept {
  switch (rule) {
    case Rule::exact:
      return "exact";
    case Rule::wildcard:
      return "wildcard";
    case Rule::no_sni:
      return "no_sni";
    case Rule::other_sni:
      return "other_sni";
    case Rule::not_tls:
      return "not_tls";
    case Rule::no_match:
      return "no_match";
    case Rule::source_not_allowed:
      return "source_not_allowed";
    case Rule::unusable_name:
      return "unusable_name";
    case Rule::name_not_allowed:
      return "name_not_allowed";
  }
  return "unknown";
}

Greeting greeting_of(std::optional<std::string_view> server_name) {
  if (!server_name) return Greeting::no_name;
  switch (tls::classify_host(*server_name)) {
    case tls::HostKind::dns_name:
      return Greeting::name;
    case tls::HostKind::ip_address:
      return Greeting::no_name;
    case tls::HostKind::unusable:
      break;
  }
  return Greeting::unusable_name;
}

struct RouteTable::Impl : CompiledRoutes {};

namespace {

/// One look-up: goes from the narrowest claim to the broadest, until one is for this client.
class Search {
 public:
  Search(const CompiledRoutes& routes, const PortRules& rules, const IpAddress& source,
         const SourceClusters& clusters) noexcept
      : routes_(routes), rules_(rules), client_(source, clusters) {}

  Decision by_name(const FoldedName& name) noexcept {
    if (try_entry(routes_.names.find_exact(rules_.scope, name), Rule::exact)) return decision_;
    for (std::size_t labels = longest(name, rules_.max_wildcard_labels); labels > 0; --labels) {
      if (try_entry(routes_.names.find_wildcard(rules_.scope, name, labels), Rule::wildcard)) return decision_;
    }
    return nameless(rules_.other_sni, Rule::other_sni);
  }

  Decision nameless(const ClaimSet& claims, Rule rule) noexcept {
    if (try_claims(claims, rule, {})) return decision_;
    return {nullptr, is_claimed_ ? Rule::source_not_allowed : Rule::no_match, {}};
  }

  /// How many labels of the name a wildcard can leave after its "*.".
  static std::size_t longest(const FoldedName& name, std::size_t max_wildcard_labels) noexcept {
    return std::min(name.label_count() - 1, max_wildcard_labels);
  }

 private:
  bool try_entry(std::uint32_t entry, Rule rule) noexcept {
    return entry != NameIndex::kNone && try_claims(routes_.names.claims(entry), rule, routes_.names.pattern(entry));
  }

  bool try_claims(const ClaimSet& claims, Rule rule, std::string_view matched) noexcept {
    if (claims.is_empty()) return false;
    // Once the name is claimed for others only, a broader route for every client must not take it.
    const std::uint32_t route = claims.find(client_, is_claimed_);
    is_claimed_ = true;
    if (route == ClaimSet::kNone) return false;
    decision_ = {routes_.route_backends[route], rule, matched};
    return true;
  }

  const CompiledRoutes& routes_;
  const PortRules& rules_;
  Client client_;
  bool is_claimed_ = false;
  Decision decision_;
};

bool is_allowed(const CompiledRoutes& routes, const AllowList& list, const FoldedName& name) noexcept {
  if (routes.names.find_exact(list.scope, name) != NameIndex::kNone) return true;
  for (std::size_t labels = Search::longest(name, list.max_wildcard_labels); labels > 0; --labels) {
    if (routes.names.find_wildcard(list.scope, name, labels) != NameIndex::kNone) return true;
  }
  return false;
}

Decision find_by_name(const CompiledRoutes& routes, const AllowList* allow_list, const PortRules* rules,
                      std::string_view server_name, const IpAddress& source, const SourceClusters& clusters) noexcept {
  const FoldedName name(server_name);
  if (!name.is_valid()) return {nullptr, Rule::unusable_name, {}};
  if (allow_list != nullptr && !is_allowed(routes, *allow_list, name)) return {nullptr, Rule::name_not_allowed, {}};
  if (rules == nullptr) return {};
  return Search(routes, *rules, source, clusters).by_name(name);
}

}  // namespace

RouteTable::RouteTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RouteTable::~RouteTable() = default;

Result<std::shared_ptr<const RouteTable>, Diagnostics> RouteTable::build(RouteConfig config) {
  auto impl = std::make_unique<Impl>();
  impl->config = std::move(config);
  Diagnostics problems = compile_routes(*impl);
  if (problems.has_errors()) return problems;
  return std::shared_ptr<const RouteTable>(new RouteTable(std::move(impl)));
}

Decision RouteTable::find(const Endpoint& listener, Greeting greeting, std::string_view server_name,
                          const IpAddress& source, const SourceClusters& clusters, Protocol protocol) const noexcept {
  const PortRules* rules = impl_->find_port(port_scope(listener.port, protocol));
  const AllowList* allow_list = protocol == Protocol::tcp ? impl_->find_allow_list(listener) : nullptr;
  if (greeting == Greeting::name) return find_by_name(*impl_, allow_list, rules, server_name, source, clusters);
  if (greeting == Greeting::unusable_name) return {nullptr, Rule::unusable_name, {}};
  if (allow_list != nullptr) return {nullptr, Rule::name_not_allowed, {}};
  if (rules == nullptr) return {};
  Search search(*impl_, *rules, source, clusters);
  return greeting == Greeting::no_name ? search.nameless(rules->no_sni, Rule::no_sni)
                                       : search.nameless(rules->not_tls, Rule::not_tls);
}

const Listener* RouteTable::find_listener(const Endpoint& address, Protocol protocol) const noexcept {
  const std::vector<Listener>& listeners = impl_->config.listeners;
  const auto found = std::ranges::find_if(listeners, [&](const Listener& listener) {
    return listener.address == address && protocol_of(listener.kind) == protocol;
  });
  return found == listeners.end() ? nullptr : &*found;
}

const RouteConfig& RouteTable::config() const noexcept {
  return impl_->config;
}

}  // namespace hcpnet::proxy
