// SPDX-License-Identifier: Apache-2.0
// Which addresses a DHCPPolicy gives to whom.
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "dhcp/option_value.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

std::string item(const std::string& list, std::size_t index) {
  return list + '/' + std::to_string(index);
}

std::optional<Ipv4> good_address(const Subject& subject, const std::string& pointer, const std::string& text) {
  return subject.is_good(pointer) ? parse_ipv4(text) : std::nullopt;
}

class PoolChecker {
 public:
  PoolChecker(Examined<DHCPPolicy>& policy, const NetworkPlan* target)
      : subject_(policy.subject), policy_(policy.value), networks_(1) {
    if (target == nullptr) return;
    networks_.front() = target->cidr;
    for (const OwnedAddress& owned : target->owned)
      owned_.push_back({owned.owner + " of the target", {}, owned.address});
    taken_ = others_ = target->taken;
    own_range_ = target->range;
    if (own_range_) taken_.push_back({"the range of the target, " + own_range_->to_string(), *own_range_});
  }

  std::vector<TakenRange> check() {
    check_classes();
    check_rate_limit();
    for (std::size_t i = 0; i < policy_.subnets.size(); ++i) add_subnet(policy_.subnets[i], item("/spec/subnets", i));
    is_every_exclusion_known_ = subject_.is_good("/spec/exclusions");
    for (std::size_t i = 0; i < policy_.exclusions.size(); ++i)
      if (!add_exclusion(policy_.exclusions[i], item("/spec/exclusions", i))) is_every_exclusion_known_ = false;
    check_reservations();
    check_pools(policy_.pools, networks_.front(), "/spec/pools");
    for (std::size_t i = 0; i < policy_.subnets.size(); ++i)
      check_pools(policy_.subnets[i].pools, networks_[i + 1], item("/spec/subnets", i) + "/pools");
    check_own_range();
    return std::move(given_);
  }

