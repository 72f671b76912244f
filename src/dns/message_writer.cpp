// SPDX-License-Identifier: Apache-2.0
#include "dns/message_writer.hpp"

#include "dns/folded_name.hpp"
#include "dns/rdata_layout.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::size_t kMaxPlace = 0x3fff;  // what 14 bits can point to

}  // namespace

void MessageWriter::header(const Message& message) noexcept {
  out_.u16(message.id);
  out_.u16(message.flags);
  const std::size_t additional = message.additional.size() + (message.edns ? 1 : 0);
  for (const std::size_t count :
       {message.questions.size(), message.answers.size(), message.authority.size(), additional})
    out_.u16(static_cast<std::uint16_t>(count));
}

void MessageWriter::question(const Question& question) noexcept {
  name(question.name.wire());
  out_.u16(static_cast<std::uint16_t>(question.type));
  out_.u16(question.qclass);
}

std::size_t MessageWriter::record(const Record& record) noexcept {
  name(record.owner.wire());
  out_.u16(static_cast<std::uint16_t>(record.type));
  out_.u16(record.rclass);
  const std::size_t ttl_at = out_.size();
  out_.u32(record.ttl);
  const std::size_t length_at = out_.size();
  out_.u16(0);
  rdata(record);
  if (out_.ok()) out_.put_u16(length_at, static_cast<std::uint16_t>(out_.size() - length_at - 2));
  return ttl_at;
}

void MessageWriter::edns(const Edns& edns, std::uint8_t extended_rcode) noexcept {
  out_.u8(0);
  out_.u16(static_cast<std::uint16_t>(Type::opt));
  out_.u16(edns.udp_bytes);
  out_.u8(extended_rcode);
  out_.u8(edns.version);
  out_.u16(edns.dnssec_ok ? kDnssecOk : 0);
  out_.u16(static_cast<std::uint16_t>(edns.options.size()));
  out_.bytes(as_bytes(edns.options));
}

void MessageWriter::rdata(const Record& record) noexcept {
  const RdataLayout* layout = find_rdata_layout(record.type);
  ByteReader rest(as_bytes(record.rdata));
  // Only in class IN does a reader know where the names are.
  if (layout != nullptr && layout->is_compressible && record.rclass == kClassIn) {
    out_.bytes(rest.bytes(layout->bytes_before));
    for (int i = 0; i < layout->names; ++i) {
      FoldedName checked;
      const std::size_t size = checked.read(rest.rest());
      if (size == 0) break;  // not a name after all: the bytes are carried as they are
      name(rest.bytes(size));
    }
  }
  out_.bytes(rest.rest());
}

void MessageWriter::name(ByteView wire) noexcept {
  if (!out_.ok()) return;  // an upstream may well have thousands more
  FoldedName folded;
  folded.read(wire);
  const std::size_t start = out_.size();
  std::size_t labels = folded.label_count();
  std::size_t target = 0;
  for (; labels > 0; --labels) {
    target = find(folded.suffix(labels), folded.hash(labels));
    if (target != 0) break;
  }
  const std::size_t own_bytes = target != 0 ? folded.offset(labels) : wire.size();
  out_.bytes(wire.first(own_bytes));
  if (target != 0) out_.u16(static_cast<std::uint16_t>(0xc000 | target));
  if (!out_.ok()) return;
  for (std::size_t above = folded.label_count(); above > labels; --above)
    remember(folded.hash(above), start + folded.offset(above));
}

std::size_t MessageWriter::find(ByteView folded, std::uint32_t hash) const noexcept {
  for (std::size_t at = hash % slots_.size(); slots_[at].place != 0; at = (at + 1) % slots_.size())
    if (slots_[at].hash == hash && is_at(slots_[at].place, folded)) return slots_[at].place;
  return 0;
}

void MessageWriter::remember(std::uint32_t hash, std::size_t place) noexcept {
  if (remembered_ >= kMaxRemembered || place > kMaxPlace) return;
  std::size_t at = hash % slots_.size();
  while (slots_[at].place != 0) at = (at + 1) % slots_.size();
  slots_[at] = {hash, static_cast<std::uint16_t>(place)};
  ++remembered_;
}

/// Compares with a name that this writer has written, so its labels and pointers are sound.
bool MessageWriter::is_at(std::size_t place, ByteView folded) const noexcept {
  const ByteView message = out_.written();
  while (true) {
    while (message[place] >= 0xc0) place = static_cast<std::size_t>(message[place] & 0x3f) << 8 | message[place + 1];
    const std::size_t size = 1 + std::size_t{message[place]};
    if (size > folded.size() || !equals_folded(message.data() + place, folded.first(size))) return false;
    if (size == 1) return folded.size() == 1;
    place += size;
    folded = folded.subspan(size);
  }
}

}  // namespace hcpnet::dns
