// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/static_pods.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "bootstrap/node_paths.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;
using Flags = std::vector<std::string>;

/// A file or folder of the node, at the same place in the pod.
struct Mount {
  std::string name, path;
  bool read_only = true;
  const char* type = "Directory";
};

struct PodParts {
  std::string name, ns;
  std::string container, image;
  Flags command, arguments;
  std::vector<Mount> mounts;
  std::string cpu, memory;
  bool privileged = false;
};

Json make_pod(const PodParts& parts) {
  Json mounts = Json::array(), volumes = Json::array();
  for (const Mount& mount : parts.mounts) {
    Json at = {{"name", mount.name}, {"mountPath", mount.path}};
    if (mount.read_only) at["readOnly"] = true;
    mounts.push_back(std::move(at));
    volumes.push_back({{"name", mount.name}, {"hostPath", {{"path", mount.path}, {"type", mount.type}}}});
  }
  Json container = {{"name", parts.container},
                    {"image", parts.image},
                    {"imagePullPolicy", "IfNotPresent"},
                    {"args", parts.arguments},
                    {"resources", {{"requests", {{"cpu", parts.cpu}, {"memory", parts.memory}}}}},
                    {"terminationMessagePolicy", "FallbackToLogsOnError"},
                    {"volumeMounts", std::move(mounts)}};
  if (!parts.command.empty()) container["command"] = parts.command;
  if (parts.privileged) container["securityContext"] = {{"privileged", true}};
  // The kubelet evicts nothing that is critical to its node, and no taint keeps a static pod away.
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", parts.name}, {"namespace", parts.ns}, {"labels", {{"app.kubernetes.io/name", parts.container}}}}},
          {"spec",
           {{"hostNetwork", true},
            {"priorityClassName", "system-node-critical"},
            {"restartPolicy", "Always"},
            {"tolerations", Json::array({{{"operator", "Exists"}}})},
            {"containers", Json::array({std::move(container)})},
            {"volumes", std::move(volumes)}}}};
}

Json& container_of(Json& pod) {
  return pod["spec"]["containers"][0];
}

Json https_probe(const char* path, int port) {
  return {{"httpGet", {{"path", path}, {"port", port}, {"scheme", "HTTPS"}}},
          {"periodSeconds", 10},
          {"timeoutSeconds", 10},
          {"failureThreshold", 3}};
}

std::string certificate(const std::string& name) {
  return std::string(node::kPki) + '/' + name + ".crt";
}
std::string key(const std::string& name) {
  return std::string(node::kPki) + '/' + name + ".key";
}
Flags joined(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}
const Mount kPkiMount{"pki", node::kPki};
const Mount kKubeconfigsMount{"kubeconfigs", node::kKubeconfigs};

StaticPod etcd(const spec::ValidBootstrapCluster& cluster, const pki::PkiRoles& roles, const Images& images) {
  const std::string address = cluster.bootstrap().address.to_string();
  // Under this name the etcd operator finds the member that it removes when the cluster has three of its own.
  const std::string name = "etcd-bootstrap";
  const std::string peer_url = "https://" + address + ":2380";
  PodParts parts;
  parts.name = "etcd-bootstrap-member";
  parts.ns = "openshift-etcd";
  parts.container = "etcd";
  parts.image = images.at("etcd");
  parts.command = {"etcd"};
  parts.arguments = {"--name=" + name,
                     "--data-dir=/var/lib/etcd",
                     "--listen-client-urls=https://0.0.0.0:2379",
                     "--advertise-client-urls=https://" + address + ":2379",
                     "--listen-peer-urls=https://0.0.0.0:2380",
                     "--initial-advertise-peer-urls=" + peer_url,
                     "--initial-cluster=" + name + '=' + peer_url,
                     "--initial-cluster-state=new",
                     "--cert-file=" + certificate(roles.etcd_serving),
                     "--key-file=" + key(roles.etcd_serving),
                     "--client-cert-auth=true",
                     "--trusted-ca-file=" + certificate(roles.etcd_ca),
                     "--peer-cert-file=" + certificate(roles.etcd_peer),
                     "--peer-key-file=" + key(roles.etcd_peer),
                     "--peer-client-cert-auth=true",
                     "--peer-trusted-ca-file=" + certificate(roles.etcd_ca)};
  parts.mounts = {kPkiMount, {"data", "/var/lib/etcd", false, "DirectoryOrCreate"}};
  parts.cpu = "245m";
  parts.memory = "600Mi";
  parts.privileged = true;  // SELinux lets no other container write to a folder of the host
  return {"etcd.yaml", make_pod(parts)};
}

