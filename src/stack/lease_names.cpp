// SPDX-License-Identifier: Apache-2.0
#include "stack/lease_names.hpp"

#include <algorithm>
#include <hcpnet/dhcp/options.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "dhcp/lease_file_reader.hpp"

namespace hcpnet {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kMaxLabelBytes = 63;

/// Labels of an address, the most significant first: 4 bytes, or 32 nibbles.
std::vector<std::string> address_labels(const IpAddress& address) {
  std::vector<std::string> labels;
  if (address.is_v4()) {
    for (const std::uint8_t byte : address.v4().bytes()) labels.push_back(std::to_string(byte));
    return labels;
  }
  for (const std::uint8_t byte : address.v6().bytes())
    for (const unsigned nibble : {unsigned{byte} >> 4u, unsigned{byte} & 15u}) labels.emplace_back(1, kHex[nibble]);
  return labels;
}

dns::Name reverse_of(const std::vector<std::string>& labels, bool is_v4) {
  std::string text;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) text += *label + '.';
  return dns::parse_name(text + (is_v4 ? "in-addr.arpa" : "ip6.arpa")).value();
}

dns::Name name_of(const std::string& label, const dns::Name& domain) {
  std::string wire(1, static_cast<char>(label.size()));
  wire += label;
  wire += as_text(domain.wire());
  return dns::make_name(std::move(wire)).value();
}

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

std::string lease_label(std::string_view host_name) {
  std::string label(host_name.substr(0, host_name.find('.')));
  for (char& c : label)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool is_good = !label.empty() && label.size() <= kMaxLabelBytes && label.front() != '-' &&
                       label.back() != '-' && std::ranges::all_of(label, is_label_character);
  return is_good ? label : std::string();
}

dns::Name reverse_name(const IpAddress& address) {
  return reverse_of(address_labels(address), address.is_v4());
}

std::vector<dns::Name> reverse_zones(const Cidr& network) {
  const bool is_v4 = network.network().is_v4();
  const unsigned bits = is_v4 ? 8 : 4;
  const unsigned whole = (network.prefix_length() + bits - 1) / bits;
  std::vector<std::string> labels = address_labels(network.network());
  labels.resize(whole);
  if (whole == 0) return {reverse_of(labels, is_v4)};
  const unsigned count = 1u << (whole * bits - network.prefix_length());
  const unsigned first = static_cast<unsigned>(std::stoul(labels.back(), nullptr, is_v4 ? 10 : 16));
  std::vector<dns::Name> zones;
  for (unsigned i = 0; i < count; ++i) {
    labels.back() = is_v4 ? std::to_string(first + i) : std::string(1, kHex[first + i]);
    zones.push_back(reverse_of(labels, is_v4));
  }
  return zones;
}

std::string owner_by_duid(const dhcp6::Duid& duid) {
  return "duid " + duid.to_string();
}

std::string owner_by_client_id(std::string_view client_id) {
  return "client-id " + dhcp::hex_bytes(client_id);
}

LeaseNames::LeaseNames(LeaseZone zone, const dns::Config& base) : zone_(std::move(zone)) {
  const auto view = std::ranges::find(base.views, zone_.view, &dns::View::name);
  if (view == base.views.end()) return;
  for (const auto& served : view->zones) {
    const bool is_ours =
        served->apex() == zone_.domain || std::ranges::find(zone_.reverse, served->apex()) != zone_.reverse.end();
    if (!is_ours) continue;
    Fixed& fixed = fixed_[served->apex()];
    for (const dns::RRset& rrset : served->rrsets()) {
      if (rrset.type == dns::Type::soa) continue;  // made by the zone
      fixed.owners.insert(rrset.owner);
      fixed.rrsets.push_back(rrset);
    }
  }
}

LeaseNames::Claim LeaseNames::claim_of(const dhcp::Lease& lease) {
  return {lease.address,
          lease.mac.to_string(),
          owner_by_client_id(lease.client_id.empty() ? dhcp::make_client_id(lease.mac) : lease.client_id),
          lease.host_name,
          lease.subnet,
          lease.started,
          lease.state == dhcp::LeaseState::bound};
}

LeaseNames::Claim LeaseNames::claim_of(const dhcp6::Lease& lease) {
  const dhcp6::Client& client = lease.client;
  const std::string duid = owner_by_duid(client.duid);
  return {lease.address, client.mac ? client.mac->to_string() : duid, duid, lease.host_name, lease.subnet,
          lease.started, lease.state == dhcp::LeaseState::bound};
}

bool LeaseNames::is_held(const Claim& claim) const {
  const auto label = labels_.find(claim.address);
  return label != labels_.end() && names_.at(label->second).client == claim.client;
}

