// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/udn_slices.hpp>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <iterator>
#include <map>

#include "support/files.hpp"

// Labels and annotations: ovn-kubernetes/ovn-kubernetes go-controller/pkg/util/util.go (who reads a slice),
// go-controller/pkg/clustermanager/endpointslicemirror; coredns/coredns plugin/kubernetes/object/endpoint.go.
namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kUdn = R"(
apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: hcp-hcp1, namespace: clusters}
spec:
  hostedClusterRef: {name: hcp1}
  network: {layer2: {subnets: [10.150.0.0/16, "2001:db8:150::/64"], ipam: {lifecycle: Persistent}}}
)";

/// A pod on both networks.
std::string pod(const std::string& name, const std::string& labels, int last, bool ready,
                const std::string& spec = {}) {
  const std::string number = std::to_string(last);
  return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: clusters-hcp1\n  uid: uid-" +
         name + "\n  labels: {" + labels +
         "}\n  annotations:\n    k8s.ovn.org/pod-networks: '{\"default\":{\"ip_addresses\":"
         "[\"10.128.2." +
         number + "/23\"],\"ip_address\":\"10.128.2." + number +
         "/23\",\"role\":\"infrastructure-locked\"},\"clusters-hcp1/hcp-hcp1\":{\"ip_addresses\":[\"10.150.0." +
         number + "/16\",\"2001:db8:150::" + number + "/64\"],\"role\":\"primary\"}}'\nspec:\n  nodeName: infra-1\n" +
         spec + "status:\n  phase: Running\n  podIP: 10.128.2." + number + "\n  conditions: [{type: Ready, status: \"" +
         (ready ? "True" : "False") + "\"}]\n";
}
std::string etcd(int number, bool ready) {
  const std::string name = "etcd-" + std::to_string(number);
  return pod(name, "app: etcd", 11 + number, ready,
             "  hostname: " + name +
                 "\n  subdomain: etcd-discovery\n  containers: [{name: etcd, ports: [{name: client, "
                 "containerPort: 2379}, {name: peer, containerPort: 2380}]}]\n");
}
const std::string kDiscovery = R"(---
apiVersion: v1
kind: Service
metadata: {name: etcd-discovery, namespace: clusters-hcp1, uid: service-1}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app: etcd}
  ports: [{name: peer, port: 2380, targetPort: peer}, {name: etcd-client, port: 2379, targetPort: client}]
)";
const std::string kPassthrough = R"(---
apiVersion: v1
kind: Service
metadata: {name: default-ingress-passthrough-service-abc12, namespace: clusters-hcp1, uid: service-2}
spec: {type: ClusterIP, clusterIP: 172.30.7.7, ports: [{name: https-443, port: 443, targetPort: 31443, protocol: TCP}]}
)";

Plan plan(const std::string& observed) {
  const auto set = spec::check({{"udn.yaml", kUdn}}, {}, spec::KindSet::names).value();
  return make_plan(set, {}, load_cluster_objects({{"observed.yaml", observed}}).value()).value();
}

/// "ACTION NAME" of what concerns slices.
std::vector<std::string> slices(const Plan& plan) {
  std::vector<std::string> list;
  for (const Action& action : plan.actions)
    if (action.object["kind"] == "EndpointSlice")
      list.push_back(std::string(to_string(action.kind)) + ' ' + action.object["metadata"]["name"].get<std::string>());
  return list;
}
Json slice(const Plan& plan, const std::string& name) {
  for (const Action& action : plan.actions)
    if (action.object["kind"] == "EndpointSlice" && action.object["metadata"]["name"] == name) return action.object;
  ADD_FAILURE() << "no slice " << name;
  return {};
}

/// HCPNET_UPDATE_GOLDEN=1 writes the file anew; the tests below check its fields on their own.
TEST(UdnPlanGolden, SlicesAreAsReviewed) {
  const std::string launcher = "kubevirt.io: virt-launcher, vm.kubevirt.io/name: w0";
  const Plan made =
      plan(kPassthrough + kDiscovery + etcd(0, false) + pod("virt-launcher-w0-abcde", launcher, 20, true));
  std::vector<Json> objects;
  for (const Action& action : made.actions)
    if (action.object["kind"] == "EndpointSlice") objects.push_back(action.object);
  const auto path = test::data_path("manifest/udn/slices.golden.yaml");
  const std::string text = "# Upstream sources of what this shows: tests/cpp/data/manifest/SOURCES.md\n" +
                           text::render_yaml_documents(objects);
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}

