// SPDX-License-Identifier: Apache-2.0
#include "stack/lease_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>

namespace hcpnet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

dns::Name name(const std::string& text) {
  return dns::parse_name(text).value();
}

MacAddress mac(std::uint8_t last) {
  return MacAddress({2, 0, 0, 0, 0, last});
}

dhcp::Lease lease(std::uint8_t client, std::uint8_t address, const std::string& host_name, int started = 0) {
  dhcp::Lease made;
  made.address = Ipv4(192, 0, 2, address);
  made.mac = mac(client);
  made.host_name = host_name;
  made.subnet = "hcp/vlan";
  made.started = std::chrono::sys_seconds(std::chrono::seconds(started));
  return made;
}

dhcp::Lease ended(dhcp::Lease which, dhcp::LeaseState state) {
  which.state = state;
  return which;
}

dhcp6::Lease lease6(std::optional<MacAddress> client, const std::string& address, const std::string& host_name) {
  dhcp6::Lease made;
  made.address = parse_ipv6(address).value();
  made.client.duid = dhcp6::parse_duid("00:03:00:01:02:00:00:00:00:63").value();
  made.client.mac = client;
  made.host_name = host_name;
  made.subnet = "hcp/vlan";
  return made;
}

class LeaseNamesTest : public testing::Test {
 protected:
  LeaseNamesTest() {
    zone.domain = name("vms.example.com");
    zone.view = "vlan";
    zone.subnets = {"hcp/vlan"};
    zone.reverse = {name("2.0.192.in-addr.arpa"), name("8.b.d.0.1.0.0.2.ip6.arpa")};
    zone.ttl = 20;
    zone.reserved = {{"db", {mac(9).to_string()}}};
    other = std::make_shared<const dns::Zone>(
        name("blue.example.com"), std::vector{dns::make_a(name("api.blue.example.com"), Ipv4(9, 9, 9, 9), 5)});
    const auto fixed = std::make_shared<const dns::Zone>(
        zone.domain, std::vector{dns::make_a(name("gw.vms.example.com"), Ipv4(192, 0, 2, 1), 5)});
    base.views = {{"vlan", {}, {other, fixed}}, {"pod", {}, {other, fixed}}};
    for (const dns::Name& network : zone.reverse)
      base.views[0].zones.push_back(std::make_shared<const dns::Zone>(network, std::vector<dns::RRset>{}));
  }
  /// "owner type data" of what is published, SOA and foreign zones left out.
  [[nodiscard]] std::vector<std::string> published(const LeaseNames& names) const {
    dns::Config config = base;
    names.publish(config);
    EXPECT_EQ(config.views[0].zones[0], other) << "only zones of leases are built anew";
    EXPECT_EQ(config.views[1].zones, base.views[1].zones) << "other views don't see leases";
    std::vector<std::string> lines;
    for (const auto& served : config.views[0].zones) {
      if (served == other) continue;
      for (const dns::RRset& rrset : served->rrsets())
        for (const std::string& data : rrset.rdata)
          if (rrset.type != dns::Type::soa)
            lines.push_back(rrset.owner.to_string() + ' ' + dns::to_string(rrset.type) + ' ' +
                            dns::rdata_to_string(rrset.type, data));
    }
    return lines;
  }

  LeaseZone zone;
  dns::Config base;
  std::shared_ptr<const dns::Zone> other;
};

const std::string kGateway = "gw.vms.example.com. A 192.0.2.1";

TEST_F(LeaseNamesTest, AreThereWhileTheLeaseIsBound) {
  for (const auto state : {dhcp::LeaseState::released, dhcp::LeaseState::expired, dhcp::LeaseState::declined}) {
    LeaseNames names(zone, base);
    EXPECT_THAT(published(names), ElementsAre(kGateway));
    EXPECT_TRUE(names.note(lease(1, 100, "Web.corp.example")));
    EXPECT_FALSE(names.note(lease(1, 100, "web"))) << "a renewal changes nothing";
    EXPECT_THAT(published(names), ElementsAre(kGateway, "web.vms.example.com. A 192.0.2.100",
                                              "100.2.0.192.in-addr.arpa. PTR web.vms.example.com."));
    EXPECT_TRUE(names.note(ended(lease(1, 100, "web"), state)));
    EXPECT_FALSE(names.note(ended(lease(1, 100, "web"), state)));
    EXPECT_THAT(published(names), ElementsAre(kGateway));
    EXPECT_EQ(names.size(), 0u);
  }
}

