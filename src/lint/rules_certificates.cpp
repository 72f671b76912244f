// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr Rule kRules[] = {
    {.id = "certificate-unreadable",
     .severity = Severity::error,
     .title = "a certificate that can't be read",
     .why = "Whoever is given it does not start.",
     .fix = "Write it anew; a PEM block that was copied often lacks a line.",
     .source = "RFC 7468",
     .wrong = R"(==> ca.crt
-----BEGIN CERTIFICATE-----
MIIB
-----END CERTIFICATE-----
)",
     .wrong_part = "==> ca.crt\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
     .right_part = "==> ca.crt\nSubject: CN = root-ca\nX509v3 Basic Constraints: CA:TRUE\n"},
    {.id = "certificate-validity",
     .severity = Severity::error,
     .title = "a certificate that has ended, or has not begun",
     .why = "Every peer refuses it. At a first boot the clock of a machine may be the one that is wrong.",
     .fix = "Renew it (`hcpnet bootstrap render` does), or set the clock.",
     .source = "RFC 5280 section 4.1.2.5",
     .wrong = R"(==> admin.crt
Subject: CN = system:admin, O = system:masters
X509v3 Extended Key Usage: TLS Web Client Authentication
Not After: yesterday
)",
     .wrong_part = "yesterday",
     .right_part = "in a year"},
    {.id = "etcd-certificate-usages",
     .severity = Severity::error,
     .title = "a certificate that etcd serves with, for servers alone",
     .why =
         "etcd's gateway and its health check dial the member itself and present the certificate that it serves with, "
         "and peers dial each other with theirs. With `serverAuth` alone the member comes up and every such "
         "connection is refused: `tls: failed to verify certificate: x509: certificate specifies an incompatible key "
         "usage`.",
     .fix = "Both usages, `serverAuth` and `clientAuth`, in the serving and in the peer certificates.",
     .source = "cluster-etcd-operator pkg/tlshelpers/tlshelpers.go; etcd embed/etcd.go",
     .wrong = R"(==> etcd-server.crt
Subject: CN = etcd-server
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:localhost, IP Address:127.0.0.1
)",
     .wrong_part = "TLS Web Server Authentication",
     .right_part = "TLS Web Server Authentication, TLS Web Client Authentication"},
    {.id = "server-certificate-names",
     .severity = Severity::error,
     .title = "a server's certificate without a subject alternative name",
     .why = "Go looks at no common name since 1.17: `x509: certificate relies on legacy Common Name field, use SANs "
            "instead`.",
     .fix = "Every name and every address that clients dial, as `subjectAltName`.",
     .source = "Go crypto/x509; RFC 6125 section 6.4.4",
     .wrong = R"(==> registry.crt
Subject: CN = registry.example.com
X509v3 Extended Key Usage: TLS Web Server Authentication
)",
     .wrong_part = "Server Authentication\n",
     .right_part = "Server Authentication\nX509v3 Subject Alternative Name: DNS:registry.example.com\n"},
    {.id = "kube-apiserver-names",
     .severity = Severity::error,
     .title = "a kube-apiserver certificate for every way in that lacks one of them",
     .why =
         "Clients come as `localhost` (the control plane's own pods, recovery), `api` and `api-int` (people, nodes) "
         "and "
         "to the first address of the service network (pods). Each checks the name that it dialled, and the one that "
         "is missing is refused.",
     .fix =
         "All of them in the certificate, or one certificate for each way in, chosen by server name, as the installer "
         "has it.",
     .source = "openshift/installer pkg/asset/tls",
     .wrong = R"(==> kube-apiserver.crt
Subject: CN = kube-apiserver
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:kubernetes.default.svc, DNS:api.ocp4.example.com, DNS:api-int.ocp4.example.com, IP Address:172.30.0.1
# hcpnet-lint: ignore kube-apiserver-single-certificate: there is one load balancer and no second signer
)",
     .wrong_part = "DNS:kubernetes.default.svc,",
     .right_part = "DNS:kubernetes.default.svc, DNS:localhost,"},
    {.id = "kube-apiserver-single-certificate",
     .severity = Severity::info,
     .title = "one kube-apiserver certificate for every name",
     .why =
         "It works, as in every cluster made by hand. The installer has a signer and a certificate for each way in, so "
         "that operators can replace one without the others, and whoever trusts one way does not trust the rest.",
     .fix = "Nothing has to be done. `layout: Installer` of a BootstrapCluster makes the other layout.",
     .source = "openshift/installer pkg/asset/tls",
     .wrong = R"(==> kube-apiserver.crt
Subject: CN = kube-apiserver
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:kubernetes.default.svc, DNS:localhost, DNS:api.ocp4.example.com, DNS:api-int.ocp4.example.com, IP Address:172.30.0.1
)",
     .wrong_part = "DNS:kubernetes.default.svc, DNS:localhost, DNS:api.ocp4.example.com, DNS:api-int.ocp4.example.com, "
                   "IP Address:172.30.0.1",
     .right_part = "DNS:kubernetes.default.svc, IP Address:172.30.0.1"},
    {.id = "kube-apiserver-bootstrap-address",
     .severity = Severity::warning,
     .title = "one certificate for every name, without the bootstrap node's address",
     .why = "Probes of a cluster made by hand dial the bootstrap node by its address, to see it apart from the load "
            "balancer. The installer's layout needs no such name: nothing there dials the node so.",
     .fix = "The bootstrap node's address as an `IP Address` among the names.",
     .source = "openshift/installer pkg/asset/tls has none; the probes are those of walk-throughs",
     .wrong = R"(==> kube-apiserver.crt
Subject: CN = kube-apiserver
X509v3 Extended Key Usage: TLS Web Server Authentication
X509v3 Subject Alternative Name: DNS:kubernetes.default.svc, DNS:localhost, DNS:api.ocp4.example.com, DNS:api-int.ocp4.example.com, IP Address:172.30.0.1
# hcpnet-lint: ignore kube-apiserver-single-certificate: there is one load balancer and no second signer
==> etcd-endpoints.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: etcd-endpoints
  namespace: openshift-etcd
  annotations: {alpha.installer.openshift.io/etcd-bootstrap: 192.168.126.100}
)",
     .wrong_part = "IP Address:172.30.0.1\n",
     .right_part = "IP Address:172.30.0.1, IP Address:192.168.126.100\n"},
    {.id = "authority-path-length",
     .severity = Severity::error,
     .title = "an authority with a path length that its own authorities exceed",
     .why = "`pathlen:0` means that it signs no other authority. It does, and every chain through that one fails: "
            "`x509: too many intermediates for path length constraint`.",
     .fix = "No path length, or one that leaves room for the authorities below.",
     .source = "RFC 5280 section 4.2.1.9",
     .wrong = R"(==> kubernetes-ca.crt
Subject: CN = kubernetes-ca
X509v3 Basic Constraints: CA:TRUE, pathlen:0
==> kubelet-ca.crt
Subject: CN = kubelet-ca
Issuer: CN = kubernetes-ca
X509v3 Basic Constraints: CA:TRUE
)",
     .wrong_part = "CA:TRUE, pathlen:0",
     .right_part = "CA:TRUE"},
    {.id = "node-bootstrapper-groups",
     .severity = Severity::error,
     .title = "a certificate for a service account without its groups",
     .why =
         "A service account that comes with a token is in `system:serviceaccounts` and in "
         "`system:serviceaccounts:NAMESPACE`, and rights are bound to these. A certificate gives only the groups that "
         "it names.",
     .fix = "Both groups as organizations.",
     .source = "openshift/installer pkg/asset/tls/kubelet.go",
     .wrong = R"(==> kubelet-bootstrap.crt
Subject: CN = system:serviceaccount:openshift-machine-config-operator:node-bootstrapper, O = system:serviceaccounts
X509v3 Extended Key Usage: TLS Web Client Authentication
)",
     .wrong_part = "O = system:serviceaccounts\n",
     .right_part = "O = system:serviceaccounts, O = system:serviceaccounts:openshift-machine-config-operator\n"},
    {.id = "node-bootstrapper-binding",
     .severity = Severity::error,
     .title = "a bootstrap identity that may not ask for certificates",
     .why =
         "A new kubelet comes with this identity and asks for its client certificate. Without the role its request is "
         "forbidden, there is nothing to approve, and the node never registers.",
     .fix = "Its user name, or its service account, as a subject of the binding to `system:node-bootstrapper`.",
     .source = "Kubernetes, TLS bootstrapping; machine-config-operator manifests",
     .wrong = R"(==> kubelet-bootstrap.crt
Subject: CN = system:bootstrapper
X509v3 Extended Key Usage: TLS Web Client Authentication
==> rbac.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: node-bootstrappers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-bootstrapper}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: bootstrapper}
)",
     .wrong_part = "kind: User, name: bootstrapper",
     .right_part = "kind: User, name: system:bootstrapper"},
};