// HCP-03a
TEST(UdnPlan, Hcp03aMachinesAreBehindTheLoadBalancer) {
  const std::string launcher = "kubevirt.io: virt-launcher, vm.kubevirt.io/name: w0";
  const Plan made = plan(kPassthrough + pod("virt-launcher-w0-abcde", launcher, 20, true));
  ASSERT_THAT(slices(made), ElementsAre("create default-ingress-passthrough-service-abc12-w0-udn-ipv4",
                                        "create default-ingress-passthrough-service-abc12-w0-udn-ipv6"));
  const Json v4 = slice(made, "default-ingress-passthrough-service-abc12-w0-udn-ipv4");
  const Json labels = v4["metadata"]["labels"];
  EXPECT_EQ(labels["k8s.ovn.org/service-name"], "default-ingress-passthrough-service-abc12");
  EXPECT_EQ(labels["endpointslice.kubernetes.io/managed-by"], "hcpnet.io");
  EXPECT_FALSE(labels.contains("kubernetes.io/service-name")) << "OVN-Kubernetes passes over a slice that has it";
  EXPECT_EQ(v4["metadata"]["annotations"]["k8s.ovn.org/endpointslice-network"], "clusters-hcp1_hcp-hcp1");
  EXPECT_EQ(v4["metadata"]["ownerReferences"][0]["uid"], "service-2");
  EXPECT_EQ(v4["addressType"], "IPv4");
  EXPECT_EQ(v4["endpoints"], Json::parse(R"([{"addresses": ["10.150.0.20"],
    "conditions": {"ready": true, "serving": true, "terminating": false}, "nodeName": "infra-1",
    "targetRef": {"kind": "Pod", "namespace": "clusters-hcp1", "name": "virt-launcher-w0-abcde",
                  "uid": "uid-virt-launcher-w0-abcde"}}])"));
  EXPECT_EQ(v4["ports"], Json::parse(R"([{"name": "https-443", "port": 31443, "protocol": "TCP"}])"));
  EXPECT_EQ(slice(made, "default-ingress-passthrough-service-abc12-w0-udn-ipv6")["endpoints"][0]["addresses"][0],
            "2001:db8:150::20");
}

/// The same slice without a user-defined network.
TEST(UdnSlices, Hcp03aOrdinarySlicesHaveNothingOfOvnKubernetes) {
  manifest::Slice ordinary;
  ordinary.namespace_ = "ns";
  ordinary.service = "ingress";
  ordinary.name = "ingress-w0-ipv4";
  const Json json = manifest::endpoint_slice(ordinary);
  EXPECT_EQ(json["metadata"]["labels"]["kubernetes.io/service-name"], "ingress");
  EXPECT_THAT(json.dump(), testing::Not(HasSubstr("k8s.ovn.org")));
}

// HCP-03b
TEST(UdnPlan, Hcp03bNamesOfEtcdLeadToTheNetwork) {
  const Plan made = plan(kDiscovery + etcd(0, true) + etcd(1, false));
  ASSERT_THAT(slices(made),
              ElementsAre("create etcd-discovery-etcd-0-dns-ipv4", "create etcd-discovery-etcd-0-dns-ipv6",
                          "create etcd-discovery-etcd-1-dns-ipv4", "create etcd-discovery-etcd-1-dns-ipv6"));
  for (const auto& [name, address] : {std::pair{"etcd-0", "10.150.0.11"}, std::pair{"etcd-1", "10.150.0.12"}}) {
    const Json json = slice(made, std::string("etcd-discovery-") + name + "-dns-ipv4");
    EXPECT_EQ(json["metadata"]["labels"]["kubernetes.io/service-name"], "etcd-discovery");
    EXPECT_THAT(json["metadata"].dump(), testing::Not(HasSubstr("k8s.ovn.org")));
    EXPECT_EQ(json["endpoints"][0]["hostname"], name) << "else the Service's name alone resolves";
    EXPECT_EQ(json["endpoints"][0]["addresses"][0], address);
    EXPECT_EQ(json["endpoints"][0]["conditions"]["ready"], true)
        << "a member that isn't ready has to be found by its peers";
    EXPECT_EQ(json["ports"], Json::parse(R"([{"name": "peer", "port": 2380, "protocol": "TCP"},
                                             {"name": "etcd-client", "port": 2379, "protocol": "TCP"}])"));
  }
}

