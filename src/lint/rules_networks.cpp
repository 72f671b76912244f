// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/manifest/network.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/text/yaml.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lint/rules.hpp"
#include "lint/udn.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr Rule kRules[] = {
    {.id = "udn-annotation",
     .severity = Severity::error,
     .title = "a namespace that asks for a primary network by annotation",
     .why = "OVN-Kubernetes looks at the label of that name and at nothing else: pods stay on the default network, and "
            "the "
            "UserDefinedNetwork says `SyncError`.",
     .fix = "The label `k8s.ovn.org/primary-user-defined-network`, with any value.",
     .source = "ovn-kubernetes go-controller/pkg/types/const.go RequiredUDNNamespaceLabel",
     .wrong = R"(apiVersion: v1
kind: Namespace
metadata:
  name: clusters-blue
  annotations: {k8s.ovn.org/primary-user-defined-network: ""}
---
apiVersion: v1
kind: Namespace
metadata: {name: clusters}
)",
     .wrong_part = "  annotations: {k8s.ovn.org/primary-user-defined-network: \"\"}\n",
     .right_part = ""},
    {.id = "udn-label-missing",
     .severity = Severity::error,
     .title = "a primary network in a namespace without its label",
     .why =
         "Since OpenShift 4.18 the network is not rendered without it (`NetworkCreated` False, `SyncError`). The label "
         "can't be added later: a policy of the network operator refuses that, so the namespace has to be made anew, "
         "and "
         "before HyperShift makes it.",
     .fix = "`labels: {k8s.ovn.org/primary-user-defined-network: \"\"}` at the creation of the namespace.",
     .source = "ovn-kubernetes clustermanager/userdefinednetwork/controller_helper.go; cluster-network-operator "
               "bindata/network/ovn-kubernetes/common/udn-admission-policy.yaml",
     .wrong = R"(apiVersion: v1
kind: Namespace
metadata:
  name: clusters-blue
---
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "  name: clusters-blue\n---",
     .right_part = "  name: clusters-blue\n  labels: {k8s.ovn.org/primary-user-defined-network: \"\"}\n---"},
    {.id = "udn-missing",
     .severity = Severity::warning,
     .title = "a namespace that is labelled for a primary network, and no such network in the set",
     .why = "Until there is one, every pod of the namespace stays in ContainerCreating: `InvalidPrimaryNetworkError`.",
     .fix =
         "A UserDefinedNetwork with `role: Primary` in it, or a ClusterUserDefinedNetwork that selects it, before the "
         "first pod.",
     .source = "ovn-kubernetes networkmanager/nad_controller.go",
     .wrong = R"(apiVersion: v1
kind: Namespace
metadata:
  name: clusters-blue
  labels: {k8s.ovn.org/primary-user-defined-network: ""}
)",
     .wrong_part = "  labels: {k8s.ovn.org/primary-user-defined-network: \"\"}\n",
     .right_part = ""},
    {.id = "udn-twice",
     .severity = Severity::error,
     .title = "two primary networks for one namespace",
     .why = "One of them is never rendered, and which one is decided by what comes first.",
     .fix = "One; a second network is one with `role: Secondary`.",
     .source = "ovn-kubernetes clustermanager/userdefinednetwork/controller.go",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: one, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
---
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: two, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.151.0.0/16"], ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "{role: Primary, subnets: [\"10.151.0.0/16\"]",
     .right_part = "{role: Secondary, subnets: [\"10.151.0.0/16\"]"},
    {.id = "udn-namespace",
     .severity = Severity::error,
     .title = "a primary network in a namespace that can't have one",
     .why = "`default`, the namespaces of the platform, and those whose attachments Multus shares with everybody have "
            "pods "
            "of their own on the default network, and OVN-Kubernetes refuses or breaks them.",
     .fix = "A namespace of its own.",
     .source = "ovn-kubernetes docs, user-defined networks; cluster-network-operator bindata/network/multus",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: vms, namespace: default}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "namespace: default",
     .right_part = "namespace: machines"},
    {.id = "udn-subnet",
     .severity = Severity::error,
     .title = "a primary network whose subnet something else has",
     .why = "OVN-Kubernetes takes ranges of its own for joins, transit and masquerading, and HyperShift puts "
            "172.20.0.1 on "
            "every worker. Where they overlap, packets for one end at the other: nodes that never get ready, Services "
            "that "
            "are reached now and then. Nothing says so.",
     .fix =
         "A range that is none of 100.64.0.0/15, 100.66.0.0/16, 100.88.0.0/16, 169.254.0.0/16, 172.20.0.1, and none of "
         "the pod, service and machine networks of either cluster.",
     .source = "ovn-kubernetes go-controller/pkg/config/config.go, pkg/types/const.go; openshift/hypershift "
               "support/config",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["100.64.8.0/21"], ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "100.64.8.0/21",
     .right_part = "10.150.0.0/21"},
    {.id = "udn-refused",
     .severity = Severity::error,
     .title = "a user-defined network that the API server refuses",
     .why = "It says so when it is applied; here it is said before.",
     .fix = "What the message says.",
     .source = "ovn-kubernetes go-controller/pkg/crd/userdefinednetwork/v1",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "{role: Primary, ipam",
     .right_part = "{role: Primary, subnets: [\"10.150.0.0/16\"], ipam"},
    {.id = "udn-not-persistent",
     .severity = Severity::warning,
     .title = "a primary Layer2 network whose virtual machines don't keep their addresses",
     .why =
         "A virtual machine that is started again, or moved, gets another address: a worker that does is another node "
         "for its cluster.",
     .fix = "`ipam: {mode: Enabled, lifecycle: Persistent}`",
     .source = "ovn-kubernetes docs, live migration; kubevirt/ipam-extensions",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters-blue}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"]}
)",
     .wrong_part = "subnets: [\"10.150.0.0/16\"]}",
     .right_part = "subnets: [\"10.150.0.0/16\"], ipam: {mode: Enabled, lifecycle: Persistent}}"},
    {.id = "udn-beside-hosted-cluster",
     .severity = Severity::error,
     .title = "a primary network beside the HostedCluster instead of its control plane",
     .why =
         "The control plane and the virtual machines live in `NAMESPACE-NAME` (dots in the name are dashes there). A "
         "network in the namespace of the HostedCluster object reaches none of them.",
     .fix = "The network in that namespace, which is made, with its label, before the HostedCluster.",
     .source = "openshift/hypershift hypershift-operator/controllers/manifests",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec: {platform: {type: KubeVirt}}
---
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: hcp-blue, namespace: clusters}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
)",
     .wrong_part = "{name: hcp-blue, namespace: clusters}",
     .right_part = "{name: hcp-blue, namespace: clusters-blue}"},
    {.id = "ipam-claim-annotation",
     .severity = Severity::error,
     .title = "an annotation for an IPAMClaim that nothing reads",
     .why =
         "`k8s.ovn.org/ovn-udn-ipamclaim-reference` stands in an early draft and never was in any code: the address is "
         "not kept.",
     .fix = "Nothing by hand: KubeVirt's ipam-extensions writes the claim and names it. "
            "`network.kubevirt.io/addresses` asks "
            "for certain addresses.",
     .source = "ovn-kubernetes, kubevirt/ipam-extensions: no hit for the name",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata:
  name: machine
  namespace: machines
  annotations: {k8s.ovn.org/ovn-udn-ipamclaim-reference: machine.default}
spec: {containers: [{name: compute, image: example.com/compute@sha256:1f2e}]}
)",
     .wrong_part = "k8s.ovn.org/ovn-udn-ipamclaim-reference: machine.default",
     .right_part = "network.kubevirt.io/addresses: '{\"default\": [\"10.150.0.42\"]}'"},
    {.id = "ipam-claim-deprecated",
     .severity = Severity::info,
     .title = "the older annotation for an IPAMClaim",
     .why = "`k8s.ovn.org/primary-udn-ipamclaim` is still honoured where the newer one is absent.",
     .fix = "`ipam-claim-reference` in `v1.multus-cni.io/default-network`, where you write it at all.",
     .source = "ovn-kubernetes go-controller/pkg/types/const.go, deprecated since 2025-12",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata:
  name: machine
  namespace: machines
  annotations: {k8s.ovn.org/primary-udn-ipamclaim: machine.default}
spec: {containers: [{name: compute, image: example.com/compute@sha256:1f2e}]}
)",
     .wrong_part = "k8s.ovn.org/primary-udn-ipamclaim: machine.default",
     .right_part = "v1.multus-cni.io/default-network: '[{\"name\": \"default\", \"namespace\": "
                   "\"openshift-ovn-kubernetes\", \"ipam-claim-reference\": \"machine.default\"}]'"},
    {.id = "default-network-annotation",
     .severity = Severity::error,
     .title = "a default-network annotation that OVN-Kubernetes does not take",
     .why =
         "It has to name the attachment `default` in OVN-Kubernetes' own namespace; with another one the pod is not "
         "wired. On a virt-launcher pod only ipam-extensions may write it: the pod is refused when it comes with one.",
     .fix = "`{\"name\": \"default\", \"namespace\": \"openshift-ovn-kubernetes\", ...}`; for a virtual machine "
            "`network.kubevirt.io/addresses` instead.",
     .source = "ovn-kubernetes pkg/util/multi_network.go; kubevirt/ipam-extensions",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata:
  name: machine
  namespace: machines
  annotations:
    v1.multus-cni.io/default-network: '[{"name": "machines", "namespace": "machines", "ips": ["10.150.0.42/16"]}]'
spec: {containers: [{name: compute, image: example.com/compute@sha256:1f2e}]}
)",
     .wrong_part = "\"name\": \"machines\", \"namespace\": \"machines\"",
     .right_part = "\"name\": \"default\", \"namespace\": \"openshift-ovn-kubernetes\""},
    {.id = "open-default-ports",
     .severity = Severity::error,
     .title = "an open-default-ports annotation that can't be read",
     .why = "OVN-Kubernetes opens none of the ports then: from the default network only the kubelet's probes reach the "
            "pod.",
     .fix =
         "A YAML list in the string: `protocol` tcp, udp, sctp or icmp in lower case, and a `port` for all but icmp.",
     .source = "ovn-kubernetes pkg/util/pod_annotation.go",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata:
  name: proxy
  namespace: clusters-blue
  annotations: {k8s.ovn.org/open-default-ports: "[{protocol: TCP, port: 6443}]"}
spec: {containers: [{name: proxy, image: example.com/proxy@sha256:1f2e}]}
)",
     .wrong_part = "protocol: TCP",
     .right_part = "protocol: tcp"},
};

