// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <map>

#include "support/files.hpp"

// Fields by their upstream sources, beside the golden files: tests/cpp/data/manifest/SOURCES.md names them.
namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string read(const std::string& name) {
  return test::read_file(test::data_path("manifest/udn/" + name));
}

Result<Built, Diagnostics> build_text(const std::string& text, const std::string& observed_text = {},
                                      const BuildOptions& options = {}) {
  Diagnostics warnings;
  spec::Observed observed;
  if (!observed_text.empty()) observed = spec::load_observed({{"observed.yaml", observed_text}}, {}, warnings).value();
  return build(spec::check({{"udn.yaml", text}}, {}, spec::KindSet::names).value(), observed, options);
}

Built build_file(const std::string& name, const std::string& observed = {}) {
  return build_text(read(name), observed.empty() ? "" : read(observed)).value();
}

std::vector<std::string> warnings_of(const Built& built) {
  std::vector<std::string> list;
  for (const Diagnostic& d : built.warnings) list.push_back(d.code + ' ' + d.path);
  return list;
}

/// The objects of a kind, in order.
std::vector<Json> all(const Built& built, const std::string& kind) {
  std::vector<Json> found;
  for (const Json& object : built.objects)
    if (object["kind"] == kind) found.push_back(object);
  return found;
}
Json one(const Built& built, const std::string& kind) {
  const auto found = all(built, kind);
  EXPECT_EQ(found.size(), 1U) << kind;
  return found.empty() ? Json() : found.front();
}

class UdnGolden : public testing::TestWithParam<const char*> {};

/// HCPNET_UPDATE_GOLDEN=1 writes the files anew.
TEST_P(UdnGolden, ObjectsAreAsReviewed) {
  const std::string name = GetParam();
  const auto path = test::data_path("manifest/udn/" + name + ".golden.yaml");
  const Built built = build_file(name + ".yaml", name == "machines" ? "machines-observed.yaml" : "");
  const std::string text = "# Upstream sources of what this shows: tests/cpp/data/manifest/SOURCES.md\n" +
                           text::render_yaml_documents(built.objects);
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}
INSTANTIATE_TEST_SUITE_P(EveryFile, UdnGolden, testing::Values("hosted", "machines", "cluster"),
                         [](const auto& file) { return std::string(file.param); });

// go-controller/pkg/types/const.go: RequiredUDNNamespaceLabel. A label, since annotations are not looked at.
TEST(Udn, NamespaceHasTheLabelFromTheBeginning) {
  const Built built = build_file("hosted.yaml");
  const Json ns = built.objects.front();
  EXPECT_EQ(ns["kind"], "Namespace") << "before anything that is in it";
  EXPECT_EQ(ns["metadata"]["name"], "clusters-blue");
  EXPECT_EQ(ns["metadata"]["labels"]["k8s.ovn.org/primary-user-defined-network"], "");
  EXPECT_FALSE(ns["metadata"].contains("annotations"));
}

TEST(Udn, Layer2HasEveryFieldInItsCanonicalForm) {
  const Json udn = one(build_file("hosted.yaml"), "UserDefinedNetwork");
  EXPECT_EQ(udn["apiVersion"], "k8s.ovn.org/v1");
  EXPECT_EQ(udn["metadata"]["namespace"], "clusters-blue");
  EXPECT_EQ(udn["spec"], Json::parse(R"({"topology": "Layer2", "layer2": {
    "role": "Primary", "mtu": 1400, "subnets": ["10.150.0.0/16", "2001:db8:150::/64"],
    "reservedSubnets": ["10.150.255.0/24"], "infrastructureSubnets": ["10.150.254.0/28", "2001:db8:150::f0/124"],
    "defaultGatewayIPs": ["10.150.254.1", "2001:db8:150::f1"], "joinSubnets": ["100.70.0.0/16", "fd70::/64"],
    "ipam": {"mode": "Enabled", "lifecycle": "Persistent"}}})"));
}