TEST_F(LeaseNamesTest, FollowTheHostNameOfTheClient) {
  LeaseNames names(zone, base);
  names.note(lease(1, 100, "old"));
  EXPECT_TRUE(names.note(lease(1, 100, "new")));
  EXPECT_THAT(published(names), ElementsAre(kGateway, "new.vms.example.com. A 192.0.2.100",
                                            "100.2.0.192.in-addr.arpa. PTR new.vms.example.com."));
  EXPECT_TRUE(names.note(lease(1, 100, "")));
  EXPECT_THAT(published(names), ElementsAre(kGateway));
}

TEST_F(LeaseNamesTest, AreNeverTakenOver) {
  LeaseNames names(zone, base);
  names.note(lease(1, 100, "web", 50));
  EXPECT_FALSE(names.note(lease(2, 101, "web", 10)));
  EXPECT_EQ(names.refused(), 1u);
  EXPECT_FALSE(names.note(lease6(mac(2), "2001:db8::2", "web")));
  EXPECT_THAT(published(names), testing::Contains("web.vms.example.com. A 192.0.2.100"));
  names.note(ended(lease(1, 100, "web"), dhcp::LeaseState::expired));
  EXPECT_TRUE(names.note(lease(2, 101, "web", 10))) << "it is free now";
}

TEST_F(LeaseNamesTest, OfAnAddressGoToItsNextHolder) {
  LeaseNames names(zone, base);
  names.note(lease(1, 100, "web"));
  EXPECT_TRUE(names.note(lease(2, 100, "mail")));
  EXPECT_THAT(published(names), ElementsAre(kGateway, "mail.vms.example.com. A 192.0.2.100",
                                            "100.2.0.192.in-addr.arpa. PTR mail.vms.example.com."));
}

TEST_F(LeaseNamesTest, HoldBothFamiliesOfOneClient) {
  LeaseNames names(zone, base);
  names.note(lease(1, 100, "web"));
  EXPECT_TRUE(names.note(lease6(mac(1), "2001:db8::1", "web")));
  EXPECT_THAT(published(names),
              ElementsAre(kGateway, "web.vms.example.com. A 192.0.2.100", "web.vms.example.com. AAAA 2001:db8::1",
                          "100.2.0.192.in-addr.arpa. PTR web.vms.example.com.",
                          "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. PTR "
                          "web.vms.example.com."));
  names.note(ended(lease(1, 100, "web"), dhcp::LeaseState::released));
  EXPECT_FALSE(names.note(lease(2, 101, "web"))) << "the IPv6 lease still holds it";
  EXPECT_FALSE(names.note(lease6({}, "2001:db8::2", "web"))) << "known by its DUID alone: somebody else";
}

TEST_F(LeaseNamesTest, OfTheConfigurationAreKeptForTheirOwners) {
  LeaseNames names(zone, base);
  EXPECT_FALSE(names.note(lease(1, 100, "gw")));
  EXPECT_FALSE(names.note(lease(1, 101, "db")));
  EXPECT_EQ(names.refused(), 2u);
  EXPECT_TRUE(names.note(lease(9, 102, "db")));
}

TEST_F(LeaseNamesTest, ReservedByDuidAreForThatClientWhateverElseIsKnownOfIt) {
  zone.reserved = {{"db", {"duid 00:03:00:01:02:00:00:00:00:63"}}};
  LeaseNames names(zone, base);
  EXPECT_FALSE(names.note(lease(1, 100, "db")));
  EXPECT_TRUE(names.note(lease6(mac(7), "2001:db8::1", "db")));
  EXPECT_THAT(published(names), testing::Contains("db.vms.example.com. AAAA 2001:db8::1"));
}

TEST_F(LeaseNamesTest, ReservedByClientIdentifierAreForThatClientFromAnyInterface) {
  const std::string id("\xff\x00\x01", 3);
  zone.reserved = {{"db", {owner_by_client_id(id)}}};
  LeaseNames names(zone, base);
  EXPECT_FALSE(names.note(lease(1, 100, "db")));
  dhcp::Lease identified = lease(7, 101, "db");
  identified.client_id = id;
  EXPECT_TRUE(names.note(identified));
  EXPECT_THAT(published(names), testing::Contains("db.vms.example.com. A 192.0.2.101"));
}

