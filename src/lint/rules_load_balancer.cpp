// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr Rule kRules[] = {
    {.id = "haproxy-plain-check",
     .severity = Severity::error,
     .title = "a plain HTTP check of a TLS port",
     .why = "The port answers 400 to what is no TLS, so each healthy server counts as down, and HAProxy closes every "
            "connection: `backend api has no server available`. `option httpchk` itself is right in TCP mode; it has "
            "to be "
            "asked inside TLS.",
     .fix = "`check check-ssl verify none` at each server, with `http-check send meth GET uri /readyz`.",
     .source = "HAProxy configuration manual, option httpchk, check-ssl",
     .wrong = R"(frontend api
  mode tcp
  bind 192.168.126.10:6443
  timeout client 1h
  default_backend api
backend api
  mode tcp
  timeout server 1h
  option httpchk GET /readyz
  server master-0 192.168.126.101:6443 check inter 2s
)",
     .wrong_part = "check inter 2s",
     .right_part = "check check-ssl verify none inter 2s"},
    {.id = "haproxy-connect-check",
     .severity = Severity::info,
     .title = "an API server whose port alone is checked",
     .why = "The port is open before the API server is ready, and still while it ends: requests go to a server that "
            "answers with an error. The walk-throughs that say so had a plain HTTP check before "
            "(`haproxy-plain-check`).",
     .fix = "`option httpchk`, `http-check send meth GET uri /readyz`, `check check-ssl verify none`.",
     .source = "Kubernetes API health endpoints; HAProxy configuration manual, check-ssl",
     .wrong = R"(frontend api
  mode tcp
  bind 192.168.126.10:6443
  timeout client 1h
  default_backend api
backend api
  mode tcp
  timeout server 1h
  server master-0 192.168.126.101:6443 check
)",
     .wrong_part = "  server master-0 192.168.126.101:6443 check\n",
     .right_part = "  option httpchk\n  http-check send meth GET uri /readyz\n  server master-0 192.168.126.101:6443 "
                   "check check-ssl verify none\n"},
    {.id = "haproxy-no-check",
     .severity = Severity::warning,
     .title = "several API servers of which none is checked",
     .why = "One of them that is down still gets its share of the connections.",
     .fix = "`check check-ssl verify none` at each server, with `GET /readyz`.",
     .source = "HAProxy configuration manual, check",
     .wrong = R"(frontend api
  mode tcp
  bind 192.168.126.10:6443
  timeout client 1h
  default_backend api
backend api
  mode tcp
  timeout server 1h
  option httpchk GET /readyz
  server master-0 192.168.126.101:6443
  server master-1 192.168.126.102:6443
)",
     .wrong_part = "  server master-0 192.168.126.101:6443\n  server master-1 192.168.126.102:6443\n",
     .right_part = "  default-server check check-ssl verify none\n  server master-0 192.168.126.101:6443\n  server "
                   "master-1 192.168.126.102:6443\n"},
    {.id = "haproxy-http-mode",
     .severity = Severity::error,
     .title = "HTTP mode in front of a TLS port",
     .why =
         "HAProxy looks for an HTTP request in what is a TLS handshake and closes the connection. TLS can't end here "
         "either: client certificates are the API server's to check.",
     .fix = "`mode tcp`",
     .source = "HAProxy configuration manual, mode",
     .wrong = R"(listen api
  mode http
  bind 192.168.126.10:6443
  timeout client 1h
  timeout server 1h
  option httpchk GET /readyz
  server master-0 192.168.126.101:6443 check check-ssl verify none
)",
     .wrong_part = "mode http",
     .right_part = "mode tcp"},
    {.id = "haproxy-idle-timeout",
     .severity = Severity::warning,
     .title = "an idle timeout that cuts watches and tunnels",
     .why = "A watch, `oc logs -f`, `oc exec` and the tunnels of konnectivity are silent for long, and kept alive "
            "every 30 "
            "seconds at best. What is cut begins again, with everything that it has to read anew.",
     .fix = "`timeout client` and `timeout server` of minutes at least; with `timeout tunnel` they count until the "
            "connection is a tunnel.",
     .source = "HAProxy configuration manual, timeouts; openshift/hypershift's own proxies have 10 minutes and a day",
     .wrong = R"(listen api
  mode tcp
  bind 192.168.126.10:6443
  timeout client 30s
  timeout server 1h
  option httpchk GET /readyz
  server master-0 192.168.126.101:6443 check check-ssl verify none
)",
     .wrong_part = "timeout client 30s",
     .right_part = "timeout client 1h"},
    {.id = "haproxy-machine-config",
     .severity = Severity::error,
     .title = "a machine-config server's port that leads to other nodes than the API's",
     .why = "Port 22623 is served where the API is: on the bootstrap node and on the control plane. Elsewhere nothing "
            "listens, and on a public address it gives everybody the nodes' keys.",
     .fix = "The same servers behind 6443 and 22623.",
     .source = "openshift/installer docs, load balancing requirements; machine-config-operator pkg/server",
     .wrong = R"(defaults
  mode tcp
  timeout client 1h
  timeout server 1h
listen api
  bind 192.168.126.10:6443
  option httpchk GET /readyz
  server master-0 192.168.126.101:6443 check check-ssl verify none
listen machine-config
  bind 192.168.126.10:22623
  option httpchk GET /healthz
  server worker-0 192.168.126.111:22623 check check-ssl verify none
)",
     .wrong_part = "server worker-0 192.168.126.111:22623",
     .right_part = "server master-0 192.168.126.101:22623"},
    {.id = "haproxy-ingress-servers",
     .severity = Severity::warning,
     .title = "applications that lead to the bootstrap node",
     .why = "No router runs there: it registers no node. One in so many connections to every application fails.",
     .fix = "443 and 80 lead to the nodes that run the router: workers, or the control plane of a compact cluster.",
     .source = "openshift/installer docs, load balancing requirements",
     .wrong = R"(defaults
  mode tcp
  timeout client 1h
  timeout server 1h
listen api
  bind 192.168.126.10:6443
  option httpchk GET /readyz
  server bootstrap 192.168.126.100:6443 check check-ssl verify none
listen apps
  bind 192.168.126.11:443
  server bootstrap 192.168.126.100:443 check
)",
     .wrong_part = "server bootstrap 192.168.126.100:443 check",
     .right_part = "server worker-0 192.168.126.111:443 check"},
};

