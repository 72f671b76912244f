// SPDX-License-Identifier: Apache-2.0
#include "proxy/route_compiler.hpp"

#include <algorithm>
#include <hcpnet/tls/client_hello.hpp>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

namespace hcpnet::proxy {
namespace {

constexpr std::uint32_t kFirstAllowListScope = 2 * 65536;

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

/// Folds the pattern's case in place. Valid: a DNS name without '*', or "*." before one.
bool normalize(std::string& pattern) {
  for (char& c : pattern) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::string_view name = pattern;
  if (is_wildcard(name)) name.remove_prefix(2);
  return name.find('*') == std::string_view::npos && tls::classify_host(name) == tls::HostKind::dns_name;
}

std::uint8_t wildcard_labels(std::string_view pattern) noexcept {
  return is_wildcard(pattern) ? static_cast<std::uint8_t>(std::ranges::count(pattern, '.')) : std::uint8_t{0};
}

class Compiler {
 public:
  explicit Compiler(CompiledRoutes& out) : out_(out), config_(out.config) {}

  Diagnostics run() {
    check_backends();
    reserve();
    for (std::uint32_t i = 0; i < config_.routes.size(); ++i) add_route(i);
    settle_names();
    settle_ports();
    add_allow_lists();
    return std::move(problems_);
  }

 private:
  struct Claim {
    std::uint32_t entry;
    std::uint32_t route;
    friend auto operator<=>(const Claim&, const Claim&) noexcept = default;
  };
  struct PortClaims {
    std::vector<std::uint32_t> no_sni, other_sni, not_tls;
    std::uint8_t max_wildcard_labels = 0;
  };

  void problem(std::string path, std::string code, std::string message, std::string found = {},
               std::string expected = {}) {
    Diagnostic diagnostic;
    diagnostic.path = std::move(path);
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    problems_.add(std::move(diagnostic));
  }

  void check_backends() {
    for (std::size_t i = 0; i < config_.backends.size(); ++i) {
      const Backend& backend = config_.backends[i];
      const std::string path = "/backends/" + std::to_string(i);
      if (!backends_.emplace(backend.name, &backend).second) {
        problem(path + "/name", "duplicate-backend", "two backends have the name " + quoted(backend.name));
      }
      const bool has_somewhere = !backend.endpoints.empty() || (!backend.host.empty() && backend.port != 0);
      if (!has_somewhere && !backend.is_unserved) {
        problem(path, "empty-backend",
                "backend " + quoted(backend.name) + " has neither endpoints nor a host with a port");
      }
    }
  }

  void reserve() {
    std::size_t names = 0, bytes = 0;
    const auto count = [&](const std::vector<std::string>& list) {
      names += list.size();
      for (const std::string& name : list) bytes += name.size();
    };
    for (const Route& route : config_.routes) count(route.names);
    for (const Listener& listener : config_.listeners) count(listener.only_names);
    out_.names.reserve(names, bytes);
    claims_.reserve(names);
    out_.route_backends.reserve(config_.routes.size());
  }

  void add_route(std::uint32_t index) {
    Route& route = config_.routes[index];
    const std::uint32_t scope = port_scope(route.port, route.protocol);
    PortClaims& port = ports_[scope];
    const auto backend = backends_.find(route.backend);
    out_.route_backends.push_back(backend == backends_.end() ? nullptr : backend->second);
    if (backend == backends_.end()) {
      problem("/routes/" + std::to_string(index) + "/backend", "unknown-backend", "there is no backend of this name",
              route.backend);
    }
    if (route.names.empty() && !route.no_sni && !route.other_sni && !route.not_tls) {
      problem("/routes/" + std::to_string(index), "empty-route", describe(index) + " matches nothing");
    }
    for (std::size_t i = 0; i < route.names.size(); ++i) {
      if (!check_name(route.names[i], "/routes", index, "/names", i)) continue;
      claims_.push_back({out_.names.add(scope, route.names[i]), index});
      port.max_wildcard_labels = std::max(port.max_wildcard_labels, wildcard_labels(route.names[i]));
    }
    if (route.no_sni) port.no_sni.push_back(index);
    if (route.other_sni) port.other_sni.push_back(index);
    if (route.not_tls) port.not_tls.push_back(index);
  }

  /// Folds the name's case. False, with a problem added, when it can't be routed.
  bool check_name(std::string& name, std::string_view list, std::size_t item, std::string_view member,
                  std::size_t index) {
    std::string given = name;
    if (normalize(name)) return true;
    problem(std::string(list) + '/' + std::to_string(item) + std::string(member) + '/' + std::to_string(index),
            "bad-host-name", "not a host name that can be routed", std::move(given),
            "a DNS name without a final dot, or \"*.\" and one");
    return false;
  }

