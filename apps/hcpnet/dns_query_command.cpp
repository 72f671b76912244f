// SPDX-License-Identifier: Apache-2.0
// hcpnet dns explain and hcpnet dns query
#include <hcpnet/dns/explain.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "admin_client.hpp"
#include "dns_client.hpp"
#include "dns_command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  std::string name, type = "A";
  std::optional<std::string> from;
  FileArguments files;
  StateArguments state;
  FormatArguments format;
};

/// What the arguments mean; nullopt after having said what is wrong with them.
struct Asked {
  dns::Name name;
  dns::Type type = dns::Type::a;
  std::optional<IpAddress> from;
};
std::optional<Asked> understand(const Arguments& a) {
  const auto name = dns::parse_name(a.name);
  const auto type = dns::parse_type(a.type);
  const auto from = a.from ? parse_ip_address(*a.from) : std::nullopt;
  const bool is_nobody = a.from && !from;
  if (!name) std::cerr << "hcpnet: " << a.name << ": " << name.error().message() << '\n';
  if (!type) std::cerr << "hcpnet: --type: " << a.type << " is not a type of record\n";
  if (is_nobody) std::cerr << "hcpnet: --from: '" << *a.from << "' is not an address\n";
  const bool is_transfer = type && (*type == dns::Type::axfr || *type == dns::Type::ixfr);
  if (is_transfer)
    std::cerr << "hcpnet: --type: " << a.type << " asks for a whole zone, which `hcpnet dns zone` prints\n";
  if (!name || !type || is_transfer || is_nobody) return std::nullopt;
  return Asked{*name, *type, from ? std::optional(from->unmapped()) : std::nullopt};
}

// --- explain ---

void print_explanation(const Json& e) {
  std::cout << e.at("server").get<std::string>() << ": ";
  if (const std::string view = e.at("view"); view.empty())
    std::cout << "the client belongs to no view\n";
  else
    std::cout << "view " << view << ", because of " << e.at("prefix").get<std::string>() << '\n';
  for (const Json& step : e.at("steps")) {
    std::cout << "  " << step.at("name").get<std::string>() << ": " << step.at("rule").get<std::string>();
    if (const std::string zone = step.at("zone"); !zone.empty()) std::cout << ", zone " << zone;
    if (const std::string matched = step.at("matched"); !matched.empty()) std::cout << ", by " << matched;
    std::cout << '\n';
    for (const Json& record : step.at("records")) std::cout << "    " << record.get<std::string>() << '\n';
  }
  for (const Json& upstream : e.at("upstreams")) std::cout << "    " << upstream.get<std::string>() << '\n';
}

std::optional<Json> explanations_of_files(const Arguments& a, const Asked& asked) {
  const auto servers = dns_from_files(a.files);
  if (!servers) return std::nullopt;
  Json all = Json::array();
  for (const DnsServerConfig& server : *servers)
    all.push_back(to_json(server.owner, dns::explain(server.config, asked.name, asked.type, *asked.from).value()));
  return all;
}

std::optional<Json> explanations_of_process(const Arguments& a) {
  const std::string page = "/explain?name=" + percent_encoded(a.name) + "&type=" + percent_encoded(a.type) +
                           "&from=" + percent_encoded(*a.from);
  const AdminAnswer answer = ask_admin(a.state.admin_socket(), "GET", page);
  if (answer.status == 200) return answer.body.at("explanations");
  std::cerr << "hcpnet: " << answer.error() << '\n';
  return std::nullopt;
}

int run_explain(const Arguments& a) {
  const auto asked = understand(a);
  if (!asked) return kWrongUse;
  if (!dns::is_data_type(asked->type)) {
    std::cerr << "hcpnet: --type: no record has the type " << a.type
              << "; `hcpnet dns query` shows what it is answered\n";
    return kWrongUse;
  }
  const auto all = a.files.files.empty() ? explanations_of_process(a) : explanations_of_files(a, *asked);
  if (!all) return kProblems;
  if (a.format.is_json())
    print_json({{"explanations", *all}});
  else
    for (const Json& e : *all) print_explanation(e);
  return kGood;
}

// --- query ---

Json to_json(const std::vector<dns::Record>& records) {
  Json all = Json::array();
  for (const dns::Record& record : records) all.push_back(dns::to_line(record));
  return all;
}

Json to_json(const std::string& server, const std::string& view, const std::optional<dns::Message>& reply,
             const std::vector<std::string>& forwarded_to) {
  Json one = {{"server", server},
              {"view", view},
              {"rcode", ""},
              {"authoritative", false},
              {"answers", Json::array()},
              {"authority", Json::array()},
              {"forwardedTo", forwarded_to}};
  if (!reply) return one;
  one["rcode"] = to_string(reply->rcode());
  one["authoritative"] = (reply->flags & dns::flag::kAuthoritative) != 0;
  one["answers"] = to_json(reply->answers);
  one["authority"] = to_json(reply->authority);
  return one;
}

