// SPDX-License-Identifier: Apache-2.0
#include "dns/wire_name.hpp"

#include <hcpnet/dns/message.hpp>

namespace hcpnet::dns {
namespace {

constexpr std::uint8_t kPointer = 0xc0;

}  // namespace

// name = *( length u8 (1..63), that many bytes ) ( 0 | pointer u16 (11 in the top bits, 14 bits of offset) )
bool append_name(ByteView message, ByteReader& reader, std::string& wire) {
  const std::size_t start = wire.size();
  auto before = static_cast<std::size_t>(reader.rest().data() - message.data());
  ByteReader labels = reader;
  bool is_in_place = true;
  std::size_t pointers = 0;
  while (true) {
    const std::uint8_t length = labels.u8();
    if (!labels.ok()) return false;
    if (length >= kPointer) {
      const std::size_t target = static_cast<std::size_t>(length & ~kPointer) << 8 | labels.u8();
      if (!labels.ok()) return false;
      if (is_in_place) reader = labels;
      is_in_place = false;
      // Only ever further back, and not into the header: so there are no loops, and the count keeps a chain short.
      if (target >= before || target < kHeaderBytes || ++pointers > kMaxPointers) return false;
      before = target;
      labels = ByteReader(message.subspan(target));
      continue;
    }
    const ByteView label = labels.bytes(length);
    if (length > Name::kMaxLabelBytes || !labels.ok()) return false;
    wire += static_cast<char>(length);
    wire += as_text(label);
    if (wire.size() - start > Name::kMaxBytes) return false;
    if (length == 0) break;
  }
  if (is_in_place) reader = labels;
  return true;
}

}  // namespace hcpnet::dns
