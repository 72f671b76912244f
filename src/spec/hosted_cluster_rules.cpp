// SPDX-License-Identifier: Apache-2.0
// What HyperShift asks of a HostedCluster's services: the rules of its schema, of its webhook and of the reconcilers
// that would fail later (control-plane-operator/controllers/hostedcontrolplane).
#include <algorithm>
#include <map>
#include <set>

#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

using Type = PublishingStrategyType;

const std::string kServices = "/spec/services";
constexpr ServiceType kNeeded[] = {ServiceType::api_server, ServiceType::oauth_server, ServiceType::konnectivity,
                                   ServiceType::ignition};

/// On these platforms the control plane's Services and names are others.
bool is_foreign(PlatformType platform) {
  return platform != PlatformType::kubevirt && platform != PlatformType::agent && platform != PlatformType::none &&
         platform != PlatformType::open_stack;
}

bool may_publish(ServiceType service, Type type) {
  switch (service) {
    case ServiceType::api_server:
    case ServiceType::konnectivity:
      return type == Type::load_balancer || type == Type::node_port || type == Type::route;
    case ServiceType::oauth_server:
    case ServiceType::ignition:
      return type == Type::node_port || type == Type::route;
    case ServiceType::oidc:
    case ServiceType::ovn_sb_db:
      break;  // HyperShift makes nothing of these entries any more, so it minds none of them
  }
  return true;
}

class PublishingRules {
 public:
  explicit PublishingRules(Examined<HostedCluster>& cluster) : cluster_(cluster.value), subject_(cluster.subject) {}

  void run() {
    for (std::size_t i = 0; i < cluster_.services.size(); ++i) {
      item_ = text::child(kServices, i);
      strategy_ = item_ + "/servicePublishingStrategy";
      if (!subject_.is_good(item_)) continue;
      check_item(cluster_.services[i]);
    }
    for (const ServiceType needed : kNeeded)
      if (subject_.is_good(kServices) && cluster_.find(needed) == nullptr && !has_unreadable_item())
        subject_.missing(kServices, "there is no entry for " + std::string(to_string(needed)) + ", which is needed");
  }

 private:
  /// Then nobody knows which service it is for.
  bool has_unreadable_item() const {
    for (std::size_t i = 0; i < cluster_.services.size(); ++i)
      if (!subject_.is_good(text::child(kServices, i) + "/service")) return true;
    return false;
  }

  void check_item(const ServicePublishing& publishing) {
    if (!subject_.is_good(item_ + "/service")) return;
    if (!seen_.insert(publishing.service).second)
      return subject_.error(code::duplicate_name, item_ + "/service", "this service has an entry already");
    if (!subject_.is_good(strategy_) || !subject_.is_good(strategy_ + "/type")) return;
    if (!may_publish(publishing.service, publishing.type))
      return subject_.error(code::bad_combination, strategy_ + "/type",
                            "HyperShift does not publish " + std::string(to_string(publishing.service)) + " so");
    check_parts(publishing);
    if (publishing.route) check_route(*publishing.route);
    if (publishing.node_port) check_node_port(*publishing.node_port);
    if (publishing.load_balancer && publishing.service == ServiceType::api_server)
      check_certificates(*publishing.load_balancer);
  }

  void check_parts(const ServicePublishing& publishing) {
    const auto check = [&](const char* name, Type type, bool is_present) {
      if (!is_present || publishing.type == type) return;
      const std::string pointer = strategy_ + '/' + name;
      if (subject_.is_good(pointer))
        subject_.error(code::bad_combination, pointer,
                       std::string(name) + " goes with the type " + std::string(to_string(type)) + " alone");
    };
    check("loadBalancer", Type::load_balancer, publishing.load_balancer.has_value());
    check("nodePort", Type::node_port, publishing.node_port.has_value());
    check("route", Type::route, publishing.route.has_value());
    if (publishing.type == Type::node_port && !publishing.node_port && subject_.is_good(strategy_ + "/nodePort"))
      subject_.missing(strategy_ + "/nodePort", "the type NodePort needs nodePort with an address");
    const std::string host = strategy_ + "/route/hostname";
    const bool has_host = publishing.route && publishing.route->hostname;
    if (publishing.service == ServiceType::api_server && publishing.type == Type::route && !has_host &&
        subject_.is_good(host))
      subject_.missing(host, "an API server that is published by Route needs a hostname");
  }

