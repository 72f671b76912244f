// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <set>
#include <utility>

#include "manifest/udn.hpp"
#include "spec/format.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

const std::string kReference = "/spec/hostedClusterRef";
constexpr const char* kInfraIdLabel = "hypershift.openshift.io/infra-id";

/// What is somebody else's object: its name and the fields that a server-side apply adds to it, without labels of ours.
Json foreign(const char* version, const char* kind, const std::string& name, const std::string& ns) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", ns}}}};
}

Json hypershift_object(const char* kind, const std::string& name, const std::string& ns) {
  return foreign("hypershift.openshift.io/v1beta1", kind, name, ns);
}

std::pair<std::string, std::string> split_key(const std::string& key) {
  const std::size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

const spec::ValidHostedCluster* UdnBuilder::hosted_cluster() const {
  const auto found = std::ranges::find(set_.hosted_clusters, udn_.hosted_cluster,
                                       [](const spec::ValidHostedCluster& c) { return c.metadata.key(); });
  return found == set_.hosted_clusters.end() ? nullptr : &*found;
}

void UdnBuilder::add_hosted_cluster() {
  add_vm_patch();
  add_node_pools();
  add_dns_policy();
  add_etcd_policy();
  add_slice_role();
  add_image_overrides();
  check_machine_network();
}

void UdnBuilder::check_attachments(const std::string& list, const std::vector<std::string>& references) {
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::size_t slash = references[i].find('/');
    if (slash == std::string::npos || may_use_attachment(udn_.namespaces.front(), references[i].substr(0, slash)))
      continue;
    warn(text::child(list, i), "attachment-namespace",
         "OpenShift's Multus lets pods use network attachments of their own namespace, default, openshift-multus, "
         "openshift-sriov-network-operator and openshift-cnv only");
  }
}

/// The annotation is JSON: HyperShift reads nothing else.
void UdnBuilder::add_vm_patch() {
  const spec::UdnHostedCluster& reference = *udn_.spec.hosted_cluster;
  std::optional<text::Release> release;
  if (reference.release) release = text::Release{4, spec::parse_release_minor(*reference.release).value()};
  const std::string annotation(kVmPatchAnnotation);
  const spec::ValidHostedCluster* cluster = hosted_cluster();
  Json patch = hypershift_vm_patch(udn_.spec.binding);
  bool is_there = false;
  if (cluster != nullptr && cluster->metadata.annotations.contains(annotation)) {
    patch = Json::parse(cluster->metadata.annotations.at(annotation), nullptr, false);
    is_there = true;
  }
  const VmPatchCheck check = patch.is_discarded()
                                 ? VmPatchCheck{"it is no JSON, and HyperShift reads nothing else", {}}
                                 : check_vm_patch(patch, udn_.spec.binding, reference.additional_networks, release);
  if (!check.problem.empty())
    return complain(Severity::error, kReference + "/name", "patch-taken",
                    "the HostedCluster has an annotation " + annotation +
                        " already, and it is not what the network needs: " + check.problem + "; add to it " +
                        hypershift_vm_patch(udn_.spec.binding).dump());
  for (const std::string& pointer : check.kept)
    warn(kReference + "/release", "annotation-kept",
         "HyperShift of this release keeps " + pointer +
             " in spite of the patch, and with it OVN-Kubernetes gives the machine no addresses; it needs 4.19 or "
             "later");
  if (is_there) return;
  const auto [ns, name] = split_key(udn_.hosted_cluster);
  Json json = hypershift_object("HostedCluster", name, ns);
  json["metadata"]["annotations"][annotation] = patch.dump();
  out_.push_back(std::move(json));
}

void UdnBuilder::add_node_pools() {
  const spec::UdnHostedCluster& reference = *udn_.spec.hosted_cluster;
  check_attachments(kReference + "/additionalNetworks", reference.additional_networks);
  for (const std::string& name : reference.node_pools) {
    Json json = hypershift_object("NodePool", name, split_key(udn_.hosted_cluster).first);
    Json kubevirt = {{"attachDefaultNetwork", true}};  // the pod network is what the primary network is to a machine
    for (const std::string& network : reference.additional_networks)
      kubevirt["additionalNetworks"].push_back({{"name", network}});
    json["spec"] = {{"platform", {{"type", "KubeVirt"}, {"kubevirt", std::move(kubevirt)}}}};
    out_.push_back(std::move(json));
  }
}

