// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// From a HostedCluster to the names under which clients reach its parts, and from wanted names to the list that makes
/// HyperShift publish them. Pure, deterministic, thread-safe. Every rule with its reason: docs/names.md.
namespace hcpnet::manifest {

/// Where the host of a name comes from.
enum class NameSource : std::uint8_t {
  spec,       ///< the HostedCluster says it
  router,     ///< the management cluster's router gives it to a Route that names none
  shortened,  ///< HyperShift gives it, because the router's would have a label of 63 characters or more
  observed,   ///< the Route, the Service or the HostedCluster's status, as read from the cluster
  fixed,      ///< every guest has it: the `kubernetes` Service
};
inline constexpr std::array kNameSources{NameSource::spec, NameSource::router, NameSource::shortened,
                                         NameSource::observed, NameSource::fixed};
[[nodiscard]] std::string_view to_string(NameSource source) noexcept;

/// A Service of the control plane, by the port of the Service.
struct ServiceTarget {
  std::string namespace_, service;
  std::uint16_t port = 0;
  /// "service.namespace.svc:port"
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ServiceTarget&, const ServiceTarget&) = default;
};

struct PublishedName {
  std::string service;   ///< to_string(spec::ServiceType), or "Ingress" for the guest's router
  std::string strategy;  ///< to_string(spec::PublishingStrategyType); empty for a guest's router that HyperShift leaves
                         ///< to the guest
  /// In lower case: a name, "*." and a domain (any depth below it), or an address. Empty: only the cluster will know.
  std::string host;
  std::uint16_t port = 0;               ///< that clients connect to; 0: only the cluster will know
  std::optional<ServiceTarget> target;  ///< nullopt: the guest's router, outside of the control plane
  NameSource source = NameSource::spec;
  bool needs_record =
      false;  ///< clients ask DNS for it. Otherwise they have an address, and the name is their SNI only
};

/// What a connection gets that sends no server name, or one that no PublishedName has.
struct PortFallback {
  std::uint16_t port = 0;
  std::optional<ServiceTarget> target;  ///< nullopt: it is closed
};

/// Bounded: a HostedCluster has spec::kMaxPublishedServices services, each with one host, the four names of
/// `kubernetes`, one name of its own for the API, and two apps domains with two ports each.
struct ClusterNames {
  std::string hosted_cluster;           ///< "namespace/name"
  std::string control_plane_namespace;  ///< "<namespace>-<name>", dots as dashes
  std::vector<PublishedName> names;     ///< APIServer, OAuthServer, Konnectivity, Ignition, OIDC, Ingress
  std::vector<PortFallback> fallbacks;  ///< of every port in `names`, by number
};

struct NamesOptions {
  /// What the router of the management cluster serves, such as "apps.mgmt.example.com": the host of a Route that names
  /// none lies below it. Empty: as observed (ingresses.config.openshift.io "cluster").
  std::string apps_domain;
};

struct PublishedNames {
  std::vector<ClusterNames> clusters;  ///< in the order of the HostedClusters
  Diagnostics warnings;
};

/// The names of every HostedCluster in the set. One that an Infra of the set serves is compared with it as well: each
/// name that clients look up has a record in the Infra's DNS, and a connection to where that leads ends at the target.
///
/// Errors, by code: "no-hosted-cluster", "bad-apps-domain", "no-services", "host-unknown", "bad-published-name",
/// "namespace-differs", "not-resolved", "not-routed", and those of make_stack_config(). Warnings: "by-address",
/// "port-unknown", "certificate-lacks-name", "other-target", "not-compared". Throws std::bad_alloc only.
[[nodiscard]] Result<PublishedNames, Diagnostics> make_published_names(const spec::ValidSet& set,
                                                                       const spec::Observed& observed,
                                                                       const NamesOptions& options = {});

/// HostedClusters that are to be made, each with nothing but its name and `spec.services`: a merge patch (RFC 7396) for
/// the rest of the object. HyperShift never changes the list afterwards.
struct PublishingStrategies {
  std::vector<nlohmann::json> hosted_clusters;  ///< by namespace and name
  Diagnostics warnings;
};

/// The list for every cluster that an Infra of the set serves, so that HyperShift publishes under the names that the
/// Infra's DNS and proxy have; and for every HostedCluster of the set that has no list and no Infra, under the same
/// names below its own domain. `publishAPIOn443` of a ProxyPolicy decides how the API server is published.
///
/// Errors, by code: "no-cluster", "no-domain", "bad-published-name", "namespace-differs". Warnings:
/// "services-immutable". Throws std::bad_alloc only.
[[nodiscard]] Result<PublishingStrategies, Diagnostics> make_publishing_strategies(const spec::ValidSet& set);

/// Longest label of DNS (RFC 1035 section 2.3.4); from here on HyperShift shortens the first label of a Route's host.
inline constexpr std::size_t kShortenedRouteLabelBytes = 63;

/// The first label of the host that a Route gets which names none: "<route>-<namespace>"; from
/// kShortenedRouteLabelBytes on its first 53 bytes, "-" and its FNV-1a hash in eight hexadecimal digits
/// (openshift/hypershift support/util/route.go, ShortenRouteHostnameIfNeeded).
[[nodiscard]] std::string route_host_label(std::string_view route, std::string_view namespace_);

/// {"hostedCluster", "controlPlaneNamespace", "names", "fallbacks"}; what is not known is null.
[[nodiscard]] nlohmann::json to_json(const ClusterNames& names);

}  // namespace hcpnet::manifest