Flags api_server_flags(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  const pki::PkiRoles& roles = plan.roles;
  const std::string service_account = std::string(node::kPki) + '/' + roles.service_account;
  Flags flags{"--advertise-address=" + cluster.bootstrap().address.to_string(),
              "--bind-address=0.0.0.0",
              "--secure-port=6443",
              "--etcd-servers=https://localhost:2379",
              "--etcd-cafile=" + certificate(roles.etcd_ca),
              "--etcd-certfile=" + certificate(roles.etcd_client),
              "--etcd-keyfile=" + key(roles.etcd_client),
              "--tls-cert-file=" + certificate(roles.serving.front()),
              "--tls-private-key-file=" + key(roles.serving.front())};
  for (std::size_t i = 1; i < roles.serving.size(); ++i)
    flags.push_back("--tls-sni-cert-key=" + certificate(roles.serving[i]) + ',' + key(roles.serving[i]));
  return joined(
      std::move(flags),
      {"--client-ca-file=" + certificate(roles.client_ca),
       // The load balancer asks for /readyz without a name of its own; RBAC gives nobody more than that.
       "--anonymous-auth=true", "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
       "--allow-privileged=true", "--service-cluster-ip-range=" + cluster.service_network.to_string(),
       "--service-account-issuer=https://kubernetes.default.svc",
       "--service-account-key-file=" + service_account + ".pub",
       "--service-account-signing-key-file=" + service_account + ".key",
       "--kubelet-client-certificate=" + certificate(roles.kubelet_client),
       "--kubelet-client-key=" + key(roles.kubelet_client),
       "--kubelet-certificate-authority=" + certificate(roles.csr_signer_ca),
       "--kubelet-preferred-address-types=InternalIP",
       "--requestheader-client-ca-file=" + certificate(roles.aggregator_ca),
       "--requestheader-allowed-names=" + plan.find(roles.aggregator_client)->profile.subject.common_name,
       "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
       "--requestheader-extra-headers-prefix=X-Remote-Extra-",
       "--proxy-client-cert-file=" + certificate(roles.aggregator_client),
       "--proxy-client-key-file=" + key(roles.aggregator_client), "--v=2"});
}

StaticPod api_server(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan, const Images& images) {
  PodParts parts;
  parts.name = "bootstrap-kube-apiserver";
  parts.ns = "openshift-kube-apiserver";
  parts.container = "kube-apiserver";
  parts.image = images.at("hyperkube");
  parts.command = {"kube-apiserver"};
  parts.arguments = api_server_flags(cluster, plan);
  parts.mounts = {kPkiMount, {"ssl-certs", "/etc/ssl/certs"}};
  parts.cpu = "265m";
  parts.memory = "1Gi";
  Json pod = make_pod(parts);
  // Not alive without etcd would mean: killed while etcd starts.
  container_of(pod)["livenessProbe"] = https_probe("/livez?exclude=etcd", 6443);
  container_of(pod)["livenessProbe"]["initialDelaySeconds"] = 45;
  container_of(pod)["readinessProbe"] = https_probe("/readyz", 6443);
  return {"kube-apiserver.yaml", std::move(pod)};
}

/// The flags by which a component finds the API server, and asks it who its own clients are.
Flags kubeconfig_flags(const std::string& name) {
  const std::string file = std::string(node::kKubeconfigs) + '/' + name + ".kubeconfig";
  return {"--kubeconfig=" + file, "--authentication-kubeconfig=" + file, "--authorization-kubeconfig=" + file};
}

StaticPod controller_manager(const pki::PkiRoles& roles, const Images& images) {
  PodParts parts;
  parts.name = "bootstrap-kube-controller-manager";
  parts.ns = "openshift-kube-controller-manager";
  parts.container = "kube-controller-manager";
  parts.image = images.at("hyperkube");
  parts.command = {"kube-controller-manager"};
  parts.arguments =
      joined(kubeconfig_flags("kube-controller-manager"),
             {"--bind-address=127.0.0.1", "--secure-port=10257", "--leader-elect=true",
              "--use-service-account-credentials=true", "--root-ca-file=" + certificate(roles.server_ca),
              "--service-account-private-key-file=" + key(roles.service_account),
              "--cluster-signing-cert-file=" + certificate(roles.csr_signer_ca),
              "--cluster-signing-key-file=" + key(roles.csr_signer), "--cluster-signing-duration=720h", "--v=2"});
  parts.mounts = {kPkiMount, kKubeconfigsMount, {"ssl-certs", "/etc/ssl/certs"}};
  parts.cpu = "60m";
  parts.memory = "200Mi";
  Json pod = make_pod(parts);
  container_of(pod)["livenessProbe"] = https_probe("/healthz", 10257);
  container_of(pod)["livenessProbe"]["httpGet"]["host"] = "127.0.0.1";
  container_of(pod)["livenessProbe"]["initialDelaySeconds"] = 45;
  return {"kube-controller-manager.yaml", std::move(pod)};
}

