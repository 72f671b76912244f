// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/spec/validate.hpp>

// Names and messages of rules are ours; what is refused is what ovn-kubernetes/ovn-kubernetes
// go-controller/pkg/crd/userdefinednetwork/v1 refuses, and networks that overlap what machines have to reach.
namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHosted = R"(apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: clusters}
spec:
  hostedClusterRef: {name: blue}
  network:
    layer2:
      subnets: ["2001:db8:150::/64", 10.150.0.0/16]
      ipam: {lifecycle: Persistent}
)";
const std::string kMachines = R"(apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: vms}
spec:
  network:
    topology: Layer2
    layer2:
      role: Primary
      mtu: 1400
      subnets: [10.150.0.0/16]
      reservedSubnets: [10.150.255.0/24]
      infrastructureSubnets: [10.150.254.0/28]
      defaultGatewayIPs: [10.150.254.1]
      joinSubnets: [100.70.0.0/16]
      ipam: {mode: Enabled, lifecycle: Persistent}
  virtualMachines:
  - {name: w0, addresses: [10.150.255.10], macAddress: "02:00:00:00:00:0a"}
  - {name: w1, addresses: [10.150.255.11], macAddress: "02:00:00:00:00:0b"}
)";
const std::string kCluster = R"(apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: vms}
spec:
  scope: Cluster
  networkName: blue-net
  additionalNamespaces: [vms-two]
  uplinks: [br-ex]
  network:
    topology: Layer3
    layer3:
      subnets:
      - {cidr: 10.150.0.0/16, hostSubnet: 24}
      - {cidr: 10.152.0.0/16, hostSubnet: 24}
      - {cidr: "2001:db8:150::/48", hostSubnet: 64}
    transport: NoOverlay
    noOverlay: {outboundSNAT: Enabled, routing: Managed}
  routeAdvertisements: {frrConfigurationLabels: {routing: blue}}
)";
const std::string kHostedCluster = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: KubeVirt, kubevirt: {}}
  networking:
    clusterNetwork: [{cidr: 10.132.0.0/14}]
    serviceNetwork: [{cidr: 172.31.0.0/16}]
    machineNetwork: [{cidr: 10.150.0.0/16}]
)";

/// "CODE PATH" of each error.
std::vector<std::string> errors(const std::string& text) {
  const auto checked = check({{"f.yaml", text}}, {}, KindSet::names);
  std::vector<std::string> list;
  if (checked.has_error())
    for (const Diagnostic& d : checked.error()) {
      if (d.severity == Severity::error) list.push_back(d.code + ' ' + d.path);
      EXPECT_GT(d.line, 0U) << d.to_string();
    }
  return list;
}

struct Change {
  std::string old_text, new_text, error;
};

void expect_one_error_each(const std::string& good, const std::vector<Change>& changes) {
  EXPECT_THAT(errors(good), IsEmpty());
  for (const auto& [old_text, new_text, error] : changes) {
    std::string text = good;
    const std::size_t at = text.find(old_text);
    ASSERT_NE(at, std::string::npos) << old_text;
    EXPECT_THAT(errors(text.replace(at, old_text.size(), new_text)), ElementsAre(error)) << new_text;
  }
}

ValidPrimaryUdn valid(const std::string& text) {
  return check({{"f.yaml", text}}, {}, KindSet::names).value().primary_udns.at(0);
}

TEST(PrimaryUdn, HasTheNamesThatOvnKubernetesDerives) {
  const ValidPrimaryUdn hosted = valid(kHosted);
  EXPECT_THAT(hosted.namespaces, ElementsAre("clusters-blue"));
  EXPECT_EQ(hosted.hosted_cluster, "clusters/blue");
  EXPECT_EQ(hosted.network, "clusters-blue_blue");
  EXPECT_TRUE(hosted.is_persistent);
  EXPECT_EQ(hosted.subnets.at(0).to_string(), "10.150.0.0/16") << "IPv4 comes first, whatever the order";
  EXPECT_EQ(hosted.dns_addresses.at(0).to_string(), "172.30.0.10");

  const ValidPrimaryUdn cluster = valid(kCluster);
  EXPECT_THAT(cluster.namespaces, ElementsAre("vms", "vms-two"));
  EXPECT_EQ(cluster.network, "cluster_udn_blue-net");
}

