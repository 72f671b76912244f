// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/manifest/network.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/to_json.hpp>
#include <nlohmann/json.hpp>

#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

using Json = nlohmann::json;
using text::Value;

constexpr Rule kRules[] = {
    {.id = "vm-bindings",
     .severity = Severity::error,
     .title = "a virtual machine's interface with no binding, or with two",
     .why = "KubeVirt refuses the machine: `must have exactly one binding`. With HyperShift the NodePool makes no "
            "machines, "
            "and its condition says so.",
     .fix = "One of `bridge`, `masquerade`, `sriov`, `passtBinding`, `binding`.",
     .source = "kubevirt pkg/network/admitter/binding.go",
     .wrong = R"(apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: machine, namespace: machines}
spec:
  template:
    spec:
      domain: {devices: {interfaces: [{name: default, bridge: {}, binding: {name: l2bridge}}]}}
      networks: [{name: default, pod: {}}]
)",
     .wrong_part = "bridge: {}, binding",
     .right_part = "binding"},
    {.id = "vm-primary-binding",
     .severity = Severity::error,
     .title = "a virtual machine on a primary network with a binding of the default network",
     .why = "`bridge` takes the wrong interface of the pod, and the machine has no address and no route; with "
            "`masquerade` "
            "it is behind an address of its own and loses its connections when it moves.",
     .fix = "`binding: {name: l2bridge}`, or `passtBinding: {}` where KubeVirt has it.",
     .source =
         "hyperconverged-cluster-operator controllers/handlers/kubevirt.go; kubevirt docs, network binding plugins",
     .wrong = R"(apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: machines, namespace: machines}
spec:
  topology: Layer2
  layer2: {role: Primary, subnets: ["10.150.0.0/16"], ipam: {lifecycle: Persistent}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: machine, namespace: machines}
spec:
  template:
    spec:
      domain: {devices: {interfaces: [{name: default, bridge: {}}]}}
      networks: [{name: default, pod: {}}]
)",
     .wrong_part = "bridge: {}}",
     .right_part = "binding: {name: l2bridge}}"},
    {.id = "vm-live-migration",
     .severity = Severity::error,
     .title = "a virtual machine with l2bridge and the annotation for bridge",
     .why = "`kubevirt.io/allow-pod-bridge-network-live-migration` has OVN-Kubernetes leave out the pod's addresses, "
            "because "
            "it moves `bridge` machines of the default network in its own way: the machine gets none. A machine on a "
            "primary network moves without it.",
     .fix = "Take the annotation out. With HyperShift 4.18 a JSON patch can't: its decoder keeps what was there.",
     .source = "ovn-kubernetes go-controller/pkg/cni/cni.go, pkg/kubevirt",
     .wrong = R"(apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: machine, namespace: machines}
spec:
  template:
    metadata:
      annotations: {kubevirt.io/allow-pod-bridge-network-live-migration: ""}
    spec:
      domain: {devices: {interfaces: [{name: default, binding: {name: l2bridge}}]}}
      networks: [{name: default, pod: {}}]
)",
     .wrong_part = "      annotations: {kubevirt.io/allow-pod-bridge-network-live-migration: \"\"}\n",
     .right_part = "      labels: {app: machine}\n"},
    {.id = "vm-addresses",
     .severity = Severity::error,
     .title = "an annotation for a machine's addresses that is not read, or not as it is meant",
     .why = "The webhook reads `network.kubevirt.io/addresses`, a JSON mapping of the network's name in the machine to "
            "bare "
            "addresses; it adds the prefix length itself. Another key is passed over, another form is refused.",
     .fix = "`network.kubevirt.io/addresses: '{\"default\": [\"10.150.0.42\"]}'`",
     .source = "kubevirt/ipam-extensions pkg/config/types.go",
     .wrong = R"(apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: machine, namespace: machines}
spec:
  template:
    metadata:
      annotations: {network.kubevirt.io/addresses: '{"default": ["10.150.0.42/16"]}'}
    spec:
      domain: {devices: {interfaces: [{name: default, binding: {name: l2bridge}}]}}
      networks: [{name: default, pod: {}}]
)",
     .wrong_part = "10.150.0.42/16",
     .right_part = "10.150.0.42"},
    {.id = "binding-registration",
     .severity = Severity::error,
     .title = "l2bridge, registered as something else",
     .why = "KubeVirt without the hyperconverged operator knows no `l2bridge` of itself. Registered with another "
            "attachment "
            "type the machine gets a device without an address, or none.",
     .fix = "`l2bridge: {domainAttachmentType: managedTap, migration: {}}`",
     .source = "hyperconverged-cluster-operator controllers/handlers/kubevirt.go",
     .wrong = R"(apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: kubevirt}
spec:
  configuration:
    network:
      binding:
        l2bridge: {domainAttachmentType: tap, migration: {}}
)",
     .wrong_part = "domainAttachmentType: tap",
     .right_part = "domainAttachmentType: managedTap"},
    {.id = "attachment-namespace",
     .severity = Severity::error,
     .title = "an attachment of a namespace that Multus does not share",
     .why = "OpenShift's Multus lets a pod use the attachments of its own namespace, and those of `default`, "
            "`openshift-multus`, `openshift-sriov-network-operator` and `openshift-cnv`. Any other: the machine's pod "
            "does "
            "not start.",
     .fix = "A copy of the attachment in the namespace of the pods; a hosted cluster's machines are in "
            "`NAMESPACE-NAME`.",
     .source = "cluster-network-operator bindata/network/multus/multus.yaml",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata: {name: blue, namespace: clusters}
spec:
  clusterName: blue
  platform: {type: KubeVirt, kubevirt: {additionalNetworks: [{name: networks/vlan100}]}}
)",
     .wrong_part = "name: networks/vlan100",
     .right_part = "name: default/vlan100"},
    {.id = "attachment-address",
     .severity = Severity::error,
     .title = "a static address of an interface in a form that is refused",
     .why = "The plugin that gives static addresses wants a list, and in it each address with its prefix length: the "
            "pod stays in ContainerCreating, with `invalid CIDR address` or because the annotation can't be read.",
     .fix = "`\"ips\": [\"192.168.100.3/24\"]`",
     .source = "containernetworking/plugins, ipam/static",
     .wrong = R"(apiVersion: v1
kind: Pod
metadata:
  name: proxy
  namespace: hcpnet
  annotations: {k8s.v1.cni.cncf.io/networks: '[{"name": "vlan100", "ips": ["192.168.100.3"]}]'}
spec: {containers: [{name: proxy, image: example.com/proxy@sha256:1f2e}]}
)",
     .wrong_part = "192.168.100.3\"",
     .right_part = "192.168.100.3/24\""},
    {.id = "node-pool-network",
     .severity = Severity::error,
     .title = "a NodePool whose machines have no network",
     .why = "HyperShift refuses it: `attachDefaultNetwork: false` with nothing beside it leaves the machine alone.",
     .fix = "`additionalNetworks`, or the default network.",
     .source = "openshift/hypershift hypershift-operator/controllers/nodepool/kubevirt",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata: {name: blue, namespace: clusters}
spec:
  clusterName: blue
  platform: {type: KubeVirt, kubevirt: {attachDefaultNetwork: false}}
)",
     .wrong_part = "{attachDefaultNetwork: false}",
     .right_part = "{attachDefaultNetwork: false, additionalNetworks: [{name: default/vlan100}]}"},
    {.id = "vm-patch-syntax",
     .severity = Severity::error,
     .title = "a patch of machines that is no JSON",
     .why = "The webhook and the NodePool's controller read JSON and no YAML: the HostedCluster is refused, or the "
            "NodePool "
            "makes no machines.",
     .fix = "A JSON list in the string. `hcpnet patch --mode hypershift` shows what HyperShift makes of it.",
     .source = "openshift/hypershift hypershift-operator/controllers/hostedcluster/hostedcluster_webhook.go",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata:
  name: blue
  namespace: clusters
  annotations:
    hypershift.openshift.io/kubevirt-vm-jsonpatch: |
      - {op: add, path: /spec/template/spec/domain/devices/interfaces/0/model, value: virtio}
spec: {clusterName: blue, platform: {type: KubeVirt}}
)",
     .wrong_part = "- {op: add, path: /spec/template/spec/domain/devices/interfaces/0/model, value: virtio}",
     .right_part = "[{\"op\": \"add\", \"path\": \"/spec/template/spec/domain/devices/interfaces/0/model\", \"value\": "
                   "\"virtio\"}]"},
    {.id = "vm-patch-refused",
     .severity = Severity::error,
     .title = "a patch of machines that HyperShift can't apply",
     .why =
         "The NodePool makes no machines and says so in a condition. Paths begin at the template that HyperShift has, "
         "`/spec/template/spec/...`, and every operation but `remove` needs a value.",
     .fix = "What the message says. `hcpnet patch --mode hypershift` shows what HyperShift makes of it.",
     .source = "openshift/hypershift hypershift-operator/controllers/nodepool/kubevirt/kubevirt.go applyJsonPatches",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata:
  name: blue
  namespace: clusters
  annotations:
    hypershift.openshift.io/kubevirt-vm-jsonpatch: |
      [{"op": "remove", "path": "/spec/domain/devices/interfaces/0/bridge"}]
spec: {clusterName: blue, platform: {type: KubeVirt}}
)",
     .wrong_part = "{\"op\": \"remove\", \"path\": \"/spec/domain/devices/interfaces/0/bridge\"}",
     .right_part = "{\"op\": \"add\", \"path\": \"/spec/template/spec/domain/devices/interfaces/0/model\", \"value\": "
                   "\"virtio\"}"},
    {.id = "vm-patch-bindings",
     .severity = Severity::error,
     .title = "a patch after which an interface has no binding, or two",
     .why = "HyperShift's template has `bridge`; a second binding beside it has KubeVirt refuse every machine.",
     .fix = "`{\"op\": \"replace\", \"path\": \".../interfaces/0/bridge\", \"value\": null}` before the one that adds "
            "`binding`.",
     .source = "openshift/hypershift nodepool/kubevirt/kubevirt.go; kubevirt pkg/network/admitter/binding.go",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata:
  name: blue
  namespace: clusters
  annotations:
    hypershift.openshift.io/kubevirt-vm-jsonpatch: |
      [{"op": "add", "path": "/spec/template/spec/domain/devices/interfaces/0/binding", "value": {"name": "l2bridge"}},
       {"op": "remove", "path": "/spec/template/metadata/annotations/kubevirt.io~1allow-pod-bridge-network-live-migration"}]
spec: {clusterName: blue, platform: {type: KubeVirt}}
)",
     .wrong_part = "      [{\"op\": \"add\"",
     .right_part = "      [{\"op\": \"replace\", \"path\": \"/spec/template/spec/domain/devices/interfaces/0/bridge\", "
                   "\"value\": null},\n       {\"op\": \"add\""},
    {.id = "vm-patch-live-migration",
     .severity = Severity::error,
     .title = "a patch to l2bridge that leaves the annotation for bridge",
     .why = "With `kubevirt.io/allow-pod-bridge-network-live-migration` OVN-Kubernetes leaves out the pod's addresses "
            "(`vm-live-migration`). HyperShift before 4.19 keeps it even where the patch removes it.",
     .fix =
         "`{\"op\": \"remove\", \"path\": "
         "\"/spec/template/metadata/annotations/kubevirt.io~1allow-pod-bridge-network-live-migration\"}`, and 4.19 or "
         "later.",
     .source = "openshift/hypershift nodepool/kubevirt/kubevirt.go, OCPBUGS-58299",
     .wrong = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata:
  name: blue
  namespace: clusters
  annotations:
    hypershift.openshift.io/kubevirt-vm-jsonpatch: |
      [{"op": "replace", "path": "/spec/template/spec/domain/devices/interfaces/0/bridge", "value": null},
       {"op": "add", "path": "/spec/template/spec/domain/devices/interfaces/0/binding", "value": {"name": "l2bridge"}},
       {"op": "remove", "path": "/spec/template/metadata/annotations/kubevirt.io~1allow-pod-bridge-network-live-migration"}]
spec:
  clusterName: blue
  platform: {type: KubeVirt}
  release: {image: "quay.io/openshift-release-dev/ocp-release:4.18.3-multi"}
)",
     .wrong_part = "ocp-release:4.18.3-multi",
     .right_part = "ocp-release:4.19.1-multi"},
};

