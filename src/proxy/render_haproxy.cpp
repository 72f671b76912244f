// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/render_haproxy.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "proxy/any_address.hpp"
#include "proxy/haproxy_backends.hpp"

namespace hcpnet::proxy {
namespace {

using namespace haproxy;

constexpr const char* kHead =
    "# Made by `hcpnet render --target haproxy`.\n"
    "global\n"
    "  log stdout format raw local0 info\n";
/// Only what a tunnel is not: a silent tunnel is somebody's watch.
constexpr const char* kDefaults =
    "defaults\n"
    "  log global\n"
    "  option dontlognull\n"
    "  option clitcpka\n"
    "  option srvtcpka\n"
    "  option redispatch 1\n"
    "  timeout connect 30s\n"
    "  timeout client 1m\n"
    "  timeout server 1m\n"
    "  timeout tunnel 24d\n";
/// What HAProxy reads of a beginning unless told otherwise, and how much of a buffer it keeps free (tune.maxrewrite).
constexpr std::size_t kBufferBytes = 16 * 1024;
constexpr std::size_t kReservedBytes = 1024;
constexpr const char* kTunnelLog =
    "  log-format \"%ci:%cp %fi:%fp %b/%s name=%[var(txn.name)] bytes=%U/%B ms=%Tw/%Tc/%Tt end=%ts\"\n";
/// Labels of letters, digits, hyphens and underscores, as a server name may have.
constexpr const char* kUsableName =
    "^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$";

bool is_wildcard(const std::string& pattern) {
  return pattern.starts_with("*.");
}

std::string joined(const std::vector<Cidr>& prefixes) {
  std::string words;
  for (const Cidr& prefix : prefixes) words += ' ' + prefix.to_string();
  return words;
}

/// The routes of one port that are for the same clients. Ordered as they are tried: those for the clients of a cluster,
/// those for prefixes, those for everyone.
struct Group {
  std::string condition;  ///< " from-2", or nothing for everyone
  std::map<std::string, std::string> patterns;
  std::string no_sni, other_sni, not_tls;  ///< backends
};

/// What the routes of one port and protocol come to, whatever listener they are used by.
struct PortRoutes {
  std::string name;         ///< "443", in front of its files
  std::string definitions;  ///< acl lines
  std::vector<Group> groups;
};

class HaproxyRenderer {
 public:
  HaproxyRenderer(const RouteConfig& config, const SourceClusters& workers, const HaproxyOptions& options,
                  Diagnostics& warnings)
      : config_(config), options_(options), warnings_(warnings) {
    for (const auto& [address, cluster] : workers) workers_[cluster].insert(Cidr(address, address.is_v4() ? 32 : 128));
    if (options.any_address)
      merge_listeners();
    else
      listeners_ = config.listeners;
  }

  std::vector<RenderedFile> render() {
    std::string frontends;
    std::set<Endpoint> done;
    for (const Listener& listener : listeners_) {
      const Endpoint address = options_.any_address ? Endpoint{Ipv4{}, listener.address.port} : listener.address;
      if (listener.kind == ListenerKind::udp)
        warn("port " + std::to_string(address.port) + "/udp: HAProxy does not forward UDP");
      else if (done.insert(address).second)
        frontends += frontend(listener, address);
    }
    std::string text = kHead + tuning() + '\n' + kDefaults + defaults() + frontends + backends();
    files_.insert(files_.begin(), {"haproxy.cfg", std::move(text)});
    return std::move(files_);
  }

 private:
  void merge_listeners() {
    for (MergedListener& merged : merged_listeners(config_.listeners)) {
      if (merged.differs)
        warn("port " + std::to_string(merged.listener.address.port) +
             ": names that are allowed on some of its addresses only");
      if (!merged.is_closed) listeners_.push_back(std::move(merged.listener));
    }
  }

  void warn(std::string message, const char* code = "not-expressible") {
    if (!warned_.insert(message).second) return;
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = code;
    d.message = std::move(message);
    warnings_.add(std::move(d));
  }

  /// Lines of the section `global`.
  std::string tuning() {
    std::string text = "  maxconn " + std::to_string(settings_.max_connections) + '\n';
    const auto bound = [&](const std::string& name, const std::optional<std::size_t>& bytes) {
      if (bytes.value_or(0) == 0) return;
      for (const char* side : {".client ", ".server "})
        text += "  tune." + name + side + std::to_string(socket_buffer_option(*bytes)) + '\n';
    };
    bound("rcvbuf", settings_.buffers.receive_bytes);
    bound("sndbuf", settings_.buffers.send_bytes);
    // Of what a buffer holds, HAProxy keeps a part free for what it may add.
    if (settings_.max_hello_bytes > kBufferBytes - kReservedBytes)
      text += "  tune.bufsize " + std::to_string(settings_.max_hello_bytes + kReservedBytes) + '\n';
    if (settings_.max_hello_bytes < kBufferBytes) warn("a limit of less than 16 KiB for a ClientHello");
    return text;
  }

