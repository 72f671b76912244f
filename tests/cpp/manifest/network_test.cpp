// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/manifest/network.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::manifest {
namespace {

using nlohmann::json;

const Cidr kVlan = *parse_cidr("192.168.100.0/24");
const Cidr kVlan6 = *parse_cidr("2001:db8:100::/64");

/// Case HCP-12: a list of strings with prefix lengths, both families.
TEST(NetworksAnnotation, HasEveryAddressWithItsPrefixLength) {
  const InterfaceAddress addresses[] = {*parse_interface_address("192.168.100.4", kVlan),
                                        *parse_interface_address("2001:db8:100::4/64", kVlan6)};
  const json expected = json::parse(
      R"([{"name": "vlan100", "namespace": "clusters-hcp1", "ips": ["192.168.100.4/24", "2001:db8:100::4/64"]}])");
  EXPECT_EQ(json::parse(networks_annotation({"vlan100", "clusters-hcp1"}, addresses)), expected);
}

/// Case HCP-12.
TEST(InterfaceAddress, IsAUsableHostOfItsNetwork) {
  for (const char* bad : {"192.168.100.0", "192.168.100.255", "192.168.101.4", "192.168.100.4/33", "192.168.100.4/24/1",
                          "192.168.100.4/", "192.168.100.4/25", "192.168.100.1", "", "x", "2001:db8:100::4"})
    EXPECT_FALSE(parse_interface_address(bad, kVlan, IpAddress(Ipv4(192, 168, 100, 1)))) << bad;
  EXPECT_EQ(parse_interface_address("192.168.100.4/24", kVlan)->to_string(), "192.168.100.4/24");
  EXPECT_TRUE(parse_interface_address("192.0.2.0", *parse_cidr("192.0.2.0/31")));  // RFC 3021
  EXPECT_FALSE(parse_interface_address("2001:db8:100::", kVlan6));                 // the routers' anycast address
}

TEST(Attachment, OfAnotherNamespaceIsUsableOnlyWhereMultusSaysSo) {
  EXPECT_TRUE(may_use_attachment("hcp", "hcp"));
  EXPECT_TRUE(may_use_attachment("hcp", "default"));
  EXPECT_TRUE(may_use_attachment("hcp", "openshift-cnv"));
  EXPECT_FALSE(may_use_attachment("hcp", "clusters"));
  EXPECT_FALSE(may_use_attachment("default", "hcp"));
}

TEST(Link, IsReadFromText) {
  const LinkOptions bridge = *parse_link("bridge:br-vlan7,vlan=7,mtu=9000");
  EXPECT_EQ(bridge.type, LinkType::bridge);
  EXPECT_EQ(bridge.device, "br-vlan7");
  EXPECT_EQ(bridge.vlan, 7);
  EXPECT_EQ(bridge.mtu, 9000);
  for (const char* bad :
       {"", "bridge", "bridge:", "bridge:a/b", "bridge:a-name-of-16-byt", "vxlan:a", "bridge:a,", "bridge:a,vlan=0",
        "bridge:a,vlan=4095", "bridge:a,vlan=7x", "macvlan:a,vlan=7", "ipvlan:a,mtu=100", "bridge:a,mode=x"})
    EXPECT_FALSE(parse_link(bad)) << bad;
}

json plugins_of(const char* link, std::vector<IpAddress> gateways) {
  const json object = network_attachment({"vlan7", "hcp"}, *parse_link(link), gateways);
  EXPECT_EQ(object["kind"], "NetworkAttachmentDefinition");
  const json config = json::parse(object["spec"]["config"].get<std::string>());
  EXPECT_EQ(config["name"], "vlan7");
  return config["plugins"];
}

TEST(NetworkAttachment, TakesItsAddressesFromThePod) {
  for (const char* link : {"bridge:br0", "macvlan:eth1", "ipvlan:eth1"}) {
    const json plugins = plugins_of(link, {});
    ASSERT_EQ(plugins.size(), 1);
    EXPECT_EQ(plugins[0]["ipam"], json::parse(R"({"type": "static"})"));
    EXPECT_EQ(plugins[0]["capabilities"], json::parse(R"({"ips": true})"));
  }
  EXPECT_EQ(plugins_of("bridge:br0,vlan=7", {})[0]["vlan"], 7);
  EXPECT_EQ(plugins_of("macvlan:eth1,mtu=1400", {})[0]["master"], "eth1");
  EXPECT_EQ(plugins_of("ipvlan:eth1", {})[0]["mode"], "l2");
}

TEST(NetworkAttachment, RoutesRepliesOfBothFamiliesThroughTheVlan) {
  const json plugins = plugins_of("bridge:br0", {*parse_ip_address("192.0.2.1"), *parse_ip_address("2001:db8::1")});
  ASSERT_EQ(plugins.size(), 2);
  EXPECT_EQ(plugins[1], json::parse(R"({"type": "sbr"})"));
  EXPECT_EQ(plugins[0]["ipam"]["routes"], json::parse(R"([
    {"dst": "0.0.0.0/1", "gw": "192.0.2.1"}, {"dst": "128.0.0.0/1", "gw": "192.0.2.1"},
    {"dst": "::/1", "gw": "2001:db8::1"}, {"dst": "8000::/1", "gw": "2001:db8::1"}])"));
}

}  // namespace
}  // namespace hcpnet::manifest