  void check_route(const ServicePublishing::HostName& route) {
    const std::string pointer = strategy_ + "/route/hostname";
    if (!route.hostname || !subject_.is_good(pointer)) return;
    const auto [first, is_new] = hosts_.emplace(lower(*route.hostname), pointer);
    if (!is_new)
      subject_.error(code::duplicate_hostname, pointer,
                     "this name is published already, at " + subject_.where(first->second));
  }

  void check_node_port(const ServicePublishing::NodePort& node_port) {
    const std::string pointer = strategy_ + "/nodePort/port";
    if (node_port.port <= 0 || !subject_.is_good(pointer) || !subject_.is_good(strategy_ + "/nodePort/address")) return;
    const auto [first, is_new] = ports_.emplace(node_port.port, pointer);
    if (!is_new)
      subject_.error(code::addresses_collide, pointer,
                     "a node port belongs to one Service, and this one is taken at " + subject_.where(first->second));
  }

  void check_certificates(const ServicePublishing::HostName& load_balancer) {
    const std::string pointer = strategy_ + "/loadBalancer/hostname";
    if (!load_balancer.hostname || !subject_.is_good(pointer)) return;
    for (const HostedCluster::NamedCertificate& certificate : cluster_.named_certificates)
      if (std::ranges::find(certificate.names, *load_balancer.hostname) != certificate.names.end())
        return subject_.error(code::bad_combination, pointer,
                              "HyperShift makes the certificate of this name itself: it may not be among "
                              "configuration.apiServer.servingCerts.namedCertificates");
  }

  const HostedCluster& cluster_;
  Subject& subject_;
  std::string item_, strategy_;  ///< pointers
  std::set<ServiceType> seen_;
  std::map<std::string, std::string> hosts_;
  std::map<std::int32_t, std::string> ports_;
};

void check_size(Examined<HostedCluster>& cluster) {
  const std::size_t size = cluster.value.services.size();
  if (cluster.subject.is_good(kServices) && cluster.subject.is_written(kServices, size > 0) &&
      size < kMinPublishedServices)
    cluster.subject.error(code::too_few_items, kServices,
                          std::to_string(size) + (size == 1 ? " item is too few" : " items are too few"),
                          "at least 4; leave the list out to have it made");
}

}  // namespace

void check_hosted_clusters(std::vector<Examined<HostedCluster>>& clusters) {
  std::map<std::string, const Examined<HostedCluster>*> planes;
  for (Examined<HostedCluster>& cluster : clusters) {
    Subject& subject = cluster.subject;
    if (subject.is_good("/spec/platform/type") && is_foreign(cluster.value.platform))
      subject.error(code::bad_choice, "/spec/platform/type",
                    "on this platform HyperShift publishes a control plane in other ways",
                    "KubeVirt, Agent, None or OpenStack");
    check_size(cluster);
    if (!cluster.value.services.empty()) PublishingRules(cluster).run();
    if (!subject.has_identity()) continue;
    const ObjectMeta& metadata = cluster.value.metadata;
    const std::string plane = control_plane_namespace(metadata.namespace_, metadata.name);
    if (plane.size() > kMaxLabelBytes)
      subject.error(code::bad_name, "/metadata/name",
                    "the namespace of the control plane, " + plane + ", would have " + std::to_string(plane.size()) +
                        " characters; 63 are allowed");
    const auto [first, is_new] = planes.emplace(plane, &cluster);
    if (!is_new)
      subject.error(code::duplicate_cluster, "/metadata/name",
                    "its control plane " + plane + " is that of " + first->second->value.metadata.key() + " already, " +
                        first->second->subject.where("/metadata/name"));
  }
}

}  // namespace hcpnet::spec