  /// Lines of the section `defaults`.
  [[nodiscard]] std::string defaults() const {
    std::string text = "  retries " + std::to_string(settings_.max_connect_attempts - 1) + '\n';
    for (const std::string side : {"clitcpka", "srvtcpka"}) {
      text += "  " + side + "-idle " + std::to_string(settings_.keepalive.idle.count()) + "s\n  " + side + "-intvl " +
              std::to_string(settings_.keepalive.interval.count()) + "s\n  " + side + "-cnt " +
              std::to_string(settings_.keepalive.probes) + '\n';
    }
    return text;
  }

  /// Writes a file once, and gives its name as the configuration has it.
  std::string file(const std::string& name, std::string text) {
    if (std::ranges::find(files_, name, &RenderedFile::name) == files_.end()) files_.push_back({name, std::move(text)});
    return options_.file_prefix + name;
  }

  std::string frontend(const Listener& listener, const Endpoint& address) {
    const bool is_http = listener.kind == ListenerKind::http;
    std::string name = address.to_string();
    std::ranges::replace_if(name, [](char c) { return c == ':' || c == '[' || c == ']'; }, '-');
    std::string text = "\nfrontend " + name + "\n  mode " + (is_http ? "http" : "tcp") + "\n  bind " +
                       (options_.any_address ? ':' + std::to_string(address.port) : address.to_string());
    if (!listener.interface.empty()) text += " interface " + listener.interface;
    text += '\n' + admission(listener);
    const PortRoutes routes = routes_of(listener.address.port, name_of(listener));
    if (is_http)
      text += "  option httplog\n  timeout client 24d\n  timeout http-keep-alive 1m\n";
    else
      text += kTunnelLog;
    if (listener.kind == ListenerKind::tls) text += inspect_hello(routes);
    if (is_http) text += inspect_host(routes);
    text += routes.definitions + choice(listener, routes);
    return text;
  }

  static std::string name_of(const Listener& listener) {
    return std::to_string(listener.address.port) + (listener.kind == ListenerKind::http ? "-http" : "");
  }

  [[nodiscard]] std::string admission(const Listener& listener) const {
    std::string text;
    if (listener.max_connections > 0) text += "  maxconn " + std::to_string(listener.max_connections) + '\n';
    if (!listener.trusted_proxies.empty())
      text += "  tcp-request connection expect-proxy layer4 if { src" + joined(listener.trusted_proxies) + " }\n";
    if (!listener.deny.empty()) text += "  tcp-request session reject if { src" + joined(listener.deny) + " }\n";
    if (!listener.allow.empty()) text += "  tcp-request session reject unless { src" + joined(listener.allow) + " }\n";
    if (settings_.max_connections_per_source > 0) {
      text +=
          "  stick-table type ipv6 size 100k expire 1h store conn_cur\n  tcp-request session track-sc0 src\n"
          "  tcp-request session reject if { sc0_conn_cur gt " +
          std::to_string(settings_.max_connections_per_source) + " }\n";
    }
    return text;
  }

  /// Patterns of the port: exact names look themselves up, wildcards the longest that the name ends with.
  std::string look_up(const char* rule, const PortRoutes& routes, const char* when) {
    std::set<std::string> exact, wild;
    for (const Group& group : routes.groups)
      for (const auto& [pattern, backend] : group.patterns) (is_wildcard(pattern) ? wild : exact).insert(pattern);
    std::string names, suffixes;
    for (const std::string& pattern : exact) names += pattern + ' ' + pattern + '\n';
    std::vector<std::string> longest_first(wild.begin(), wild.end());
    std::ranges::stable_sort(longest_first, std::greater{}, &std::string::size);
    for (const std::string& pattern : longest_first) suffixes += pattern.substr(1) + ' ' + pattern + '\n';
    const std::string set = std::string("  ") + rule + " set-var(txn.key) var(txn.name),";
    std::string text;
    if (!exact.empty()) text += set + "map_str(" + file("maps/" + routes.name + "-exact.map", names) + ')' + when;
    if (!wild.empty()) {
      text += set + "map_end(" + file("maps/" + routes.name + "-wildcard.map", suffixes) +
              ") if !{ var(txn.key) -m found } { var(txn.name) -m found }\n";
    }
    return text;
  }