TEST(PrimaryUdn, TakesTheTenthAddressOfEachServiceNetworkForDns) {
  std::string text = kHosted;
  text += "  management: {serviceNetwork: [172.29.0.0/16, \"fd02::/112\"]}\n";
  const auto addresses = valid(text).dns_addresses;
  ASSERT_EQ(addresses.size(), 2U);
  EXPECT_EQ(addresses[0].to_string(), "172.29.0.10");
  EXPECT_EQ(addresses[1].to_string(), "fd02::a");
}

TEST(PrimaryUdn, IsInANamespaceOfItsOwn) {
  expect_one_error_each(
      kMachines, {{"namespace: vms", "namespace: default", "bad-name /metadata/namespace"},
                  {"namespace: vms", "namespace: openshift-cnv", "bad-name /metadata/namespace"},
                  {"spec:\n", "spec:\n  namespace: kube-system\n", "bad-name /spec/namespace"},
                  {"spec:\n", "spec:\n  additionalNamespaces: [two]\n", "bad-combination /spec/additionalNamespaces"}});
  expect_one_error_each(kCluster, {{"[vms-two]", "[vms]", "duplicate-name /spec/additionalNamespaces/0"},
                                   {"[vms-two]", "[openshift]", "bad-name /spec/additionalNamespaces/0"}});
  expect_one_error_each(
      kHosted,
      {{"spec:\n", "spec:\n  namespace: blue\n", "bad-combination /spec/namespace"},
       {"{name: blue}\n", "{name: " + std::string(60, 'b') + "}\n", "bad-name /spec/hostedClusterRef/name"},
       {"{name: blue}\n", "{name: blue, nodePools: [a, a]}\n", "duplicate-name /spec/hostedClusterRef/nodePools/1"},
       {"{name: blue}\n", "{name: blue}\n  virtualMachines: [{name: w0}]\n", "bad-combination /spec/virtualMachines"}});
}

TEST(PrimaryUdn, HasOneLayerAndAPrimaryRole) {
  const std::string network = "/spec/network";
  expect_one_error_each(
      kMachines, {{"topology: Layer2", "topology: Localnet", "bad-choice " + network + "/topology"},
                  {"role: Primary", "role: Secondary", "bad-combination " + network + "/layer2/role"},
                  {"mode: Enabled, ", "mode: Disabled, ", "bad-combination " + network + "/layer2/ipam/mode"},
                  {"mtu: 1400", "mtu: 575", "out-of-range " + network + "/layer2/mtu"},
                  {"    topology: Layer2\n", "    topology: Layer2\n    layer3: {subnets: [{cidr: 10.151.0.0/16}]}\n",
                   "bad-combination " + network + "/layer3"}});
  EXPECT_THAT(errors("apiVersion: hcpnet.io/v1alpha1\nkind: PrimaryUDN\nmetadata: {name: a, namespace: a}\n"
                     "spec: {network: {topology: Layer3}}\n"),
              ElementsAre("missing-field " + network + "/layer3"));
  EXPECT_THAT(errors("apiVersion: hcpnet.io/v1alpha1\nkind: PrimaryUDN\nmetadata: {name: a, namespace: a}\n"
                     "spec: {network: {layer2: {subnets: [10.150.0.0/16], ipam: {}}}}\n"),
              ElementsAre("missing-field " + network + "/layer2/ipam"));
}

TEST(PrimaryUdn, HasSubnetsAndPartsThatFit) {
  const std::string layer2 = "/spec/network/layer2";
  expect_one_error_each(
      kMachines,
      {{"subnets: [10.150.0.0/16]", "subnets: [10.150.0.1/16]", "bad-cidr " + layer2 + "/subnets/0"},
       {"subnets: [10.150.0.0/16]", "subnets: []", "too-few-items " + layer2 + "/subnets"},
       {"[10.150.255.0/24]", "[10.151.255.0/24]", "address-outside-cidr " + layer2 + "/reservedSubnets/0"},
       {"[10.150.255.0/24]", "[10.128.0.0/9]", "address-outside-cidr " + layer2 + "/reservedSubnets/0"},
       {"[10.150.255.0/24]", "[10.150.254.0/23]", "networks-overlap " + layer2 + "/infrastructureSubnets/0"},
       {"[10.150.254.1]", "[10.151.0.1]", "address-outside-cidr " + layer2 + "/defaultGatewayIPs/0"},
       {"[10.150.254.1]", "[10.150.0.1]", "address-outside-cidr " + layer2 + "/defaultGatewayIPs/0"},
       {"[10.150.254.1]", "[10.150.254.1, \"2001:db8::1\"]", "bad-combination " + layer2 + "/defaultGatewayIPs"},
       {"[100.70.0.0/16]", "[100.70.0.0/16, 100.71.0.0/16]", "bad-combination " + layer2 + "/joinSubnets/1"}});
  expect_one_error_each(kHosted,
                        {{"\"2001:db8:150::/64\"", "10.151.0.0/16", "bad-combination " + layer2 + "/subnets/1"},
                         {"ipam:", "mtu: 1279\n      ipam:", "out-of-range " + layer2 + "/mtu"}});
}

