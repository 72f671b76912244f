// SPDX-License-Identifier: Apache-2.0
#include "dhcp/reply_builder.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <boost/assert.hpp>
#include <hcpnet/bytes.hpp>
#include <map>
#include <utility>

#include "dhcp/client_fqdn.hpp"
#include "dhcp/relay_information.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::uint16_t kMinMaxMessageSize = 576;  // RFC 2132 section 9.10
constexpr std::size_t kIpUdpBytes = 28;

std::uint32_t to_wire(std::chrono::seconds time) noexcept {
  constexpr std::int64_t kInfinite = 0xFFFFFFFF;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 1, kInfinite));
}

using TimeOption = std::pair<std::uint8_t, std::uint32_t>;  ///< an option and its seconds

/// In the order in which they stand in a reply, behind the type of the message and the server's address.
std::array<TimeOption, 3> times_of(std::chrono::seconds lease_time) noexcept {
  const std::uint32_t seconds = to_wire(lease_time);
  return {TimeOption(option::lease_time, seconds), TimeOption(option::renewal_time, seconds / 2),
          TimeOption(option::rebinding_time, static_cast<std::uint32_t>(std::uint64_t{seconds} * 7 / 8))};
}

/// RFC 3442: a client that takes option 121 ignores option 3, so the default route has to be in both.
std::vector<std::uint8_t> with_default_route(const std::vector<std::uint8_t>& data, Ipv4 router) {
  auto routes = parse_classless_routes(data);
  if (!routes) return data;
  const auto is_default = [](const ClasslessRoute& route) { return route.destination.prefix_length() == 0; };
  if (std::ranges::none_of(*routes, is_default)) routes->insert(routes->begin(), {Ipv4Cidr(), router});
  return encode_classless_routes(*routes);
}

using ByCode = std::map<std::uint8_t, std::vector<std::uint8_t>>;

/// `options` as they are sent, without those that belong to the protocol.
ByCode usable(const std::vector<RawOption>& options, const std::optional<Ipv4>& router) {
  ByCode by_code;
  for (const RawOption& raw : options) {
    if (!is_protocol_option(raw.code)) by_code[raw.code] = raw.data;
  }
  if (const auto routes = by_code.find(option::classless_routes); routes != by_code.end() && router) {
    routes->second = with_default_route(routes->second, *router);
  }
  return by_code;
}

OptionSet to_set(const ByCode& by_code) {
  OptionSet out;
  constexpr std::size_t kMaxOptionBytes = 1024;  // what is larger can't be sent in one message
  for (const auto& [code, data] : by_code) {
    if (data.size() <= kMaxOptionBytes) out.add(code, data);
  }
  return out;
}

OptionSet options_of(const Subnet& subnet) {
  ByCode by_code = usable(subnet.options, subnet.router);
  OptionSet derived;
  derived.add_address(option::subnet_mask, subnet.cidr.mask());
  if (subnet.router) derived.add_address(option::router, *subnet.router);
  if (!subnet.dns_servers.empty()) derived.add_addresses(option::dns_servers, subnet.dns_servers);
  if (!subnet.domain_name.empty()) derived.add_text(option::domain_name, subnet.domain_name);
  for (std::size_t i = 0; i < derived.size(); ++i) {
    by_code.try_emplace(derived[i].code, derived[i].data.begin(), derived[i].data.end());
  }
  return to_set(by_code);
}

/// As much of a text as fits with a final NUL (RFC 2131 section 2).
template <std::size_t N>
void put_text(std::string_view text, std::array<std::uint8_t, N>& out) {
  const ByteView bytes = as_bytes(text.substr(0, N - 1));
  std::ranges::copy(bytes, out.begin());
}

}  // namespace

void set_lease_time(std::chrono::seconds time, std::span<std::uint8_t> packet) noexcept {
  constexpr std::size_t kTimesAt = 240 + 3 + 6;  // header and cookie; options 53 and 54
  BOOST_ASSERT(packet.size() > kTimesAt && packet[kTimesAt] == option::lease_time);
  ByteWriter out(packet.subspan(kTimesAt));
  for (const auto& [code, seconds] : times_of(time)) {
    out.u8(code);
    out.u8(sizeof seconds);
    out.u32(seconds);
  }
}

class ReplyBuilder::Layers {
 public:
  Layers(const ReplyBuilder& builder, const Addressee& client, Ipv4 address) : host_name_(client.host_name) {
    for (std::size_t i = 0; i < builder.classes_.size(); ++i)
      if (client.classes[i]) add(builder.classes_[i].options);
    const auto pool = std::ranges::find_if(builder.pools_, [&](const auto& p) { return p.range.contains(address); });
    if (pool != builder.pools_.end()) add(pool->options);
    add(builder.configured_);
  }

  void put(std::uint8_t code, OptionSet& out) const {
    if (out.contains(code)) return;
    if (code == option::router) put(option::subnet_mask, out);
    for (std::size_t i = 0; i < count_; ++i)
      if (const auto data = sets_[i]->find(code)) return out.add(code, *data);
    if (code == option::host_name && !host_name_.empty()) out.add_text(code, host_name_);
  }
  /// Not Microsoft's copy of 121, which is for those who know it.
  void put_all(OptionSet& out) const {
    constexpr std::size_t kMicrosoftRoutes = 249;
    std::bitset<256> codes;
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = 0; j < sets_[i]->size(); ++j) codes.set((*sets_[i])[j].code);
    for (std::size_t code = 0; code < codes.size(); ++code)
      if (codes[code] && code != kMicrosoftRoutes) put(static_cast<std::uint8_t>(code), out);
  }

 private:
  void add(const OptionSet& set) {
    if (!set.empty()) sets_[count_++] = &set;
  }

  std::string_view host_name_;
  std::array<const OptionSet*, kMaxClientClasses + 2> sets_{};
  std::size_t count_ = 0;
};

