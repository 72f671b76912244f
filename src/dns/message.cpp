// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dns/message.hpp>

#include "dns/message_writer.hpp"
#include "dns/rdata_layout.hpp"
#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

std::optional<Name> read_name(ByteView message, ByteReader& reader) {
  std::string wire;
  if (!reader.ok() || !append_name(message, reader, wire)) return std::nullopt;
  auto name = make_name(std::move(wire));
  if (!name) return std::nullopt;
  return std::move(*name);
}

// RFC 6891 section 6.1.2: in an OPT record the class is a size, and the TTL holds extended RCODE, version and flags.
bool read_edns(Message& message, const Name& owner, std::uint16_t udp_bytes, std::uint32_t ttl, ByteReader options) {
  if (message.edns || !owner.is_root()) return false;
  Edns edns{udp_bytes, static_cast<std::uint8_t>(ttl >> 16), (ttl & kDnssecOk) != 0,
            std::string(as_text(options.rest()))};
  while (options.remaining() > 0) {
    options.skip(2);
    options.skip(options.u16());
  }
  message.extended_rcode = static_cast<std::uint8_t>(ttl >> 24);
  message.edns = std::move(edns);
  return options.ok();
}

bool read_question(ByteView bytes, ByteReader& reader, Message& message) {
  auto name = read_name(bytes, reader);
  if (!name) return false;
  const Type type{reader.u16()};
  message.questions.push_back({std::move(*name), type, reader.u16()});
  return reader.ok();
}

// record = name, type u16, class u16, ttl u32, rdata u16-length bytes
bool read_record(ByteView bytes, ByteReader& reader, Message& message, std::vector<Record>& section) {
  auto owner = read_name(bytes, reader);
  if (!owner) return false;
  const Type type{reader.u16()};
  const std::uint16_t rclass = reader.u16();
  const std::uint32_t ttl = reader.u32();
  const ByteReader rdata = reader.sub(reader.u16());
  if (!rdata.ok()) return false;
  if (type == Type::opt) return &section == &message.additional && read_edns(message, *owner, rclass, ttl, rdata);
  // Other classes may give a type another meaning, or no RDATA at all (RFC 2136 section 2.4).
  auto expanded = rclass == kClassIn ? expand_rdata(bytes, rdata, type) : std::string(as_text(rdata.rest()));
  if (!expanded) return false;
  section.push_back({std::move(*owner), type, rclass, ttl >> 31 != 0 ? 0 : ttl, std::move(*expanded)});
  return true;
}

}  // namespace

Result<Message> parse_message(ByteView bytes) {
  ByteReader reader(bytes);
  Message message;
  message.id = reader.u16();
  message.flags = reader.u16();
  const std::uint16_t questions = reader.u16();
  const std::uint16_t answers = reader.u16();
  const std::uint16_t authority = reader.u16();
  const std::uint16_t additional = reader.u16();
  if (!reader.ok() || bytes.size() > kMaxMessageBytes) return Errc::malformed;
  for (int i = 0; i < questions; ++i)
    if (!read_question(bytes, reader, message)) return Errc::malformed;
  const auto read_section = [&](std::uint16_t count, std::vector<Record>& section) {
    for (int i = 0; i < count; ++i)
      if (!read_record(bytes, reader, message, section)) return false;
    return true;
  };
  if (!read_section(answers, message.answers) || !read_section(authority, message.authority) ||
      !read_section(additional, message.additional) || !reader.at_end())
    return Errc::malformed;
  return message;
}

Result<std::vector<std::uint8_t>> encode_message(const Message& message) {
  std::vector<std::uint8_t> bytes(kMaxMessageBytes);
  MessageWriter writer(bytes);
  writer.header(message);
  for (const Question& question : message.questions) writer.question(question);
  for (const auto* section : {&message.answers, &message.authority, &message.additional})
    for (const Record& record : *section) writer.record(record);
  if (message.edns) writer.edns(*message.edns, message.extended_rcode);
  if (!writer.ok()) return Errc::too_large;
  return std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(writer.size()));
}

}  // namespace hcpnet::dns