/// HyperShift's own policy for the machines forbids the management cluster's service network. On a primary network the
/// address of the DNS Service is what a policy sees, so neither that policy's pod selectors nor anything but an address
/// can allow it. Policies add up: this one leaves HyperShift's as it is, and opens nothing but DNS.
void UdnBuilder::add_dns_policy() {
  std::optional<std::string> infra_id = udn_.spec.hosted_cluster->infra_id;
  if (const spec::ValidHostedCluster* cluster = hosted_cluster(); !infra_id && cluster != nullptr)
    infra_id = cluster->spec.infra_id;
  Json selector = {{"matchLabels", {{"kubevirt.io", "virt-launcher"}}}};
  if (infra_id && !infra_id->empty())
    selector["matchLabels"][kInfraIdLabel] = *infra_id;
  else  // the namespace has the machines of one hosted cluster
    selector["matchExpressions"] = Json::array({{{"key", kInfraIdLabel}, {"operator", "Exists"}}});
  Json to = Json::array();
  for (const IpAddress& address : udn_.dns_addresses)
    to.push_back({{"ipBlock", {{"cidr", Cidr(address, address.is_v4() ? 32 : 128).to_string()}}}});
  Json json = make_object("networking.k8s.io/v1", "NetworkPolicy", "hcpnet-virt-launcher-dns", udn_.namespaces.front());
  json["spec"] = {{"podSelector", std::move(selector)},
                  {"policyTypes", Json::array({"Egress"})},
                  {"egress", Json::array({{{"to", std::move(to)},
                                           {"ports", Json::array({{{"protocol", "UDP"}, {"port", 53}},
                                                                  {{"protocol", "TCP"}, {"port", 53}}})}}})}};
  out_.push_back(std::move(json));
}

/// etcd listens on its pod's address on the default network, where no pod of a primary network reaches it. HyperShift
/// writes the StatefulSet anew all the time, so the pods are changed as they are made.
void UdnBuilder::add_etcd_policy() {
  if (options_.without.contains("MutatingAdmissionPolicy")) return;
  const spec::ValidHostedCluster* cluster = hosted_cluster();
  if (cluster != nullptr && cluster->spec.etcd_management == "Unmanaged") return;
  // "::" takes IPv4 too. Nothing may stand beside an unspecified address: localhost would be bound twice.
  const std::string every = has_ipv6() ? "[::]" : "0.0.0.0";
  const auto variable = [&](const char* name, const char* port) {
    return std::string("Object.spec.containers.env{name: \"") + name + "\", value: \"https://" + every + ':' + port +
           "\"}";
  };
  const std::string expression = "Object{spec: Object.spec{containers: [Object.spec.containers{name: \"etcd\", env: [" +
                                 variable("ETCD_LISTEN_CLIENT_URLS", "2379") + ", " +
                                 variable("ETCD_LISTEN_PEER_URLS", "2380") + "]}]}}";
  const std::string version = "admissionregistration.k8s.io/" + options_.admission_version;
  const std::string name = cut_name("hcpnet-etcd-" + udn_.namespaces.front(), {}, kMaxNameBytes);
  const auto exists = [](std::string_view key) { return Json{{"key", key}, {"operator", "Exists"}}; };
  Json policy = make_object(version.c_str(), "MutatingAdmissionPolicy", name, {});
  policy["spec"] = {
      // A policy that is passed over leaves an etcd that nobody reaches, and nobody is told.
      {"failurePolicy", "Fail"},
      {"reinvocationPolicy", "Never"},
      {"matchConstraints",
       {{"matchPolicy", "Equivalent"},
        {"namespaceSelector",
         {{"matchLabels", {{"kubernetes.io/metadata.name", udn_.namespaces.front()}}},
          {"matchExpressions",
           Json::array({exists(kPrimaryNetworkLabel), exists("hypershift.openshift.io/hosted-control-plane")})}}},
        {"objectSelector", {{"matchLabels", {{"app", "etcd"}}}}},
        {"resourceRules", Json::array({{{"apiGroups", Json::array({""})},
                                        {"apiVersions", Json::array({"v1"})},
                                        {"operations", Json::array({"CREATE"})},
                                        {"resources", Json::array({"pods"})},
                                        {"scope", "*"}}})}}},
      {"mutations",
       Json::array({{{"patchType", "ApplyConfiguration"}, {"applyConfiguration", {{"expression", expression}}}}})}};
  Json binding = make_object(version.c_str(), "MutatingAdmissionPolicyBinding", name, {});
  binding["spec"] = {{"policyName", name}};
  out_.push_back(std::move(policy));
  out_.push_back(std::move(binding));
}

