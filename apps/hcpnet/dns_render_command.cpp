// SPDX-License-Identifier: Apache-2.0
// hcpnet dns render
#include <memory>

#include "dns_command.hpp"
#include "target_render.hpp"

namespace hcpnet::app {

void add_dns_render(CLI::App& dns, int& status) {
  auto a = std::make_shared<TargetArguments>();
  CLI::App* command = dns.add_subcommand("render", "write zones and views as the configuration of another server");
  command->add_option("--target", a->target, "for whom: zonefile, hosts, coredns, bind, unbound or dnsmasq")
      ->required()
      ->check(CLI::IsMember(dns_targets()))
      ->type_name("TARGET");
  command
      ->add_option("--output-dir", a->output_dir,
                   "write files here, and go on from the serials of those that lie there; else everything goes to "
                   "standard output")
      ->type_name("DIR");
  add_target_options(*command, *a);
  a->files.add_to(*command, true);
  command->callback([a, &status] { status = render_target(*a); });
}

}  // namespace hcpnet::app