/// With those that newer releases of KubeVirt have no more.
constexpr std::array<std::string_view, 8> kBindings{"bridge",  "masquerade", "sriov",   "passtBinding",
                                                    "binding", "slirp",      "macvtap", "passt"};

std::size_t bindings_of(const Json& interface) {
  return static_cast<std::size_t>(std::ranges::count_if(kBindings, [&](std::string_view name) {
    const auto found = interface.find(name);
    return found != interface.end() && !found->is_null();
  }));
}

/// {metadata, spec} of the machines that HyperShift makes for a NodePool, as far as networks go:
/// nodepool/kubevirt/kubevirt.go virtualMachineTemplateBase.
Json template_for(const Object& object) {
  Json interfaces = Json::array(), networks = Json::array();
  const Value* attaches = object.find("/spec/platform/kubevirt/attachDefaultNetwork");
  const bool has_default = attaches == nullptr || is_true(attaches);
  if (has_default) {
    interfaces.push_back({{"name", "default"}, {"bridge", Json::object()}});
    networks.push_back({{"name", "default"}, {"pod", Json::object()}});
  }
  std::size_t number = 0;
  for (const Value& network : items(object.find("/spec/platform/kubevirt/additionalNetworks"))) {
    std::string name = scalar(network.find("name"));
    networks.push_back({{"multus", {{"networkName", name}}}});
    std::ranges::replace(name, '/', '-');
    name = "iface" + std::to_string(++number) + '_' + name;
    networks.back()["name"] = name;
    interfaces.push_back({{"name", name}, {"bridge", Json::object()}});
  }
  Json annotations = Json::object();
  if (has_default) annotations[manifest::kBridgeMigrationAnnotation] = "";
  return {{"metadata", {{"labels", Json::object()}}},
          {"spec",
           {{"runStrategy", "Always"},
            {"template",
             {{"metadata", {{"annotations", annotations}, {"labels", Json::object()}}},
              {"spec",
               {{"domain", {{"devices", {{"interfaces", interfaces}, {"disks", Json::array()}}}}},
                {"networks", networks}}}}}}}};
}

