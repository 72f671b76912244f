// SPDX-License-Identifier: Apache-2.0
#include "dns/reply_writer.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::uint16_t kCopiedFlags = flag::kOpcode | flag::kRecursionDesired | flag::kCheckingDisabled;

std::span<std::uint8_t> room_for_records(const Query& query, Transport transport, std::span<std::uint8_t> out) noexcept {
  const std::size_t size = std::min(query.max_reply_bytes(transport), out.size());
  return out.first(size - (query.has_edns ? ReplyWriter::kOptBytes : 0));
}

}  // namespace

ReplyWriter::ReplyWriter(const Query& query, Transport transport, std::span<std::uint8_t> out) noexcept
    : query_(query),
      out_(out),
      writer_(room_for_records(query, transport, out)),
      flags_(static_cast<std::uint16_t>(flag::kResponse | (query.flags & kCopiedFlags))) {
  writer_.zeros(kHeaderBytes);
  writer_.bytes(query.question);
}

bool ReplyWriter::add(Section section, std::size_t owner_at, Type type, std::uint32_t ttl, ByteView rdata) noexcept {
  const std::size_t before = writer_.size();
  writer_.u16(static_cast<std::uint16_t>(0xc000 | owner_at));
  writer_.u16(static_cast<std::uint16_t>(type));
  writer_.u16(kClassIn);
  writer_.u32(ttl);
  writer_.u16(static_cast<std::uint16_t>(rdata.size()));
  rdata_at_ = writer_.size();
  writer_.bytes(rdata);
  if (!writer_.ok()) {
    writer_.rewind(before);
    set_truncated();
    return false;
  }
  ++counts_[static_cast<std::size_t>(section)];
  return true;
}

void ReplyWriter::clear() noexcept {
  writer_.rewind(kHeaderBytes + query_.question.size());
  counts_[0] = counts_[1] = 0;
  flags_ = static_cast<std::uint16_t>(flags_ & ~(flag::kTruncated | flag::kAuthoritative));
}

std::size_t ReplyWriter::finish(Rcode rcode) noexcept {
  const auto code = static_cast<std::uint16_t>(rcode);
  ByteWriter header(out_);
  header.u16(query_.id);
  header.u16(static_cast<std::uint16_t>(flags_ | (code & flag::kRcode)));
  header.u16(query_.question.empty() ? 0 : 1);
  for (const std::uint16_t count : counts_) header.u16(count);
  header.u16(query_.has_edns ? 1 : 0);
  if (!query_.has_edns) return writer_.size();
  // RFC 6891 section 6.1: version 0, no options, of the flags only DO as the client sent it (RFC 3225 section 3).
  ByteWriter opt(out_.subspan(writer_.size()));
  opt.u8(0);
  opt.u16(static_cast<std::uint16_t>(Type::opt));
  opt.u16(kMaxUdpBytes);
  opt.u8(static_cast<std::uint8_t>(code >> 4));
  opt.u8(0);
  opt.u16(query_.dnssec_ok ? 0x8000 : 0);
  opt.u16(0);
  return writer_.size() + opt.size();
}

}  // namespace hcpnet::dns