struct Range {
  const char *cidr, *owner;
};
constexpr std::array kRanges{Range{"100.64.0.0/16", "the join network of the default network"},
                             Range{"100.65.0.0/16", "the join network of user-defined networks"},
                             Range{"100.66.0.0/16", "the join network of KubeVirt guests"},
                             Range{"100.88.0.0/16", "OVN-Kubernetes' transit switch"},
                             Range{"169.254.0.0/16", "link-local addresses and OVN-Kubernetes' masquerading"},
                             Range{"172.20.0.1/32", "the API server's address on every worker"},
                             Range{"fd97::/64", "OVN-Kubernetes' transit switch"},
                             Range{"fd98::/64", "the join network of the default network"},
                             Range{"fd99::/64", "the join network of user-defined networks"},
                             Range{"fd69::/112", "OVN-Kubernetes' masquerading"},
                             Range{"fd00::1/128", "the API server's address on every worker"}};

/// The CIDR with its host bits cleared: an overlap is one all the same.
std::optional<Cidr> network_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ip_address(std::string_view(text).substr(0, slash));
  if (!address || slash == std::string::npos) return std::nullopt;
  const std::string suffix = address->is_v4() ? "0.0.0.0" : "::";
  const auto length = parse_cidr(suffix + text.substr(slash));
  // "0.0.0.0/16" has no host bits, so it parses for every length.
  return length ? std::optional(Cidr(*address, length->prefix_length())) : std::nullopt;
}