/// 4.18 of ".../ocp-release:4.18.3-multi".
std::optional<text::Release> release_of(const std::string& image) {
  const std::size_t colon = image.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string tag = image.substr(colon + 1);
  const std::size_t first = tag.find('.');
  if (first == std::string::npos) return std::nullopt;
  return text::parse_release(tag.substr(0, std::min(tag.find_first_not_of("0123456789", first + 1), tag.size())));
}

class MachineChecker {
 public:
  MachineChecker(const Set& set, Reporter& reporter) : set_(set), reporter_(reporter) {}

  void run() {
    for (const Object& object : set_.objects) {
      if (object.is("kubevirt.io", "VirtualMachine"))
        check_machine(object, "/spec/template/metadata", "/spec/template/spec");
      if (object.is("kubevirt.io", "VirtualMachineInstance")) check_machine(object, "/metadata", "/spec");
      if (object.is("kubevirt.io", "KubeVirt")) check_registration(object);
      if (object.is("hypershift.openshift.io", "NodePool")) check_node_pool(object);
      if (const Value* patch = object.annotation(manifest::kVmPatchAnnotation)) check_patch(object, *patch);
      for (const char* metadata : {"/metadata/annotations", "/spec/template/metadata/annotations"})
        check_attachments(object, metadata);
    }
  }

