// SPDX-License-Identifier: Apache-2.0
#include "dns/query.hpp"

#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

struct Counts {
  std::uint16_t questions;
  std::uint16_t answers;
  std::uint16_t authority;
  std::uint16_t additional;
};

/// options = *( code u16, data u16-length bytes )   (RFC 6891 section 6.1.2)
bool read_options(ByteReader options, Query& query) noexcept {
  while (options.remaining() > 0) {
    const std::uint16_t code = options.u16();
    const ByteView data = options.bytes(options.u16());
    if (!options.ok()) return false;
    if (code == option::kNsid) query.asks_nsid = true;
    if (code != option::kCookie || !query.cookie.empty()) continue;  // RFC 7873 section 5.2: the first counts
    if (!is_cookie_length(data.size())) return false;
    query.cookie = data;
  }
  return options.ok();
}

/// One record of the additional section; only OPT means anything to us (RFC 6891 section 6.1.2).
bool read_additional(ByteReader& reader, Query& query) noexcept {
  const bool is_root = reader.remaining() > 0 && reader.rest().front() == 0;
  skip_name(reader);
  const Type type{reader.u16()};
  const std::uint16_t udp_bytes = reader.u16();
  const std::uint32_t ttl = reader.u32();
  const ByteReader rdata = reader.sub(reader.u16());
  if (!reader.ok()) return false;
  if (type != Type::opt) return true;
  if (query.has_edns || !is_root) {
    query.format_error = FormatError::misplaced_opt;
    return false;
  }
  query.has_edns = true;
  query.dnssec_ok = (ttl & kDnssecOk) != 0;
  query.udp_bytes = std::max(udp_bytes, kMinUdpBytes);
  if ((ttl >> 16 & 0xff) != 0) {
    query.verdict = Rcode::badvers;  // RFC 6891 section 6.1.3, whatever options look like in that version
    return true;
  }
  if (read_options(rdata, query)) return true;
  query.format_error = FormatError::option;
  return false;
}

bool skip_records(ByteReader& reader, std::uint32_t count, Query& query) noexcept {
  for (; count > 0 && reader.ok(); --count) {
    skip_name(reader);
    const Type type{reader.u16()};
    reader.skip(6);
    reader.skip(reader.u16());
    if (type != Type::opt) continue;
    query.format_error = FormatError::misplaced_opt;
    return false;
  }
  return reader.ok();
}

bool read_question(ByteReader& reader, Query& query) noexcept {
  const ByteView from = reader.rest();
  // Nothing stands before the first name that a pointer could lead to, so it is in plain form.
  const std::size_t name_bytes = query.name.read(from);
  reader.skip(name_bytes);
  query.type = Type{reader.u16()};
  query.qclass = reader.u16();
  if (name_bytes == 0 || !reader.ok()) return false;
  query.question = from.first(name_bytes + kTypeAndClassBytes);
  return true;
}

/// RFC 9619: one question. RFC 7873 section 5.4: or none, which asks for a cookie alone.
bool read_sections(ByteReader& reader, const Counts& counts, Query& query) noexcept {
  query.format_error = FormatError::question;
  if (counts.questions > 1 || (counts.questions == 1 && !read_question(reader, query))) return false;
  query.format_error = FormatError::record;
  if (!skip_records(reader, std::uint32_t{counts.answers} + counts.authority, query)) return false;
  for (int i = 0; i < counts.additional; ++i)
    if (!read_additional(reader, query)) return false;
  query.format_error = FormatError::trailing_bytes;
  if (!reader.at_end()) return false;
  query.format_error = FormatError::question;
  if (counts.questions == 0 && query.cookie.empty() && query.verdict == Rcode::noerror) return false;
  query.format_error = FormatError::none;
  return true;
}

/// Types and classes that are not about data of a zone.
Rcode judge(const Query& query) noexcept {
  const auto number = static_cast<std::uint16_t>(query.type);
  if (query.qclass != kClassIn) return Rcode::refused;  // CHAOS would tell the version, ANY has no single answer
  if (number == 0 || query.type == Type::opt) return Rcode::formerr;
  if (query.type == Type::axfr || query.type == Type::ixfr) return Rcode::refused;
  const bool is_meta = number >= 128 && number <= 255;  // RFC 6895 section 3.1
  return is_meta && query.type != Type::any ? Rcode::notimp : Rcode::noerror;
}

}  // namespace

std::optional<DropReason> read_query(ByteView bytes, Query& query) noexcept {
  ByteReader reader(bytes);
  query.id = reader.u16();
  query.flags = reader.u16();
  const Counts counts{reader.u16(), reader.u16(), reader.u16(), reader.u16()};
  if (!reader.ok()) return DropReason::too_short;
  if ((query.flags & flag::kResponse) != 0) return DropReason::is_response;
  const bool is_sound = read_sections(reader, counts, query);
  const bool is_query = (query.flags & flag::kOpcode) == 0;  // the sections of others mean something else
  if (!is_query || !is_sound) {
    query.verdict = is_query ? Rcode::formerr : Rcode::notimp;
    query.type = {};
    query.qclass = 0;
    query.question = {};  // has_edns stays: who speaks EDNS is answered in it (RFC 6891 section 6.1.1)
    query.cookie = {};
    query.asks_nsid = false;
  } else if (query.verdict == Rcode::noerror && !query.question.empty()) {
    query.verdict = judge(query);
    if (query.verdict == Rcode::formerr) query.format_error = FormatError::question;
  }
  return std::nullopt;
}

}  // namespace hcpnet::dns