TEST(PrimaryUdn, HasLayer3SubnetsThatNodesCanShare) {
  const std::string list = "/spec/network/layer3/subnets";
  expect_one_error_each(
      kCluster,
      {{"cidr: 10.152.0.0/16", "cidr: 10.150.128.0/17", "networks-overlap " + list + "/1/cidr"},
       {"10.152.0.0/16, hostSubnet: 24", "10.152.0.0/16, hostSubnet: 25", "bad-combination " + list + "/1/hostSubnet"},
       {"/48\", hostSubnet: 64", "/48\", hostSubnet: 48", "out-of-range " + list + "/2/hostSubnet"},
       {"/48\", hostSubnet: 64", "/48\", hostSubnet: 128", "out-of-range " + list + "/2/hostSubnet"}});
}

TEST(PrimaryUdn, OverlapsNothingThatMachinesHaveToReach) {
  const std::string subnet = "networks-overlap /spec/network/layer2/subnets/";
  const auto refused = [&](const char* range) {
    std::string text = kHosted;
    const bool is_v6 = std::string(range).find(':') != std::string::npos;
    const std::string old_text = is_v6 ? "2001:db8:150::/64" : "10.150.0.0/16";
    text.replace(text.find(old_text), old_text.size(), range);
    EXPECT_THAT(errors(text), ElementsAre(subnet + (is_v6 ? "0" : "1"))) << range;
  };
  for (const char* range :
       {"100.64.0.0/24", "100.65.1.0/24", "100.66.0.0/24", "100.88.0.0/16", "169.254.1.0/24", "169.254.169.0/29",
        "172.20.0.0/24", "10.132.0.0/16", "10.128.0.0/16", "172.31.7.0/24", "172.30.7.0/24", "100.0.0.0/8", "fd98::/64",
        "fd99::/64", "fd97::/64", "fd69::/112", "fd69::/125", "fd00::/64"})
    refused(range);
  std::string moved = kHosted;
  moved.replace(moved.find("10.150.0.0/16"), 13, "10.128.0.0/16");
  moved += "  management: {clusterNetwork: [10.0.0.0/16]}\n";
  EXPECT_THAT(errors(moved), IsEmpty()) << "where the management cluster has another pod network";
  EXPECT_THAT(errors(kHosted + "  management: {others: [100.65.7.0/24]}\n"),
              ElementsAre("networks-overlap /spec/network/layer2/joinSubnets"))
      << "what OVN-Kubernetes takes by itself counts too";
  EXPECT_THAT(errors(kMachines + "  management: {others: [100.65.7.0/24]}\n"), IsEmpty());
  expect_one_error_each(kMachines,
                        {{"[100.70.0.0/16]", "[100.64.0.0/16]", "networks-overlap /spec/network/layer2/joinSubnets/0"},
                         {"[100.70.0.0/16]", "[10.150.3.0/24]", "networks-overlap /spec/network/layer2/subnets/0"}});
}

TEST(PrimaryUdn, TakesTheNetworksOfItsHostedCluster) {
  std::string cluster = kHostedCluster;
  cluster.replace(cluster.find("10.132.0.0/14"), 13, "10.148.0.0/14");
  EXPECT_THAT(errors(kHosted + "---\n" + cluster), ElementsAre("networks-overlap /spec/network/layer2/subnets/1"));
  EXPECT_THAT(errors(kHosted + "---\n" + kHostedCluster), IsEmpty());
  std::string foreign = kHostedCluster;
  foreign.replace(foreign.find("kubevirt: {}"), 12, "kubevirt: {credentials: {infraNamespace: vms}}");
  EXPECT_THAT(errors(kHosted + "---\n" + foreign), ElementsAre("bad-combination /spec/hostedClusterRef/name"));
  foreign = kHostedCluster;
  foreign.replace(foreign.find("KubeVirt"), 8, "Agent");
  EXPECT_THAT(errors(kHosted + "---\n" + foreign), ElementsAre("bad-combination /spec/hostedClusterRef/name"));
}

