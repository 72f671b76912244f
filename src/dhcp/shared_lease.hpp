// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::dhcp {

/// Where a store listens.
struct StoreEndpoint {
  bool is_encrypted = false;  ///< https
  std::string host;           ///< a name, or an address without brackets
  std::uint16_t port = 0;
};
/// "https://etcd.example.com:2379", "http://[2001:db8::9]:2379"; without a port it is 2379. nullopt: anything else.
[[nodiscard]] std::optional<StoreEndpoint> parse_store_endpoint(std::string_view text);
/// A slash and a name, as often as wanted: printable ASCII without blanks, 256 characters at most, no slash at the end.
[[nodiscard]] bool is_store_prefix(std::string_view text) noexcept;

/// An ACK leaves within this time of its request, or never: its client may count the lease from when the ACK came.
inline constexpr std::chrono::seconds kAnswerWithin{2};
/// What comes on top of SharedStore::max_skew before an address changes hands: kAnswerWithin, and a second for times
/// that are rounded to whole ones.
inline constexpr std::chrono::seconds kSharedMargin = kAnswerWithin + std::chrono::seconds(1);

inline constexpr std::size_t kMaxSharedLeaseBytes = 32 * 1024;

/// What a shared store holds per address.
struct SharedLease {
  Lease lease;         ///< times by the calendar; `subnet` is empty: each server has its own name for it
  std::string server;  ///< the address of the server that wrote it; for people
  friend bool operator==(const SharedLease&, const SharedLease&) = default;
};

/// "/vlan7/192.0.2.10"
[[nodiscard]] std::string shared_lease_key(std::string_view prefix, Ipv4 address);
/// The inverse; nullopt: a key of something else.
[[nodiscard]] std::optional<Ipv4> parse_shared_lease_key(std::string_view prefix, std::string_view key);
/// A value as JSON, for the address that its key says.
[[nodiscard]] std::string render_shared_lease(const SharedLease& shared);
/// nullopt: it is damaged, or of a later version. Nobody may write over it then.
[[nodiscard]] std::optional<SharedLease> parse_shared_lease(Ipv4 address, std::string_view value);

/// Whether both are one client's, by what clients are known by.
[[nodiscard]] bool is_same_client(const Lease& a, const Lease& b, Identity identity);

struct SharedRules {
  Identity identity = Identity::mac;
  std::chrono::seconds max_skew{5};
};
/// Whether `wanted` may take the place of what a store holds of its address at `now`, by the calendar. Who is bound,
/// and what rests, gives way only to its own client's word, or when it has been over for max_skew and kSharedMargin.
[[nodiscard]] bool may_replace(const Lease& held, const Lease& wanted, const SharedRules& rules,
                               std::chrono::sys_seconds now);

}  // namespace hcpnet::dhcp
