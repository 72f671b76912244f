// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>
#include <boost/assert.hpp>
#include <charconv>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <span>

namespace hcpnet {
namespace {

/// Decimal without sign or leading zeros, at most `max`.
std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  if (text.empty() || text.size() > 10 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<std::uint8_t> parse_hex_pair(std::string_view text) {
  std::uint8_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::span<const std::uint8_t> address_bytes(const IpAddress& address, std::array<std::uint8_t, 4>& v4) {
  if (address.is_v6()) return address.v6().bytes();
  v4 = address.v4().bytes();
  return v4;
}

bool has_prefix(std::span<const std::uint8_t> address, std::span<const std::uint8_t> network, unsigned prefix_length) {
  const std::size_t whole = prefix_length / 8;
  if (!std::equal(network.begin(), network.begin() + whole, address.begin())) return false;
  const unsigned bits = prefix_length % 8;
  return bits == 0 || (address[whole] ^ network[whole]) >> (8 - bits) == 0;
}

}  // namespace

std::array<std::uint8_t, 4> Ipv4::bytes() const noexcept {
  return {static_cast<std::uint8_t>(value_ >> 24), static_cast<std::uint8_t>(value_ >> 16),
          static_cast<std::uint8_t>(value_ >> 8), static_cast<std::uint8_t>(value_)};
}

std::string Ipv4::to_string() const {
  const auto b = bytes();
  return std::to_string(b[0]) + '.' + std::to_string(b[1]) + '.' + std::to_string(b[2]) + '.' + std::to_string(b[3]);
}

std::string Ipv6::to_string() const {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, bytes_.data(), text, sizeof text);
}

std::optional<Ipv4> parse_ipv4(std::string_view text) {
  std::uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return std::nullopt;
    const auto number = parse_number(text.substr(0, dot), 255);
    if (!number) return std::nullopt;
    value = value << 8 | *number;
    text.remove_prefix(part == 3 ? text.size() : dot + 1);
  }
  return Ipv4(value);
}

std::optional<Ipv6> parse_ipv6(std::string_view text) {
  std::array<std::uint8_t, 16> bytes{};
  const std::string terminated(text.substr(0, INET6_ADDRSTRLEN));
  if (text.size() >= INET6_ADDRSTRLEN || terminated.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) != 1) return std::nullopt;
  return Ipv6(bytes);
}

bool IpAddress::is_unspecified() const noexcept {
  return is_v4() ? v4().is_unspecified() : v6() == Ipv6{};
}

IpAddress IpAddress::unmapped() const noexcept {
  if (is_v4()) return *this;
  ByteReader in(v6().bytes());
  const bool is_mapped = in.u32() == 0 && in.u32() == 0 && in.u32() == 0xFFFF;
  return is_mapped ? IpAddress(Ipv4(in.u32())) : *this;
}

bool IpAddress::is_loopback() const noexcept {
  static constexpr Ipv6 kLoopback({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  return is_v4() ? v4().is_loopback() : v6() == kLoopback;
}

std::string IpAddress::to_string() const {
  return is_v4() ? v4().to_string() : v6().to_string();
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (const auto address = parse_ipv4(text)) return IpAddress(*address);
  if (const auto address = parse_ipv6(text)) return IpAddress(*address);
  return std::nullopt;
}

Ipv4Cidr::Ipv4Cidr(Ipv4 address, unsigned prefix_length) noexcept : prefix_length_(prefix_length) {
  BOOST_ASSERT(prefix_length <= 32);
  network_ = Ipv4(address.value() & mask().value());
}

Ipv4 Ipv4Cidr::mask() const noexcept {
  return Ipv4(prefix_length_ == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix_length_));
}

bool Ipv4Cidr::is_host(Ipv4 address) const noexcept {
  return contains(address) && (prefix_length_ >= 31 || (address != network_ && address != broadcast()));
}

std::string Ipv4Cidr::to_string() const {
  return network_.to_string() + '/' + std::to_string(prefix_length_);
}

std::optional<Ipv4Cidr> parse_ipv4_cidr(std::string_view text) {
  const auto cidr = parse_cidr(text);
  if (!cidr || !cidr->network().is_v4()) return std::nullopt;
  return Ipv4Cidr(cidr->network().v4(), cidr->prefix_length());
}

Cidr::Cidr(const IpAddress& address, unsigned prefix_length) noexcept : prefix_length_(prefix_length) {
  if (address.is_v4()) {
    network_ = Ipv4Cidr(address.v4(), prefix_length).network();
    return;
  }
  BOOST_ASSERT(prefix_length <= 128);
  std::array<std::uint8_t, 16> bytes = address.v6().bytes();
  for (unsigned bit = prefix_length; bit < 128; ++bit) bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80u >> bit % 8));
  network_ = Ipv6(bytes);
}