dns::Message query_of(const Asked& asked) {
  dns::Message query;
  query.id = static_cast<std::uint16_t>(std::random_device{}());
  query.flags = dns::flag::kRecursionDesired;
  query.questions = {{asked.name, asked.type, dns::kClassIn}};
  query.edns = dns::Edns{};
  return query;
}

std::vector<dns::SimulatedReply> simulate(const dns::Config& config, const Asked& asked) {
  if (!asked.from) return dns::simulate_query_of_each_view(config, query_of(asked)).value();
  return {dns::simulate_query(config, query_of(asked), *asked.from).value()};
}

/// One answer per server; without an address one per view.
std::optional<Json> answers_of_files(const Arguments& a, const Asked& asked) {
  const auto source = dns_from_files(a.files);
  if (!source) return std::nullopt;
  Json all = Json::array();
  for (const DnsServerConfig& server : *source)
    for (const dns::SimulatedReply& reply : simulate(server.config, asked))
      all.push_back(to_json(server.owner, reply.view, reply.reply, reply.upstreams));
  return all;
}

/// A listener on every address is asked on loopback.
Endpoint reachable(Endpoint endpoint) {
  if (!endpoint.address.is_unspecified()) return endpoint;
  endpoint.address = endpoint.address.is_v4() ? *parse_ip_address("127.0.0.1") : *parse_ip_address("::1");
  return endpoint;
}

std::optional<Json> answers_of_process(const Arguments& a, const Asked& asked) {
  const AdminAnswer status = ask_admin(a.state.admin_socket(), "GET", "/status");
  if (status.status != 200) {
    std::cerr << "hcpnet: " << status.error() << '\n';
    return std::nullopt;
  }
  Json all = Json::array();
  for (const Json& listener : status.body.at("listeners")) {
    if (listener.at("service") != "dns") continue;
    const auto bound = parse_endpoint(listener.at("bound").get<std::string>());
    if (!bound || (asked.from && asked.from->is_v4() != bound->address.is_v4())) continue;
    const std::string server = listener.at("owner").get<std::string>() + " at " + bound->to_string();
    all.push_back(to_json(server, {}, ask_dns(reachable(*bound), asked.from, query_of(asked)), {}));
  }
  if (!all.empty()) return all;
  std::cerr << "hcpnet: the running process has no DNS listener that this could be asked\n";
  return std::nullopt;
}

void print_answer(const Json& answer) {
  std::cout << "; " << answer.at("server").get<std::string>();
  if (const std::string view = answer.at("view"); !view.empty()) std::cout << ", view " << view;
  const std::string rcode = answer.at("rcode");
  std::cout << ": " << (rcode.empty() ? "forwarded" : rcode)
            << (answer.at("authoritative").get<bool>() ? ", authoritative\n" : "\n");
  for (const Json& upstream : answer.at("forwardedTo")) std::cout << "; to " << upstream.get<std::string>() << '\n';
  for (const Json& record : answer.at("answers")) std::cout << record.get<std::string>() << '\n';
  for (const Json& record : answer.at("authority")) std::cout << "; authority: " << record.get<std::string>() << '\n';
}

int run_query(const Arguments& a) {
  const auto asked = understand(a);
  if (!asked) return kWrongUse;
  const auto answers = a.files.files.empty() ? answers_of_process(a, *asked) : answers_of_files(a, *asked);
  if (!answers) return kProblems;
  if (a.format.is_json())
    print_json({{"answers", *answers}});
  else
    for (const Json& answer : *answers) print_answer(answer);
  return kGood;
}

std::shared_ptr<Arguments> arguments_of(CLI::App& command, bool from_required) {
  auto a = std::make_shared<Arguments>();
  command.add_option("NAME", a->name, "domain name; complete, with or without the dot at its end")
      ->required()
      ->type_name("");
  command.add_option("--type", a->type, "type of record, such as AAAA or TYPE65; default A")->type_name("TYPE");
  command.add_option("--from", a->from, "address of the client")->required(from_required)->type_name("ADDRESS");
  a->files.add_to(command, false);
  a->state.add_to(command);
  a->format.add_to(command);
  return a;
}

}  // namespace

void add_dns_explain(CLI::App& dns, int& status) {
  CLI::App* command = dns.add_subcommand(
      "explain", "say which view, zone and rule answer a client; from files, or from the running process");
  command->callback([a = arguments_of(*command, true), &status] { status = run_explain(*a); });
}

void add_dns_query(CLI::App& dns, int& status) {
  CLI::App* command =
      dns.add_subcommand("query", "answer as the server would from files, or ask the running process over the network");
  command->callback([a = arguments_of(*command, false), &status] { status = run_query(*a); });
}

}  // namespace hcpnet::app
