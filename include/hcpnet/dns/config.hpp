// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::dns {

/// The zones that one set of clients sees.
struct View {
  std::string name;
  std::vector<Cidr> clients;  ///< the longest prefix of all views that holds the client's address decides
  std::vector<std::shared_ptr<const Zone>> zones;
  std::optional<std::vector<Cidr>> allowed{};  ///< which of its clients are answered at all, the others being REFUSED
  std::optional<std::vector<Cidr>> forwarding_allowed{};  ///< for which of them names of no zone are forwarded
};

/// Whom a question goes to first. Those that were silent lately always come last.
enum class UpstreamPolicy : std::uint8_t {
  sequential,   ///< the first given
  random,       ///< any, with equal chances
  round_robin,  ///< each in its turn
};

/// Names at or below `zone` go to these upstreams and to no other.
struct ZoneForwarding {
  Name zone;
  std::vector<Endpoint> upstreams;
  friend bool operator==(const ZoneForwarding&, const ZoneForwarding&) = default;
};

/// Where names go that no zone of the client's view owns.
struct Forwarding {
  std::vector<Endpoint> upstreams{};
  bool resolv_conf = false;  ///< also, after them, the name servers of /etc/resolv.conf, re-read when it changes
  UpstreamPolicy policy = UpstreamPolicy::sequential;
  std::vector<ZoneForwarding> zones{};   ///< the longest that holds the name decides
  std::chrono::seconds min_ttl{0};       ///< TTLs of positive answers are raised to this; at most max_ttl
  std::chrono::seconds max_ttl{86'400};  ///< all TTLs are cut to this
  std::chrono::seconds serve_stale{0};   ///< how long an answer may be used after its time (RFC 8767); 0: never
  bool prefetch = false;                 ///< what is asked often is fetched anew before its time ends
  bool mix_case = false;                 ///< random case in names sent, expected back (0x20)
  [[nodiscard]] bool is_enabled() const noexcept { return resolv_conf || !upstreams.empty() || !zones.empty(); }
  /// The longest of `zones` at or above the name; null when it goes to the upstreams for everything.
  [[nodiscard]] const ZoneForwarding* zone_of(const FoldedName& name) const noexcept;
  /// Whether anybody is to be asked for the name.
  [[nodiscard]] bool is_responsible_for(const FoldedName& name) const noexcept;
  friend bool operator==(const Forwarding&, const Forwarding&) = default;
};

/// What the server tells of itself to those who ask. Nothing unless given.
struct Identity {
  static constexpr std::size_t kMaxNsidBytes = 128;
  static constexpr std::size_t kMaxVersionBytes = 255;
  std::string nsid;     ///< in the NSID option (RFC 5001), and for id.server of class CHAOS (RFC 4892)
  std::string version;  ///< for version.bind and version.server of class CHAOS
  friend bool operator==(const Identity&, const Identity&) = default;
};

/// Response rate limiting over UDP, for each client network (IPv4 /24, IPv6 /56) and kind of reply.
struct RateLimit {
  std::uint32_t responses_per_second = 100;  ///< 1 to 1,000,000
  std::uint32_t slip = 2;            ///< of those held back, every how many-th is answered TC or BADCOOKIE; 0: none
  std::size_t max_buckets = 65'536;  ///< 24 bytes each
  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

/// For those who keep a secondary server of the zones.
struct Transfer {
  std::vector<Cidr> clients;     ///< who may transfer the zones of its view, over TCP (RFC 5936); nobody unless given
  std::vector<Endpoint> notify;  ///< who is told when a zone of its view changes (RFC 1996)
  [[nodiscard]] bool is_enabled() const noexcept { return !clients.empty() || !notify.empty(); }
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

struct Config {
  std::vector<Endpoint> listeners;  ///< UDP and TCP
  std::vector<View> views;          ///< two equal prefixes are an error; a client in none is REFUSED
  Forwarding forwarding;            ///< empty: names outside the zones are REFUSED
  Identity identity;
  Transfer transfer;                    ///< when enabled, each change of a zone has a later serial
  bool cookies = true;                  ///< DNS cookies (RFC 7873)
  std::optional<RateLimit> rate_limit;  ///< nullopt: none
  bool query_log = false;               ///< a record of each query to the server's log
};

/// What can be known without binding anything. Errors: Errc::duplicate_prefix, duplicate_zone, upstream_is_self.
[[nodiscard]] Result<void> check_config(const Config& config);

}  // namespace hcpnet::dns
