// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/diagnostic.hpp>
#include <optional>

namespace hcpnet::dhcp {

/// What came of leases from elsewhere that were taken over, all of them in one transaction.
struct LeaseImport {
  std::size_t imported = 0;   ///< ours from now on: in use, resting, or remembered for their clients
  std::size_t unchanged = 0;  ///< known here already, for as long or longer
  std::size_t left_out = 0;   ///< ended, and the address has another owner or none of today's pools has it
  Diagnostics warnings;       ///< a client's second address, which rests
};

/// A lease that was ended by hand; one of the two is there.
struct EndedLease {
  std::optional<Lease> lease;
  std::optional<dhcp6::Lease> lease6;
};

/// Why a lease from elsewhere can't be taken over.
enum class AdoptObstacle : std::uint8_t {
  none,
  own_address,  ///< the network's, the broadcast address, or that of a server or router
  held,         ///< another client has a lease on it here
  resting,      ///< it was declined here: somebody else uses it
  no_client,    ///< in use, and its client can't be known again
};

/// What became of it.
enum class Adoption : std::uint8_t {
  bound,       ///< it is its client's lease
  rests,       ///< declined, or its client has another lease here: nobody gets it before it ends
  remembered,  ///< ended; its client gets it again while nobody needs it
  unchanged,
  left_out,
};

}  // namespace hcpnet::dhcp
