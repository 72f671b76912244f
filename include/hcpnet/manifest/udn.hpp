// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/primary_udn.hpp>
#include <hcpnet/text/patch.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What puts machines of KubeVirt on a primary user-defined network: patches, claims, addresses. Pure. build() makes
/// whole sets of objects of these; docs/primary_udn.md explains them.
namespace hcpnet::manifest {

/// Only the presence of this label counts, and only when the namespace is made.
inline constexpr std::string_view kPrimaryNetworkLabel = "k8s.ovn.org/primary-user-defined-network";
/// On a HostedCluster or NodePool: a JSON Patch for the machines' template.
inline constexpr std::string_view kVmPatchAnnotation = "hypershift.openshift.io/kubevirt-vm-jsonpatch";
/// On a machine's template, for kubevirt/ipam-extensions: logical network -> addresses without prefix length.
inline constexpr std::string_view kAddressesAnnotation = "network.kubevirt.io/addresses";
/// On a pod, for OVN-Kubernetes: addresses with prefix length, MAC address, claim. May not be changed later.
inline constexpr std::string_view kDefaultNetworkAnnotation = "v1.multus-cni.io/default-network";
/// With it OVN-Kubernetes gives the pod no addresses; it has no place on a primary network.
inline constexpr std::string_view kBridgeMigrationAnnotation = "kubevirt.io/allow-pod-bridge-network-live-migration";

/// Members of an interface of a VirtualMachine of which KubeVirt takes one (pkg/network/admitter/binding.go).
inline constexpr std::array kInterfaceBindings{"bridge",  "masquerade", "sriov", "passtBinding",
                                               "binding", "macvtap",    "passt", "slirp"};

/// How an interface of a VirtualMachine reaches the pod network: {"name": network, and the binding}.
[[nodiscard]] nlohmann::json udn_interface(std::string_view network, spec::UdnBinding binding);

/// The virtual machine that HyperShift makes of a NodePool, {metadata, spec}, as far as patches concern it, with the
/// pod network as its first interface (openshift/hypershift hypershift-operator/controllers/nodepool/kubevirt).
[[nodiscard]] nlohmann::json hypershift_vm_template(std::span<const std::string> additional_networks);

/// The JSON Patch (RFC 6902) that gives the first interface of that machine this binding. `bridge` is replaced by null:
/// HyperShift reads the result over the old template, where a key that is merely gone keeps its value.
[[nodiscard]] nlohmann::json hypershift_vm_patch(spec::UdnBinding binding);

/// What a patch makes of the template: whether the first interface has `binding` and no other one, in a sentence what
/// is wrong otherwise; and what HyperShift keeps of what was to go.
struct VmPatchCheck {
  std::string problem;            ///< empty: none
  std::vector<std::string> kept;  ///< JSON pointers
};
[[nodiscard]] VmPatchCheck check_vm_patch(const nlohmann::json& patch, spec::UdnBinding binding,
                                          std::span<const std::string> additional_networks,
                                          std::optional<text::Release> release = {});

/// The name that kubevirt/ipam-extensions gives the claim of a machine: "<machine>.<network>" in lower case, in the
/// letters of an object's name, at most 253 of them. No hash: a pod's reference has to find it.
[[nodiscard]] std::string ipam_claim_name(std::string_view machine, std::string_view network);

struct ClaimOwner {
  std::string name;
  std::string uid;  ///< of the VirtualMachine; empty: not known, and the claim has no owner
};
/// An IPAMClaim (k8s.cni.cncf.io/v1alpha1). It belongs to the machine, not to one of its pods: a restart or a migration
/// keeps the address, and the claim goes with the machine.
[[nodiscard]] nlohmann::json ipam_claim(const std::string& namespace_, const ClaimOwner& machine,
                                        std::string_view network, const std::string& ovn_network);

/// Value of kAddressesAnnotation: {"default":["10.150.0.42"]}.
[[nodiscard]] std::string addresses_annotation(const std::string& network, std::span<const IpAddress> addresses);
/// Value of kDefaultNetworkAnnotation. Each address gets the prefix length of the subnet that it lies in.
[[nodiscard]] std::string default_network_annotation(const std::string& ovn_namespace,
                                                     std::span<const IpAddress> addresses,
                                                     std::span<const Cidr> subnets, std::optional<MacAddress> mac,
                                                     const std::string& claim);

}  // namespace hcpnet::manifest
