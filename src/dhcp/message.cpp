// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/message.hpp>

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kHeaderBytes = 236;
constexpr std::uint32_t kMagicCookie = 0x63825363;
constexpr std::size_t kMaxUdpBytes = 0xFFFF;  // what OptionSet holds
constexpr std::uint8_t kOptionsInFile = 1;
constexpr std::uint8_t kOptionsInSname = 2;

template <std::size_t size>
void read_array(ByteReader& reader, std::array<std::uint8_t, size>& out) noexcept {
  const ByteView bytes = reader.bytes(size);
  std::copy_n(bytes.begin(), bytes.size(), out.begin());
}

void read_header(ByteReader& reader, Message& out) noexcept {
  out.op = reader.u8();
  out.htype = reader.u8();
  out.hlen = reader.u8();
  out.hops = reader.u8();
  out.xid = reader.u32();
  out.secs = reader.u16();
  out.flags = reader.u16();
  out.ciaddr = Ipv4(reader.u32());
  out.yiaddr = Ipv4(reader.u32());
  out.siaddr = Ipv4(reader.u32());
  out.giaddr = Ipv4(reader.u32());
  read_array(reader, out.chaddr);
  read_array(reader, out.sname);
  read_array(reader, out.file);
}

/// Reads the options of one field after the other into one set. Option 52 says where options are and is none itself.
class OptionReader {
 public:
  explicit OptionReader(OptionSet& out) noexcept : out_(out) {}

  /// RFC 2132 section 2: { code u8, length u8, data } with single bytes 0 (pad) and 255 (end). False when a length
  /// passes the end.
  bool read(ByteView field) {
    ByteReader reader(field);
    ++fields_;
    while (reader.remaining() > 0) {
      const std::uint8_t code = reader.u8();
      if (code == option::pad) continue;
      if (code == option::end) return true;
      const ByteView data = reader.bytes(reader.u8());
      if (!reader.ok()) return false;
      if (code == option::overload) {
        on_overload(data);
      } else {
        out_.add(code, data);
      }
    }
    return true;
  }
  /// Which of file and sname hold options: a mask, 0 where option 52 is absent or wrong.
  [[nodiscard]] std::uint8_t overload() const noexcept {
    return overload_ <= (kOptionsInFile | kOptionsInSname) ? overload_ : 0;
  }

 private:
  void on_overload(ByteView data) noexcept {
    if (fields_ > 1) return;  // RFC 2131 section 4.1 knows it in the options field only
    overload_ = data.size() == 1 ? data.front() : std::uint8_t{0};
  }

  OptionSet& out_;
  int fields_ = 0;
  std::uint8_t overload_ = 0;
};

}  // namespace

std::string_view to_string(MessageType type) noexcept {
  constexpr std::array<std::string_view, 9> names = {"",    "DISCOVER", "OFFER",   "REQUEST", "DECLINE",
                                                     "ACK", "NAK",      "RELEASE", "INFORM"};
  return names[static_cast<std::size_t>(type)];
}

std::optional<MessageType> Message::type() const noexcept {
  const std::uint8_t value = options.find_u8(option::message_type).value_or(0);
  if (value < static_cast<std::uint8_t>(MessageType::discover)) return std::nullopt;
  if (value > static_cast<std::uint8_t>(MessageType::inform)) return std::nullopt;
  return static_cast<MessageType>(value);
}

std::optional<MacAddress> Message::mac() const noexcept {
  std::array<std::uint8_t, 6> bytes{};
  if (htype != kEthernet || hlen != bytes.size()) return std::nullopt;
  std::copy_n(chaddr.begin(), bytes.size(), bytes.begin());
  return MacAddress(bytes);
}

Result<Message> parse_message(ByteView payload, const MessageLimits& limits) {
  if (payload.size() > std::min(limits.max_bytes, kMaxUdpBytes)) return Errc::too_large;
  if (payload.size() < kHeaderBytes + sizeof kMagicCookie) return Errc::too_short;
  Message message;
  ByteReader reader(payload);
  read_header(reader, message);
  if (reader.u32() != kMagicCookie) return Errc::no_cookie;
  OptionReader options(message.options);
  if (!options.read(reader.rest())) return Errc::malformed;
  if ((options.overload() & kOptionsInFile) != 0) {
    if (!options.read(message.file)) return Errc::malformed;
    message.file = {};
  }
  if ((options.overload() & kOptionsInSname) != 0) {
    if (!options.read(message.sname)) return Errc::malformed;
    message.sname = {};
  }
  return message;
}

}  // namespace hcpnet::dhcp
