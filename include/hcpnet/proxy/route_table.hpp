// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hcpnet::proxy {

/// Where a route leads: one service, with every place where it is served.
struct Backend {
  std::string name;     ///< unique in a table: "blue-kube-apiserver"
  std::string cluster;  ///< the hosted cluster it belongs to, "namespace/name"; empty when it belongs to none
  /// "service.namespace.svc.cluster.local" or another DNS name, resolved at run time; used when `endpoints` is empty.
  std::string host;
  std::uint16_t port = 0;           ///< with `host`
  std::vector<Endpoint> endpoints;  ///< known addresses, tried in rotation
  std::chrono::milliseconds connect_timeout{30'000};
  std::optional<std::chrono::milliseconds> idle_timeout;  ///< of an established tunnel; absent: none
};

/// Which clients a route is for: those in one of the prefixes, and those that belong to the cluster. Both empty: every
/// client.
struct SourceMatch {
  std::vector<Cidr> prefixes;
  std::string cluster;  ///< a client whose address belongs to this cluster (SourceClusters)
  [[nodiscard]] bool is_everyone() const noexcept { return prefixes.empty() && cluster.empty(); }
  friend bool operator==(const SourceMatch&, const SourceMatch&) = default;
};

/// One claim on one port. A route matches by name, or says which nameless connections it takes.
struct Route {
  std::uint16_t port = 0;
  std::vector<std::string> names;  ///< host names, or "*.x" for every name below x at any depth
  bool no_sni = false;             ///< connections without a server name, or with an address as the name
  bool other_sni = false;          ///< connections whose (usable) name matches no route of this port
  bool not_tls = false;            ///< connections that do not begin with a TLS handshake
  SourceMatch source;
  std::string backend;  ///< Backend::name
};

/// An address and port that accepts connections. Which routes apply follows from its port.
struct Listener {
  Endpoint address;
  std::vector<std::string>
      only_names;  ///< names and wildcards; when not empty: no other name, and nothing nameless, is served here
  friend bool operator==(const Listener&, const Listener&) = default;
};

/// The whole routing configuration of one proxy, before it is compiled.
struct RouteConfig {
  std::vector<Listener> listeners;
  std::vector<Backend> backends;
  std::vector<Route> routes;
};

/// Which hosted cluster a client address belongs to: observed worker addresses and live leases. Kept by the owner of
/// the engine.
using SourceClusters = std::unordered_map<IpAddress, std::string>;

/// What an accepted connection showed of itself.
enum class Greeting : std::uint8_t { name, no_name, unusable_name, not_tls };
/// For a TLS connection: an address in place of a name counts as no name (RFC 6066 section 3).
[[nodiscard]] Greeting greeting_of(std::optional<std::string_view> server_name);

/// Why a connection goes where it goes, in words of a closed set: for the access log, metrics and `hcpnet route`.
enum class Rule : std::uint8_t {
  exact,
  wildcard,
  no_sni,
  other_sni,
  not_tls,
  no_match,            ///< closed: no route of this port claims it
  source_not_allowed,  ///< closed: claimed, but not for this client
  unusable_name,       ///< closed: the server name is no host name
  name_not_allowed,    ///< closed: not among Listener::only_names
};
inline constexpr std::size_t kRuleCount = 9;
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;

struct Decision {
  const Backend* backend = nullptr;  ///< null: close the connection and count `rule`; owned by the table
  Rule rule = Rule::no_match;
  std::string_view matched;  ///< the name or wildcard that matched; owned by the table
};

/// Compiled routes: immutable, shared between threads, replaced whole.
///
/// Order of rules (docs/proxy.md): exact name, then the longest wildcard, then `other_sni`. Within one of these a route
/// that names the client's cluster beats one that names its prefix, which beats one for every client. A name that
/// others have claimed for their sources only is not handed to a broader route for every client: from there on only
/// routes that name this client count. A name that is no valid host name matches nothing.
class RouteTable {
 public:
  /// Compiles `config`, or says all that is wrong with it. Paths are JSON pointers into RouteConfig
  /// ("/routes/3/names/0"). Codes: "bad-host-name", "duplicate-route" (names both routes), "empty-route",
  /// "unknown-backend", "duplicate-backend", "empty-backend", "duplicate-listener".
  [[nodiscard]] static Result<std::shared_ptr<const RouteTable>, Diagnostics> build(RouteConfig config);

  /// Chooses for a connection accepted on `listener`, as configured; one that is not in the table is judged by its port
  /// alone. `server_name` counts only with Greeting::name; ASCII case is ignored. No allocation.
  [[nodiscard]] Decision find(const Endpoint& listener, Greeting greeting, std::string_view server_name,
                              const IpAddress& source, const SourceClusters& clusters) const noexcept;

  /// As given, host names in lower case.
  [[nodiscard]] const RouteConfig& config() const noexcept;

  RouteTable(const RouteTable&) = delete;
  RouteTable& operator=(const RouteTable&) = delete;
  ~RouteTable();

 private:
  struct Impl;
  explicit RouteTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hcpnet::proxy
