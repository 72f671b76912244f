// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::dns {

/// A domain name in wire form: at most 255 bytes, labels of 1 to 63 bytes, root at the end (RFC 1035 section 3.1).
/// Keeps the case it was given; comparison, order (RFC 4034 section 6.1) and hash ignore ASCII case.
class Name {
 public:
  static constexpr std::size_t kMaxBytes = 255;
  static constexpr std::size_t kMaxLabelBytes = 63;

  Name();  ///< the root
  [[nodiscard]] ByteView wire() const noexcept { return as_bytes(wire_); }
  [[nodiscard]] std::size_t label_count() const noexcept;  ///< the root has none
  [[nodiscard]] bool is_root() const noexcept { return wire_.size() == 1; }
  /// This name or one above it.
  [[nodiscard]] bool is_below_or_equal(const Name& ancestor) const noexcept;
  /// Without its first label. Precondition: not the root.
  [[nodiscard]] Name parent() const;
  /// "*" put in front; nullopt when the result would be too long.
  [[nodiscard]] std::optional<Name> wildcard_child() const;
  [[nodiscard]] bool is_wildcard() const noexcept;
  /// Presentation form with a dot at the end. In labels everything but letters, digits and - _ * / is escaped (RFC
  /// 1035 section 5.1): \X for . \ " ; ( ) @ $, \DDD for the rest, of which some name servers would refuse much.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Name& a, const Name& b) noexcept;
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) noexcept;

 private:
  friend Result<Name> make_name(std::string wire);
  std::string wire_;
};

/// Wire form without compression, the whole of it. Errors: Errc::bad_name.
[[nodiscard]] Result<Name> make_name(std::string wire);
/// Presentation form, with or without the dot at the end; escapes \. and \DDD. Bytes outside ASCII must be escaped: a
/// name that people write in another script is stored in its xn-- form. Errors: Errc::bad_name.
[[nodiscard]] Result<Name> parse_name(std::string_view text);

}  // namespace hcpnet::dns

template <>
struct std::hash<hcpnet::dns::Name> {
  std::size_t operator()(const hcpnet::dns::Name& name) const noexcept;  ///< ignores ASCII case
};