class NetworkChecker {
 public:
  NetworkChecker(const Set& set, Reporter& reporter)
      : set_(set),
        networks_(primary_networks(set)),
        has_cluster_networks_(!set.of("k8s.ovn.org", "ClusterUserDefinedNetwork").empty()),
        reporter_(reporter) {
    for (const PrimaryNetwork& network : networks_)
      networked_.insert(network.namespaces.begin(), network.namespaces.end());
    for (const Object* ns : set.of("", "Namespace")) namespaces_.emplace(ns->name, ns);
    for (const Object* cluster : set.of("hypershift.openshift.io", "HostedCluster"))
      hosted_clusters_.emplace(cluster->ns, cluster);
  }

  void run() {
    for (const Object* ns : set_.of("", "Namespace")) check_namespace(*ns);
    for (const Object& object : set_.objects) {
      if (object.is("k8s.ovn.org", "UserDefinedNetwork")) check_fields(object, "/spec");
      if (object.is("k8s.ovn.org", "ClusterUserDefinedNetwork")) check_fields(object, "/spec/network");
      check_annotations(object);
    }
    std::map<std::string, const Object*> first;
    for (const PrimaryNetwork& network : networks_) {
      for (const std::string& ns : network.namespaces) check_in(network, ns, first);
      check_primary(network);
    }
  }

