// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include "command.hpp"
#include "runtime/error_text.hpp"

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
  add_version(app, status);
  add_documentation(app, status);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
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
