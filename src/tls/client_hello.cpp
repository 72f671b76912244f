// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/tls/client_hello.hpp>

#include "tls/client_hello_body.hpp"

namespace hcpnet::tls {
namespace {

constexpr std::uint8_t kHandshake = 22;    // RFC 8446 section 5.1, ContentType
constexpr std::uint8_t kMajorVersion = 3;  // of legacy_record_version; the minor byte is ignored
constexpr std::uint8_t kClientHello = 1;   // RFC 8446 section 4, HandshakeType
constexpr std::size_t kRecordHeadBytes = 5;
constexpr std::size_t kMaxFragmentBytes = 1 << 14;

}  // namespace

/// What is there of the current record's payload.
struct ClientHelloReader::Fragment {
  ByteView bytes;
  std::size_t declared_bytes;
};

ClientHelloReader::ClientHelloReader(const ClientHelloLimits& limits) noexcept : limits_(limits) {
  limits_.max_bytes = std::min(limits_.max_bytes, kLargestHelloBytes);
}

/// struct { ContentType type; ProtocolVersion legacy_record_version; uint16 length; opaque fragment[length]; }
/// TLSPlaintext;
Result<ClientHelloReader::Fragment> ClientHelloReader::current_fragment(ByteView received) const noexcept {
  const ByteView record = received.subspan(record_);
  const Errc refused = record_ == 0 ? Errc::not_tls : Errc::malformed;
  if (!record.empty() && record[0] != kHandshake) return refused;
  if (record.size() > 1 && record[1] != kMajorVersion) return refused;
  ByteReader reader(record);
  reader.skip(3);
  const std::size_t declared = reader.u16();
  if (!reader.ok()) {
    if (record_ + kRecordHeadBytes >= limits_.max_bytes) return Errc::too_large;  // and at least a byte after it
    return Errc::need_more;
  }
  // RFC 8446 section 5.1: at most 2^14 bytes, and an empty fragment of a handshake message must not be sent.
  if (declared == 0 || declared > kMaxFragmentBytes) return Errc::malformed;
  return Fragment{reader.rest().first(std::min(declared, reader.remaining())), declared};
}

/// struct { HandshakeType msg_type; uint24 length; ... } Handshake;  judged as soon as its bytes are there.
error_code ClientHelloReader::inspect_header(const Fragment& fragment) noexcept {
  for (std::size_t i = head_bytes_ - gathered_; head_bytes_ < head_.size() && i < fragment.bytes.size(); ++i) {
    head_[head_bytes_++] = fragment.bytes[i];
  }
  if (head_bytes_ > 0 && head_[0] != kClientHello) return Errc::malformed;
  if (head_bytes_ < head_.size()) return {};
  // The fewest bytes in which this message can still end: all the rest of it in the current record.
  if (record_ + kRecordHeadBytes + message_bytes() - gathered_ > limits_.max_bytes) return Errc::too_large;
  return {};
}

std::size_t ClientHelloReader::message_bytes() const noexcept {
  return head_.size() + (std::size_t{head_[1]} << 16 | std::size_t{head_[2]} << 8 | head_[3]);
}

Result<ClientHello> ClientHelloReader::read(ByteView received) {
  if (received.size() < record_) return Errc::malformed;  // fewer bytes than before
  for (;;) {
    const Result<Fragment> fragment = current_fragment(received);
    if (!fragment) return fragment.error();
    if (const error_code ec = inspect_header(*fragment)) return ec;
    const bool is_head_known = head_bytes_ == head_.size();
    if (is_head_known && gathered_ + fragment->bytes.size() >= message_bytes()) return finish(received);
    if (fragment->bytes.size() < fragment->declared_bytes) return Errc::need_more;
    gathered_ += fragment->declared_bytes;
    record_ += kRecordHeadBytes + fragment->declared_bytes;
  }
}

Result<ClientHello> ClientHelloReader::finish(ByteView received) const {
  const std::size_t rest = message_bytes() - gathered_;
  std::array<std::uint8_t, kLargestHelloBytes> joined;  // on the stack: a refused hello must not cost an allocation
  ByteView message = received.subspan(record_ + kRecordHeadBytes, rest);
  if (gathered_ > 0) {
    ByteWriter writer(joined);
    ByteReader records(received.first(record_));
    while (records.remaining() > 0) {
      records.skip(3);
      writer.bytes(records.bytes(records.u16()));
    }
    writer.bytes(message);
    message = writer.written();
  }
  if (message.size() != message_bytes()) return Errc::malformed;  // other bytes than before
  Result<ClientHello> hello = parse_client_hello_body(message.subspan(head_.size()), limits_);
  if (hello) hello->consumed_bytes = record_ + kRecordHeadBytes + rest;
  return hello;
}

Result<ClientHello> parse_client_hello(ByteView received, const ClientHelloLimits& limits) {
  return ClientHelloReader(limits).read(received);
}

}  // namespace hcpnet::tls
