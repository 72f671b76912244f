// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <utility>

#include "dhcp/lease_import.hpp"
#include "dhcp/reply_builder.hpp"

namespace hcpnet::dhcp {
namespace {

using Claim = Allocator::Claim;
using Time = Responder::Time;

/// One network: what it gives and who has it.
struct Network {
  Allocator allocator;
  ReplyBuilder builder;
};

std::string_view reason_of(const error_code& error) noexcept {
  if (error == Errc::too_short) return "too_short";
  if (error == Errc::too_large) return "too_large";
  return error == Errc::no_cookie ? "no_cookie" : "malformed";
}

bool is_usable(const MacAddress& mac) noexcept {
  const bool is_group = (mac.bytes()[0] & 1) != 0;
  return !is_group && mac != MacAddress();
}

/// An option that is there must have the size of an address.
bool is_address_or_absent(const OptionSet& options, std::uint8_t code) noexcept {
  return !options.contains(code) || options.find_address(code).has_value();
}

/// Why a well-formed message is none of a DHCP server's business; empty when it is.
std::string_view reason_to_ignore(const Message& m, const ResponderLimits& limits) noexcept {
  if (m.op != kBootRequest) return "not_a_request";
  if (!m.options.contains(option::message_type)) return "bootp";
  if (!m.type()) return "malformed";
  if (!m.mac() || !is_usable(*m.mac())) return "hardware_address";
  if (!is_address_or_absent(m.options, option::requested_address)) return "malformed";
  if (!is_address_or_absent(m.options, option::server_id)) return "malformed";
  if (m.options.find(option::client_id).value_or(ByteView()).size() > limits.max_client_id_bytes) return "malformed";
  return {};
}

/// One message on its way through one network.
struct Exchange {
  const Config& config;
  const Subnet& subnet;
  Network& network;
  const Message& request;
  MacAddress mac;
  Time now;
  Outcome& out;

  void discover();
  void request_lease();
  void select(Ipv4 requested);
  void reboot(Ipv4 requested);
  void renew();
  void decline();
  void release();
  void inform();