/// For whoever does what reconcile::make_plan() says of slices; nobody has it until a binding names him. It takes no
/// `endpointslices/restricted`: OpenShift asks for that where a slice gets an address of the cluster's own pod or
/// service network, and a primary network overlaps neither. It takes `services/finalizers`, for which OpenShift asks
/// because a slice keeps its Service until it is gone itself (blockOwnerDeletion).
void UdnBuilder::add_slice_role() {
  const auto rule = [](const char* group, std::vector<std::string> resources, std::vector<std::string> verbs) {
    return Json{{"apiGroups", Json::array({group})}, {"resources", std::move(resources)}, {"verbs", std::move(verbs)}};
  };
  const std::vector<std::string> read{"get", "list", "watch"};
  Json json = make_object("rbac.authorization.k8s.io/v1", "Role", "hcpnet-endpointslices", udn_.namespaces.front());
  json["rules"] = Json::array(
      {rule("discovery.k8s.io", {"endpointslices"}, {"get", "list", "watch", "create", "update", "patch", "delete"}),
       rule("", {"services/finalizers"}, {"update"}), rule("", {"pods", "services"}, read),
       rule("kubevirt.io", {"virtualmachineinstances"}, read), rule("cluster.x-k8s.io", {"machines"}, read)});
  out_.push_back(std::move(json));
}

void UdnBuilder::add_image_overrides() {
  const spec::UdnImageOverrides& images = udn_.spec.hosted_cluster->image_overrides;
  const std::string pointer = kReference + "/imageOverrides";
  const auto note = [&](const char* field) {
    warn(pointer + '/' + field, "image-override",
         "hcpnet needs no image but HyperShift's own, and HyperShift supports no other: it does not survive an upgrade "
         "of HyperShift");
  };
  const auto [ns, name] = split_key(udn_.hosted_cluster);
  Json annotations = Json::object();
  if (images.control_plane_operator) {
    note("controlPlaneOperator");
    annotations["hypershift.openshift.io/control-plane-operator-image"] = *images.control_plane_operator;
  }
  if (images.capi_provider_kubevirt) {
    note("capiProviderKubevirt");
    annotations["hypershift.openshift.io/capi-provider-kubevirt-image"] = *images.capi_provider_kubevirt;
  }
  if (!annotations.empty()) {
    const auto is_cluster = [&](const Json& object) {
      return object["kind"] == "HostedCluster" && object["metadata"]["name"] == name &&
             object["metadata"]["namespace"] == ns;
    };
    auto cluster = std::ranges::find_if(out_, is_cluster);
    if (cluster == out_.end()) cluster = out_.insert(out_.end(), hypershift_object("HostedCluster", name, ns));
    (*cluster)["metadata"]["annotations"].update(annotations);
  }
  if (!images.hypershift_operator && !images.default_capi_provider_kubevirt) return;
  Json container = {{"name", "operator"}};  // by name: the pod has other containers
  if (images.hypershift_operator) {
    note("hypershiftOperator");
    container["image"] = *images.hypershift_operator;
  }
  if (images.default_capi_provider_kubevirt) {
    note("defaultCAPIProviderKubevirt");
    container["env"] =
        Json::array({{{"name", "IMAGE_KUBEVIRT_CAPI_PROVIDER"}, {"value", *images.default_capi_provider_kubevirt}}});
  }
  Json json = foreign("apps/v1", "Deployment", "operator", "hypershift");
  json["spec"] = {{"template", {{"spec", {{"containers", Json::array({std::move(container)})}}}}}};
  out_.push_back(std::move(json));
}

/// HyperShift tells the guest of its machines' network by this list, and nobody can change it later.
void UdnBuilder::check_machine_network() {
  const spec::ValidHostedCluster* cluster = hosted_cluster();
  if (cluster == nullptr) return;
  std::set<Cidr> named;
  for (const std::string& text : cluster->spec.networking.machine) named.insert(parse_cidr(text).value());
  for (const Cidr& subnet : udn_.subnets)
    if (!named.contains(subnet))
      warn(kReference + "/name", "machine-network",
           "spec.networking.machineNetwork of the HostedCluster does not name " + subnet.to_string() +
               ", where its machines are; it can't be changed once the cluster is there");
}

}  // namespace hcpnet::manifest
