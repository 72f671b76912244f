// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/kubeconfig.hpp>

#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "bootstrap/base64.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

/// "certificate-authority-data" with the content, or "certificate-authority" with the file.
void put(Json& object, const std::string& field, const std::string& value, bool embedded) {
  if (embedded)
    object[field + "-data"] = base64(value);
  else
    object[field] = value;
}

}  // namespace

pki::Secret render_kubeconfig(const Kubeconfig& config) {
  Json cluster = {{"server", config.server}}, user = Json::object();
  put(cluster, "certificate-authority", config.authority, config.embedded);
  put(user, "client-certificate", config.certificate, config.embedded);
  put(user, "client-key", config.key.reveal(), config.embedded);
  const Json document = {
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", Json::array({{{"name", config.cluster}, {"cluster", std::move(cluster)}}})},
      {"users", Json::array({{{"name", config.user}, {"user", std::move(user)}}})},
      {"contexts",
       Json::array({{{"name", config.user}, {"context", {{"cluster", config.cluster}, {"user", config.user}}}}})},
      {"current-context", config.user},
      {"preferences", Json::object()}};
  return pki::Secret(text::render_yaml(document));
}

const std::vector<KubeconfigRow>& kubeconfig_rows() {
  using Roles = pki::PkiRoles;
  static const std::vector<KubeconfigRow> rows{
      {"admin", "api", &Roles::admin},
      {"kube-controller-manager", "api-int", &Roles::controller_manager},
      {"kube-scheduler", "api-int", &Roles::scheduler},
      {"kubelet-bootstrap", "api-int", &Roles::kubelet_bootstrap},
      {"localhost", "localhost", &Roles::admin},
      {"localhost-recovery", "localhost", &Roles::admin},
      {"lb-int", "api-int", &Roles::admin},
      {"lb-ext", "api", &Roles::admin},
  };
  return rows;
}

std::vector<pki::OutputFile> render_kubeconfigs(const std::string& domain, const pki::PkiPlan& plan,
                                                const pki::StoredPki& pki,
                                                const std::optional<std::string>& reference_folder) {
  std::vector<pki::OutputFile> files;
  for (const KubeconfigRow& row : kubeconfig_rows()) {
    const std::string& name = plan.roles.*row.role;
    const pki::StoredIdentity& identity = pki.identities.find(name)->second;
    Kubeconfig config;
    config.cluster = domain;
    config.user = identity.identity.certificate.info().profile.subject.common_name;
    config.server = "https://" + std::string(row.host) + (row.host == "localhost" ? "" : '.' + domain) + ":6443";
    config.embedded = !reference_folder;
    if (reference_folder) {
      config.authority = *reference_folder + '/' + plan.roles.server_ca + ".crt";
      config.certificate = *reference_folder + '/' + name + ".crt";
      config.key = pki::Secret(*reference_folder + '/' + name + ".key");
    } else {
      config.authority = pki.bundles.find(plan.roles.server_ca)->second;
      config.certificate = identity.chain_pem();
      config.key = identity.identity.key.to_pem();
    }
    files.push_back({std::string(row.file) + ".kubeconfig", render_kubeconfig(config), 0600});
  }
  return files;
}

}  // namespace hcpnet::bootstrap
