// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "pki/layouts.hpp"

namespace hcpnet::pki {
namespace {

const DistinguishedName kAdmin{"system:admin", {"system:masters"}};
// The service account that the machine-config operator binds to the right to ask for node certificates.
const DistinguishedName kNodeBootstrapper{
    "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
    {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts"}};

void plan_signers(PlanBuilder& b, const Lifetimes& lifetimes) {
  for (const char* name :
       {"kube-apiserver-to-kubelet-signer", "kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer",
        "kube-apiserver-lb-signer", "kube-control-plane-signer", "aggregator-signer", "admin-kubeconfig-signer"})
    b.authority(name);
  b.authority("kubelet-signer", "", lifetimes.kubelet_signer);
  for (const char* name : {"kubelet-bootstrap-kubeconfig-signer", "root-ca", "etcd-signer"}) b.authority(name);
}

/// One certificate for each way in; kube-apiserver chooses by server name, so none needs the names of another.
void plan_api_server(PlanBuilder& b, const ClusterIdentity& cluster) {
  b.server("kube-apiserver-service-network-server", "kube-apiserver-service-network-signer",
           cluster.service_address.to_string(), [&] {
             PlanBuilder::Names names{service_names("kubernetes"), {cluster.service_address}};
             for (const std::string& name : service_names("openshift")) names.dns.push_back(name);
             return names;
           }());
  b.server("kube-apiserver-localhost-server", "kube-apiserver-localhost-signer", "localhost",
           {{"localhost"}, {loopback_v4(), loopback_v6()}});
  b.server("kube-apiserver-lb-server", "kube-apiserver-lb-signer", "api." + cluster.domain,
           {{"api." + cluster.domain}, {}});
  b.server("kube-apiserver-internal-lb-server", "kube-apiserver-lb-signer", "api-int." + cluster.domain,
           {{"api-int." + cluster.domain}, {}});
}

void plan_etcd(PlanBuilder& b, const ClusterIdentity& cluster) {
  const auto member = [&](const std::string& name, Ipv4 address) {
    const PlanBuilder::Names names{{"localhost", "etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
                                    "etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local"},
                                   {loopback_v4(), loopback_v6(), address}};
    b.peer("etcd-serving-" + name, "etcd-signer", "system:etcd-server:" + name, names);
    b.peer("etcd-peer-" + name, "etcd-signer", "system:etcd-peer:" + name, names);
  };
  member("bootstrap", cluster.bootstrap.address);
  for (const NodeIdentity& node : cluster.control_plane) member(node.name, node.address);
  b.client("etcd-client", "etcd-signer", {"etcd-client", {}});
}

}  // namespace

PkiPlan plan_installer(const ClusterIdentity& cluster, const Lifetimes& lifetimes) {
  PlanBuilder b(lifetimes);
  plan_signers(b, lifetimes);
  plan_etcd(b, cluster);
  plan_api_server(b, cluster);
  b.client("kube-apiserver-to-kubelet-client", "kube-apiserver-to-kubelet-signer",
           {"system:kube-apiserver", {"kube-master"}});
  b.client("kube-control-plane-kube-controller-manager-client", "kube-control-plane-signer", kAdmin);
  b.client("kube-control-plane-kube-scheduler-client", "kube-control-plane-signer", kAdmin);
  b.client("aggregator-client", "aggregator-signer", {"system:kube-apiserver-proxy", {}});
  b.client("admin-kubeconfig-client", "admin-kubeconfig-signer", kAdmin);
  b.client("kubelet-bootstrap-kubeconfig-client", "kubelet-bootstrap-kubeconfig-signer", kNodeBootstrapper);
  b.server("machine-config-server", "root-ca", "api-int." + cluster.domain, {{"api-int." + cluster.domain}, {}});
  b.bundle("kube-apiserver-complete-server-ca-bundle",
           {"kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer", "kube-apiserver-lb-signer"});
  b.bundle("kube-apiserver-complete-client-ca-bundle",
           {"admin-kubeconfig-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer",
            "kubelet-signer", "kubelet-bootstrap-kubeconfig-signer"});
  b.bundle("kubelet-client-ca-bundle", {"kube-apiserver-to-kubelet-signer"});
  b.bundle("kubelet-signer-bundle", {"kubelet-signer"});
  b.plan.key_pairs = {"service-account"};
  b.plan.roles = {.admin = "admin-kubeconfig-client",
                  .controller_manager = "kube-control-plane-kube-controller-manager-client",
                  .scheduler = "kube-control-plane-kube-scheduler-client",
                  .kubelet_bootstrap = "kubelet-bootstrap-kubeconfig-client",
                  .kubelet_client = "kube-apiserver-to-kubelet-client",
                  .aggregator_client = "aggregator-client",
                  .etcd_client = "etcd-client",
                  .etcd_serving = "etcd-serving-bootstrap",
                  .etcd_peer = "etcd-peer-bootstrap",
                  .serving = {"kube-apiserver-service-network-server", "kube-apiserver-localhost-server",
                              "kube-apiserver-lb-server", "kube-apiserver-internal-lb-server"},
                  .server_ca = "kube-apiserver-complete-server-ca-bundle",
                  .client_ca = "kube-apiserver-complete-client-ca-bundle",
                  .kubelet_client_ca = "kubelet-client-ca-bundle",
                  .etcd_ca = "etcd-signer",
                  .aggregator_ca = "aggregator-signer",
                  .csr_signer = "kubelet-signer",
                  .csr_signer_ca = "kubelet-signer-bundle",
                  .service_account = "service-account"};
  return std::move(b.plan);
}

}  // namespace hcpnet::pki
