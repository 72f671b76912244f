// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dhcp/lease_file.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hcpnet::dhcp {

/// What the readers of lease files have in common: leases by address, problems with their place, limits.
class LeaseListBuilder {
 public:
  enum class Repeated : std::uint8_t { is_error, replaces };

  LeaseListBuilder(const std::string& file, const LeaseFileLimits& limits, Repeated repeated);

  void put(Lease lease, std::uint32_t line);
  void put(dhcp6::Lease lease, std::uint32_t line);
  void erase(Ipv4 address) { leases_.erase(address); }
  void erase(const Ipv6& address) { leases6_.erase(address); }
  /// nullptr: there is none so far.
  [[nodiscard]] const dhcp6::Lease* find(const Ipv6& address) const;

  void error(std::uint32_t line, const char* code, std::string message, std::string_view found = {},
             std::string expected = {});
  void warn(std::uint32_t line, const char* code, std::string message, std::string_view found = {});
  /// True when reading is to stop: a limit was passed.
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }
  /// Either the leases or the errors, ordered by line.
  Result<LeaseList, Diagnostics> finish();

 private:
  template <class Map, class Listed>
  void put(Map& map, Listed listed);

  const std::string& file_;
  LeaseFileLimits limits_;
  Repeated repeated_;
  std::unordered_map<Ipv4, ListedLease> leases_;
  std::unordered_map<IpAddress, ListedLease6> leases6_;
  Diagnostics problems_;
  bool is_full_ = false;
};

// Values as lease files have them. nullopt: it is none.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max = UINT64_MAX);
/// Seconds since 1970; later than kNeverEnds becomes that.
[[nodiscard]] std::chrono::sys_seconds lease_time(std::uint64_t seconds);
/// "1:ab:00": bytes of one or two hexadecimal digits, `max` at most.
[[nodiscard]] std::optional<std::string> parse_hex_bytes(std::string_view text, std::size_t max);
/// "01:ab:00"
[[nodiscard]] std::string hex_bytes(std::string_view bytes);
/// A client that hcpnet knows by this hardware address: neither a group's nor zero.
[[nodiscard]] bool is_client_mac(const MacAddress& mac) noexcept;
/// The DUID and the hardware address in it.
[[nodiscard]] dhcp6::Client make_client(const dhcp6::Duid& duid, std::uint32_t iaid);

/// The client of the lease can't be served: if it is in use, its address rests until it ends. False: it has ended, and
/// nobody needs to know.
bool make_rest(Lease& lease);
bool make_rest(dhcp6::Lease& lease);

// One reader for each format; the limits of size are checked already.
void read_isc_leases(std::string_view text, LeaseListBuilder& out);
void read_dnsmasq_leases(std::string_view text, LeaseListBuilder& out);
void read_kea_leases(std::string_view text, LeaseListBuilder& out);
void read_hcpnet_leases(std::string_view text, LeaseListBuilder& out);

/// The next line of `text`, without its end; `text` is shortened. Precondition: it is not empty.
[[nodiscard]] std::string_view take_line(std::string_view& text);

}  // namespace hcpnet::dhcp
