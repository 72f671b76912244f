// SPDX-License-Identifier: Apache-2.0
// EndpointSlices on a primary network. OVN-Kubernetes mirrors the slices of what a Service selects, for its load
// balancers alone: names go on leading to the default network, and a Service that selects nothing has no load balancer.
#include "reconcile/udn_plan.hpp"
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/manifest/udn_slices.hpp>
#include <hcpnet/text/value.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reconcile/identity.hpp"
#include "reconcile/json_fields.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using manifest::PrimaryAddresses;
using manifest::Slice;
using manifest::SliceEndpoint;
using manifest::SlicePort;
using manifest::SliceReader;

constexpr std::string_view kManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::string_view kOvnServiceName = "k8s.ovn.org/service-name";
constexpr std::string_view kOvnNetwork = "k8s.ovn.org/endpointslice-network";
constexpr std::string_view kDefaultController = "endpointslice-controller.k8s.io";
constexpr std::string_view kSelfRegister = "etcd-self-register.hypershift.openshift.io";

std::string name_of(const Json& object) {
  return string_at(object, "/metadata/name");
}

bool is_ready(const Json& pod) {
  for (const Json& condition : json_at(pod, "/status/conditions"))
    if (string_at(condition, "/type") == "Ready") return string_at(condition, "/status") == "True";
  return false;
}

/// Of a pod of the host network: the node's addresses, which are reached from every network.
PrimaryAddresses host_addresses(const Json& pod) {
  PrimaryAddresses found;
  for (const Json& item : json_at(pod, "/status/podIPs")) {
    const auto address = parse_ip_address(string_at(item, "/ip"));
    if (address && address->is_v4() && !found.v4) found.v4 = address->v4();
    if (address && address->is_v6() && !found.v6) found.v6 = address->v6();
  }
  return found;
}

