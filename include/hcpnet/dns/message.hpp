// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The whole of a DNS message as values (RFC 1035 section 4, RFC 6891). For what asks and inspects: the responder has
/// its own way through a query, without allocation.
namespace hcpnet::dns {

/// Twelve bits: the upper eight travel in the OPT record.
enum class Rcode : std::uint16_t {
  noerror = 0,
  formerr = 1,
  servfail = 2,
  nxdomain = 3,
  notimp = 4,
  refused = 5,
  notauth = 9,
  badvers = 16,
  badcookie = 23,
};
/// "NOERROR", "NXDOMAIN", ...; "RCODE7" for one without a name here.
[[nodiscard]] std::string to_string(Rcode rcode);
/// "A", "AAAA", ...; "TYPE65280" for one without a name here (RFC 3597 section 5).
[[nodiscard]] std::string to_string(Type type);

namespace flag {
inline constexpr std::uint16_t kResponse = 0x8000;
inline constexpr std::uint16_t kOpcode = 0x7800;
inline constexpr std::uint16_t kAuthoritative = 0x0400;
inline constexpr std::uint16_t kTruncated = 0x0200;
inline constexpr std::uint16_t kRecursionDesired = 0x0100;
inline constexpr std::uint16_t kRecursionAvailable = 0x0080;
inline constexpr std::uint16_t kAuthenticData = 0x0020;
inline constexpr std::uint16_t kCheckingDisabled = 0x0010;
inline constexpr std::uint16_t kRcode = 0x000f;
}  // namespace flag

/// Codes of EDNS options.
namespace option {
inline constexpr std::uint16_t kNsid = 3;
inline constexpr std::uint16_t kCookie = 10;
}  // namespace option

/// DO, the one flag of the OPT record (RFC 3225).
inline constexpr std::uint16_t kDnssecOk = 0x8000;

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kTypeAndClassBytes = 4;  ///< of a question, behind its name
inline constexpr std::size_t kMaxMessageBytes = 65535;
inline constexpr std::uint16_t kClassIn = 1;

struct Question {
  Name name;
  Type type = Type::a;
  std::uint16_t qclass = kClassIn;
  friend bool operator==(const Question&, const Question&) = default;
};

struct Record {
  Name owner;
  Type type = Type::a;
  std::uint16_t rclass = kClassIn;
  std::uint32_t ttl = 0;  ///< seconds; a value with the top bit set was read as 0 (RFC 2181 section 8)
  std::string rdata;      ///< wire form; names in it uncompressed
  friend bool operator==(const Record&, const Record&) = default;
};

/// The OPT record, which is about the message and not a record of a zone.
struct Edns {
  std::uint16_t udp_bytes = 1232;  ///< the largest UDP message the sender takes
  std::uint8_t version = 0;
  bool dnssec_ok = false;
  std::string options;  ///< wire form: code, length, data, repeated
  friend bool operator==(const Edns&, const Edns&) = default;
};

struct Message {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;  ///< with the lower four bits of the RCODE, as in flag::
  std::vector<Question> questions;
  std::vector<Record> answers;
  std::vector<Record> authority;
  std::vector<Record> additional;  ///< without the OPT record
  std::optional<Edns> edns;
  std::uint8_t extended_rcode = 0;  ///< from the OPT record

  [[nodiscard]] Rcode rcode() const noexcept {
    return static_cast<Rcode>(extended_rcode << 4 | (flags & flag::kRcode));
  }
  friend bool operator==(const Message&, const Message&) = default;
};

/// Reads a whole message. Compression pointers must lead back to an earlier place (RFC 1035 section 4.1.4); a name may
/// follow at most kMaxPointers of them. RDATA of the types that may hold compressed names (RFC 3597 section 4) is
/// expanded and checked. Errors: Errc::malformed, also for bytes after the end, or a second OPT record. Throws only
/// std::bad_alloc.
[[nodiscard]] Result<Message> parse_message(ByteView bytes);
inline constexpr std::size_t kMaxPointers = 127;

/// Writes a message; owners, and the names in RDATA of RFC 1035 types, are compressed. Errors: Errc::too_large.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode_message(const Message& message);

}  // namespace hcpnet::dns
