// SPDX-License-Identifier: Apache-2.0
// The Infras of a set against each other. One process serves them all: it has one routing table, in which an address is
// one host, and a name leads to one cluster.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "spec/domain_index.hpp"
#include "spec/format.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kNetwork = "/spec/networkConfig";
const std::string kCidr = kNetwork + "/cidr";
const std::string kGateway = kNetwork + "/gateway";
const std::string kRangeStart = "/spec/infraComponents/dhcp/rangeStart";
const std::string kOwnName = "/spec/infraComponents/dns/clusterName";
const std::string kOwnControlPlane = "/spec/infraComponents/proxy/controlPlaneNamespace";
const std::string kDomain = "/spec/dns";
const std::string kHostedCluster = "/spec/hostedClusterRef/name";

using Attachment = Examined<InfraClusterAttachment>;

std::string named(const Examined<Infra>& infra, const std::string& pointer) {
  return "Infra " + infra.value.metadata.key() + " (" + infra.subject.where(pointer) + ')';
}

// --- networks

bool serves_dhcp(const Infra& infra) {
  return infra.dhcp && infra.dhcp->enabled;
}

/// Two networks may have one gateway: they may be one network, and hcpnet is not its router.
bool may_share(const OwnedAddress& a, const OwnedAddress& b) {
  return a.pointer == kGateway && b.pointer == kGateway;
}

void compare_addresses(Examined<Infra>& later, const Examined<Infra>& earlier) {
  Subject& subject = later.subject;
  for (const OwnedAddress& mine : later.plan.owned) {
    const auto theirs = std::ranges::find(earlier.plan.owned, mine.address, &OwnedAddress::address);
    if (theirs == earlier.plan.owned.end() || may_share(mine, *theirs) || !subject.is_good(mine.pointer)) continue;
    subject.error(code::addresses_collide, mine.pointer,
                  "this is also " + theirs->owner + " of " + named(earlier, theirs->pointer) +
                      ", and one process cannot serve both");
  }
}

void compare_ranges(Examined<Infra>& later, const Examined<Infra>& earlier) {
  Subject& subject = later.subject;
  if (earlier.plan.range)
    for (const OwnedAddress& mine : later.plan.owned)
      if (earlier.plan.range->contains(mine.address) && subject.is_good(mine.pointer))
        subject.error(code::address_in_range, mine.pointer,
                      "this is inside the DHCP range " + earlier.plan.range->to_string() + " of " +
                          named(earlier, kRangeStart) + ", so a client may be given it");
  for (const TakenRange& given : earlier.plan.given)
    for (const OwnedAddress& mine : later.plan.owned)
      if (given.range.contains(mine.address) && subject.is_good(mine.pointer))
        subject.error(code::address_in_range, mine.pointer,
                      "this is in " + given.owner + " of the DHCPPolicy of " + named(earlier, kNetwork));
  for (const TakenRange& mine : later.plan.given)
    if (const std::string taken = taken_by(earlier.plan, mine.range); !taken.empty() && subject.is_good(kCidr))
      subject.error(code::ranges_overlap, kCidr,
                    "no address is given out twice, and " + mine.owner + " of its DHCPPolicy holds some of " + taken +
                        " of " + named(earlier, kNetwork));
  if (!later.plan.range || !subject.is_good(kRangeStart)) return;
  const std::string taken = taken_by(earlier.plan, *later.plan.range);
  if (!taken.empty())
    subject.error(
        code::ranges_overlap, kRangeStart,
        "no address is given out twice, and this range holds some of " + taken + " of " + named(earlier, kNetwork));
}