TEST(Udn, ClusterScopedNetworksSelectTheirNamespacesAndAreAdvertised) {
  const Built built = build_file("cluster.yaml");
  const auto networks = all(built, "ClusterUserDefinedNetwork");
  const auto routes = all(built, "RouteAdvertisements");
  ASSERT_EQ(networks.size(), 2U);
  ASSERT_EQ(routes.size(), 2U);
  const Json& routed = networks[1];
  EXPECT_EQ(routed["metadata"]["name"], "routed-net");
  EXPECT_FALSE(routed["metadata"].contains("namespace"));
  EXPECT_EQ(routed["spec"]["uplinks"], Json::array({"br-ex"}));
  EXPECT_EQ(routed["spec"]["namespaceSelector"]["matchExpressions"][0]["values"], Json::array({"one", "two"}));
  EXPECT_EQ(routed["spec"]["network"]["noOverlay"],
            Json::parse(R"({"outboundSNAT": "Disabled", "routing": "Managed"})"));
  EXPECT_EQ(networks[0]["spec"]["network"]["evpn"]["macVRF"],
            Json::parse(R"({"vni": 100, "routeTarget": "64512:100"})"));
  for (std::size_t i = 0; i < 2; ++i) {
    const Json selector =
        routes[i]["spec"]["networkSelectors"][0]["clusterUserDefinedNetworkSelector"]["networkSelector"];
    for (const auto& [key, value] : selector["matchLabels"].items())
      EXPECT_EQ(networks[i]["metadata"]["labels"][key], value) << "the network that is meant carries the label";
    EXPECT_EQ(routes[i]["spec"]["networkSelectors"][0]["networkSelectionType"], "ClusterUserDefinedNetworks");
  }
  EXPECT_EQ(routes[0]["spec"]["advertisements"], Json::array({"EgressIP"}));
  EXPECT_EQ(routes[1]["spec"]["nodeSelector"], Json::object()) << "with the pod network every node advertises";
  EXPECT_EQ(all(built, "Namespace").size(), 3U);
}