void LeaseNames::note_all(const std::vector<dhcp::Lease>& leases, const std::vector<dhcp6::Lease>& leases6,
                          const LeaseNames* before) {
  names_.clear();
  labels_.clear();
  std::vector<std::pair<bool, Claim>> claims;  // whether it comes later, and it
  const auto add = [&](Claim claim) {
    const bool is_later = before == nullptr || !before->is_held(claim);
    claims.emplace_back(is_later, std::move(claim));
  };
  for (const dhcp::Lease& lease : leases) add(claim_of(lease));
  for (const dhcp6::Lease& lease : leases6) add(claim_of(lease));
  std::ranges::stable_sort(claims, [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.started) < std::tie(b.first, b.second.started);
  });
  for (const auto& [is_later, claim] : claims) note(claim);
  if (before != nullptr) refused_ = before->refused_;  // these have been counted
}

bool LeaseNames::note(const dhcp::Lease& lease) {
  return note(claim_of(lease));
}

bool LeaseNames::note(const dhcp6::Lease& lease) {
  return note(claim_of(lease));
}

bool LeaseNames::note(const Claim& claim) {
  if (std::ranges::find(zone_.subnets, claim.subnet) == zone_.subnets.end()) return false;
  const std::string label = claim.is_bound ? lease_label(claim.host_name) : std::string();
  const bool has_it = !label.empty() && is_held(claim) && labels_.at(claim.address) == label;
  if (has_it) return false;
  const bool gave_up = give_up(claim.address);
  if (label.empty()) return gave_up;
  if (!is_free_for(label, claim)) {
    ++refused_;
    return gave_up;
  }
  Holder& holder = names_[label];
  holder.client = claim.client;
  holder.addresses.insert(std::ranges::lower_bound(holder.addresses, claim.address), claim.address);
  labels_.insert_or_assign(claim.address, label);
  return true;
}

bool LeaseNames::is_free_for(const std::string& label, const Claim& claim) const {
  const auto fixed = fixed_.find(zone_.domain);
  if (fixed == fixed_.end() || fixed->second.owners.contains(name_of(label, zone_.domain))) return false;
  if (const auto owners = zone_.reserved.find(label); owners != zone_.reserved.end())
    if (!owners->second.contains(claim.client) && !owners->second.contains(claim.identifier)) return false;
  const auto holder = names_.find(label);
  return holder == names_.end() || holder->second.client == claim.client;
}

bool LeaseNames::give_up(const IpAddress& address) {
  const auto label = labels_.find(address);
  if (label == labels_.end()) return false;
  const auto holder = names_.find(label->second);
  std::erase(holder->second.addresses, address);
  if (holder->second.addresses.empty()) names_.erase(holder);
  labels_.erase(label);
  return true;
}

std::vector<dns::RRset> LeaseNames::addresses() const {
  std::vector<dns::RRset> rrsets;
  for (const auto& [label, holder] : names_) {
    const dns::Name name = name_of(label, zone_.domain);
    for (const IpAddress& address : holder.addresses)
      rrsets.push_back(address.is_v4() ? dns::make_a(name, address.v4(), zone_.ttl)
                                       : dns::make_aaaa(name, address.v6(), zone_.ttl));
  }
  return rrsets;
}

std::vector<dns::RRset> LeaseNames::pointers() const {
  std::vector<dns::RRset> rrsets;
  for (const auto& [address, label] : labels_)
    rrsets.push_back({reverse_name(address),
                      dns::Type::ptr,
                      zone_.ttl,
                      {std::string(as_text(name_of(label, zone_.domain).wire()))}});
  return rrsets;
}

void LeaseNames::publish(dns::Config& config) const {
  const auto view = std::ranges::find(config.views, zone_.view, &dns::View::name);
  if (view == config.views.end()) return;
  // Made once: a network may take 128 zones, and each looks at all of them.
  const std::vector<dns::RRset> reverse = zone_.reverse.empty() ? std::vector<dns::RRset>() : pointers();
  for (auto& served : view->zones) {
    const auto fixed = fixed_.find(served->apex());
    if (fixed == fixed_.end()) continue;
    const dns::Name& apex = fixed->first;
    const Fixed& own = fixed->second;
    const bool is_domain = apex == zone_.domain;
    std::vector<dns::RRset> rrsets = is_domain ? addresses() : std::vector<dns::RRset>();
    // Addresses that the configuration names keep those names alone.
    for (const dns::RRset& pointer : reverse)
      if (!is_domain && pointer.owner.is_below_or_equal(apex) && !own.owners.contains(pointer.owner))
        rrsets.push_back(pointer);
    rrsets.insert(rrsets.end(), own.rrsets.begin(), own.rrsets.end());
    served = std::make_shared<const dns::Zone>(served->apex(), std::move(rrsets));
  }
}

}  // namespace hcpnet