TEST(UdnPlan, NamesOfOtherServicesFollowReadiness) {
  std::string client = kDiscovery;
  client.replace(client.find("etcd-discovery"), 14, "etcd-client");
  client.replace(client.find("  publishNotReadyAddresses: true\n"), 33, "");
  const Plan made = plan(client + etcd(1, false));
  const Json json = slice(made, "etcd-client-etcd-1-dns-ipv4");
  EXPECT_EQ(json["endpoints"][0]["conditions"]["ready"], false);
  EXPECT_FALSE(json["endpoints"][0].contains("hostname")) << "it is a name of another Service";
}

TEST(UdnPlan, NamesOfServicesWithoutPorts) {
  std::string portless = kDiscovery;
  portless.erase(portless.find("  ports:"));
  const Plan made = plan(portless + etcd(0, true));
  EXPECT_EQ(slice(made, "etcd-discovery-etcd-0-dns-ipv4")["ports"], Json::array());
  EXPECT_THAT(made.warnings.to_string(), testing::Not(HasSubstr("port-unknown")));
}

/// Nodes are reached from every network: their addresses must not be lost with the slices of the default network.
TEST(UdnPlan, PodsOfTheHostNetworkKeepTheirNames) {
  std::string host = etcd(0, true);
  host.erase(host.find("  annotations:"), host.find("spec:\n") - host.find("  annotations:"));
  host.replace(host.find("  nodeName"), 10, "  hostNetwork: true\n  nodeName");
  const std::string ip = "  podIP: 10.128.2.11\n";
  std::string pending = host;
  host.replace(host.find(ip), ip.size(), "  podIPs: [{ip: 192.168.7.11}]\n");
  EXPECT_EQ(slice(plan(kDiscovery + host), "etcd-discovery-etcd-0-dns-ipv4")["endpoints"][0]["addresses"][0],
            "192.168.7.11");
  EXPECT_THAT(slices(plan(kDiscovery + pending.erase(pending.find(ip), ip.size()))), IsEmpty());
}

/// An apply takes nothing away; the patch does, and fails where somebody was faster.
TEST(UdnPlan, MachinesLoseTheAnnotationThatKeepsThemFromAddresses) {
  const std::string udn = R"(
apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: lab, namespace: lab}
spec:
  network: {layer2: {subnets: [10.150.0.0/16], ipam: {lifecycle: Persistent}}}
  virtualMachines: [{name: w0}, {name: w1}]
)";
  const std::string machine = R"(
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: w0, namespace: lab}
spec: {template: {metadata: {annotations: {kubevirt.io/allow-pod-bridge-network-live-migration: ""}}, spec: {}}}
)";
  const auto set = spec::check({{"udn.yaml", udn}}).value();
  const Plan made = make_plan(set, {}, load_cluster_objects({{"observed.yaml", machine}}).value()).value();
  std::vector<Action> patches;
  std::ranges::copy_if(made.actions, std::back_inserter(patches),
                       [](const Action& action) { return action.kind == ActionKind::patch; });
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_EQ(patches[0].object["metadata"]["name"], "w0");
  const Json observed = *load_cluster_objects({{"observed.yaml", machine}}).value().find(patches[0].object);
  const Json after = text::apply_json_patch(observed, patches[0].patch).value();
  EXPECT_EQ(after["spec"]["template"]["metadata"]["annotations"], Json::object());
  EXPECT_FALSE(text::apply_json_patch(after, patches[0].patch));
}

