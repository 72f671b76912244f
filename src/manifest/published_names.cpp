// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/manifest/published_names.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "manifest/served_names.hpp"
#include "spec/format.hpp"
#include "spec/hosted_cluster_status.hpp"
#include "spec/names.hpp"
#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

using spec::ServiceType;
using Strategy = spec::PublishingStrategyType;

constexpr std::uint16_t kHttpPort = 80, kHttpsPort = 443;
constexpr std::string_view kPassthroughService = "default-ingress-passthrough-service";

/// What HyperShift makes for each service. Sources: control-plane-operator/controllers/hostedcontrolplane
/// {kas,oauth,konnectivity,ignitionserver}/service.go and manifests.
struct ServiceFacts {
  ServiceType type;
  const char* route;
  const char* service;
  std::uint16_t service_port;  ///< of the Service, and of its load balancer
};
constexpr std::array kServices{
    ServiceFacts{ServiceType::api_server, "kube-apiserver", "kube-apiserver", 6443},
    ServiceFacts{ServiceType::oauth_server, "oauth", "oauth-openshift", 6443},
    ServiceFacts{ServiceType::konnectivity, "konnectivity-server", "konnectivity-server", 8091},
    ServiceFacts{ServiceType::ignition, "ignition-server", "ignition-server-proxy", 443},
};

std::string fnv1a_hex(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += kDigits[(hash >> shift) & 0xF];
  return digits;
}

/// A certificate's "*.domain" stands for one label (RFC 6125 section 6.4.3).
bool covers(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return pattern == host;
  const std::size_t dot = host.find('.');
  return dot != std::string_view::npos && host.substr(dot) == pattern.substr(1);
}

class ClusterNamer {
 public:
  ClusterNamer(const spec::ValidHostedCluster& cluster, const spec::ObservedPublishing& observed,
               const NamesOptions& options, Diagnostics& problems)
      : cluster_(cluster), spec_(cluster.spec), observed_(observed), options_(options), problems_(problems) {
    out_.hosted_cluster = cluster.metadata.key();
    out_.control_plane_namespace = cluster.control_plane_namespace;
    if (const auto seen = observed.hosted_clusters.find(out_.hosted_cluster); seen != observed.hosted_clusters.end())
      status_ = seen->second;
    else
      status_ = spec_.status;
  }

  ClusterNames run() {
    if (spec_.services.empty()) {
      report(Severity::error, "/spec/services", "no-services",
             "it has no services, so nothing is published yet; `hcpnet names --services` makes the list");
      return std::move(out_);
    }
    for (const ServiceFacts& facts : kServices) add_service(facts);
    add_oidc();
    add_ingress();
    check_lengths();
    add_fallbacks();
    return std::move(out_);
  }

 private:
  void report(Severity severity, const std::string& pointer, std::string code, std::string message) {
    problems_.add(
        derive::problem(severity, cluster_.origin, pointer, cluster_.metadata, std::move(code), std::move(message)));
  }

  /// Of the entry in spec.services.
  [[nodiscard]] std::string pointer_to(const spec::ServicePublishing& publishing) const {
    return "/spec/services/" + std::to_string(&publishing - spec_.services.data()) + "/servicePublishingStrategy";
  }

  [[nodiscard]] ServiceTarget target_of(const ServiceFacts& facts) const {
    return {cluster_.control_plane_namespace, facts.service, facts.service_port};
  }

  void add_service(const ServiceFacts& facts) {
    const spec::ServicePublishing* publishing = spec_.find(facts.type);
    if (publishing == nullptr) return;  // the rules of the set have reported it
    PublishedName name;
    name.service = spec::to_string(facts.type);
    name.strategy = spec::to_string(publishing->type);
    name.target = target_of(facts);
    switch (publishing->type) {
      case Strategy::load_balancer:
        set_load_balancer(*publishing, facts, name);
        break;
      case Strategy::node_port:
        set_node_port(*publishing, facts, name);
        break;
      case Strategy::route:
        set_route(*publishing, facts, name);
        break;
      case Strategy::none:
      case Strategy::s3:
        return;  // none of these services is published so
    }
    name.needs_record = !name.host.empty() && !parse_ip_address(name.host);
    const bool is_api = facts.type == ServiceType::api_server;
    const PublishedName first = name;
    out_.names.push_back(std::move(name));
    if (is_api) add_more_api_names(first);
  }

