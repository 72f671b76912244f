// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/proxy/render_envoy.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <hcpnet/version.hpp>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "manifest/config_files.hpp"
#include "manifest/udn.hpp"
#include "manifest/workload.hpp"
#include "stack/derive.hpp"

namespace hcpnet::manifest {
namespace {

/// Stands for the pod's own address while the configuration is made: nobody knows it yet, and nobody can have this one.
constexpr Ipv4 kPodAddressMark{0, 0, 0, 254};
constexpr std::uint16_t kHealthPort = 8080, kReadyPort = 8181;
/// Of a Corefile: what is followed by addresses to listen on.
constexpr std::string_view kListenerDirectives[] = {"bind", "health", "ready", "prometheus"};

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
    if (!unit_.dhcp && !unit_.dns && !unit_.proxy) return;  // `hcpnet up` refuses it
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
    for (const auto& [file, text] : record_files(unit_)) w.config[file] = text;
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
    if (refuses(dns_port(), {kObservePort, kHealthPort, kReadyPort})) return;  // a renderer knows no line
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
      w.config[key] = file.name == "Corefile" ? with_pod_address(file.text) : file.text;
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

  /// CoreDNS puts environment variables in. Only where a listener is named: the same digits may be part of a record,
  /// as in 10.0.0.254.
  static std::string with_pod_address(std::string_view corefile) {
    static const std::string kMark = kPodAddressMark.to_string();
    std::string text;
    while (!corefile.empty()) {
      const std::string_view line = corefile.substr(0, corefile.find('\n') + 1);
      corefile.remove_prefix(line.empty() ? corefile.size() : line.size());
      const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
      const std::string_view directive = line.substr(first, line.find(' ', first) - first);
      const bool is_listener = std::ranges::find(kListenerDirectives, directive) != std::end(kListenerDirectives);
      const std::size_t at = is_listener ? find_word(line, kMark) : std::string_view::npos;
      text += line.substr(0, at);
      if (at != std::string_view::npos) (text += "{$POD_IP}") += line.substr(at + kMark.size());
    }
    return text;
  }

  /// Where an address stands between blanks, or before a port.
  static std::size_t find_word(std::string_view line, std::string_view word) {
    for (std::size_t at = 0; (at = line.find(word, at)) != std::string_view::npos; ++at) {
      const std::size_t end = at + word.size();
      if (at > 0 && line[at - 1] == ' ' &&
          (end == line.size() || line[end] == ' ' || line[end] == ':' || line[end] == '\n'))
        return at;
    }
    return std::string_view::npos;
  }

  void add_envoy() {
    const ProxyServerConfig& proxy = config_.proxies.front();
    proxy::EnvoyOptions envoy;
    envoy.node = unit_.name("proxy");
    envoy.any_address = true;
    envoy.observe_port = kObservePort;
    envoy.settings = proxy.settings;
    proxy::RouteConfig routes = proxy.table->config();
    for (proxy::Listener& listener : routes.listeners)  // what is not the VLAN's address is the pod's
      if (listener.address.address == IpAddress(kPodAddressMark)) listener.address.address = Ipv4{};
    const Json bootstrap = proxy::render_envoy(routes, proxy.workers, envoy, problems_);
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
    w.admin_port = envoy.admin_port;
    take_proxy(w);
    finish(w);
  }

  // --- parts

  void take_address(Workload& w, Ipv4 address) { take_address(w, {address, unit_.network.prefix_length()}); }
  void take_address(Workload& w, const InterfaceAddress& wanted) {
    if (std::ranges::find(w.addresses, wanted.address, &InterfaceAddress::address) == w.addresses.end())
      w.addresses.push_back(wanted);
  }

  [[nodiscard]] const spec::ValidDhcpPolicy& dhcp_policy() const {
    return unit_.set.infras.empty() ? unit_.set.dhcp_servers.front().policy : unit_.set.infras.front().dhcp_policy;
  }

