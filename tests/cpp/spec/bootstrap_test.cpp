// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_text.hpp"
#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string cluster_text() {
  return test::read_file(std::filesystem::path(HCPNET_SOURCE_DIR) / "examples/bootstrap/cluster.yaml");
}
/// The example with one piece of its text exchanged, which has to be there once.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = cluster_text();
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  EXPECT_EQ(text.find(old_text, at + 1), std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}
std::vector<std::string> errors_with(const std::string& old_text, const std::string& new_text) {
  return test::errors(with(old_text, new_text));
}

TEST(BootstrapCluster, ExampleIsGood) {
  const ValidSet set = test::valid(cluster_text());
  EXPECT_TRUE(set.warnings.empty()) << set.warnings.to_string();
  ASSERT_EQ(set.bootstrap_clusters.size(), 1u);
  const ValidBootstrapCluster& cluster = set.bootstrap_clusters[0];
  EXPECT_EQ(cluster.domain, "ocp4.example.com");
  EXPECT_EQ(cluster.minor, 18u);
  EXPECT_EQ(cluster.pod_network.to_string(), "10.128.0.0/14");
  EXPECT_EQ(cluster.service_network.to_string(), "172.30.0.0/16");
  EXPECT_EQ(cluster.bootstrap().address.to_string(), "192.168.126.100");
  EXPECT_EQ(cluster.with_role(NodeRole::control_plane).size(), 3u);
  EXPECT_EQ(cluster.with_role(NodeRole::worker).size(), 3u);
  EXPECT_EQ(cluster.dhcp->to_string(), "192.168.126.200-192.168.126.249");
}

TEST(BootstrapCluster, KnowsTheFolderThatFileNamesStartAt) {
  const auto folder = [](const std::string& name) {
    return check({{name, cluster_text()}}).value().bootstrap_clusters[0].folder;
  };
  EXPECT_EQ(folder("a/b/cluster.yaml"), "a/b/");
  EXPECT_EQ(folder("cluster.yaml"), "");
  EXPECT_EQ(folder("-"), "");
}

TEST(BootstrapCluster, ReleasesAreThoseThatAreKnown) {
  const auto errors = [](const char* release) {
    return errors_with("openshiftVersion: 4.18.0", "openshiftVersion: \"" + std::string(release) + '"');
  };
  for (const char* good : {"4.14", "4.18.3", "4.21.0"}) EXPECT_THAT(errors(good), IsEmpty()) << good;
  for (const char* bad : {"4.13", "4.22", "5.1.0", "4.018", "4.18.", "4.18.x", "4.18.3.1", "four", "4.99999999999"})
    EXPECT_THAT(errors(bad), ElementsAre("bad-version /spec/openshiftVersion")) << bad;
}

TEST(BootstrapCluster, AnInterfaceIsOneThatLinuxTakes) {
  const std::string address = "address: 192.168.126.101}";
  const auto errors = [&](const std::string& name) {
    return errors_with(address, "address: 192.168.126.101, interface: \"" + name + "\"}");
  };
  for (const char* good : {"ens3", "enp1s0.100", "a", "br-ex", "abcdefghijklmno"})
    EXPECT_THAT(errors(good), IsEmpty()) << good;
  for (const char* bad : {"", ".", "..", "ens/3", "a b", "abcdefghijklmnop", "ä"})
    EXPECT_THAT(errors(bad), ElementsAre("bad-name /spec/nodes/1/interface")) << bad;
  EXPECT_EQ(test::valid(cluster_text()).bootstrap_clusters[0].nodes[1].interface, "ens3");
}

