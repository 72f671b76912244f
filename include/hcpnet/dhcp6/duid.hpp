// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::dhcp6 {

/// A DHCP unique identifier (RFC 8415 section 11): a type of two bytes and 1 to 128 bytes that only its owner
/// understands.
class Duid {
 public:
  static constexpr std::size_t kMinBytes = 3;
  static constexpr std::size_t kMaxBytes = 130;

  Duid() = default;  ///< none
  [[nodiscard]] ByteView bytes() const noexcept { return as_bytes(bytes_); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  /// The Ethernet address inside a DUID-LLT or DUID-LL, which is that of some interface of the host.
  [[nodiscard]] std::optional<MacAddress> link_layer() const noexcept;
  /// Lower case, colons: "00:03:00:01:02:00:00:00:00:01".
  [[nodiscard]] std::string to_string() const;
  friend auto operator<=>(const Duid&, const Duid&) = default;

 private:
  friend std::optional<Duid> make_duid(ByteView bytes);
  std::string bytes_;
};

/// nullopt: too short or too long.
[[nodiscard]] std::optional<Duid> make_duid(ByteView bytes);
/// Pairs of hexadecimal digits in either case, all separated by ':' or '-', or not at all.
[[nodiscard]] std::optional<Duid> parse_duid(std::string_view text);

}  // namespace hcpnet::dhcp6
