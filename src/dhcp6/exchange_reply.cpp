// SPDX-License-Identifier: Apache-2.0
// The reply of an exchange: RFC 8415 section 18.3.
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <utility>

#include "dhcp6/exchange.hpp"

namespace hcpnet::dhcp6 {
namespace {

constexpr std::uint32_t kInfinite = 0xFFFFFFFF;

std::uint32_t to_wire(std::chrono::seconds time) noexcept {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 1, kInfinite));
}

/// T1 and T2 are half and four fifths of the lifetime (section 21.4).
std::pair<std::uint32_t, std::uint32_t> renewal_times(std::uint32_t lifetime) noexcept {
  if (lifetime == kInfinite) return {kInfinite, kInfinite};
  return {lifetime / 2, static_cast<std::uint32_t>(std::uint64_t{lifetime} * 4 / 5)};
}

void put_pair(std::uint32_t first, std::uint32_t second, std::span<std::uint8_t> place) noexcept {
  ByteWriter out(place);
  out.u32(first);
  out.u32(second);
}

std::string_view text_of(Status status) noexcept {
  switch (status) {
    case Status::no_addrs_avail:
      return "no address is left";
    case Status::no_binding:
      return "no such binding";
    case Status::not_on_link:
      return "not on this link";
    case Status::no_prefix_avail:
      return "no prefixes here";
    default:
      return "";
  }
}

}  // namespace

void set_lifetime(std::chrono::seconds lifetime, const GivenAddress& given, std::vector<std::uint8_t>& packet) {
  const std::uint32_t seconds = to_wire(lifetime);
  const auto times = renewal_times(seconds);
  put_pair(times.first, times.second, std::span(packet).last(given.times));
  put_pair(seconds, seconds, std::span(packet).last(given.lifetimes));
}

void Exchange::begin(MessageType type) {
  reply_type_ = type;
  reply_ = {static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(message_.transaction_id >> 16),
            static_cast<std::uint8_t>(message_.transaction_id >> 8),
            static_cast<std::uint8_t>(message_.transaction_id)};
  OptionWriter writer(reply_);
  writer.add(option::server_id, config_.server_id.bytes());
  if (sender_) writer.add(option::client_id, sender_->duid.bytes());
}

/// T1 and T2 are zero where there is nothing to renew.
void Exchange::add_answer(const Answer& answer) {
  OptionWriter writer(reply_);
  const std::uint32_t lifetime = to_wire(subnet_.lease_time);
  const auto times = renewal_times(lifetime);
  const auto add_address = [&](const Ipv6& address, std::uint32_t seconds) {
    std::size_t lifetimes_at = 0;
    writer.nest(option::ia_address, [&] {
      writer.address(address);
      lifetimes_at = reply_.size();
      writer.u32(seconds);
      writer.u32(seconds);
    });
    return lifetimes_at;
  };
  writer.nest(option::ia_na, [&] {
    writer.u32(answer.iaid);
    const std::size_t times_at = reply_.size();
    writer.u32(answer.given ? times.first : 0);
    writer.u32(answer.given ? times.second : 0);
    if (answer.given) given_.push_back({*answer.given, times_at, add_address(*answer.given, lifetime)});
    for (const Ipv6& address : answer.ended) add_address(address, 0);
    if (answer.status) writer.add_status(*answer.status, text_of(*answer.status));
  });
}

/// Temporary addresses and prefixes are not given out, and the client is told so for each association it asked for.
void Exchange::add_refused_kinds() {
  OptionWriter writer(reply_);
  std::size_t count = 0;
  for (const auto& [code, data] : message_.options.items()) {
    const bool is_prefix = code == option::ia_pd;
    if ((!is_prefix && code != option::ia_ta) || data.size() < 4 || count++ == limits_.max_associations) continue;
    const Status status = is_prefix ? Status::no_prefix_avail : Status::no_addrs_avail;
    writer.nest(code, [&] {
      writer.bytes(data.first(4));
      if (is_prefix) {
        writer.u32(0);
        writer.u32(0);
      }
      writer.add_status(status, text_of(status));
    });
  }
}

/// Option 6 tells what the client wants; who sends none gets everything (section 21.7).
bool Exchange::is_wanted(std::uint16_t code) const {
  const auto wanted = message_.options.find(option::option_request);
  if (!wanted) return true;
  ByteReader reader(*wanted);
  while (reader.remaining() >= 2) {
    if (reader.u16() == code) return true;
  }
  return false;
}

void Exchange::add_configuration() {
  OptionWriter writer(reply_);
  if (!subnet_.dns_servers.empty() && is_wanted(option::dns_servers))
    writer.add_addresses(option::dns_servers, subnet_.dns_servers);
  if (!subnet_.domain_search.empty() && is_wanted(option::domain_list)) {
    if (const auto names = encode_domain_list(subnet_.domain_search)) writer.add(option::domain_list, *names);
  }
  const bool is_information = message_.type == MessageType::information_request;
  if (is_information && is_wanted(option::information_refresh_time)) {
    constexpr std::chrono::seconds kLeast{600};  // section 21.23
    writer.add_u32(option::information_refresh_time, to_wire(std::max(subnet_.lease_time, kLeast)));
  }
}

void Exchange::status_only(Status status, std::string_view text) {
  begin(MessageType::reply);
  OptionWriter(reply_).add_status(status, text);
  finish();
}

void Exchange::finish() {
  const std::uint16_t port = packet_.relays.empty() ? kClientPort : kServerPort;
  for (GivenAddress& one : given_) {  // a relay has the message at its end
    one.times = reply_.size() - one.times;
    one.lifetimes = reply_.size() - one.lifetimes;
  }
  out_.reply = Reply{reply_type_, wrap_reply(packet_.relays, std::move(reply_)), port, std::move(given_)};
}

}  // namespace hcpnet::dhcp6
