// SPDX-License-Identifier: Apache-2.0
#include "dhcp6/exchange.hpp"

#include <algorithm>
#include <utility>

#include "dhcp6/client_identity.hpp"

namespace hcpnet::dhcp6 {
namespace {

using Type = MessageType;

/// Who must not, must, or may name a server (RFC 8415 section 16).
enum class ServerId : std::uint8_t { forbidden, required, optional };

ServerId server_id_rule(Type type) noexcept {
  switch (type) {
    case Type::request:
    case Type::renew:
    case Type::release:
    case Type::decline:
      return ServerId::required;
    case Type::information_request:
      return ServerId::optional;
    default:
      return ServerId::forbidden;
  }
}

bool is_from_client(Type type) noexcept {
  switch (type) {
    case Type::solicit:
    case Type::request:
    case Type::confirm:
    case Type::renew:
    case Type::rebind:
    case Type::release:
    case Type::decline:
    case Type::information_request:
      return true;
    default:
      return false;
  }
}

std::vector<Ipv6> addresses_of(const IaNa& ia) {
  std::vector<Ipv6> out;
  for (const IaAddress& a : ia.addresses) out.push_back(a.address);
  return out;
}

}  // namespace

Exchange::Exchange(const ResponderConfig& config, const ResponderLimits& limits, std::size_t subnet,
                   Allocator& allocator, const Packet& packet, const Origin& origin, Time now, Outcome& out)
    : config_(config),
      limits_(limits),
      index_(subnet),
      subnet_(config.subnets[subnet]),
      allocator_(allocator),
      packet_(packet),
      message_(packet.message),
      origin_(origin),
      now_(now),
      out_(out),
      sender_(identify(packet, origin.source)) {}

/// RFC 8415 section 16: what makes a message none of a server's business; empty when it is.
std::string_view Exchange::reason_to_ignore() const {
  const OptionList& options = message_.options;
  if (!is_from_client(message_.type)) return "not_a_request";
  const bool is_information = message_.type == Type::information_request;
  if (!sender_ && (!is_information || options.contains(option::client_id))) return "no_client_id";
  if (is_information && (options.contains(option::ia_na) || options.contains(option::ia_ta))) return "inconsistent";
  const auto server = options.find(option::server_id);
  const ServerId rule = server_id_rule(message_.type);
  if (!server) return rule == ServerId::required ? "no_server_id" : std::string_view();
  if (rule == ServerId::forbidden) return "inconsistent";
  return std::ranges::equal(*server, config_.server_id.bytes()) ? std::string_view() : "not_for_us";
}

/// RFC 8415 section 18.4: no client was given leave to use unicast.
bool Exchange::needs_multicast() const {
  return !origin_.is_multicast && packet_.relays.empty();
}

bool Exchange::read_associations() {
  for (const auto& [code, data] : message_.options.items()) {
    if (code != option::ia_na || associations_.size() == limits_.max_associations) continue;
    auto ia = parse_ia_na(data, limits_.message.max_options);
    if (!ia) return false;
    if (ia->addresses.size() > limits_.max_addresses) ia->addresses.resize(limits_.max_addresses);
    const bool is_repeated = std::ranges::count(associations_, ia->iaid, &IaNa::iaid) > 0;
    if (!is_repeated) associations_.push_back(*std::move(ia));
  }
  return true;
}

void Exchange::run() {
  out_.dropped = reason_to_ignore();
  if (!out_.dropped.empty()) return;
  if (!read_associations()) {
    out_.dropped = "malformed";
    return;
  }
  if (needs_multicast()) {
    if (server_id_rule(message_.type) == ServerId::required) return status_only(Status::use_multicast, "use ff02::1:2");
    out_.dropped = "unicast";
    return;
  }
  switch (message_.type) {
    case Type::solicit:
      return solicit();
    case Type::request:
      return request();
    case Type::confirm:
      return confirm();
    case Type::renew:
      return extend(false);
    case Type::rebind:
      return extend(true);
    case Type::release:
      return release();
    case Type::decline:
      return decline();
    default:
      return information();
  }
}

Client Exchange::client_of(const IaNa& ia) const {
  Client out = *sender_;
  out.iaid = ia.iaid;
  return out;
}

std::string_view Exchange::name_of(const Client& client) const {
  for (const Reservation& r : subnet_.reservations) {
    const bool is_its = (r.mac && r.mac == client.mac) || (r.duid && *r.duid == client.duid);
    if (is_its && !r.host_name.empty()) return r.host_name;
  }
  const auto found = client.mac ? config_.host_names.find(*client.mac) : config_.host_names.end();
  return found == config_.host_names.end() ? std::string_view() : std::string_view(found->second);
}

void Exchange::take(const Client& client, const Ipv6& address) {
  for (LeaseEvent& event : allocator_.bind(client, address, std::string(name_of(client)), now_)) {
    out_.changes.push_back({index_, std::move(event)});
  }
}

Exchange::Answer Exchange::assign(const IaNa& ia, bool is_committed) {
  const Client client = client_of(ia);
  Answer answer{ia.iaid, allocator_.offer(client, addresses_of(ia), now_), {}, {}};
  if (!answer.given) answer.status = Status::no_addrs_avail;
  if (answer.given && is_committed) take(client, *answer.given);
  return answer;
}

// RFC 8415 section 18.3.1
void Exchange::solicit() {
  const bool is_rapid = subnet_.rapid_commit && message_.options.contains(option::rapid_commit);
  std::vector<Answer> answers;
  for (const IaNa& ia : associations_) answers.push_back(assign(ia, is_rapid));
  begin(is_rapid ? Type::reply : Type::advertise);
  OptionWriter writer(reply_);
  if (is_rapid) writer.add(option::rapid_commit, {});
  if (!is_rapid && subnet_.authoritative) writer.add_u8(option::preference, 255);  // section 18.2.1: no need to wait
  for (const Answer& answer : answers) add_answer(answer);
  add_refused_kinds();
  add_configuration();
  finish();
}

// RFC 8415 section 18.3.2
void Exchange::request() {
  begin(Type::reply);
  for (const IaNa& ia : associations_) {
    const bool is_foreign =
        std::ranges::any_of(ia.addresses, [&](const IaAddress& a) { return !is_on_link(a.address); });
    add_answer(is_foreign ? Answer{ia.iaid, {}, {}, Status::not_on_link} : assign(ia, true));
  }
  add_refused_kinds();
  add_configuration();
  finish();
}

// RFC 8415 section 18.3.3: about the link only, never about who has the address.
void Exchange::confirm() {
  bool is_any = false, is_all_on_link = true;
  for (const IaNa& ia : associations_) {
    for (const IaAddress& a : ia.addresses) {
      is_any = true;
      is_all_on_link = is_all_on_link && is_on_link(a.address);
    }
  }
  if (!is_any) {
    out_.dropped = "inconsistent";
    return;
  }
  if (is_all_on_link) return status_only(Status::success, "all addresses are on link");
  status_only(Status::not_on_link, "an address is not on this link");
}

/// An association that we know, or one that may go on with its address because nobody else has it: a fleet survives the
/// loss of the lease file.
bool Exchange::may_extend(const IaNa& ia) const {
  const Client client = client_of(ia);
  if (allocator_.bound(client)) return true;
  return std::ranges::any_of(ia.addresses, [&](const IaAddress& a) {
    return subnet_.authoritative && allocator_.is_available(client, a.address);
  });
}

// RFC 8415 sections 18.3.4 and 18.3.5
void Exchange::extend(bool is_rebind) {
  const auto is_ours = [&](const IaNa& ia) {
    return may_extend(ia) ||
           std::ranges::any_of(ia.addresses, [&](const IaAddress& a) { return !is_on_link(a.address); });
  };
  if (is_rebind && !subnet_.authoritative && std::ranges::none_of(associations_, is_ours)) {
    out_.dropped = "not_authoritative";  // the lease may be another server's
    return;
  }
  begin(Type::reply);
  for (const IaNa& ia : associations_) {
    Answer answer{ia.iaid, {}, {}, Status::no_binding};
    if (may_extend(ia)) answer = assign(ia, true);
    for (const IaAddress& a : ia.addresses) {
      const bool is_gone = a.address != answer.given && (answer.given || !is_on_link(a.address));
      if (is_gone) answer.ended.push_back(a.address);
    }
    if (!answer.ended.empty() && answer.status == Status::no_binding) answer.status.reset();
    add_answer(answer);
  }
  add_refused_kinds();
  add_configuration();
  finish();
}

// RFC 8415 section 18.3.7
void Exchange::release() {
  begin(Type::reply);
  OptionWriter(reply_).add_status(Status::success, "released");
  for (const IaNa& ia : associations_) {
    bool is_known = false;
    for (const IaAddress& a : ia.addresses) {
      auto event = allocator_.release(client_of(ia), a.address, now_);
      if (!event) continue;
      is_known = true;
      out_.changes.push_back({index_, *std::move(event)});
    }
    if (!is_known) add_answer({ia.iaid, {}, {}, Status::no_binding});
  }
  finish();
}

// RFC 8415 section 18.3.8
void Exchange::decline() {
  begin(Type::reply);
  OptionWriter(reply_).add_status(Status::success, "declined");
  for (const IaNa& ia : associations_) {
    bool is_known = false;
    for (const IaAddress& a : ia.addresses) {
      auto event = allocator_.decline(client_of(ia), a.address, now_);
      if (!event) continue;
      is_known = true;
      out_.changes.push_back({index_, *std::move(event)});
    }
    if (!is_known) add_answer({ia.iaid, {}, {}, Status::no_binding});
  }
  finish();
}

// RFC 8415 section 18.3.6
void Exchange::information() {
  begin(Type::reply);
  add_configuration();
  finish();
}

}  // namespace hcpnet::dhcp6
