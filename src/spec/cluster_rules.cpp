// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "spec/domain_index.hpp"
#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kPool = "/spec/appsIngress/metallb/ipAddressPoolRange";
const std::string kHostedCluster = "/spec/hostedClusterRef/name";
// The longest of the names that are published below a cluster's domain.
constexpr std::string_view kLongestPrefix = "konnectivity.";

using Attachment = Examined<InfraClusterAttachment>;

void check_apps_ingress(Subject& subject, const AppsIngress& ingress) {
  if (!ingress.enabled || !subject.is_good("/spec/appsIngress/enabled")) return;
  const std::string metallb = "/spec/appsIngress/metallb";
  if (!subject.is_good(metallb)) return;
  if (!subject.is_written(metallb, ingress.address_pool_name || ingress.address_pool_range))
    return subject.missing(metallb,
                           "appsIngress is enabled and needs metallb with addressPoolName and ipAddressPoolRange");
  if (!ingress.address_pool_name && subject.is_good(metallb + "/addressPoolName"))
    subject.missing(metallb + "/addressPoolName", "appsIngress is enabled and needs the name of its pool");
  if (!ingress.address_pool_range && subject.is_good(kPool))
    subject.missing(kPool, "appsIngress is enabled and needs the addresses of its pool");
}

std::string named(const Attachment& attachment, const std::string& pointer) {
  return "attachment " + attachment.value.metadata.name + " (" + attachment.subject.where(pointer) + ')';
}

class ClusterChecker {
 public:
  explicit ClusterChecker(Examined<Infra>& infra) : infra_(infra) {}

  void add(Attachment& attachment) {
    check_identity(attachment);
    check_domain(attachment);
    check_pool(attachment);
  }

 private:
  void check_identity(Attachment& attachment) {
    const InfraClusterAttachment& value = attachment.value;
    Subject& subject = attachment.subject;
    if (!subject.is_good(kHostedCluster) || !subject.is_good("/spec/hostedClusterRef/namespace")) return;
    const std::string key = value.hosted_cluster_namespace + '/' + value.hosted_cluster_name;
    const auto [cluster, is_new] = clusters_.emplace(key, &attachment);
    if (!is_new)
      return subject.error(code::duplicate_cluster, kHostedCluster,
                           "HostedCluster " + key + " is attached by " + named(*cluster->second, kHostedCluster));
    if (!subject.is_good("/spec/controlPlaneNamespace")) return;
    const auto [plane, is_own] = control_planes_.emplace(control_plane_of(value), &attachment);
    if (!is_own)
      subject.error(
          code::duplicate_cluster, kHostedCluster,
          "its control plane " + plane->first + " is that of " + named(*plane->second, kHostedCluster) + " already");
  }

  void check_domain(Attachment& attachment) {
    const auto domain = domain_of(attachment);
    if (!domain) return;
    const Attachment* other = domains_.find(*domain);
    if (other != nullptr)
      attachment.subject.error_at(
          attachment.subject.key_place("/spec/dns").position, code::domains_overlap, "/spec/dns",
          "the domain " + *domain + " equals, holds or lies below that of " + named(*other, "/spec/dns"));
    domains_.add(*domain, attachment);
  }

  void check_pool(Attachment& attachment) {
    const auto pool = pool_of(attachment);
    if (!pool) return;
    const auto& [subject, pointer, what] = place_of_pool(attachment);
    const auto& cidr = infra_.plan.cidr;
    if (attachment.apps != nullptr && cidr && cidr->contains(pool->first) &&
        !check_inside(subject, *cidr, pool->first, pointer))
      return;
    std::string taken = taken_by(infra_.plan, *pool);
    for (const TakenRange& other : infra_.plan.taken)
      if (taken.empty() && other.range.overlaps(*pool)) taken = other.owner;
    if (!taken.empty())
      subject.error(code::ranges_overlap, pointer, "no address is given out twice, and this holds some of " + taken);
    else if (cidr && !(cidr->contains(pool->first) && cidr->contains(pool->last)))
      subject.warning(code::pool_outside_cidr, pointer,
                      "this is outside " + cidr->to_string() + ", so something has to route to it");
    infra_.plan.taken.push_back(
        {std::string(what) + " of attachment " + attachment.value.metadata.name + " (" + subject.where(pointer) + ')',
         *pool});
  }

  Examined<Infra>& infra_;
  std::map<std::string, const Attachment*> clusters_, control_planes_;
  DomainIndex<Attachment> domains_;
};

}  // namespace

