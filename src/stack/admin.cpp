// SPDX-License-Identifier: Apache-2.0
// The pages of the admin and observe listeners; docs/commands.md lists them.
#include <charconv>
#include <ctime>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/version.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "dhcp/lease_file_reader.hpp"
#include "dhcp/lease_import.hpp"
#include "stack/stack_impl.hpp"
#include "stack/to_json.hpp"

namespace hcpnet {
namespace {

using Json = nlohmann::json;

HttpResponse json_response(const Json& body, unsigned status = 200) {
  return {status, "application/json", body.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'};
}
HttpResponse problem(unsigned status, const std::string& message) {
  return json_response({{"error", message}}, status);
}

HttpResponse health(Stack::Impl& stack, bool is_readiness) {
  const auto troubles = stack.troubles();
  // Alive is whoever answers: a restart would not mend a full disk, and would end every tunnel.
  // Ready is whoever serves: a file with an error, mounted everywhere, must not take every replica out of service.
  const bool ok = !is_readiness || stack.service_troubles().empty();
  std::string body = ok ? "ok\n" : "";
  for (const std::string& trouble : troubles) body += trouble + '\n';
  return {ok ? 200u : 503u, "text/plain; charset=utf-8", body};
}

Json status(Stack::Impl& stack) {
  Json listeners = Json::array();
  for (const StackListener& l : stack.listeners())
    listeners.push_back({{"service", l.service},
                         {"owner", l.owner},
                         {"configured", l.configured.to_string()},
                         {"bound", l.bound.to_string()}});
  Json body = {{"version", version()},
               {"listeners", listeners},
               {"troubles", stack.troubles()},
               {"reloads", stack.reloads},
               {"reloadsRefused", stack.reloads_refused}};
  if (stack.dhcp) body["dhcp"] = {{"subnets", subnets_to_json(stack.dhcp->stats())}};
  body["warnings"] = to_json(stack.warnings);
  if (stack.last_reload) body["lastReload"] = to_json(*stack.last_reload);
  return body;
}

/// Of every client and address, or of the one that is asked for.
HttpResponse leases(Stack::Impl& stack, const HttpRequest& request) {
  const auto of = request.query.find("of");
  const auto is_wanted = [&](const auto& lease) { return of == request.query.end() || is_lease_of(lease, of->second); };
  Json all = Json::array();
  if (stack.dhcp) {
    for (const dhcp::Lease& lease : stack.dhcp->leases())
      if (is_wanted(lease)) all.push_back(to_json(lease));
    for (const dhcp6::Lease& lease : stack.dhcp->leases6())
      if (is_wanted(lease)) all.push_back(to_json(lease));
  }
  return json_response({{"leases", std::move(all)}});
}

HttpResponse lease_file(Stack::Impl& stack) {
  if (!stack.dhcp) return {200, "text/csv; charset=utf-8", dhcp::render_lease_file(std::span<const dhcp::Lease>(), {})};
  return {200, "text/csv; charset=utf-8", dhcp::render_lease_file(stack.dhcp->leases(), stack.dhcp->leases6())};
}

void lease_events(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  if (request.method != "GET") return reply(problem(405, "only GET here"));
  if (!stack.lease_feed) return reply(problem(503, "the process is ending"));  // it was read before the socket closed
  std::optional<std::uint64_t> after;
  if (const auto text = request.query.find("after"); text != request.query.end()) {
    std::uint64_t number = 0;
    const char* const end = text->second.data() + text->second.size();
    const auto [read, error] = std::from_chars(text->second.data(), end, number);
    if (error != std::errc{} || read != end) return reply(problem(400, "after: a number is needed"));
    after = number;
  }
  stack.lease_feed->ask(after, [reply = std::move(reply)](const LeaseFeed::Answer& answer) {
    Json events = Json::array();
    for (const LeaseFeed::Event& event : answer.events) events.push_back(to_json(event));
    reply(json_response({{"last", answer.last}, {"missed", answer.missed}, {"events", std::move(events)}}));
  });
}

HttpResponse refusal(const Diagnostics& why) {
  return json_response({{"diagnostics", to_json(why)}}, 409);
}

void import_leases(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  const auto file = request.query.find("file");
  stack.import_leases(file == request.query.end() ? "-" : file->second, request.body,
                      [reply = std::move(reply)](const Result<dhcp::LeaseImport, Diagnostics>& result) {
                        reply(result ? json_response(to_json(*result)) : refusal(result.error()));
                      });
}

void release_lease(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  const auto text = request.query.find("address");
  const auto address = text == request.query.end() ? std::nullopt : parse_ip_address(text->second);
  if (!address) return reply(problem(400, "address: an address is needed"));
  stack.release_lease(*address, [reply = std::move(reply)](const Result<dhcp::EndedLease, Diagnostics>& result) {
    reply(result ? json_response({{"ended", to_json(*result)}}) : refusal(result.error()));
  });
}

HttpResponse reservations(Stack::Impl& stack) {
  Json all = Json::array();
  if (stack.dhcp)
    for (const dhcp::KeptAddress& kept : stack.dhcp->reservations()) all.push_back(to_json(kept));
  return json_response({{"reservations", std::move(all)}});
}

void reserve(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  const auto parameter = [&](const char* key) {
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
  };
  const auto address = parse_ip_address(parameter("address"));
  if (!address) return reply(problem(400, "address: an address is needed"));
  const auto answer = [reply](const char* key) {
    return [reply, key](const Result<dhcp::KeptAddress, Diagnostics>& result) {
      reply(result ? json_response({{key, to_json(*result)}}) : refusal(result.error()));
    };
  };
  if (request.path == "/leases/unreserve") return stack.unreserve_address(*address, answer("unreserved"));
  dhcp::KeptAddress wanted;
  wanted.address = *address;
  wanted.host_name = parameter("hostName");
  if (const std::string mac = parameter("mac"); !mac.empty()) {
    wanted.mac = parse_mac_address(mac);
    if (!wanted.mac) return reply(problem(400, "mac: not a hardware address"));
  }
  if (const std::string duid = parameter("duid"); !duid.empty()) {
    wanted.duid = dhcp6::parse_duid(duid);
    if (!wanted.duid) return reply(problem(400, "duid: not a DUID"));
  }
  if (const std::string id = parameter("clientId"); !id.empty()) {
    auto bytes = dhcp::parse_hex_bytes(id, dhcp::kMaxStoredClientIdBytes);
    if (!bytes) return reply(problem(400, "clientId: hexadecimal bytes between colons are needed"));
    wanted.client_id = *std::move(bytes);
  }
  stack.reserve_address(wanted, answer("reserved"));
}

HttpResponse zones(Stack::Impl& stack) {
  Json all = Json::array();
  for (const StackZone& zone : stack.zones()) all.push_back(to_json(zone));
  return json_response({{"zones", std::move(all)}});
}

std::string parameter(const HttpRequest& request, const char* key) {
  const auto it = request.query.find(key);
  return it == request.query.end() ? std::string{} : it->second;
}

HttpResponse explain(Stack::Impl& stack, const HttpRequest& request) {
  const auto name = dns::parse_name(parameter(request, "name"));
  if (!name) return problem(400, "name: " + name.error().message());
  const auto type = dns::parse_type(parameter(request, "type"));
  if (!type || !dns::is_data_type(*type)) return problem(400, "type: not a type of record");
  const auto from = parse_ip_address(parameter(request, "from"));
  if (!from) return problem(400, "from: not an address");
  Json all = Json::array();
  for (const auto& [server, explanation] : stack.explain(*name, *type, *from))
    all.push_back(to_json(server, explanation));
  return json_response({{"explanations", std::move(all)}});
}

HttpResponse routes(Stack::Impl& stack, const HttpRequest& request) {
  std::uint16_t port = 0;
  const std::string port_text = parameter(request, "port");
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc{} || end != port_text.data() + port_text.size() || port == 0)
    return problem(400, "port: a number from 1 to 65535 is needed");
  const std::string from = parameter(request, "from");
  const auto source = from.empty() ? IpAddress{} : parse_ip_address(from);
  if (!source) return problem(400, "from: not an address");
  Json all = Json::array();
  for (const RouteExplanation& answer : stack.route(parameter(request, "sni"), port, *source))
    all.push_back(to_json(answer));
  return json_response({{"routes", std::move(all)}});
}

/// One page about every proxy: what `describe(proxy)` makes of each.
template <class Describe>
HttpResponse proxies_page(Stack::Impl& stack, const char* key, Describe describe) {
  Json all = Json::array();
  for (const auto& p : stack.proxies) all.push_back({{"proxy", p.owner}, {key, describe(*p.engine)}});
  return json_response({{"proxies", std::move(all)}});
}

Json config_dump(const proxy::Engine& engine) {
  Json config = to_json(engine.table()->config());
  config["settings"] = to_json(engine.settings(), engine.granted_buffers());
  config["settings"]["workers"] = engine.worker_count();
  return config;
}

std::optional<HttpResponse> proxy_page(Stack::Impl& stack, const std::string& path) {
  if (path == "/stats") return proxies_page(stack, "stats", [](const auto& e) { return to_json(e.stats()); });
  if (path == "/clusters")
    return proxies_page(stack, "clusters", [](const auto& e) { return clusters_to_json(e.stats()); });
  if (path == "/listeners")
    return proxies_page(stack, "listeners", [](const auto& e) { return listeners_to_json(e.stats(), e.listeners()); });
  if (path == "/config_dump") return proxies_page(stack, "config", config_dump);
  return std::nullopt;
}

HttpResponse drain(Stack::Impl& stack) {
  stack.drain();
  std::uint64_t active = 0;
  for (const auto& [owner, stats] : stack.stats().proxies) active += stats.active;
  return json_response({{"draining", true}, {"active", active}});
}

void reload(Stack::Impl& stack, const HttpRequest&, HttpReply reply) {
  stack.reload([weak = stack.weak_from_this(), reply = std::move(reply)](const Result<void, Diagnostics>& result) {
    const auto self = weak.lock();
    const bool is_applied = result.has_value();
    const Diagnostics diagnostics = !is_applied ? result.error() : self ? self->warnings : Diagnostics();
    reply(json_response({{"applied", is_applied}, {"diagnostics", to_json(diagnostics)}}, is_applied ? 200 : 409));
  });
}

/// "localhost", a name below it (RFC 6761 section 6.3), or a loopback address, with or without a port.
bool is_loopback_host(std::string host) {
  for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  const std::string name =
      host.starts_with('[') ? host.substr(1, end == std::string::npos ? end : end - 1) : host.substr(0, end);
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  const auto address = parse_ip_address(name);
  return address && address->is_loopback();
}

/// What a browser lets any page send to any site without asking that site first (Fetch standard, "CORS-safelisted").
bool is_sent_across_sites(std::string type) {
  for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return type.starts_with("text/plain") || type.starts_with("multipart/form-data") ||
         type.starts_with("application/x-www-form-urlencoded");
}

/// Who can open the unix socket may do all. Over TCP a browser of this machine may speak for a page from anywhere: its
/// name may lead here (DNS rebinding), or the page may post to our address (cross-site request forgery). nullptr: fine.
const char* reason_to_refuse(const HttpRequest& request) {
  if (!request.is_over_tcp) return nullptr;
  if (!is_loopback_host(request.host)) return "Host: only localhost or a loopback address is served here";
  if (request.method == "GET" || request.method == "HEAD") return nullptr;
  if (request.has_origin) return "a change is never made for a web page: Origin is not allowed";
  if (is_sent_across_sites(request.content_type)) return "Content-Type: a change is not made by a form";
  return nullptr;
}

HttpResponse observe_page(Stack::Impl& stack, const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return problem(405, "only GET here");
  if (request.path == "/healthz") return health(stack, false);
  if (request.path == "/readyz") return health(stack, true);
  if (request.path == "/metrics") return {200, "text/plain; version=0.0.4; charset=utf-8", render_metrics(stack)};
  return problem(404, "no such page");
}

HttpResponse admin_page(Stack::Impl& stack, const HttpRequest& request) {
  if (request.path == "/drain") return request.method == "POST" ? drain(stack) : problem(405, "a change is a POST");
  if (request.method == "GET") {
    if (auto page = proxy_page(stack, request.path)) return *std::move(page);
    if (request.path == "/status") return json_response(status(stack));
    if (request.path == "/leases") return leases(stack, request);
    if (request.path == "/leases/export") return lease_file(stack);
    if (request.path == "/leases/reservations") return reservations(stack);
    if (request.path == "/zones") return zones(stack);
    if (request.path == "/explain") return explain(stack, request);
    if (request.path == "/routes") return routes(stack, request);
  }
  return observe_page(stack, request);
}

}  // namespace

void answer_observe(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  reply(observe_page(stack, request));
}

void answer_admin(Stack::Impl& stack, const HttpRequest& request, HttpReply reply) {
  if (const char* why = reason_to_refuse(request)) return reply(problem(403, why));
  void (*change)(Stack::Impl&, const HttpRequest&, HttpReply) = nullptr;
  if (request.path == "/reload") change = reload;
  if (request.path == kImportLeasesPage) change = import_leases;
  if (request.path == "/leases/release") change = release_lease;
  if (request.path == "/leases/reserve" || request.path == "/leases/unreserve") change = reserve;
  if (request.path == "/leases/events") return lease_events(stack, request, std::move(reply));
  if (change == nullptr) return reply(admin_page(stack, request));
  if (request.method != "POST") return reply(problem(405, "a change is a POST"));
  change(stack, request, std::move(reply));
}

}  // namespace hcpnet