  std::string describe(std::uint32_t route) const {
    return "route " + std::to_string(route) + " (backend " + quoted(config_.routes[route].backend) + ")";
  }

  static std::string describe_port(std::uint32_t scope) {
    return std::to_string(scope & 0xFFFF) + (scope > 0xFFFF ? " (UDP)" : "");
  }

  ClaimSet settle(std::uint32_t scope, std::string_view what, std::span<const std::uint32_t> claimants) {
    return {config_.routes, claimants, [&](const Conflict& conflict) {
              problem("/routes/" + std::to_string(conflict.second_route), "duplicate-route",
                      describe(conflict.first_route) + " and " + describe(conflict.second_route) + " both claim " +
                          std::string(what) + " on port " + describe_port(scope) + " for " + conflict.scope);
            }};
  }

  void settle_names() {
    std::ranges::sort(claims_);
    std::vector<std::uint32_t> claimants;
    for (std::size_t i = 0; i < claims_.size();) {
      const std::uint32_t entry = claims_[i].entry;
      claimants.clear();
      for (; i < claims_.size() && claims_[i].entry == entry; ++i) claimants.push_back(claims_[i].route);
      const Route& route = config_.routes[claimants.front()];
      if (claimants.size() == 1 && route.source.is_everyone()) {
        out_.names.set_claims(entry, ClaimSet(claimants.front()));
      } else {
        out_.names.set_claims(
            entry, settle(port_scope(route.port, route.protocol), quoted(out_.names.pattern(entry)), claimants));
      }
    }
  }

  void settle_ports() {
    for (const auto& [scope, claims] : ports_) {
      PortRules& rules = out_.ports.emplace_back();
      rules.scope = scope;
      rules.max_wildcard_labels = claims.max_wildcard_labels;
      rules.no_sni = settle(scope, "connections without a server name", claims.no_sni);
      rules.other_sni = settle(scope, "connections with an unknown server name", claims.other_sni);
      rules.not_tls = settle(scope, "connections that are not TLS", claims.not_tls);
    }
    std::ranges::sort(out_.ports, {}, &PortRules::scope);
  }

  void add_allow_lists() {
    std::set<std::pair<Endpoint, Protocol>> seen;
    for (std::size_t i = 0; i < config_.listeners.size(); ++i) {
      Listener& listener = config_.listeners[i];
      const std::string path = "/listeners/" + std::to_string(i);
      if (!seen.emplace(listener.address, protocol_of(listener.kind)).second) {
        problem(path + "/address", "duplicate-listener", "two listeners have this address",
                listener.address.to_string());
      }
      check_dial_addresses(listener, path);
      if (listener.only_names.empty()) continue;
      if (listener.kind == ListenerKind::udp) {
        problem(path + "/only_names", "names-without-tls", "datagrams name no server: the list would restrict nobody");
        continue;
      }
      AllowList& list = out_.allow_lists.emplace_back();
      list.listener = listener.address;
      list.scope = kFirstAllowListScope + static_cast<std::uint32_t>(i);
      for (std::size_t j = 0; j < listener.only_names.size(); ++j) {
        if (!check_name(listener.only_names[j], "/listeners", i, "/only_names", j)) continue;
        out_.names.add(list.scope, listener.only_names[j]);
        list.max_wildcard_labels = std::max(list.max_wildcard_labels, wildcard_labels(listener.only_names[j]));
      }
    }
    std::ranges::sort(out_.allow_lists, {}, &AllowList::listener);
  }

  void check_dial_addresses(const Listener& listener, const std::string& path) {
    const auto is_v4 = [](const IpAddress& address) { return address.is_v4(); };
    const auto v4 = std::ranges::count_if(listener.dial_from, is_v4);
    if (v4 <= 1 && std::ssize(listener.dial_from) - v4 <= 1) return;
    problem(path + "/dial_from", "bad-dial-address", "more than one address of a family");
  }

  CompiledRoutes& out_;
  RouteConfig& config_;
  std::unordered_map<std::string_view, const Backend*> backends_;
  std::unordered_map<std::uint32_t, PortClaims> ports_;
  std::vector<Claim> claims_;
  Diagnostics problems_;
};

}  // namespace

const PortRules* CompiledRoutes::find_port(std::uint32_t scope) const noexcept {
  const auto found = std::ranges::lower_bound(ports, scope, {}, &PortRules::scope);
  return found != ports.end() && found->scope == scope ? &*found : nullptr;
}

const AllowList* CompiledRoutes::find_allow_list(const Endpoint& listener) const noexcept {
  const auto found = std::ranges::lower_bound(allow_lists, listener, {}, &AllowList::listener);
  return found != allow_lists.end() && found->listener == listener ? &*found : nullptr;
}

Diagnostics compile_routes(CompiledRoutes& compiled) {
  return Compiler(compiled).run();
}

}  // namespace hcpnet::proxy
