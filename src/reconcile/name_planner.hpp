// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/reconcile/plan.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/zone_server.hpp"

namespace hcpnet::reconcile {

/// {apiVersion, kind, metadata: {name, namespace}}
[[nodiscard]] nlohmann::json reference(const char* version, const char* kind, const std::string& ns,
                                       const std::string& name);
/// ClusterIPs of a Service; none where it is headless or not there.
[[nodiscard]] std::vector<IpAddress> service_addresses(const ClusterObjects& objects, const std::string& ns,
                                                       const std::string& name);

/// A DNS server behind a Service, to which the cluster's own DNS is to forward zones.
struct ForwardTarget {
  std::string namespace_, service, deployment;
  std::uint16_t port = 53;  ///< of the Service
};

/// Makes names lead somewhere by what serves them, and by the DNS of the cluster whose objects these are.
class NamePlanner {
 public:
  /// `owner`, "namespace/name", begins every warning.
  NamePlanner(std::string owner, const ClusterObjects& objects, const PlanOptions& options, Plan& plan)
      : owner_(std::move(owner)), objects_(objects), options_(options), plan_(plan) {}

  void warn(const std::string& code, const std::string& message);
  void add(const nlohmann::json& desired);

  /// Names of the hosted cluster, as HyperShift publishes them. What isn't known yet is told and left out.
  [[nodiscard]] std::optional<manifest::ClusterNames> published(const std::string& hosted_cluster,
                                                                const spec::ValidSet& set,
                                                                const spec::Observed& observed);
  /// A server for names, and the zones of these names, forwarded to it.
  void add_zone_server(const manifest::ZoneServer& server);
  /// An entry of dns.operator.openshift.io that leads to a server, once its address is known and a pod of it answers:
  /// an entry that comes earlier would make the names fail.
  void forward(const ForwardTarget& target, const std::vector<std::string>& zones);
  /// Whether the cluster has a DNS operator, as far as it was observed.
  [[nodiscard]] bool has_dns_operator() const;

 private:
  [[nodiscard]] bool answers(const ForwardTarget& target) const;
  void add_entry(nlohmann::json entry);

  std::string owner_;
  const ClusterObjects& objects_;
  const PlanOptions& options_;
  Plan& plan_;
};

}  // namespace hcpnet::reconcile