bool has_ended(const Json& pod) {
  const std::string phase = string_at(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed";
}

/// A pod or a machine behind a Service.
struct Member {
  std::string name;
  PrimaryAddresses addresses;
  SliceEndpoint endpoint;  ///< but for its address
  const Json* pod = nullptr;
};

std::optional<std::uint16_t> to_port(const Json& value) {
  if (!value.is_number_integer()) return {};
  const auto number = value.get<std::int64_t>();
  return number >= 1 && number <= 65535 ? std::optional(static_cast<std::uint16_t>(number)) : std::nullopt;
}

/// The port that a named target means in a pod.
std::optional<std::uint16_t> container_port(const Json* pod, const std::string& name) {
  if (pod == nullptr) return {};
  for (const Json& container : json_at(*pod, "/spec/containers"))
    for (const Json& port : json_at(container, "/ports"))
      if (string_at(port, "/name") == name) return to_port(json_at(port, "/containerPort"));
  return {};
}

std::vector<SlicePort> ports_of(const Json& service, const Json* pod) {
  std::vector<SlicePort> ports;
  for (const Json& port : json_at(service, "/spec/ports")) {
    const Json& target = json_at(port, "/targetPort");
    std::optional<std::uint16_t> number = target.is_null() ? to_port(json_at(port, "/port")) : to_port(target);
    if (target.is_string()) number = container_port(pod, target.get<std::string>());
    if (!number) continue;
    const std::string protocol = string_at(port, "/protocol");
    ports.push_back({string_at(port, "/name"), *number, protocol.empty() ? "TCP" : protocol});
  }
  return ports;
}

bool selects(const Json& service, const Json& pod) {
  const Json& selector = json_at(service, "/spec/selector");
  if (!selector.is_object() || selector.empty()) return false;
  for (const auto& [label, value] : selector.items())
    if (!value.is_string() || word_of(pod, "labels", label) != value.get<std::string>()) return false;
  return true;
}

class SlicePlanner {
 public:
  SlicePlanner(const spec::ValidPrimaryUdn& udn, const std::string& ns, const ClusterObjects& objects,
               bool may_recreate, Plan& plan)
      : udn_(udn), namespace_(ns), objects_(objects), may_recreate_(may_recreate), plan_(plan) {}

  void run() {
    for (const Json* service : objects_.all("", "Service", namespace_)) {
      const bool is_headless = string_at(*service, "/spec/clusterIP") == "None";
      const Json& selector = json_at(*service, "/spec/selector");
      const bool has_selector = selector.is_object() && !selector.empty();
      if (is_headless && has_selector) plan_names(*service);
      if (!is_headless && !has_selector && leads_to_machines(*service)) plan_load_balancer(*service);
    }
    remove_stale();
  }

 private:
  // --- headless Services: names

  void plan_names(const Json& service) {
    const bool always_ready = flag_at(service, "/spec/publishNotReadyAddresses");
    std::vector<Member> members;
    for (const Json* pod : objects_.all("", "Pod", namespace_)) {
      if (!selects(service, *pod) || has_ended(*pod)) continue;
      auto member = member_of(*pod);
      if (!member) continue;
      // CoreDNS drops what isn't ready; of a Service that publishes all the same, peers wait for the names to become
      // so.
      if (always_ready) member->endpoint.is_ready = member->endpoint.is_serving = true;
      if (string_at(*pod, "/spec/subdomain") == name_of(service))
        member->endpoint.host_name = string_at(*pod, "/spec/hostname");
      members.push_back(std::move(*member));
    }
    if (members.empty()) return;
    const std::string reason = "names of the headless Service " + name_of(service) +
                               " lead to the default network, which no pod of a primary network reaches";
    for (const Member& member : members) add_slices(service, member, SliceReader::dns, reason);
    neutralise(service);
  }

  std::optional<PrimaryAddresses> addresses_of(const Json& pod) {
    if (flag_at(pod, "/spec/hostNetwork")) return host_addresses(pod);
    const std::string annotation = word_of(pod, "annotations", "k8s.ovn.org/pod-networks");
    if (annotation.empty()) return {};  // it has no network yet
    const auto addresses = manifest::parse_pod_networks(annotation);
    if (addresses) return *addresses;
    warn("not-on-network",
         "pod " + namespace_ + '/' + name_of(pod) + " has no address on the network: " + addresses.error());
    return {};
  }

  std::optional<Member> member_of(const Json& pod) {
    const auto addresses = addresses_of(pod);
    if (!addresses || (!addresses->v4 && !addresses->v6)) return {};
    Member member{name_of(pod), *addresses, {}, &pod};
    member.endpoint.is_ready = member.endpoint.is_serving = is_ready(pod);
    member.endpoint.is_terminating = !string_at(pod, "/metadata/deletionTimestamp").empty();
    if (member.endpoint.is_terminating) member.endpoint.is_ready = false;
    member.endpoint.node_name = string_at(pod, "/spec/nodeName");
    Json target = {{"kind", "Pod"}, {"namespace", namespace_}, {"name", name_of(pod)}};
    if (const std::string uid = string_at(pod, "/metadata/uid"); !uid.empty()) target["uid"] = uid;
    member.endpoint.target = std::move(target);
    return member;
  }

  /// Takes the Service's name from slices of the default network. Both kinds come back, so it is never done for good.
  void neutralise(const Json& service) {
    for (const Json* slice : objects_.all("discovery.k8s.io", "EndpointSlice", namespace_)) {
      const std::string manager = word_of(*slice, "labels", kManagedBy);
      if (word_of(*slice, "labels", kServiceName) != name_of(service)) continue;
      if (manager != kDefaultController && manager != kSelfRegister) continue;
      const bool is_default = manager == kDefaultController;
      Json patch = Json::array();
      if (is_default) take_label(patch, kManagedBy, manager);
      take_label(patch, kServiceName, name_of(service));
      plan_.actions.push_back(
          {ActionKind::patch, identity(*slice), std::move(patch),
           is_default ? "CoreDNS would go on answering with addresses of the default network; the endpoint slice "
                        "controller keeps complaining, and makes a new slice when kube-controller-manager restarts"
                      : "the pod has put its address on the default network here, and does so at each start"});
    }
  }

  static void take_label(Json& patch, std::string_view label, const std::string& value) {
    std::string path = "/metadata/labels/" + std::string(label);
    path.replace(path.rfind('/'), 1, "~1");
    patch.push_back({{"op", "test"}, {"path", path}, {"value", value}});
    patch.push_back({{"op", "remove"}, {"path", path}});
  }

  // --- Services that select nothing: the machines of the hosted cluster are behind them

  bool leads_to_machines(const Json& service) const {
    if (udn_.hosted_cluster.empty() || string_at(service, "/spec/type") == "ExternalName") return false;
    return name_of(service).starts_with("default-ingress-passthrough-service-") ||
           !word_of(service, "labels", "cluster.x-k8s.io/tenant-service-name").empty();
  }

  void plan_load_balancer(const Json& service) {
    if (is_mirrored(service)) return;
    const std::string reason = "Service " + name_of(service) +
                               " selects no pods, so OVN-Kubernetes makes no load balancer for it on the network";
    for (const Member& machine : machines()) add_slices(service, machine, SliceReader::ovn, reason);
  }

  /// A later OVN-Kubernetes mirrors such slices itself; an earlier one made mirrors whose endpoints have no addresses.
  bool is_mirrored(const Json& service) const {
    return std::ranges::any_of(objects_.all("discovery.k8s.io", "EndpointSlice", namespace_), [&](const Json* slice) {
      return word_of(*slice, "labels", kOvnServiceName) == name_of(service) &&
             word_of(*slice, "annotations", kOvnNetwork) == udn_.network &&
             word_of(*slice, "labels", kManagedBy) != manifest::kSliceManager &&
             std::ranges::any_of(json_at(*slice, "/endpoints"),
                                 [](const Json& endpoint) { return !json_at(endpoint, "/addresses").empty(); });
    });
  }

  const std::vector<Member>& machines() {
    if (machines_) return *machines_;
    std::map<std::string, Member> by_name;
    for (const Json* pod : objects_.all("", "Pod", namespace_)) {
      if (word_of(*pod, "labels", "kubevirt.io") != "virt-launcher" || has_ended(*pod)) continue;
      std::string machine = word_of(*pod, "labels", "vm.kubevirt.io/name");
      if (machine.empty()) machine = word_of(*pod, "annotations", "kubevirt.io/domain");
      auto member = machine.empty() ? std::nullopt : member_of(*pod);
      if (!member) continue;
      member->name = machine;
      const auto [known, is_new] = by_name.emplace(machine, *member);
      if (!is_new && is_better(machine, *pod, *known->second.pod)) known->second = std::move(*member);
    }
    machines_.emplace();
    for (auto& [name, member] : by_name) machines_->push_back(std::move(member));
    if (machines_->empty()) take_machines();
    return *machines_;
  }

  /// While a machine migrates it has two pods with one address: the one where it runs, as its instance says.
  bool is_better(const std::string& machine, const Json& pod, const Json& other) const {
    const Json* instance = objects_.find({{"apiVersion", "kubevirt.io/v1"},
                                          {"kind", "VirtualMachineInstance"},
                                          {"metadata", {{"name", machine}, {"namespace", namespace_}}}});
    if (instance != nullptr) {
      const std::string node = string_at(*instance, "/status/nodeName");
      return string_at(pod, "/spec/nodeName") == node && string_at(other, "/spec/nodeName") != node;
    }
    return is_ready(pod) && !is_ready(other);
  }

  /// Where no pod was observed, HyperShift's Machines tell the addresses, though not where they run.
  void take_machines() {
    for (const Json* machine : objects_.all("cluster.x-k8s.io", "Machine", namespace_)) {
      Member member{
          name_of(*machine), manifest::first_internal_addresses(json_at(*machine, "/status/addresses")), {}, nullptr};
      const bool is_running = string_at(*machine, "/status/phase") == "Running";
      member.endpoint.is_ready = member.endpoint.is_serving = is_running;
      machines_->push_back(std::move(member));
    }
  }

  // --- slices

  void add_slices(const Json& service, const Member& member, SliceReader reader, const std::string& reason) {
    const std::vector<SlicePort> ports = ports_of(service, member.pod);
    if (ports.size() != json_at(service, "/spec/ports").size())  // a headless Service may have none
      return warn("port-unknown",
                  "a targetPort of Service " + namespace_ + '/' + name_of(service) + " is no port of " + member.name);
    if (member.addresses.v4) add_slice(service, member, *member.addresses.v4, ports, reader, reason);
    if (member.addresses.v6) add_slice(service, member, *member.addresses.v6, ports, reader, reason);
  }

  void add_slice(const Json& service, const Member& member, const IpAddress& address, std::vector<SlicePort> ports,
                 SliceReader reader, const std::string& reason) {
    Slice slice;
    slice.reader = reader;
    slice.network = udn_.network;
    slice.namespace_ = namespace_;
    slice.service = name_of(service);
    slice.service_uid = string_at(service, "/metadata/uid");
    slice.name = manifest::cut_name(
        slice.service + '-' + member.name,
        std::string(reader == SliceReader::ovn ? "-udn" : "-dns") + (address.is_v6() ? "-ipv6" : "-ipv4"),
        manifest::kMaxNameBytes);
    slice.is_ipv6 = address.is_v6();
    slice.endpoints = {member.endpoint};
    slice.endpoints.front().address = address;
    slice.ports = std::move(ports);
    const Json desired = manifest::endpoint_slice(slice);
    wanted_.insert(slice.name);
    Step step = compare(desired, objects_.find(desired), may_recreate_);
    for (Action& action : step.actions) {
      if (action.kind == ActionKind::create) action.reason = reason;
      plan_.actions.push_back(std::move(action));
    }
    plan_.held.insert(plan_.held.end(), step.held.begin(), step.held.end());
  }

  void remove_stale() {
    for (const Json* slice : objects_.all("discovery.k8s.io", "EndpointSlice", namespace_))
      if (word_of(*slice, "labels", kManagedBy) == manifest::kSliceManager && !wanted_.contains(name_of(*slice)))
        plan_.actions.push_back(
            {ActionKind::remove, identity(*slice), {}, "its Service, pod or machine is not there any more"});
  }

  void warn(const char* code, const std::string& message) {
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = code;
    d.message = udn_.metadata.key() + ": " + message;
    plan_.warnings.add(std::move(d));
  }

  const spec::ValidPrimaryUdn& udn_;
  const std::string& namespace_;
  const ClusterObjects& objects_;
  bool may_recreate_;
  Plan& plan_;
  std::optional<std::vector<Member>> machines_;
  std::set<std::string> wanted_;  ///< names of slices
};

}  // namespace

