// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What joins a pod to a VLAN: Multus annotation and NetworkAttachmentDefinition. Pure.
namespace hcpnet::manifest {

/// An address with the prefix length of its network, as CNI takes it.
struct InterfaceAddress {
  IpAddress address;
  unsigned prefix_length = 0;
  /// "192.0.2.4/24"
  [[nodiscard]] std::string to_string() const;
};

/// `text` is an address, alone or with a prefix length, which has to be that of `network`. Errors, as a sentence: no
/// address; outside the network; its first or last address (IPv4, but for /31 and /32); the gateway; another length.
[[nodiscard]] Result<InterfaceAddress, std::string> parse_interface_address(
    std::string_view text, const Cidr& network, const std::optional<IpAddress>& gateway = {});

struct AttachmentRef {
  std::string name, namespace_;
};

/// Value of the annotation k8s.v1.cni.cncf.io/networks for one interface: a JSON list, every address with its prefix
/// length (without it static IPAM fails, and the pod never starts).
[[nodiscard]] std::string networks_annotation(const AttachmentRef& attachment,
                                              std::span<const InterfaceAddress> addresses);

/// Namespaces whose NetworkAttachmentDefinitions OpenShift's Multus lets every pod use (it runs with namespaceIsolation
/// and these globalNamespaces); of any other namespace only pods of the same one may.
inline constexpr std::string_view kGlobalAttachmentNamespaces[] = {"default", "openshift-multus",
                                                                   "openshift-sriov-network-operator", "openshift-cnv"};
[[nodiscard]] bool may_use_attachment(std::string_view pod_namespace, std::string_view attachment_namespace) noexcept;

enum class LinkType : std::uint8_t { bridge, macvlan, ipvlan };
inline constexpr LinkType kLinkTypes[] = {LinkType::bridge, LinkType::macvlan, LinkType::ipvlan};
[[nodiscard]] std::string_view to_string(LinkType type) noexcept;

struct LinkOptions {
  LinkType type = LinkType::bridge;
  std::string device;                 ///< name of the bridge, or of the interface below macvlan and ipvlan
  std::optional<std::uint16_t> vlan;  ///< 1 to 4094, bridge only: the tag that the bridge puts on
  std::optional<std::uint32_t> mtu;
};
/// "bridge:br-vlan7,vlan=7,mtu=1500", "macvlan:eth1". The error is a sentence.
[[nodiscard]] Result<LinkOptions, std::string> parse_link(std::string_view text);

/// The NetworkAttachmentDefinition (k8s.cni.cncf.io/v1) `ref`, without labels. Static IPAM that takes each pod's
/// addresses from its annotation. With gateways (one per family) replies to other networks leave through them: the
/// plugin `sbr` gives packets from the VLAN addresses a routing table of their own, so that no container needs
/// NET_ADMIN.
[[nodiscard]] nlohmann::json network_attachment(const AttachmentRef& ref, const LinkOptions& link,
                                                std::span<const IpAddress> gateways);

}  // namespace hcpnet::manifest