TEST(BootstrapCluster, MachinesAndLoadBalancerHaveDefaults) {
  const BootstrapCluster cluster = test::valid(cluster_text()).bootstrap_clusters[0].spec;
  EXPECT_EQ(cluster.libvirt.pool, "default");
  EXPECT_EQ(cluster.libvirt.memory_mib, 16'384u);
  EXPECT_FALSE(cluster.keepalived);
  const ValidSet set = test::valid(with("  pki:\n", "  keepalived: {interface: eth1}\n  pki:\n"));
  EXPECT_EQ(set.bootstrap_clusters[0].spec.keepalived->virtual_router_id, 51);
}

TEST(BootstrapCluster, WhatNamesAMachineIsFitForScriptsAndXml) {
  const auto errors = [&](const std::string& field) {
    return errors_with("  pki:\n", "  libvirt: {" + field + "}\n  pki:\n");
  };
  EXPECT_THAT(errors("liveISO: rhcos-418.94_0-live.x86_64.iso"), IsEmpty());
  for (const char* bad : {"\"\"", "-x", "..", "a/b", "\"a b\"", "\"a'b\"", "a<b"})
    EXPECT_THAT(errors("pool: " + std::string(bad)), ElementsAre("bad-name /spec/libvirt/pool")) << bad;
  EXPECT_THAT(errors("liveISO: " + std::string(129, 'x')), ElementsAre("bad-name /spec/libvirt/liveISO"));
  EXPECT_THAT(errors("memoryMiB: 512"), ElementsAre("out-of-range /spec/libvirt/memoryMiB"));
  EXPECT_THAT(errors("cpus: 0"), ElementsAre("out-of-range /spec/libvirt/cpus"));
  EXPECT_THAT(errors_with("  pki:\n", "  keepalived: {interface: eth1, virtualRouterID: 256}\n  pki:\n"),
              ElementsAre("out-of-range /spec/keepalived/virtualRouterID"));
  EXPECT_THAT(errors_with("  pki:\n", "  keepalived: {}\n  pki:\n"),
              ElementsAre("missing-field /spec/keepalived/interface"));
}

TEST(BootstrapCluster, ADiskIsFitForScripts) {
  const auto errors = [](const std::string& disk) {
    return errors_with("address: 192.168.126.101}", "address: 192.168.126.101, disk: \"" + disk + "\"}");
  };
  EXPECT_THAT(errors("/dev/disk/by-path/pci-0000:00:05.0-scsi-0:0:0:0"), IsEmpty());
  for (const char* bad : {"/dev/vda; true", "$(true)", "-vda", "/dev/vda@domain@"})
    EXPECT_THAT(errors(bad), ElementsAre("bad-name /spec/nodes/1/disk")) << bad;
}

TEST(BootstrapCluster, NetworksDoNotOverlap) {
  EXPECT_THAT(errors_with("pod: 10.128.0.0/14", "pod: 192.168.0.0/16"),
              ElementsAre("networks-overlap /spec/networks/pod"));
  EXPECT_THAT(errors_with("service: 172.30.0.0/16", "service: 10.130.0.0/16"),
              ElementsAre("networks-overlap /spec/networks/service"));
}

TEST(BootstrapCluster, EveryNodeGetsAPartOfThePodNetwork) {
  const std::string at = "out-of-range /spec/networks/hostPrefix";
  EXPECT_THAT(errors_with("hostPrefix: 23", "hostPrefix: 14"), ElementsAre(at));
  EXPECT_THAT(errors_with("hostPrefix: 23", "hostPrefix: 16"), ElementsAre(at)) << "4 parts for 7 nodes";
  EXPECT_THAT(errors_with("hostPrefix: 23", "hostPrefix: 17"), IsEmpty()) << "8 parts";
  EXPECT_THAT(errors_with("hostPrefix: 23", "hostPrefix: 31"), ElementsAre(at));
}

TEST(BootstrapCluster, AddressesAreHostsOfTheMachineNetworkOutsideDhcpAndDiffer) {
  EXPECT_THAT(errors_with("apiVIP: 192.168.126.10", "apiVIP: 192.168.127.10"),
              ElementsAre("address-outside-cidr /spec/apiVIP"));
  EXPECT_THAT(errors_with("ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.255"),
              ElementsAre("address-reserved /spec/ingressVIP"));
  EXPECT_THAT(errors_with("ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.10"),
              ElementsAre("addresses-collide /spec/ingressVIP"));
  EXPECT_THAT(errors_with("apiVIP: 192.168.126.10", "apiVIP: 192.168.126.220"),
              ElementsAre("address-in-range /spec/apiVIP"));
  EXPECT_THAT(errors_with("address: 192.168.126.102", "address: 192.168.126.101"),
              ElementsAre("addresses-collide /spec/nodes/2/address"));
  EXPECT_THAT(errors_with("dhcpEnd: 192.168.126.249", "dhcpEnd: 192.168.126.199"),
              ElementsAre("range-reversed /spec/networks/dhcpEnd"));
  EXPECT_THAT(errors_with("dhcpEnd: 192.168.126.249", ""), ElementsAre("missing-field /spec/networks/dhcpEnd"));
}

TEST(BootstrapCluster, NodesHaveNamesAndMacAddressesOfTheirOwn) {
  EXPECT_THAT(errors_with("name: master-1", "name: master-0"), ElementsAre("duplicate-name /spec/nodes/2/name"));
  EXPECT_THAT(errors_with("\"52:54:00:00:01:01\"", "\"52-54-00-00-01-00\""),
              ElementsAre("duplicate-name /spec/nodes/2/macAddress"));
  EXPECT_THAT(errors_with("name: master-1", "name: " + std::string(64, 'm')),
              ElementsAre("bad-name /spec/nodes/2/name"));
}

TEST(BootstrapCluster, NodesLeaveTheClusterItsNames) {
  for (const char* taken : {"api", "api-int"})
    EXPECT_THAT(errors_with("name: master-1", std::string("name: ") + taken),
                ElementsAre("duplicate-name /spec/nodes/2/name"));
  EXPECT_THAT(errors_with("name: master-1", "name: localhost"), ElementsAre("bad-name /spec/nodes/2/name"));
  std::string swapped = with("name: bootstrap, role: Bootstrap", "name: boot, role: Bootstrap");
  EXPECT_THAT(test::errors(swapped), IsEmpty());
  swapped.replace(swapped.find("name: master-1"), std::string("name: master-1").size(), "name: bootstrap");
  EXPECT_THAT(test::errors(swapped), ElementsAre("duplicate-name /spec/nodes/2/name"));
}

TEST(BootstrapCluster, OneNodeBootstrapsAndAtLeastOneIsTheControlPlane) {
  EXPECT_THAT(errors_with("role: Bootstrap", "role: Worker"), ElementsAre("bad-nodes /spec/nodes"));
  EXPECT_THAT(errors_with("name: worker-0, role: Worker", "name: worker-0, role: Bootstrap"),
              ElementsAre("bad-nodes /spec/nodes/4/role"));
  EXPECT_THAT(test::warnings(with("name: master-2, role: ControlPlane", "name: master-2, role: Worker")),
              ElementsAre("even-control-plane /spec/nodes"));
}

TEST(BootstrapCluster, NamesFitIntoDns) {
  const std::string label(63, 'd');
  std::string domain = label + '.' + label + '.' + label + '.';
  const std::size_t used = std::string("downloads-openshift-console.apps.ocp4.").size() + domain.size();
  EXPECT_THAT(errors_with("baseDomain: example.com", "baseDomain: " + domain + std::string(253 - used, 'e')),
              IsEmpty());
  EXPECT_THAT(errors_with("baseDomain: example.com", "baseDomain: " + domain + std::string(254 - used, 'e')),
              ElementsAre("bad-hostname /spec/baseDomain"));
}

TEST(BootstrapCluster, AnAuthorityIsNamedOnce) {
  const std::string two =
      "authorities: [{name: a, certificateFile: a.crt, keyFile: a.key}, {name: a, certificateFile: b.crt, keyFile: "
      "\"\"}]";
  EXPECT_THAT(errors_with("layout: HandMade", two),
              ElementsAre("duplicate-name /spec/pki/authorities/1/name", "bad-name /spec/pki/authorities/1/keyFile"));
}

TEST(BootstrapCluster, ProblemsHaveTheirLines) {
  const std::string text = with("apiVIP: 192.168.126.10", "apiVIP: 10.0.0.1");
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(text.find("apiVIP")), '\n') + 1;
  EXPECT_THAT(test::findings(text), ElementsAre(std::to_string(line) + ":11 address-outside-cidr /spec/apiVIP"));
}

}  // namespace
}  // namespace hcpnet::spec
