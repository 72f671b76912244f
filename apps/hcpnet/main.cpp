// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "runtime/error_text.hpp"

namespace {

/// Names that are kept for later versions.
constexpr std::string_view kPlanned[] = {"diagnose"};

/// CLI11 calls a command that there is not an unexpected argument, like any other word too many. Empty: it was one.
std::string unknown_command(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  if (!app.get_subcommands().empty() || rest.empty() || rest.front().starts_with('-')) return {};
  const std::string& name = rest.front();
  const bool is_planned = std::ranges::find(kPlanned, std::string_view(name)) != std::end(kPlanned);
  return is_planned ? name + " is planned, and not in this version" : "There is no command " + name;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hcpnet::app;
  int status = kGood;
  CLI::App app(
      "The network of hosted control planes on KubeVirt: DHCP, split-horizon DNS and an SNI proxy from one set of "
      "files.",
      "hcpnet");
  app.require_subcommand(0, 1);  // none is refused below: CLI11 would say that of an unknown one as well
  add_up(app, status);
  add_check(app, status);
  add_route(app, status);
  add_dns(app, status);
  add_status(app, status);
  add_reload(app, status);
  add_drain(app, status);
  add_leases(app, status);
  add_patch(app, status);
  add_render(app, status);
  add_plan(app, status);
  add_names(app, status);
  add_bootstrap(app, status);
  add_pki(app, status);
  add_lint(app, status);
  add_version(app, status);
  add_documentation(app, status);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
  } catch (const CLI::ExtrasError& e) {
    const std::string unknown = unknown_command(app);
    app.exit(unknown.empty() ? e : CLI::ExtrasError(unknown, CLI::ExitCodes::ExtrasError));
    status = kWrongUse;
  } catch (const CLI::ParseError& e) {
    status = app.exit(e) == 0 ? kGood : kWrongUse;
  } catch (const std::exception& e) {
    std::cerr << "hcpnet: " << hcpnet::runtime::error_text(e) << '\n';
    return kProblems;
  }
  if (!std::cout.flush()) {
    std::cerr << "hcpnet: standard output can't be written\n";
    return status == kGood ? kProblems : status;
  }
  return status;
}
