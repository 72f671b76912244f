// SPDX-License-Identifier: Apache-2.0
#include "dns/reply_options.hpp"

#include <algorithm>

namespace hcpnet::dns {

ReplyOptions::ReplyOptions(const Query& query, const QueryContext& context) noexcept {
  if (!query.has_edns) return;
  ByteWriter writer(room_);
  if (context.cookies != nullptr && !query.cookie.empty()) {
    cookie_ = check_cookie(query.cookie, context.client, context.now, *context.cookies);
    const Cookie cookie = make_cookie(query.cookie, context.client, context.now, context.cookies->current);
    writer.u16(option::kCookie);
    writer.u16(static_cast<std::uint16_t>(cookie.size()));
    writer.bytes(cookie);
  }
  const Identity* const identity = identity_for(context);
  if (identity != nullptr && query.asks_nsid && !identity->nsid.empty()) {
    const ByteView nsid = as_bytes(identity->nsid);
    const ByteView fitting = nsid.first(std::min(nsid.size(), Identity::kMaxNsidBytes));
    writer.u16(option::kNsid);
    writer.u16(static_cast<std::uint16_t>(fitting.size()));
    writer.bytes(fitting);
  }
  size_ = writer.size();
}

}  // namespace hcpnet::dns