 private:
  void check_namespace(const Object& ns) {
    const bool is_labelled = ns.label(manifest::kPrimaryNetworkLabel) != nullptr;
    if (!is_labelled && ns.annotation(manifest::kPrimaryNetworkLabel) != nullptr)
      reporter_.add("udn-annotation", ns, "/metadata/annotations",
                    "this is an annotation, and OVN-Kubernetes looks for a label");
    // The selector of a cluster's network may hold what is not evaluated here.
    if (is_labelled && !networked_.contains(ns.name) && !has_cluster_networks_ && !ns.is_observed)
      reporter_.add("udn-missing", ns, "/metadata/labels", "no primary network of the set is for " + ns.name);
  }

  void check_in(const PrimaryNetwork& network, const std::string& ns, std::map<std::string, const Object*>& first) {
    const Object& object = *network.object;
    const auto [known, is_new] = first.emplace(ns, &object);
    const bool is_same = known->second->name == object.name && known->second->kind == object.kind;
    if (!is_new && !is_same)
      reporter_.add("udn-twice", object, "", ns + " has the primary network " + known->second->name + " already");
    const auto& global = manifest::kGlobalAttachmentNamespaces;
    const bool is_global = std::ranges::find(global, ns) != std::end(global);
    if (is_global || ns.starts_with("openshift-") || ns.starts_with("kube-"))
      reporter_.add("udn-namespace", object, "/metadata/namespace", ns + " can't have a primary network");
    for (auto [made, end] = namespaces_.equal_range(ns); made != end; ++made)
      if (made->second->label(manifest::kPrimaryNetworkLabel) == nullptr &&
          made->second->annotation(manifest::kPrimaryNetworkLabel) == nullptr)
        reporter_.add("udn-label-missing", *made->second, "/metadata/labels",
                      ns + " has the primary network " + object.name + " and not the label " +
                          std::string(manifest::kPrimaryNetworkLabel));
    if (set_.control_planes.contains(ns)) return;
    for (auto [cluster, end] = hosted_clusters_.equal_range(ns); cluster != end; ++cluster)
      reporter_.add(
          "udn-beside-hosted-cluster", object, "/metadata/namespace",
          "the control plane of " + cluster->second->name + " is in " + control_plane_namespace(*cluster->second));
  }

