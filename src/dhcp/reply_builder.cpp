// SPDX-License-Identifier: Apache-2.0
#include "dhcp/reply_builder.hpp"

#include <algorithm>
#include <map>

namespace hcpnet::dhcp {
namespace {

constexpr std::uint16_t kMinMaxMessageSize = 576;  // RFC 2132 section 9.10
constexpr std::size_t kIpUdpBytes = 28;

std::uint32_t to_wire(std::chrono::seconds time) noexcept {
  constexpr std::int64_t kInfinite = 0xFFFFFFFF;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 1, kInfinite));
}

/// RFC 3442: a client that takes option 121 ignores option 3, so the default route has to be in both.
std::vector<std::uint8_t> with_default_route(const std::vector<std::uint8_t>& data, Ipv4 router) {
  auto routes = parse_classless_routes(data);
  if (!routes) return data;
  const auto is_default = [](const ClasslessRoute& route) { return route.destination.prefix_length() == 0; };
  if (std::ranges::none_of(*routes, is_default)) routes->insert(routes->begin(), {Ipv4Cidr(), router});
  return encode_classless_routes(*routes);
}

OptionSet configured_options(const Subnet& subnet) {
  std::map<std::uint8_t, std::vector<std::uint8_t>> by_code;
  for (const RawOption& raw : subnet.options) {
    if (!is_protocol_option(raw.code)) by_code[raw.code] = raw.data;
  }
  if (const auto routes = by_code.find(option::classless_routes); routes != by_code.end() && subnet.router) {
    routes->second = with_default_route(routes->second, *subnet.router);
  }
  OptionSet derived;
  derived.add_address(option::subnet_mask, subnet.cidr.mask());
  if (subnet.router) derived.add_address(option::router, *subnet.router);
  if (!subnet.dns_servers.empty()) derived.add_addresses(option::dns_servers, subnet.dns_servers);
  if (!subnet.domain_name.empty()) derived.add_text(option::domain_name, subnet.domain_name);
  for (std::size_t i = 0; i < derived.size(); ++i) {
    by_code.try_emplace(derived[i].code, derived[i].data.begin(), derived[i].data.end());
  }
  OptionSet out;
  constexpr std::size_t kMaxOptionBytes = 1024;  // what is larger can't be sent in one message
  for (const auto& [code, data] : by_code) {
    if (data.size() <= kMaxOptionBytes) out.add(code, data);
  }
  return out;
}

}  // namespace

ReplyBuilder::ReplyBuilder(const Subnet& subnet, const ResponderLimits& limits)
    : server_id_(subnet.server_id),
      lease_time_(subnet.lease_time),
      limits_(limits),
      configured_(configured_options(subnet)) {}

Message ReplyBuilder::start(MessageType type, const Message& request) const {
  Message reply;
  reply.op = kBootReply;
  reply.xid = request.xid;
  reply.flags = request.flags & kBroadcastFlag;
  reply.giaddr = request.giaddr;
  std::copy_n(request.chaddr.begin(), reply.hlen, reply.chaddr.begin());
  reply.options.add_u8(option::message_type, static_cast<std::uint8_t>(type));
  reply.options.add_address(option::server_id, server_id_);
  return reply;
}

std::optional<Reply> ReplyBuilder::give(MessageType type, const Message& request, Ipv4 address,
                                        std::string_view host_name, std::size_t& omitted) const {
  Message reply = start(type, request);
  reply.yiaddr = address;
  if (type == MessageType::ack) reply.ciaddr = request.ciaddr;
  const std::uint32_t seconds = to_wire(lease_time_);
  reply.options.add_u32(option::lease_time, seconds);
  reply.options.add_u32(option::renewal_time, seconds / 2);
  reply.options.add_u32(option::rebinding_time, static_cast<std::uint32_t>(std::uint64_t{seconds} * 7 / 8));
  if (const auto id = request.options.find(option::client_id)) reply.options.add(option::client_id, *id);
  const std::size_t mandatory = reply.options.size();
  add_requested(request, host_name, reply.options);
  return finish(type, request, std::move(reply), mandatory, omitted);
}

