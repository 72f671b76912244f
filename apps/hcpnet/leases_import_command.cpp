// SPDX-License-Identifier: Apache-2.0
// hcpnet leases import
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <hcpnet/stack/config.hpp>
#include <iostream>
#include <memory>
#include <optional>

#include "admin_output.hpp"
#include "leases_command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  StateArguments state;
  FormatArguments output;
  FileArguments files;
  std::string path, format = "hcpnet";
  std::vector<std::string> networks;
};

Result<dhcp::LeaseList, Diagnostics> read_list(const Arguments& a) {
  if (a.format == "oooi") return dhcp::read_oooi_leases(a.path);
  spec::LoadLimits limits;
  limits.max_file_bytes = dhcp::LeaseFileLimits().max_file_bytes;
  auto sources = read_sources({a.path}, limits);
  if (!sources) return sources.error();
  return dhcp::parse_lease_file(*dhcp::parse_lease_file_format(a.format), a.path, sources->front().text);
}

/// One transaction in the folder of a server that does not run. Nothing printed means success.
std::optional<Json> import_into_folder(const Arguments& a, const dhcp::LeaseList& list) {
  std::optional<dhcp::StoppedServer> stopped;
  if (a.files.files.empty()) {
    stopped.emplace(a.state.lease_database());
  } else {
    const auto checked = a.files.check();
    if (!checked) return std::nullopt;
    auto config = make_stack_config(checked->set, checked->observed, unknown_place());
    if (!config) {
      print(config.error());
      return std::nullopt;
    }
    a.state.make_folder();
    stopped.emplace(a.state.lease_database(), std::move(config->dhcp));
  }
  const auto outcome = stopped->import_leases(list);
  if (outcome) return to_json(*outcome);
  print(outcome.error());
  return std::nullopt;
}

/// The leases that a file has, to the process that runs, or else into the folder.
int import_file(const Arguments& a, std::span<const Cidr> networks) {
  auto list = read_list(a);
  if (!list) {
    print(list.error());
    return kProblems;
  }
  const std::size_t outside = networks.empty() ? 0 : list->keep_only(networks);
  std::vector<dhcp::Lease> leases;
  std::vector<dhcp6::Lease> leases6;
  std::vector<std::uint32_t> lines;
  for (const dhcp::ListedLease& listed : list->leases) {
    leases.push_back(listed.lease);
    lines.push_back(listed.line);
  }
  for (const dhcp::ListedLease6& listed : list->leases6) {
    leases6.push_back(listed.lease);
    lines.push_back(listed.line);
  }
  AdminAnswer answer = ask_admin(a.state.admin_socket(), "POST", "/leases/import?file=" + percent_encoded(a.path),
                                 dhcp::render_lease_file(leases, leases6, lines));
  if (is_nobody(answer)) {
    auto outcome = import_into_folder(a, *list);
    if (!outcome) return kProblems;
    answer.body = *std::move(outcome);
  } else if (answer.status != 200) {
    return report_failure(answer, a.state.admin_socket());
  }
  print(list->warnings);
  if (answer.body.is_object()) answer.body["outside"] = outside;
  return print_answer(answer.body, a.output, a.state.admin_socket(), [](const Json& body, std::ostream& out) {
    print_diagnostics(body.at("diagnostics"), out);
    out << body.at("imported").get<std::uint64_t>() << " leases imported, " << body.at("unchanged").get<std::uint64_t>()
        << " known already, " << body.at("leftOut").get<std::uint64_t>() << " ended ones of no use";
    if (const auto left = body.at("outside").get<std::uint64_t>(); left != 0)
      out << ", " << left << " of other networks";
    out << '\n';
  });
}

}  // namespace

void add_leases_import(CLI::App& leases, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = leases.add_subcommand(
      "import", "take over the leases of a file, all or none; with FILE... also before the set is served first");
  command->add_option("LEASES", a->path, "the lease file; - is standard input")->required()->type_name("");
  command->add_option("--format", a->format, "whose file it is; hcpnet is what `leases export` writes")
      ->check(CLI::IsMember({"hcpnet", "isc", "dnsmasq", "kea", "oooi"}))
      ->type_name("hcpnet|isc|dnsmasq|kea|oooi");
  command
      ->add_option("--network", a->networks,
                   "take the leases of this network and leave the others out; repeatable; without it a lease of a "
                   "network that is not served is an error")
      ->type_name("CIDR")
      ->allow_extra_args(false)
      ->take_all();
  a->state.add_to(*command);
  a->output.add_to(*command);
  a->files.add_to(*command, false);
  command->callback([a, &status] {
    std::vector<Cidr> networks;
    for (const std::string& text : a->networks) {
      const auto network = parse_cidr(text);
      if (!network) {
        std::cerr << "hcpnet: --network: " << text << " is no network such as 192.0.2.0/24\n";
        status = kWrongUse;
        return;
      }
      networks.push_back(*network);
    }
    status = import_file(*a, networks);
  });
}

}  // namespace hcpnet::app