  void check_primary(const PrimaryNetwork& network) {
    const Object& object = *network.object;
    if (network.layer.ends_with("layer2") && object.at(network.layer + "/ipam/lifecycle") != "Persistent")
      reporter_.add("udn-not-persistent", object, network.layer + "/ipam", "addresses are not kept");
    for (const char* list : {"/subnets", "/joinSubnets"}) {
      const std::string pointer = network.layer + list;
      const std::vector<std::string> subnets = cidrs_of(object.find(pointer));
      for (std::size_t i = 0; i < subnets.size(); ++i)
        check_subnet(object, text::child(pointer, i), subnets[i], std::string_view(list) == "/joinSubnets");
    }
  }
  void check_subnet(const Object& object, const std::string& pointer, const std::string& text, bool is_join) {
    const auto subnet = network_of(text);
    if (!subnet) return reporter_.add("udn-refused", object, pointer, text + " is no network");
    for (const Range& range : kRanges) {
      // The join network may be named: it replaces the one that it is by default.
      if (is_join && std::string_view(range.owner).ends_with("of user-defined networks")) continue;
      if (subnet->overlaps(*parse_cidr(range.cidr)))
        return reporter_.add("udn-subnet", object, pointer, text + " overlaps " + range.cidr + ", " + range.owner);
    }
    for (const Object* cluster : set_.of("hypershift.openshift.io", "HostedCluster"))
      for (const char* list : {"/spec/networking/clusterNetwork", "/spec/networking/serviceNetwork"})
        for (const std::string& other : cidrs_of(cluster->find(list)))
          if (const auto cidr = network_of(other); cidr && subnet->overlaps(*cidr))
            return reporter_.add("udn-subnet", object, pointer, text + " overlaps " + other + " of " + cluster->name);
    for (const Object* config : set_.of("config.openshift.io", "Network"))
      for (const char* list : {"/spec/clusterNetwork", "/spec/serviceNetwork"})
        for (const std::string& other : cidrs_of(config->find(list)))
          if (const auto cidr = network_of(other); cidr && subnet->overlaps(*cidr))
            return reporter_.add("udn-subnet", object, pointer, text + " overlaps " + other + " of the cluster");
  }

