// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/guest.hpp>
#include <hcpnet/manifest/names.hpp>
#include <utility>

#include "manifest/objects.hpp"

namespace hcpnet::manifest {
namespace {

constexpr const char* kComponent = "apps";
constexpr std::uint16_t kRouterHttp = 80, kRouterHttps = 443;  // of the router's pods, whatever the Service's ports

class GuestBuilder {
 public:
  /// `policy`: null where the addresses are MetalLB's.
  GuestBuilder(const spec::InfraClusterAttachment& attachment, const spec::AppsPolicy* policy,
               const GuestOptions& options, std::vector<Json>& out)
      : name_(attachment.metadata.name),
        ingress_(attachment.apps_ingress),
        policy_(policy),
        options_(options),
        out_(out) {
    unit_.instance = cut_name(name_, "_attachment");
  }

  void build() {
    add_account();
    if (policy_ == nullptr) add_pool();
    add_service();
  }

 private:
  Json make(const char* version, const char* kind, const std::string& name, const std::string& ns) const {
    return make_foreign(unit_, version, kind, name, ns, kComponent);
  }

  /// Whoever follows the Service's address from outside needs no more than to read it. The token of a Secret does not
  /// end, so that a kubeconfig can hold it; deleting the Secret ends it.
  void add_account() {
    const std::string& ns = ingress_.service_namespace;
    Json account = make("v1", "ServiceAccount", kAccount, ns);
    account["automountServiceAccountToken"] = false;
    Json role = make("rbac.authorization.k8s.io/v1", "Role", kAccount, ns);
    role["rules"] = Json::array({{{"apiGroups", Json::array({""})},
                                  {"resources", Json::array({"services"})},
                                  {"resourceNames", Json::array({ingress_.service_name})},
                                  {"verbs", Json::array({"get", "list", "watch"})}}});
    Json binding = make("rbac.authorization.k8s.io/v1", "RoleBinding", kAccount, ns);
    binding["roleRef"] = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", kAccount}};
    binding["subjects"] = Json::array({{{"kind", "ServiceAccount"}, {"name", kAccount}, {"namespace", ns}}});
    Json token = make("v1", "Secret", std::string(kAccount) + "-token", ns);
    token["metadata"]["annotations"]["kubernetes.io/service-account.name"] = kAccount;
    token["type"] = "kubernetes.io/service-account-token";
    for (Json* object : {&account, &role, &binding, &token}) out_.push_back(std::move(*object));
  }

  /// The addresses are for this one Service: no other of the cluster gets one of them.
  void add_pool() {
    const std::string& pool_name = *ingress_.address_pool_name;
    Json metallb = make("metallb.io/v1beta1", "MetalLB", "metallb", options_.metallb_namespace);
    metallb["spec"] = Json::object();
    Json pool = make("metallb.io/v1beta1", "IPAddressPool", pool_name, options_.metallb_namespace);
    pool["spec"] = {{"addresses", Json::array({*ingress_.address_pool_range})},
                    {"autoAssign", false},
                    {"avoidBuggyIPs", false},
                    {"serviceAllocation",
                     {{"namespaces", Json::array({ingress_.service_namespace})},
                      {"serviceSelectors", Json::array({{{"matchLabels", selector_labels(unit_, kComponent)}}})}}}};
    Json advertisement =
        make("metallb.io/v1beta1", "L2Advertisement",
             ingress_.l2_advertisement_name.value_or(cut_name("advertise-" + pool_name, {}, kMaxNameBytes)),
             options_.metallb_namespace);
    advertisement["spec"] = {{"ipAddressPools", Json::array({pool_name})}};
    for (Json* object : {&metallb, &pool, &advertisement}) out_.push_back(std::move(*object));
  }

  void add_service() {
    Json service = make("v1", "Service", ingress_.service_name, ingress_.service_namespace);
    for (const auto& [key, value] : ingress_.service_labels) service["metadata"]["labels"].emplace(key, value);
    for (const auto& [key, value] : ingress_.service_annotations) service["metadata"]["annotations"][key] = value;
    service["spec"] = service_spec(
        policy_ != nullptr ? "ClusterIP" : "LoadBalancer",
        {{"ingresscontroller.operator.openshift.io/deployment-ingresscontroller", "default"}},
        {{"http", ingress_.http_port, "TCP", kRouterHttp}, {"https", ingress_.https_port, "TCP", kRouterHttps}});
    if (policy_ != nullptr) {
      // Every node takes what arrives for this address; who makes it arrive is somebody else.
      service["spec"]["externalIPs"] = Json::array({policy_->static_vip});
      service["spec"]["externalTrafficPolicy"] = "Cluster";
    } else {
      ask_for_pool(service, *ingress_.address_pool_name);
    }
    out_.push_back(std::move(service));
  }

  static constexpr const char* kAccount = "hcpnet-apps-reader";
  const std::string& name_;
  const spec::AppsIngress& ingress_;
  const spec::AppsPolicy* policy_;
  const GuestOptions& options_;
  Unit unit_;
  std::vector<Json>& out_;
};

const spec::AppsPolicy* policy_of(const std::vector<spec::AppsPolicy>& policies, const spec::ObjectMeta& attachment) {
  const auto found = std::ranges::find_if(policies, [&](const spec::AppsPolicy& policy) {
    return policy.metadata.namespace_ == attachment.namespace_ && policy.target.name == attachment.name;
  });
  return found == policies.end() ? nullptr : &*found;
}

}  // namespace

Result<Built, Diagnostics> build_guest(const spec::ValidSet& set, std::string_view hosted_cluster,
                                       const GuestOptions& options) {
  const auto is_meant = [&](const spec::InfraClusterAttachment& attachment) {
    return attachment.hosted_cluster_namespace + '/' + attachment.hosted_cluster_name == hosted_cluster;
  };
  const auto attachment = std::ranges::find_if(set.attachments, is_meant);
  const spec::AppsPolicy* policy =
      attachment == set.attachments.end() ? nullptr : policy_of(set.apps_policies, attachment->metadata);
  if (attachment == set.attachments.end() || (policy == nullptr && !attachment->apps_ingress.enabled)) {
    Diagnostics errors;
    Diagnostic d;
    d.code = "no-apps-ingress";
    d.message = "no InfraClusterAttachment of the set asks for appsIngress of a hosted cluster " +
                std::string(hosted_cluster) + " or has an AppsPolicy, so nothing belongs inside of it";
    errors.add(std::move(d));
    return errors;
  }
  Built built;
  GuestBuilder(*attachment, policy, options, built.objects).build();
  return built;
}

}  // namespace hcpnet::manifest