TEST(PrimaryUdn, HasWhatOnlyItsScopeHas) {
  const std::string network = "/spec/network";
  expect_one_error_each(
      kCluster,
      {{"    transport: NoOverlay\n", "", "bad-combination " + network + "/noOverlay"},
       {"    noOverlay: {outboundSNAT: Enabled, routing: Managed}\n", "", "missing-field " + network + "/noOverlay"},
       {"uplinks: [br-ex]", "uplinks: [br-ex, br-two]", "too-many-items /spec/uplinks"},
       {"{frrConfigurationLabels: {routing: blue}}", "{podNetwork: false}",
        "bad-combination /spec/routeAdvertisements"},
       {"{frrConfigurationLabels: {routing: blue}}", "{nodeLabels: {a: b}}",
        "bad-combination /spec/routeAdvertisements/nodeLabels"},
       {"{routing: blue}", "{routing: a b}", "bad-name /spec/routeAdvertisements/frrConfigurationLabels/routing"},
       {"{frrConfigurationLabels: {routing: blue}}", "{targetVRF: a-name-of-16-byt}",
        "bad-name /spec/routeAdvertisements/targetVRF"}});
  EXPECT_THAT(errors(kHosted + "  routeAdvertisements: {}\n"),
              ElementsAre("bad-combination /spec/routeAdvertisements"));
  EXPECT_THAT(errors(kHosted + "  uplinks: [br-ex]\n"), ElementsAre("bad-combination /spec/uplinks"));
}

TEST(PrimaryUdn, HasVrfsAsItsTopologyNeedsThem) {
  const std::string good = R"(apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: vms}
spec:
  scope: Cluster
  network:
    layer2: {subnets: [10.150.0.0/16]}
    transport: EVPN
    evpn: {vtep: fabric, macVRF: {vni: 100, routeTarget: "64512:100"}, ipVRF: {vni: 101}}
)";
  const std::string evpn = "/spec/network/evpn";
  expect_one_error_each(good,
                        {{"ipVRF: {vni: 101}", "ipVRF: {vni: 100}", "bad-combination " + evpn + "/ipVRF/vni"},
                         {"macVRF: {vni: 100, routeTarget: \"64512:100\"}, ", "", "missing-field " + evpn + "/macVRF"},
                         {"vni: 101", "vni: 16777216", "out-of-range " + evpn + "/ipVRF/vni"},
                         {"64512:100", "64512", "bad-name " + evpn + "/macVRF/routeTarget"},
                         {"64512:100", "65536:65536", "bad-name " + evpn + "/macVRF/routeTarget"},
                         {"64512:100", "192.0.2.1:65536", "bad-name " + evpn + "/macVRF/routeTarget"},
                         {"64512:100", "*:4294967296", "bad-name " + evpn + "/macVRF/routeTarget"},
                         {"spec:\n", "spec:\n  uplinks: [br-ex]\n", "bad-combination /spec/uplinks"}});
}

TEST(PrimaryUdn, GivesEachMachineWhatItAsksFor) {
  const std::string machines = "/spec/virtualMachines";
  expect_one_error_each(
      kMachines,
      {{"name: w1", "name: w0", "duplicate-name " + machines + "/1/name"},
       {"10.150.255.11", "10.150.255.10", "addresses-collide " + machines + "/1/addresses/0"},
       {"02:00:00:00:00:0b", "02:00:00:00:00:0A", "addresses-collide " + machines + "/1/macAddress"},
       {"10.150.255.11", "10.151.0.11", "address-outside-cidr " + machines + "/1/addresses/0"},
       {"10.150.255.11", "10.150.255.255", "address-reserved " + machines + "/1/addresses/0"},
       {"10.150.255.11", "10.150.254.1", "addresses-collide " + machines + "/1/addresses/0"},
       {"10.150.255.11", "10.150.254.7", "addresses-collide " + machines + "/1/addresses/0"},
       {"[10.150.255.11]", "[10.150.255.11, 10.150.255.12]", "bad-combination " + machines + "/1/addresses"}});
  std::string unkept = kMachines;
  unkept.replace(unkept.find(", lifecycle: Persistent"), 23, "");
  EXPECT_THAT(errors(unkept), ElementsAre("bad-combination " + machines + "/0/addresses",
                                          "bad-combination " + machines + "/1/addresses"));
}

