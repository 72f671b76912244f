// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Addresses and what is made of them: parsed once at the edge, then compared, ordered, hashed and printed.
/// Every parse_ function takes the whole text or returns nullopt; none throws anything but std::bad_alloc.
namespace hcpnet {

/// An IPv4 address. Ordered by value.
class Ipv4 {
 public:
  constexpr Ipv4() noexcept = default;
  constexpr explicit Ipv4(std::uint32_t value) noexcept : value_(value) {}
  constexpr Ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) noexcept
      : value_(std::uint32_t{a} << 24 | std::uint32_t{b} << 16 | std::uint32_t{c} << 8 | d) {}

  /// The address as a number in host byte order: 192.0.2.1 is 0xC0000201.
  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }
  [[nodiscard]] std::array<std::uint8_t, 4> bytes() const noexcept;
  [[nodiscard]] bool is_unspecified() const noexcept { return value_ == 0; }
  [[nodiscard]] bool is_loopback() const noexcept { return value_ >> 24 == 127; }
  [[nodiscard]] std::string to_string() const;
  friend constexpr auto operator<=>(const Ipv4&, const Ipv4&) noexcept = default;

 private:
  std::uint32_t value_ = 0;
};

/// An IPv6 address, without zone. Ordered by value.
class Ipv6 {
 public:
  constexpr Ipv6() noexcept = default;
  constexpr explicit Ipv6(const std::array<std::uint8_t, 16>& bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }
  /// RFC 5952 form.
  [[nodiscard]] std::string to_string() const;
  friend constexpr auto operator<=>(const Ipv6&, const Ipv6&) noexcept = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

/// Four decimal parts without leading zeros.
[[nodiscard]] std::optional<Ipv4> parse_ipv4(std::string_view text);
/// RFC 4291 section 2.2, without zone.
[[nodiscard]] std::optional<Ipv6> parse_ipv6(std::string_view text);

/// An address of either family. IPv4 orders before IPv6.
class IpAddress {
 public:
  IpAddress() noexcept = default;
  IpAddress(Ipv4 address) noexcept : value_(address) {}
  IpAddress(const Ipv6& address) noexcept : value_(address) {}

  [[nodiscard]] bool is_v4() const noexcept { return value_.index() == 0; }
  [[nodiscard]] bool is_v6() const noexcept { return value_.index() == 1; }
  /// Precondition: is_v4() or is_v6().
  [[nodiscard]] Ipv4 v4() const noexcept { return *std::get_if<Ipv4>(&value_); }
  [[nodiscard]] const Ipv6& v6() const noexcept { return *std::get_if<Ipv6>(&value_); }
  [[nodiscard]] bool is_unspecified() const noexcept;
  [[nodiscard]] bool is_loopback() const noexcept;
  /// The IPv4 address that an IPv4-mapped IPv6 address stands for (RFC 4291 section 2.5.5.2); any other as it is. Rules
  /// are about who somebody is, not about how he is written.
  [[nodiscard]] IpAddress unmapped() const noexcept;
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) noexcept = default;

 private:
  std::variant<Ipv4, Ipv6> value_;
};
[[nodiscard]] std::optional<IpAddress> parse_ip_address(std::string_view text);

/// An IPv4 network: an address without host bits and a prefix length of 0 to 32.
class Ipv4Cidr {
 public:
  Ipv4Cidr() noexcept = default;
  /// Clears the host bits. Precondition: prefix_length <= 32.
  Ipv4Cidr(Ipv4 address, unsigned prefix_length) noexcept;