void check_networks(const std::vector<Examined<Infra>*>& infras) {
  for (std::size_t later = 1; later < infras.size(); ++later) {
    Examined<Infra>& infra = *infras[later];
    bool overlaps = false;
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const Examined<Infra>& other = *infras[earlier];
      if (!Cidr(*infra.plan.cidr).overlaps(*other.plan.cidr)) continue;
      const bool is_same_dhcp_network =
          infra.plan.cidr == other.plan.cidr && serves_dhcp(infra.value) && serves_dhcp(other.value);
      if (is_same_dhcp_network && infra.subject.is_good(kCidr))
        infra.subject.error(
            code::networks_overlap, kCidr,
            named(other, kCidr) + " serves DHCP on this network, and one process cannot serve it for both");
      else if (!overlaps)
        infra.subject.warning(code::networks_overlap, kCidr,
                              named(other, kCidr) + " uses some of these addresses; only networks that never meet may");
      overlaps = true;
      compare_addresses(infra, other);
      if (!is_same_dhcp_network) compare_ranges(infra, other);
    }
  }
}

// --- clusters

/// A hosted cluster of the set: of an attachment, or named by a legacy Infra itself, which has no pool, and of which
/// only the control plane is known.
struct Member {
  Subject* subject;
  const Examined<Infra>* infra;
  std::string label;  ///< for messages
  std::string domain_pointer, cluster_pointer;
  text::Position domain_position;
  std::optional<std::string> domain, hosted_cluster, control_plane;
  std::optional<Ipv4Range> pool;
  Subject* pool_subject;  ///< the object that the pool is written in, and where
  std::string pool_pointer, pool_what;
};

std::string named(const Member& member, const std::string& pointer) {
  return member.label + " (" + member.subject->where(pointer) + ')';
}

Member member_of(Attachment& attachment, const Examined<Infra>& infra) {
  Subject& subject = attachment.subject;
  const InfraClusterAttachment& value = attachment.value;
  const PoolPlace place = place_of_pool(attachment);
  Member member{.subject = &subject,
                .infra = &infra,
                .label = "attachment " + value.metadata.name + " of Infra " + infra.value.metadata.key(),
                .domain_pointer = kDomain,
                .cluster_pointer = kHostedCluster,
                .domain_position = subject.key_place(kDomain).position,
                .domain = domain_of(attachment),
                .hosted_cluster = {},
                .control_plane = {},
                .pool = pool_of(attachment),
                .pool_subject = &place.subject,
                .pool_pointer = place.pointer,
                .pool_what = place.what};
  if (!subject.is_good(kHostedCluster) || !subject.is_good("/spec/hostedClusterRef/namespace")) return member;
  member.hosted_cluster = value.hosted_cluster_namespace + '/' + value.hosted_cluster_name;
  if (subject.is_good("/spec/controlPlaneNamespace")) member.control_plane = control_plane_of(value);
  return member;
}

Member member_of(Examined<Infra>& infra) {
  const Infra& value = infra.value;
  const bool is_given = value.proxy && value.proxy->control_plane_namespace;
  return {.subject = &infra.subject,
          .infra = &infra,
          .label = "Infra " + value.metadata.key(),
          .domain_pointer = kOwnName,
          .cluster_pointer = is_given ? kOwnControlPlane : kOwnName,
          .domain_position = infra.subject.place(kOwnName).position,
          .domain = lower(*value.dns->cluster_name + '.' + *value.dns->base_domain),
          .hosted_cluster = {},
          .control_plane = control_plane_of(value),
          .pool = {},
          .pool_subject = nullptr,
          .pool_pointer = {},
          .pool_what = {}};
}

/// In the order of the text.
std::vector<Member> members_of(const std::vector<Examined<Infra>*>& infras, std::vector<Attachment>& attachments) {
  std::map<std::string, const Examined<Infra>*> by_name;
  for (const Examined<Infra>* infra : infras) by_name.emplace(infra->value.metadata.key(), infra);
  std::vector<Member> members;
  std::set<const Examined<Infra>*> attached;
  for (Attachment& attachment : attachments) {
    if (!attachment.subject.is_good("/spec/infraRef/name") || !attachment.subject.is_good("/metadata/namespace"))
      continue;
    const auto infra = by_name.find(attachment.value.metadata.namespace_ + '/' + attachment.value.infra_name);
    if (infra == by_name.end()) continue;
    attached.insert(infra->second);
    members.push_back(member_of(attachment, *infra->second));
  }
  for (Examined<Infra>* infra : infras)
    if (names_cluster(infra->value) && !attached.contains(infra)) members.push_back(member_of(*infra));
  std::ranges::stable_sort(members, {}, [](const Member& member) { return member.subject->place("/metadata"); });
  return members;
}

