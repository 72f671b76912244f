// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/manifests.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <string_view>
#include <utility>

#include "bootstrap/cluster_objects.hpp"

namespace hcpnet::bootstrap {
namespace {

constexpr const char* kInfrastructure = "infrastructures.config.openshift.io/cluster";
constexpr const char* kFeatureGate = "featuregates.config.openshift.io/cluster";

ManifestStep namespaces() {
  ManifestStep step;
  step.name = "namespaces";
  step.reason = "everything that has a namespace needs it to be there";
  std::string wait = "--for=jsonpath={.status.phase}=Active";
  for (const char* name :
       {"openshift-cluster-version", "openshift-config", "openshift-config-managed", "openshift-etcd",
        "openshift-infra", "openshift-kube-apiserver", "openshift-kube-controller-manager", "openshift-kube-scheduler",
        "openshift-machine-config-operator", "openshift-node"}) {
    step.objects.push_back(make_namespace(name));
    wait += std::string(" namespace/") + name;
  }
  step.waits.push_back(std::move(wait));
  return step;
}

ManifestStep roles(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan) {
  ManifestStep step;
  step.name = "rbac";
  step.reason = "nodes may ask for certificates, and the API server may ask kubelets, from the first moment on";
  const Json subject = kubelet_bootstrap_subject(plan);
  // The name under which the machine-config operator has the same binding, so that there are never two.
  const bool is_user = subject["kind"] == "User";
  step.objects.push_back(
      cluster_role_binding(is_user ? subject["name"].get<std::string>() : "system-bootstrap-node-bootstrapper",
                           "system:node-bootstrapper", subject));
  step.objects.push_back(
      cluster_role_binding("system:node-admin", "system:kubelet-api-admin",
                           user_subject(plan.find(plan.roles.kubelet_client)->profile.subject.common_name)));
  if (cluster.spec.kube_proxy)
    step.objects.push_back(cluster_role_binding("system:bootstrapper-proxy", "system:node-proxier", subject));
  return step;
}

ManifestStep description(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs) {
  ManifestStep step;
  step.name = "cluster";
  step.reason = "operators read here what the cluster is; without Infrastructure's status none gets far";
  step.objects = {infrastructure(), network_config(cluster), network_operator(cluster), dns_config(cluster),
                  ingress_config(cluster)};
  const Json status = infrastructure_status(cluster, inputs.ids);
  step.statuses.push_back({kInfrastructure, {{"status", status}}});
  step.waits.push_back("--for=jsonpath={.status.apiServerInternalURI}=" +
                       status["apiServerInternalURI"].get<std::string>() + ' ' + kInfrastructure);
  return step;
}

ManifestStep features(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs) {
  ManifestStep step;
  step.name = "feature-gate";
  step.reason = "the cluster-version operator ends when the feature set changes under it, so it has to be there first";
  step.objects.push_back(feature_gate());
  step.statuses.push_back({kFeatureGate, {{"status", feature_gate_status(cluster, inputs.feature_gates)}}});
  step.waits.push_back("--for=jsonpath={.status.featureGates[0].version}=" + cluster.spec.openshift_version + ' ' +
                       kFeatureGate);
  return step;
}

ManifestStep config_maps(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs) {
  ManifestStep step;
  step.name = "config-maps";
  step.reason = "the network operator reads the installation, the etcd operator where etcd is";
  step.objects = {cluster_config(cluster, inputs.ssh_key), etcd_endpoints(cluster)};
  return step;
}

ManifestStep secrets(const Inputs& inputs) {
  ManifestStep step;
  step.name = "secrets";
  step.reason = "images are pulled with the one; the other is the first administrator's password, as a hash";
  step.objects = {pull_secret(inputs.pull_secret), kubeadmin(inputs.kubeadmin.hash)};
  step.is_secret = true;
  return step;
}

ManifestStep version(const spec::ValidBootstrapCluster& cluster, const Inputs& inputs) {
  ManifestStep step;
  step.name = "cluster-version";
  step.reason = "last: from here on the cluster-version operator installs the rest";
  step.objects.push_back(cluster_version(cluster, inputs.ids));
  return step;
}

/// "10-namespaces", and so on, with room between them for what a site adds.
std::string numbered(std::size_t index, const std::string& name) {
  return std::to_string((index + 1) * 10) + '-' + name;
}
/// "infrastructures" of "infrastructures.config.openshift.io/cluster".
std::string plural_of(const std::string& resource) {
  return resource.substr(0, resource.find('.'));
}

constexpr std::string_view kScriptHead = R"sh(#!/bin/bash
# Applies what lies beside this script, in the order in which one thing needs the other.
#   apply.sh [KUBECONFIG]    OC names another program than oc
# A failure ends it; what has been applied stays, and the next run goes on from there.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
oc=${OC:-oc}
if (($# > 0)); then export KUBECONFIG=$1; fi

# What somebody else has changed since is a conflict and ends the script: it is not for this one to undo.
apply() { "$oc" apply --server-side --field-manager=hcpnet-bootstrap -f "$here/$1"; }
# Status is a subresource: apply would drop it without a word.
patch_status() { "$oc" patch "$1" --subresource=status --type=merge --patch-file "$here/$2"; }
wait_for() { "$oc" wait --timeout=120s "$@"; }
)sh";

/// Each word for a shell.
std::string for_shell(std::string_view words) {
  std::string text;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word(words.substr(at, end - at));
    const bool is_plain = word.find_first_of("{}[]$*") == std::string::npos;
    text += (text.empty() ? "" : " ") + (is_plain ? word : '\'' + word + '\'');
    at = end + 1;
  }
  return text;
}

std::string crd_lines(const std::vector<ManifestStep>& steps, bool has_crds) {
  std::string text = "\n# 00-crds: nothing of a kind can be made before the kind is there\n";
  if (has_crds) text += "apply crds\n";
  std::string wait = "wait_for --for=condition=Established";
  for (const ManifestStep& step : steps)
    for (const Json& object : step.objects) {
      const std::string group = object["apiVersion"];
      if (group.find(".openshift.io/") == std::string::npos) continue;
      const std::string kind = object["kind"];
      std::string plural;
      for (const char c : kind) plural += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      plural += plural.ends_with('s') ? "es" : "s";
      wait += " \\\n  crd/" + plural + '.' + group.substr(0, group.find('/'));
    }
  return text + wait + '\n';
}

std::string script(const std::vector<ManifestStep>& steps, bool has_crds) {
  std::string text(kScriptHead);
  text += crd_lines(steps, has_crds);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string name = numbered(i, steps[i].name);
    text += "\n# " + name + ": " + steps[i].reason + "\napply " + name + ".yaml\n";
    for (const StatusPatch& status : steps[i].statuses)
      text += "patch_status " + status.resource + ' ' + name + '-' + plural_of(status.resource) + ".json\n";
    for (const std::string& wait : steps[i].waits) text += "wait_for " + for_shell(wait) + '\n';
  }
  return text;
}

}  // namespace

