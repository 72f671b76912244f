// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/assert.hpp>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>

#include "dhcp/client_fqdn.hpp"
#include "dhcp/client_rate.hpp"
#include "dhcp/lease_import.hpp"
#include "dhcp/links.hpp"
#include "dhcp/relay_information.hpp"
#include "dhcp/reply_builder.hpp"

namespace hcpnet::dhcp {
namespace {

using Claim = Allocator::Claim;
using Time = Responder::Time;

/// One link: what its subnets give and who has it.
struct Network {
  Network(std::span<const Subnet> subnets, std::size_t first, const ResponderLimits& limits)
      : first_subnet(first), allocator(subnets, limits.allocator) {
    configure(subnets, limits);
  }
  void configure(std::span<const Subnet> configured, const ResponderLimits& limits);
  /// The subnet that an address lies in, counted from the first of the link. nullopt: none.
  [[nodiscard]] std::optional<std::size_t> find(std::span<const Subnet> of_link, Ipv4 address) const {
    const auto found = std::ranges::find_if(of_link, [&](const Subnet& s) { return s.cidr.contains(address); });
    if (found == of_link.end()) return std::nullopt;
    return static_cast<std::size_t>(found - of_link.begin());
  }

  std::size_t first_subnet;  ///< index in Config::subnets
  Allocator allocator;
  std::vector<ReplyBuilder> builders;                    ///< one per subnet
  std::unordered_map<Ipv4, std::string> reserved_names;  ///< by reserved address
  std::optional<ClientRateLimiter> rate_limiter;
};

void Network::configure(std::span<const Subnet> configured, const ResponderLimits& limits) {
  builders.clear();
  reserved_names.clear();
  for (const Subnet& subnet : configured) {
    builders.emplace_back(subnet, configured.front().client_classes, limits);
    for (const Reservation& r : subnet.reservations)
      if (!r.host_name.empty()) reserved_names.emplace(r.address, r.host_name);
  }
  const auto& limit = configured.front().rate_limit;
  if (limit && rate_limiter && rate_limiter->has_limit(*limit)) return;  // a client that is over it stays so
  rate_limiter.reset();
  if (limit) rate_limiter.emplace(*limit, limits.max_rated_clients);
}

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
  if (!is_address_or_absent(m.options, option::subnet_selection)) return "malformed";
  if (!is_relay_address_or_absent(m, sub_option::link_selection)) return "malformed";
  if (!is_relay_address_or_absent(m, sub_option::server_id_override)) return "malformed";
  if (m.options.find(option::client_id).value_or(ByteView()).size() > limits.max_client_id_bytes) return "malformed";
  return {};
}

/// One message on its way through one link.
struct Exchange {
  const Config& config;
  std::span<const Subnet> subnets;  ///< of the link
  Network& network;
  const Message& request;
  Client client;
  Time now;
  Outcome& out;

  void discover();
  void add_probe(Ipv4 address);
  void request_lease();
  void select(Ipv4 requested);
  void reboot(Ipv4 requested);
  void renew();
  void decline();
  void release();
  void inform();