void plan_slices(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, bool may_recreate, Plan& plan) {
  for (const std::string& ns : udn.namespaces) SlicePlanner(udn, ns, objects, may_recreate, plan).run();
}

void plan_machines(const spec::ValidPrimaryUdn& udn, const ClusterObjects& objects, Plan& plan) {
  const std::string path = text::child("/spec/template/metadata/annotations", manifest::kBridgeMigrationAnnotation);
  for (const spec::ValidUdnMachine& machine : udn.machines) {
    const Json* found = objects.find({{"apiVersion", "kubevirt.io/v1"},
                                      {"kind", "VirtualMachine"},
                                      {"metadata", {{"name", machine.name}, {"namespace", udn.namespaces.front()}}}});
    if (found == nullptr) continue;
    const Json& annotations = json_at(*found, "/spec/template/metadata/annotations");
    if (!annotations.is_object()) continue;
    const auto annotation = annotations.find(std::string(manifest::kBridgeMigrationAnnotation));
    if (annotation == annotations.end()) continue;
    plan.actions.push_back(
        {ActionKind::patch, identity(*found),
         Json::array({{{"op", "test"}, {"path", path}, {"value", *annotation}}, {{"op", "remove"}, {"path", path}}}),
         "with this annotation OVN-Kubernetes gives the machine no addresses"});
  }
}

}  // namespace hcpnet::reconcile
