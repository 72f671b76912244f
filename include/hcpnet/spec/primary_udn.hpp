// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/spec/model.hpp>
#include <optional>
#include <string>
#include <vector>

/// The kind PrimaryUDN as a user writes it: a primary user-defined network of OVN-Kubernetes and what runs on it, a
/// hosted cluster or plain virtual machines. What is below `network` has the fields of k8s.ovn.org/v1
/// (UserDefinedNetwork, ClusterUserDefinedNetwork). Source: ovn-kubernetes/ovn-kubernetes
/// go-controller/pkg/crd/userdefinednetwork/v1. Rules: docs/spec.md.
namespace hcpnet::spec {

enum class UdnTopology : std::uint8_t { layer2, layer3 };  ///< Localnet exists for secondary networks only
enum class UdnIpamMode : std::uint8_t { enabled, disabled };
enum class UdnIpamLifecycle : std::uint8_t { persistent };
struct UdnIpam {
  std::optional<UdnIpamMode> mode;            ///< absent: Enabled
  std::optional<UdnIpamLifecycle> lifecycle;  ///< Persistent: an address outlives the pod that has it
};
struct UdnLayer2 {
  Role role = Role::primary;
  std::optional<std::int32_t> mtu;
  std::vector<std::string> subnets;                 ///< one of each family at most
  std::vector<std::string> reserved_subnets;        ///< for those who ask for an address of theirs
  std::vector<std::string> infrastructure_subnets;  ///< for gateways and management ports
  std::vector<std::string> default_gateway_ips;
  std::vector<std::string> join_subnets;
  std::optional<UdnIpam> ipam;
};
struct UdnLayer3Subnet {
  std::string cidr;
  std::optional<std::int32_t> host_subnet;  ///< prefix length of the part that a node gets
};
struct UdnLayer3 {
  Role role = Role::primary;
  std::optional<std::int32_t> mtu;
  std::vector<UdnLayer3Subnet> subnets;
  std::vector<std::string> join_subnets;
};

enum class UdnTransport : std::uint8_t { no_overlay, evpn };
enum class UdnOutboundSnat : std::uint8_t { enabled, disabled };
enum class UdnRouting : std::uint8_t { managed, unmanaged };
struct UdnNoOverlay {
  UdnOutboundSnat outbound_snat = UdnOutboundSnat::enabled;
  UdnRouting routing = UdnRouting::managed;
};
struct UdnVrf {
  std::int32_t vni = 0;
  std::optional<std::string> route_target;
};
struct UdnEvpn {
  std::string vtep;
  std::optional<UdnVrf> mac_vrf, ip_vrf;
};

/// Makes the network known by BGP.
struct UdnRouteAdvertisements {
  bool pod_network = true, egress_ip = false;
  StringMap node_labels;               ///< of the nodes that advertise; empty: every node
  StringMap frr_configuration_labels;  ///< of the FRRConfigurations that are extended; empty: every one
  std::optional<std::string> target_vrf;
};

/// What the management cluster uses itself. An empty list stands for the defaults of OpenShift, but for
/// `machine_network` and `others`.
struct UdnManagement {
  std::vector<std::string> cluster_network, service_network, machine_network;
  std::vector<std::string> join_subnets, transit_switch_subnets, masquerade_subnets;
  std::vector<std::string> others;  ///< what the machines have to reach besides: resolvers, registries, VIPs
  std::string ovn_namespace = "openshift-ovn-kubernetes";  ///< where OVN-Kubernetes has its configuration
  std::vector<std::string> dns_addresses;  ///< of openshift-dns/dns-default; empty: address 10 of each serviceNetwork
};

/// Images in place of those that HyperShift chooses.
struct UdnImageOverrides {
  std::optional<std::string> control_plane_operator, capi_provider_kubevirt;  ///< of this hosted cluster
  std::optional<std::string> hypershift_operator;                             ///< of every hosted cluster
  std::optional<std::string> default_capi_provider_kubevirt;  ///< of every hosted cluster that names none itself
};

struct UdnHostedCluster {
  std::string name;
  std::optional<std::string> namespace_;         ///< absent: that of the PrimaryUDN
  std::optional<std::string> infra_id;           ///< absent: as the HostedCluster says
  std::vector<std::string> node_pools;           ///< names, in the namespace of the HostedCluster
  std::vector<std::string> additional_networks;  ///< of these NodePools: "name" or "namespace/name"
  std::optional<std::string> release;            ///< of HyperShift; absent: the newest
  std::vector<std::string> cluster_network,
      service_network;  ///< of the guest; absent: the HostedCluster's, or HyperShift's defaults
  UdnImageOverrides image_overrides;
};

enum class UdnBinding : std::uint8_t {
  l2bridge,      ///< plugin `l2bridge`: the machine has the pod's MAC address and IP addresses
  passt,         ///< core field `passtBinding`
  passt_plugin,  ///< plugin `passt`, of older releases of KubeVirt
};
/// Who makes the IPAMClaims of virtual machines.
enum class UdnClaims : std::uint8_t {
  kubevirt,  ///< kubevirt/ipam-extensions, as OpenShift Virtualization has them
  hcpnet,    ///< the objects rendered here, for a cluster without these extensions
};
struct UdnVirtualMachine {
  std::string name;
  std::string network = "default";     ///< logical name of the pod network in the machine
  std::vector<std::string> addresses;  ///< that it asks for, one of each family at most
  std::optional<std::string> mac_address;
  std::vector<std::string> additional_networks;  ///< "name" or "namespace/name"
};

enum class UdnServiceType : std::uint8_t { cluster_ip, node_port, load_balancer };
struct UdnServicePort {
  std::string name;
  std::int32_t port = 0;
  std::optional<std::int32_t> target_port;  ///< in the machine; absent: the same
  std::optional<std::int32_t> node_port;    ///< absent: the API server chooses
  Protocol protocol = Protocol::tcp;
};
/// A way to the machines: from other networks too, but for the type ClusterIP.
struct UdnService {
  std::string name;
  UdnServiceType type = UdnServiceType::cluster_ip;
  std::vector<std::string> machines;  ///< names; empty: every machine
  std::vector<UdnServicePort> ports;
};

struct PrimaryUDN {
  enum class Scope : std::uint8_t { namespaced, cluster };  ///< UserDefinedNetwork, ClusterUserDefinedNetwork
  ObjectMeta metadata;
  Scope scope = Scope::namespaced;
  std::optional<std::string> network_name;         ///< absent: the name of this object
  std::optional<std::string> namespace_;           ///< absent: the control plane's, else that of this object
  std::vector<std::string> additional_namespaces;  ///< on the same network, which then has the scope Cluster
  std::vector<std::string> uplinks;
  UdnTopology topology = UdnTopology::layer2;
  std::optional<UdnLayer2> layer2;  ///< with the topology of that name alone, like layer3
  std::optional<UdnLayer3> layer3;
  std::optional<UdnTransport> transport;
  std::optional<UdnNoOverlay> no_overlay;
  std::optional<UdnEvpn> evpn;
  std::optional<UdnRouteAdvertisements> route_advertisements;
  UdnManagement management;
  std::optional<UdnHostedCluster> hosted_cluster;  ///< hostedClusterRef; absent: plain virtual machines
  UdnBinding binding = UdnBinding::l2bridge;
  UdnClaims claims = UdnClaims::kubevirt;
  std::vector<UdnVirtualMachine> virtual_machines;
  std::vector<UdnService> services;
};

}  // namespace hcpnet::spec
