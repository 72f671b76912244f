// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/dhcp6/message.hpp>

namespace hcpnet::dhcp6 {
namespace {

Ipv6 read_address(ByteReader& reader) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  std::ranges::copy(reader.bytes(bytes.size()), bytes.begin());
  return Ipv6(bytes);
}

/// RFC 8415 section 9: msg-type u8, hop-count u8, link-address, peer-address, options. Returns the relayed message.
Result<ByteView> parse_relay(ByteView payload, const MessageLimits& limits, RelayHop& out) {
  ByteReader reader(payload);
  reader.skip(1);
  out.hop_count = reader.u8();
  out.link = read_address(reader);
  out.peer = read_address(reader);
  if (!reader.ok()) return Errc::too_short;
  if (out.hop_count > kHopCountLimit) return Errc::too_many_relays;
  const auto options = parse_options(reader.rest(), limits.max_options);
  if (!options) return options.error();
  std::optional<ByteView> inner;
  for (const auto& [code, data] : options->items()) {
    if (code != option::relay_message) {
      out.options.add(code, data);
    } else if (!inner) {
      inner = data;
    }
  }
  if (!inner) return Errc::malformed;
  return *inner;
}

/// RFC 8415 section 8: msg-type u8, transaction-id u24, options.
Result<Message> parse_message(ByteView payload, const MessageLimits& limits) {
  ByteReader reader(payload);
  Message out;
  out.type = static_cast<MessageType>(reader.u8());
  out.transaction_id = reader.u24();
  if (!reader.ok()) return Errc::too_short;
  auto options = parse_options(reader.rest(), limits.max_options);
  if (!options) return options.error();
  out.options = *std::move(options);
  return out;
}

void write_options(OptionWriter& writer, const OptionList& options) {
  for (const auto& [code, data] : options.items()) writer.add(code, data);
}

std::vector<std::uint8_t> wrap(MessageType type, const RelayHop& relay, const OptionList& options, ByteView message) {
  std::vector<std::uint8_t> out = {static_cast<std::uint8_t>(type), relay.hop_count};
  OptionWriter writer(out);
  writer.address(relay.link);
  writer.address(relay.peer);
  write_options(writer, options);
  writer.add(option::relay_message, message);
  return out;
}

}  // namespace

std::string_view to_string(MessageType type) noexcept {
  constexpr std::string_view kNames[] = {"unknown",       "SOLICIT",    "ADVERTISE",   "REQUEST",
                                         "CONFIRM",       "RENEW",      "REBIND",      "REPLY",
                                         "RELEASE",       "DECLINE",    "RECONFIGURE", "INFORMATION-REQUEST",
                                         "RELAY-FORWARD", "RELAY-REPLY"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

std::optional<ByteView> OptionList::find(std::uint16_t code) const noexcept {
  const auto found = std::ranges::find(items_, code, &Item::code);
  if (found == items_.end()) return std::nullopt;
  return found->data;
}

bool operator==(const OptionList& a, const OptionList& b) noexcept {
  return std::ranges::equal(a.items_, b.items_, [](const OptionList::Item& x, const OptionList::Item& y) {
    return x.code == y.code && std::ranges::equal(x.data, y.data);
  });
}

Result<OptionList> parse_options(ByteView bytes, std::size_t max_options) {
  OptionList out;
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    const std::uint16_t code = reader.u16();
    const ByteView data = reader.bytes(reader.u16());
    if (!reader.ok() || out.items().size() >= max_options) return Errc::malformed;
    out.add(code, data);
  }
  return out;
}

Result<Packet> parse_packet(ByteView payload, const MessageLimits& limits) {
  if (payload.size() > limits.max_bytes) return Errc::too_large;
  Packet out;
  while (!payload.empty() && payload.front() == static_cast<std::uint8_t>(MessageType::relay_forward)) {
    if (out.relays.size() >= limits.max_relays) return Errc::too_many_relays;
    const auto inner = parse_relay(payload, limits, out.relays.emplace_back());
    if (!inner) return inner.error();
    payload = *inner;
  }
  auto message = parse_message(payload, limits);
  if (!message) return message.error();
  out.message = *std::move(message);
  return out;
}

std::vector<std::uint8_t> encode_packet(const Packet& packet) {
  const Message& message = packet.message;
  std::vector<std::uint8_t> out = {
      static_cast<std::uint8_t>(message.type), static_cast<std::uint8_t>(message.transaction_id >> 16),
      static_cast<std::uint8_t>(message.transaction_id >> 8), static_cast<std::uint8_t>(message.transaction_id)};
  OptionWriter writer(out);
  write_options(writer, message.options);
  for (auto relay = packet.relays.rbegin(); relay != packet.relays.rend(); ++relay) {
    out = wrap(MessageType::relay_forward, *relay, relay->options, out);
  }
  return out;
}

std::vector<std::uint8_t> wrap_reply(std::span<const RelayHop> relays, std::vector<std::uint8_t> message) {
  for (auto relay = relays.rbegin(); relay != relays.rend(); ++relay) {
    OptionList echoed;
    if (const auto id = relay->options.find(option::interface_id)) echoed.add(option::interface_id, *id);
    message = wrap(MessageType::relay_reply, *relay, echoed, message);
  }
  return message;
}

}  // namespace hcpnet::dhcp6
