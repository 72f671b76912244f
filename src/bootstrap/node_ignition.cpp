// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/node_ignition.hpp"

#include <algorithm>
#include <hcpnet/bootstrap/node_files.hpp>
#include <set>
#include <utility>

#include "bootstrap/node_paths.hpp"
#include "bootstrap/problem.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

const pki::OutputFile& named(const std::vector<pki::OutputFile>& files, const std::string& name) {
  return *std::ranges::find(files, name, &pki::OutputFile::name);
}

std::string pool_of(const spec::ValidNode& node) {
  return node.role == spec::NodeRole::control_plane ? "master" : "worker";
}

class SetMaker {
 public:
  explicit SetMaker(const IgnitionParts& parts) : p_(parts) {}

  IgnitionSet run() {
    add(p_.cluster.bootstrap().name, make_ignition(bootstrap_content(), version()));
    const bool has_base = !p_.inputs.machine_configs.empty();
    const bool has_server = p_.plan.find(kMachineConfigServer) != nullptr;
    if (!has_base && !has_server) {
      warn(
          "no-machine-configs",
          "no Ignition config is made for the nodes of the cluster: machineConfigsFolder names what the machine-config "
          "operator rendered for them (stage 04)");
      return std::move(set_);
    }
    for (const spec::ValidNode& node : p_.cluster.nodes) {
      if (node.role == spec::NodeRole::bootstrap) continue;
      if (has_base)
        add_merged(node);
      else
        add(node.name, make_pointer(pointer_to(pool_of(node)), node_content(node, false)));
    }
    return std::move(set_);
  }

 private:
  static constexpr char kMachineConfigServer[] = "machine-config-server";

  IgnitionVersion version() const { return ignition_version(p_.cluster.minor); }

  NodeContent bootstrap_content() const {
    NodeContent content = make_bootstrap_node(p_.cluster, p_.plan, p_.inputs.images);
    const auto pods = make_control_plane_pods(p_.cluster, p_.plan, p_.inputs.images);
    // What no flag names stays here: no key of a root, of etcd's authority or of the API server's leaves this folder.
    for (const std::string& name : files_mentioned(pods, node::kPki))
      content.files.push_back(to_node_file(node::kPki, pki_file(name)));
    for (const std::string& name : files_mentioned(pods, node::kKubeconfigs))
      content.files.push_back(to_node_file(node::kKubeconfigs, named(p_.kubeconfigs, name)));
    content.files.push_back({node::kKubeconfig, named(p_.kubeconfigs, "localhost.kubeconfig").text, 0600});
    for (const pki::OutputFile& file : p_.manifests) content.files.push_back(to_node_file(node::kManifests, file));
    content.files.push_back({node::kPullSecret, p_.inputs.pull_secret, 0600});
    content.ssh_key = p_.inputs.ssh_key;
    return content;
  }

  /// A file of the PKI as its node trusts it. What an authority brought with it from above stays here: with the root of
  /// a site in its file, etcd would take every client of that site.
  pki::OutputFile pki_file(const std::string& name) const {
    pki::OutputFile file = named(p_.pki.files, name);
    const auto identity = p_.pki.identities.find(name.substr(0, name.rfind('.')));
    if (!name.ends_with(".crt") || identity == p_.pki.identities.end()) return file;
    const pki::Certificate& certificate = identity->second.identity.certificate;
    if (certificate.info().profile.is_authority) file.text = pki::Secret(certificate.to_pem());
    return file;
  }

  /// `is_whole`: the machine-config server adds nothing.
  NodeContent node_content(const spec::ValidNode& node, bool is_whole) const {
    NodeContent content = make_own_node(p_.cluster, node);
    NodeContent common = make_common_node(p_.cluster, p_.inputs.images);
    for (NodeFile& file : common.files) content.files.push_back(std::move(file));
    content.ssh_key = p_.inputs.ssh_key;
    if (is_whole)
      content.files.push_back({node::kKubeconfig, named(p_.kubeconfigs, "kubelet-bootstrap.kubeconfig").text, 0600});
    return content;
  }

  void add_merged(const spec::ValidNode& node) {
    const std::string pool = pool_of(node);
    const auto base = p_.inputs.machine_configs.find(pool);
    if (base == p_.inputs.machine_configs.end()) {
      if (failed_.insert(pool).second)  // the next node of the pool would say the same
        set_.problems.add(problem(p_.cluster.origin.file, "bad-machine-config", "there is none of the pool " + pool));
      return;
    }
    auto merged =
        merge_ignition(base->second, "the MachineConfig of the pool " + pool, node_content(node, true), version());
    if (merged)
      add(node.name, *merged);
    else if (failed_.insert(pool).second)
      set_.problems.append(merged.error());
  }

  IgnitionPointer pointer_to(const std::string& pool) const {
    return {"https://api-int." + p_.cluster.domain + ":22623/config/" + pool,
            p_.pki.identities.find("root-ca")->second.identity.certificate.to_pem(),
            {}};
  }

  void add(const std::string& node, const Json& config) {
    pki::Secret text(config.dump() + '\n');
    set_.reports.push_back(report_ignition(node + ".ign", config, text.reveal().size()));
    set_.files.push_back({node + ".ign", std::move(text), 0600});
  }

  void warn(std::string_view code, std::string message) {
    Diagnostic d = problem(p_.cluster.origin.file, code, std::move(message));
    d.severity = Severity::warning;
    set_.problems.add(std::move(d));
  }

  const IgnitionParts& p_;
  IgnitionSet set_;
  std::set<std::string> failed_;  // pools of which something was reported
};

}  // namespace

IgnitionSet make_ignition_set(const IgnitionParts& parts) {
  return SetMaker(parts).run();
}

}  // namespace hcpnet::bootstrap
