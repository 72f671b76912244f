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

/// In which order the endpoints of a backend are tried.
enum class Balance : std::uint8_t {
  round_robin,
  least_connections,  ///< the one with the fewest open connections of this proxy
  random_of_two,      ///< of two drawn at random the one with fewer: nearly as even, and no herd follows the emptiest
};

/// Asks an endpoint at intervals whether it is there. Endpoints count as healthy until a check says otherwise.
struct HealthCheck {
  enum class Kind : std::uint8_t {
    tcp,  ///< it accepts a connection
    tls,  ///< it answers a ClientHello with a ServerHello; the handshake goes no further
  };
  Kind kind = Kind::tcp;
  std::chrono::milliseconds interval{10'000};
  std::chrono::milliseconds timeout{2'000};
  unsigned failures = 3;         ///< checks in a row after which it counts as unhealthy; the first check decides alone
  unsigned successes = 2;        ///< checks in a row after which it counts as healthy again
  std::string server_name = {};  ///< for Kind::tls; empty: none is sent
  friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

/// Leaves out an endpoint that refused connections, for a time that grows each time it does so again.
struct Ejection {
  unsigned failures = 5;                       ///< in a row; 0: never
  std::chrono::milliseconds duration{30'000};  ///< the first time; twice that the second, ten times at most
  friend bool operator==(const Ejection&, const Ejection&) = default;
};

/// Which header of the PROXY protocol tells a backend who its client is.
enum class ProxyHeaderVersion : std::uint8_t { none, v1, v2 };

/// Where a route leads: one service, with every place where it is served.
struct Backend {
  std::string name;     ///< unique in a table: "blue-kube-apiserver"
  std::string cluster;  ///< the hosted cluster it belongs to, "namespace/name"; empty when it belongs to none
  /// "service.namespace.svc.cluster.local" or another DNS name, resolved at run time; used when `endpoints` is empty.
  std::string host;
  std::uint16_t port = 0;           ///< with `host`
  std::vector<Endpoint> endpoints;  ///< known addresses, tried in the order that `balance` gives
  bool is_unserved = false;  ///< known to have no endpoint: connections end at once; `endpoints`, `host` are empty
  /// What it stands for, wherever that is served now: "hcp-blue/kube-apiserver:6443". Together with the name it says
  /// whether a backend is the same one after a reload (Engine::replace). Empty: `host` and `port`, where given.
  std::string target = {};
  std::chrono::milliseconds connect_timeout{30'000};
  std::optional<std::chrono::milliseconds> idle_timeout = {};  ///< of an established tunnel; absent: none
  Balance balance = Balance::round_robin;
  std::size_t max_connections = 0;  ///< open at once; 0: no limit
  std::optional<HealthCheck> health_check = {};
  Ejection ejection = {};
  ProxyHeaderVersion proxy_header = ProxyHeaderVersion::none;  ///< sent first on each connection
  friend bool operator==(const Backend&, const Backend&) = default;
};

/// Which clients a route is for: those in one of the prefixes, and those that belong to the cluster. Both empty: every
/// client.
struct SourceMatch {
  std::vector<Cidr> prefixes;
  std::string cluster;  ///< a client whose address belongs to this cluster (SourceClusters)
  [[nodiscard]] bool is_everyone() const noexcept { return prefixes.empty() && cluster.empty(); }
  friend bool operator==(const SourceMatch&, const SourceMatch&) = default;
};

enum class Protocol : std::uint8_t { tcp, udp };

/// One claim on one port. A route matches by name, or says which nameless connections it takes.
struct Route {
  std::uint16_t port = 0;
  std::vector<std::string> names = {};  ///< host names, or "*.x" for every name below x at any depth
  bool no_sni = false;                  ///< connections without a server name, or with an address as the name
  bool other_sni = false;               ///< connections whose (usable) name matches no route of this port
  bool not_tls = false;  ///< connections that do not begin with a TLS handshake; all those of ListenerKind::tcp and udp
  SourceMatch source = {};
  std::string backend = {};           ///< Backend::name
  Protocol protocol = Protocol::tcp;  ///< the listeners of `port` that it is for
  friend bool operator==(const Route&, const Route&) = default;
};

/// How a listener finds out what a connection wants.
enum class ListenerKind : std::uint8_t {
  tls,   ///< by the server name of the ClientHello
  http,  ///< by the Host of the first request
  tcp,   ///< not at all: the backend is dialled at once, so that a server may speak first
  udp,   ///< not at all: datagrams; each client has a socket of its own towards the backend
};
[[nodiscard]] constexpr Protocol protocol_of(ListenerKind kind) noexcept {
  return kind == ListenerKind::udp ? Protocol::udp : Protocol::tcp;
}

/// An address and port that accepts connections. Which routes apply follows from its port.
struct Listener {
  Endpoint address;
  /// Names and wildcards; when not empty: no other name, and nothing nameless, is served here. Not for UDP.
  std::vector<std::string> only_names = {};
  ListenerKind kind = ListenerKind::tls;
  std::vector<Cidr> allow = {};     ///< clients; empty: all
  std::vector<Cidr> deny = {};      ///< clients that are refused although `allow` has them
  std::size_t max_connections = 0;  ///< open at once; 0: only EngineOptions' limit
  /// Load balancers that begin each connection with a header of the PROXY protocol: it is demanded of these, and of
  /// nobody else is it believed.
  std::vector<Cidr> trusted_proxies = {};
  std::string interface = {};             ///< accepts on this network interface only (SO_BINDTODEVICE); empty: all
  std::vector<IpAddress> dial_from = {};  ///< our own address towards backends, one of a family; the system's otherwise
  friend bool operator==(const Listener&, const Listener&) = default;
};

/// The whole routing configuration of one proxy, before it is compiled.
struct RouteConfig {
  std::vector<Listener> listeners;
  std::vector<Backend> backends;
  std::vector<Route> routes;
  friend bool operator==(const RouteConfig&, const RouteConfig&) = default;
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
  /// "unknown-backend", "duplicate-backend", "empty-backend", "duplicate-listener", "bad-dial-address",
  /// "names-without-tls".
  [[nodiscard]] static Result<std::shared_ptr<const RouteTable>, Diagnostics> build(RouteConfig config);

  /// Chooses for a connection accepted on `listener`, as configured; one that is not in the table is judged by its port
  /// alone. `server_name` counts only with Greeting::name; ASCII case is ignored. No allocation.
  [[nodiscard]] Decision find(const Endpoint& listener, Greeting greeting, std::string_view server_name,
                              const IpAddress& source, const SourceClusters& clusters,
                              Protocol protocol = Protocol::tcp) const noexcept;

  /// The listener of this address and protocol, as configured; null: there is none. In time proportional to their
  /// number.
  [[nodiscard]] const Listener* find_listener(const Endpoint& address,
                                              Protocol protocol = Protocol::tcp) const noexcept;

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