TEST_F(LeaseNamesTest, HaveTheirPointersEachInTheZoneOfItsNetwork) {
  zone.reverse = {name("100.2.0.192.in-addr.arpa"), name("101.2.0.192.in-addr.arpa")};
  base.views[0].zones.resize(2);
  for (const dns::Name& network : zone.reverse)
    base.views[0].zones.push_back(std::make_shared<const dns::Zone>(network, std::vector<dns::RRset>{}));
  LeaseNames names(zone, base);
  names.note(lease(1, 100, "web"));
  names.note(lease(2, 101, "app"));
  dns::Config config = base;
  names.publish(config);
  for (const auto& network : {config.views[0].zones.at(2), config.views[0].zones.at(3)}) {
    ASSERT_EQ(network->rrsets().size(), 2u) << "SOA and PTR";
    EXPECT_EQ(network->rrsets()[1].owner, network->apex());
  }
}

TEST_F(LeaseNamesTest, AreOfTheNamedSubnetsOnly) {
  LeaseNames names(zone, base);
  dhcp::Lease foreign = lease(1, 100, "web");
  foreign.subnet = "hcp/other";
  EXPECT_FALSE(names.note(foreign));
}

TEST_F(LeaseNamesTest, StayWithTheirHoldersOverAReload) {
  LeaseNames before(zone, base);
  before.note(lease(1, 100, "web", 50));
  const std::vector leases{lease(1, 100, "web", 50), lease(2, 101, "web", 10)};
  LeaseNames after(zone, base);
  after.note_all(leases, {}, &before);
  EXPECT_THAT(published(after), testing::Contains("web.vms.example.com. A 192.0.2.100"));
  LeaseNames fresh(zone, base);
  fresh.note_all(leases, {}, nullptr);
  EXPECT_THAT(published(fresh), testing::Contains("web.vms.example.com. A 192.0.2.101")) << "the older binding";
}

TEST(LeaseLabel, IsTheFirstLabelOfAHostName) {
  EXPECT_EQ(lease_label("Web-1.corp.example"), "web-1");
  EXPECT_EQ(lease_label(std::string(63, 'a')), std::string(63, 'a'));
  for (const char* const bad : {"", ".", "-web", "web-", "we b", "we_b", "*", "w\xC3\xA9", ".web"})
    EXPECT_EQ(lease_label(bad), "") << bad;
  EXPECT_EQ(lease_label(std::string(64, 'a')), "");
  EXPECT_EQ(lease_label(std::string("a\0b", 3)), "");
}

std::vector<std::string> zones_of(const std::string& network) {
  std::vector<std::string> texts;
  for (const dns::Name& zone : reverse_zones(parse_cidr(network).value())) texts.push_back(zone.to_string());
  return texts;
}

TEST(ReverseZones, MakeUpTheNetworkExactly) {
  EXPECT_THAT(zones_of("192.0.2.0/24"), ElementsAre("2.0.192.in-addr.arpa."));
  EXPECT_THAT(zones_of("192.0.2.0/23"), ElementsAre("2.0.192.in-addr.arpa.", "3.0.192.in-addr.arpa."));
  EXPECT_THAT(zones_of("10.0.0.0/8"), ElementsAre("10.in-addr.arpa."));
  EXPECT_THAT(zones_of("192.0.2.252/30"), ElementsAre("252.2.0.192.in-addr.arpa.", "253.2.0.192.in-addr.arpa.",
                                                      "254.2.0.192.in-addr.arpa.", "255.2.0.192.in-addr.arpa."));
  EXPECT_EQ(zones_of("192.0.2.128/25").size(), 128u);
  EXPECT_THAT(zones_of("2001:db8::/32"), ElementsAre("8.b.d.0.1.0.0.2.ip6.arpa."));
  EXPECT_THAT(zones_of("2001:db8::/31"), ElementsAre("8.b.d.0.1.0.0.2.ip6.arpa.", "9.b.d.0.1.0.0.2.ip6.arpa."));
  EXPECT_THAT(zones_of("0.0.0.0/0"), ElementsAre("in-addr.arpa."));
}

}  // namespace
}  // namespace hcpnet