using pki::CertificateProfile;

constexpr int kLongestPath = 16;  // nobody has that many authorities one below the other

bool has_name(const CertificateProfile& profile, std::string_view name) {
  return std::ranges::find(profile.dns_names, name) != profile.dns_names.end();
}
bool has_name_below(const CertificateProfile& profile, std::string_view beginning) {
  return std::ranges::any_of(profile.dns_names, [&](const std::string& name) { return name.starts_with(beginning); });
}

/// The first host of the service network, where a Network says which that is.
std::optional<IpAddress> service_address(const Set& set) {
  for (const Object* network : set.of("config.openshift.io", "Network"))
    for (const std::string& text : cidrs_of(network->find("/spec/serviceNetwork")))
      if (const auto cidr = parse_ipv4_cidr(text)) return IpAddress(Ipv4(cidr->network().value() + 1));
  return std::nullopt;
}

/// "pki/server.crt" of "/etc/kubernetes/pki/server.crt": what is left of a node's path where its files are looked at
/// in a folder.
std::string last_parts(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t folder = slash == std::string::npos || slash == 0 ? std::string::npos : path.rfind('/', slash - 1);
  return folder == std::string::npos ? path : path.substr(folder + 1);
}

class CertificateChecker {
 public:
  CertificateChecker(const Set& set, const Options& options, Reporter& reporter)
      : set_(set), options_(options), reporter_(reporter) {
    std::set<std::string> known;  // a bundle lies in many files
    for (const CertificateEntry& entry : set_.certificates)
      if (entry.certificate.info().profile.is_authority && known.insert(entry.certificate.fingerprint()).second &&
          !entry.certificate.is_self_signed())
        intermediates_.push_back(&entry.certificate);
    for (const Object* pod : set_.of("", "Pod"))
      for (const Container& container : containers_of(*pod))
        for (const char* name : {"--cert-file", "--peer-cert-file"})
          if (const auto path = flag(container.words, name); path && !path->empty() && container.runs("etcd"))
            etcd_files_.insert(last_parts(*path));
  }

