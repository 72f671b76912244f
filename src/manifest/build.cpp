// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/proxy/render_envoy.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <hcpnet/version.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "manifest/config_files.hpp"
#include "manifest/udn.hpp"
#include "manifest/workload.hpp"

namespace hcpnet::manifest {
namespace {

/// Stands for the pod's own address while the configuration is made: nobody knows it yet, and nobody can have this one.
constexpr Ipv4 kPodAddressMark{0, 0, 0, 254};
constexpr std::uint16_t kHealthPort = 8080, kReadyPort = 8181;

constexpr std::string_view kOrder[] = {"Namespace",
                                       "UserDefinedNetwork",
                                       "ClusterUserDefinedNetwork",
                                       "RouteAdvertisements",
                                       "MutatingAdmissionPolicy",
                                       "MutatingAdmissionPolicyBinding",
                                       "ServiceAccount",
                                       "SecurityContextConstraints",
                                       "ClusterRole",
                                       "Role",
                                       "RoleBinding",
                                       "NetworkAttachmentDefinition",
                                       "ConfigMap",
                                       "PersistentVolumeClaim",
                                       "NetworkPolicy",
                                       "MultiNetworkPolicy",
                                       "Service",
                                       "Deployment",
                                       "ServiceMonitor",
                                       "HostedCluster",
                                       "NodePool",
                                       "IPAMClaim",
                                       "VirtualMachine"};

std::string text_at(const Json& object, const char* field) {
  const Json& metadata = object["metadata"];
  return metadata.contains(field) ? metadata[field].get<std::string>() : std::string();
}

class UnitBuilder {
 public:
  UnitBuilder(const Unit& unit, const spec::Observed& observed, const BuildOptions& options, const StackConfig& config,
              Diagnostics& problems, std::vector<Json>& out)
      : unit_(unit), observed_(observed), options_(options), config_(config), problems_(problems), out_(out) {}

  void build() {
    if (options_.link) add_attachment();
    switch (options_.deployment) {
      case Deployment::one:
        add_one();
        break;
      case Deployment::split:
        add_split();
        break;
      case Deployment::coredns_envoy:
        add_coredns_envoy();
        break;
    }
    for (Json& object : metrics_objects(unit_, service_name(unit_.owner.name, "-metrics"), wants("ServiceMonitor")))
      out_.push_back(std::move(object));
  }

 private:
  [[nodiscard]] bool wants(std::string_view kind) const { return !options_.without.contains(kind); }

  void add_attachment() {
    std::vector<IpAddress> gateways;
    if (unit_.gateway) gateways.emplace_back(*unit_.gateway);
    Json object = network_attachment(unit_.attachment, *options_.link, gateways);
    object["metadata"]["labels"] = labels(unit_, "network");
    out_.push_back(std::move(object));
  }

  // --- the three forms

  void add_one() {
    Workload w = hcpnet_workload(unit_.name("network"), "network", {});
    if (unit_.dhcp) take_dhcp(w);
    if (unit_.dns) take_dns(w);
    if (unit_.proxy) take_proxy(w);
    finish(w);
  }

  void add_split() {
    if (unit_.dhcp) add_dhcp();
    if (unit_.dns) {
      Workload w = hcpnet_workload(unit_.name("dns"), "dns", unit_.dns_image);
      take_dns(w);
      finish(w);
    }
    if (unit_.proxy) {
      Workload w = hcpnet_workload(unit_.name("proxy"), "proxy", {});
      take_proxy(w);
      finish(w);
    }
  }

  void add_coredns_envoy() {
    if (unit_.dhcp) add_dhcp();
    if (unit_.dns) add_coredns();
    if (unit_.proxy) add_envoy();
  }

  void add_dhcp() {
    Workload w = hcpnet_workload(unit_.name("dhcp"), "dhcp", unit_.dhcp_image);
    take_dhcp(w);
    finish(w);
  }

  // --- programs

  Workload hcpnet_workload(std::string name, const char* component, const std::optional<std::string>& image) {
    Workload w;
    w.account = name;
    w.config_name = cut_name(name, "-config");
    w.name = std::move(name);
    w.component = component;
    w.image = image ? *image : options_.image.empty() ? "hcpnet:" + std::string(version()) : options_.image;
    w.config = {{"network.yaml", network_file(unit_)}, {"observed.yaml", observed_file(unit_, observed_)}};
    w.config_path = "/etc/hcpnet";
    w.state_path = "/var/lib/hcpnet";
    w.args = {"up",
              "/etc/hcpnet/network.yaml",
              "--observed",
              "/etc/hcpnet/observed.yaml",
              "--state-dir",
              w.state_path,
              "--pod-address",
              "$(POD_IP)",
              "--observe",
              "$(POD_IP):" + std::to_string(kObservePort),
              "--log-format",
              "json"};
    if (options_.deployment != Deployment::one && unit_.is_infra) {
      w.args.emplace_back("--only");
      w.args.emplace_back(component);
    }
    return w;
  }