  void take_dhcp(Workload& w) {
    take_address(w, *unit_.dhcp);
    for (const spec::ValidDhcpPolicy::Subnet& subnet : dhcp_policy().subnets)
      if (subnet.server_ip) take_address(w, {*subnet.server_ip, subnet.cidr.prefix_length()});
    w.ports.push_back({"dhcp", 67, "UDP"});
    if (dhcp_policy().ipv6) w.ports.push_back({"dhcp6", 547, "UDP"});
    w.needs_raw_socket = true;
    w.claim = cut_name(w.name, "-state");
    w.secret_keys = store_keys(unit_);
    if (!w.secret_keys.empty()) {
      w.secret = cut_name(w.name, "-store");
      w.secret_path = kStorePath;
    }
    out_.push_back(state_claim(unit_, w.claim, w.component));
    if (wants("SecurityContextConstraints"))
      for (Json& object : raw_socket_constraints(unit_, w.account, w.component)) out_.push_back(std::move(object));
  }

  [[nodiscard]] std::uint16_t dns_port() const {
    return unit_.set.dns_servers.empty() ? std::uint16_t{53} : unit_.set.dns_servers.front().port;
  }

  void take_dns(Workload& w) {
    take_address(w, *unit_.dns);
    const std::vector<Port> ports{{"dns-udp", dns_port(), "UDP"}, {"dns-tcp", dns_port()}};
    w.ports.insert(w.ports.end(), ports.begin(), ports.end());
    out_.push_back(cluster_service(unit_, service("-dns"), "dns", w.component, ports));
  }

  void take_proxy(Workload& w) {
    take_address(w, *unit_.proxy);
    std::set<std::pair<std::uint16_t, bool>> all;  // and whether it is UDP
    for (const proxy::Listener& listener : config_.proxies.front().table->config().listeners)
      all.emplace(listener.address.port, listener.kind == proxy::ListenerKind::udp);
    std::vector<Port> inner;
    for (const auto& [port, is_udp] : all) {
      w.ports.push_back(proxy_port(port, is_udp));
      if (!is_external(port)) inner.push_back(w.ports.back());
    }
    out_.push_back(cluster_service(unit_, service("-proxy"), "proxy", w.component, inner));
    for (Json& object : external_services(unit_, w.component)) out_.push_back(std::move(object));
    for (const spec::ValidProxyServer& server : unit_.set.proxy_servers)
      if (server.spec.external_service.enabled)
        problems_.add(derive::problem(
            Severity::warning, unit_.origin, "/spec/externalService/enabled", unit_.owner, "external-service",
            "no such Service is made of a ProxyServer, since it would show every name that "
            "the proxy serves; that of an InfraClusterAttachment shows its OAuth name alone"));
    for (Json& object : control_plane_policies(unit_, w.component)) out_.push_back(std::move(object));
  }

  static Port proxy_port(std::uint16_t port, bool is_udp) {
    if (is_udp) return {"udp-" + std::to_string(port), port, "UDP"};
    return {port == 443 ? "https" : port == 6443 ? "kube-api" : "tcp-" + std::to_string(port), port};
  }

  /// Whether a cluster publishes something there. It is for the outside, and not for the VLAN.
  [[nodiscard]] bool is_external(std::uint16_t port) const {
    return std::ranges::any_of(unit_.set.infras, [&](const spec::ValidInfra& infra) {
      return std::ranges::count(infra.clusters, std::optional(port), &spec::ValidCluster::external_port) > 0;
    });
  }

  [[nodiscard]] std::string service(const char* suffix) const {
    return unit_.is_infra ? service_name(unit_.owner.name, suffix) : service_name(unit_.owner.name);
  }

  /// What watches a pod listens on the pod's address too, where it would keep the program from starting; and an API
  /// server refuses a port that is there twice. True where `port` is one of those that the pod has for itself.
  bool refuses(std::uint16_t port, std::initializer_list<std::uint16_t> own) {
    if (std::ranges::find(own, port) == own.end()) return false;
    problems_.add(
        derive::problem(Severity::error, unit_.origin, pointer_to_port(port), unit_.owner, "port-taken",
                        "port " + std::to_string(port) + " is one at which the pod itself is watched; take another"));
    return true;
  }