  std::string inspect_hello(const PortRoutes& routes) {
    return "  tcp-request inspect-delay " + time_text(settings_.inspect_timeout) +
           "\n"
           "  tcp-request content set-var(txn.name) req.ssl_sni,lower if { req.ssl_hello_type 1 }\n"
           "  tcp-request content unset-var(txn.name) if { var(txn.name) -m reg ^[0-9.]+$|: }\n" +
           look_up("tcp-request content", routes, " if { req.ssl_hello_type 1 }\n") +
           "  tcp-request content accept if { req.ssl_hello_type 1 }\n"
           "  tcp-request content accept if { req.len gt 0 } !{ req.payload(0,1) -m bin 16 }\n"
           "  tcp-request content reject\n"
           "  acl is-tls req.ssl_hello_type 1\n";
  }

  std::string inspect_host(const PortRoutes& routes) {
    return "  timeout http-request " + time_text(settings_.inspect_timeout) +
           "\n"
           "  http-request set-var(txn.name) req.hdr(host),host_only,lower\n"
           "  http-request unset-var(txn.name) if { var(txn.name) -m reg ^[0-9.]+$|: }\n" +
           look_up("http-request", routes, "\n") + "  acl is-tls always_true\n";
  }

  /// The rules of RouteTable: the narrowest claim first; what others claim is not handed to a route for everyone.
  std::string choice(const Listener& listener, const PortRoutes& routes) {
    const std::string suffix = listener.kind == ListenerKind::http ? kHttpSuffix : "";
    const std::string closed = "closed" + suffix;
    std::string text;
    const auto use = [&](const std::string& backend, const std::string& condition) {
      if (backend.empty()) return;
      used_.emplace(backend, listener.kind == ListenerKind::http);
      text += "  use_backend " + backend + suffix + (condition.empty() ? "" : " if" + condition) + '\n';
    };
    used_.emplace("closed", listener.kind == ListenerKind::http);
    if (listener.kind == ListenerKind::tcp) {
      for (const Group& group : routes.groups) use(group.not_tls, group.condition);
      return text + "  default_backend " + closed + '\n';
    }
    text += std::string("  acl is-named var(txn.name) -m found\n  acl is-usable var(txn.name) -m reg ") + kUsableName +
            "\n  use_backend " + closed + " if is-named !is-usable\n";
    if (!listener.only_names.empty()) text += only_names(listener, closed);
    for (const Group& group : routes.groups) {
      if (group.patterns.empty()) continue;
      const std::string found = "var(txn.key),map_str(" + group_map(routes, group, listener.kind) + ')';
      text += "  use_backend %[" + found + "] if" + group.condition + " { " + found + " -m found }\n";
    }
    for (const Group& group : routes.groups)
      if (!group.condition.empty()) use(group.other_sni, " is-named" + group.condition);
    text += "  use_backend " + closed + " if { var(txn.key) -m found }\n";
    for (const Group& group : routes.groups)
      if (group.condition.empty()) use(group.other_sni, " is-named");
    for (const Group& group : routes.groups) use(group.no_sni, " is-tls !is-named" + group.condition);
    if (listener.kind == ListenerKind::tls)
      for (const Group& group : routes.groups) use(group.not_tls, " !is-tls" + group.condition);
    return text + "  default_backend " + closed + '\n';
  }

  std::string only_names(const Listener& listener, const std::string& closed) {
    std::string exact, wild;
    for (const std::string& name : listener.only_names)
      (is_wildcard(name) ? wild : exact) += (is_wildcard(name) ? name.substr(1) : name) + '\n';
    const std::string base = "maps/" + name_of(listener) + "-only-" + std::to_string(++only_count_);
    std::string text;
    if (!exact.empty()) text += "  acl is-allowed var(txn.name) -m str -f " + file(base + ".lst", exact) + '\n';
    if (!wild.empty()) text += "  acl is-allowed var(txn.name) -m end -f " + file(base + "-below.lst", wild) + '\n';
    return text + "  use_backend " + closed + " if !is-allowed\n";
  }

  std::string group_map(const PortRoutes& routes, const Group& group, ListenerKind kind) {
    const std::string suffix = kind == ListenerKind::http ? kHttpSuffix : "";
    std::string lines;
    for (const auto& [pattern, backend] : group.patterns) {
      used_.emplace(backend, kind == ListenerKind::http);
      lines += pattern + ' ' + backend + suffix + '\n';
    }
    const auto number = &group - routes.groups.data();
    return file("maps/" + routes.name + '-' + std::to_string(number) + ".map", lines);
  }

