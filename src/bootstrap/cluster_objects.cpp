// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/cluster_objects.hpp"

#include <hcpnet/text/yaml_writer.hpp>
#include <string_view>
#include <utility>

#include "bootstrap/base64.hpp"

namespace hcpnet::bootstrap {
namespace {

using spec::NodeRole;

Json make_object(const char* version, const char* kind, const std::string& name, Json spec) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}
Json make_data(const char* kind, const std::string& ns, const std::string& name, Json data) {
  return {{"apiVersion", "v1"},
          {"kind", kind},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"data", std::move(data)}};
}

Json pod_networks(const spec::ValidBootstrapCluster& cluster) {
  return Json::array({{{"cidr", cluster.pod_network.to_string()}, {"hostPrefix", cluster.spec.networks.host_prefix}}});
}
Json service_networks(const spec::ValidBootstrapCluster& cluster) {
  return Json::array({cluster.service_network.to_string()});
}

/// One node of a kind can't be highly available.
const char* topology(std::size_t nodes) {
  return nodes == 1 ? "SingleReplica" : "HighlyAvailable";
}

Json names_of(const std::vector<std::string>& gates) {
  Json list = Json::array();
  for (const std::string& gate : gates) list.push_back({{"name", gate}});
  return list;
}

}  // namespace

Json make_namespace(const std::string& name) {
  // The pods that operators put in here use the host's network and files; admission would only warn at first, and
  // refuse once a cluster enforces more than that.
  const std::string level = "pod-security.kubernetes.io/";
  return {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata",
           {{"name", name},
            {"annotations", {{"openshift.io/node-selector", ""}, {"workload.openshift.io/allowed", "management"}}},
            {"labels",
             {{level + "enforce", "privileged"}, {level + "audit", "privileged"}, {level + "warn", "privileged"}}}}}};
}

Json cluster_role_binding(const std::string& name, const std::string& role, Json subject) {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "ClusterRoleBinding"},
          {"metadata", {{"name", name}}},
          {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}}},
          {"subjects", Json::array({std::move(subject)})}};
}