TEST(PrimaryUdn, HasServicesThatAnApiServerTakes) {
  const std::string services = "/spec/services";
  const std::string good = kMachines + R"(  services:
  - {name: web, type: NodePort, machines: [w0, w1], ports: [{name: http, port: 80, nodePort: 30080}, {name: https, port: 443}]}
  - {name: dns, ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53}]}
)";
  expect_one_error_each(
      good, {{"name: web", "name: 0-web", "bad-name " + services + "/0/name"},
             {"name: dns, ports", "name: web, ports", "duplicate-name " + services + "/1/name"},
             {"[w0, w1], ports", "[w0, w2], ports", "bad-reference " + services + "/0/machines/1"},
             {"[w0, w1], ports", "[w0, w0], ports", "duplicate-name " + services + "/0/machines/1"},
             {"name: https", "name: http", "duplicate-name " + services + "/0/ports/1/name"},
             {"port: 443", "port: 80", "duplicate-name " + services + "/0/ports/1/port"},
             {"port: 443", "port: 443, nodePort: 30080", "duplicate-name " + services + "/0/ports/1/nodePort"},
             {"type: NodePort", "type: ClusterIP", "bad-combination " + services + "/0/ports/0/nodePort"},
             {"type: NodePort", "type: ExternalName", "bad-choice " + services + "/0/type"},
             {"port: 443", "port: 0", "out-of-range " + services + "/0/ports/1/port"}});
  EXPECT_THAT(errors(kHosted + "  services: [{name: web, ports: [{name: http, port: 80}]}]\n"),
              ElementsAre("bad-combination " + services));
}

TEST(PrimaryUdn, GivesNobodyTheAddressesOfGatewayAndNodes) {
  const std::string plain = R"(apiVersion: hcpnet.io/v1alpha1
kind: PrimaryUDN
metadata: {name: blue, namespace: vms}
spec:
  network: {layer2: {subnets: [10.150.0.0/16, "2001:db8:150::/64"], ipam: {lifecycle: Persistent}}}
  virtualMachines:
  - {name: w0, addresses: ["2001:db8:150::10", 10.150.0.10]}
)";
  expect_one_error_each(
      plain, {{"10.150.0.10]", "10.150.0.1]", "addresses-collide /spec/virtualMachines/0/addresses/1"},
              {"10.150.0.10]", "10.150.0.2]", "addresses-collide /spec/virtualMachines/0/addresses/1"},
              {"2001:db8:150::10", "2001:db8:150::1", "addresses-collide /spec/virtualMachines/0/addresses/0"},
              {", 10.150.0.10]", "]", "bad-combination /spec/virtualMachines/0/addresses"}});
  EXPECT_EQ(valid(plain).machines.at(0).addresses.at(0).to_string(), "10.150.0.10");
}

TEST(PrimaryUdn, SharesNeitherNamespaceNorClusterScopedName) {
  std::string other = kMachines;
  other.replace(other.find("name: blue"), 10, "name: red");
  EXPECT_THAT(errors(kMachines + "---\n" + other), ElementsAre("duplicate-name /metadata/namespace"));
  other = kCluster;
  other.replace(other.find("name: blue, namespace: vms"), 26, "name: red, namespace: three");
  other.replace(other.find("[vms-two]"), 9, "[four]");
  EXPECT_THAT(errors(kCluster + "---\n" + other), ElementsAre("duplicate-name /spec/networkName"));
  const auto fabric = [](const std::string& name, int vni) {
    return "---\napiVersion: hcpnet.io/v1alpha1\nkind: PrimaryUDN\nmetadata: {name: " + name + ", namespace: " + name +
           "}\nspec:\n  scope: Cluster\n  network:\n    layer2: {subnets: [10.150.0.0/16]}\n    transport: EVPN\n" +
           "    evpn: {vtep: fabric, macVRF: {vni: " + std::to_string(vni) + "}}\n";
  };
  EXPECT_THAT(errors(fabric("one", 100) + fabric("two", 101)), IsEmpty());
  EXPECT_THAT(errors(fabric("one", 100) + fabric("two", 100)),
              ElementsAre("duplicate-name /spec/network/evpn/macVRF/vni"));
}

TEST(PrimaryUdn, SaysWhoHasARange) {
  std::string text = kHosted;
  text.replace(text.find("10.150.0.0/16"), 13, "100.66.0.0/16");
  const auto checked = check({{"f.yaml", text}});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().to_string(), HasSubstr("the join subnet that HyperShift gives the hosted cluster"));
}

}  // namespace
}  // namespace hcpnet::spec
