// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/spec/codes.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <utility>

#include "spec/build.hpp"
#include "spec/format_checker.hpp"
#include "spec/record_file_rules.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

const std::string kName = "/metadata/name";

/// One pass over a set: each value by itself, then objects, then objects against each other.
class Validator {
 public:
  Validator(const SpecSet& set, RecordFiles& record_files, Diagnostics& out)
      : set_(set), record_files_(record_files), out_(out) {}

  void run() {
    examine(set_.infras, infras_);
    examine(set_.attachments, attachments_);
    examine(set_.dhcp_servers, dhcp_servers_);
    examine(set_.dns_servers, dns_servers_);
    examine(set_.proxy_servers, proxy_servers_);
    examine(set_.dhcp_policies, policies_.dhcp);
    examine(set_.dns_policies, policies_.dns);
    examine(set_.proxy_policies, policies_.proxy);
    examine(set_.apps_policies, apps_policies_);
    examine(set_.bootstrap_clusters, bootstrap_clusters_);
    examine(set_.hosted_clusters, hosted_clusters_);
    examine(set_.primary_udns, primary_udns_);
    for (auto& infra : infras_) check_infra(infra);
    for (auto& attachment : attachments_) check_attachment(attachment);
    for (auto& server : dhcp_servers_) check_dhcp_server(server);
    for (auto& server : dns_servers_) check_dns_server(server);
    for (auto& server : proxy_servers_) check_proxy_server(server);
    check_apps_policies(apps_policies_, attachments_, set_.complete);
    check_attachments();
    const PolicyTargets servers{infras_, dhcp_servers_, dns_servers_, proxy_servers_};
    check_policies(policies_, servers, set_.complete);
    for (std::size_t i = 0; i < policies_.dns.size(); ++i)
      record_files_.check(set_.dns_policies[i], policies_.dns[i].subject);
    check_published(policies_.dns, servers, attachments_);
    check_servers(servers);
    check_infras(infras_, attachments_);
    for (auto& cluster : bootstrap_clusters_) check_bootstrap_cluster(cluster);
    check_hosted_clusters(hosted_clusters_);
    check_primary_udns(primary_udns_, hosted_clusters_);
  }

 private:
  template <class Kind>
  void examine(const std::vector<SpecSet::Object<Kind>>& objects, std::vector<Examined<Kind>>& examined) {
    examined.reserve(objects.size());  // rules keep pointers to what is in here
    std::map<std::string, const Subject*> seen;
    for (const auto& [value, origin] : objects) {
      Subject& subject = examined.emplace_back(value, Subject(origin, value.metadata, out_)).subject;
      FormatChecker checker(subject);
      Kind copy = value;  // a visitor takes what it may fill; this one fills nothing
      describe(checker, copy);
      if (!subject.has_identity()) continue;
      const auto [first, is_new] = seen.emplace(value.metadata.key(), &subject);
      if (!is_new)
        subject.error(code::duplicate_object, kName,
                      "an object of this kind, name and namespace (" + value.metadata.key() + ") stands earlier, at " +
                          first->second->where(kName));
    }
  }

  void check_attachments() {
    std::map<std::string, std::vector<Examined<InfraClusterAttachment>*>> by_infra;
    for (auto& attachment : attachments_)
      if (attachment.subject.is_good("/spec/infraRef/name") && attachment.subject.is_good("/metadata/namespace"))
        by_infra[attachment.value.metadata.namespace_ + '/' + attachment.value.infra_name].push_back(&attachment);
    for (auto& infra : infras_) {
      const auto group = by_infra.extract(infra.value.metadata.key());
      check_clusters(infra, group.empty() ? std::vector<Examined<InfraClusterAttachment>*>{} : group.mapped());
    }
    if (!set_.complete) return;
    for (const auto& [infra, attachments] : by_infra) {
      const InfraClusterAttachment& first = attachments.front()->value;
      if (may_hold(infras_, first.metadata.namespace_, first.infra_name)) continue;
      for (auto* attachment : attachments)
        attachment->subject.warning(code::bad_reference, "/spec/infraRef/name",
                                    "Infra " + infra + " is not in these files, so this cluster is not served");
    }
  }

  const SpecSet& set_;
  RecordFiles& record_files_;
  Diagnostics& out_;
  std::vector<Examined<Infra>> infras_;
  std::vector<Examined<InfraClusterAttachment>> attachments_;
  std::vector<Examined<DHCPServer>> dhcp_servers_;
  std::vector<Examined<DNSServer>> dns_servers_;
  std::vector<Examined<ProxyServer>> proxy_servers_;
  ExaminedPolicies policies_;
  std::vector<Examined<AppsPolicy>> apps_policies_;
  std::vector<Examined<BootstrapCluster>> bootstrap_clusters_;
  std::vector<Examined<HostedCluster>> hosted_clusters_;
  std::vector<Examined<PrimaryUDN>> primary_udns_;
};

}  // namespace

std::vector<Ipv4Cidr> ValidInfra::networks() const {
  std::vector<Ipv4Cidr> all{cidr};
  for (const ValidDhcpPolicy::Subnet& subnet : dhcp_policy.subnets) all.push_back(subnet.cidr);
  return all;
}

bool ValidInfra::is_on_link(const IpAddress& address) const {
  return address.is_v4() &&
         std::ranges::any_of(networks(), [&](const Ipv4Cidr& network) { return network.contains(address.v4()); });
}

Result<ValidSet, Diagnostics> validate(const SpecSet& set, std::span<const RecordText> records) {
  Diagnostics problems = set.problems;
  RecordFiles record_files(records, problems);
  Validator(set, record_files, problems).run();
  problems.sort();
  if (problems.has_errors()) return problems;
  ValidSet valid = build(set, record_files);
  valid.warnings = std::move(problems);
  return valid;
}

Result<ValidSet, Diagnostics> check(const std::vector<SourceText>& sources, const LoadLimits& limits, KindSet kinds) {
  return validate(load(sources, limits, kinds));
}

}  // namespace hcpnet::spec
