// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <string>
#include <string_view>

namespace hcpnet::dhcp {

enum class LeaseState : std::uint8_t {
  bound,     ///< the client may use it until `expires`
  released,  ///< given back (RFC 2131 section 4.4.6); kept so that the client gets it again
  expired,   ///< ran out; kept like a released one
  declined,  ///< somebody else uses it, as its client (section 4.3.3) or a probe found; not offered before `expires`
};
[[nodiscard]] std::string_view to_string(LeaseState state) noexcept;

/// A binding and how long it lasts. Only what has been synced to disk is ever a lease; an offer is none.
struct Lease {
  Ipv4 address;
  MacAddress mac;
  std::string client_id;  ///< option 61 as sent, may hold any byte; empty when the client sent none
  std::string host_name;  ///< option 12 as given or accepted; empty when unknown
  std::string subnet;     ///< Subnet::name
  /// Sub-options 1 and 2 of option 82 (RFC 3046) as the relay sent them, encoded: a renewal goes past the relay, and
  /// the client is still of the classes that they put it in. Empty when the lease did not come through one.
  std::string relay_information = {};
  LeaseState state = LeaseState::bound;
  std::chrono::sys_seconds started{};  ///< when the current binding began
  std::chrono::sys_seconds expires{};
  friend bool operator==(const Lease&, const Lease&) = default;
};

enum class LeaseEventKind : std::uint8_t {
  bound,
  renewed,
  released,
  expired,
  declined,
  conflict,  ///< a probe was answered before the address could be offered; `mac` is whom it was meant for
};
[[nodiscard]] std::string_view to_string(LeaseEventKind kind) noexcept;
struct LeaseEvent {
  LeaseEventKind kind = LeaseEventKind::bound;
  Lease lease;
};

}  // namespace hcpnet::dhcp
