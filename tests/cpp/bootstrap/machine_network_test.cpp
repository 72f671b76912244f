// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/machine_network.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <map>

#include "bootstrap/bootstrap_support.hpp"
#include "bootstrap/identity.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

spec::ValidBootstrapCluster example(const std::string& old_text = {}, const std::string& new_text = {}) {
  return test::bootstrap_cluster(test::bootstrap_text(old_text, new_text));
}
spec::ValidBootstrapCluster without_gateway() {
  return example("    gateway: 192.168.126.1\n");
}
std::map<std::string, std::string> texts_of(const std::vector<pki::OutputFile>& files) {
  std::map<std::string, std::string> texts;
  for (const pki::OutputFile& file : files) texts[file.name] = file.text.reveal();
  return texts;
}
/// Writes the files, with the folders that their names have.
void write_all(const test::TemporaryFolder& folder, const std::vector<pki::OutputFile>& files) {
  ASSERT_TRUE(pki::write_files(folder.path(), files));
}

TEST(MachineNetwork, GoldenAreAsReviewed) {
  test::expect_golden("machine-network.golden.txt", test::in_one(render_machine_network(example())));
}

// --- names

std::vector<std::string> answers(const RenderedFile& file, const std::string& owner, dns::Type type) {
  const auto zone = dns::make_zone(dns::parse_zone_file(file.name, file.text).value());
  const auto found = zone->find(dns::parse_name(owner).value(), type);
  std::vector<std::string> texts;
  if (found.rrset != nullptr)
    for (const std::string& rdata : found.rrset->rdata) texts.push_back(dns::rdata_to_string(type, rdata));
  return texts;
}

TEST(Zones, HaveTheNamesThatAClusterNeeds) {
  const auto files = render_zones(example());
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "zones/ocp4.example.com.zone");
  const auto address_of = [&](const std::string& host) {
    return answers(files[0], host + ".ocp4.example.com", dns::Type::a);
  };
  for (const char* host : {"api", "api-int"}) EXPECT_THAT(address_of(host), ElementsAre("192.168.126.10")) << host;
  for (const char* host : {"any.apps", "console-openshift-console.apps", "a.b.apps"})
    EXPECT_THAT(address_of(host), ElementsAre("192.168.126.11")) << host;
  EXPECT_THAT(address_of("master-1"), ElementsAre("192.168.126.102"));
  EXPECT_THAT(address_of("bootstrap"), ElementsAre("192.168.126.100"));
  EXPECT_THAT(address_of("etcd-0"), IsEmpty());
  EXPECT_EQ(files[1].name, "zones/126.168.192.in-addr.arpa.zone");
  const auto names_of = [&](const std::string& octet) {
    return answers(files[1], octet + ".126.168.192.in-addr.arpa", dns::Type::ptr);
  };
  EXPECT_THAT(names_of("10"), UnorderedElementsAre("api.ocp4.example.com.", "api-int.ocp4.example.com."));
  EXPECT_THAT(names_of("113"), ElementsAre("worker-2.ocp4.example.com."));
  EXPECT_THAT(names_of("11"), IsEmpty());
}

TEST(Zones, OfAddressesEndAtAnOctet) {
  for (const auto& [network, zone, owner] :
       {std::tuple{"192.168.126.0/24", "126.168.192.in-addr.arpa", "101.126.168.192.in-addr.arpa"},
        {"192.168.126.0/25", "126.168.192.in-addr.arpa", "101.126.168.192.in-addr.arpa"},
        {"192.168.64.0/18", "168.192.in-addr.arpa", "101.126.168.192.in-addr.arpa"},
        {"192.0.0.0/8", "192.in-addr.arpa", "101.126.168.192.in-addr.arpa"},
        {"192.0.0.0/4", "in-addr.arpa", "101.126.168.192.in-addr.arpa"}}) {
    std::string text = test::bootstrap_text("machine: 192.168.126.0/24", "machine: " + std::string(network));
    // A DHCP range would not be in the smallest of them.
    for (const char* line : {"    dhcpStart: 192.168.126.200\n", "    dhcpEnd: 192.168.126.249\n"})
      text.erase(text.find(line), std::string(line).size());
    const auto files = render_zones(test::bootstrap_cluster(text));
    EXPECT_EQ(files[1].name, "zones/" + std::string(zone) + ".zone");
    EXPECT_THAT(answers(files[1], owner, dns::Type::ptr), ElementsAre("master-0.ocp4.example.com.")) << network;
  }
}