  void set_load_balancer(const spec::ServicePublishing& publishing, const ServiceFacts& facts, PublishedName& name) {
    name.port = facts.service_port;
    if (publishing.load_balancer && publishing.load_balancer->hostname) {
      name.host = spec::lower(*publishing.load_balancer->hostname);
    } else {
      name.source = NameSource::observed;
      const auto seen = observed_.load_balancers.find(out_.control_plane_namespace + '/' + facts.service);
      if (seen != observed_.load_balancers.end())
        name.host = seen->second;
      else if (facts.type == ServiceType::api_server)
        name.host = status_.api_host;
    }
    warn_of_address(publishing, name);
  }

  void set_node_port(const spec::ServicePublishing& publishing, const ServiceFacts& facts, PublishedName& name) {
    name.host = spec::host_of(publishing.node_port->address);
    if (publishing.node_port->port > 0) {
      name.port = static_cast<std::uint16_t>(publishing.node_port->port);
    } else {
      const std::string key =
          out_.control_plane_namespace + '/' + facts.service + ':' + std::to_string(facts.service_port);
      if (const auto seen = observed_.node_ports.find(key); seen != observed_.node_ports.end())
        name.port = seen->second;
      else if (facts.type == ServiceType::api_server)
        name.port = status_.api_port;
      else if (facts.type == ServiceType::ignition)
        name.port = status_.ignition_port;
      if (name.port == 0)
        report(Severity::warning, pointer_to(publishing) + "/nodePort", "port-unknown",
               "the API server chooses the node port of " + name.service +
                   ", so nothing can listen for it beforehand; nodePort.port fixes it, --observed tells it");
    }
    warn_of_address(publishing, name);
  }

  void warn_of_address(const spec::ServicePublishing& publishing, const PublishedName& name) {
    if (!name.host.empty() && !parse_ip_address(name.host)) return;
    report(Severity::warning, pointer_to(publishing), "by-address",
           "clients of " + name.service + " dial " + (name.host.empty() ? "the load balancer's address" : name.host) +
               ", and no DNS leads them to a proxy; a host name would");
  }

  void set_route(const spec::ServicePublishing& publishing, const ServiceFacts& facts, PublishedName& name) {
    name.port = kHttpsPort;
    if (publishing.route && publishing.route->hostname) {
      name.host = spec::lower(*publishing.route->hostname);
      return;
    }
    name.source = NameSource::observed;
    const auto seen = observed_.route_hosts.find(out_.control_plane_namespace + '/' + facts.route);
    if (seen != observed_.route_hosts.end()) {
      name.host = seen->second;
    } else if (facts.type == ServiceType::ignition && !status_.ignition_host.empty()) {
      name.host = status_.ignition_host;
      name.port = status_.ignition_port;
    } else {
      set_default_host(publishing, facts, name);
    }
  }

  void set_default_host(const spec::ServicePublishing& publishing, const ServiceFacts& facts, PublishedName& name) {
    const std::size_t label_bytes = std::string_view(facts.route).size() + 1 + out_.control_plane_namespace.size();
    const bool is_shortened = label_bytes >= kShortenedRouteLabelBytes;
    name.source = is_shortened ? NameSource::shortened : NameSource::router;
    std::string domain = management_domain();
    // The router may have another domain for Routes that name no host; HyperShift doesn't look at that one.
    if (!is_shortened && options_.apps_domain.empty() && !observed_.apps_domain.empty()) domain = observed_.apps_domain;
    if (!domain.empty()) {
      name.host = route_host_label(facts.route, out_.control_plane_namespace) + '.' + domain;
      return;
    }
    report(Severity::error, pointer_to(publishing), "host-unknown",
           "the host of this Route lies below the apps domain of the management cluster: --apps-domain says it, or "
           "--observed with ingresses.config.openshift.io or the Route");
  }

  [[nodiscard]] std::string management_domain() const {
    return options_.apps_domain.empty() ? observed_.domain : spec::lower(options_.apps_domain);
  }