std::vector<ManifestStep> make_manifests(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan,
                                         const Inputs& inputs) {
  return {namespaces(),
          roles(cluster, plan),
          description(cluster, inputs),
          features(cluster, inputs),
          config_maps(cluster, inputs),
          secrets(inputs),
          version(cluster, inputs)};
}

std::vector<pki::OutputFile> render_manifests(const std::vector<ManifestStep>& steps,
                                              const std::vector<CrdFile>& crds) {
  std::vector<pki::OutputFile> files;
  for (const CrdFile& crd : crds) files.push_back({"crds/" + crd.name, pki::Secret(crd.text)});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string name = numbered(i, steps[i].name);
    const unsigned mode = steps[i].is_secret ? 0600 : 0644;
    files.push_back({name + ".yaml", pki::Secret(text::render_yaml_documents(steps[i].objects)), mode});
    for (const StatusPatch& status : steps[i].statuses)
      files.push_back(
          {name + '-' + plural_of(status.resource) + ".json", pki::Secret(status.patch.dump(2) + '\n'), mode});
  }
  files.push_back({"apply.sh", pki::Secret(script(steps, !crds.empty())), 0755});
  return files;
}

std::vector<pki::OutputFile> render_machine_config_inputs(const spec::ValidBootstrapCluster& cluster,
                                                          const Inputs& inputs) {
  Json infra = infrastructure(), gate = feature_gate();
  infra["status"] = infrastructure_status(cluster, inputs.ids);
  gate["status"] = feature_gate_status(cluster, inputs.feature_gates);
  const auto yaml = [](const char* name, const Json& object, unsigned mode = 0644) {
    return pki::OutputFile{name, pki::Secret(text::render_yaml(object)), mode};
  };
  return {yaml("cluster-config.yaml", cluster_config(cluster, inputs.ssh_key)),
          yaml("cluster-dns-02-config.yml", dns_config(cluster)),
          yaml("cluster-infrastructure-02-config.yml", infra),
          yaml("cluster-network-02-config.yml", network_config(cluster)),
          yaml("cluster-proxy-01-config.yaml", proxy_config()),
          yaml("feature-gate.yaml", gate),
          yaml("openshift-config-secret-pull-secret.yaml", pull_secret(inputs.pull_secret), 0600)};
}

}  // namespace hcpnet::bootstrap
