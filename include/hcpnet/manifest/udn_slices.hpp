// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// EndpointSlices for Services of a namespace whose primary network is a user-defined one. OVN-Kubernetes makes such
/// slices itself for pods that a Service selects; these are for the rest. Pure. Reasons: docs/primary_udn.md.
namespace hcpnet::manifest {

/// Of every slice that is made here (label endpointslice.kubernetes.io/managed-by).
inline constexpr std::string_view kSliceManager = "hcpnet.io";

/// Who reads a slice. One object can't be for both: each is told by a label that the other must not see.
enum class SliceReader : std::uint8_t {
  ovn,  ///< load balancers of a user-defined network: label k8s.ovn.org/service-name, annotation with the network
  dns,  ///< CoreDNS, and the default network: label kubernetes.io/service-name
};

struct SlicePort {
  std::string name;  ///< as in the Service; may be empty for its only port
  std::uint16_t port = 0;
  std::string protocol = "TCP";
};
struct SliceEndpoint {
  IpAddress address;
  bool is_ready = true, is_serving = true, is_terminating = false;
  std::string host_name = {};                 ///< "etcd-0" makes etcd-0.etcd-discovery a name; empty: none
  std::string node_name = {};                 ///< empty: not known; local traffic policies need it
  std::optional<nlohmann::json> target = {};  ///< targetRef: the pod
};
struct Slice {
  SliceReader reader = SliceReader::dns;
  std::string network;  ///< OVN-Kubernetes' name of the network; for SliceReader::ovn
  std::string namespace_, service;
  std::string service_uid;  ///< empty: the slice has no owner
  std::string name;
  bool is_ipv6 = false;
  std::vector<SliceEndpoint> endpoints;
  std::vector<SlicePort> ports;
};
/// An EndpointSlice (discovery.k8s.io/v1).
[[nodiscard]] nlohmann::json endpoint_slice(const Slice& slice);

/// Addresses of a pod on its primary network.
struct PrimaryAddresses {
  std::optional<Ipv4> v4;
  std::optional<Ipv6> v6;
};
/// From the annotation k8s.ovn.org/pod-networks: `ip_addresses` of the one entry with the role "primary". Its
/// `ip_address` is left out for two families, and never read. The error is a sentence: no JSON, no such entry, two of
/// them, an entry that contradicts itself.
[[nodiscard]] Result<PrimaryAddresses, std::string> parse_pod_networks(std::string_view annotation);

/// Of a Machine (cluster.x-k8s.io): the first InternalIP of each family that is not link-local. Later ones belong to
/// networks inside of the guest, which nobody outside reaches.
[[nodiscard]] PrimaryAddresses first_internal_addresses(const nlohmann::json& addresses);

}  // namespace hcpnet::manifest
