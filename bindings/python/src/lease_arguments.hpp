// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/dhcp/kept_address.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <optional>
#include <string>
#include <utility>

/// What a stack and a stopped server take and give in the same form.
namespace hcpnet::python {

/// The one that is there: a dhcp.Lease or a dhcp6.Lease.
inline pybind11::object ended_lease(const dhcp::EndedLease& ended) {
  return ended.lease ? pybind11::cast(*ended.lease) : pybind11::cast(ended.lease6.value());
}

/// Throws ValueError for a DUID that is none.
inline dhcp::KeptAddress kept_address(const IpAddress& address, std::optional<MacAddress> mac,
                                      const std::optional<pybind11::bytes>& client_id,
                                      const std::optional<std::string>& duid, std::string host_name) {
  dhcp::KeptAddress wanted;
  wanted.address = address;
  wanted.mac = mac;
  if (client_id) wanted.client_id = std::string(*client_id);
  wanted.host_name = std::move(host_name);
  if (duid) wanted.duid = dhcp6::parse_duid(*duid);
  if (duid && !wanted.duid) throw pybind11::value_error("'" + *duid + "' is not a DUID");
  return wanted;
}

inline constexpr const char* kReserveDoc = R"doc(Keep an address for a client, beside the reservations of the files.

Where the two disagree the files win. Whoever has a lease on the address keeps it until it ends.

Args:
    address (str | IPv4Address | IPv6Address): the address.
    mac (str | None): the client's hardware address.
    client_id (bytes | None): instead, for an IPv4 address: its client identifier, option 61.
    duid (str | None): instead, for an IPv6 address: its DUID.
    host_name (str): one label; may be empty.
Returns:
    dhcp.KeptAddress: as it is on disk.
Raises:
    SpecError: it can't be kept; ``diagnostics`` tells why.)doc";

inline constexpr const char* kUnreserveDoc = R"doc(Keep an address no longer that was reserved by hand.

Args:
    address (str | IPv4Address | IPv6Address): the address.
Returns:
    dhcp.KeptAddress: as it was.
Raises:
    SpecError: there is none.)doc";

}  // namespace hcpnet::python