  /// Where a server of its own says that it listens there. Nobody chooses the ports of an Infra.
  [[nodiscard]] std::string pointer_to_port(std::uint16_t port) const {
    if (!unit_.set.dns_servers.empty()) return "/spec/networkConfig/dnsPort";
    if (unit_.set.proxy_servers.empty()) return {};
    const std::vector<spec::ProxyBackend>& backends = unit_.set.proxy_servers.front().spec.backends;
    const auto backend = std::ranges::find(backends, port, &spec::ProxyBackend::port);
    if (backend == backends.end()) return "/spec/backends";
    return "/spec/backends/" + std::to_string(backend - backends.begin()) + "/port";
  }

  /// An API server would refuse the object, and with it whatever is applied afterwards. Said once: the pods of one
  /// network have the same files.
  void check_size(const Workload& w) {
    std::size_t bytes = 0;
    for (const Json& text : w.config) bytes += text.get_ref<const std::string&>().size();
    if (bytes <= kMaxConfigMapBytes || is_too_large_) return;
    is_too_large_ = true;
    static constexpr const char* kCode = "config-too-large";
    const std::string message = "the ConfigMap " + w.config_name + " would have more than the " +
                                std::to_string(kMaxConfigMapBytes) +
                                " bytes that an API server takes: " + std::to_string(bytes);
    // Envoy gets no records.
    const auto of_file =
        w.config.contains("envoy.yaml") ? std::nullopt : problem_of_largest_record_file(unit_, bytes, kCode, message);
    if (of_file) return problems_.add(*of_file);
    Diagnostic d;
    d.code = kCode;
    d.message = unit_.owner.key() + ": " + message;
    problems_.add(std::move(d));
  }

  void finish(const Workload& w) {
    for (const Port& p : w.ports)
      if (std::string_view(p.protocol) == "TCP") refuses(p.port, {kObservePort, w.admin_port});
    check_size(w);
    out_.push_back(service_account(unit_, w.account, w.component));
    out_.push_back(config_map(unit_, w.config_name, w.component, w.config));
    std::vector<Port> inside = w.ports;  // DHCP is for the VLAN alone
    std::erase_if(inside, [](const Port& p) { return p.name == "dhcp" || p.name == "dhcp6"; });
    out_.push_back(pod_network_policy(unit_, w.name, w.component, inside));
    if (wants("MultiNetworkPolicy")) out_.push_back(vlan_policy(unit_, w.name, w.component, vlan_ports(w)));
    out_.push_back(deployment(unit_, w));
  }

  [[nodiscard]] std::vector<Port> vlan_ports(const Workload& w) const {
    std::vector<Port> ports = w.ports;
    std::erase_if(ports, [&](const Port& p) { return is_external(p.port); });
    return ports;
  }

  const Unit& unit_;
  const spec::Observed& observed_;
  const BuildOptions& options_;
  const StackConfig& config_;
  Diagnostics& problems_;
  std::vector<Json>& out_;
  bool is_too_large_ = false;
};

auto sort_key(const Json& object) {
  const auto rank = std::ranges::find(kOrder, object["kind"].get_ref<const std::string&>()) - std::begin(kOrder);
  return std::tuple(rank, text_at(object, "namespace"), text_at(object, "name"));
}

/// The part of the set that an object was made for.
std::string part_of(const Json& object) {
  return object.value("/metadata/labels/app.kubernetes.io~1instance"_json_pointer, std::string("another"));
}

/// Objects that two parts need alike are one; two different ones of one name can't both be applied. Of two parts it is
/// said once for each namespace.
void merge_equals(std::vector<Json>& objects, Diagnostics& problems) {
  const auto same = [](const Json& a, const Json& b) { return sort_key(a) == sort_key(b); };
  std::set<std::tuple<std::string, std::string, std::string>> told;
  for (auto i = objects.begin(); (i = std::adjacent_find(i, objects.end(), same)) != objects.end();) {
    const std::string ns = text_at(*i, "namespace");
    if (*i != *std::next(i) && told.emplace(ns, part_of(*i), part_of(*std::next(i))).second) {
      Diagnostic d;
      d.code = "object-collides";
      d.message = "two parts of the set, " + part_of(*i) + " and " + part_of(*std::next(i)) + ", need a " +
                  (*i)["kind"].get<std::string>() + " of the name " + (ns.empty() ? ns : ns + '/') +
                  text_at(*i, "name") + ", and not the same one; rename one of them";
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