ReplyBuilder::ReplyBuilder(const Subnet& subnet, const std::vector<ClientClass>& classes, const ResponderLimits& limits)
    : server_id_(subnet.server_id),
      cidr_(subnet.cidr),
      lease_time_(subnet.lease_time),
      names_domain_(subnet.names_domain),
      limits_(limits),
      configured_(options_of(subnet)),
      boot_(subnet.boot) {
  BOOST_ASSERT(classes.size() <= kMaxClientClasses);
  const bool has_pool_options = std::ranges::any_of(subnet.pools, [](const Pool& p) { return !p.options.empty(); });
  if (has_pool_options)
    for (const Pool& pool : subnet.pools) pools_.push_back({pool.range, to_set(usable(pool.options, subnet.router))});
  for (const ClientClass& one : classes) classes_.push_back({to_set(usable(one.options, subnet.router)), one.boot});
}

Message ReplyBuilder::start(MessageType type, const Message& request) const {
  Message reply;
  reply.op = kBootReply;
  reply.xid = request.xid;
  reply.flags = request.flags & kBroadcastFlag;
  reply.giaddr = request.giaddr;
  std::copy_n(request.chaddr.begin(), reply.hlen, reply.chaddr.begin());
  reply.options.add_u8(option::message_type, static_cast<std::uint8_t>(type));
  reply.options.add_address(option::server_id, server_id_override(request).value_or(server_id_));
  return reply;
}

/// The client identifier (RFC 6842), and the subnet selection, without which a client has to discard the reply (RFC
/// 3011 section 2).
void ReplyBuilder::add_echoed(const Message& request, Message& reply) {
  for (const std::uint8_t code : {option::client_id, option::subnet_selection})
    if (const auto data = request.options.find(code)) reply.options.add(code, *data);
}

/// RFC 4702 section 4: whoever sends the option gets it, with what became of the name. We publish what we publish,
/// whatever the client wants: then S is set, and the name is the one in our DNS; else the client hears its own name.
void ReplyBuilder::add_fqdn(const Message& request, std::string_view label, Message& reply) const {
  const auto data = request.options.find(option::client_fqdn);
  const auto asked = data ? parse_client_fqdn(*data) : std::nullopt;
  if (!asked) return;
  const bool is_published = !names_domain_.empty() && !label.empty();
  const bool is_wanted = (asked->flags & fqdn_flag::server_updates) != 0;
  std::uint8_t flags = asked->flags & fqdn_flag::encoded;
  flags |= is_published ? fqdn_flag::server_updates : fqdn_flag::no_updates;
  if (is_published != is_wanted) flags |= fqdn_flag::overridden;
  reply.options.add(option::client_fqdn, is_published
                                             ? encode_client_fqdn({flags, std::string(label) + '.' + names_domain_})
                                             : echo_client_fqdn(*data, flags));
}

/// Each field by itself: the first class that has it, else the subnet.
void ReplyBuilder::add_boot(const ClassSet& classes, Message& reply) const {
  Boot boot;
  const auto fill = [&boot](const Boot& from) {
    if (boot.next_server.is_unspecified()) boot.next_server = from.next_server;
    if (boot.server_host_name.empty()) boot.server_host_name = from.server_host_name;
    if (boot.file.empty()) boot.file = from.file;
  };
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (classes[i]) fill(classes_[i].boot);
  fill(boot_);
  reply.siaddr = boot.next_server;
  put_text(boot.server_host_name, reply.sname);
  put_text(boot.file, reply.file);
}

std::optional<Reply> ReplyBuilder::give(MessageType type, const Message& request, Ipv4 address, const Addressee& client,
                                        std::size_t& omitted) const {
  Message reply = start(type, request);
  reply.yiaddr = address;
  add_boot(client.classes, reply);
  if (type == MessageType::ack) reply.ciaddr = request.ciaddr;
  for (const auto& [code, seconds] : times_of(lease_time_)) reply.options.add_u32(code, seconds);
  add_echoed(request, reply);
  const std::size_t mandatory = reply.options.size();
  add_fqdn(request, client.label, reply);
  add_requested(request, Layers(*this, client, address), reply.options);
  return finish(type, request, std::move(reply), mandatory, omitted);
}

std::optional<Reply> ReplyBuilder::inform(const Message& request, const Addressee& client, std::size_t& omitted) const {
  Message reply = start(MessageType::ack, request);
  add_boot(client.classes, reply);
  reply.ciaddr = request.ciaddr;
  add_echoed(request, reply);
  const std::size_t mandatory = reply.options.size();
  add_requested(request, Layers(*this, client, request.ciaddr), reply.options);
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

void ReplyBuilder::add_requested(const Message& request, const Layers& layers, OptionSet& out) {
  const auto list = request.options.find(option::parameter_list);
  if (list && !list->empty()) {
    for (const std::uint8_t code : *list) layers.put(code, out);
    return;
  }
  for (const std::uint8_t code :
       {option::subnet_mask, option::router, option::dns_servers, option::host_name, option::domain_name}) {
    layers.put(code, out);
  }
  layers.put_all(out);
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
  } else if (cidr_.is_host(request.ciaddr)) {  // elsewhere a stranger would choose whom we send to
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