 private:
  void check_classes() {
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < policy_.client_classes.size(); ++i) {
      const DHCPPolicy::ClientClass& one = policy_.client_classes[i];
      const std::string pointer = item("/spec/clientClasses", i);
      check_options(subject_, pointer + "/options", one.options);
      check_class_options(one.options, pointer + "/options");
      const auto& match = one.match;
      const bool is_open = match.vendor_classes.empty() && match.user_classes.empty() && match.mac_prefixes.empty() &&
                           match.circuit_ids.empty() && match.remote_ids.empty() && match.architectures.empty();
      const auto is_list_good = [&](const char* list) { return subject_.is_good(pointer + "/match/" + list); };
      constexpr const char* kLists[] = {"vendorClasses", "userClasses", "macPrefixes",
                                        "circuitIDs",    "remoteIDs",   "architectures"};
      if (is_open && std::ranges::all_of(kLists, is_list_good))
        subject_.error(code::bad_combination, pointer + "/match", "every client would be in this class",
                       "at least one item of one list");
      if (!subject_.is_good(pointer + "/name")) {
        is_every_class_known_ = false;
        continue;
      }
      classes_.insert(one.name);
      const auto [first, is_new] = names.emplace(one.name, i);
      if (!is_new)
        subject_.error(code::duplicate_name, pointer + "/name",
                       "class " + std::to_string(first->second) + " has this name");
    }
  }

  /// A bucket that is smaller than what flows into it would be the real limit.
  void check_rate_limit() {
    const std::string pointer = "/spec/clientRateLimit";
    const auto& limit = policy_.client_rate_limit;
    if (!limit || limit->burst >= limit->messages_per_second || !subject_.is_written(pointer + "/burst", false)) return;
    if (subject_.is_good(pointer + "/burst") && subject_.is_good(pointer + "/messagesPerSecond"))
      subject_.error(code::bad_combination, pointer + "/burst", "this is less than one second of messagesPerSecond",
                     std::to_string(limit->messages_per_second) + " or more");
  }

  /// What a class says of routers and routes it says in every subnet of the link.
  void check_class_options(const std::vector<DhcpOption>& options, const std::string& pointer) {
    constexpr std::uint8_t kOfOneSubnet[] = {1, 3, 28, 33, 121, 249};
    if (policy_.subnets.empty()) return;
    for (std::size_t i = 0; i < options.size(); ++i)
      if (std::ranges::find(kOfOneSubnet, options[i].code) != std::end(kOfOneSubnet))
        subject_.warning(
            code::bad_combination, item(pointer, i) + "/code",
            "clients of this class are told this in every subnet of the link, and it describes one of them");
  }

  void add_subnet(const DHCPPolicy::Subnet& subnet, const std::string& pointer) {
    const auto cidr = subject_.is_good(pointer + "/cidr") ? parse_ipv4_cidr(subnet.cidr) : std::nullopt;
    networks_.push_back(cidr);
    check_options(subject_, pointer + "/options", subnet.options);
    const auto own = [&](const std::optional<std::string>& text, const std::string& field) {
      const std::string place = pointer + '/' + field;
      const auto address = text ? good_address(subject_, place, *text) : std::nullopt;
      if (!address || (cidr && !check_inside(subject_, *cidr, *address, place))) return;
      if (!check_owner(*address, place)) return;
      owned_.push_back({field + " of " + subnet.cidr, place, *address});
      add_given({*address, *address}, field, place);
    };
    own(subnet.gateway, "gateway");
    own(subnet.server_ip, "serverIP");
  }

  /// The network of the link that an address lies in. nullptr: none, or one that is not known.
  [[nodiscard]] const Ipv4Cidr* find_network(Ipv4 address) const {
    const auto found = std::ranges::find_if(
        networks_, [&](const std::optional<Ipv4Cidr>& cidr) { return cidr && cidr->contains(address); });
    return found == networks_.end() ? nullptr : &**found;
  }
  /// Where a network can't be read, or there is no target, nothing is outside.
  [[nodiscard]] bool is_every_network_known() const {
    return subject_.is_good("/spec/subnets") &&
           std::ranges::all_of(networks_, [](const std::optional<Ipv4Cidr>& cidr) { return cidr.has_value(); });
  }
  void report_outside(const std::string& pointer) {
    std::string list;
    for (const std::optional<Ipv4Cidr>& cidr : networks_) list += (list.empty() ? "" : ", ") + cidr->to_string();
    subject_.error(code::address_outside_cidr, pointer, "this is outside the networks of the link", list);
  }

  /// False when something is wrong with it.
  bool add_exclusion(const DHCPPolicy::Exclusion& exclusion, const std::string& pointer) {
    const std::string start_pointer = pointer + "/rangeStart", end_pointer = pointer + "/rangeEnd";
    const auto first = good_address(subject_, start_pointer, exclusion.range_start);
    const auto last = exclusion.range_end ? good_address(subject_, end_pointer, *exclusion.range_end) : first;
    if (!first || !last || !subject_.is_good(end_pointer)) return false;
    const Ipv4Cidr* network = find_network(*first);
    if (network == nullptr && is_every_network_known())
      report_outside(start_pointer);
    else if (*last < *first)
      subject_.error(code::range_reversed, end_pointer, "this is before rangeStart " + first->to_string());
    else if (network != nullptr && !network->contains(*last))
      subject_.error(code::address_outside_cidr, end_pointer,
                     "this is outside " + network->to_string() + ", where rangeStart is");
    else
      exclusions_.push_back({*first, *last});
    return subject_.is_good(start_pointer) && subject_.is_good(end_pointer);
  }

  void check_reservations() {
    std::map<MacAddress, std::size_t> macs;
    std::map<std::string, std::size_t> ids;
    std::map<Ipv4, std::size_t> addresses;
    for (std::size_t i = 0; i < policy_.reservations.size(); ++i) {
      const DHCPPolicy::Reservation& reservation = policy_.reservations[i];
      const std::string pointer = item("/spec/reservations", i);
      const std::string mac_pointer = pointer + "/macAddress", address_pointer = pointer + "/address";
      if (!subject_.is_good(pointer)) continue;
      if (subject_.is_good(mac_pointer) && subject_.is_good(pointer + "/clientID") &&
          reservation.mac_address.has_value() == reservation.client_id.has_value())
        subject_.error(code::bad_combination, pointer, "a reservation has either macAddress or clientID");
      const auto mac = reservation.mac_address ? parse_mac_address(*reservation.mac_address) : std::nullopt;
      if (mac && subject_.is_good(mac_pointer)) {
        const auto [first, is_new] = macs.emplace(*mac, i);
        if (!is_new)
          subject_.error(code::duplicate_name, mac_pointer,
                         "reservation " + std::to_string(first->second) + " is for this MAC address");
      }
      check_client_id(reservation, i, ids);
      const auto address = good_address(subject_, address_pointer, reservation.address);
      if (!address || !check_place(*address, address_pointer)) continue;
      const auto [first, is_new] = addresses.emplace(*address, i);
      if (!is_new)
        subject_.error(code::addresses_collide, address_pointer,
                       "reservation " + std::to_string(first->second) + " has this address");
      else if (check_owner(*address, address_pointer))
        add_given({*address, *address}, "reservation", address_pointer);
      reserved_.push_back(*address);
    }
  }
  void check_client_id(const DHCPPolicy::Reservation& reservation, std::size_t index,
                       std::map<std::string, std::size_t>& seen) {
    const std::string pointer = item("/spec/reservations", index) + "/clientID";
    if (!reservation.client_id || !subject_.is_good(pointer)) return;
    const auto bytes = dhcp::encode_option_bytes(*reservation.client_id);
    if (!bytes) return;
    const auto [first, is_new] = seen.emplace(as_text(*bytes), index);
    if (!is_new)
      subject_.error(code::duplicate_name, pointer,
                     "reservation " + std::to_string(first->second) + " is for this client identifier");
  }
  bool check_place(Ipv4 address, const std::string& pointer) {
    if (const Ipv4Cidr* network = find_network(address)) return check_inside(subject_, *network, address, pointer);
    if (!is_every_network_known()) return true;
    if (networks_.size() == 1) return check_inside(subject_, *networks_.front(), address, pointer);
    report_outside(pointer);
    return false;
  }
  /// Whether the address is no router's and no server's, and nobody else gives it out.
  bool check_owner(Ipv4 address, const std::string& pointer) {
    const auto owned = std::ranges::find(owned_, address, &OwnedAddress::address);
    if (owned != owned_.end()) {
      subject_.error(code::addresses_collide, pointer, "this is also " + owned->owner);
      return false;
    }
    const auto other = std::ranges::find_if(others_, [&](const TakenRange& t) { return t.range.contains(address); });
    if (other == others_.end()) return true;
    subject_.error(code::address_in_range, pointer, "no address is given out twice, and this is in " + other->owner);
    return false;
  }

  void check_pools(const std::vector<DHCPPolicy::Pool>& pools, const std::optional<Ipv4Cidr>& network,
                   const std::string& list) {
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const std::string pointer = item(list, i);
      check_options(subject_, pointer + "/options", pools[i].options);
      for (std::size_t j = 0; j < pools[i].client_classes.size(); ++j) {
        const std::string place = item(pointer + "/clientClasses", j);
        if (subject_.is_good(place) && subject_.is_good("/spec/clientClasses") && is_every_class_known_ &&
            !classes_.contains(pools[i].client_classes[j]))
          subject_.error(code::bad_reference, place, "there is no such class in /spec/clientClasses");
      }
      ++pools_;
      const auto range = check_range(pools[i], network, pointer);
      if (!range) continue;
      check_content(*range, pointer + "/rangeStart");
      taken_.push_back({"pool " + range->to_string(), *range});
      if (!subject_.is_good(pointer + "/rangeStart")) continue;
      for (const Ipv4Range& left : without_exclusions(*range)) add_given(left, "pool", pointer + "/rangeStart");
    }
  }
  std::optional<Ipv4Range> check_range(const DHCPPolicy::Pool& pool, const std::optional<Ipv4Cidr>& network,
                                       const std::string& pointer) {
    const std::string start_pointer = pointer + "/rangeStart", end_pointer = pointer + "/rangeEnd";
    const auto first = good_address(subject_, start_pointer, pool.range_start);
    const auto last = good_address(subject_, end_pointer, pool.range_end);
    if (!first || !last) return {};
    if (network) {
      const bool is_first_inside = check_inside(subject_, *network, *first, start_pointer);
      const bool is_last_inside = check_inside(subject_, *network, *last, end_pointer);
      if (!is_first_inside || !is_last_inside) return {};
    }
    if (*first <= *last) return Ipv4Range{*first, *last};
    subject_.error(code::range_reversed, end_pointer, "this is before rangeStart " + first->to_string());
    return {};
  }
  void check_content(const Ipv4Range& range, const std::string& pointer) {
    const auto other = std::ranges::find_if(taken_, [&](const TakenRange& t) { return t.range.overlaps(range); });
    if (other != taken_.end())
      return subject_.error(code::ranges_overlap, pointer,
                            "no address is given out twice, and this pool holds some of " + other->owner);
    std::string owners;
    for (const OwnedAddress& owned : owned_)
      if (range.contains(owned.address) && !is_excluded(owned.address))
        owners += (owners.empty() ? "" : ", ") + owned.owner + ' ' + owned.address.to_string();
    if (!owners.empty() && is_every_exclusion_known_)
      return subject_.error(code::address_in_range, pointer, "this pool holds " + owners + "; exclude it");
    std::vector<Ipv4Range> holes = exclusions_;
    for (const Ipv4 address : reserved_) holes.push_back({address, address});
    if (is_covered(range, std::move(holes)))
      subject_.error(code::empty_pool, pointer, "no address of this pool is left: all are excluded or reserved");
  }
  [[nodiscard]] bool is_excluded(Ipv4 address) const {
    return std::ranges::any_of(exclusions_, [&](const Ipv4Range& r) { return r.contains(address); });
  }
  [[nodiscard]] static bool is_covered(const Ipv4Range& range, std::vector<Ipv4Range> holes) {
    std::ranges::sort(holes);
    std::uint64_t next = range.first.value();
    for (const Ipv4Range& hole : holes) {
      if (hole.first.value() > next) break;
      next = std::max(next, std::uint64_t{hole.last.value()} + 1);
    }
    return next > range.last.value();
  }

  void add_given(const Ipv4Range& range, const std::string& what, const std::string& pointer) {
    const std::string name = range.first == range.last ? range.first.to_string() : range.to_string();
    given_.push_back({what + ' ' + name + " (" + subject_.where(pointer) + ')', range});
  }
  [[nodiscard]] std::vector<Ipv4Range> without_exclusions(const Ipv4Range& range) const {
    std::vector<Ipv4Range> holes = exclusions_;
    std::ranges::sort(holes);
    std::vector<Ipv4Range> left;
    std::uint64_t next = range.first.value();  // wider than an address: a range may end at the last of all
    const auto add_until = [&](std::uint64_t end) {
      if (next < end)
        left.push_back({Ipv4(static_cast<std::uint32_t>(next)), Ipv4(static_cast<std::uint32_t>(end - 1))});
    };
    for (const Ipv4Range& hole : holes) {
      if (hole.last < range.first || hole.first > range.last) continue;
      add_until(hole.first.value());
      next = std::max(next, std::uint64_t{hole.last.value()} + 1);
    }
    add_until(std::uint64_t{range.last.value()} + 1);
    return left;
  }

  /// Leaving out the whole range of the target is a way to give by the pools alone; leaving out everything is none.
  void check_own_range() {
    const bool has_no_other = pools_ == 0 && subject_.is_good("/spec/pools") && subject_.is_good("/spec/subnets");
    if (own_range_ && has_no_other && is_covered(*own_range_, exclusions_) && subject_.is_good("/spec/exclusions"))
      subject_.error(code::empty_pool, "/spec/exclusions",
                     "no address is left for clients: the range of the target, " + own_range_->to_string() +
                         ", is excluded, and there is no other pool");
  }

  Subject& subject_;
  const DHCPPolicy& policy_;
  std::vector<std::optional<Ipv4Cidr>> networks_;  ///< the target's, then those of /spec/subnets; only what is good
  std::vector<OwnedAddress> owned_;                ///< of routers and servers
  std::vector<TakenRange> others_;                 ///< what others give out
  std::vector<TakenRange> taken_;                  ///< that, and pools
  std::optional<Ipv4Range> own_range_;
  std::set<std::string> classes_;
  bool is_every_class_known_ = true;
  std::vector<Ipv4Range> exclusions_;
  bool is_every_exclusion_known_ = true;
  std::vector<Ipv4> reserved_;
  std::vector<TakenRange> given_;
  std::size_t pools_ = 0;
};

