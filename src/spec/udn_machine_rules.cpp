// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "spec/primary_udn.hpp"
#include "spec/udn_ranges.hpp"

namespace hcpnet::spec {
namespace {

const std::string kMachines = "/spec/virtualMachines";

class MachineRules {
 public:
  MachineRules(Subject& subject, const PrimaryUDN& udn, const UdnPlan& plan)
      : subject_(subject), udn_(udn), plan_(plan) {}

  void run() {
    if (!subject_.is_good(kMachines)) return;
    if (udn_.hosted_cluster && !udn_.virtual_machines.empty())
      return subject_.error(code::bad_combination, kMachines,
                            "the machines of a hosted cluster come from its NodePools, where all share one template");
    for (std::size_t i = 0; i < udn_.virtual_machines.size(); ++i) {
      item_ = text::child(kMachines, i);
      if (subject_.is_good(item_)) check(udn_.virtual_machines[i]);
    }
    if (udn_.claims == UdnClaims::hcpnet && !is_persistent() && !udn_.virtual_machines.empty() &&
        subject_.is_good("/spec/claims"))
      subject_.error(code::bad_combination, "/spec/claims",
                     "IPAMClaims keep addresses of a network whose addresses are kept: network.layer2.ipam.lifecycle "
                     "Persistent");
  }

 private:
  [[nodiscard]] bool is_persistent() const {
    return udn_.layer2 && udn_.layer2->ipam && udn_.layer2->ipam->lifecycle.has_value();
  }

  void check(const UdnVirtualMachine& machine) {
    if (subject_.is_good(item_ + "/name"))
      claim_once(subject_, names_, machine.name, item_ + "/name", "a machine of this name stands earlier, at ",
                 code::duplicate_name);
    if (machine.mac_address && subject_.is_good(item_ + "/macAddress"))
      if (const auto mac = parse_mac_address(*machine.mac_address))
        claim_once(subject_, macs_, *mac, item_ + "/macAddress", "another machine has this MAC address, at ",
                   code::addresses_collide);
    const std::string list = item_ + "/addresses";
    if (machine.addresses.empty() || !subject_.is_good(list)) return;
    if (udn_.topology != UdnTopology::layer2)
      return subject_.error(code::bad_combination, list,
                            "on a network of the topology Layer3 an address belongs to a node, and nobody can ask for "
                            "one");
    if (!is_persistent())
      return subject_.error(code::bad_combination, list,
                            "addresses can be asked for where they are kept: network.layer2.ipam.lifecycle Persistent");
    check_addresses(machine, list);
  }

  void check_addresses(const UdnVirtualMachine& machine, const std::string& list) {
    std::size_t v4 = 0, good = 0;
    for (std::size_t i = 0; i < machine.addresses.size(); ++i) {
      const std::string pointer = text::child(list, i);
      if (!subject_.is_good(pointer)) continue;
      const auto address = parse_ip_address(machine.addresses[i]);
      if (!address) continue;
      ++good;
      v4 += address->is_v4() ? 1 : 0;
      if (plan_.is_complete) check_address(pointer, *address);
    }
    if (!plan_.is_complete || good != machine.addresses.size()) return;
    const std::size_t subnets = plan_.subnets.size();
    const auto is_v4 = [](const Cidr& cidr) { return cidr.network().is_v4(); };
    const auto wanted_v4 = static_cast<std::size_t>(std::ranges::count_if(plan_.subnets, is_v4));
    if (good != subnets || v4 != wanted_v4)
      subject_.error(code::bad_combination, list,
                     "who asks for addresses asks for one of each subnet of the network: " + std::to_string(subnets));
  }

  void check_address(const std::string& pointer, const IpAddress& address) {
    const auto subnet = std::ranges::find_if(plan_.subnets, [&](const Cidr& s) { return s.contains(address); });
    if (subnet == plan_.subnets.end())
      return subject_.error(code::address_outside_cidr, pointer, address.to_string() + " lies in no subnet");
    const bool is_last =
        address.is_v4() && address.v4() == Ipv4Cidr(subnet->network().v4(), subnet->prefix_length()).broadcast();
    if (address == subnet->network() || is_last)
      return subject_.error(code::address_reserved, pointer,
                            address.to_string() + " is the first or last address of " + subnet->to_string());
    if (const std::string owner = owner_of(*subnet, address); !owner.empty())
      return subject_.error(code::addresses_collide, pointer, address.to_string() + " belongs to " + owner);
    claim_once(subject_, addresses_, address, pointer, "another machine asks for this address, at ",
               code::addresses_collide);
  }

  /// Without infrastructure subnets the gateway has the first address and the nodes' management ports the second
  /// (OKEP-5233).
  [[nodiscard]] std::string owner_of(const Cidr& subnet, const IpAddress& address) const {
    for (const Cidr& infrastructure : plan_.infrastructure)
      if (infrastructure.contains(address)) return "the infrastructure subnet " + infrastructure.to_string();
    if (std::ranges::find(plan_.gateways, address) != plan_.gateways.end()) return "the gateway";
    if (plan_.gateways.empty() && address == nth_address(subnet, 1)) return "the gateway";
    if (plan_.infrastructure.empty() && address == nth_address(subnet, 2)) return "the management ports of the nodes";
    return {};
  }

  Subject& subject_;
  const PrimaryUDN& udn_;
  const UdnPlan& plan_;
  std::string item_;
  std::map<std::string, std::string> names_;
  std::map<MacAddress, std::string> macs_;
  std::map<IpAddress, std::string> addresses_;
};

}  // namespace

void check_udn_machines(Subject& subject, const PrimaryUDN& udn, const UdnPlan& plan) {
  MachineRules(subject, udn, plan).run();
}

}  // namespace hcpnet::spec
