// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "key-mismatch",
     .severity = Severity::error,
     .title = "a certificate beside the key of another",
     .why =
         "The client does not even try: `tls: private key does not match public key`. It happens when one of the two "
         "was made anew.",
     .fix = "Both of the same pair.",
     .source = "Go crypto/tls X509KeyPair",
     .wrong = R"(==> admin.crt
Subject: CN = system:admin, O = system:masters
X509v3 Extended Key Usage: TLS Web Client Authentication
==> old-admin.crt
Subject: CN = system:admin, O = system:masters
X509v3 Extended Key Usage: TLS Web Client Authentication
==> admin.kubeconfig
apiVersion: v1
kind: Config
clusters: [{name: ocp4, cluster: {server: "https://api.ocp4.example.com:6443"}}]
users:
- name: admin
  user:
    client-certificate-data: <admin.crt in base64>
    client-key-data: <old-admin.key in base64>
)",
     .wrong_part = "old-admin.key",
     .right_part = "admin.key"},
    {.id = "kubeconfig-client-usage",
     .severity = Severity::error,
     .title = "a kubeconfig with a certificate that is not for clients",
     .why = "The API server answers 401, and says in its log that the certificate has an incompatible key usage.",
     .fix = "A certificate with the usage `clientAuth`.",
     .source = "Kubernetes, X.509 client certificates",
     .wrong = R"(==> admin.crt
Subject: CN = system:admin, O = system:masters
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:admin
==> admin.kubeconfig
apiVersion: v1
kind: Config
clusters: [{name: ocp4, cluster: {server: "https://api.ocp4.example.com:6443"}}]
users:
- name: admin
  user:
    client-certificate-data: <admin.crt in base64>
    client-key-data: <admin.key in base64>
)",
     .wrong_part = "TLS Web Server Authentication",
     .right_part = "TLS Web Client Authentication"},
    {.id = "kubeconfig-insecure",
     .severity = Severity::error,
     .title = "a kubeconfig that does not check whom it talks to",
     .why =
         "Whoever answers gets the client's token, and may say what he likes. With a certificate authority in the same "
         "cluster clients refuse the kubeconfig.",
     .fix = "`certificate-authority-data`; where the name differs from the certificate's, `tls-server-name` (`hcpnet "
            "bootstrap kubeconfig`).",
     .source = "Kubernetes client-go tools/clientcmd",
     .wrong = R"(apiVersion: v1
kind: Config
clusters:
- name: blue
  cluster:
    server: https://192.168.100.3:6443
    insecure-skip-tls-verify: true
users: []
)",
     .wrong_part = "insecure-skip-tls-verify: true",
     .right_part = "tls-server-name: api.blue.example.com"},
    {.id = "kubeconfig-server-name",
     .severity = Severity::error,
     .title = "a kubeconfig whose server no certificate names",
     .why = "The client dials the name, and the API server has no certificate for it: `x509: certificate is valid for "
            "..., not ...`.",
     .fix = "The name in the API server's certificate, or `tls-server-name` with one that is.",
     .source = "RFC 6125; openshift/installer pkg/asset/tls",
     .wrong = R"(==> kube-apiserver-lb-server.crt
Subject: CN = api.ocp4.example.com
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:api.ocp4.example.com
==> admin.kubeconfig
apiVersion: v1
kind: Config
clusters: [{name: ocp4, cluster: {server: "https://api-ext.ocp4.example.com:6443"}}]
users: []
)",
     .wrong_part = "api-ext.",
     .right_part = "api."},
    {.id = "node-administrator",
     .severity = Severity::error,
     .title = "a node that joins as the administrator",
     .why = "Who gets at the disk of any node, or at its Ignition config, has the cluster. The kubelet would work.",
     .fix = "The identity that may ask for certificates and nothing else: `system:bootstrapper`, or the "
            "machine-config operator's `node-bootstrapper`.",
     .source = "openshift/installer pkg/asset/tls/kubelet.go",
     .wrong = R"(==> identity.crt
Subject: CN = system:admin, O = system:masters
X509v3 Extended Key Usage: TLS Web Client Authentication
==> identity.kubeconfig
apiVersion: v1
kind: Config
clusters: [{name: ocp4, cluster: {server: "https://api-int.ocp4.example.com:6443"}}]
users:
- {name: kubelet, user: {client-certificate-data: <identity.crt in base64>, client-key-data: <identity.key in base64>}}
==> worker-0.ign
{"ignition": {"version": "3.2.0"},
 "storage": {"files": [
  {"path": "/etc/kubernetes/apiserver-url.env", "mode": 420, "contents": {"source": "data:,KUBERNETES_SERVICE_HOST='api-int.ocp4.example.com'%0AKUBERNETES_SERVICE_PORT='6443'%0A"}},
  {"path": "/etc/kubernetes/kubeconfig", "mode": 384, "contents": {"source": "data:;base64,<identity.kubeconfig in base64>"}}]}}
)",
     .wrong_part = "CN = system:admin, O = system:masters",
     .right_part = "CN = system:bootstrapper"},
};