/// A network that something serves, for messages.
struct ServedNetwork {
  Ipv4Cidr cidr;
  std::string owner;
};

}  // namespace

std::vector<TakenRange> check_pools(Examined<DHCPPolicy>& policy, const NetworkPlan* target) {
  return PoolChecker(policy, target).check();
}

void check_policy_subnets(std::vector<Examined<DHCPPolicy>>& policies, const PolicyTargets& targets) {
  std::vector<ServedNetwork> served;
  const auto add = [&](const char* kind, const auto& objects) {
    for (const auto& [value, subject, plan, apps] : objects)
      if (plan.cidr)
        served.push_back(
            {*plan.cidr, kind + value.metadata.key() + " (" + subject.where("/spec/networkConfig/cidr") + ')'});
  };
  add("Infra ", targets.infras);
  add("DHCPServer ", targets.dhcp_servers);
  for (Examined<DHCPPolicy>& policy : policies)
    for (std::size_t i = 0; i < policy.value.subnets.size(); ++i) {
      const std::string pointer = item("/spec/subnets", i) + "/cidr";
      const auto cidr = policy.subject.is_good(pointer) ? parse_ipv4_cidr(policy.value.subnets[i].cidr) : std::nullopt;
      if (!cidr) continue;
      const auto other =
          std::ranges::find_if(served, [&](const ServedNetwork& s) { return Cidr(s.cidr).overlaps(*cidr); });
      if (other != served.end())
        policy.subject.error(code::networks_overlap, pointer,
                             "this network overlaps " + other->cidr.to_string() + " of " + other->owner);
      else
        served.push_back({*cidr, policy.value.metadata.key() + " (" + policy.subject.where(pointer) + ')'});
    }
}

}  // namespace hcpnet::spec