/// Members of one Infra have been compared with each other before, and those that lost there take no part here.
class MemberChecker {
 public:
  explicit MemberChecker(const std::vector<Examined<Infra>*>& infras) : infras_(infras) {}

  void add(const Member& member) {
    check_domain(member);
    check_identity(member);
    check_pool(member);
  }

 private:
  using Owners = std::map<std::string, const Member*>;

  void check_domain(const Member& member) {
    if (!member.domain) return;
    if (const Member* other = domains_.find(*member.domain); other != nullptr)
      return member.subject->error_at(member.domain_position, code::domains_overlap, member.domain_pointer,
                                      "the domain " + *member.domain + " equals, holds or lies below that of " +
                                          named(*other, other->domain_pointer) +
                                          ", and one process leads a name to one cluster");
    domains_.add(*member.domain, member);
  }

  /// Who of another Infra has it already; nullptr when nobody has.
  static const Member* other_owner(Owners& owners, const std::optional<std::string>& thing, const Member& member) {
    if (!thing) return nullptr;
    const auto [first, is_new] = owners.emplace(*thing, &member);
    return is_new || first->second->infra == member.infra ? nullptr : first->second;
  }

  void check_identity(const Member& member) {
    if (!member.subject->is_good(member.cluster_pointer)) return;
    if (const Member* other = other_owner(clusters_, member.hosted_cluster, member); other != nullptr)
      return member.subject->error(
          code::duplicate_cluster, member.cluster_pointer,
          "HostedCluster " + *member.hosted_cluster + " is attached by " + named(*other, other->cluster_pointer));
    if (const Member* other = other_owner(control_planes_, member.control_plane, member); other != nullptr)
      member.subject->error(code::duplicate_cluster, member.cluster_pointer,
                            "its control plane " + *member.control_plane + " is that of " +
                                named(*other, other->cluster_pointer) + " already");
  }

  /// What of other Infras the pool holds, for a message; empty when nothing.
  [[nodiscard]] std::string taken_elsewhere(const Member& member) const {
    for (const Examined<Infra>* infra : infras_) {
      if (infra == member.infra) continue;
      if (std::string taken = taken_by(infra->plan, *member.pool); !taken.empty())
        return std::move(taken) + " of " + named(*infra, kNetwork);
    }
    for (const Member* other : pools_)
      if (other->infra != member.infra && other->pool->overlaps(*member.pool))
        return other->pool_what + " of " + other->label + " (" + other->pool_subject->where(other->pool_pointer) + ')';
    return {};
  }

  void check_pool(const Member& member) {
    if (!member.pool) return;
    if (const std::string taken = taken_elsewhere(member); !taken.empty())
      member.pool_subject->error(code::ranges_overlap, member.pool_pointer,
                                 "no address is given out twice, and this holds some of " + taken);
    pools_.push_back(&member);
  }

  const std::vector<Examined<Infra>*>& infras_;
  DomainIndex<Member> domains_;
  Owners clusters_, control_planes_;
  std::vector<const Member*> pools_;
};

}  // namespace

void check_infras(std::vector<Examined<Infra>>& infras, std::vector<Attachment>& attachments) {
  std::vector<Examined<Infra>*> sound;  // before any of them is said to be in another's way
  for (Examined<Infra>& infra : infras)
    if (!infra.subject.has_problems()) sound.push_back(&infra);
  check_networks(sound);
  if (sound.size() < 2) return;
  MemberChecker checker(sound);
  const std::vector<Member> members = members_of(sound, attachments);
  for (const Member& member : members) checker.add(member);
}

}  // namespace hcpnet::spec
