// SPDX-License-Identifier: Apache-2.0
// Kea, memfile: kea-leases4.csv and kea-leases6.csv. What changes is appended, so the last line of an address counts; a
// valid lifetime of 0 takes the lease away.
#include <algorithm>
#include <hcpnet/dhcp/options.hpp>

#include "dhcp/lease_csv.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::string_view kRequired4[] = {"address", "hwaddr", "valid_lifetime", "expire"};
constexpr std::string_view kRequired6[] = {"address", "duid", "valid_lifetime", "expire", "lease_type", "iaid"};
constexpr std::size_t kMaxClientIdBytes = 255;
constexpr std::size_t kMaxHardwareBytes = 20;  // of InfiniBand

/// Columns "state" and "lease_type".
enum class State : std::uint8_t { in_use, declined, expired, released, registered };
enum class Type : std::uint8_t { address, temporary, prefix };

LeaseState to_lease_state(State state) noexcept {
  switch (state) {
    case State::declined:
      return LeaseState::declined;
    case State::expired:
      return LeaseState::expired;
    case State::released:
      return LeaseState::released;
    case State::in_use:
    case State::registered:
      break;
  }
  return LeaseState::bound;
}

class Reader {
 public:
  Reader(LeaseCsv& csv, LeaseListBuilder& out) : csv_(csv), out_(out) {}

  void read_v4() {
    Lease lease;
    const auto address = parse_ipv4(csv_.field("address"));
    if (!address) return error("an IPv4 address is needed", "address");
    lease.address = *address;
    if (!read_times(lease)) return;
    if (is_taken_away_) return out_.erase(lease.address);
    const std::string_view hardware = csv_.field("hwaddr");
    const auto mac = parse_mac_address(hardware);
    if (!mac && !hardware.empty() && !parse_hex_bytes(hardware, kMaxHardwareBytes))
      return error("a hardware address is needed", "hwaddr");
    if (const std::string_view id = csv_.field("client_id"); !id.empty()) {
      auto bytes = parse_hex_bytes(id, kMaxClientIdBytes);
      if (!bytes) return error("a client identifier is needed: hexadecimal bytes between colons", "client_id");
      lease.client_id = *std::move(bytes);
    }
    lease.host_name = host_label();
    if (mac && is_client_mac(*mac)) {
      lease.mac = *mac;
    } else {
      if (lease.state == LeaseState::bound)
        warn_no_client("no client with an Ethernet address: the address rests until the lease ends", hardware);
      if (!make_rest(lease)) return out_.erase(lease.address);
    }
    out_.put(std::move(lease), csv_.line());
  }

  void read_v6() {
    const auto type = parse_number(csv_.field("lease_type"), static_cast<std::uint64_t>(Type::prefix));
    if (!type) return error("a type is needed: 0 (address), 1 (temporary address) or 2 (prefix)", "lease_type");
    dhcp6::Lease lease;
    const auto address = parse_ipv6(csv_.field("address"));
    if (!address) return error("an IPv6 address is needed", "address");
    lease.address = *address;
    if (!read_times(lease)) return;
    if (static_cast<Type>(*type) == Type::prefix) {
      if (!is_taken_away_)
        out_.warn(csv_.line(), "lease-not-served", "a delegated prefix is not served: left out", csv_.field("address"));
      return;
    }
    if (is_taken_away_) return out_.erase(lease.address);
    const auto iaid = parse_number(csv_.field("iaid"), 0xFFFFFFFF);
    if (!iaid) return error("an IAID is needed: a number of 32 bits", "iaid");
    const auto duid = dhcp6::parse_duid(csv_.field("duid"));
    if (!duid) return error("a DUID is needed: hexadecimal bytes between colons", "duid");
    const std::string_view hardware = csv_.field("hwaddr");
    const auto mac = parse_mac_address(hardware);
    if (!mac && !hardware.empty() && !parse_hex_bytes(hardware, kMaxHardwareBytes))
      return error("a hardware address is needed", "hwaddr");
    lease.client = make_client(*duid, static_cast<std::uint32_t>(*iaid));
    if (mac) lease.client.mac = mac;
    lease.host_name = host_label();
    const bool is_temporary = static_cast<Type>(*type) == Type::temporary;
    if (is_temporary || *duid == no_duid() || lease.state == LeaseState::declined) {
      if (is_temporary) warn_no_client("a temporary address: it rests until the lease ends", csv_.field("address"));
      if (!make_rest(lease)) return out_.erase(lease.address);
    }
    out_.put(std::move(lease), csv_.line());
  }

 private:
  void error(std::string message, std::string_view column) {
    out_.error(csv_.line(), "lease-bad-value", std::string(column) + ": " + std::move(message), csv_.field(column));
  }
  void warn_no_client(std::string message, std::string_view found) {
    out_.warn(csv_.line(), "lease-no-client", std::move(message), found);
  }
  [[nodiscard]] std::string host_label() const {
    return make_host_label(as_bytes(unescape_csv(csv_.field("hostname"))));
  }

  /// Times and state. False: one of them is wrong.
  template <class AnyLease>
  bool read_times(AnyLease& lease) {
    const auto lifetime = parse_number(csv_.field("valid_lifetime"), 0xFFFFFFFF);
    const auto end = parse_number(csv_.field("expire"));
    const std::string_view state_text = csv_.has_column("state") ? csv_.field("state") : "0";
    const auto state = parse_number(state_text, static_cast<std::uint64_t>(State::registered));
    if (!lifetime) error("seconds are needed, a number of 32 bits", "valid_lifetime");
    if (!end) error("seconds since 1970 are needed", "expire");
    if (!state) error("a state is needed: 0 to 4", "state");
    if (!lifetime || !end || !state) return false;
    is_taken_away_ = *lifetime == 0;
    lease.state = to_lease_state(static_cast<State>(*state));
    lease.expires = *lifetime == 0xFFFFFFFF ? kNeverEnds : lease_time(*end);
    lease.started = lease_time(*end - std::min(*end, *lifetime));
    return true;
  }

  LeaseCsv& csv_;
  LeaseListBuilder& out_;
  bool is_taken_away_ = false;
};

}  // namespace

void read_kea_leases(std::string_view text, LeaseListBuilder& out) {
  LeaseCsv csv(text, out);
  std::string_view header = text;
  const bool is_v6 = !text.empty() && take_line(header).find("duid") != std::string_view::npos;
  if (!csv.read_header(is_v6 ? std::span<const std::string_view>(kRequired6) : kRequired4)) return;
  Reader reader(csv, out);
  while (csv.next()) {
    if (is_v6)
      reader.read_v6();
    else
      reader.read_v4();
  }
}

}  // namespace hcpnet::dhcp
