// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/net.hpp>

#include "dns/rdata_text.hpp"
#include "dns/svcb_text.hpp"

namespace hcpnet::dns {
namespace {

std::string generic(std::string_view rdata) {
  return "\\# " + std::to_string(rdata.size()) + (rdata.empty() ? "" : " ") + hexadecimal(rdata);
}

/// Writes field after field; a field that is not there leaves the reader failed, and so no text at all.
class Fields {
 public:
  explicit Fields(std::string_view rdata) noexcept : reader_(as_bytes(rdata)) {}

  Fields& u8() { return add(std::to_string(reader_.u8())); }
  Fields& u16() { return add(std::to_string(reader_.u16())); }
  Fields& u32() { return add(std::to_string(reader_.u32())); }
  /// Without compression: RDATA here is apart from any message.
  Fields& name() {
    std::string wire;
    do {
      const ByteView label =
          reader_.rest().empty() ? ByteView{} : reader_.bytes(1 + std::size_t{reader_.rest().front()});
      if (label.empty() || wire.size() + label.size() > Name::kMaxBytes) return fail();
      wire += as_text(label);
      if (label.size() == 1) break;
    } while (true);
    const auto name = make_name(std::move(wire));
    return name ? add(name->to_string()) : fail();
  }
  Fields& string() { return add(quote_string(as_text(reader_.bytes(reader_.u8())))); }
  Fields& strings() {
    do string();
    while (reader_.remaining() > 0);
    return *this;
  }
  Fields& tag() {
    const std::string_view text = as_text(reader_.bytes(reader_.u8()));
    const auto is_letter = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    return text.empty() || !std::ranges::all_of(text, is_letter) ? fail() : add(std::string(text));
  }
  Fields& svc_params() {
    const auto params = svc_params_to_string(reader_.bytes(reader_.remaining()));
    if (!params) return fail();
    text_ += *params;
    return *this;
  }
  Fields& hex() {
    const ByteView bytes = reader_.bytes(reader_.remaining());
    return bytes.empty() ? fail() : add(hexadecimal(as_text(bytes)));
  }
  Fields& rest() { return add(quote_string(as_text(reader_.bytes(reader_.remaining())))); }
  Fields& some_rest() { return reader_.remaining() == 0 ? fail() : rest(); }
  Fields& ipv4() {
    const ByteView b = reader_.bytes(4);
    return b.empty() ? fail() : add(Ipv4(b[0], b[1], b[2], b[3]).to_string());
  }
  Fields& ipv6() {
    std::array<std::uint8_t, 16> bytes{};
    const ByteView b = reader_.bytes(bytes.size());
    if (b.empty()) return fail();
    std::ranges::copy(b, bytes.begin());
    return add(Ipv6(bytes).to_string());
  }
  [[nodiscard]] std::string text() const { return is_good_ && reader_.at_end() ? text_ : std::string{}; }

 private:
  Fields& add(const std::string& field) {
    if (!text_.empty()) text_ += ' ';
    text_ += field;
    return *this;
  }
  Fields& fail() {
    is_good_ = false;
    return *this;
  }

  ByteReader reader_;
  std::string text_;
  bool is_good_ = true;
};

}  // namespace

std::string rdata_in_own_form(Type type, std::string_view rdata) {
  Fields fields(rdata);
  switch (type) {
    case Type::a:
      return fields.ipv4().text();
    case Type::aaaa:
      return fields.ipv6().text();
    case Type::ns:
    case Type::cname:
    case Type::ptr:
      return fields.name().text();
    case Type::soa:
      return fields.name().name().u32().u32().u32().u32().u32().text();
    case Type::hinfo:
      return fields.string().string().text();
    case Type::mx:
    case Type::afsdb:
    case Type::kx:
      return fields.u16().name().text();
    case Type::rp:
      return fields.name().name().text();
    case Type::txt:
    case Type::spf:
      return fields.strings().text();
    case Type::srv:
      return fields.u16().u16().u16().name().text();
    case Type::naptr:
      return fields.u16().u16().string().string().string().name().text();
    case Type::uri:
      return fields.u16().u16().some_rest().text();
    case Type::caa:
      return fields.u8().tag().rest().text();
    case Type::svcb:
    case Type::https:
      return fields.u16().name().svc_params().text();
    case Type::ds:
    case Type::cds:
      return fields.u16().u8().u8().hex().text();
    case Type::sshfp:
      return fields.u8().u8().hex().text();
    case Type::tlsa:
    case Type::smimea:
      return fields.u8().u8().u8().hex().text();
    default:
      return {};
  }
}

std::string rdata_to_string(Type type, std::string_view rdata) {
  const std::string text = rdata_in_own_form(type, rdata);
  return text.empty() ? generic(rdata) : text;
}

std::string hexadecimal(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string quote_string(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      text += '\\';
      for (const int unit : {100, 10, 1}) text += static_cast<char>('0' + byte / unit % 10);
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace hcpnet::dns
