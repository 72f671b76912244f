// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/net.hpp>

#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

std::string generic(std::string_view rdata) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\\# " + std::to_string(rdata.size()) + (rdata.empty() ? "" : " ");
  for (const char c : rdata) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

/// The name at the reader's place; false when there is none.
bool append_text(ByteReader& reader, ByteView rdata, std::string& text) {
  std::string wire;
  if (!append_name(rdata, reader, wire)) return false;
  const auto name = make_name(std::move(wire));
  if (!name) return false;
  text += name->to_string();
  return true;
}

/// RFC 1035 section 3.3.13: MNAME RNAME SERIAL REFRESH RETRY EXPIRE MINIMUM
std::string soa(ByteView rdata) {
  ByteReader reader(rdata);
  std::string text;
  if (!append_text(reader, rdata, text)) return {};
  text += ' ';
  if (!append_text(reader, rdata, text)) return {};
  for (int field = 0; field < 5; ++field) text += ' ' + std::to_string(reader.u32());
  return reader.at_end() ? text : std::string{};
}

std::string name(ByteView rdata) {
  ByteReader reader(rdata);
  std::string text;
  return append_text(reader, rdata, text) && reader.at_end() ? text : std::string{};
}

std::string special(Type type, ByteView rdata) {
  switch (type) {
    case Type::a:
      return rdata.size() == 4 ? Ipv4(rdata[0], rdata[1], rdata[2], rdata[3]).to_string() : std::string{};
    case Type::aaaa: {
      std::array<std::uint8_t, 16> bytes{};
      if (rdata.size() != bytes.size()) return {};
      std::ranges::copy(rdata, bytes.begin());
      return Ipv6(bytes).to_string();
    }
    case Type::ns:
    case Type::cname:
    case Type::ptr:
      return name(rdata);
    case Type::soa:
      return soa(rdata);
    default:
      return {};
  }
}

}  // namespace

std::string rdata_to_string(Type type, std::string_view rdata) {
  const std::string text = special(type, as_bytes(rdata));
  return text.empty() ? generic(rdata) : text;
}

}  // namespace hcpnet::dns
