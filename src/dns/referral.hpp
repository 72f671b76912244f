// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/dns/zone.hpp>

#include "dns/reply_writer.hpp"

namespace hcpnet::dns {

/// The name servers of a zone cut whose name stands at `cut_at` in the reply, and the addresses that the zone has of
/// them. Addresses below the cut can be had nowhere else, so TC tells when one is missing (RFC 9471 section 3); others
/// are left out whole.
void add_referral(ReplyWriter& reply, const Delegation& delegation, std::size_t cut_at) noexcept;

}  // namespace hcpnet::dns