constexpr std::string_view kApiPort = "6443", kMachineConfigPort = "22623";
constexpr std::uint64_t kShortestIdleMs = 60'000;  // konnectivity and HTTP/2 pings come every 30 s

struct Server {
  std::uint32_t line = 0;
  std::string name, address, port;
  std::vector<std::string> words;  ///< with those of default-server
};

/// Milliseconds of "30s"; a number alone is milliseconds.
std::optional<std::uint64_t> duration_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > 1'000'000'000) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  struct Unit {
    std::string_view name;
    std::uint64_t ms;
  };
  for (const Unit& known : {Unit{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}})
    if (unit == known.name) return number * known.ms;
  return std::nullopt;
}

class HaproxyChecker {
 public:
  HaproxyChecker(const LineFile& file, Reporter& reporter)
      : file_(file), sections_(haproxy_sections(file.text)), reporter_(reporter) {}

  void run() {
    const HaproxySection* defaults = nullptr;
    for (const HaproxySection& section : sections_) {
      if (section.kind == "defaults") defaults = &section;
      if (section.kind == "backend" || section.kind == "listen" || section.kind == "frontend") check(section, defaults);
    }
    check_roles();
  }

 private:
  static std::vector<Server> servers_of(const HaproxySection& section, const HaproxySection* defaults) {
    std::vector<Server> servers;
    std::vector<std::string> common;
    for (const HaproxySection* from : {defaults, &section})
      for (const auto& directive : from == nullptr ? std::vector<HaproxySection::Directive>() : from->directives)
        if (directive.words.front() == "default-server") common = directive.words;
    for (const auto& directive : section.directives) {
      if (directive.words.front() != "server" || directive.words.size() < 3) continue;
      Server server{directive.line, directive.words[1], directive.words[2], {}, directive.words};
      if (const std::size_t colon = server.address.rfind(':'); colon != std::string::npos) {
        server.port = server.address.substr(colon + 1);
        server.address.resize(colon);
      }
      server.words.insert(server.words.end(), common.begin(), common.end());
      servers.push_back(std::move(server));
    }
    return servers;
  }
  static bool has(const Server& server, std::string_view word) {
    return std::ranges::find(server.words, word) != server.words.end();
  }
  /// "check port 1936": asked at another port than the one that clients are sent to, such as the router's health port.
  static bool is_asked_elsewhere(const Server& server) {
    const auto word = std::ranges::find(server.words, "port");
    return word != server.words.end() && std::next(word) != server.words.end() && *std::next(word) != server.port;
  }
  static const HaproxySection::Directive* find_in(const HaproxySection& section, const HaproxySection* defaults,
                                                  std::string_view first, std::string_view second = {}) {
    const auto* own = section.find(first, second);
    return own != nullptr || defaults == nullptr ? own : defaults->find(first, second);
  }
  /// A server of TLS is asked inside it without more words.
  static bool is_asked_with_tls(const Server& server) { return has(server, "check-ssl") || has(server, "ssl"); }
  /// `http-check connect ssl`, the other way to ask inside TLS.
  static bool connects_with_tls(const HaproxySection& section, const HaproxySection* defaults) {
    const auto* connect = find_in(section, defaults, "http-check", "connect");
    return connect != nullptr && std::ranges::find(connect->words, "ssl") != connect->words.end();
  }
  /// The port that a frontend or listen section binds, if it is one of these; a backend's is that of its servers.
  static bool is_at(const HaproxySection& section, const std::vector<Server>& servers, std::string_view port) {
    for (const auto& directive : section.directives)
      if (directive.words.front() == "bind" && directive.words.size() > 1 &&
          directive.words[1].ends_with(':' + std::string(port)))
        return true;
    return std::ranges::any_of(servers, [&](const Server& server) { return server.port == port; });
  }

