// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// DHCP options: the set that a message carries, and the values of those that need more than bytes.
namespace hcpnet::dhcp {

/// Options that the server itself reads or writes (RFC 2132 unless noted).
namespace option {
inline constexpr std::uint8_t pad = 0;
inline constexpr std::uint8_t subnet_mask = 1;
inline constexpr std::uint8_t router = 3;
inline constexpr std::uint8_t dns_servers = 6;
inline constexpr std::uint8_t host_name = 12;
inline constexpr std::uint8_t domain_name = 15;
inline constexpr std::uint8_t requested_address = 50;
inline constexpr std::uint8_t lease_time = 51;
inline constexpr std::uint8_t overload = 52;
inline constexpr std::uint8_t message_type = 53;
inline constexpr std::uint8_t server_id = 54;
inline constexpr std::uint8_t parameter_list = 55;
inline constexpr std::uint8_t message_text = 56;
inline constexpr std::uint8_t max_message_size = 57;
inline constexpr std::uint8_t renewal_time = 58;
inline constexpr std::uint8_t rebinding_time = 59;
inline constexpr std::uint8_t vendor_class = 60;
inline constexpr std::uint8_t client_id = 61;
inline constexpr std::uint8_t user_class = 77;           // RFC 3004
inline constexpr std::uint8_t client_fqdn = 81;          // RFC 4702
inline constexpr std::uint8_t relay_information = 82;    // RFC 3046
inline constexpr std::uint8_t client_architecture = 93;  // RFC 4578
inline constexpr std::uint8_t subnet_selection = 118;    // RFC 3011
inline constexpr std::uint8_t domain_search = 119;       // RFC 3397
inline constexpr std::uint8_t classless_routes = 121;    // RFC 3442
inline constexpr std::uint8_t end = 255;
}  // namespace option

/// True for codes whose value the protocol decides at each reply; configuration can't set them.
[[nodiscard]] bool is_protocol_option(std::uint8_t code) noexcept;

/// The options of one message, each code once (RFC 3396 pieces joined), in order of first appearance. Unknown codes are
/// kept. Owns its bytes. Views returned by find() and operator[] live until the next change.
class OptionSet {
 public:
  struct Item {
    std::uint8_t code;
    ByteView data;
  };

  /// Appends; a code that is there already gets the bytes added to its end. Preconditions: code is 1 to 254; less than
  /// 64 KiB in all.
  void add(std::uint8_t code, ByteView data);
  void add_u8(std::uint8_t code, std::uint8_t value);
  void add_u16(std::uint8_t code, std::uint16_t value);
  void add_u32(std::uint8_t code, std::uint32_t value);
  void add_address(std::uint8_t code, Ipv4 value) { add_u32(code, value.value()); }
  void add_addresses(std::uint8_t code, std::span<const Ipv4> values);
  void add_text(std::uint8_t code, std::string_view value) { add(code, as_bytes(value)); }

  [[nodiscard]] std::optional<ByteView> find(std::uint8_t code) const noexcept;
  [[nodiscard]] bool contains(std::uint8_t code) const noexcept { return find(code).has_value(); }
  /// The value of an option of exactly that size; nullopt when absent or of another size.
  [[nodiscard]] std::optional<std::uint8_t> find_u8(std::uint8_t code) const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> find_u16(std::uint8_t code) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> find_u32(std::uint8_t code) const noexcept;
  [[nodiscard]] std::optional<Ipv4> find_address(std::uint8_t code) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Precondition: index < size().
  [[nodiscard]] Item operator[](std::size_t index) const noexcept;
  friend bool operator==(const OptionSet& a, const OptionSet& b) noexcept;

 private:
  struct Entry {
    std::uint8_t code;
    std::uint16_t offset;
    std::uint16_t size;
  };
  [[nodiscard]] ByteView view(const Entry& entry) const noexcept {
    return ByteView(data_).subspan(entry.offset, entry.size);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint8_t> data_;
};

/// The client identifier (option 61) that a hardware address stands for: its type, 1 for Ethernet, and the address (RFC
/// 2132 section 9.14).
[[nodiscard]] std::string make_client_id(const MacAddress& mac);

/// One route of option 121.
struct ClasslessRoute {
  Ipv4Cidr destination;
  Ipv4 router;  ///< 0.0.0.0: on link
  friend bool operator==(const ClasslessRoute&, const ClasslessRoute&) = default;
};
/// RFC 3442: prefix length, the significant octets of the destination, the router; again and again.
[[nodiscard]] std::vector<std::uint8_t> encode_classless_routes(std::span<const ClasslessRoute> routes);
/// Host bits of a destination are cleared, as clients do. Errors: Errc::malformed.
[[nodiscard]] Result<std::vector<ClasslessRoute>> parse_classless_routes(ByteView data);

/// RFC 3397: names in wire form, compressed against one another. A name that is no host name (empty label, label over
/// 63, name over 253 bytes) makes it Errc::malformed.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode_domain_search(std::span<const std::string> names);

/// A client's host name (option 12) made a DNS label: up to the first dot, trailing NULs dropped, lower case, what is
/// neither letter, digit nor '-' becomes '-', '-' trimmed at both ends, cut at 63 bytes. Empty when nothing useful
/// remains, for "localhost" and for digits only.
[[nodiscard]] std::string make_host_label(ByteView name);

}  // namespace hcpnet::dhcp