  void add_coredns() {
    dns::RenderOptions render;
    render.file_prefix = "/etc/coredns/";
    render.coredns.health = Endpoint{kPodAddressMark, kHealthPort};
    render.coredns.ready = Endpoint{kPodAddressMark, kReadyPort};
    render.coredns.prometheus = Endpoint{kPodAddressMark, kObservePort};
    render.coredns.cache_ttl = config_.dns.front().cache_ttl;
    auto rendered = dns::render(config_.dns.front().config, dns::RenderTarget::coredns, render);
    if (!rendered) {
      problems_.append(rendered.error());
      return;
    }
    problems_.append(std::move(rendered->warnings));
    Workload w;
    w.name = w.account = unit_.name("dns");
    w.component = "dns";
    w.config_name = cut_name(w.name, "-config");
    for (const dns::RenderedFile& file : rendered->files) {
      std::string key = file.name;  // letters, digits and ._-%*/, of which a key takes fewer
      std::ranges::replace_if(key, [](char c) { return c == '/' || c == '%' || c == '*'; }, '_');
      w.config[key] = with_pod_address(file.text);
      w.config_items.emplace_back(key, file.name);
    }
    // It takes a zone file for new only where the serial has grown, and nobody here knows the one before.
    w.reloads = rendered->files.size() == 1;
    w.config_path = "/etc/coredns";
    w.image = unit_.dns_image.value_or(options_.coredns_image);
    w.args = {"-conf", "/etc/coredns/Corefile"};
    w.has_file_capabilities = true;
    w.live_path = "/health";
    w.live_port = kHealthPort;
    w.ready_path = "/ready";
    w.ready_port = kReadyPort;
    take_dns(w);
    finish(w);
  }

  /// CoreDNS puts environment variables in.
  static std::string with_pod_address(std::string text) {
    const std::string mark = kPodAddressMark.to_string();
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), "{$POD_IP}");
    return text;
  }

  void add_envoy() {
    const ProxyServerConfig& proxy = config_.proxies.front();
    proxy::EnvoyOptions envoy;
    envoy.node = unit_.name("proxy");
    envoy.any_address = true;
    envoy.observe_port = kObservePort;
    envoy.settings = proxy.settings;
    const Json bootstrap = proxy::render_envoy(proxy.table->config(), proxy.workers, envoy, problems_);
    Workload w;
    w.name = w.account = unit_.name("proxy");
    w.component = "proxy";
    w.config_name = cut_name(w.name, "-config");
    w.config = {{"envoy.yaml", text::render_yaml(bootstrap)}};
    w.config_path = "/etc/envoy";
    w.reloads = false;
    w.image = unit_.envoy_image;
    w.command = {"envoy"};
    w.args = {"-c", "/etc/envoy/envoy.yaml"};
    take_proxy(w);
    finish(w);
  }

  // --- parts

  void take_address(Workload& w, Ipv4 address) {
    const InterfaceAddress wanted{address, unit_.network.prefix_length()};
    if (std::ranges::find(w.addresses, wanted.address, &InterfaceAddress::address) == w.addresses.end())
      w.addresses.push_back(wanted);
  }

  void take_dhcp(Workload& w) {
    take_address(w, *unit_.dhcp);
    w.ports.push_back({"dhcp", 67, "UDP"});
    w.needs_raw_socket = true;
    w.claim = cut_name(w.name, "-state");
    out_.push_back(state_claim(unit_, w.claim, w.component));
    if (wants("SecurityContextConstraints"))
      for (Json& object : raw_socket_constraints(unit_, w.account, w.component)) out_.push_back(std::move(object));
  }

  void take_dns(Workload& w) {
    take_address(w, *unit_.dns);
    const std::uint16_t port = unit_.set.dns_servers.empty() ? 53 : unit_.set.dns_servers.front().port;
    const std::vector<Port> ports{{"dns-udp", port, "UDP"}, {"dns-tcp", port}};
    w.ports.insert(w.ports.end(), ports.begin(), ports.end());
    out_.push_back(cluster_service(unit_, service("-dns"), "dns", w.component, ports));
  }

