// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "pki/layouts.hpp"

namespace hcpnet::pki {
namespace {

/// The bootstrap address is in here because the hand-made probes dial it.
std::vector<IpAddress> host_addresses(const ClusterIdentity& cluster) {
  std::vector<IpAddress> addresses{loopback_v4(), cluster.bootstrap.address};
  for (const NodeIdentity& node : cluster.control_plane) addresses.emplace_back(node.address);
  return addresses;
}

void plan_etcd(PlanBuilder& b, const ClusterIdentity& cluster) {
  b.peer("etcd-server", "etcd-ca", "etcd-server", {{"localhost"}, host_addresses(cluster)});
  const auto peer = [&](const std::string& name, Ipv4 address) {
    b.peer("etcd-peer-" + name, "etcd-ca", "etcd-peer-" + name, {{"localhost", name}, {loopback_v4(), address}});
  };
  peer("bootstrap", cluster.bootstrap.address);
  for (const NodeIdentity& node : cluster.control_plane) peer(node.name, node.address);
  b.client("etcd-client", "etcd-ca", {"etcd-client", {}});
}

void plan_api_server(PlanBuilder& b, const ClusterIdentity& cluster) {
  PlanBuilder::Names names{service_names("kubernetes"), host_addresses(cluster)};
  for (const std::string& name : {std::string("localhost"), "api." + cluster.domain, "api-int." + cluster.domain})
    names.dns.push_back(name);
  names.addresses.emplace_back(cluster.api_vip);
  names.addresses.emplace_back(cluster.service_address);
  b.peer("kube-apiserver", "kubernetes-ca", "kube-apiserver", std::move(names));
}

}  // namespace

PkiPlan plan_hand_made(const ClusterIdentity& cluster, const Lifetimes& lifetimes) {
  PlanBuilder b(lifetimes);
  b.authority("root-ca");
  for (const char* name : {"etcd-ca", "kubernetes-ca", "front-proxy-ca"}) b.authority(name, "root-ca");
  b.authority("kubelet-ca", "kubernetes-ca");
  plan_etcd(b, cluster);
  plan_api_server(b, cluster);
  b.client("kube-apiserver-kubelet-client", "kubernetes-ca", {"system:kube-apiserver", {}});
  b.client("kube-controller-manager", "kubernetes-ca", {"system:kube-controller-manager", {}});
  b.client("kube-scheduler", "kubernetes-ca", {"system:kube-scheduler", {}});
  b.client("front-proxy-client", "front-proxy-ca", {"front-proxy-client", {}});
  b.client("admin", "kubernetes-ca", {"system:admin", {"system:masters"}});
  b.client("kubelet-bootstrap", "kubernetes-ca", {"system:bootstrapper", {}});
  // The root is in none of the bundles that decide who a client is: with it, every kubelet could write to etcd.
  b.bundle("server-ca-bundle", {"kubernetes-ca", "root-ca"});
  b.bundle("client-ca-bundle", {"kubernetes-ca", "kubelet-ca"});
  b.bundle("kubelet-client-ca-bundle", {"kubernetes-ca"});
  b.bundle("kubelet-ca-bundle", {"kubelet-ca"});
  b.plan.key_pairs = {"service-account"};
  b.plan.roles = {.admin = "admin",
                  .controller_manager = "kube-controller-manager",
                  .scheduler = "kube-scheduler",
                  .kubelet_bootstrap = "kubelet-bootstrap",
                  .kubelet_client = "kube-apiserver-kubelet-client",
                  .aggregator_client = "front-proxy-client",
                  .etcd_client = "etcd-client",
                  .etcd_serving = "etcd-server",
                  .etcd_peer = "etcd-peer-bootstrap",
                  .serving = {"kube-apiserver"},
                  .server_ca = "server-ca-bundle",
                  .client_ca = "client-ca-bundle",
                  .kubelet_client_ca = "kubelet-client-ca-bundle",
                  .etcd_ca = "etcd-ca",
                  .aggregator_ca = "front-proxy-ca",
                  .csr_signer = "kubelet-ca",
                  .csr_signer_ca = "kubelet-ca-bundle",
                  .service_account = "service-account"};
  return std::move(b.plan);
}

}  // namespace hcpnet::pki