TEST(UdnPlan, TakesTheNameFromSlicesOfTheDefaultNetwork) {
  const std::string others = R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: etcd-discovery-x7k2p, namespace: clusters-hcp1, labels: {kubernetes.io/service-name: etcd-discovery, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv4
endpoints: [{addresses: [10.128.2.11]}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: etcd-discovery-self-etcd-0, namespace: clusters-hcp1, labels: {kubernetes.io/service-name: etcd-discovery, endpointslice.kubernetes.io/managed-by: etcd-self-register.hypershift.openshift.io}}
addressType: IPv4
endpoints: [{addresses: [10.128.2.11]}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: somebody-else, namespace: clusters-hcp1, labels: {kubernetes.io/service-name: etcd-discovery, endpointslice.kubernetes.io/managed-by: example.com}}
addressType: IPv4
endpoints: [{addresses: [10.128.2.11]}]
)";
  const Plan made = plan(kDiscovery + etcd(0, true) + others);
  std::map<std::string, Json> labels;
  for (const Action& action : made.actions) {
    if (action.kind != ActionKind::patch) continue;
    const std::string name = action.object["metadata"]["name"];
    const bool is_self = name == "etcd-discovery-self-etcd-0";
    const Json before = {
        {"metadata",
         {{"labels",
           {{"kubernetes.io/service-name", "etcd-discovery"},
            {"endpointslice.kubernetes.io/managed-by",
             is_self ? "etcd-self-register.hypershift.openshift.io" : "endpointslice-controller.k8s.io"}}}}}};
    labels[name] = text::apply_json_patch(before, action.patch).value()["metadata"]["labels"];
    EXPECT_THAT(action.reason, HasSubstr(is_self ? "at each start" : "restarts")) << "its weakness is told";
  }
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels["etcd-discovery-x7k2p"], Json::object());
  EXPECT_FALSE(labels["etcd-discovery-self-etcd-0"].contains("kubernetes.io/service-name"));
}

TEST(UdnPlan, FollowsAMigrationToTheOtherPod) {
  const std::string launcher = "kubevirt.io: virt-launcher, vm.kubevirt.io/name: w0";
  std::string target = pod("virt-launcher-w0-new", launcher, 20, true);
  target.replace(target.find("nodeName: infra-1"), 17, "nodeName: infra-2");
  const std::string source = pod("virt-launcher-w0-old", launcher, 20, true);
  const auto node = [&](const std::string& where) {
    const Plan made =
        plan(kPassthrough + source + target +
             "---\napiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: w0, namespace: "
             "clusters-hcp1}\nstatus: {nodeName: " +
             where + "}\n");
    const Json json = slice(made, "default-ingress-passthrough-service-abc12-w0-udn-ipv4");
    EXPECT_EQ(json["endpoints"].size(), 1U) << "one address, one endpoint";
    return json["endpoints"][0]["targetRef"]["name"].get<std::string>();
  };
  EXPECT_EQ(node("infra-1"), "virt-launcher-w0-old");
  EXPECT_EQ(node("infra-2"), "virt-launcher-w0-new");
}

// OPR-01, its plan part: after convergence there is nothing to write.
TEST(UdnPlan, Opr01IsEmptyOnceEverythingIsThere) {
  std::string after = kDiscovery + kPassthrough + etcd(0, true) +
                      pod("virt-launcher-w0-a", "kubevirt.io: virt-launcher, vm.kubevirt.io/name: w0", 20, true) +
                      "---\napiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: {name: hcp1, "
                      "namespace: clusters}\n";
  const Plan first = plan(after);
  for (const Action& action : first.actions) after += "---\n" + action.object.dump() + '\n';
  const Plan second = plan(after);
  EXPECT_TRUE(second.is_empty()) << to_json(second).dump(1);

  std::string gone = after;
  gone.replace(gone.find("name: virt-launcher-w0-a"), 24, "name: virt-launcher-w1-a");
  gone.replace(gone.find("vm.kubevirt.io/name: w0"), 23, "vm.kubevirt.io/name: w1");
  EXPECT_THAT(slices(plan(gone)), ElementsAre("create default-ingress-passthrough-service-abc12-w1-udn-ipv4",
                                              "create default-ingress-passthrough-service-abc12-w1-udn-ipv6",
                                              "delete default-ingress-passthrough-service-abc12-w0-udn-ipv4",
                                              "delete default-ingress-passthrough-service-abc12-w0-udn-ipv6"));
}

