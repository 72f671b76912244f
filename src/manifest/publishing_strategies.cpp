// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/published_names.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "manifest/served_names.hpp"
#include "spec/format.hpp"
#include "spec/names.hpp"
#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;
using spec::ServiceType;
using Strategy = spec::PublishingStrategyType;

/// The label of each service below the cluster's domain, in the order of HyperShift's own examples. HyperShift makes
/// nothing of OIDC any more; its entry tells people, and us when the object is read again, whose the name is.
constexpr std::pair<ServiceType, std::string_view> kLabels[] = {{ServiceType::api_server, "api"},
                                                                {ServiceType::oauth_server, "oauth"},
                                                                {ServiceType::oidc, "oidc"},
                                                                {ServiceType::konnectivity, "konnectivity"},
                                                                {ServiceType::ignition, "ignition"}};

Json make_entry(ServiceType service, Strategy strategy, const std::string& host) {
  return {{"service", spec::to_string(service)},
          {"servicePublishingStrategy",
           {{"type", spec::to_string(strategy)},
            {strategy == Strategy::route ? "route" : "loadBalancer", {{"hostname", host}}}}}};
}

Json make_services(const std::string& domain, bool is_api_on_443) {
  Json services = Json::array();
  for (const auto& [service, label] : kLabels) {
    const bool is_load_balancer = service == ServiceType::api_server && !is_api_on_443;
    services.push_back(make_entry(service, is_load_balancer ? Strategy::load_balancer : Strategy::route,
                                  std::string(label) + '.' + domain));
  }
  return services;
}

/// What a HostedCluster publishes so far, in the same form.
Json services_of(const spec::HostedCluster& cluster) {
  Json services = Json::array();
  for (const auto& [service, label] : kLabels) {
    const spec::ServicePublishing* publishing = cluster.find(service);
    if (publishing == nullptr) continue;
    const auto& part = publishing->type == Strategy::route ? publishing->route : publishing->load_balancer;
    services.push_back(
        make_entry(service, publishing->type, part && part->hostname ? spec::lower(*part->hostname) : std::string()));
  }
  return services;
}

class StrategyMaker {
 public:
  explicit StrategyMaker(const spec::ValidSet& set) : set_(set) {
    for (const spec::ValidHostedCluster& cluster : set.hosted_clusters)
      hosted_.emplace(cluster.metadata.key(), &cluster);
  }

  Result<PublishingStrategies, Diagnostics> run() {
    for (const spec::ValidInfra& infra : set_.infras)
      for (const spec::ValidCluster& cluster : infra.clusters) add_served(infra, cluster);
    for (const spec::ValidHostedCluster& cluster : set_.hosted_clusters)
      if (cluster.spec.services.empty() && !made_.contains(cluster.metadata.key())) add_draft(cluster);
    if (made_.empty() && !problems_.has_errors()) report_nothing();
    if (problems_.has_errors()) return problems_;
    PublishingStrategies out;
    for (auto& [key, object] : made_) out.hosted_clusters.push_back(std::move(object));
    out.warnings = std::move(problems_);
    return out;
  }

 private:
  void report_nothing() {
    Diagnostic problem;
    problem.code = "no-cluster";
    problem.message = "the set has no cluster of an Infra, and no HostedCluster without services";
    problems_.add(std::move(problem));
  }

  void add_served(const spec::ValidInfra& infra, const spec::ValidCluster& cluster) {
    std::string key = cluster.hosted_cluster;
    // An Infra that names its cluster itself says where the control plane is, and not what the HostedCluster is called.
    const bool is_own = names_its_cluster(set_, infra);
    const std::string tail = '-' + cluster.name;
    if (is_own && cluster.control_plane_namespace.ends_with(tail) &&
        cluster.control_plane_namespace.size() > tail.size())
      key = cluster.control_plane_namespace.substr(0, cluster.control_plane_namespace.size() - tail.size()) + '/' +
            cluster.name;
    const std::size_t slash = key.find('/');
    check_namespace(cluster, infra.metadata, spec::control_plane_namespace(key.substr(0, slash), key.substr(slash + 1)),
                    problems_);
    add(key, cluster.domain, infra.proxy_policy.publish_api_on_443, cluster.origin,
        is_own ? "/spec/infraComponents/dns/baseDomain" : "/spec/dns/baseDomain", infra.metadata);
  }

  void add_draft(const spec::ValidHostedCluster& cluster) {
    const std::string base = spec::lower(cluster.spec.base_domain.value_or(""));
    const std::string prefix = spec::lower(cluster.spec.base_domain_prefix.value_or(cluster.metadata.name));
    if (base.empty()) {
      problems_.add(derive::problem(Severity::error, cluster.origin, "/spec/dns", cluster.metadata, "no-domain",
                                    "there is no base domain to publish below"));
      return;
    }
    add(cluster.metadata.key(), prefix.empty() ? base : prefix + '.' + base, false, cluster.origin,
        "/spec/dns/baseDomain", cluster.metadata);
  }

  void add(const std::string& key, const std::string& domain, bool is_api_on_443, const spec::Origin& origin,
           const std::string& pointer, const spec::ObjectMeta& owner) {
    // The longest of them is as good as all.
    if (const auto problem = spec::published_host_problem("konnectivity." + domain)) {
      problems_.add(derive::problem(Severity::error, origin, pointer, owner, "bad-published-name",
                                    "HyperShift can't publish below " + domain + ": " + *problem));
      return;
    }
    Json services = make_services(domain, is_api_on_443);
    warn_if_fixed(key, services);
    const std::size_t slash = key.find('/');
    made_.emplace(key, Json{{"apiVersion", spec::kHypershiftApiVersion},
                            {"kind", "HostedCluster"},
                            {"metadata", {{"name", key.substr(slash + 1)}, {"namespace", key.substr(0, slash)}}},
                            {"spec", {{"services", std::move(services)}}}});
  }

  /// The OIDC entry makes no difference, so its absence is none.
  void warn_if_fixed(const std::string& key, const Json& services) {
    const auto found = hosted_.find(key);
    if (found == hosted_.end() || found->second->spec.services.empty()) return;
    Json wanted = services, present = services_of(found->second->spec);
    const auto is_oidc = [](const Json& entry) { return entry["service"] == spec::to_string(ServiceType::oidc); };
    for (Json* list : {&wanted, &present}) {
      auto& entries = list->get_ref<Json::array_t&>();
      std::erase_if(entries, is_oidc);
    }
    if (wanted != present)
      problems_.add(derive::problem(Severity::warning, found->second->origin, "/spec/services", found->second->metadata,
                                    "services-immutable",
                                    "it has other services already, and HyperShift refuses to change them: the "
                                    "HostedCluster would have to be made anew"));
  }

  const spec::ValidSet& set_;
  std::map<std::string, const spec::ValidHostedCluster*> hosted_;
  std::map<std::string, Json> made_;  ///< by "namespace/name"
  Diagnostics problems_;
};

}  // namespace

Result<PublishingStrategies, Diagnostics> make_publishing_strategies(const spec::ValidSet& set) {
  return StrategyMaker(set).run();
}

}  // namespace hcpnet::manifest
