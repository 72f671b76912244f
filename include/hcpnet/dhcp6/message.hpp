// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// DHCPv6 (RFC 8415): messages, the relays they came through, and the options that the server reads and writes.
namespace hcpnet::dhcp6 {

using dhcp::Errc;

inline constexpr std::uint16_t kServerPort = 547;
inline constexpr std::uint16_t kClientPort = 546;
/// RFC 8415 section 7.6: no relay passes on what has this hop count already.
inline constexpr std::uint8_t kHopCountLimit = 8;

/// RFC 8415 section 7.3.
enum class MessageType : std::uint8_t {
  solicit = 1,
  advertise,
  request,
  confirm,
  renew,
  rebind,
  reply,
  release,
  decline,
  reconfigure,
  information_request,
  relay_forward,
  relay_reply,
};
/// "SOLICIT", "INFORMATION-REQUEST", ...; "unknown" for a type that RFC 8415 has not.
[[nodiscard]] std::string_view to_string(MessageType type) noexcept;

/// RFC 8415 section 21.13.
enum class Status : std::uint16_t {
  success,
  unspec_fail,
  no_addrs_avail,
  no_binding,
  not_on_link,
  use_multicast,
  no_prefix_avail,
};

/// Option codes (RFC 8415 section 21 unless noted).
namespace option {
inline constexpr std::uint16_t client_id = 1;
inline constexpr std::uint16_t server_id = 2;
inline constexpr std::uint16_t ia_na = 3;
inline constexpr std::uint16_t ia_ta = 4;
inline constexpr std::uint16_t ia_address = 5;
inline constexpr std::uint16_t option_request = 6;
inline constexpr std::uint16_t preference = 7;
inline constexpr std::uint16_t relay_message = 9;
inline constexpr std::uint16_t status_code = 13;
inline constexpr std::uint16_t rapid_commit = 14;
inline constexpr std::uint16_t interface_id = 18;
inline constexpr std::uint16_t dns_servers = 23;  // RFC 3646
inline constexpr std::uint16_t domain_list = 24;  // RFC 3646
inline constexpr std::uint16_t ia_pd = 25;
inline constexpr std::uint16_t information_refresh_time = 32;
inline constexpr std::uint16_t client_link_layer = 79;  // RFC 6939
}  // namespace option

/// The options of one message or of one option, in their order, repeated ones included. Views of the bytes that were
/// parsed, which must outlive it.
class OptionList {
 public:
  struct Item {
    std::uint16_t code = 0;
    ByteView data;
  };

  void add(std::uint16_t code, ByteView data) { items_.push_back({code, data}); }
  /// The first of this code.
  [[nodiscard]] std::optional<ByteView> find(std::uint16_t code) const noexcept;
  [[nodiscard]] bool contains(std::uint16_t code) const noexcept { return find(code).has_value(); }
  [[nodiscard]] std::span<const Item> items() const noexcept { return items_; }
  friend bool operator==(const OptionList& a, const OptionList& b) noexcept;

 private:
  std::vector<Item> items_;
};

struct MessageLimits {
  std::size_t max_bytes = 4096;                 ///< UDP payload
  std::size_t max_relays = kHopCountLimit + 1;  ///< the hop counts 0 to 8
  std::size_t max_options = 256;                ///< in one message, or in one option that holds options
};

/// RFC 8415 section 8.
struct Message {
  MessageType type = MessageType::solicit;
  std::uint32_t transaction_id = 0;  ///< 24 bits
  OptionList options;
  friend bool operator==(const Message&, const Message&) = default;
};

/// One relay that a message came through (RFC 8415 section 9).
struct RelayHop {
  std::uint8_t hop_count = 0;
  Ipv6 link;           ///< tells the client's link; unspecified: the relay does not say
  Ipv6 peer;           ///< the client, or the relay before this one
  OptionList options;  ///< without the relayed message
  friend bool operator==(const RelayHop&, const RelayHop&) = default;
};

/// What one datagram holds. Views of its bytes.
struct Packet {
  std::vector<RelayHop> relays;  ///< outermost first, the one beside the client last; empty: sent by the client itself
  Message message;
  friend bool operator==(const Packet&, const Packet&) = default;
};

/// Reads a UDP payload: a client's message, or one inside Relay-forward messages.
///
/// Errors: too_short, too_large, malformed (an option's length disagrees, a relay message without a message, more
/// options than the limit), too_many_relays (deeper than the limit, or a hop count above kHopCountLimit). Throws only
/// std::bad_alloc. Thread-safe.
[[nodiscard]] Result<Packet> parse_packet(ByteView payload, const MessageLimits& limits = {});

/// Options one after the other until the end. Errors: malformed.
[[nodiscard]] Result<OptionList> parse_options(ByteView bytes, std::size_t max_options = MessageLimits{}.max_options);

/// Writes options at the end of a buffer.
class OptionWriter {
 public:
  explicit OptionWriter(std::vector<std::uint8_t>& out) noexcept : out_(out) {}

  /// Precondition: less than 64 KiB.
  void add(std::uint16_t code, ByteView data);
  void add_u8(std::uint16_t code, std::uint8_t value) { add(code, ByteView(&value, 1)); }
  void add_u32(std::uint16_t code, std::uint32_t value);
  void add_addresses(std::uint16_t code, std::span<const Ipv6> addresses);
  void add_status(Status status, std::string_view text);
  /// An option that holds what `body` writes. Precondition: less than 64 KiB.
  template <class Body>
  void nest(std::uint16_t code, Body body) {
    const std::size_t start = open(code);
    body();
    close(start);
  }
  void u32(std::uint32_t value);
  void address(const Ipv6& address) { bytes(address.bytes()); }
  void bytes(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

 private:
  std::size_t open(std::uint16_t code);
  void close(std::size_t start);
  void u16(std::uint16_t value);

  std::vector<std::uint8_t>& out_;
};

/// The packet as it was before parse_packet(): the relayed message is the last option of each relay.
[[nodiscard]] std::vector<std::uint8_t> encode_packet(const Packet& packet);
/// A server's message on its way back: in Relay-reply messages through the same relays, with hop count, addresses and
/// interface identifier of each (RFC 8415 section 19.3).
[[nodiscard]] std::vector<std::uint8_t> wrap_reply(std::span<const RelayHop> relays, std::vector<std::uint8_t> message);

struct IaAddress {
  Ipv6 address;
  std::uint32_t preferred = 0, valid = 0;  ///< seconds
  friend bool operator==(const IaAddress&, const IaAddress&) = default;
};
/// RFC 8415 section 21.4.
struct IaNa {
  std::uint32_t iaid = 0;
  std::uint32_t t1 = 0, t2 = 0;  ///< seconds
  std::vector<IaAddress> addresses;
  std::optional<Status> status;
  friend bool operator==(const IaNa&, const IaNa&) = default;
};
/// The data of option 3. Errors: malformed.
[[nodiscard]] Result<IaNa> parse_ia_na(ByteView data, std::size_t max_options = MessageLimits{}.max_options);

/// The data of option 24, never compressed (RFC 8415 section 10). Errors: malformed for what is no host name.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode_domain_list(std::span<const std::string> names);
/// Reads names that end with a root label. A pointer to an earlier byte of the option is followed, since servers in the
/// field compress; what points forward, or makes a name longer than 253 bytes, is malformed. Labels keep their bytes,
/// joined by dots.
[[nodiscard]] Result<std::vector<std::string>> parse_domain_list(ByteView data);

}  // namespace hcpnet::dhcp6
