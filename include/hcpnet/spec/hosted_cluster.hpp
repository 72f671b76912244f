// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/spec/model.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// HyperShift's own kind, as far as the names of a hosted cluster follow from it, and what a primary network has to
/// know of it. Source: openshift/hypershift api/hypershift/v1beta1. `hcpnet names`, `render` and `plan` read it; the
/// other commands don't.
namespace hcpnet::spec {

inline constexpr std::string_view kHypershiftApiVersion = "hypershift.openshift.io/v1beta1";

/// `spec.services[].service`
enum class ServiceType : std::uint8_t { api_server, oauth_server, oidc, konnectivity, ignition, ovn_sb_db };
inline constexpr std::array<std::string_view, 6> kServiceTypes{"APIServer",    "OAuthServer", "OIDC",
                                                               "Konnectivity", "Ignition",    "OVNSbDb"};
[[nodiscard]] std::string_view to_string(ServiceType type) noexcept;

/// `spec.services[].servicePublishingStrategy.type`
enum class PublishingStrategyType : std::uint8_t { load_balancer, node_port, route, none, s3 };
inline constexpr std::array<std::string_view, 5> kPublishingStrategyTypes{"LoadBalancer", "NodePort", "Route", "None",
                                                                          "S3"};
[[nodiscard]] std::string_view to_string(PublishingStrategyType type) noexcept;

/// `spec.platform.type`
enum class PlatformType : std::uint8_t { kubevirt, agent, none, open_stack, aws, azure, gcp, ibm_cloud, power_vs };
inline constexpr std::array<std::string_view, 9> kPlatformTypes{"KubeVirt", "Agent", "None",     "OpenStack", "AWS",
                                                                "Azure",    "GCP",   "IBMCloud", "PowerVS"};

inline constexpr std::size_t kMinPublishedServices = 4, kMaxPublishedServices = 6;  ///< items of `spec.services`

/// Apart from ServicePublishing, since a nested struct is not complete before the end of it.
struct NodePortPublishing {
  std::string address;    ///< a host name or an address
  std::int32_t port = 0;  ///< 0 and less: the API server chooses one
};

/// One of `spec.services`.
struct ServicePublishing {
  struct HostName {
    std::optional<std::string> hostname;
  };
  using NodePort = NodePortPublishing;
  ServiceType service = ServiceType::api_server;
  PublishingStrategyType type = PublishingStrategyType::none;
  std::optional<HostName> load_balancer, route;  ///< only with the type of that name, like node_port
  std::optional<NodePort> node_port;
};

/// What only the cluster knows; empty and 0 until it does.
struct HostedClusterStatus {
  std::string api_host;             ///< controlPlaneEndpoint.host, lower case
  std::uint16_t api_port = 0;       ///< controlPlaneEndpoint.port
  std::string ignition_host;        ///< of ignitionEndpoint, lower case
  std::uint16_t ignition_port = 0;  ///< of ignitionEndpoint; 443 where it names none
};

struct HostedCluster {
  ObjectMeta metadata;
  PlatformType platform = PlatformType::kubevirt;
  /// platform.kubevirt.baseDomainPassthrough: the base domain is the apps domain of the management cluster, whose
  /// router hands the guest's names on.
  bool base_domain_passthrough = false;
  std::optional<std::string> generate_id;         ///< platform.kubevirt.generateID; the controller sets it
  std::optional<std::string> infra_namespace;     ///< platform.kubevirt.credentials: the VMs are in another cluster
  std::optional<std::string> base_domain;         ///< dns.baseDomain; may be empty
  std::optional<std::string> base_domain_prefix;  ///< dns.baseDomainPrefix; absent: the name; empty: none
  std::optional<std::string> kube_api_server_dns_name;
  std::optional<std::string> ingress_domain, apps_domain;  ///< configuration.ingress.{domain,appsDomain}
  /// configuration.apiServer.servingCerts.namedCertificates
  struct NamedCertificate {
    std::vector<std::string> names;  ///< empty: those in the certificate
  };
  std::vector<NamedCertificate> named_certificates;
  std::optional<std::string> infra_id;         ///< infraID; the controller sets it where it is absent
  std::optional<std::string> etcd_management;  ///< etcd.managementType
  /// networking: networks as written, empty where HyperShift's defaults hold.
  struct Networking {
    std::vector<std::string> cluster, service, machine;
    std::optional<std::string> advertise_address;  ///< apiServer.advertiseAddress
  };
  Networking networking;
  std::vector<ServicePublishing> services;  ///< empty: a draft that `hcpnet names --services` completes
  HostedClusterStatus status;

  /// The entry of a service, or nullptr.
  [[nodiscard]] const ServicePublishing* find(ServiceType type) const noexcept;
};

}  // namespace hcpnet::spec
