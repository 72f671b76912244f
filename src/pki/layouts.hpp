// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/pki/plan.hpp>

namespace hcpnet::pki {

[[nodiscard]] PkiPlan plan_hand_made(const ClusterIdentity& cluster, const Lifetimes& lifetimes);
[[nodiscard]] PkiPlan plan_installer(const ClusterIdentity& cluster, const Lifetimes& lifetimes);

/// Rows of the tables.
class PlanBuilder {
 public:
  explicit PlanBuilder(const Lifetimes& lifetimes) : lifetimes_(lifetimes) {}

  struct Names {
    std::vector<std::string> dns;
    std::vector<IpAddress> addresses;
  };
  void authority(const std::string& name, const std::string& issuer = {});
  void authority(const std::string& name, const std::string& issuer, std::chrono::seconds lifetime);
  void client(const std::string& name, const std::string& issuer, DistinguishedName subject);
  void server(const std::string& name, const std::string& issuer, std::string common_name, Names names);
  /// Both usages: etcd presents the certificate it serves with when it dials itself or a peer.
  void peer(const std::string& name, const std::string& issuer, std::string common_name, Names names);
  void bundle(const std::string& name, std::vector<std::string> certificates);

  PkiPlan plan;

 private:
  void leaf(const std::string& name, const std::string& issuer, CertificateProfile profile, Names names = {});
  Lifetimes lifetimes_;
};

[[nodiscard]] const IpAddress& loopback_v4();
[[nodiscard]] const IpAddress& loopback_v6();
/// What pods call the API server.
[[nodiscard]] std::vector<std::string> service_names(const std::string& service);

}  // namespace hcpnet::pki