  void run() {
    for (const CertificateEntry& entry : set_.certificates) {
      check_validity(entry);
      if (entry.certificate.info().profile.is_authority)
        check_authority(entry);
      else
        check_leaf(entry);
    }
    const std::string missing = missing_names();
    for (const Object* pod : set_.of("", "Pod"))
      for (const Container& container : containers_of(*pod))
        if (!missing.empty() && container.runs("kube-apiserver") && flag(container.words, "--tls-sni-cert-key"))
          reporter_.add("kube-apiserver-names", *container.object, container.path + "/args",
                        "certificates are chosen by server name, and none of the set is for: " + missing);
  }

 private:
  void add(std::string_view rule, const CertificateEntry& entry, std::string message) {
    reporter_.add(rule, *entry.origin, entry.position, entry.path, std::move(message));
  }

  void check_validity(const CertificateEntry& entry) {
    const pki::CertificateInfo& info = entry.certificate.info();
    if (!options_.now) return;
    const std::string& name = info.profile.subject.common_name;
    if (*options_.now > info.not_after)
      add("certificate-validity", entry, "the certificate of " + name + " ended at " + pki::to_string(info.not_after));
    else if (*options_.now < info.not_before)
      add("certificate-validity", entry,
          "the certificate of " + name + " begins at " + pki::to_string(info.not_before));
  }

