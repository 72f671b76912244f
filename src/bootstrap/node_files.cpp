// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/node_files.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <string_view>
#include <utility>

#include "bootstrap/node_paths.hpp"

namespace hcpnet::bootstrap {
namespace {

NodeFile plain(std::string path, std::string text, unsigned mode = 0644) {
  return {std::move(path), pki::Secret(std::move(text)), mode};
}

NodeFile pod_file(const std::string& folder, const StaticPod& pod) {
  return plain(folder + '/' + pod.file, text::render_yaml(pod.pod), 0600);
}

// The name of the drop-in is the machine-config operator's. Without it CRI-O pulls its pause image from a registry that
// the pull secret says nothing about, and no pod starts.
std::string crio_drop_in(const Images& images) {
  return "[crio.image]\nglobal_auth_file = \"" + std::string(node::kPullSecret) + "\"\npause_image = \"" +
         images.at("pod") + "\"\npause_image_auth_file = \"" + node::kPullSecret +
         "\"\npause_command = \"/usr/bin/pod\"\n";
}

// Without --kubeconfig it registers no node and asks no API server: it runs what lies in the folder.
constexpr std::string_view kKubeletUnit = R"([Unit]
Description=Kubernetes kubelet without an API server
Documentation=https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/
Wants=crio.service network-online.target
After=crio.service network-online.target

[Service]
Type=notify
ExecStartPre=/usr/bin/mkdir -p /etc/kubernetes/manifests
ExecStart=/usr/bin/kubelet \
  --anonymous-auth=false \
  --container-runtime-endpoint=unix:///var/run/crio/crio.sock \
  --pod-manifest-path=/etc/kubernetes/manifests \
  --cgroup-driver=systemd \
  --cluster-domain=cluster.local \
  --serialize-image-pulls=false \
  --v=2
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
)";

// Below /usr/local/bin SELinux lets a service run it; below /opt it would not.
constexpr std::string_view kBootkubeUnit = R"([Unit]
Description=Bring up the control plane of this cluster
Wants=kubelet.service network-online.target
After=kubelet.service network-online.target
ConditionPathExists=/usr/local/bin/bootkube.sh
ConditionPathExists=!/opt/openshift/.bootkube.done

[Service]
ExecStart=/usr/local/bin/bootkube.sh
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
)";

std::string bootkube_script(const pki::PkiRoles& roles) {
  const std::string pki = node::kPki;
  std::string script = R"(#!/bin/bash
# Waits for etcd and the API server of this node, applies the manifests, and then lets the cluster-version operator
# start: so that it never sees an API server without its CRDs. Runs again from the start when a step fails.
set -euo pipefail
export KUBECONFIG=)" + std::string(node::kKubeconfig) +
                       R"(

wait_for() { # DESCRIPTION COMMAND...
  local what=$1 deadline=$((SECONDS + 180))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      echo "bootkube: not within 180 s: $what" >&2
      exit 1
    fi
    sleep 2
  done
  echo "bootkube: $what"
}

)";
  script += "wait_for 'etcd is healthy' curl --fail --silent --cacert " + pki + '/' + roles.etcd_ca +
            ".crt \\\n  --cert " + pki + '/' + roles.etcd_client + ".crt --key " + pki + '/' + roles.etcd_client +
            ".key https://localhost:2379/health\n";
  script += "wait_for 'kube-apiserver is ready' curl --fail --silent --cacert " + pki + '/' + roles.server_ca +
            ".crt \\\n  https://localhost:6443/readyz\n";
  script += "bash " + std::string(node::kManifests) + "/apply.sh\n";
  // The kubelet looks at the folder all the time, and must not see half a file.
  const std::string from = std::string(node::kLaterPods) + "/cluster-version-operator.yaml";
  const std::string to = node::kStaticPods;
  script += "install -m 0600 " + from + ' ' + to + "/.cluster-version-operator.yaml\nmv " + to +
            "/.cluster-version-operator.yaml " + to + "/cluster-version-operator.yaml\n";
  return script + "touch /opt/openshift/.bootkube.done\necho 'bootkube: done'\n";
}

std::string connection_profile(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node) {
  std::string text = "[connection]\nid=" + node.interface + "\ntype=ethernet\ninterface-name=" + node.interface +
                     "\nautoconnect=true\n\n[ipv4]\nmethod=manual\naddress1=" + node.address.to_string() + '/' +
                     std::to_string(cluster.machine_network.prefix_length()) +
                     (cluster.gateway ? ',' + cluster.gateway->to_string() : std::string()) + '\n';
  if (!cluster.dns_servers.empty()) {
    text += "dns=";
    for (const Ipv4& server : cluster.dns_servers) text += server.to_string() + ';';
    text += '\n';
  }
  return text + "dns-search=" + cluster.domain + ";\n\n[ipv6]\nmethod=disabled\n";
}

void append(NodeContent& content, NodeContent more) {
  for (NodeFile& file : more.files) content.files.push_back(std::move(file));
  for (NodeUnit& unit : more.units) content.units.push_back(std::move(unit));
}

}  // namespace

NodeContent make_bootstrap_node(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                                const Images& images) {
  NodeContent content;
  for (const StaticPod& pod : make_control_plane_pods(cluster, plan, images))
    content.files.push_back(pod_file(node::kStaticPods, pod));
  content.files.push_back(pod_file(node::kLaterPods, make_version_operator_pod(cluster)));
  content.files.push_back(plain("/etc/crio/crio.conf.d/00-default", crio_drop_in(images)));
  content.files.push_back(plain("/usr/local/bin/bootkube.sh", bootkube_script(plan.roles), 0755));
  content.units = {{"bootkube.service", std::string(kBootkubeUnit)}, {"kubelet.service", std::string(kKubeletUnit)}};
  append(content, make_own_node(cluster, cluster.bootstrap()));
  return content;
}

NodeContent make_common_node(const spec::ValidBootstrapCluster& cluster, const Images& images) {
  NodeContent content;
  content.files.push_back(
      plain("/etc/kubernetes/apiserver-url.env",
            "KUBERNETES_SERVICE_HOST='api-int." + cluster.domain + "'\nKUBERNETES_SERVICE_PORT='6443'\n"));
  if (!cluster.spec.kube_proxy) return content;
  const KubeProxy proxy = make_kube_proxy(cluster, images);
  content.files.push_back(pod_file(node::kStaticPods, proxy.pod));
  content.files.push_back(plain(std::string(node::kKubeProxy) + "/config.yaml", text::render_yaml(proxy.config)));
  return content;
}

NodeContent make_own_node(const spec::ValidBootstrapCluster& cluster, const spec::ValidNode& node) {
  NodeContent content;
  // NetworkManager passes over a profile that others can read.
  content.files.push_back(plain("/etc/NetworkManager/system-connections/" + node.interface + ".nmconnection",
                                connection_profile(cluster, node), 0600));
  content.files.push_back(plain("/etc/hostname", node.name + '\n'));
  return content;
}

NodeFile to_node_file(const std::string& folder, const pki::OutputFile& file) {
  return {folder + '/' + file.name, file.text, file.mode};
}

std::vector<pki::OutputFile> to_output_files(const std::string& folder, const NodeContent& content) {
  std::vector<pki::OutputFile> files;
  for (const NodeFile& file : content.files) files.push_back({folder + file.path, file.contents, file.mode});
  for (const NodeUnit& unit : content.units)
    files.push_back({folder + "/etc/systemd/system/" + unit.name, pki::Secret(unit.contents)});
  return files;
}

}  // namespace hcpnet::bootstrap
