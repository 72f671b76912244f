// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/cookie.hpp>
#include <hcpnet/dns/responder.hpp>

#include "dns/query.hpp"

namespace hcpnet::dns {

/// What the client is told of this server; null: nothing.
[[nodiscard]] inline const Identity* identity_for(const QueryContext& context) noexcept {
  return context.view != nullptr ? context.identity : nullptr;
}

/// The options of a reply's OPT record, in room of its own.
class ReplyOptions {
 public:
  static constexpr std::size_t kMaxBytes = 8 + sizeof(Cookie) + Identity::kMaxNsidBytes;  ///< with their two heads

  /// The client's cookie with ours when cookies are on, and the name of this server when the query asks for it. What is
  /// found of the query's cookie goes to cookie().
  ReplyOptions(const Query& query, const QueryContext& context) noexcept;

  [[nodiscard]] ByteView bytes() const noexcept { return {room_.data(), size_}; }
  [[nodiscard]] CookieState cookie() const noexcept { return cookie_; }

 private:
  std::array<std::uint8_t, kMaxBytes> room_;
  std::size_t size_ = 0;
  CookieState cookie_ = CookieState::none;
};

}  // namespace hcpnet::dns
