// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/cookie.hpp>
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

/// Why a query is answered FORMERR.
enum class FormatError : std::uint8_t {
  none,
  question,        ///< not one (RFC 9619), or none that can be read
  record,          ///< one ends too early, or its name is none
  misplaced_opt,   ///< in another section than the additional one, or a second one (RFC 6891 section 6.1.1)
  option,          ///< one ends too early, or is of a length that it never has
  trailing_bytes,  ///< after the last record
};
inline constexpr std::size_t kFormatErrors = 6;
[[nodiscard]] std::string_view to_string(FormatError error) noexcept;

/// What is known besides the query.
struct QueryContext {
  const ViewZones* view = nullptr;  ///< null for a client of no view: REFUSED
  Transport transport = Transport::udp;
  bool can_forward = false;                ///< RA is then set
  IpAddress client{};                      ///< to which cookies are bound
  std::uint32_t now = 0;                   ///< seconds since 1970: the age of cookies
  const CookieSecrets* cookies = nullptr;  ///< null: cookies are ignored
  const Identity* identity = nullptr;      ///< null: tells nothing of itself
};

/// What sort of reply it is: each has a rate limit of its own.
enum class ReplyKind : std::uint8_t { answer, nodata, nxdomain, referral, error };
inline constexpr std::size_t kReplyKinds = 5;

struct Response {
  enum class Verdict : std::uint8_t { reply, forward, drop };
  Verdict verdict = Verdict::drop;
  DropReason drop_reason = DropReason::too_short;  ///< with Verdict::drop
  Rcode rcode = Rcode::noerror;                    ///< with Verdict::reply
  std::size_t bytes = 0;                           ///< how much of `out` was written; see respond()
  ReplyKind kind = ReplyKind::error;               ///< with Verdict::reply
  CookieState cookie = CookieState::none;          ///< with Verdict::reply and Verdict::forward
  Type type{};                                     ///< of the question; 0 where none could be read
  FormatError format_error = FormatError::none;    ///< with Rcode::formerr: what the message lacks
  bool is_chain_cut = false;                       ///< the answer ends after kMaxCnameHops aliases
};

/// Answers one query from the zones of a view, or says that it is to be forwarded: a name in no zone, asked with RD.
/// Where an alias of a zone leads to such a name, `out` holds the aliases, as a reply of their own, and their target is
/// what is to be forwarded (RFC 1034 section 4.3.2, step 3a).
///
/// `out` has room for kMaxUdpBytes or, over TCP, kMaxMessageBytes. Replies hold whole records only; TC tells that some
/// are missing. Pure, never throws or allocates; any thread. RFC 1034 4.3.2, 2308, 4592, 6604, 6891, 7873,
/// 8482, 9018, 9471, 9619.
[[nodiscard]] Response respond(ByteView query, const QueryContext& context, std::span<std::uint8_t> out) noexcept;

/// A reply that holds nothing but `rcode`, for a query that respond() has passed on. Returns its size.
[[nodiscard]] std::size_t respond_with_error(ByteView query, Rcode rcode, const QueryContext& context,
                                             std::span<std::uint8_t> out) noexcept;

/// The small reply that a client gets over UDP in place of one that is held back: BADCOOKIE with a good cookie for one
/// that sends cookies (RFC 7873 section 5.2.3), TC for others, so that who really asks can ask again. Returns its size.
[[nodiscard]] std::size_t respond_with_less(ByteView query, const QueryContext& context,
                                            std::span<std::uint8_t> out) noexcept;

}  // namespace hcpnet::dns
