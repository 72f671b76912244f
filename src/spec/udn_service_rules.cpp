// SPDX-License-Identifier: Apache-2.0
// Services in front of virtual machines: what an API server refuses of them, and whether somebody is behind them.
#include <map>
#include <set>
#include <utility>

#include "spec/primary_udn.hpp"

namespace hcpnet::spec {
namespace {

const std::string kServices = "/spec/services";

class ServiceRules {
 public:
  ServiceRules(Subject& subject, const PrimaryUDN& udn) : subject_(subject), udn_(udn) {
    for (const UdnVirtualMachine& machine : udn.virtual_machines) machines_.insert(machine.name);
  }

  void run() {
    if (udn_.services.empty() || !subject_.is_good(kServices)) return;
    if (udn_.virtual_machines.empty()) {
      if (subject_.is_good("/spec/virtualMachines"))
        subject_.error(code::bad_combination, kServices,
                       udn_.hosted_cluster
                           ? "the machines of a hosted cluster have their Services in the hosted cluster"
                           : "there are no virtualMachines that they could lead to");
      return;
    }
    for (std::size_t i = 0; i < udn_.services.size(); ++i) {
      item_ = text::child(kServices, i);
      if (subject_.is_good(item_)) check(udn_.services[i]);
    }
  }

 private:
  using PortKey = std::pair<Protocol, std::int32_t>;

  void check(const UdnService& service) {
    const std::string name = item_ + "/name";
    if (subject_.is_good(name)) {
      if (service.name.front() < 'a')  // of what a label begins with, a digit
        subject_.error(code::bad_name, name, "the name of a Service begins with a letter (RFC 1035)");
      else
        claim_once(subject_, names_, service.name, name, "a Service of this name stands earlier, at ",
                   code::duplicate_name);
    }
    if (subject_.is_good(item_ + "/machines")) check_machines(service.machines);
    if (subject_.is_good(item_ + "/ports")) check_ports(service);
  }

  void check_machines(const std::vector<std::string>& machines) {
    std::map<std::string, std::string> seen;
    for (std::size_t i = 0; i < machines.size(); ++i) {
      const std::string pointer = text::child(item_ + "/machines", i);
      if (!subject_.is_good(pointer)) continue;
      if (!machines_.contains(machines[i]))
        subject_.error(code::bad_reference, pointer, "virtualMachines has no machine of this name");
      else
        claim_once(subject_, seen, machines[i], pointer, "this machine is in the list already, at ",
                   code::duplicate_name);
    }
  }

  void check_ports(const UdnService& service) {
    std::map<std::string, std::string> names;
    std::map<PortKey, std::string> numbers;
    for (std::size_t i = 0; i < service.ports.size(); ++i) {
      const UdnServicePort& port = service.ports[i];
      const std::string item = text::child(item_ + "/ports", i), node_port = item + "/nodePort";
      if (!subject_.is_good(item)) continue;
      if (subject_.is_good(item + "/name"))
        claim_once(subject_, names, port.name, item + "/name", "a port of this name stands earlier, at ",
                   code::duplicate_name);
      if (!subject_.is_good(item + "/protocol")) continue;
      if (subject_.is_good(item + "/port"))
        claim_once(subject_, numbers, PortKey{port.protocol, port.port}, item + "/port",
                   "this Service has the port already, at ", code::duplicate_name);
      if (!port.node_port || !subject_.is_good(node_port) || !subject_.is_good(item_ + "/type")) continue;
      if (service.type == UdnServiceType::cluster_ip)
        subject_.error(code::bad_combination, node_port, "a Service of the type ClusterIP has no node ports");
      else
        claim_once(subject_, node_ports_, PortKey{port.protocol, *port.node_port}, node_port,
                   "this node port is taken, at ", code::duplicate_name);
    }
  }

  Subject& subject_;
  const PrimaryUDN& udn_;
  std::string item_;
  std::set<std::string> machines_;
  std::map<std::string, std::string> names_;
  std::map<PortKey, std::string> node_ports_;
};

}  // namespace

void check_udn_services(Subject& subject, const PrimaryUDN& udn) {
  ServiceRules(subject, udn).run();
}

}  // namespace hcpnet::spec