  [[nodiscard]] Ipv4 network() const noexcept { return network_; }
  [[nodiscard]] unsigned prefix_length() const noexcept { return prefix_length_; }
  [[nodiscard]] Ipv4 mask() const noexcept;
  [[nodiscard]] Ipv4 broadcast() const noexcept { return Ipv4(network_.value() | ~mask().value()); }
  [[nodiscard]] bool contains(Ipv4 address) const noexcept {
    return (address.value() & mask().value()) == network_.value();
  }
  /// Inside, and neither the network nor the broadcast address (which /31 and /32 don't have: RFC 3021).
  [[nodiscard]] bool is_host(Ipv4 address) const noexcept;
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Ipv4Cidr&, const Ipv4Cidr&) noexcept = default;

 private:
  Ipv4 network_;
  unsigned prefix_length_ = 0;
};
/// "192.0.2.0/24"; host bits or a prefix length with a leading zero are refused.
[[nodiscard]] std::optional<Ipv4Cidr> parse_ipv4_cidr(std::string_view text);

/// A network of either family, for matching client addresses.
class Cidr {
 public:
  Cidr() noexcept = default;
  /// Clears the host bits. Precondition: prefix_length <= 32 or 128.
  Cidr(const IpAddress& address, unsigned prefix_length) noexcept;
  Cidr(const Ipv4Cidr& cidr) noexcept : network_(cidr.network()), prefix_length_(cidr.prefix_length()) {}

  [[nodiscard]] const IpAddress& network() const noexcept { return network_; }
  [[nodiscard]] unsigned prefix_length() const noexcept { return prefix_length_; }
  /// False for an address of the other family; an IPv4-mapped IPv6 address counts as IPv6.
  [[nodiscard]] bool contains(const IpAddress& address) const noexcept;
  [[nodiscard]] bool overlaps(const Cidr& other) const noexcept;
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Cidr&, const Cidr&) noexcept = default;

 private:
  IpAddress network_;
  unsigned prefix_length_ = 0;
};
[[nodiscard]] std::optional<Cidr> parse_cidr(std::string_view text);

/// Addresses from `first` to `last`, both included. Precondition everywhere: first <= last.
struct Ipv4Range {
  Ipv4 first;
  Ipv4 last;
  [[nodiscard]] bool contains(Ipv4 address) const noexcept { return first <= address && address <= last; }
  [[nodiscard]] bool overlaps(const Ipv4Range& other) const noexcept {
    return first <= other.last && other.first <= last;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return std::uint64_t{last.value()} - first.value() + 1; }
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Ipv4Range&, const Ipv4Range&) noexcept = default;
};

/// A 48-bit IEEE 802 address.
class MacAddress {
 public:
  constexpr MacAddress() noexcept = default;
  constexpr explicit MacAddress(const std::array<std::uint8_t, 6>& bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] constexpr const std::array<std::uint8_t, 6>& bytes() const noexcept { return bytes_; }
  /// Lower case, colons: "02:00:00:00:00:01".
  [[nodiscard]] std::string to_string() const;
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) noexcept = default;

 private:
  std::array<std::uint8_t, 6> bytes_{};
};
/// Six pairs of hexadecimal digits in either case, all separated by ':' or all by '-'.
[[nodiscard]] std::optional<MacAddress> parse_mac_address(std::string_view text);

/// An address and a port of a transport protocol.
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  /// "192.0.2.1:53" or "[2001:db8::1]:53".
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Endpoint&, const Endpoint&) noexcept = default;
};
/// With `default_port` the port may be left out; an IPv6 address with a port stands in brackets. Port 0 is refused.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view text,
                                                     std::optional<std::uint16_t> default_port = {});

}  // namespace hcpnet

template <>
struct std::hash<hcpnet::Ipv4> {
  std::size_t operator()(const hcpnet::Ipv4& a) const noexcept { return a.value() * 0x9E3779B97F4A7C15ull >> 16; }
};
template <>
struct std::hash<hcpnet::MacAddress> {
  std::size_t operator()(const hcpnet::MacAddress& m) const noexcept;
};
template <>
struct std::hash<hcpnet::IpAddress> {
  std::size_t operator()(const hcpnet::IpAddress& a) const noexcept;
};
