// SPDX-License-Identifier: Apache-2.0
#include "dhcp/option_value.hpp"

#include <algorithm>
#include <charconv>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Encoded = Result<Bytes, std::string>;

enum class ValueType : std::uint8_t {
  text,
  boolean,
  u8,
  u16,
  u16s,
  u32,
  address,
  addresses,
  address_pairs,
  domains,
  routes
};

/// RFC 2132 sections 3 to 9, RFC 3397 (119), RFC 3442 (121) and Microsoft's copy of it (249).
ValueType type_of(std::uint8_t code) {
  switch (code) {
    case 1:
    case 16:
    case 28:
    case 32:
    case 50:
    case 54:
      return ValueType::address;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 41:
    case 42:
    case 44:
    case 45:
    case 48:
    case 49:
    case 65:
    case 68:
    case 69:
    case 70:
    case 71:
    case 72:
    case 73:
    case 74:
    case 75:
    case 76:
    case 150:
      return ValueType::addresses;
    case 21:
    case 33:
      return ValueType::address_pairs;
    case 2:
    case 24:
    case 35:
    case 38:
    case 51:
    case 58:
    case 59:
      return ValueType::u32;
    case 13:
    case 22:
    case 26:
    case 57:
      return ValueType::u16;
    case 25:
      return ValueType::u16s;
    case 23:
    case 37:
    case 46:
    case 52:
    case 53:
      return ValueType::u8;
    case 19:
    case 20:
    case 27:
    case 29:
    case 30:
    case 31:
    case 34:
    case 36:
    case 39:
      return ValueType::boolean;
    case 119:
      return ValueType::domains;
    case 121:
    case 249:
      return ValueType::routes;
    default:
      return ValueType::text;
  }
}

/// The least that RFC 2132 allows in sections 4.4 (22), 4.5 (23), 4.7 (25), 5.1 (26) and 7.1 (37).
std::uint64_t least_of(std::uint8_t code) {
  switch (code) {
    case 22:
      return 576;
    case 23:
    case 37:
      return 1;
    case 25:
    case 26:
      return 68;
    default:
      return 0;
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma; (comma = text.find(',')) != std::string_view::npos; text.remove_prefix(comma + 1))
    parts.push_back(trimmed(text.substr(0, comma)));
  parts.push_back(trimmed(text));
  return parts;
}

void append(Bytes& out, Ipv4 address) {
  const auto bytes = address.bytes();
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Encoded number(std::string_view text, unsigned width, std::uint64_t least) {
  const std::uint64_t most = (std::uint64_t{1} << (8 * width)) - 1;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (!is_number || value < least || value > most)
    return "a number from " + std::to_string(least) + " to " + std::to_string(most);
  Bytes out;
  for (unsigned shift = 8 * width; shift > 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(value >> (shift - 8)));
  return out;
}

Encoded numbers(std::string_view text, unsigned width, std::uint64_t least) {
  Bytes out;
  for (const std::string_view part : split(text)) {
    const Encoded one = number(part, width, least);
    if (one.has_error()) return one.error() + ", or several, separated by commas";
    out.insert(out.end(), one->begin(), one->end());
  }
  return out;
}

Encoded addresses(std::string_view text, std::size_t max) {
  const std::string expected = max == 1 ? "one IPv4 address" : "IPv4 addresses, separated by commas";
  Bytes out;
  const auto parts = split(text);
  if (parts.size() > max) return expected;
  for (const std::string_view part : parts) {
    const auto address = parse_ipv4(part);
    if (!address) return expected;
    append(out, *address);
  }
  return out;
}

Encoded address_pairs(std::string_view text) {
  auto out = addresses(text, SIZE_MAX);
  if (out.has_error() || out->size() % 8 != 0) return std::string("pairs of IPv4 addresses, separated by commas");
  return out;
}

/// RFC 3397: names in wire form, one after the other; never compressed, which every client reads.
Encoded domains(std::string_view text) {
  const std::string expected = "domain names, separated by commas";
  Bytes out;
  for (std::string_view name : split(text)) {
    if (name.ends_with('.')) name.remove_suffix(1);
    const std::size_t start = out.size();
    while (!name.empty()) {
      const std::string_view label = name.substr(0, name.find('.'));
      if (label.empty() || label.size() > 63) return expected;
      out.push_back(static_cast<std::uint8_t>(label.size()));
      out.insert(out.end(), label.begin(), label.end());
      name.remove_prefix(std::min(name.size(), label.size() + 1));
    }
    out.push_back(0);
    if (out.size() - start < 2 || out.size() - start > 255) return expected;
  }
  return out;
}

/// RFC 3442: prefix length, as many bytes of the network as it needs, router.
Encoded routes(std::string_view text) {
  const std::string expected = "routes such as \"192.0.2.0/24 via 198.51.100.1\", separated by commas";
  Bytes out;
  for (const std::string_view part : split(text)) {
    const std::size_t via = part.find(" via ");
    if (via == std::string_view::npos) return expected;
    const auto network = parse_ipv4_cidr(trimmed(part.substr(0, via)));
    const auto router = parse_ipv4(trimmed(part.substr(via + 5)));
    if (!network || !router) return expected;
    out.push_back(static_cast<std::uint8_t>(network->prefix_length()));
    const auto bytes = network->network().bytes();
    out.insert(out.end(), bytes.begin(), bytes.begin() + (network->prefix_length() + 7) / 8);
    append(out, *router);
  }
  return out;
}

Encoded hex(std::string_view digits) {
  Bytes out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const std::string_view pair = digits.substr(i, 2);
    const auto [end, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (pair.size() != 2 || error != std::errc{} || end != pair.data() + 2)
      return std::string("\"hex:\" and pairs of hexadecimal digits");
    out.push_back(byte);
  }
  if (out.empty()) return std::string("at least one byte");
  return out;
}

}  // namespace

Encoded encode_option_bytes(std::string_view text) {
  if (text.starts_with("hex:")) return hex(text.substr(4));
  if (text.empty()) return std::string("at least one character");
  return Bytes(text.begin(), text.end());
}

Encoded encode_option_value(std::uint8_t code, std::string_view text) {
  if (text.starts_with("hex:")) return hex(text.substr(4));
  switch (type_of(code)) {
    case ValueType::address:
      return addresses(text, 1);
    case ValueType::addresses:
      return addresses(text, SIZE_MAX);
    case ValueType::address_pairs:
      return address_pairs(text);
    case ValueType::u8:
      return number(text, 1, least_of(code));
    case ValueType::u16:
      return number(text, 2, least_of(code));
    case ValueType::u16s:
      return numbers(text, 2, least_of(code));
    case ValueType::u32:
      return number(text, 4, least_of(code));
    case ValueType::domains:
      return domains(text);
    case ValueType::routes:
      return routes(text);
    case ValueType::boolean:
      if (text == "true") return Bytes{1};
      if (text == "false") return Bytes{0};
      return std::string("true or false");
    case ValueType::text:
      break;
  }
  return encode_option_bytes(text);
}

}  // namespace hcpnet::dhcp
