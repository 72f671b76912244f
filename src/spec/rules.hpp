// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <hcpnet/spec/load.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/network_rules.hpp"
#include "spec/subject.hpp"

/// The rules over several values, one file per part: what each says is in docs/spec.md. All report through the Subject.
namespace hcpnet::spec {

template <class Kind>
struct Examined {
  const Kind& value;
  Subject subject;
  NetworkPlan plan = {};                 ///< of an Infra or a DHCPServer
  Examined<AppsPolicy>* apps = nullptr;  ///< of an InfraClusterAttachment: its policy, once it is found
};

/// Whether an object whose name or namespace is at fault may be meant by a reference: what is good of the two fits.
template <class Kind>
[[nodiscard]] bool may_hold(const std::vector<Examined<Kind>>& objects, std::string_view namespace_,
                            std::string_view name) {
  return std::ranges::any_of(objects, [&](const Examined<Kind>& object) {
    const auto& [value, subject, plan, apps] = object;
    if (subject.has_identity()) return false;
    return (!subject.is_good("/metadata/name") || value.metadata.name == name) &&
           (!subject.is_good("/metadata/namespace") || value.metadata.namespace_ == namespace_);
  });
}

void check_infra(Examined<Infra>& infra);
void check_dhcp_server(Examined<DHCPServer>& server);
void check_dns_server(Examined<DNSServer>& server);
void check_proxy_server(Examined<ProxyServer>& server);

/// A list of options, `list` being the pointer to it: each code once, and each value as its code has it.
void check_options(Subject& subject, const std::string& list, const std::vector<DhcpOption>& options);

/// Exclusions, pools, subnets and client classes of a DHCPPolicy against each other and the target, whose plan is
/// nullptr where there is none; and reservations against all that. Returns what the policy adds to that plan.
[[nodiscard]] std::vector<TakenRange> check_pools(Examined<DHCPPolicy>& policy, const NetworkPlan* target);

/// `/spec/ipv6` and `/spec/routerAdvertisement` of a DHCPPolicy; and the networks of all of them against one another.
void check_ipv6(Subject& subject, const DHCPPolicy& policy);
void check_ipv6_networks(std::vector<Examined<DHCPPolicy>>& policies);

/// The attachments of one Infra, in the order of the text: against it and against each other.
void check_clusters(Examined<Infra>& infra, const std::vector<Examined<InfraClusterAttachment>*>& attachments);
void check_attachment(Examined<InfraClusterAttachment>& attachment);
/// The pool of an enabled apps ingress or the static VIP of its policy, and the domain, if nothing was said against
/// them.
[[nodiscard]] std::optional<Ipv4Range> pool_of(const Examined<InfraClusterAttachment>& attachment);
/// Where that is written, and what it is, for messages.
struct PoolPlace {
  Subject& subject;
  std::string pointer;
  const char* what;
};
[[nodiscard]] PoolPlace place_of_pool(Examined<InfraClusterAttachment>& attachment);
[[nodiscard]] std::optional<std::string> domain_of(const Examined<InfraClusterAttachment>& attachment);
/// Infras against each other, and the clusters of each against the other Infras and their clusters. Of Infras that have
/// no other problem.
void check_infras(std::vector<Examined<Infra>>& infras, std::vector<Examined<InfraClusterAttachment>>& attachments);

/// True when the Infra names a cluster itself.
[[nodiscard]] bool names_cluster(const Infra& infra);
/// Names of the control-plane namespaces, given or made up.
[[nodiscard]] std::string control_plane_of(const Infra& infra);
[[nodiscard]] std::string control_plane_of(const InfraClusterAttachment& attachment);

void check_bootstrap_cluster(Examined<BootstrapCluster>& cluster);
/// Each by itself, and their control planes against each other.
void check_hosted_clusters(std::vector<Examined<HostedCluster>>& clusters);

/// Each by itself and with the HostedCluster that runs on it, and their namespaces against each other.
void check_primary_udns(std::vector<Examined<PrimaryUDN>>& udns, const std::vector<Examined<HostedCluster>>& clusters);

/// `/spec/staticVIP` of an AppsPolicy.
inline const std::string kStaticVip = "/spec/staticVIP";
/// Gives each attachment its policy. Before rules that look at pools.
void check_apps_policies(std::vector<Examined<AppsPolicy>>& policies,
                         std::vector<Examined<InfraClusterAttachment>>& attachments, bool set_is_complete);

struct ExaminedPolicies {
  std::vector<Examined<DHCPPolicy>> dhcp;
  std::vector<Examined<DNSPolicy>> dns;
  std::vector<Examined<ProxyPolicy>> proxy;
};
struct PolicyTargets {
  std::vector<Examined<Infra>>& infras;
  std::vector<Examined<DHCPServer>>& dhcp_servers;
  std::vector<Examined<DNSServer>>& dns_servers;
  std::vector<Examined<ProxyServer>>& proxy_servers;
};
/// Networks of `/spec/subnets` against all others that the set serves.
void check_policy_subnets(std::vector<Examined<DHCPPolicy>>& policies, const PolicyTargets& targets);
/// `set_is_complete` is false when a file, or an object in one, could not be read: that may be the target that is not
/// there.
void check_policies(ExaminedPolicies& policies, PolicyTargets targets, bool set_is_complete);

/// Servers against each other, whatever kind describes them.
void check_servers(PolicyTargets servers);
/// Entries and addresses of DNSPolicies against what their targets publish.
void check_published(std::vector<Examined<DNSPolicy>>& policies, PolicyTargets targets,
                     const std::vector<Examined<InfraClusterAttachment>>& attachments);

/// Where the address of a server stands: "192.0.2.4/24" without its length.
[[nodiscard]] std::optional<Ipv4> address_of(const std::optional<std::string>& text);

/// Upstreams of a DNSPolicy, and who may ask.
void check_dns_conduct(Subject& subject, const DNSPolicy& policy);

/// Records of a DNSPolicy; `list` is the pointer to them, `default_ttl` that of records that say none.
void check_records(Subject& subject, const std::string& list, const std::vector<DNSPolicy::Record>& records,
                   std::chrono::seconds default_ttl);

}  // namespace hcpnet::spec