  void refuse(const Object& object, const std::string& pointer, std::string message) {
    reporter_.add("udn-refused", object, pointer, std::move(message));
  }
  void check_fields(const Object& object, const std::string& spec) {
    const std::string topology = object.at(spec + "/topology");
    for (const auto& [name, field] :
         {std::pair{"Layer2", "/layer2"}, {"Layer3", "/layer3"}, {"Localnet", "/localnet"}}) {
      const bool is_there = object.find(spec + field) != nullptr;
      if (is_there != (topology == name))
        refuse(object, spec + (is_there ? field : "/topology"),
               is_there ? "the topology is " + topology + "; " + (field + 1) + " belongs to " + name
                        : std::string("the topology ") + name + " needs " + (field + 1));
    }
    if (topology == "Layer2") check_layer2(object, spec + "/layer2");
  }
  void check_layer2(const Object& object, const std::string& layer) {
    const std::vector<std::string> subnets = cidrs_of(object.find(layer + "/subnets"));
    const std::string mode = object.at(layer + "/ipam/mode"), lifecycle = object.at(layer + "/ipam/lifecycle");
    const bool is_primary = object.at(layer + "/role") == "Primary";
    if (mode == "Disabled" && is_primary) refuse(object, layer + "/ipam/mode", "a primary network has IPAM");
    if (mode == "Disabled" && !lifecycle.empty())
      refuse(object, layer + "/ipam/lifecycle", "there is nothing to keep without IPAM");
    if (mode == "Disabled" && !subnets.empty()) refuse(object, layer + "/subnets", "without IPAM there are no subnets");
    if (mode != "Disabled" && subnets.empty() && object.find(layer) != nullptr)
      refuse(object, layer + "/subnets", "with IPAM there have to be subnets");
    if (subnets.size() > 2) refuse(object, layer + "/subnets", "at most one subnet of each family");
    const auto is_v6 = [](const std::string& text) { return text.find(':') != std::string::npos; };
    if (subnets.size() == 2 && is_v6(subnets[0]) == is_v6(subnets[1]))
      refuse(object, layer + "/subnets", "two subnets have to be of two families");
    const std::string mtu = object.at(layer + "/mtu");
    const bool is_small = !mtu.empty() && (mtu.size() < 4 || (mtu.size() == 4 && mtu < "1280"));
    if (is_small && subnets.size() == 1 && is_v6(subnets[0]))
      refuse(object, layer + "/mtu", "IPv6 needs an MTU of 1280");
    for (const char* list : {"/reservedSubnets", "/infrastructureSubnets"}) check_parts(object, layer, list, subnets);
    if (const auto& gateways = items(object.find(layer + "/defaultGatewayIPs"));
        !gateways.empty() && gateways.size() != subnets.size())
      refuse(object, layer + "/defaultGatewayIPs", "one gateway for each subnet");
  }
  void check_parts(const Object& object, const std::string& layer, const char* list,
                   const std::vector<std::string>& subnets) {
    const std::vector<std::string> parts = cidrs_of(object.find(layer + list));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto part = parse_cidr(parts[i]);
      const bool is_inside =
          part && std::ranges::any_of(subnets, [&](const std::string& text) {
            const auto subnet = parse_cidr(text);
            return subnet && subnet->contains(part->network()) && subnet->prefix_length() <= part->prefix_length();
          });
      if (!is_inside) refuse(object, text::child(layer + list, i), parts[i] + " is no network inside of the subnets");
    }
  }

  void check_annotations(const Object& object) {
    for (const std::string& metadata : {std::string("/metadata"), std::string("/spec/template/metadata")}) {
      const Value* annotations = object.find(metadata + "/annotations");
      if (annotations == nullptr) continue;
      const std::string pointer = metadata + "/annotations";
      if (annotations->find("k8s.ovn.org/ovn-udn-ipamclaim-reference") != nullptr)
        reporter_.add("ipam-claim-annotation", object, pointer,
                      "nothing reads k8s.ovn.org/ovn-udn-ipamclaim-reference");
      if (annotations->find("k8s.ovn.org/primary-udn-ipamclaim") != nullptr && !object.is_observed)
        reporter_.add("ipam-claim-deprecated", object, pointer, "k8s.ovn.org/primary-udn-ipamclaim is deprecated");
      if (const Value* value = annotations->find("v1.multus-cni.io/default-network"))
        check_default_network(object, *value, text::child(pointer, "v1.multus-cni.io/default-network"), *annotations);
      if (const Value* value = annotations->find("k8s.ovn.org/open-default-ports"))
        check_open_ports(object, *value, text::child(pointer, "k8s.ovn.org/open-default-ports"));
    }
  }

  void check_default_network(const Object& object, const Value& value, const std::string& pointer,
                             const Value& annotations) {
    if (object.is_observed) return;
    const nlohmann::json elements = json_in(value.text);
    bool is_good = elements.is_array() && elements.size() == 1 && elements[0].is_object();
    if (is_good) {
      const std::string ns = elements[0].value("namespace", nlohmann::json("")).is_string()
                                 ? elements[0].value("namespace", nlohmann::json("")).get<std::string>()
                                 : std::string();
      is_good = elements[0].value("name", nlohmann::json()) == "default" &&
                (ns == "openshift-ovn-kubernetes" || ns == "ovn-kubernetes");
    }
    if (!is_good)
      reporter_.add("default-network-annotation", object, pointer,
                    "one element is needed, default in the namespace of OVN-Kubernetes");
    else if (annotations.find("kubevirt.io/domain") != nullptr)
      reporter_.add("default-network-annotation", object, pointer,
                    "a virt-launcher pod that comes with this is refused");
  }

  void check_open_ports(const Object& object, const Value& value, const std::string& pointer) {
    const text::Parsed parsed = text::parse_yaml({}, value.text);
    const bool is_list =
        parsed.complete && parsed.documents.size() == 1 && parsed.documents.front().type == text::ValueType::list;
    if (!is_list) return reporter_.add("open-default-ports", object, pointer, "this is no YAML list");
    for (const Value& entry : parsed.documents.front().items) {
      const std::string protocol = scalar(entry.find("protocol"));
      const bool is_known = protocol == "tcp" || protocol == "udp" || protocol == "sctp" || protocol == "icmp";
      const bool has_port = entry.find("port") != nullptr;
      if (!is_known)
        reporter_.add("open-default-ports", object, pointer, "'" + protocol + "' is none of tcp, udp, sctp, icmp");
      else if (has_port == (protocol == "icmp"))
        reporter_.add("open-default-ports", object, pointer,
                      protocol == "icmp" ? "icmp has no port" : protocol + " needs a port");
    }
  }

  const Set& set_;
  std::vector<PrimaryNetwork> networks_;
  bool has_cluster_networks_;
  Reporter& reporter_;
  std::set<std::string, std::less<>> networked_;  ///< namespaces that one of networks_ is for
  std::multimap<std::string_view, const Object*> namespaces_, hosted_clusters_;  ///< by name; by namespace
};

void check(const Set& set, const Options&, Reporter& reporter) {
  NetworkChecker(set, reporter).run();
}

}  // namespace

Family network_rules() {
  return {"User-defined networks", "Primary networks of OVN-Kubernetes, and annotations of their pods.", kRules, check};
}

}  // namespace hcpnet::lint