  void check_authority(const CertificateEntry& entry) {
    const pki::CertificateInfo& info = entry.certificate.info();
    if (!info.path_length || *info.path_length > kLongestPath) return;
    std::vector<const pki::Certificate*> level{&entry.certificate};
    for (int depth = 0; depth <= *info.path_length && !level.empty(); ++depth) level = signed_by(level);
    if (!level.empty())
      add("authority-path-length", entry,
          info.profile.subject.common_name + " has pathlen:" + std::to_string(*info.path_length) +
              ", and the authority " + level.front()->info().profile.subject.common_name + " below it is one too many");
  }
  /// The authorities of the set that one of these has signed.
  std::vector<const pki::Certificate*> signed_by(const std::vector<const pki::Certificate*>& signers) const {
    std::vector<const pki::Certificate*> below;
    for (const pki::Certificate* authority : intermediates_)
      if (std::ranges::any_of(signers,
                              [&](const pki::Certificate* signer) { return authority->is_issued_by(*signer); }))
        below.push_back(authority);
    return below;
  }

  void check_leaf(const CertificateEntry& entry) {
    const CertificateProfile& profile = entry.certificate.info().profile;
    const bool has_names = !profile.dns_names.empty() || !profile.addresses.empty();
    if (profile.server_auth && !has_names)
      add("server-certificate-names", entry,
          "the certificate of " + profile.subject.common_name + " is for a server and names none but in its subject");
    if (profile.server_auth && !profile.client_auth && is_of_etcd(entry, profile))
      add("etcd-certificate-usages", entry,
          "the certificate of " + profile.subject.common_name + " is for servers alone; etcd dials itself with it");
    // A hosted cluster's API server has other ways in: no localhost of its own pods, no api-int.
    if (has_name(profile, "kubernetes.default.svc") && !has_hypershift_name(profile)) check_api_server(entry, profile);
    check_identity(entry, profile);
  }
  /// By its subject, by the name of etcd's Service, or because an etcd of the set serves with the file.
  [[nodiscard]] bool is_of_etcd(const CertificateEntry& entry, const CertificateProfile& profile) const {
    const Origin& origin = *entry.origin;
    return profile.subject.common_name.find("etcd") != std::string::npos || has_name_below(profile, "etcd.") ||
           etcd_files_.contains(last_parts(origin.inner.empty() ? origin.file : origin.node_path));
  }
  static bool has_hypershift_name(const CertificateProfile& profile) {
    return std::ranges::any_of(profile.dns_names,
                               [](const std::string& name) { return name.ends_with(".hypershift.local"); });
  }