  PortRoutes routes_of(std::uint16_t port, std::string name) {
    PortRoutes routes{std::move(name), {}, {}};
    // Cluster before prefix before everyone; within one of these in the order of their names.
    std::map<std::tuple<int, std::string, std::vector<Cidr>>, std::vector<const Route*>> by_source;
    for (const Route& route : config_.routes) {
      if (route.port != port || route.protocol != Protocol::tcp) continue;
      const SourceMatch& from = route.source;
      const int rank = !from.cluster.empty() ? 0 : from.is_everyone() ? 2 : 1;
      by_source[{rank, from.cluster, from.prefixes}].push_back(&route);
    }
    for (const auto& [source, members] : by_source) {
      Group group;
      if (!members.front()->source.is_everyone()) {
        group.condition = sources(routes, members.front()->source);
        if (group.condition.empty()) continue;
      }
      for (const Route* route : members) {
        for (const std::string& pattern : route->names) group.patterns.emplace(pattern, route->backend);
        if (route->no_sni) group.no_sni = route->backend;
        if (route->other_sni) group.other_sni = route->backend;
        if (route->not_tls) group.not_tls = route->backend;
      }
      routes.groups.push_back(std::move(group));
    }
    find_nested(routes);
    return routes;
  }

  /// " from-1", defined by the addresses of these clients; nothing when none is known.
  std::string sources(PortRoutes& routes, const SourceMatch& source) {
    std::set<Cidr> all(source.prefixes.begin(), source.prefixes.end());
    if (const auto own = workers_.find(source.cluster); own != workers_.end())
      all.insert(own->second.begin(), own->second.end());
    if (all.empty()) {
      warn("port " + routes.name + ": no client of cluster " + source.cluster +
               " is known yet, so its routes by source are left out",
           "no-sources");
      return {};
    }
    std::string lines;
    for (const Cidr& prefix : all) lines += prefix.to_string() + '\n';
    const std::string name = "from-" + std::to_string(routes.groups.size());
    routes.definitions +=
        "  acl " + name + " src -f " + file("maps/" + routes.name + '-' + name + ".lst", lines) + '\n';
    return ' ' + name;
  }

  /// HAProxy finds the longest pattern once; it does not go on to a shorter one that other clients claim.
  void find_nested(const PortRoutes& routes) {
    for (const Group& inner : routes.groups) {
      if (inner.condition.empty()) continue;
      for (const auto& [pattern, backend] : inner.patterns)
        for (const Group& outer : routes.groups)
          for (const auto& [wider, other] : outer.patterns)
            if (!outer.condition.empty() && &outer != &inner && pattern != wider && is_covered(pattern, wider))
              warn("port " + routes.name + ": " + pattern + " is for some clients, and " + wider +
                   " above it for others, who are closed instead");
    }
  }

  std::string backends() {
    std::string text;
    for (const auto& [name, is_http] : used_) {
      if (name == "closed") {
        text += is_http ? "\nbackend closed" + std::string(kHttpSuffix) + "\n  mode http\n  http-request reject\n"
                        : "\nbackend closed\n  mode tcp\n  tcp-request content reject\n";
        continue;
      }
      const Backend& backend = *std::ranges::find(config_.backends, name, &Backend::name);
      text += backend_section(backend, is_http, dial_from());
    }
    const bool is_resolved =
        std::ranges::any_of(config_.backends, [&](const Backend& b) { return b.endpoints.empty() && !b.host.empty(); });
    return text + (is_resolved ? kResolvers : "");
  }

  /// Our own addresses towards backends: a backend has one, whatever listener its client came by.
  [[nodiscard]] std::vector<IpAddress> dial_from() {
    std::set<std::vector<IpAddress>> all;
    for (const Listener& listener : listeners_) all.insert(listener.dial_from);
    if (all.size() > 1) warn("listeners that dial from different addresses");
    return all.size() == 1 ? *all.begin() : std::vector<IpAddress>{};
  }

  const RouteConfig& config_;
  std::vector<Listener> listeners_;
  const HaproxyOptions& options_;
  const EngineSettings& settings_ = options_.settings;
  Diagnostics& warnings_;
  std::map<std::string, std::set<Cidr>> workers_;
  std::vector<RenderedFile> files_;
  std::set<std::pair<std::string, bool>> used_;  ///< backends, and whether as HTTP
  std::set<std::string> warned_;
  std::size_t only_count_ = 0;
};

}  // namespace

std::vector<RenderedFile> render_haproxy(const RouteConfig& config, const SourceClusters& workers,
                                         const HaproxyOptions& options, Diagnostics& warnings) {
  return HaproxyRenderer(config, workers, options, warnings).render();
}

}  // namespace hcpnet::proxy
