// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/view.hpp>
#include <span>
#include <string_view>

namespace hcpnet::dns {

enum class Transport : std::uint8_t { udp, tcp };

/// Largest reply over UDP: what passes any path without fragments (RFC 9715 section 3). Smaller when the client asks
/// for that.
inline constexpr std::uint16_t kMaxUdpBytes = 1232;
/// What every client takes, and what one without EDNS gets (RFC 1035 section 4.2.1).
inline constexpr std::uint16_t kMinUdpBytes = 512;
/// How many CNAMEs one answer follows.
inline constexpr std::size_t kMaxCnameHops = 8;

enum class DropReason : std::uint8_t {
  too_short,    ///< less than a header
  is_response,  ///< QR is set: answering it could start a ping-pong
};
inline constexpr std::size_t kDropReasons = 2;
[[nodiscard]] std::string_view to_string(DropReason reason) noexcept;

/// What is known besides the query.
struct QueryContext {
  const ViewZones* view = nullptr;  ///< null for a client of no view: REFUSED
  Transport transport = Transport::udp;
  bool can_forward = false;  ///< RA is then set
};

struct Response {
  enum class Verdict : std::uint8_t { reply, forward, drop };
  Verdict verdict = Verdict::drop;
  DropReason drop_reason = DropReason::too_short;  ///< with Verdict::drop
  Rcode rcode = Rcode::noerror;                    ///< with Verdict::reply
  std::size_t bytes = 0;                           ///< with Verdict::reply: how much of `out` was written
};

/// Answers one query from the zones of a view, or says that it is to be forwarded: a name in no zone, asked with RD.
///
/// `out` has room for kMaxUdpBytes or, over TCP, kMaxMessageBytes. Replies hold whole records only; TC tells that some
/// are missing. Pure, never throws or allocates; any thread. RFC 1034 4.3.2, 2308, 4592, 6604, 6891, 8482, 9619.
[[nodiscard]] Response respond(ByteView query, const QueryContext& context, std::span<std::uint8_t> out) noexcept;

/// A reply that holds nothing but `rcode`, for a query that respond() has passed on. Returns its size.
[[nodiscard]] std::size_t respond_with_error(ByteView query, Rcode rcode, const QueryContext& context,
                                             std::span<std::uint8_t> out) noexcept;

}  // namespace hcpnet::dns
