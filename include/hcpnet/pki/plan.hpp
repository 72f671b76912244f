// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <hcpnet/pki/certificate.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which certificates a cluster has: a table, made of the cluster's names and addresses. Pure.
namespace hcpnet::pki {

enum class Layout : std::uint8_t {
  hand_made,  ///< one root, intermediate authorities below it, one kube-apiserver certificate for every name
  installer,  ///< separate self-signed signers, kube-apiserver certificates chosen by server name
};
[[nodiscard]] std::string_view to_string(Layout layout) noexcept;
[[nodiscard]] std::optional<Layout> parse_layout(std::string_view text) noexcept;

struct NodeIdentity {
  std::string name;  ///< without the domain
  Ipv4 address;
};
/// What the names in certificates are made of.
struct ClusterIdentity {
  std::string domain;  ///< "ocp4.example.com": the API is api.<domain>
  Ipv4 api_vip;
  Ipv4 service_address;  ///< of the Service `kubernetes`: the first of the service network
  NodeIdentity bootstrap;
  std::vector<NodeIdentity> control_plane;
};

struct Lifetimes {
  std::chrono::seconds authority = std::chrono::hours(24 * 3650);
  std::chrono::seconds leaf = std::chrono::hours(24 * 365);
  std::chrono::seconds kubelet_signer = std::chrono::hours(24);  ///< installer layout: operators rotate it within a day
};

struct PlannedCertificate {
  std::string name;    ///< files are <name>.crt and <name>.key
  std::string issuer;  ///< name of the authority; empty: signed by its own key
  CertificateProfile profile;
  std::chrono::seconds lifetime;
};
/// Certificates that somebody trusts, in one file <name>.crt.
struct PlannedBundle {
  std::string name;
  std::vector<std::string> certificates;
};

/// Who uses what: names of certificates, bundles and key pairs.
struct PkiRoles {
  std::string admin, controller_manager, scheduler;  ///< clients of kube-apiserver
  std::string kubelet_bootstrap;                     ///< with which a new node asks for its certificate
  std::string kubelet_client, aggregator_client;     ///< kube-apiserver toward kubelets and extension servers
  std::string etcd_client, etcd_serving, etcd_peer;  ///< the last two on the bootstrap node
  std::vector<std::string> serving;                  ///< kube-apiserver; the first when no name matches
  std::string server_ca;                             ///< bundle: who vouches for kube-apiserver
  std::string client_ca;                             ///< bundle: whose clients kube-apiserver takes
  std::string kubelet_client_ca;                     ///< bundle: whose clients a kubelet takes
  std::string etcd_ca, aggregator_ca;                ///< certificates
  std::string csr_signer;                            ///< signs what kubelets ask for
  std::string csr_signer_ca;    ///< bundle: its certificate and no other, as a signer has to be given
  std::string service_account;  ///< key pair
};

struct PkiPlan {
  std::vector<PlannedCertificate> certificates;  ///< each after its issuer
  std::vector<PlannedBundle> bundles;
  std::vector<std::string> key_pairs;  ///< <name>.key and <name>.pub
  PkiRoles roles;
  [[nodiscard]] const PlannedCertificate* find(std::string_view name) const noexcept;
};

[[nodiscard]] PkiPlan plan_pki(Layout layout, const ClusterIdentity& cluster, const Lifetimes& lifetimes = {});

}  // namespace hcpnet::pki