 private:
  void check_machine(const Object& object, const std::string& metadata, const std::string& spec) {
    const std::string list = spec + "/domain/devices/interfaces";
    const std::vector<Value>& interfaces = items(object.find(list));
    bool has_l2bridge = false;
    for (std::size_t i = 0; i < interfaces.size(); ++i) {
      const std::string pointer = text::child(list, i);
      const auto count =
          std::ranges::count_if(kBindings, [&](std::string_view name) { return interfaces[i].find(name) != nullptr; });
      if (count != 1)
        reporter_.add("vm-bindings", object, pointer,
                      count == 0 ? "this interface has no binding" : "this interface has two bindings");
      const std::string plugin = scalar(text::find(interfaces[i], "/binding/name"));
      has_l2bridge = has_l2bridge || plugin == "l2bridge";
      const bool is_good = plugin == "l2bridge" || plugin == "passt" || interfaces[i].find("passtBinding") != nullptr;
      if (count == 1 && !is_good && is_on_pod_network(object, spec, scalar(interfaces[i].find("name"))) &&
          set_.primary_namespaces.contains(object.ns))
        reporter_.add("vm-primary-binding", object, pointer,
                      object.ns + " has a primary network, and this binding is of the default one");
    }
    const Value* annotations = object.find(metadata + "/annotations");
    if (annotations == nullptr) return;
    if (has_l2bridge && annotations->find(manifest::kBridgeMigrationAnnotation) != nullptr)
      reporter_.add("vm-live-migration", object, metadata + "/annotations",
                    "with this annotation the machine gets no address");
    if (annotations->find("network.kubevirt.io/ip-addresses") != nullptr)
      reporter_.add("vm-addresses", object, metadata + "/annotations",
                    "nothing reads network.kubevirt.io/ip-addresses; it is called network.kubevirt.io/addresses");
    if (const Value* addresses = annotations->find("network.kubevirt.io/addresses");
        addresses != nullptr && !are_addresses(addresses->text))
      reporter_.add("vm-addresses", object, text::child(metadata + "/annotations", "network.kubevirt.io/addresses"),
                    "a JSON mapping to lists of bare addresses is needed");
    for (const Value& network : items(object.find(spec + "/networks")))
      check_attachment(object, object.ns, scalar(text::find(network, "/multus/networkName")), spec + "/networks");
  }