  void check(const HaproxySection& section, const HaproxySection* defaults) {
    const std::vector<Server> servers = servers_of(section, defaults);
    const bool is_api = is_at(section, servers, kApiPort),
               is_machine_config = is_at(section, servers, kMachineConfigPort);
    const bool is_ingress = is_at(section, servers, "443");
    if (is_api)
      for (const Server& server : servers) api_servers_.insert(server.address);
    if (is_ingress)
      for (const Server& server : servers) ingress_servers_.push_back(server);
    if (is_machine_config)
      for (const Server& server : servers) machine_config_servers_.push_back(server);
    if (!is_api && !is_machine_config && !is_ingress) return;
    const auto* mode = find_in(section, defaults, "mode");
    const bool is_http = mode != nullptr && mode->words.size() > 1 && mode->words[1] == "http";
    const bool has_check = find_in(section, defaults, "option", "httpchk") != nullptr;
    for (const Server& server : servers)
      if (has_check && !connects_with_tls(section, defaults) && has(server, "check") && !is_asked_with_tls(server) &&
          !is_asked_elsewhere(server))
        reporter_.add("haproxy-plain-check", file_, server.line, server.name + " is asked in plain HTTP on a TLS port");
    if (!is_api && !is_machine_config) return;
    if (is_http)
      reporter_.add("haproxy-http-mode", file_, mode->line, section.kind + ' ' + section.name + " has HTTP mode");
    check_idle(section, defaults);
    if (!is_api) return;
    const bool none_checked = std::ranges::none_of(servers, [](const Server& s) { return has(s, "check"); });
    if (none_checked && servers.size() > 1)
      return reporter_.add("haproxy-no-check", file_, servers.front().line,
                           "no server of " + section.name + " is checked");
    const bool expects_answer = has_check || find_in(section, defaults, "tcp-check", "expect") != nullptr;
    if (!none_checked && !expects_answer)
      reporter_.add("haproxy-connect-check", file_, servers.front().line,
                    "the ports of " + section.name + " are checked, and not whether the servers are ready");
  }

  void check_idle(const HaproxySection& section, const HaproxySection* defaults) {
    const auto* tunnel = find_in(section, defaults, "timeout", "tunnel");
    for (const char* side : {"client", "server"}) {
      const auto* timeout = find_in(section, defaults, "timeout", side);
      if (tunnel != nullptr || timeout == nullptr || timeout->words.size() < 3 || !is_new(timeout->line)) continue;
      const auto duration = duration_of(timeout->words[2]);
      if (duration && *duration < kShortestIdleMs)
        reporter_.add(
            "haproxy-idle-timeout", file_, timeout->line,
            std::string("a connection of which the ") + side + " is silent for " + timeout->words[2] + " is cut");
    }
  }
  /// A default is looked at once, not for each section that has it.
  bool is_new(std::uint32_t line) { return seen_.insert(line).second; }

  void check_roles() {
    for (const Server& server : machine_config_servers_)
      if (!api_servers_.empty() && !api_servers_.contains(server.address))
        reporter_.add("haproxy-machine-config", file_, server.line,
                      server.name + " serves machine configs and no API: " + server.address);
    for (const Server& server : ingress_servers_)
      if (server.name.starts_with("bootstrap") && api_servers_.contains(server.address))
        reporter_.add("haproxy-ingress-servers", file_, server.line, "no router runs on " + server.name);
  }

  const LineFile& file_;
  std::vector<HaproxySection> sections_;
  Reporter& reporter_;
  std::set<std::string> api_servers_;
  std::vector<Server> machine_config_servers_, ingress_servers_;
  std::set<std::uint32_t> seen_;
};

void check(const Set& set, const Options&, Reporter& reporter) {
  for (const LineFile& file : set.haproxies) HaproxyChecker(file, reporter).run();
}

}  // namespace

Family load_balancer_rules() {
  return {"Load balancer", "haproxy.cfg in front of an API server, a machine-config server or a router.", kRules,
          check};
}

}  // namespace hcpnet::lint
