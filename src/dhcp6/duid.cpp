// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <hcpnet/dhcp6/duid.hpp>

namespace hcpnet::dhcp6 {
namespace {

constexpr std::uint16_t kLinkLayerAndTime = 1;
constexpr std::uint16_t kLinkLayer = 3;
constexpr std::uint16_t kEthernet = 1;

}  // namespace

std::optional<Duid> make_duid(ByteView bytes) {
  if (bytes.size() < Duid::kMinBytes || bytes.size() > Duid::kMaxBytes) return std::nullopt;
  Duid out;
  out.bytes_ = as_text(bytes);
  return out;
}

std::optional<Duid> parse_duid(std::string_view text) {
  std::string bytes;
  const char separator = text.size() > 2 && (text[2] == ':' || text[2] == '-') ? text[2] : '\0';
  for (std::size_t i = 0; i < text.size(); i += 2) {
    if (i > 0 && separator != '\0') {
      if (text[i] != separator) return std::nullopt;
      ++i;
    }
    const std::string_view pair = text.substr(std::min(i, text.size()), 2);
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
    if (pair.size() != 2 || error != std::errc{} || end != pair.data() + pair.size()) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return make_duid(as_bytes(bytes));
}

std::optional<MacAddress> Duid::link_layer() const noexcept {
  ByteReader reader(bytes());
  const std::uint16_t type = reader.u16();
  if ((type != kLinkLayer && type != kLinkLayerAndTime) || reader.u16() != kEthernet) return std::nullopt;
  if (type == kLinkLayerAndTime) reader.skip(4);
  std::array<std::uint8_t, 6> address{};
  std::ranges::copy(reader.bytes(address.size()), address.begin());
  if (!reader.at_end()) return std::nullopt;
  return MacAddress(address);
}

std::string Duid::to_string() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : bytes()) {
    if (!out.empty()) out += ':';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace hcpnet::dhcp6