  /// The guest's `kubernetes` Service leads to a proxy on each node, and from there to the API server's own address and
  /// port: what the client asked for is still in its SNI.
  void add_more_api_names(const PublishedName& first) {
    const auto add = [&](std::string host, NameSource source, bool needs_record) {
      PublishedName name = first;
      name.host = std::move(host);
      name.source = source;
      name.needs_record = needs_record;
      out_.names.push_back(std::move(name));
    };
    if (spec_.kube_api_server_dns_name && !spec_.kube_api_server_dns_name->empty()) {
      const std::string host = spec::lower(*spec_.kube_api_server_dns_name);
      if (host != first.host) {
        add(host, NameSource::spec, true);
        check_certificate("/spec/kubeAPIServerDNSName", host);
      }
    }
    for (const std::string_view name : spec::kKubernetesNames) add(std::string(name), NameSource::fixed, false);
  }

  /// HyperShift once made a Route to the API server of this entry, where the issuer's documents are; now it makes
  /// nothing, but the name can still lead there.
  void add_oidc() {
    const spec::ServicePublishing* publishing = spec_.find(ServiceType::oidc);
    if (publishing == nullptr || !publishing->route || !publishing->route->hostname) return;
    PublishedName name;
    name.service = spec::to_string(ServiceType::oidc);
    name.strategy = spec::to_string(publishing->type);
    name.host = spec::lower(*publishing->route->hostname);
    name.port = kHttpsPort;
    name.target = target_of(kServices.front());
    name.needs_record = true;
    check_certificate(pointer_to(*publishing) + "/route/hostname", name.host);
    out_.names.push_back(std::move(name));
  }

  void check_certificate(const std::string& pointer, const std::string& host) {
    for (const spec::HostedCluster::NamedCertificate& certificate : spec_.named_certificates) {
      if (certificate.names.empty()) return;  // its names are in itself
      for (const std::string& pattern : certificate.names)
        if (covers(spec::lower(pattern), host)) return;
    }
    report(Severity::warning, pointer, "certificate-lacks-name",
           "no certificate of the API server has the name " + host +
               "; configuration.apiServer.servingCerts.namedCertificates takes one that has");
  }

  // --- the guest's router

  void add_ingress() {
    for (const std::string& domain : guest_domains()) {
      PublishedName name;
      name.service = kIngress;
      name.host = "*." + domain;
      name.port = kHttpsPort;
      name.needs_record = true;
      if (spec_.base_domain_passthrough) {
        name.strategy = spec::to_string(Strategy::route);
        if (spec_.generate_id && !spec_.infra_namespace)
          name.target = {out_.control_plane_namespace, std::string(kPassthroughService) + '-' + *spec_.generate_id,
                         kHttpsPort};
        out_.names.push_back(name);
        continue;  // the Route passes TLS through, and nothing else
      }
      out_.names.push_back(name);
      name.port = kHttpPort;
      out_.names.push_back(std::move(name));
    }
  }

  /// As HyperShift's IngressDomain(): what the guest's router serves, and its console where that has another.
  std::vector<std::string> guest_domains() {
    std::vector<std::string> domains;
    for (const auto& text : {spec_.apps_domain, spec_.ingress_domain})
      if (text && !text->empty() && std::ranges::find(domains, spec::lower(*text)) == domains.end())
        domains.push_back(spec::lower(*text));
    if (!domains.empty()) return domains;
    std::string base = spec::lower(spec_.base_domain.value_or(""));
    if (base.empty() && spec_.base_domain_passthrough) base = management_domain();
    if (base.empty()) {
      report(Severity::error, "/spec/dns", "host-unknown",
             spec_.base_domain_passthrough
                 ? "the base domain is the apps domain of the management cluster: --apps-domain or --observed tells it"
                 : "there is no base domain, so nobody knows the names of the guest's applications");
      return {};
    }
    const std::string prefix = spec::lower(spec_.base_domain_prefix.value_or(cluster_.metadata.name));
    return {"apps." + (prefix.empty() ? base : prefix + '.' + base)};
  }

  void check_lengths() {
    for (const PublishedName& name : out_.names)
      if (name.host.size() > spec::kMaxNameBytes)
        report(Severity::error, "/spec", "bad-published-name",
               "the name of " + name.service + " would have " + std::to_string(name.host.size()) +
                   " characters; 253 are allowed");
  }

  // --- what sends no name

