// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/dhcp/lease_import.hpp>

namespace hcpnet::python {

/// The one that is there: a dhcp.Lease or a dhcp6.Lease.
inline pybind11::object ended_lease(const dhcp::EndedLease& ended) {
  return ended.lease ? pybind11::cast(*ended.lease) : pybind11::cast(ended.lease6.value());
}

}  // namespace hcpnet::python