  void check_api_server(const CertificateEntry& entry, const CertificateProfile& profile) {
    const bool has_localhost = has_name(profile, "localhost"), has_api = has_name_below(profile, "api.");
    const bool has_internal = has_name_below(profile, "api-int.");
    if (!has_localhost && !has_api && !has_internal) return;  // of the service network alone
    add("kube-apiserver-single-certificate", entry,
        "the certificate of " + profile.subject.common_name + " is for every way into the API server");
    std::string missing;
    const auto need = [&](bool is_there, std::string_view name) {
      if (!is_there) (missing += missing.empty() ? "" : ", ") += name;
    };
    need(has_localhost, "localhost");
    need(has_api, "api.");
    need(has_internal, "api-int.");
    const auto has_address = [&](const IpAddress& address) {
      return std::ranges::find(profile.addresses, address) != profile.addresses.end();
    };
    if (const auto address = service_address(set_)) need(has_address(*address), address->to_string());
    if (!missing.empty())
      add("kube-apiserver-names", entry,
          "the certificate of " + profile.subject.common_name + " is for every way in and lacks: " + missing);
    const Object* endpoints = set_.find("", "ConfigMap", "openshift-etcd", "etcd-endpoints");
    const auto bootstrap =
        endpoints == nullptr
            ? std::nullopt
            : parse_ip_address(scalar(endpoints->annotation("alpha.installer.openshift.io/etcd-bootstrap")));
    if (bootstrap && !has_address(*bootstrap))
      add("kube-apiserver-bootstrap-address", entry,
          "the bootstrap node's address " + bootstrap->to_string() + " is not among the names");
  }

  /// Certificates chosen by server name: all of them together have to have every name.
  [[nodiscard]] std::string missing_names() const {
    bool has_localhost = false, has_api = false, has_internal = false, has_service = false;
    for (const CertificateEntry& entry : set_.certificates) {
      const CertificateProfile& profile = entry.certificate.info().profile;
      if (!profile.server_auth) continue;
      has_localhost = has_localhost || has_name(profile, "localhost");
      has_api = has_api || has_name_below(profile, "api.");
      has_internal = has_internal || has_name_below(profile, "api-int.");
      has_service = has_service || has_name(profile, "kubernetes.default.svc");
    }
    if (!has_api && !has_internal && !has_service) return {};  // the certificates are not in the set
    std::string missing;
    for (const auto& [is_there, name] : {std::pair{has_localhost, "localhost"},
                                         {has_api, "api."},
                                         {has_internal, "api-int."},
                                         {has_service, "kubernetes.default.svc"}})
      if (!is_there) (missing += missing.empty() ? "" : ", ") += name;
    return missing;
  }

  void check_identity(const CertificateEntry& entry, const CertificateProfile& profile) {
    constexpr std::string_view kServiceAccount = "system:serviceaccount:";
    const std::string& user = profile.subject.common_name;
    if (!profile.client_auth) return;
    if (user.starts_with(kServiceAccount)) {
      const std::string ns =
          user.substr(kServiceAccount.size(), user.find(':', kServiceAccount.size()) - kServiceAccount.size());
      const auto is_in = [&](const std::string& group) {
        return std::ranges::find(profile.subject.organizations, group) != profile.subject.organizations.end();
      };
      for (const std::string& group : {std::string("system:serviceaccounts"), "system:serviceaccounts:" + ns})
        if (!is_in(group))
          add("node-bootstrapper-groups", entry, "the certificate of " + user + " lacks the group " + group);
    }
    if (user != "system:bootstrapper" && !user.ends_with(":node-bootstrapper")) return;
    bool has_binding = false, is_bound = false;
    for (const Object* binding : set_.of("rbac.authorization.k8s.io", "ClusterRoleBinding")) {
      if (binding->at("/roleRef/name") != "system:node-bootstrapper") continue;
      has_binding = true;
      is_bound = is_bound || names_user(*binding, user);
    }
    if (has_binding && !is_bound)
      add("node-bootstrapper-binding", entry, "no binding to system:node-bootstrapper names " + user);
  }

  const Set& set_;
  const Options& options_;
  Reporter& reporter_;
  std::vector<const pki::Certificate*> intermediates_;  ///< each once
  std::set<std::string> etcd_files_;                    ///< last_parts() of those that an etcd serves with
};

void check(const Set& set, const Options& options, Reporter& reporter) {
  CertificateChecker(set, options, reporter).run();
}

}  // namespace

Family certificate_rules() {
  return {"Certificates", "In PEM files, kubeconfigs, Secrets and Ignition configs.", kRules, check};
}

}  // namespace hcpnet::lint
