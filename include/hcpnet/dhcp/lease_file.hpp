// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Lease files of other DHCP servers, and our own, read whole: either everything is good, or every error is reported
/// with its line and nothing is taken.
namespace hcpnet::dhcp {

enum class LeaseFileFormat : std::uint8_t {
  hcpnet,   ///< CSV of our own, both families: docs/dhcp.md
  isc,      ///< dhcpd.leases(5) of ISC dhcpd, IPv4 or IPv6
  dnsmasq,  ///< the file of dnsmasq's --dhcp-leasefile, both families
  kea,      ///< memfile CSV of Kea; its header tells the family
};
[[nodiscard]] std::string_view to_string(LeaseFileFormat format) noexcept;
[[nodiscard]] std::optional<LeaseFileFormat> parse_lease_file_format(std::string_view name) noexcept;

/// What a file may cost. Beyond a limit reading stops with one error that names the limit.
struct LeaseFileLimits {
  std::size_t max_file_bytes = 256 * 1024 * 1024;
  std::size_t max_leases = 1'000'000;  ///< different addresses
};

/// The end of a lease without end: as far away as the times of DHCP reach (RFC 2131 section 3.3). Later ends are cut to
/// it.
inline constexpr std::chrono::sys_seconds kNeverEnds{std::chrono::seconds(0xFFFFFFFF)};

struct ListedLease {
  Lease lease;  ///< with Lease::subnet where the file is one of ours
  std::uint32_t line = 0;
};
struct ListedLease6 {
  dhcp6::Lease lease;  ///< likewise
  std::uint32_t line = 0;
};

/// What a lease file says, one lease per address, in the order of the file.
///
/// A lease in use whose client hcpnet can't serve (no Ethernet address, no DUID, a temporary address) is LeaseState::
/// declined with the end that it has: nobody gets its address before. Its DUID is kNoDuid.
struct LeaseList {
  std::string file;  ///< names it in diagnostics
  std::vector<ListedLease> leases;
  std::vector<ListedLease6> leases6;
  Diagnostics warnings;

  [[nodiscard]] std::size_t size() const noexcept { return leases.size() + leases6.size(); }
  /// Leaves out what lies in none of the networks. Returns how many that were.
  std::size_t keep_only(std::span<const Cidr> networks);
};

/// Of a lease that is nobody's: three zeros, as Kea has it.
[[nodiscard]] const dhcp6::Duid& no_duid();

/// Reads a lease file of any format. `file` names it in diagnostics. Pure; throws only std::bad_alloc. Thread-safe.
///
/// Where a server appends to its file (isc, kea) the last entry of an address counts; else a second one is an error.
/// Leases that ended are taken too: they tell whose an address was. Codes: docs/dhcp.md.
[[nodiscard]] Result<LeaseList, Diagnostics> parse_lease_file(LeaseFileFormat format, const std::string& file,
                                                              std::string_view text,
                                                              const LeaseFileLimits& limits = {});

/// The leases as a file of ours; parse_lease_file() reads them back unchanged. `lines`, where it is not empty, are
/// those of the file that the leases came from, IPv4 first.
[[nodiscard]] std::string render_lease_file(std::span<const Lease> leases, std::span<const dhcp6::Lease> leases6,
                                            std::span<const std::uint32_t> lines = {});
/// The IPv4 leases as `format` has them; what it can't say is left out. kea: subnet ids count from 1 in the order in
/// which the subnets appear. dnsmasq: leases in use only. Host names become labels.
[[nodiscard]] std::string render_lease_file(LeaseFileFormat format, std::span<const Lease> leases);
/// The IPv6 leases as Kea has them.
[[nodiscard]] std::string render_kea_leases6(std::span<const dhcp6::Lease> leases);

}  // namespace hcpnet::dhcp