// HCP-08, as HyperShift decodes it: one binding is left, and the annotation that keeps OVN from giving addresses is
// gone.
TEST(Udn, VmPatchLeavesOneBinding) {
  const Built built = build_file("hosted.yaml");
  const Json cluster = one(built, "HostedCluster");
  const std::string annotation =
      cluster["metadata"]["annotations"]["hypershift.openshift.io/kubevirt-vm-jsonpatch"].get<std::string>();
  const Json patch = Json::parse(annotation);
  EXPECT_EQ(patch[0], Json::parse(R"({"op": "replace", "path":
    "/spec/template/spec/domain/devices/interfaces/0/bridge", "value": null})"))
      << "null clears it, however the result is read";
  const std::vector<std::string> additional{"clusters-blue/storage"};
  const Json before = hypershift_vm_template(additional);
  const auto after = text::apply_hypershift_patches(before, std::span(&patch, 1)).value().object;
  const Json interface = after["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][0];
  EXPECT_EQ(interface["binding"]["name"], "l2bridge");
  EXPECT_TRUE(!interface.contains("bridge") || interface["bridge"].is_null());
  EXPECT_FALSE(after["spec"]["template"]["metadata"]["annotations"].contains(std::string(kBridgeMigrationAnnotation)));
  EXPECT_EQ(after["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][1],
            before["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][1]);
}

TEST(Udn, VmPatchIsCheckedAgainstTheTemplate) {
  using spec::UdnBinding;
  for (const UdnBinding binding : {UdnBinding::l2bridge, UdnBinding::passt, UdnBinding::passt_plugin}) {
    EXPECT_EQ(check_vm_patch(hypershift_vm_patch(binding), binding, {}).problem, "");
    Json removing = hypershift_vm_patch(binding);
    removing[0] = {{"op", "remove"}, {"path", removing[0]["path"]}};
    EXPECT_EQ(check_vm_patch(removing, binding, {}).problem, "") << "VirtualMachineInstanceSpec is read from nothing";
    Json keeping = hypershift_vm_patch(binding);
    keeping.erase(0);
    EXPECT_THAT(check_vm_patch(keeping, binding, {}).problem, testing::HasSubstr("two bindings: bridge and "));
  }
  EXPECT_THAT(check_vm_patch(Json::array(), UdnBinding::l2bridge, {}).problem, testing::HasSubstr("l2bridge"));
  EXPECT_THAT(check_vm_patch(hypershift_vm_patch(UdnBinding::passt), UdnBinding::l2bridge, {}).problem,
              testing::HasSubstr("l2bridge"));
  EXPECT_THAT(
      check_vm_patch(hypershift_vm_patch(UdnBinding::l2bridge), UdnBinding::l2bridge, {}, text::Release{4, 18}).kept,
      ElementsAre("/spec/template/metadata/annotations/kubevirt.io~1allow-pod-bridge-network-live-migration"));
}

TEST(Udn, PatchOfSomebodyElseIsKeptOrRefused) {
  const auto with_patch = [](const std::string& patch) {
    std::string text = read("hosted.yaml");
    const std::string metadata = "kind: HostedCluster\nmetadata: {name: blue, namespace: clusters";
    const std::size_t at = text.find(metadata);
    return text.insert(at + metadata.size(),
                       ", annotations: {hypershift.openshift.io/kubevirt-vm-jsonpatch: '" + patch + "'}");
  };
  const Built kept = build_text(with_patch(hypershift_vm_patch(spec::UdnBinding::l2bridge).dump())).value();
  EXPECT_FALSE(one(kept, "HostedCluster")["metadata"]["annotations"].contains(std::string(kVmPatchAnnotation)));
  for (const char* wrong : {"[]", "- op: add", R"([{"op": "test", "path": "/spec/x", "value": 1}])"}) {
    const auto built = build_text(with_patch(wrong));
    ASSERT_FALSE(built) << wrong;
    EXPECT_EQ(built.error().begin()->code, "patch-taken") << wrong;
  }
}

TEST(Udn, NodePoolsKeepTheDefaultNetwork) {
  const Json pool = one(build_file("hosted.yaml"), "NodePool");
  EXPECT_EQ(pool["metadata"]["name"], "blue-workers");
  EXPECT_EQ(pool["metadata"]["namespace"], "clusters");
  EXPECT_EQ(
      pool["spec"]["platform"]["kubevirt"],
      Json::parse(R"({"attachDefaultNetwork": true, "additionalNetworks": [{"name": "clusters-blue/storage"}]})"));
}

// HCP-14: what is allowed is the DNS Service's address and nothing else of the service network.
TEST(Udn, Hcp14OnePolicyAllowsDns) {
  const Json policy = one(build_file("hosted.yaml"), "NetworkPolicy");
  EXPECT_EQ(policy["metadata"]["namespace"], "clusters-blue");
  EXPECT_EQ(policy["spec"], Json::parse(R"({
    "podSelector": {"matchLabels": {"hypershift.openshift.io/infra-id": "blue-x7k2p", "kubevirt.io": "virt-launcher"}},
    "policyTypes": ["Egress"],
    "egress": [{"to": [{"ipBlock": {"cidr": "172.30.0.10/32"}}, {"ipBlock": {"cidr": "fd02::a/128"}}],
                "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}]})"));
  EXPECT_THAT(all(build_file("machines.yaml"), "NetworkPolicy"), IsEmpty()) << "nothing forbids them anything";
  EXPECT_THAT(all(build_file("cluster.yaml"), "NetworkPolicy"), IsEmpty());
}

TEST(Udn, EtcdPolicyIsForTheControlPlaneAlone) {
  const Built built = build_file("hosted.yaml");
  const Json policy = one(built, "MutatingAdmissionPolicy");
  EXPECT_EQ(policy["apiVersion"], "admissionregistration.k8s.io/v1");
  EXPECT_EQ(policy["spec"]["failurePolicy"], "Fail");
  EXPECT_EQ(policy["spec"]["matchConstraints"]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"],
            "clusters-blue");
  const std::string expression = policy["spec"]["mutations"][0]["applyConfiguration"]["expression"];
  EXPECT_THAT(expression, testing::HasSubstr("https://[::]:2379")) << "IPv6 too";
  EXPECT_THAT(expression, testing::HasSubstr("https://[::]:2380")) << "peers too";
  EXPECT_THAT(expression, testing::Not(testing::HasSubstr("localhost")));
  EXPECT_EQ(one(built, "MutatingAdmissionPolicyBinding")["spec"]["policyName"], policy["metadata"]["name"]);

  BuildOptions options;
  options.admission_version = "v1beta1";
  EXPECT_EQ(one(build_text(read("hosted.yaml"), {}, options).value(), "MutatingAdmissionPolicy")["apiVersion"],
            "admissionregistration.k8s.io/v1beta1");
  options.without = {"MutatingAdmissionPolicy"};
  const Built without = build_text(read("hosted.yaml"), {}, options).value();
  EXPECT_THAT(all(without, "MutatingAdmissionPolicy"), IsEmpty());
  EXPECT_THAT(all(without, "MutatingAdmissionPolicyBinding"), IsEmpty());
  std::string unmanaged = read("hosted.yaml");
  unmanaged.replace(unmanaged.find("  infraID:"), 10, "  etcd: {managementType: Unmanaged}\n  infraID:");
  EXPECT_THAT(all(build_text(unmanaged).value(), "MutatingAdmissionPolicy"), IsEmpty());
}

TEST(Udn, ImagesAreOverriddenOnRequestAndWithAWarning) {
  const Built built = build_file("hosted.yaml");
  const Json annotations = one(built, "HostedCluster")["metadata"]["annotations"];
  EXPECT_EQ(annotations["hypershift.openshift.io/control-plane-operator-image"], "registry.example.com/cpo:1");
  EXPECT_EQ(annotations["hypershift.openshift.io/capi-provider-kubevirt-image"], "registry.example.com/capk:1");
  const Json deployment = one(built, "Deployment");
  EXPECT_EQ(deployment["metadata"], Json::parse(R"({"name": "operator", "namespace": "hypershift"})"));
  EXPECT_EQ(deployment["spec"]["template"]["spec"]["containers"], Json::parse(R"([{
    "name": "operator", "image": "registry.example.com/hypershift:1",
    "env": [{"name": "IMAGE_KUBEVIRT_CAPI_PROVIDER", "value": "registry.example.com/capk:2"}]}])"));
  const std::string images = "image-override /spec/hostedClusterRef/imageOverrides/";
  EXPECT_THAT(warnings_of(built),
              UnorderedElementsAre(images + "controlPlaneOperator", images + "capiProviderKubevirt",
                                   images + "hypershiftOperator", images + "defaultCAPIProviderKubevirt",
                                   "machine-network /spec/hostedClusterRef/name"));
  std::string plain = read("hosted.yaml");
  const std::size_t from = plain.find("    imageOverrides:"), to = plain.find("  network:");
  const Built without = build_text(plain.erase(from, to - from)).value();
  EXPECT_THAT(all(without, "Deployment"), IsEmpty());
  EXPECT_EQ(one(without, "HostedCluster")["metadata"]["annotations"].size(), 1U);
}

// HCP-10: the claim is the machine's, and everybody who looks for it finds it under one name.
TEST(Udn, Hcp10ClaimBelongsToTheMachine) {
  const Built built = build_file("machines.yaml", "machines-observed.yaml");
  const Json claim = one(built, "IPAMClaim");
  EXPECT_EQ(claim["metadata"]["name"], "w0.default");
  EXPECT_EQ(claim["metadata"]["namespace"], "lab");
  EXPECT_EQ(claim["spec"], Json::parse(R"({"network": "lab_hcp-lab", "interface": ""})"));
  EXPECT_EQ(claim["metadata"]["ownerReferences"], Json::parse(R"([{"apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine", "name": "w0", "uid": "11111111-1111-1111-1111-111111111111",
    "controller": true, "blockOwnerDeletion": true}])"));
  const Json machine = all(built, "VirtualMachine").front();
  const Json network =
      Json::parse(machine["spec"]["template"]["metadata"]["annotations"][std::string(kDefaultNetworkAnnotation)]
                      .get<std::string>());
  EXPECT_EQ(network, Json::parse(R"([{"name": "default", "namespace": "ovn-kubernetes",
    "ips": ["10.152.0.42/16", "2001:db8:152::42/64"], "mac": "02:00:00:00:00:0b",
    "ipam-claim-reference": "w0.default"}])"));
  const Json unowned = one(build_file("machines.yaml"), "IPAMClaim");
  EXPECT_FALSE(unowned["metadata"].contains("ownerReferences"));
  EXPECT_THAT(warnings_of(build_file("machines.yaml")),
              ElementsAre("claim-without-owner /spec/virtualMachines/0/name"));
}

TEST(Udn, ClaimNamesAreThoseOfIpamExtensions) {
  EXPECT_EQ(ipam_claim_name("w0", "default"), "w0.default");
  EXPECT_EQ(ipam_claim_name("W_0", "Default"), "w0.default");
  const std::string cut = ipam_claim_name(std::string(300, 'a'), "default");
  EXPECT_EQ(cut, std::string(253, 'a')) << "cut, without a hash";
  EXPECT_EQ(ipam_claim_name(std::string(252, 'a') + "-b", "default").size(), 252U) << "a name doesn't end in a hyphen";
}

TEST(Udn, MachinesAskForAddressesAsTheirClusterTakesThem) {
  const auto machines = all(build_file("machines.yaml"), "VirtualMachine");
  ASSERT_EQ(machines.size(), 3U);
  const Json& lab = machines[0]["spec"]["template"];
  EXPECT_EQ(machines[0]["metadata"]["namespace"], "lab");
  EXPECT_EQ(lab["spec"]["domain"]["devices"]["interfaces"],
            Json::parse(R"([{"name": "default", "passtBinding": {}, "macAddress": "02:00:00:00:00:0b"}])"));
  const Json& asking = machines[1]["spec"]["template"];
  EXPECT_EQ(asking["metadata"]["annotations"]["network.kubevirt.io/addresses"], R"({"default":["10.151.0.42"]})");
  EXPECT_FALSE(asking["metadata"]["annotations"].contains(std::string(kDefaultNetworkAnnotation)))
      << "ipam-extensions refuse a pod that has it already";
  EXPECT_EQ(asking["spec"]["domain"]["devices"]["interfaces"],
            Json::parse(R"([{"name": "default", "binding": {"name": "l2bridge"}, "macAddress": "02:00:00:00:00:0a"},
                            {"name": "iface1_vms-storage", "bridge": {}}])"));
  EXPECT_EQ(asking["spec"]["networks"], Json::parse(R"([{"name": "default", "pod": {}},
                            {"name": "iface1_vms-storage", "multus": {"networkName": "vms/storage"}}])"));
  EXPECT_FALSE(machines[2]["spec"]["template"]["metadata"].contains("annotations")) << "who asks for nothing";
}

// A Service has to select pods, here the machines' launchers: OVN-Kubernetes mirrors the slices of such a Service
// alone.
TEST(Udn, ServicesSelectTheMachinesThatTheyName) {
  const Built built = build_file("machines.yaml");
  std::map<std::string, Json> services;
  for (const Json& service : all(built, "Service")) services[service["metadata"]["name"].get<std::string>()] = service;
  ASSERT_EQ(services.size(), 3U);
  const auto machines = all(built, "VirtualMachine");  // lab/w0, vms/w0, vms/w1
  const auto leads_to = [&](const char* name, const Json& machine) {
    const Json selector = services[name]["spec"]["selector"],
               labels = machine["spec"]["template"]["metadata"]["labels"];
    EXPECT_EQ(selector.size(), 1U);
    return machine["metadata"]["namespace"] == services[name]["metadata"]["namespace"] &&
           labels.contains(selector.begin().key()) && labels[selector.begin().key()] == selector.begin().value();
  };
  EXPECT_TRUE(leads_to("web", machines[1]));
  EXPECT_FALSE(leads_to("web", machines[2])) << "it names w0 alone";
  EXPECT_TRUE(leads_to("ssh", machines[1]) && leads_to("ssh", machines[2])) << "it names none, so it leads to all";
  EXPECT_TRUE(leads_to("dns", machines[0]));
  EXPECT_EQ(services["web"]["spec"]["type"], "LoadBalancer");
  EXPECT_EQ(services["web"]["spec"]["ports"],
            Json::parse(R"([{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 8443}])"));
  EXPECT_EQ(services["web"]["spec"]["ipFamilies"], Json::array({"IPv4"})) << "as the network has them";
  EXPECT_EQ(services["ssh"]["spec"]["ports"][0]["nodePort"], 30022);
  EXPECT_EQ(services["dns"]["spec"]["type"], "ClusterIP");
  EXPECT_EQ(services["dns"]["spec"]["ports"][0]["protocol"], "UDP");
  EXPECT_EQ(services["dns"]["spec"]["ipFamilyPolicy"], "PreferDualStack");
}

TEST(Udn, SaysWhereAddressesAreNotKeptAndAttachmentsNotSeen) {
  std::string text = read("hosted.yaml");
  text.replace(text.find(", lifecycle: Persistent"), 23, "");
  text.replace(text.find("[clusters-blue/storage]"), 23, "[elsewhere/storage]");
  const auto warnings = warnings_of(build_text(text).value());
  EXPECT_THAT(warnings, Contains("addresses-not-kept /spec/network/layer2/ipam"));
  EXPECT_THAT(warnings, Contains("attachment-namespace /spec/hostedClusterRef/additionalNetworks/0"));
}

TEST(Udn, OwnsWhatIsInItsNamespace) {
  std::string text = read("machines.yaml");
  text.replace(text.find("{name: hcp-vms, namespace: vms}"), 31, "{name: hcp-vms, namespace: vms, uid: 7d1f0e52}");
  const auto networks = all(build_text(text).value(), "UserDefinedNetwork");
  EXPECT_EQ(networks[1]["metadata"]["ownerReferences"][0]["uid"], "7d1f0e52");
  EXPECT_FALSE(networks[0]["metadata"].contains("ownerReferences"));
}

}  // namespace
}  // namespace hcpnet::manifest