bool Cidr::contains(const IpAddress& address) const noexcept {
  if (address.is_v4() != network_.is_v4()) return false;
  std::array<std::uint8_t, 4> address_v4;
  std::array<std::uint8_t, 4> network_v4;
  return has_prefix(address_bytes(address, address_v4), address_bytes(network_, network_v4), prefix_length_);
}

bool Cidr::overlaps(const Cidr& other) const noexcept {
  return contains(other.network_) || other.contains(network_);
}

std::string Cidr::to_string() const {
  return network_.to_string() + '/' + std::to_string(prefix_length_);
}

std::optional<Cidr> parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ip_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  const auto prefix_length = parse_number(text.substr(slash + 1), address->is_v4() ? 32 : 128);
  if (!prefix_length) return std::nullopt;
  const Cidr cidr(*address, *prefix_length);
  if (cidr.network() != *address) return std::nullopt;
  return cidr;
}

std::string Ipv4Range::to_string() const {
  return first.to_string() + '-' + last.to_string();
}

std::string MacAddress::to_string() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes_) {
    if (!text.empty()) text += ':';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<MacAddress> parse_mac_address(std::string_view text) {
  constexpr std::size_t kTextBytes = 17;
  if (text.size() != kTextBytes || (text[2] != ':' && text[2] != '-')) return std::nullopt;
  std::array<std::uint8_t, 6> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && text[3 * i - 1] != text[2]) return std::nullopt;
    const auto byte = parse_hex_pair(text.substr(3 * i, 2));
    if (!byte) return std::nullopt;
    bytes[i] = *byte;
  }
  return MacAddress(bytes);
}

std::string Endpoint::to_string() const {
  const std::string text = address.to_string();
  return (address.is_v4() ? text : '[' + text + ']') + ':' + std::to_string(port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> default_port) {
  if (default_port) {
    std::string_view bare = text;
    if (bare.size() > 2 && bare.front() == '[' && bare.back() == ']') bare = bare.substr(1, bare.size() - 2);
    if (const auto address = parse_ip_address(bare); address && (bare.size() == text.size() || address->is_v6()))
      return Endpoint{*address, *default_port};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_number(text.substr(colon + 1), 65535);
  std::string_view host = text.substr(0, colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip_address(host);
  if (!port || *port == 0 || !address || address->is_v6() != has_brackets) return std::nullopt;
  return Endpoint{*address, static_cast<std::uint16_t>(*port)};
}

}  // namespace hcpnet

std::size_t std::hash<hcpnet::MacAddress>::operator()(const hcpnet::MacAddress& m) const noexcept {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : m.bytes()) value = value << 8 | byte;
  return value * 0x9E3779B97F4A7C15ull >> 16;
}

std::size_t std::hash<hcpnet::IpAddress>::operator()(const hcpnet::IpAddress& a) const noexcept {
  if (a.is_v4()) return std::hash<hcpnet::Ipv4>{}(a.v4());
  const auto& bytes = a.v6().bytes();
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
