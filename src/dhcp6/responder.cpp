// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dhcp6/responder.hpp>
#include <iterator>
#include <utility>

#include "dhcp/lease_import.hpp"
#include "dhcp6/exchange.hpp"

namespace hcpnet::dhcp6 {
namespace {

std::string_view reason_of(const error_code& error) noexcept {
  if (error == Errc::too_short) return "too_short";
  if (error == Errc::too_large) return "too_large";
  return error == Errc::too_many_relays ? "too_many_relays" : "malformed";
}

/// RFC 8415 section 13.1: the link is that of the relay beside the client, or of the nearest one that names a link.
std::optional<Ipv6> link_of(const Packet& packet) {
  for (auto relay = packet.relays.rbegin(); relay != packet.relays.rend(); ++relay) {
    if (relay->link != Ipv6()) return relay->link;
  }
  return std::nullopt;
}

}  // namespace

struct Responder::Impl {
  Impl(ResponderConfig c, const ResponderLimits& l) : config(std::move(c)), limits(l) {
    for (const Subnet& subnet : config.subnets) allocators.emplace_back(subnet, l.allocator);
  }
  [[nodiscard]] std::optional<std::size_t> find_subnet(const Ipv6& address) const {
    const auto found =
        std::ranges::find_if(config.subnets, [&](const Subnet& s) { return s.cidr.contains(IpAddress(address)); });
    if (found == config.subnets.end()) return std::nullopt;
    return static_cast<std::size_t>(found - config.subnets.begin());
  }
  void expire(std::size_t subnet, Time now, std::size_t max, std::vector<LeaseChange>& out) {
    for (LeaseEvent& event : allocators[subnet].expire(now, max)) out.push_back({subnet, std::move(event)});
  }

  ResponderConfig config;
  ResponderLimits limits;
  std::vector<Allocator> allocators;
};

Responder::Responder(ResponderConfig config, ResponderLimits limits)
    : impl_(std::make_unique<Impl>(std::move(config), limits)) {}
Responder::~Responder() = default;
Responder::Responder(Responder&&) noexcept = default;
Responder& Responder::operator=(Responder&&) noexcept = default;

const ResponderConfig& Responder::config() const noexcept {
  return impl_->config;
}

void Responder::replace(ResponderConfig config) {
  BOOST_ASSERT(std::ranges::equal(config.subnets, impl_->config.subnets, {}, &Subnet::cidr, &Subnet::cidr));
  impl_->config = std::move(config);
  for (std::size_t i = 0; i < impl_->allocators.size(); ++i) impl_->allocators[i].reconfigure(impl_->config.subnets[i]);
}

void Responder::restore(std::vector<Lease> leases, Time now) {
  std::vector<std::vector<Lease>> by_subnet(impl_->allocators.size());
  for (Lease& lease : leases) {
    if (const auto subnet = impl_->find_subnet(lease.address)) by_subnet[*subnet].push_back(std::move(lease));
  }
  for (std::size_t i = 0; i < by_subnet.size(); ++i) impl_->allocators[i].restore(std::move(by_subnet[i]), now);
}

Outcome Responder::handle(ByteView payload, const Origin& origin, Time now) {
  Outcome out;
  const auto packet = parse_packet(payload, impl_->limits.message);
  if (!packet) {
    out.dropped = reason_of(packet.error());
    return out;
  }
  out.type = packet->message.type;
  const auto link = link_of(*packet);
  const auto subnet = link ? impl_->find_subnet(*link) : std::optional(origin.subnet);
  if (!subnet) {
    out.dropped = "no_subnet";
    return out;
  }
  impl_->expire(*subnet, now, impl_->limits.max_expired_per_message, out.changes);
  Exchange exchange(impl_->config, impl_->limits, *subnet, impl_->allocators[*subnet], *packet, origin, now, out);
  exchange.run();
  return out;
}

void Responder::settle(const std::vector<LeaseChange>& changes, bool is_durable, Time now) {
  for (const auto& [subnet, event] : changes) {
    const bool is_binding = event.kind == LeaseEventKind::bound || event.kind == LeaseEventKind::renewed;
    if (!is_binding) continue;
    if (is_durable) {
      impl_->allocators[subnet].confirm(event.lease);
    } else {
      impl_->allocators[subnet].revert(event.lease.address, now);
    }
  }
}

std::optional<Reply> Responder::acknowledge_stored(const Outcome& outcome, Time now) const {
  if (!outcome.reply || outcome.reply->given.empty()) return std::nullopt;
  Reply out = *outcome.reply;
  for (const GivenAddress& given : out.given) {
    const auto subnet = impl_->find_subnet(given.address);
    const auto stored = subnet ? impl_->allocators[*subnet].stored_end(given.address) : std::nullopt;
    if (!stored) return std::nullopt;
    const std::chrono::seconds left = *stored - now - std::chrono::seconds(1);  // `now` is up to a second ago
    if (left < impl_->limits.min_time_left) return std::nullopt;
    set_lifetime(left, given, out.packet);
  }
  return out;
}

void Responder::check_import(const dhcp::LeaseList& list, Time now, Diagnostics& problems) const {
  std::string served;
  for (const Subnet& subnet : impl_->config.subnets) served += (served.empty() ? "" : ", ") + subnet.cidr.to_string();
  dhcp::check_adoption(
      list.file, list.leases6, now, impl_->allocators.size(), [&](const Ipv6& a) { return impl_->find_subnet(a); },
      [&](std::size_t i) -> const Allocator& { return impl_->allocators[i]; },
      [&](std::size_t i) -> const std::string& { return impl_->config.subnets[i].name; }, served, problems);
}

std::vector<LeaseChange> Responder::import_leases(const dhcp::LeaseList& list, Time now, dhcp::LeaseImport& outcome) {
  std::vector<LeaseChange> out = expire(now, SIZE_MAX);
  dhcp::adopt_all(
      list.file, list.leases6, now, [&](const Ipv6& a) { return impl_->find_subnet(a); },
      [&](std::size_t i) -> Allocator& { return impl_->allocators[i]; },
      [&](std::size_t i, LeaseEvent event) { out.push_back({i, std::move(event)}); }, outcome);
  return out;
}

void Responder::settle_import(const std::vector<LeaseChange>& changes, bool is_durable) {
  for (const auto& [subnet, event] : changes) impl_->allocators[subnet].settle_adopted(event, is_durable);
}

std::optional<LeaseChange> Responder::end(const Ipv6& address, Time now) {
  const auto subnet = impl_->find_subnet(address);
  if (!subnet) return std::nullopt;
  auto event = impl_->allocators[*subnet].end(address, now);
  if (!event) return std::nullopt;
  return LeaseChange{*subnet, *std::move(event)};
}

std::vector<LeaseChange> Responder::expire(Time now, std::size_t max) {
  std::vector<LeaseChange> out;
  for (std::size_t subnet = 0; subnet < impl_->allocators.size(); ++subnet) impl_->expire(subnet, now, max, out);
  return out;
}

std::optional<Responder::Time> Responder::next_due() const {
  std::optional<Time> first;
  for (const Allocator& allocator : impl_->allocators) {
    const auto due = allocator.next_due();
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

std::vector<Lease> Responder::leases() const {
  std::vector<Lease> out;
  for (const Allocator& allocator : impl_->allocators) {
    auto leases = allocator.leases();
    std::ranges::move(leases, std::back_inserter(out));
  }
  std::ranges::stable_sort(out, {}, &Lease::address);
  return out;
}

Allocator::Usage Responder::usage(std::size_t subnet) const {
  return impl_->allocators[subnet].usage();
}

}  // namespace hcpnet::dhcp6
