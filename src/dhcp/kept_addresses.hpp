// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/kept_address.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/result.hpp>
#include <vector>

/// Reservations made by hand beside those of the configuration, which win where the two disagree.
namespace hcpnet::dhcp {

/// `files` with the reservations of `by_hand` that nothing in it contradicts.
[[nodiscard]] Config with_kept(Config files, const std::vector<KeptAddress>& by_hand);
/// Every reservation of both, ordered by address.
[[nodiscard]] std::vector<KeptAddress> all_kept(const Config& files, const std::vector<KeptAddress>& by_hand);
/// `wanted` with its subnet, or why it can't be made.
[[nodiscard]] Result<KeptAddress, Diagnostics> check_kept(const Config& files, const std::vector<KeptAddress>& by_hand,
                                                          KeptAddress wanted);
/// The one on an address that was made by hand, or why there is none.
[[nodiscard]] Result<KeptAddress, Diagnostics> find_kept(const Config& files, const std::vector<KeptAddress>& by_hand,
                                                         const IpAddress& address);

}  // namespace hcpnet::dhcp