Json user_subject(const std::string& name) {
  return {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", name}};
}

Json kubelet_bootstrap_subject(const pki::PkiPlan& plan) {
  const std::string& user = plan.find(plan.roles.kubelet_bootstrap)->profile.subject.common_name;
  constexpr std::string_view kServiceAccount = "system:serviceaccount:";
  if (!user.starts_with(kServiceAccount)) return user_subject(user);
  const std::size_t begin = kServiceAccount.size(), colon = user.find(':', begin);
  return {
      {"kind", "ServiceAccount"}, {"namespace", user.substr(begin, colon - begin)}, {"name", user.substr(colon + 1)}};
}

// The platform None: no cloud, a load balancer and addresses of somebody else's.
Json infrastructure() {
  return make_object("config.openshift.io/v1", "Infrastructure", "cluster",
                     {{"cloudConfig", {{"name", ""}}}, {"platformSpec", {{"type", "None"}}}});
}

Json infrastructure_status(const spec::ValidBootstrapCluster& cluster, const ClusterIds& ids) {
  const std::size_t workers = cluster.with_role(NodeRole::worker).size();
  const std::size_t control_plane = cluster.with_role(NodeRole::control_plane).size();
  return {{"infrastructureName", ids.infra_id},
          {"platform", "None"},
          {"platformStatus", {{"type", "None"}}},
          {"etcdDiscoveryDomain", ""},
          {"apiServerURL", "https://api." + cluster.domain + ":6443"},
          // The API calls its field so; whoever writes apiServerInternalURL writes nothing, and the machine-config
          // operator, which makes apiserver-url.env of it, has no host.
          {"apiServerInternalURI", "https://api-int." + cluster.domain + ":6443"},
          {"controlPlaneTopology", topology(control_plane)},
          {"infrastructureTopology", topology(workers > 0 ? workers : control_plane)},
          {"cpuPartitioning", "None"}};
}

Json network_config(const spec::ValidBootstrapCluster& cluster) {
  return make_object("config.openshift.io/v1", "Network", "cluster",
                     {{"clusterNetwork", pod_networks(cluster)},
                      {"serviceNetwork", service_networks(cluster)},
                      {"networkType", "OVNKubernetes"}});
}

Json network_operator(const spec::ValidBootstrapCluster& cluster) {
  return make_object("operator.openshift.io/v1", "Network", "cluster",
                     {{"managementState", "Managed"},
                      {"clusterNetwork", pod_networks(cluster)},
                      {"serviceNetwork", service_networks(cluster)},
                      {"defaultNetwork", {{"type", "OVNKubernetes"}}}});
}

Json dns_config(const spec::ValidBootstrapCluster& cluster) {
  return make_object("config.openshift.io/v1", "DNS", "cluster", {{"baseDomain", cluster.domain}});
}

Json ingress_config(const spec::ValidBootstrapCluster& cluster) {
  return make_object("config.openshift.io/v1", "Ingress", "cluster", {{"domain", "apps." + cluster.domain}});
}

Json proxy_config() {
  return make_object("config.openshift.io/v1", "Proxy", "cluster", {{"trustedCA", {{"name", ""}}}});
}

Json feature_gate() {
  return make_object("config.openshift.io/v1", "FeatureGate", "cluster", {{"featureSet", ""}});
}

Json feature_gate_status(const spec::ValidBootstrapCluster& cluster, const std::optional<FeatureGates>& gates) {
  const FeatureGates known = gates.value_or(FeatureGates{});
  return {{"featureGates", Json::array({{{"version", cluster.spec.openshift_version},
                                         {"enabled", names_of(known.enabled)},
                                         {"disabled", names_of(known.disabled)}}})}};
}

Json cluster_config(const spec::ValidBootstrapCluster& cluster, const std::string& ssh_key) {
  const auto pool = [](const char* name, std::size_t replicas) {
    return Json{{"name", name}, {"architecture", "amd64"}, {"hyperthreading", "Enabled"}, {"replicas", replicas}};
  };
  // What operators read of an installation: no pull secret, which everybody in kube-system could read.
  const Json install_config = {{"apiVersion", "v1"},
                               {"metadata", {{"name", cluster.spec.cluster_name}}},
                               {"baseDomain", cluster.spec.base_domain},
                               {"controlPlane", pool("master", cluster.with_role(NodeRole::control_plane).size())},
                               {"compute", Json::array({pool("worker", cluster.with_role(NodeRole::worker).size())})},
                               {"networking",
                                {{"networkType", "OVNKubernetes"},
                                 {"machineNetwork", Json::array({{{"cidr", cluster.machine_network.to_string()}}})},
                                 {"clusterNetwork", pod_networks(cluster)},
                                 {"serviceNetwork", service_networks(cluster)}}},
                               {"platform", {{"none", Json::object()}}},
                               {"publish", "External"},
                               {"pullSecret", ""},
                               {"sshKey", ssh_key}};
  return make_data("ConfigMap", "kube-system", "cluster-config-v1",
                   {{"install-config", text::render_yaml(install_config)}});
}

Json etcd_endpoints(const spec::ValidBootstrapCluster& cluster) {
  // The etcd operator reads the annotation and no data: what it finds in there counts as members of its own.
  Json object = make_data("ConfigMap", "openshift-etcd", "etcd-endpoints", Json::object());
  object["metadata"]["annotations"] = {
      {"alpha.installer.openshift.io/etcd-bootstrap", cluster.bootstrap().address.to_string()}};
  return object;
}

Json pull_secret(const pki::Secret& text) {
  Json object = make_data("Secret", "openshift-config", "pull-secret", {{".dockerconfigjson", base64(text.reveal())}});
  object["type"] = "kubernetes.io/dockerconfigjson";
  return object;
}

Json kubeadmin(const std::string& hash) {
  Json object = make_data("Secret", "kube-system", "kubeadmin", {{"kubeadmin", base64(hash)}});
  object["type"] = "Opaque";
  return object;
}

Json cluster_version(const spec::ValidBootstrapCluster& cluster, const ClusterIds& ids) {
  // No desiredUpdate: the operator starts with the release that it runs from, and would take this for an update.
  return make_object("config.openshift.io/v1", "ClusterVersion", "version",
                     {{"clusterID", ids.cluster_id}, {"channel", "stable-4." + std::to_string(cluster.minor)}});
}

}  // namespace hcpnet::bootstrap