  void acknowledge(Ipv4 address);
  void refuse(std::string_view reason) { out.reply = network.builder.refuse(request, reason); }
  void refuse_or_ignore(std::string_view reason) {
    if (subnet.authoritative) return refuse(reason);
    out.dropped = "not_authoritative";
  }
  [[nodiscard]] bool is_for_other_server() const noexcept {
    const auto server = request.options.find_address(option::server_id);
    return server && *server != subnet.server_id;
  }
  /// The name that configuration or the cluster knows the client by.
  [[nodiscard]] std::string_view known_name() const;
  void add(std::optional<LeaseEvent> event, std::string_view otherwise) {
    if (event) return out.changes.push_back({out.subnet, *std::move(event)});
    out.dropped = otherwise;
  }
};

std::string_view Exchange::known_name() const {
  const auto reserved = std::ranges::find(subnet.reservations, mac, &Reservation::mac);
  if (reserved != subnet.reservations.end() && !reserved->host_name.empty()) return reserved->host_name;
  const auto found = config.host_names.find(mac);
  return found == config.host_names.end() ? std::string_view() : std::string_view(found->second);
}

// RFC 2131 section 4.3.1
void Exchange::discover() {
  const auto address = network.allocator.offer(mac, request.options.find_address(option::requested_address), now);
  if (!address) {
    out.dropped = "pool_exhausted";
    return;
  }
  out.reply = network.builder.give(MessageType::offer, request, *address, known_name(), out.omitted_options);
}

// RFC 2131 section 4.3.2, which tells the four states of a client apart by options 50 and 54 and by ciaddr.
void Exchange::request_lease() {
  if (is_for_other_server()) {
    network.allocator.withdraw(mac);  // section 3.1 step 4: the client declines our offer
    out.dropped = "not_for_us";
    return;
  }
  const auto requested = request.options.find_address(option::requested_address);
  if (!request.ciaddr.is_unspecified()) {
    if (requested && *requested != request.ciaddr) {
      out.dropped = "inconsistent";
      return;
    }
    return renew();
  }
  if (!requested) {
    out.dropped = "inconsistent";
    return;
  }
  return request.options.contains(option::server_id) ? select(*requested) : reboot(*requested);
}

/// SELECTING: the answer to our offer, or to one that ran out meanwhile.
void Exchange::select(Ipv4 requested) {
  const Claim claim = network.allocator.claim(mac, requested);
  if (claim == Claim::own || claim == Claim::free) return acknowledge(requested);
  refuse("address not available");
}

/// INIT-REBOOT: the client remembers an address and wants to know whether it still holds.
void Exchange::reboot(Ipv4 requested) {
  const Claim claim = network.allocator.claim(mac, requested);
  const bool is_usable_claim = claim == Claim::own || claim == Claim::free;
  const bool is_reserved = network.allocator.reservation(mac) == requested;
  const auto held = network.allocator.find(mac);
  if (is_usable_claim && (is_reserved || (held && held->address == requested))) return acknowledge(requested);
  if (held) return refuse("not your address");
  // Nothing is known of the client. Section 4.3.2 wants silence, for the sake of servers that share a network without
  // talking to each other; an authoritative server is alone, and its answer spares the client a minute of waiting.
  refuse_or_ignore("unknown binding");
}

/// RENEWING and REBINDING, which only differ in how the request came.
void Exchange::renew() {
  const Ipv4 address = request.ciaddr;
  switch (network.allocator.claim(mac, address)) {
    case Claim::own:
      return acknowledge(address);
    case Claim::retired:
      out.dropped = "not_renewable";  // the client keeps it until it ends, then asks for another one
      return;
    case Claim::free: {
      // A client that works with an address which nobody else has: it goes on, even if our memory of it is gone.
      const auto held = network.allocator.find(mac);
      if (subnet.authoritative || (held && held->address == address)) return acknowledge(address);
      out.dropped = "not_authoritative";
      return;
    }
    case Claim::taken:
    case Claim::outside:
      return refuse_or_ignore("not your address");
  }
}

void Exchange::acknowledge(Ipv4 address) {
  const std::string_view known = known_name();
  out.reply = network.builder.give(MessageType::ack, request, address, known, out.omitted_options);
  if (!out.reply) {
    out.dropped = "reply_too_large";
    return;
  }
  const ByteView id = request.options.find(option::client_id).value_or(ByteView());
  const ByteView name = request.options.find(option::host_name).value_or(ByteView());
  std::string host_name = known.empty() ? make_host_label(name) : std::string(known);
  for (LeaseEvent& event : network.allocator.bind(mac, address, std::string(as_text(id)), std::move(host_name), now)) {
    out.changes.push_back({out.subnet, std::move(event)});
  }
}

// RFC 2131 section 4.3.3
void Exchange::decline() {
  const auto address = request.options.find_address(option::requested_address);
  if (is_for_other_server() || !address) {
    out.dropped = address ? "not_for_us" : "inconsistent";
    return;
  }
  add(network.allocator.decline(mac, *address, now), "not_bound");
}

// RFC 2131 section 4.3.4
void Exchange::release() {
  if (is_for_other_server()) {
    out.dropped = "not_for_us";
    return;
  }
  add(network.allocator.release(mac, request.ciaddr, now), "not_bound");
}

// RFC 2131 section 4.3.5. An address outside the subnet would make the server send to whom a stranger names.
void Exchange::inform() {
  if (!subnet.cidr.is_host(request.ciaddr)) {
    out.dropped = "no_subnet";
    return;
  }
  out.reply = network.builder.inform(request, known_name(), out.omitted_options);
}

}  // namespace

struct Responder::Impl {
  Impl(Config c, const ResponderLimits& l) : config(std::move(c)), limits(l) {
    for (const Subnet& subnet : config.subnets)
      networks.push_back({Allocator(subnet, l.allocator), ReplyBuilder(subnet, l)});
  }
  /// The subnet that a message belongs to: its relay's, else that of the interface.
  [[nodiscard]] std::optional<std::size_t> find_subnet(const Message& request, std::size_t received_on) const {
    if (request.giaddr.is_unspecified()) return received_on;
    const auto found =
        std::ranges::find_if(config.subnets, [&](const Subnet& s) { return s.cidr.is_host(request.giaddr); });
    if (found == config.subnets.end()) return std::nullopt;
    return static_cast<std::size_t>(found - config.subnets.begin());
  }
  /// The subnet that an address lies in; of several the smallest.
  [[nodiscard]] std::optional<std::size_t> find_subnet(Ipv4 address) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < config.subnets.size(); ++i) {
      const Ipv4Cidr& cidr = config.subnets[i].cidr;
      if (cidr.contains(address) && (!best || config.subnets[*best].cidr.prefix_length() < cidr.prefix_length()))
        best = i;
    }
    return best;
  }
  [[nodiscard]] std::string served_networks() const {
    std::string out;
    for (const Subnet& subnet : config.subnets) out += (out.empty() ? "" : ", ") + subnet.cidr.to_string();
    return out;
  }
  void expire(std::size_t subnet, Time now, std::size_t max, std::vector<LeaseChange>& out) {
    for (LeaseEvent& event : networks[subnet].allocator.expire(now, max)) out.push_back({subnet, std::move(event)});
  }

  Config config;
  ResponderLimits limits;
  std::vector<Network> networks;
};

Responder::Responder(Config config, ResponderLimits limits)
    : impl_(std::make_unique<Impl>(std::move(config), limits)) {}
Responder::~Responder() = default;
Responder::Responder(Responder&&) noexcept = default;
Responder& Responder::operator=(Responder&&) noexcept = default;

const Config& Responder::config() const noexcept {
  return impl_->config;
}

void Responder::replace(Config config) {
  BOOST_ASSERT(std::ranges::equal(config.subnets, impl_->config.subnets, {}, &Subnet::cidr, &Subnet::cidr));
  impl_->config = std::move(config);
  for (std::size_t i = 0; i < impl_->networks.size(); ++i) {
    const Subnet& subnet = impl_->config.subnets[i];
    impl_->networks[i].allocator.reconfigure(subnet);
    impl_->networks[i].builder = ReplyBuilder(subnet, impl_->limits);
  }
}

