// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/options.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <span>
#include <string_view>

namespace hcpnet::dhcp {

inline constexpr std::uint16_t kServerPort = 67;
inline constexpr std::uint16_t kClientPort = 68;

inline constexpr std::uint8_t kBootRequest = 1;
inline constexpr std::uint8_t kBootReply = 2;
inline constexpr std::uint8_t kEthernet = 1;             ///< htype (RFC 1700)
inline constexpr std::uint16_t kBroadcastFlag = 0x8000;  ///< flags; the other bits must be zero and are ignored

/// RFC 951 expects at least this; some clients and relays drop what is shorter.
inline constexpr std::size_t kMinMessageBytes = 300;

/// Option 53 (RFC 2132 section 9.6).
enum class MessageType : std::uint8_t { discover = 1, offer, request, decline, ack, nak, release, inform };
/// "DISCOVER", "OFFER", ...
[[nodiscard]] std::string_view to_string(MessageType type) noexcept;

struct MessageLimits {
  std::size_t max_bytes = 2048;  ///< UDP payload; more than an Ethernet frame holds
};

/// A DHCP message (RFC 2131 section 2). Fields in host order. `sname` and `file` hold text only where they don't hold
/// options.
struct Message {
  std::uint8_t op = kBootRequest;
  std::uint8_t htype = kEthernet;
  std::uint8_t hlen = 6;
  std::uint8_t hops = 0;
  std::uint32_t xid = 0;
  std::uint16_t secs = 0;
  std::uint16_t flags = 0;
  Ipv4 ciaddr;  ///< the client's address, where it has one that it may use
  Ipv4 yiaddr;  ///< "your" address: what the server gives
  Ipv4 siaddr;  ///< next server of the boot process
  Ipv4 giaddr;  ///< relay agent
  std::array<std::uint8_t, 16> chaddr{};
  std::array<std::uint8_t, 64> sname{};
  std::array<std::uint8_t, 128> file{};
  OptionSet options;  ///< without option 52, which belongs to the wire form

  /// Option 53; nullopt when it is absent, not one byte, or not of RFC 2131.
  [[nodiscard]] std::optional<MessageType> type() const noexcept;
  /// The first six bytes of chaddr; nullopt when the hardware is not Ethernet. Bytes past hlen are never looked at.
  [[nodiscard]] std::optional<MacAddress> mac() const noexcept;
  friend bool operator==(const Message&, const Message&) = default;
};

/// Reads a UDP payload.
///
/// The pieces of an option are joined in the order options field, file, sname (RFC 3396 section 5; RFC 2131
/// section 4.1). A missing end option is forgiven, what follows it is ignored. An overload option of a wrong value, or
/// one inside file or sname, is ignored. Errors: too_short, too_large, no_cookie, malformed. Throws only
/// std::bad_alloc. Thread-safe.
[[nodiscard]] Result<Message> parse_message(ByteView payload, const MessageLimits& limits = {});

struct EncodedMessage {
  std::size_t size_bytes = 0;       ///< of the buffer; at least kMinMessageBytes
  std::size_t omitted_options = 0;  ///< did not fit; those after `mandatory` only
};

/// Writes a message into `buffer`, no longer than the buffer is; padded with zeros to kMinMessageBytes.
///
/// Options keep their order, except that option 82 stands last in the options field (RFC 3046 section 2.1 wants it
/// last). Where they are more than the options field holds, file and then sname take whole options (overload, RFC 2132
/// section 9.3), if the message uses neither for text. The first `mandatory` options and option 82 must fit, or it is
/// Errc::no_room; any other that fits nowhere is left out.
[[nodiscard]] Result<EncodedMessage> encode_message(const Message& message, std::size_t mandatory,
                                                    std::span<std::uint8_t> buffer);

}  // namespace hcpnet::dhcp