std::optional<Reply> ReplyBuilder::inform(const Message& request, std::string_view host_name,
                                          std::size_t& omitted) const {
  Message reply = start(MessageType::ack, request);
  reply.ciaddr = request.ciaddr;
  if (const auto id = request.options.find(option::client_id)) reply.options.add(option::client_id, *id);
  const std::size_t mandatory = reply.options.size();
  add_requested(request, host_name, reply.options);
  auto out = finish(MessageType::ack, request, std::move(reply), mandatory, omitted);
  if (out) {  // RFC 2131 section 4.3.5: to ciaddr, also where a relay passed it on
    out->delivery = Delivery::address;
    out->destination = {request.ciaddr, kClientPort};
  }
  return out;
}

std::optional<Reply> ReplyBuilder::refuse(const Message& request, std::string_view reason) const {
  Message reply = start(MessageType::nak, request);
  // Section 4.3.2: the relay must broadcast it, since the client has no address that would be right.
  if (!request.giaddr.is_unspecified()) reply.flags |= kBroadcastFlag;
  if (const auto id = request.options.find(option::client_id)) reply.options.add(option::client_id, *id);
  const std::size_t mandatory = reply.options.size();
  reply.options.add_text(option::message_text, reason);
  std::size_t omitted = 0;
  auto out = finish(MessageType::nak, request, std::move(reply), mandatory, omitted);
  if (out && request.giaddr.is_unspecified()) {
    out->delivery = Delivery::broadcast;
    out->destination = {Ipv4(255, 255, 255, 255), kClientPort};
  }
  return out;
}

void ReplyBuilder::add_configured(std::uint8_t code, std::string_view host_name, OptionSet& out) const {
  if (out.contains(code)) return;
  if (code == option::router) add_configured(option::subnet_mask, host_name, out);
  if (const auto data = configured_.find(code)) return out.add(code, *data);
  if (code == option::host_name && !host_name.empty()) out.add_text(code, host_name);
}

void ReplyBuilder::add_requested(const Message& request, std::string_view host_name, OptionSet& out) const {
  const auto list = request.options.find(option::parameter_list);
  if (list && !list->empty()) {
    for (const std::uint8_t code : *list) add_configured(code, host_name, out);
    return;
  }
  for (const std::uint8_t code :
       {option::subnet_mask, option::router, option::dns_servers, option::host_name, option::domain_name}) {
    add_configured(code, host_name, out);
  }
  for (std::size_t i = 0; i < configured_.size(); ++i) add_configured(configured_[i].code, host_name, out);
}

/// Bytes that the client takes. Option 57 counts IP and UDP headers.
std::size_t ReplyBuilder::room(const Message& request) const noexcept {
  const auto size = request.options.find_u16(option::max_message_size);
  if (!size) return limits_.default_reply_bytes;
  return std::min(limits_.max_reply_bytes, std::max(*size, kMinMaxMessageSize) - kIpUdpBytes);
}

std::optional<Reply> ReplyBuilder::finish(MessageType type, const Message& request, Message&& reply,
                                          std::size_t mandatory, std::size_t& omitted) const {
  if (const auto relay = request.options.find(option::relay_information))
    reply.options.add(option::relay_information, *relay);
  Reply out{.type = type, .packet = std::vector<std::uint8_t>(room(request)), .source = server_id_};
  auto encoded = encode_message(reply, mandatory, out.packet);
  if (!encoded) {  // what must be echoed is larger than usual: the sender took that size himself
    out.packet.resize(limits_.max_reply_bytes);
    encoded = encode_message(reply, mandatory, out.packet);
    if (!encoded) return std::nullopt;
  }
  out.packet.resize(encoded->size_bytes);
  omitted = encoded->omitted_options;

  if (!request.giaddr.is_unspecified()) {
    out.delivery = Delivery::relay;
    out.destination = {request.giaddr, kServerPort};
  } else if (!request.ciaddr.is_unspecified()) {
    out.delivery = Delivery::address;
    out.destination = {request.ciaddr, kClientPort};
  } else if ((request.flags & kBroadcastFlag) != 0) {
    out.delivery = Delivery::broadcast;
    out.destination = {Ipv4(255, 255, 255, 255), kClientPort};
  } else {
    out.delivery = Delivery::hardware;
    out.destination = {reply.yiaddr, kClientPort};
    out.hardware = request.mac().value_or(MacAddress());
  }
  return out;
}

}  // namespace hcpnet::dhcp