TEST(Zones, KeepTheirSerialUntilTheyChange) {
  const auto as_previous = [](const std::vector<RenderedFile>& files) {
    PreviousZones zones;
    for (const RenderedFile& file : files) zones[file.name] = file.text;
    return zones;
  };
  const auto first = render_zones(example());
  EXPECT_EQ(render_zones(example(), as_previous(first), 20270115), first);
  const auto changed = example("ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.12");
  const auto second = render_zones(changed, as_previous(first), 20270115);
  EXPECT_EQ(dns::parse_zone_file("z", second[0].text)->serial, 2027011500u);
  EXPECT_EQ(second[1], first[1]);
  const auto third = render_zones(example(), as_previous(second), 20270115);
  EXPECT_EQ(dns::parse_zone_file("z", third[0].text)->serial, 2027011501u);
}

TEST(Zones, AreTakenByNamedCheckzone) {
  const test::TemporaryFolder folder;
  write_all(folder, render_machine_network(example()));
  for (const char* zone : {"ocp4.example.com", "126.168.192.in-addr.arpa"}) {
    const auto ran = test::run("named-checkzone -k fail -n fail -r fail " + std::string(zone) + ' ' +
                               (folder / "zones/") + zone + ".zone");
    EXPECT_EQ(ran.status, 0) << ran.output;
  }
}

// --- libvirt