std::optional<Ipv4Range> pool_of(const Attachment& attachment) {
  if (attachment.apps != nullptr) {
    if (!attachment.apps->subject.is_good(kStaticVip)) return {};
    const auto vip = parse_ipv4(attachment.apps->value.static_vip);
    return vip ? std::optional(Ipv4Range{*vip, *vip}) : std::nullopt;
  }
  const AppsIngress& ingress = attachment.value.apps_ingress;
  if (!ingress.enabled || !ingress.address_pool_range || !attachment.subject.is_good(kPool)) return {};
  const auto pool = parse_pool(*ingress.address_pool_range);
  return pool && pool->first <= pool->last ? pool : std::nullopt;
}

PoolPlace place_of_pool(Attachment& attachment) {
  if (attachment.apps != nullptr) return {attachment.apps->subject, kStaticVip, "the static VIP"};
  return {attachment.subject, kPool, "the pool"};
}

std::optional<std::string> domain_of(const Attachment& attachment) {
  if (!attachment.subject.is_good("/spec/dns/clusterName") || !attachment.subject.is_good("/spec/dns/baseDomain"))
    return {};
  return attachment.value.cluster_name + '.' + attachment.value.base_domain;
}

std::string control_plane_of(const InfraClusterAttachment& attachment) {
  return attachment.control_plane_namespace.value_or(
      control_plane_namespace(attachment.hosted_cluster_namespace, attachment.hosted_cluster_name));
}

void check_attachment(Attachment& attachment) {
  Subject& subject = attachment.subject;
  const InfraClusterAttachment& value = attachment.value;
  check_apps_ingress(subject, value.apps_ingress);
  if (value.apps_ingress.enabled && value.apps_ingress.address_pool_range && subject.is_good(kPool)) {
    const auto pool = parse_pool(*value.apps_ingress.address_pool_range);
    if (pool && pool->last < pool->first)
      subject.error(code::range_reversed, kPool, "the second address is before the first");
  }
  if (const auto domain = domain_of(attachment); domain && domain->size() + kLongestPrefix.size() > kMaxNameBytes)
    subject.error(code::bad_hostname, "/spec/dns/baseDomain",
                  "the names below this domain, konnectivity among them, would be longer than 253 characters");
  if (value.control_plane_namespace || !subject.is_good(kHostedCluster) ||
      !subject.is_good("/spec/hostedClusterRef/namespace") || !subject.is_good("/spec/controlPlaneNamespace"))
    return;
  const std::string made = control_plane_of(value);
  if (made.size() > kMaxLabelBytes)
    subject.error(code::bad_name, kHostedCluster,
                  "the control-plane namespace would be " + made + ", which is longer than 63 characters");
  else if (value.hosted_cluster_name.find('.') != std::string::npos)
    subject.warning(code::other_namespace, kHostedCluster,
                    "the control plane is looked for in " + made + ", as HyperShift names it; oooi would look in " +
                        value.hosted_cluster_namespace + '-' + value.hosted_cluster_name);
}

void check_clusters(Examined<Infra>& infra, const std::vector<Attachment*>& attachments) {
  const bool dns_enabled =
      infra.value.dns && infra.value.dns->enabled && infra.subject.is_good("/spec/infraComponents/dns/enabled");
  if (dns_enabled && (infra.value.dns->cluster_name || infra.value.dns->base_domain)) {
    for (Attachment* attachment : attachments)
      attachment->subject.error(code::mixed_forms, "/spec/infraRef/name",
                                "Infra " + infra.value.metadata.key() + " names a cluster itself (" +
                                    infra.subject.where("/spec/infraComponents/dns/clusterName") +
                                    "), so no attachment may refer to it");
    if (!attachments.empty()) return;
  }
  if (attachments.empty() && names_cluster(infra.value)) {
    const bool is_guess = !infra.value.proxy || !infra.value.proxy->control_plane_namespace;
    const std::string made = control_plane_of(infra.value);
    if (is_guess && made.size() > kMaxLabelBytes)
      infra.subject.error(code::bad_name, "/spec/infraComponents/dns/clusterName",
                          "the control-plane namespace would be " + made + ", which is longer than 63 characters");
    else if (is_guess)
      infra.subject.warning(code::guessed_namespace, "/spec/infraComponents/dns/clusterName",
                            "controlPlaneNamespace is not given; the control plane is looked for in " + made);
  }
  ClusterChecker checker(infra);
  for (Attachment* attachment : attachments) checker.add(*attachment);
}

}  // namespace hcpnet::spec
