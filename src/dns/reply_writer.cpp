// SPDX-License-Identifier: Apache-2.0
#include "dns/reply_writer.hpp"

#include <algorithm>

namespace hcpnet::dns {
namespace {

constexpr std::uint16_t kCopiedFlags = flag::kOpcode | flag::kRecursionDesired | flag::kCheckingDisabled;

}  // namespace

std::size_t room_for_records(const Query& query, Transport transport, std::size_t out_bytes) noexcept {
  return std::min(query.max_reply_bytes(transport), out_bytes) -
         (query.has_edns ? kOptBytes + query.reply_options.size() : 0);
}

std::size_t complete_reply(const Query& query, std::uint16_t flags, Rcode rcode, const SectionCounts& counts,
                           std::span<std::uint8_t> out, std::size_t size) noexcept {
  const auto code = static_cast<std::uint16_t>(rcode);
  ByteWriter head(out);
  head.u16(query.id);
  head.u16(static_cast<std::uint16_t>(flag::kResponse | (query.flags & kCopiedFlags) | flags | (code & flag::kRcode)));
  head.u16(query.question.empty() ? 0 : 1);
  head.u16(counts[0]);
  head.u16(counts[1]);
  head.u16(static_cast<std::uint16_t>(counts[2] + (query.has_edns ? 1 : 0)));
  head.bytes(query.question);
  if (!query.has_edns) return size;
  // RFC 6891 section 6.1: version 0, of the flags only DO as the client sent it (RFC 3225 section 3).
  ByteWriter opt(out.subspan(size));
  opt.u8(0);
  opt.u16(static_cast<std::uint16_t>(Type::opt));
  opt.u16(kMaxUdpBytes);
  opt.u8(static_cast<std::uint8_t>(code >> 4));
  opt.u8(0);
  opt.u16(query.dnssec_ok ? kDnssecOk : 0);
  opt.u16(static_cast<std::uint16_t>(query.reply_options.size()));
  opt.bytes(query.reply_options);
  return size + opt.size();
}

ReplyWriter::ReplyWriter(const Query& query, Transport transport, std::span<std::uint8_t> out) noexcept
    : query_(query), out_(out), writer_(out.first(room_for_records(query, transport, out.size()))) {
  writer_.zeros(kHeaderBytes + query.question.size());
}

bool ReplyWriter::add(Section section, std::size_t owner_at, Type type, std::uint32_t ttl, ByteView rdata) noexcept {
  const std::size_t before = writer_.size();
  writer_.u16(static_cast<std::uint16_t>(0xc000 | owner_at));
  return add_rest(section, before, type, ttl, rdata);
}

bool ReplyWriter::add_named(Section section, ByteView owner, Type type, std::uint32_t ttl, ByteView rdata) noexcept {
  const std::size_t before = writer_.size();
  writer_.bytes(owner);
  return add_rest(section, before, type, ttl, rdata);
}

bool ReplyWriter::add_rest(Section section, std::size_t before, Type type, std::uint32_t ttl, ByteView rdata) noexcept {
  writer_.u16(static_cast<std::uint16_t>(type));
  writer_.u16(query_.qclass);
  writer_.u32(ttl);
  writer_.u16(static_cast<std::uint16_t>(rdata.size()));
  rdata_at_ = writer_.size();
  writer_.bytes(rdata);
  if (!writer_.ok()) {
    writer_.rewind(before);
    flags_ |= flag::kTruncated;
    return false;
  }
  ++counts_[static_cast<std::size_t>(section)];
  return true;
}

bool ReplyWriter::add(Section section, std::size_t owner_at, const StoredRRset& rrset) noexcept {
  const std::size_t before = writer_.size();
  writer_.bytes(rrset.records);
  if (!writer_.ok()) {
    writer_.rewind(before);
    return rrset.for_each([&](ByteView rdata) { return add(section, owner_at, rrset.type, rrset.ttl(), rdata); });
  }
  std::uint16_t& count = counts_[static_cast<std::size_t>(section)];
  count = static_cast<std::uint16_t>(count + rrset.count);
  rdata_at_ = before + StoredRRset::kRecordHeadBytes;
  if (owner_at != kHeaderBytes) {
    std::size_t at = before;
    rrset.for_each([&](ByteView rdata) {
      writer_.put_u16(at, static_cast<std::uint16_t>(0xc000 | owner_at));
      at += StoredRRset::kRecordHeadBytes + rdata.size();
      return true;
    });
  }
  return true;
}

void ReplyWriter::clear() noexcept {
  writer_.rewind(kHeaderBytes + query_.question.size());
  counts_ = {};
  flags_ = static_cast<std::uint16_t>(flags_ & flag::kRecursionAvailable);
}

std::size_t ReplyWriter::finish(Rcode rcode) noexcept {
  return complete_reply(query_, flags_, rcode, counts_, out_, writer_.size());
}

}  // namespace hcpnet::dns
