// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/responder.hpp>
#include <string_view>

#include "dns/query.hpp"

namespace hcpnet::dns {

inline constexpr std::uint16_t kClassChaos = 3;

/// The text that answers a question of class CHAOS: version.bind and version.server, id.server and hostname.bind (RFC
/// 4892). Empty when it is none of them, or this server is not to tell.
[[nodiscard]] std::string_view find_chaos_text(const Query& query, const Identity* identity) noexcept;

}  // namespace hcpnet::dns