TEST(UdnPlan, LeavesAloneWhatOvnKubernetesMirrors) {
  const std::string mirror = R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: mirror
  namespace: clusters-hcp1
  labels: {k8s.ovn.org/service-name: default-ingress-passthrough-service-abc12, endpointslice.kubernetes.io/managed-by: endpointslice-mirror-controller.k8s.ovn.org}
  annotations: {k8s.ovn.org/endpointslice-network: clusters-hcp1_hcp-hcp1}
endpoints: [{addresses: [10.150.0.20]}]
)";
  const std::string machine =
      pod("virt-launcher-w0-a", "kubevirt.io: virt-launcher, vm.kubevirt.io/name: w0", 20, true);
  EXPECT_THAT(slices(plan(kPassthrough + machine + mirror)), IsEmpty());
}

TEST(UdnPlan, UsesMachinesWhereNoPodWasObserved) {
  const Plan made = plan(kPassthrough + R"(---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: w0, namespace: clusters-hcp1}
status:
  phase: Running
  addresses: [{type: InternalIP, address: 169.254.0.2}, {type: InternalIP, address: 10.150.0.20}, {type: InternalIP, address: 10.8.0.2}]
)");
  EXPECT_EQ(slice(made, "default-ingress-passthrough-service-abc12-w0-udn-ipv4")["endpoints"][0]["addresses"],
            Json::array({"10.150.0.20"}));
}

TEST(UdnPlan, SaysWhatItCannotTell) {
  std::string broken = etcd(0, true);
  broken.replace(broken.find("\"role\":\"primary\""), 16, "\"role\":\"secondary\"");
  const Plan made = plan(kDiscovery + broken);
  std::vector<std::string> codes;
  for (const Diagnostic& d : made.warnings) codes.push_back(d.code);
  EXPECT_THAT(codes, ElementsAre("not-on-network", "names-unknown"));
}

// HCP-01: tests/command/test_cases.py takes the same out of the case's file.
TEST(UdnSlices, Hcp01TheFirstAddressOfEachFamilyCounts) {
  const auto found = manifest::first_internal_addresses(Json::parse(R"([
    {"type": "InternalIP", "address": "10.150.0.20"}, {"type": "InternalIP", "address": "10.8.0.2"},
    {"type": "InternalIP", "address": "169.254.0.2"}, {"type": "InternalIP", "address": "fe80::1"},
    {"type": "InternalIP", "address": "2001:db8:150::20"}, {"type": "InternalIP", "address": "fd01::2"},
    {"type": "Hostname", "address": "w0"}])"));
  EXPECT_EQ(found.v4.value().to_string(), "10.150.0.20");
  EXPECT_EQ(found.v6.value().to_string(), "2001:db8:150::20");
}

TEST(UdnSlices, ReadsTheOneEntryThatIsPrimary) {
  const auto error = [](const char* text) {
    const auto parsed = manifest::parse_pod_networks(text);
    return parsed ? std::string() : parsed.error();
  };
  EXPECT_EQ(
      error(R"({"ns/udn": {"ip_addresses": ["10.150.0.5/16"], "ip_address": "10.150.0.5/16", "role": "primary"}})"),
      "");
  EXPECT_THAT(error("["), HasSubstr("no JSON object"));
  EXPECT_THAT(error(R"({"default": {"ip_addresses": ["10.128.0.5/16"], "role": "secondary"}})"), HasSubstr("no entry"));
  EXPECT_THAT(error(R"({"a": {"ip_addresses": ["10.1.0.5/16"], "role": "primary"},
                        "b": {"ip_addresses": ["10.1.0.6/16"], "role": "primary"}})"),
              HasSubstr("two entries"));
  EXPECT_THAT(error(R"({"a": {"ip_addresses": ["10.1.0.5/16"], "ip_address": "10.1.0.6/16", "role": "primary"}})"),
              HasSubstr("is not its"));
  EXPECT_THAT(error(R"({"a": {"role": "primary"}})"), HasSubstr("no ip_addresses"));
  EXPECT_THAT(error(R"({"a": {"ip_addresses": ["x"], "role": "primary"}})"), HasSubstr("no address"));
}

}  // namespace
}  // namespace hcpnet::reconcile