std::vector<LeaseChange> Responder::restore(std::size_t subnet, std::vector<Lease> leases, Time now) {
  std::vector<LeaseChange> out;
  for (Lease& lease : impl_->networks[subnet].allocator.restore(std::move(leases), now)) {
    out.push_back({subnet, {LeaseEventKind::released, std::move(lease)}});
  }
  return out;
}

Outcome Responder::handle(ByteView payload, std::size_t received_on, Time now) {
  Outcome out;
  const auto message = parse_message(payload, impl_->limits.message);
  if (!message) {
    out.dropped = reason_of(message.error());
    return out;
  }
  out.type = message->type();
  out.dropped = reason_to_ignore(*message, impl_->limits);
  if (!out.dropped.empty()) return out;
  const auto subnet = impl_->find_subnet(*message, received_on);
  if (!subnet) {
    out.dropped = "no_subnet";
    return out;
  }
  out.subnet = *subnet;
  impl_->expire(*subnet, now, impl_->limits.max_expired_per_message, out.changes);

  Exchange exchange{
      impl_->config, impl_->config.subnets[*subnet], impl_->networks[*subnet], *message, *message->mac(), now, out};
  switch (*out.type) {
    case MessageType::discover:
      exchange.discover();
      break;
    case MessageType::request:
      exchange.request_lease();
      break;
    case MessageType::decline:
      exchange.decline();
      break;
    case MessageType::release:
      exchange.release();
      break;
    case MessageType::inform:
      exchange.inform();
      break;
    case MessageType::offer:
    case MessageType::ack:
    case MessageType::nak:
      out.dropped = "from_server";
      break;
  }
  return out;
}

void Responder::settle(const std::vector<LeaseChange>& changes, bool is_durable, Time now) {
  for (const auto& [subnet, event] : changes) {
    Allocator& allocator = impl_->networks[subnet].allocator;
    const bool is_binding = event.kind == LeaseEventKind::bound || event.kind == LeaseEventKind::renewed;
    if (!is_binding) continue;
    if (is_durable) {
      allocator.confirm(event.lease);
    } else {
      allocator.revert(event.lease.mac, event.lease.address, now);
    }
  }
}

void Responder::check_import(const LeaseList& list, Time now, Diagnostics& problems) const {
  check_adoption(
      list.file, list.leases, now, impl_->networks.size(), [&](Ipv4 a) { return impl_->find_subnet(a); },
      [&](std::size_t i) -> const Allocator& { return impl_->networks[i].allocator; },
      [&](std::size_t i) -> const std::string& { return impl_->config.subnets[i].name; }, impl_->served_networks(),
      problems);
  for (const ListedLease& listed : list.leases) {
    if (listed.lease.client_id.size() <= kMaxStoredClientIdBytes) continue;
    problems.add(describe_obstacle(AdoptObstacle::no_client, list.file, listed.line, listed.lease.address.to_string()));
  }
}

std::vector<LeaseChange> Responder::import_leases(const LeaseList& list, Time now, LeaseImport& outcome) {
  std::vector<LeaseChange> out = expire(now, SIZE_MAX);
  adopt_all(
      list.file, list.leases, now, [&](Ipv4 a) { return impl_->find_subnet(a); },
      [&](std::size_t i) -> Allocator& { return impl_->networks[i].allocator; },
      [&](std::size_t i, LeaseEvent event) { out.push_back({i, std::move(event)}); }, outcome);
  return out;
}

void Responder::settle_import(const std::vector<LeaseChange>& changes, bool is_durable) {
  for (const auto& [subnet, event] : changes) impl_->networks[subnet].allocator.settle_adopted(event, is_durable);
}

std::optional<LeaseChange> Responder::end(Ipv4 address, Time now) {
  const auto subnet = impl_->find_subnet(address);
  if (!subnet) return std::nullopt;
  auto event = impl_->networks[*subnet].allocator.end(address, now);
  if (!event) return std::nullopt;
  return LeaseChange{*subnet, *std::move(event)};
}

std::vector<LeaseChange> Responder::expire(Time now, std::size_t max) {
  std::vector<LeaseChange> out;
  for (std::size_t subnet = 0; subnet < impl_->networks.size(); ++subnet) impl_->expire(subnet, now, max, out);
  return out;
}

std::optional<Time> Responder::next_due() const {
  std::optional<Time> first;
  for (const Network& network : impl_->networks) {
    const auto due = network.allocator.next_due();
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

std::vector<Lease> Responder::leases() const {
  std::vector<Lease> out;
  for (const Network& network : impl_->networks) {
    auto leases = network.allocator.leases();
    std::ranges::move(leases, std::back_inserter(out));
  }
  std::ranges::stable_sort(out, {}, &Lease::address);
  return out;
}

Allocator::Usage Responder::usage(std::size_t subnet) const {
  return impl_->networks[subnet].allocator.usage();
}

}  // namespace hcpnet::dhcp