  void take_proxy(Workload& w) {
    take_address(w, *unit_.proxy);
    std::set<std::uint16_t> all;
    for (const proxy::Listener& listener : config_.proxies.front().table->config().listeners)
      all.insert(listener.address.port);
    std::vector<Port> inner;
    for (const std::uint16_t port : all) {
      const bool is_external = std::ranges::any_of(unit_.set.infras, [&](const spec::ValidInfra& infra) {
        return std::ranges::count(infra.clusters, std::optional(port), &spec::ValidCluster::external_port) > 0;
      });
      const Port entry{port == 443 ? "https" : port == 6443 ? "kube-api" : "tcp-" + std::to_string(port), port};
      w.ports.push_back(entry);
      if (!is_external) inner.push_back(entry);
    }
    out_.push_back(cluster_service(unit_, service("-proxy"), "proxy", w.component, inner));
    for (Json& object : external_services(unit_, w.component)) out_.push_back(std::move(object));
    for (Json& object : control_plane_policies(unit_, w.component)) out_.push_back(std::move(object));
  }

  [[nodiscard]] std::string service(const char* suffix) const {
    return unit_.is_infra ? service_name(unit_.owner.name, suffix) : service_name(unit_.owner.name);
  }

  void finish(const Workload& w) {
    out_.push_back(service_account(unit_, w.account, w.component));
    out_.push_back(config_map(unit_, w.config_name, w.component, w.config));
    std::vector<Port> inside = w.ports;  // DHCP is for the VLAN alone
    std::erase_if(inside, [](const Port& p) { return p.name == "dhcp"; });
    out_.push_back(pod_network_policy(unit_, w.name, w.component, inside));
    if (wants("MultiNetworkPolicy")) out_.push_back(vlan_policy(unit_, w.name, w.component, vlan_ports(w)));
    out_.push_back(deployment(unit_, w));
  }

  /// What is published to the outside is not for the VLAN.
  static std::vector<Port> vlan_ports(const Workload& w) {
    std::vector<Port> ports = w.ports;
    std::erase_if(ports, [](const Port& p) {
      return p.port >= spec::kFirstExternalPort && p.port < spec::kFirstExternalPort + spec::kExternalPorts &&
             p.name.starts_with("tcp-");
    });
    return ports;
  }

  const Unit& unit_;
  const spec::Observed& observed_;
  const BuildOptions& options_;
  const StackConfig& config_;
  Diagnostics& problems_;
  std::vector<Json>& out_;
};

auto sort_key(const Json& object) {
  const auto rank = std::ranges::find(kOrder, object["kind"].get_ref<const std::string&>()) - std::begin(kOrder);
  return std::tuple(rank, text_at(object, "namespace"), text_at(object, "name"));
}

/// Objects that two parts need alike are one; two different ones of one name can't both be applied.
void merge_equals(std::vector<Json>& objects, Diagnostics& problems) {
  const auto same = [](const Json& a, const Json& b) { return sort_key(a) == sort_key(b); };
  for (auto i = objects.begin(); (i = std::adjacent_find(i, objects.end(), same)) != objects.end();) {
    if (*i != *std::next(i)) {
      Diagnostic d;
      d.code = "object-collides";
      d.message = "two parts of the set need a " + (*i)["kind"].get<std::string>() + " of the name " +
                  text_at(*i, "namespace") + '/' + text_at(*i, "name") + ", and not the same one; rename one of them";
      problems.add(std::move(d));
    }
    i = objects.erase(i);
  }
}

}  // namespace

std::string_view to_string(Deployment deployment) noexcept {
  switch (deployment) {
    case Deployment::one:
      return "one";
    case Deployment::split:
      return "split";
    case Deployment::coredns_envoy:
      break;
  }
  return "coredns-envoy";
}

std::optional<Deployment> parse_deployment(std::string_view text) noexcept {
  for (const Deployment d : kDeployments)
    if (text == to_string(d)) return d;
  return {};
}

Result<Built, Diagnostics> build(const spec::ValidSet& set, const spec::Observed& observed,
                                 const BuildOptions& options) {
  Built built;
  Diagnostics problems;
  for (const Unit& unit : make_units(set, problems)) {
    auto config = make_stack_config(unit.set, observed, {{kPodAddressMark}, {}});
    if (!config) {
      problems.append(config.error());
      continue;
    }
    problems.append(config->warnings);
    UnitBuilder(unit, observed, options, *config, problems, built.objects).build();
  }
  for (const spec::ValidPrimaryUdn& udn : set.primary_udns)
    UdnBuilder(udn, set, observed, options, problems, built.objects).build();
  std::ranges::stable_sort(built.objects, {}, sort_key);
  merge_equals(built.objects, problems);
  if (problems.has_errors()) return problems;
  built.warnings = std::move(problems);
  return built;
}

}  // namespace hcpnet::manifest