/// "api.example.com" of "https://api.example.com:6443/path"; empty for what is no https URL.
std::string host_of(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return {};
  url.remove_prefix(kScheme.size());
  url = url.substr(0, url.find('/'));
  url.remove_prefix(url.rfind('@') + 1);  // no '@': of nothing
  if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
  return std::string(url.substr(0, url.find(':')));
}

/// Whether a server answers to the name, a wildcard included (RFC 6125 section 6.4.3).
bool is_for(const pki::CertificateProfile& profile, const std::string& host) {
  if (const auto address = parse_ip_address(host))
    return std::ranges::find(profile.addresses, *address) != profile.addresses.end();
  const std::size_t dot = host.find('.');
  const std::string wildcard = dot == std::string::npos ? std::string() : '*' + host.substr(dot);
  return std::ranges::any_of(profile.dns_names,
                             [&](const std::string& name) { return name == host || name == wildcard; });
}

/// A certificate that kube-apiserver has for people and nodes.
bool is_api_server(const pki::CertificateProfile& profile) {
  return profile.server_auth && std::ranges::any_of(profile.dns_names, [](const std::string& name) {
           return name.starts_with("api.") || name.starts_with("api-int.");
         });
}

void check_server(const Set& set, const Kubeconfig& config, const std::string& path, Reporter& reporter) {
  const Value* cluster = text::find(*config.root, path);
  const Value* server = cluster == nullptr ? nullptr : cluster->find("server");
  const std::string named = cluster == nullptr ? std::string() : scalar(cluster->find("tls-server-name"));
  const std::string host = named.empty() ? host_of(scalar(server)) : named;
  if (cluster == nullptr || host.empty()) return;
  if (const Value* insecure = cluster->find("insecure-skip-tls-verify"); is_true(insecure))
    reporter.add("kubeconfig-insecure", *config.origin, insecure->position, path + "/insecure-skip-tls-verify",
                 "the certificate of " + host + " is not checked");
  bool has_external = false, is_named = false;
  for (const CertificateEntry& entry : set.certificates) {
    const pki::CertificateProfile& profile = entry.certificate.info().profile;
    if (!profile.server_auth || profile.is_authority) continue;
    has_external = has_external || is_api_server(profile);
    is_named = is_named || is_for(profile, host);
  }
  if (has_external && !is_named)
    reporter.add("kubeconfig-server-name", *config.origin, (server != nullptr ? *server : *cluster).position,
                 path + "/server", "no certificate of the set is for " + host);
}

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const Kubeconfig& config : set.kubeconfigs) {
    const std::vector<Value>& clusters = items(config.root->find("clusters"));
    for (std::size_t i = 0; i < clusters.size(); ++i)
      check_server(set, config, text::child(std::string_view("/clusters"), i) + "/cluster", reporter);
  }
  for (const CertificateEntry& entry : set.certificates) {
    if (!entry.is_client) continue;
    const pki::CertificateProfile& profile = entry.certificate.info().profile;
    if (!profile.client_auth)
      reporter.add("kubeconfig-client-usage", *entry.origin, entry.position, entry.path,
                   "the certificate of " + profile.subject.common_name + " is not for clients");
  }
  std::set<std::string, std::less<>> nodes;  // files with the config of a node that joins
  for (const Ignition& config : set.ignitions)
    if (!config.is_bootstrap()) nodes.insert(config.origin->file);
  for (const CertificateEntry& entry : set.certificates) {
    const auto& groups = entry.certificate.info().profile.subject.organizations;
    const bool is_administrator = std::ranges::find(groups, "system:masters") != groups.end();
    if (entry.is_client && is_administrator && entry.origin->node_path == "/etc/kubernetes/kubeconfig" &&
        nodes.contains(entry.origin->file))
      reporter.add("node-administrator", *entry.origin, entry.position, entry.path,
                   "this node comes as " + entry.certificate.info().profile.subject.common_name +
                       ", in the group system:masters");
  }
}

}  // namespace

Family kubeconfig_rules() {
  return {"Kubeconfigs", "Who somebody is, and whom he trusts.", kRules, check};
}

}  // namespace hcpnet::lint