  /// A Route's port is everybody's: without a name only the API server's clients come there. A node port or a load
  /// balancer belongs to one Service, whatever name is sent.
  void add_fallbacks() {
    std::map<std::uint16_t, std::vector<const PublishedName*>> ports;
    for (const PublishedName& name : out_.names)
      if (name.port != 0) ports[name.port].push_back(&name);
    for (const auto& [port, names] : ports) {
      const PublishedName& first = *names.front();  // the API server's come first
      const bool is_own = std::ranges::all_of(names, [&](const PublishedName* name) {
        return name->target == first.target && name->service == first.service &&
               name->strategy != spec::to_string(Strategy::route) && name->service != kIngress;
      });
      const bool is_api = first.service == spec::to_string(ServiceType::api_server);
      out_.fallbacks.push_back({port, is_api || is_own ? first.target : std::nullopt});
    }
  }

  const spec::ValidHostedCluster& cluster_;
  const spec::HostedCluster& spec_;
  const spec::ObservedPublishing& observed_;
  const NamesOptions& options_;
  Diagnostics& problems_;
  spec::HostedClusterStatus status_;
  ClusterNames out_;
};

nlohmann::json to_json(const std::optional<ServiceTarget>& target) {
  return target ? nlohmann::json(target->to_string()) : nlohmann::json();
}

}  // namespace

std::string_view to_string(NameSource source) noexcept {
  constexpr std::array<std::string_view, 5> kWords{"spec", "router", "shortened", "observed", "fixed"};
  return kWords[static_cast<std::size_t>(source)];
}

std::string ServiceTarget::to_string() const {
  return service + '.' + namespace_ + ".svc:" + std::to_string(port);
}

std::string route_host_label(std::string_view route, std::string_view namespace_) {
  constexpr std::size_t kKeptBytes = 53;
  const std::string whole = std::string(route) + '-' + std::string(namespace_);
  if (whole.size() < kShortenedRouteLabelBytes) return whole;
  return whole.substr(0, kKeptBytes) + '-' + fnv1a_hex(whole);
}

nlohmann::json to_json(const ClusterNames& names) {
  nlohmann::json list = nlohmann::json::array(), fallbacks = nlohmann::json::array();
  for (const PublishedName& name : names.names)
    list.push_back({{"service", name.service},
                    {"strategy", name.strategy.empty() ? nlohmann::json() : nlohmann::json(name.strategy)},
                    {"host", name.host.empty() ? nlohmann::json() : nlohmann::json(name.host)},
                    {"port", name.port == 0 ? nlohmann::json() : nlohmann::json(name.port)},
                    {"target", to_json(name.target)},
                    {"source", to_string(name.source)},
                    {"needsRecord", name.needs_record}});
  for (const PortFallback& fallback : names.fallbacks)
    fallbacks.push_back({{"port", fallback.port}, {"target", to_json(fallback.target)}});
  return {{"hostedCluster", names.hosted_cluster},
          {"controlPlaneNamespace", names.control_plane_namespace},
          {"names", std::move(list)},
          {"fallbacks", std::move(fallbacks)}};
}

Result<PublishedNames, Diagnostics> make_published_names(const spec::ValidSet& set, const spec::Observed& observed,
                                                         const NamesOptions& options) {
  PublishedNames out;
  Diagnostics problems;
  const auto report = [&](std::string code, std::string message) {
    Diagnostic problem;
    problem.code = std::move(code);
    problem.message = std::move(message);
    problems.add(std::move(problem));
  };
  if (set.hosted_clusters.empty())
    report("no-hosted-cluster", "the set has no HostedCluster; `hcpnet names --services` makes its list from an Infra");
  if (!options.apps_domain.empty())
    if (const auto wrong = spec::host_name_problem(options.apps_domain, spec::HostForm::exact))
      report("bad-apps-domain", "the apps domain is no domain: " + *wrong);
  if (problems.has_errors()) return problems;
  for (const spec::ValidHostedCluster& cluster : set.hosted_clusters)
    out.clusters.push_back(ClusterNamer(cluster, observed.publishing, options, problems).run());
  if (!problems.has_errors()) compare_with_set(out.clusters, set, observed, problems);
  if (problems.has_errors()) return problems;
  out.warnings = std::move(problems);
  return out;
}

}  // namespace hcpnet::manifest