  void acknowledge(Ipv4 address);
  void refuse(std::string_view reason);
  void refuse_or_ignore(std::string_view reason) {
    if (subnets.front().authoritative) return refuse(reason);
    out.dropped = "not_authoritative";
  }
  /// Clients know the server by its own address, or by the one that their relay has it named by.
  [[nodiscard]] bool is_for_other_server() const noexcept {
    const auto server = request.options.find_address(option::server_id);
    return server && server != server_id_override(request) &&
           std::ranges::find(subnets, *server, &Subnet::server_id) == subnets.end();
  }
  /// The subnet whose words an answer about the address has; from now on it is the one that dealt with the message.
  [[nodiscard]] const ReplyBuilder& builder_for(Ipv4 address) const {
    const std::size_t subnet = network.find(subnets, address).value_or(0);
    out.subnet = network.first_subnet + subnet;
    return network.builders[subnet];
  }
  /// The name that configuration or the cluster knows the client by.
  [[nodiscard]] std::string_view known_name() const;
  /// The one that its lease has.
  [[nodiscard]] std::string host_name() const;
  /// nullopt: what has to be echoed does not fit.
  void answer(std::optional<Reply> reply) {
    if (!reply) out.dropped = "reply_too_large";
    out.reply = std::move(reply);
  }
  void add_change(LeaseEvent event) {
    const std::size_t subnet = network.first_subnet + network.find(subnets, event.lease.address).value_or(0);
    out.changes.push_back({subnet, std::move(event)});
  }
  void add(std::optional<LeaseEvent> event, std::string_view otherwise) {
    if (event) return add_change(*std::move(event));
    out.dropped = otherwise;
  }
};

std::string_view Exchange::known_name() const {
  if (const auto own = network.allocator.reservation(client)) {
    const auto reserved = network.reserved_names.find(*own);
    if (reserved != network.reserved_names.end()) return reserved->second;
  }
  const auto found = config.host_names.find(client.mac);
  return found == config.host_names.end() ? std::string_view() : std::string_view(found->second);
}

/// Where nobody else knows the client its own word counts: option 81 before option 12 (RFC 4702 section 3.1).
std::string Exchange::host_name() const {
  if (const std::string_view known = known_name(); !known.empty()) return std::string(known);
  const auto data = request.options.find(option::client_fqdn);
  const auto fqdn = data ? parse_client_fqdn(*data) : std::nullopt;
  std::string label = fqdn ? make_host_label(as_bytes(fqdn->name)) : std::string();
  if (!label.empty()) return label;
  return make_host_label(request.options.find(option::host_name).value_or(ByteView()));
}

/// In the name of the server that the client speaks to; where it names none, of the one that the address is from.
void Exchange::refuse(std::string_view reason) {
  const auto server = request.options.find_address(option::server_id);
  const auto named = server ? std::ranges::find(subnets, *server, &Subnet::server_id) : subnets.end();
  const auto requested = request.options.find_address(option::requested_address);
  const std::size_t subnet = named != subnets.end()
                                 ? static_cast<std::size_t>(named - subnets.begin())
                                 : network.find(subnets, requested.value_or(request.ciaddr)).value_or(0);
  answer(network.builders[subnet].refuse(request, reason));
}

// RFC 2131 section 4.3.1
void Exchange::discover() {
  const auto address = network.allocator.offer(client, request.options.find_address(option::requested_address), now);
  if (!address) {
    out.dropped = network.allocator.has_enough(client) ? "client_limit" : "pool_exhausted";
    return;
  }
  const std::string label = make_host_label(as_bytes(host_name()));
  answer(builder_for(*address).give(MessageType::offer, request, *address, {client.classes, known_name(), label},
                                    out.omitted_options));
  if (out.reply) add_probe(*address);
}

/// Section 3.1 step 2. What the client is bound to is its own to find out about. So is its previous address behind a
/// relay, where it may be the client itself that answers.
void Exchange::add_probe(Ipv4 address) {
  const auto timeout = subnets.front().probe_timeout;
  if (!timeout || !network.allocator.has_offer(client, address)) return;  // nothing is held of what it has
  const bool is_relayed = !request.giaddr.is_unspecified();
  const auto held = network.allocator.find(client);
  if (held && held->address == address && (is_relayed || held->state == LeaseState::bound)) return;
  out.probe = AddressProbe{address, client.mac, out.reply->source, is_relayed, *timeout, client.client_id};
}

// RFC 2131 section 4.3.2, which tells the four states of a client apart by options 50 and 54 and by ciaddr.
void Exchange::request_lease() {
  if (is_for_other_server()) {
    // Section 3.1 step 4: the client declines our offer. Where the pool is shared the other server is about to bind
    // that very address, as often as not.
    if (!subnets.front().shared_store) network.allocator.withdraw(client);
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
  const Claim claim = network.allocator.claim(client, requested);
  if (claim == Claim::own || claim == Claim::free) return acknowledge(requested);
  refuse("address not available");
}

/// INIT-REBOOT: the client remembers an address and wants to know whether it still holds.
void Exchange::reboot(Ipv4 requested) {
  const Claim claim = network.allocator.claim(client, requested);
  const bool is_usable_claim = claim == Claim::own || claim == Claim::free;
  const bool is_reserved = network.allocator.reservation(client) == requested;
  const auto held = network.allocator.find(client);
  if (is_usable_claim && (is_reserved || (held && held->address == requested))) return acknowledge(requested);
  if (held) return refuse("not your address");
  // Nothing is known of the client. Section 4.3.2 wants silence, for the sake of servers that share a network without
  // talking to each other; an authoritative server is alone, and its answer spares the client a minute of waiting.
  refuse_or_ignore("unknown binding");
}

/// RENEWING and REBINDING, which only differ in how the request came.
void Exchange::renew() {
  const Ipv4 address = request.ciaddr;
  switch (network.allocator.claim(client, address)) {
    case Claim::own:
      return acknowledge(address);
    case Claim::retired:
      out.dropped = "not_renewable";  // the client keeps it until it ends, then asks for another one
      return;
    case Claim::free: {
      // A client that works with an address which nobody else has: it goes on, even if our memory of it is gone.
      const auto held = network.allocator.find(client);
      if (subnets.front().authoritative || (held && held->address == address)) return acknowledge(address);
      out.dropped = "not_authoritative";
      return;
    }
    case Claim::taken:
    case Claim::outside:
      return refuse_or_ignore("not your address");
  }
}

void Exchange::acknowledge(Ipv4 address) {
  const std::string name = host_name();
  const std::string label = make_host_label(as_bytes(name));
  answer(builder_for(address).give(MessageType::ack, request, address, {client.classes, known_name(), label},
                                   out.omitted_options));
  if (!out.reply) return;
  for (LeaseEvent& event : network.allocator.bind(client, address, name, now)) add_change(std::move(event));
}

// RFC 2131 section 4.3.3
void Exchange::decline() {
  const auto address = request.options.find_address(option::requested_address);
  if (is_for_other_server() || !address) {
    out.dropped = address ? "not_for_us" : "inconsistent";
    return;
  }
  add(network.allocator.decline(client, *address, now),
      network.allocator.may_decline(client, now) ? "not_bound" : "decline_limit");
}

// RFC 2131 section 4.3.4
void Exchange::release() {
  if (is_for_other_server()) {
    out.dropped = "not_for_us";
    return;
  }
  add(network.allocator.release(client, request.ciaddr, now), "not_bound");
}

// RFC 2131 section 4.3.5. An address outside the subnet would make the server send to whom a stranger names.
void Exchange::inform() {
  const auto subnet = network.find(subnets, request.ciaddr);
  if (!subnet || !subnets[*subnet].cidr.is_host(request.ciaddr)) {
    out.dropped = "no_subnet";
    return;
  }
  answer(builder_for(request.ciaddr).inform(request, {client.classes, known_name()}, out.omitted_options));
}

/// Who sent the message, and of which classes it is. A bound client that speaks past its relay is still where the relay
/// saw it.
Client client_of(const Message& request, std::span<const ClientClass> classes, const Allocator& allocator) {
  Client client = *request.mac();
  client.client_id = as_text(request.options.find(option::client_id).value_or(ByteView()));
  const bool is_past_relay = !request.options.contains(option::relay_information) && !request.ciaddr.is_unspecified();
  client.relay_information =
      is_past_relay ? allocator.relay_information(client, request.ciaddr) : relay_information_of(request);
  client.classes =
      is_past_relay ? classify(classes, request, as_bytes(client.relay_information)) : classify(classes, request);
  return client;
}

}  // namespace

struct Responder::Impl {
  Impl(Config c, const ResponderLimits& l) : config(std::move(c)), limits(l) {
    for (const LinkMembers& link : links_of(config.subnets)) {
      networks.emplace_back(of_link(link), link.first, limits);
      network_of.insert(network_of.end(), link.count, networks.size() - 1);
    }
  }
  [[nodiscard]] std::span<const Subnet> of_link(const LinkMembers& link) const {
    return std::span(config.subnets).subspan(link.first, link.count);
  }
  /// The subnets of a link, by its place in `networks`.
  [[nodiscard]] std::span<const Subnet> subnets_of(std::size_t network) const {
    return of_link({networks[network].first_subnet, networks[network].builders.size()});
  }
  /// The link that a message belongs to: the one that is selected, else its relay's, else that of the interface. Who is
  /// on our own link can't select another one: its addresses would be of no use there.
  [[nodiscard]] std::optional<std::size_t> find_network(const Message& request, std::size_t received_on) const {
    const auto selected = selected_subnet(request);
    const bool is_relayed = !request.giaddr.is_unspecified();
    if (selected) {
      const auto network = find_network(*selected);
      return is_relayed || network == network_of[received_on] ? network : std::nullopt;
    }
    if (!is_relayed) return network_of[received_on];
    const auto subnet = find_subnet(request.giaddr);
    if (!subnet || !config.subnets[*subnet].cidr.is_host(request.giaddr)) return std::nullopt;
    return network_of[*subnet];
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
  [[nodiscard]] std::optional<std::size_t> find_network(Ipv4 address) const {
    const auto subnet = find_subnet(address);
    return subnet ? std::optional(network_of[*subnet]) : std::nullopt;
  }
  [[nodiscard]] std::string served_networks() const {
    std::string out;
    for (const Subnet& subnet : config.subnets) out += (out.empty() ? "" : ", ") + subnet.cidr.to_string();
    return out;
  }
  [[nodiscard]] LeaseChange change(std::size_t network, LeaseEvent event) const {
    const std::size_t subnet = networks[network].find(subnets_of(network), event.lease.address).value_or(0);
    return {networks[network].first_subnet + subnet, std::move(event)};
  }
  Outcome handle(ByteView payload, std::size_t received_on, bool is_counted, Time now);
  void expire(std::size_t network, Time now, std::size_t max, std::vector<LeaseChange>& out) {
    for (LeaseEvent& event : networks[network].allocator.expire(now, max))
      out.push_back(change(network, std::move(event)));
  }
  [[nodiscard]] Allocator& allocator_of(std::size_t subnet) { return networks[network_of[subnet]].allocator; }

  Config config;
  ResponderLimits limits;
  std::vector<Network> networks;        ///< one per link
  std::vector<std::size_t> network_of;  ///< by subnet
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
    const std::span<const Subnet> subnets = impl_->subnets_of(i);
    impl_->networks[i].allocator.reconfigure(subnets);
    impl_->networks[i].configure(subnets, impl_->limits);
  }
}

std::vector<LeaseChange> Responder::restore(std::vector<std::vector<Lease>> by_subnet, Time now) {
  std::vector<LeaseChange> out;
  for (std::size_t network = 0; network < impl_->networks.size(); ++network) {
    std::vector<Lease> leases;
    for (std::size_t i = 0; i < impl_->subnets_of(network).size(); ++i) {
      std::vector<Lease>& part = by_subnet[impl_->networks[network].first_subnet + i];
      if (leases.empty())
        leases = std::move(part);
      else
        std::ranges::move(part, std::back_inserter(leases));
    }
    for (Lease& lease : impl_->networks[network].allocator.restore(std::move(leases), now))
      out.push_back(impl_->change(network, {LeaseEventKind::released, std::move(lease)}));
  }
  return out;
}

Outcome Responder::handle(ByteView payload, std::size_t received_on, Time now) {
  return impl_->handle(payload, received_on, true, now);
}

Outcome Responder::handle_again(ByteView payload, std::size_t received_on, Time now) {
  return impl_->handle(payload, received_on, false, now);
}

Outcome Responder::Impl::handle(ByteView payload, std::size_t received_on, bool is_counted, Time now) {
  Outcome out;
  const auto message = parse_message(payload, limits.message);
  if (!message) {
    out.dropped = reason_of(message.error());
    return out;
  }
  out.type = message->type();
  out.dropped = reason_to_ignore(*message, limits);
  if (!out.dropped.empty()) return out;
  const auto found = find_network(*message, received_on);
  if (!found) {
    out.dropped = "no_subnet";
    return out;
  }
  Network& network = networks[*found];
  const std::span<const Subnet> subnets = subnets_of(*found);
  out.subnet = network.first_subnet;
  if (is_counted && network.rate_limiter && !network.rate_limiter->admit(*message->mac(), now)) {
    out.dropped = "rate_limited";
    return out;
  }
  expire(*found, now, limits.max_expired_per_message, out.changes);

  Exchange exchange{
      config, subnets, network, *message, client_of(*message, subnets.front().client_classes, network.allocator),
      now,    out};
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

std::optional<LeaseChange> Responder::report_conflict(std::size_t subnet, const AddressProbe& probe, Time now) {
  const Client client(probe.client, {}, {}, probe.client_id);
  auto event = impl_->allocator_of(subnet).report_conflict(client, probe.address, now);
  if (!event) return std::nullopt;
  return LeaseChange{subnet, *std::move(event)};
}

bool Responder::has_offer(std::size_t subnet, const AddressProbe& probe) const {
  return impl_->allocator_of(subnet).has_offer(Client(probe.client, {}, {}, probe.client_id), probe.address);
}

void Responder::settle(const std::vector<LeaseChange>& changes, bool is_durable, Time now) {
  for (const auto& [subnet, event] : changes) {
    Allocator& allocator = impl_->allocator_of(subnet);
    const bool is_binding = event.kind == LeaseEventKind::bound || event.kind == LeaseEventKind::renewed;
    if (!is_binding) continue;
    if (is_durable) {
      allocator.confirm(event.lease);
    } else {
      allocator.revert(Client(event.lease.mac, {}, {}, event.lease.client_id), event.lease.address, now);
    }
  }
}

std::optional<Reply> Responder::acknowledge_stored(const Outcome& outcome, Time now) const {
  const bool is_renewal =
      outcome.reply && !outcome.changes.empty() && outcome.changes.back().event.kind == LeaseEventKind::renewed;
  if (!is_renewal) return std::nullopt;
  const auto& [subnet, event] = outcome.changes.back();
  const Client client(event.lease.mac, {}, {}, event.lease.client_id);
  const auto stored = impl_->allocator_of(subnet).stored_end(client, event.lease.address);
  if (!stored) return std::nullopt;
  const std::chrono::seconds left = *stored - now - std::chrono::seconds(1);  // `now` is up to a second ago
  if (left < impl_->limits.min_time_left) return std::nullopt;
  Reply out = *outcome.reply;
  set_lease_time(left, out.packet);
  return out;
}

void Responder::check_import(const LeaseList& list, Time now, Diagnostics& problems) const {
  check_adoption(
      list.file, list.leases, now, impl_->networks.size(), [&](Ipv4 a) { return impl_->find_network(a); },
      [&](std::size_t i) -> const Allocator& { return impl_->networks[i].allocator; },
      [&](std::size_t i) -> const std::string& { return impl_->subnets_of(i).front().name; }, impl_->served_networks(),
      problems);
  for (const ListedLease& listed : list.leases) {
    if (listed.lease.client_id.size() <= kMaxStoredClientIdBytes) continue;
    problems.add(describe_obstacle(AdoptObstacle::no_client, list.file, listed.line, listed.lease.address.to_string()));
  }
}

std::vector<LeaseChange> Responder::import_leases(const LeaseList& list, Time now, LeaseImport& outcome) {
  std::vector<LeaseChange> out = expire(now, SIZE_MAX);
  adopt_all(
      list.file, list.leases, now, [&](Ipv4 a) { return impl_->find_network(a); },
      [&](std::size_t i) -> Allocator& { return impl_->networks[i].allocator; },
      [&](std::size_t i, LeaseEvent event) { out.push_back(impl_->change(i, std::move(event))); }, outcome);
  return out;
}

void Responder::settle_import(const std::vector<LeaseChange>& changes, bool is_durable) {
  for (const auto& [subnet, event] : changes) impl_->allocator_of(subnet).settle_adopted(event, is_durable);
}

std::optional<LeaseChange> Responder::end(Ipv4 address, Time now) {
  const auto subnet = impl_->find_subnet(address);
  if (!subnet) return std::nullopt;
  auto event = impl_->allocator_of(*subnet).end(address, now);
  if (!event) return std::nullopt;
  return LeaseChange{*subnet, *std::move(event)};
}

std::vector<LeaseChange> Responder::take(const Lease& lease, Time now) {
  std::vector<LeaseChange> out;
  const auto network = impl_->find_network(lease.address);
  if (!network) return out;
  for (LeaseEvent& event : impl_->networks[*network].allocator.take(lease, now))
    out.push_back(impl_->change(*network, std::move(event)));
  return out;
}

std::vector<LeaseChange> Responder::expire(Time now, std::size_t max) {
  std::vector<LeaseChange> out;
  for (std::size_t network = 0; network < impl_->networks.size(); ++network) impl_->expire(network, now, max, out);
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
    auto of_link = network.allocator.leases();
    if (out.empty()) {
      out = std::move(of_link);
      continue;
    }
    const auto count = static_cast<std::ptrdiff_t>(out.size());
    std::ranges::move(of_link, std::back_inserter(out));
    std::ranges::inplace_merge(out, out.begin() + count, {}, &Lease::address);
  }
  return out;
}

std::vector<Allocator::SubnetUsage> Responder::usage_by_subnet() const {
  std::vector<Allocator::SubnetUsage> out;
  for (const Network& network : impl_->networks) {
    auto of_link = network.allocator.usage_by_subnet();
    std::ranges::move(of_link, std::back_inserter(out));
  }
  return out;
}

}  // namespace hcpnet::dhcp