StaticPod scheduler(const Images& images) {
  PodParts parts;
  parts.name = "bootstrap-kube-scheduler";
  parts.ns = "openshift-kube-scheduler";
  parts.container = "kube-scheduler";
  parts.image = images.at("hyperkube");
  parts.command = {"kube-scheduler"};
  parts.arguments = joined(kubeconfig_flags("kube-scheduler"),
                           {"--bind-address=127.0.0.1", "--secure-port=10259", "--leader-elect=true", "--v=2"});
  parts.mounts = {kKubeconfigsMount};
  parts.cpu = "15m";
  parts.memory = "50Mi";
  Json pod = make_pod(parts);
  container_of(pod)["livenessProbe"] = https_probe("/healthz", 10259);
  container_of(pod)["livenessProbe"]["httpGet"]["host"] = "127.0.0.1";
  container_of(pod)["livenessProbe"]["initialDelaySeconds"] = 45;
  return {"kube-scheduler.yaml", std::move(pod)};
}

Json field_of_pod(const char* name, const char* path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

}  // namespace

std::vector<StaticPod> make_control_plane_pods(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                                               const Images& images) {
  return {etcd(cluster, plan.roles, images), api_server(cluster, plan, images), controller_manager(plan.roles, images),
          scheduler(images)};
}

StaticPod make_version_operator_pod(const spec::ValidBootstrapCluster& cluster) {
  PodParts parts;
  parts.name = "bootstrap-cluster-version-operator";
  parts.ns = "openshift-cluster-version";
  parts.container = "cluster-version-operator";
  parts.image = cluster.spec.release_image;  // it reads /release-manifests of its own image
  parts.arguments = {"start",
                     "--release-image=" + cluster.spec.release_image,
                     "--enable-auto-update=false",
                     "--listen=",  // no metrics: they would need a certificate
                     "--kubeconfig=" + std::string(node::kKubeconfig),
                     "--v=2"};
  parts.mounts = {{"kubeconfig", node::kKubeconfig, true, "File"},
                  {"ssl-certs", "/etc/ssl/certs"},
                  {"update-payloads", "/etc/cvo/updatepayloads", false, "DirectoryOrCreate"}};
  parts.cpu = "20m";
  parts.memory = "50Mi";
  parts.privileged = true;
  Json pod = make_pod(parts);
  container_of(pod)["securityContext"]["readOnlyRootFilesystem"] = true;
  // The API server of this node: there is no pod network in which the Service's address would lead anywhere.
  container_of(pod)["env"] = Json::array({{{"name", "KUBERNETES_SERVICE_HOST"}, {"value", "127.0.0.1"}},
                                          {{"name", "KUBERNETES_SERVICE_PORT"}, {"value", "6443"}},
                                          field_of_pod("NODE_NAME", "spec.nodeName"),
                                          {{"name", "CLUSTER_PROFILE"}, {"value", "self-managed-high-availability"}}});
  pod["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet";
  return {"cluster-version-operator.yaml", std::move(pod)};
}

KubeProxy make_kube_proxy(const spec::ValidBootstrapCluster& cluster, const Images& images) {
  const std::string config_file = std::string(node::kKubeProxy) + "/config.yaml";
  PodParts parts;
  parts.name = "kube-proxy";
  parts.ns = "kube-system";
  parts.container = "kube-proxy";
  parts.image = images.at("kube-proxy");  // hyperkube has no such program
  parts.command = {"kube-proxy"};
  parts.arguments = {"--config=" + config_file, "--hostname-override=$(NODE_NAME)", "--v=2"};
  parts.mounts = {{"config", node::kKubeProxy},
                  {"kubeconfig", node::kKubeconfig, true, "File"},
                  {"modules", "/lib/modules"},
                  {"xtables-lock", "/run/xtables.lock", false, "FileOrCreate"}};
  parts.cpu = "15m";
  parts.memory = "50Mi";
  parts.privileged = true;  // it writes the packet filter of the node
  Json pod = make_pod(parts);
  container_of(pod)["env"] = Json::array({field_of_pod("NODE_NAME", "spec.nodeName")});
  // Port 10256, the default of healthzBindAddress, is the pod network's, which answers there for kube-proxy.
  const Json config = {{"apiVersion", "kubeproxy.config.k8s.io/v1alpha1"},
                       {"kind", "KubeProxyConfiguration"},
                       {"clientConnection", {{"kubeconfig", node::kKubeconfig}}},
                       {"clusterCIDR", cluster.pod_network.to_string()},
                       {"healthzBindAddress", "127.0.0.1:29256"},
                       {"metricsBindAddress", "127.0.0.1:29249"},
                       {"mode", "iptables"}};
  return {{"kube-proxy.yaml", std::move(pod)}, config};
}

std::vector<std::string> files_mentioned(const std::vector<StaticPod>& pods, const std::string& folder) {
  std::set<std::string> names;
  const std::string prefix = folder + '/';
  for (const StaticPod& pod : pods)
    for (const Json& argument : pod.pod.at("/spec/containers/0/args"_json_pointer)) {
      const std::string text = argument.get<std::string>();
      for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
        at += prefix.size();
        names.insert(text.substr(at, text.find(',', at) - at));
      }
    }
  return {names.begin(), names.end()};
}

}  // namespace hcpnet::bootstrap