  bool is_on_pod_network(const Object& object, const std::string& spec, const std::string& name) const {
    const auto& networks = items(object.find(spec + "/networks"));
    return std::ranges::any_of(networks, [&](const Value& network) {
      return scalar(network.find("name")) == name && network.find("pod") != nullptr;
    });
  }

  static bool are_addresses(const std::string& text) {
    const Json parsed = json_in(text);
    return parsed.is_object() && std::ranges::all_of(parsed, [](const Json& list) {
             return list.is_array() && std::ranges::all_of(list, [](const Json& address) {
                      return address.is_string() && parse_ip_address(address.get_ref<const std::string&>());
                    });
           });
  }

  void check_registration(const Object& object) {
    const std::string pointer = "/spec/configuration/network/binding/l2bridge";
    if (object.find(pointer) == nullptr) return;
    if (const std::string type = object.at(pointer + "/domainAttachmentType"); type != "managedTap")
      reporter_.add("binding-registration", object, pointer,
                    "the attachment type is " + (type.empty() ? "absent" : type));
  }

  void check_attachment(const Object& object, const std::string& ns, const std::string& name,
                        const std::string& pointer) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos || ns.empty()) return;
    if (!manifest::may_use_attachment(ns, name.substr(0, slash)))
      reporter_.add("attachment-namespace", object, pointer,
                    "pods of " + ns + " may not use " + name + " on OpenShift");
  }

  void check_node_pool(const Object& object) {
    const std::string pointer = "/spec/platform/kubevirt/additionalNetworks";
    const Value* attaches = object.find("/spec/platform/kubevirt/attachDefaultNetwork");
    const std::vector<Value>& networks = items(object.find(pointer));
    if (attaches != nullptr && !is_true(attaches) && networks.empty())
      reporter_.add("node-pool-network", object, "/spec/platform/kubevirt/attachDefaultNetwork",
                    "there is no other network");
    std::string cluster = object.at("/spec/clusterName");
    std::ranges::replace(cluster, '.', '-');
    for (std::size_t i = 0; i < networks.size(); ++i)
      check_attachment(object, cluster.empty() ? std::string() : object.ns + '-' + cluster,
                       scalar(networks[i].find("name")), text::child(pointer, i));
  }

  void check_attachments(const Object& object, const std::string& annotations) {
    const Value* map = object.find(annotations);
    const Value* value = map == nullptr ? nullptr : map->find("k8s.v1.cni.cncf.io/networks");
    if (value == nullptr || object.is_observed) return;
    const std::string pointer = text::child(annotations, "k8s.v1.cni.cncf.io/networks");
    const Json list = json_in(value->text);
    if (!list.is_array()) return;  // the short form, "namespace/name,..."
    for (const Json& element : list) {
      if (!element.is_object()) continue;
      const auto text_at = [&](const char* key) {
        const auto found = element.find(key);
        return found != element.end() && found->is_string() ? found->get<std::string>() : std::string();
      };
      if (const std::string ns = text_at("namespace"); !ns.empty())
        check_attachment(object, object.ns, ns + '/' + text_at("name"), pointer);
      const auto addresses = element.find("ips");
      if (addresses == element.end() || addresses->is_null()) continue;
      if (!addresses->is_array()) {
        reporter_.add("attachment-address", object, pointer, "the value of ips is no list");
        continue;
      }
      for (const Json& address : *addresses)
        if (address.is_string() && address.get_ref<const std::string&>().find('/') == std::string::npos)
          reporter_.add("attachment-address", object, pointer, address.get<std::string>() + " has no prefix length");
    }
  }

  void check_patch(const Object& object, const Value& annotation) {
    const std::string pointer = text::child(std::string_view("/metadata/annotations"), manifest::kVmPatchAnnotation);
    const Json patch = json_in(annotation.text);
    if (!patch.is_array())
      return reporter_.add("vm-patch-syntax", object, pointer, "a JSON list is needed, and this is none");
    const auto result = text::apply_hypershift_patches(template_for(object), std::span(&patch, 1),
                                                       release_of(object.at("/spec/release/image")));
    if (!result) return reporter_.add("vm-patch-refused", object, pointer, result.error().to_string());
    check_patched(object, pointer, result->object);
  }

  void check_patched(const Object& object, const std::string& pointer, const Json& machine) {
    const Json::json_pointer interfaces("/spec/template/spec/domain/devices/interfaces");
    const Json::json_pointer annotations("/spec/template/metadata/annotations");
    if (!machine.contains(interfaces) || !machine.at(interfaces).is_array()) return;
    bool has_l2bridge = false;
    for (const Json& interface : machine.at(interfaces)) {
      if (!interface.is_object()) continue;
      const std::size_t count = bindings_of(interface);
      if (count != 1)
        reporter_.add("vm-patch-bindings", object, pointer,
                      "after the patch an interface has " + std::string(count == 0 ? "no binding" : "two bindings"));
      const auto binding = interface.find("binding");
      has_l2bridge = has_l2bridge || (binding != interface.end() && binding->is_object() &&
                                      binding->value("name", Json()) == "l2bridge");
    }
    if (has_l2bridge && machine.contains(annotations) &&
        machine.at(annotations).contains(manifest::kBridgeMigrationAnnotation))
      reporter_.add("vm-patch-live-migration", object, pointer,
                    "after the patch the machine still has " + std::string(manifest::kBridgeMigrationAnnotation));
  }

  const Set& set_;
  Reporter& reporter_;
};

void check(const Set& set, const Options&, Reporter& reporter) {
  MachineChecker(set, reporter).run();
}

}  // namespace

Family machine_rules() {
  return {"Virtual machines and NodePools", "KubeVirt's machines, HyperShift's NodePools, attachments.", kRules, check};
}

}  // namespace hcpnet::lint
