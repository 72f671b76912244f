// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/bytes.hpp>

namespace hcpnet::dns {

using SipKey = std::array<std::uint8_t, 16>;

/// SipHash-2-4 with a result of 64 bits: keyed, short, and not to be guessed without the key (Aumasson and Bernstein).
[[nodiscard]] std::uint64_t siphash24(const SipKey& key, ByteView message) noexcept;

}  // namespace hcpnet::dns
