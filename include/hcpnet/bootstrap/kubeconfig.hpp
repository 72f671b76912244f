// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/pki/store.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a cluster boots from, made of a BootstrapCluster: files as values.
namespace hcpnet::bootstrap {

/// A kubeconfig with one cluster, one user and one context.
struct Kubeconfig {
  std::string cluster, user;
  std::string server;  ///< "https://api.ocp4.example.com:6443"
  /// Each PEM, or the name of a file with it; `embedded` says which.
  std::string authority, certificate;
  pki::Secret key;
  bool embedded = true;
};
[[nodiscard]] pki::Secret render_kubeconfig(const Kubeconfig& config);

/// Which file, for whom, over which way in.
struct KubeconfigRow {
  std::string_view file;
  std::string_view host;              ///< "api", "api-int": of the domain; "localhost"
  std::string pki::PkiRoles::* role;  ///< whose identity
};
/// The eight: admin, kube-controller-manager, kube-scheduler, kubelet-bootstrap, localhost, localhost-recovery, lb-int,
/// lb-ext.
[[nodiscard]] const std::vector<KubeconfigRow>& kubeconfig_rows();

/// With `reference_folder` they name files there, <folder>/<name>.crt and .key, instead of holding what is in them.
[[nodiscard]] std::vector<pki::OutputFile> render_kubeconfigs(const std::string& domain, const pki::PkiPlan& plan,
                                                              const pki::StoredPki& pki,
                                                              const std::optional<std::string>& reference_folder = {});

/// A hosted cluster's kubeconfig made to go through `proxy`: the server of every cluster gets its host and port, and
/// tls-server-name is what the host was, unless there is one; so the certificate is still checked against its own name,
/// and an SNI proxy still sees it. Everything else stays. Errors name places and never what stands there.
[[nodiscard]] Result<pki::Secret, Diagnostics> retarget_kubeconfig(std::string_view file, std::string_view text,
                                                                   const Endpoint& proxy);

/// A kubeconfig whose users all have this token and nothing else: an administrator's kubeconfig made one for an account
/// that may do less.
[[nodiscard]] Result<pki::Secret, Diagnostics> replace_kubeconfig_users(std::string_view file, std::string_view text,
                                                                        const pki::Secret& token);
/// The token in a Secret of the type kubernetes.io/service-account-token, as `kubectl get -o yaml` prints it.
[[nodiscard]] Result<pki::Secret, Diagnostics> read_account_token(std::string_view file, std::string_view text);

}  // namespace hcpnet::bootstrap