TEST(Libvirt, SchemasTakeTheNetworkAndEveryMachine) {
  const auto cluster = example();
  const test::TemporaryFolder folder;
  write_all(folder, render_machine_network(cluster));
  std::vector<std::pair<std::string, std::string>> files{{"libvirt/network.xml", "network"}};
  for (const spec::ValidNode& node : cluster.nodes)
    files.push_back({"libvirt/machines/" + node.name + ".xml", "domain"});
  EXPECT_EQ(files.size(), 8u);
  for (const auto& [name, schema] : files) {
    const auto ran = test::run("virt-xml-validate " + (folder / name) + ' ' + schema);
    EXPECT_EQ(ran.status, 0) << ran.output;
  }
  test::write_file(folder / "bridged.xml", render_libvirt_domain(without_gateway(), cluster.nodes[1]));
  const auto ran = test::run("virt-xml-validate " + (folder / "bridged.xml") + " domain");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST(Libvirt, AMachineBootsFromItsDiskBeforeTheIso) {
  const auto cluster =
      example("  pki:\n", "  libvirt: {pool: fast, liveISO: rhcos.iso, memoryMiB: 8192, cpus: 2}\n  pki:\n");
  const std::string text = render_libvirt_domain(cluster, cluster.nodes[1]);
  EXPECT_LT(text.find("<boot dev='hd'/>"), text.find("<boot dev='cdrom'/>"));
  EXPECT_THAT(
      text, AllOf(HasSubstr("<name>ocp4-master-0</name>"), HasSubstr("<mac address='52:54:00:00:01:00'/>"),
                  HasSubstr("<source pool='fast' volume='ocp4-master-0.qcow2'/>"),
                  HasSubstr("<source pool='fast' volume='rhcos.iso'/>"), HasSubstr("<memory unit='MiB'>8192</memory>"),
                  HasSubstr("<vcpu>2</vcpu>"), HasSubstr("<source network='ocp4'/>")));
  EXPECT_THAT(render_libvirt_domain(without_gateway(), cluster.nodes[1]), HasSubstr("<source bridge='virbr-ocp4'/>"));
}

TEST(Libvirt, TheNetworkKnowsEveryNodeAndEveryName) {
  const auto cluster = example();
  const std::string text = render_libvirt_network(cluster);
  for (const spec::ValidNode& node : cluster.nodes) {
    EXPECT_THAT(text, HasSubstr("<host mac='" + node.mac.to_string() + "' name='" + node.name + "' ip='" +
                                node.address.to_string() + "'/>"));
    EXPECT_THAT(text, HasSubstr("<hostname>" + node.name + ".ocp4.example.com</hostname>"));
  }
  for (const char* piece :
       {"<hostname>api.ocp4.example.com</hostname>", "<hostname>api-int.ocp4.example.com</hostname>",
        "value='address=/apps.ocp4.example.com/192.168.126.11'", "<forward mode='nat'/>",
        "<ip family='ipv4' address='192.168.126.1' prefix='24'>",
        "<range start='192.168.126.200' end='192.168.126.249'/>"})
    EXPECT_THAT(text, HasSubstr(piece));
  EXPECT_EQ(render_libvirt_network(without_gateway()), "");
  EXPECT_FALSE(texts_of(render_machine_network(without_gateway())).contains("libvirt/network.xml"));
}

TEST(Libvirt, UuidsAreThoseOfTheNames) {
  // What uuid.uuid5(uuid.NAMESPACE_DNS, NAME) of Python gives.
  EXPECT_EQ(name_uuid("www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
  EXPECT_THAT(render_libvirt_network(example()), HasSubstr("<uuid>" + name_uuid("ocp4.example.com") + "</uuid>"));
}

TEST(Libvirt, ABridgeOfALongNameFitsIntoLinux) {
  EXPECT_EQ(example().bridge, "virbr-ocp4");
  EXPECT_EQ(example("clusterName: ocp4", "clusterName: a-cluster-with-a-long-name").bridge, "virbr-a-cluster");
  EXPECT_EQ(example("clusterName: ocp4", "clusterName: clusters-1").bridge, "virbr-clusters");
  EXPECT_EQ(example("  pki:\n", "  libvirt: {bridge: br0}\n  pki:\n").bridge, "br0");
}

// --- packet filter and addresses

TEST(PacketFilter, NftTakesIt) {
  const test::TemporaryFolder folder;
  write_all(folder, render_machine_network(example()));
  // In a network namespace of its own, so that nothing depends on the rules of this machine.
  const auto ran = test::run("unshare --user --map-root-user --net nft --check --file " + (folder / "nftables.nft"));
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST(PacketFilter, LetsMachinesAloneToTheirConfigs) {
  const std::string text = render_packet_filter(example());
  EXPECT_THAT(text, AllOf(HasSubstr("ip daddr 192.168.126.10 tcp dport 6443 accept\n"),
                          HasSubstr("ip daddr 192.168.126.11 tcp dport { 80, 443 } accept\n"),
                          HasSubstr("ip saddr 192.168.126.0/24 ip daddr 192.168.126.10 tcp dport 22623 accept\n"),
                          HasSubstr("masquerade\n")));
  EXPECT_THAT(text, Not(HasSubstr("22623, ")));
  EXPECT_LT(text.find("dport 22623 accept"), text.find("drop"));
}

TEST(Firewalld, TakesItsFiles) {
  // A name for chains as long as firewalld allows, and one with a dot.
  for (const char* bridge : {"virbr-ocp4", "br-abcdefghijkl", "br0.100"}) {
    const test::TemporaryFolder folder;
    const std::string fields = "  keepalived: {interface: eth1}\n  libvirt: {bridge: " + std::string(bridge) + "}\n";
    write_all(folder, render_machine_network(example("  pki:\n", fields + "  pki:\n")));
    const auto ran = test::run("firewall-offline-cmd --system-config " + (folder / "firewalld") + " --check-config");
    EXPECT_EQ(ran.status, 0) << ran.output;
  }
}

TEST(Firewalld, LetsMachinesAloneToTheirConfigs) {
  const auto texts = texts_of(render_machine_network(example()));
  EXPECT_THAT(texts.at("firewalld/services/ocp4-machine-config.xml"),
              AllOf(HasSubstr("port=\"22623\""), HasSubstr("ipv4=\"192.168.126.10\"")));
  EXPECT_THAT(texts.at("firewalld/zones/virbr-ocp4.xml"),
              AllOf(HasSubstr("<source address=\"192.168.126.0/24\"/>"),
                    HasSubstr("<service name=\"ocp4-machine-config\"/>"), HasSubstr("<service name=\"ocp4-api\"/>"),
                    HasSubstr("<service name=\"dns\"/>"), HasSubstr("port=\"8080\"")));
  EXPECT_THAT(texts.at("firewalld/policies/virbr-ocp4-out.xml"),
              AllOf(HasSubstr("<masquerade/>"), HasSubstr("<ingress-zone name=\"virbr-ocp4\"/>")));
  const auto moving =
      texts_of(render_machine_network(example("  pki:\n", "  keepalived: {interface: eth1}\n  pki:\n")));
  EXPECT_THAT(moving.at("firewalld/zones/virbr-ocp4.xml"), HasSubstr("<protocol value=\"vrrp\"/>"));
}

TEST(AddressUnit, SystemdTakesIt) {
  const test::TemporaryFolder folder;
  const std::string unit = render_address_unit(example());
  test::write_file(folder / "virtual-addresses.service", unit);
  const auto ran = test::run("systemd-analyze verify " + (folder / "virtual-addresses.service"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(unit, AllOf(HasSubstr("sys-subsystem-net-devices-virbr\\x2docp4.device"),
                          HasSubstr("address replace 192.168.126.10/32 dev virbr-ocp4\n"),
                          HasSubstr("address replace 192.168.126.11/32 dev virbr-ocp4\n")));
}

TEST(AddressUnit, IsNotThereWhereKeepalivedHoldsTheAddresses) {
  EXPECT_TRUE(texts_of(render_machine_network(example())).contains("virtual-addresses.service"));
  EXPECT_FALSE(texts_of(render_machine_network(example("  pki:\n", "  keepalived: {interface: eth1}\n  pki:\n")))
                   .contains("virtual-addresses.service"));
}

}  // namespace
}  // namespace hcpnet::bootstrap
