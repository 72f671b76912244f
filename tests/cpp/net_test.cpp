// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/net.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace hcpnet {
namespace {

TEST(ParseIpv4, TakesFourDecimalPartsAndNothingElse) {
  EXPECT_EQ(parse_ipv4("192.0.2.1"), Ipv4(192, 0, 2, 1));
  EXPECT_EQ(parse_ipv4("0.0.0.0"), Ipv4());
  EXPECT_EQ(parse_ipv4("255.255.255.255")->to_string(), "255.255.255.255");
  for (const char* wrong : {"", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.-4",
                            "1.2.3.4 ", "1.2.3.0x4", "1.2.3.4/24", "1..2.3", "4294967296", "1.2.3.99999999999"})
    EXPECT_FALSE(parse_ipv4(wrong)) << wrong;
}

/// Case MAN-12: the file of the case, and its text that no field takes in another way.
TEST(ParseIpAddress, Man12TextIsReadOneWayOrNotAtAll) {
  const std::string file = "spec/MAN-12.yaml";
  const text::Parsed parsed = text::parse_yaml(file, test::read_file(test::data_path(file)));
  ASSERT_EQ(parsed.documents.size(), 1U) << parsed.problems.to_string();
  Diagnostics problems;
  const nlohmann::json data = text::to_json(parsed.documents.front(), file, problems);
  for (const auto& [text, expected] : data["valid"].items()) {
    const auto address = parse_ip_address(text);
    ASSERT_TRUE(address) << text;
    const std::string forms = '|' + expected.get<std::string>() + '|';  // a mapped address has two
    EXPECT_NE(forms.find('|' + address->to_string() + '|'), std::string::npos) << address->to_string();
    EXPECT_NE(forms.find('|' + address->unmapped().to_string() + '|'), std::string::npos);
  }
  for (const nlohmann::json& text : data["invalid"]) {
    EXPECT_FALSE(parse_ip_address(text.get<std::string>())) << text;
    EXPECT_FALSE(parse_cidr(text.get<std::string>())) << text;
  }
  for (const nlohmann::json& join : data["join"]) {
    const auto host = join[0].get<std::string>();
    const auto address = parse_ip_address(host);
    ASSERT_EQ(address.has_value(), host != "api.example.com") << "a name is no address, and has no brackets";
    if (address) {
      EXPECT_EQ((Endpoint{*address, join[1].get<std::uint16_t>()}.to_string()), join[2]);
    }
  }
}

TEST(ParseIpv6, ReadsAndPrintsRfc5952) {
  EXPECT_EQ(parse_ipv6("2001:DB8:0:0:0:0:0:1")->to_string(), "2001:db8::1");
  for (const char* wrong : {"", "2001:db8::1%eth0", "1.2.3.4", ":::", "[::1]", "1:2:3:4:5:6:7:8:9"})
    EXPECT_FALSE(parse_ipv6(wrong)) << wrong;
  EXPECT_FALSE(parse_ipv6(std::string_view("::1\0x", 5)));
}

TEST(Ipv4Cidr, KnowsItsMaskAndItsHosts) {
  const Ipv4Cidr cidr = *parse_ipv4_cidr("192.0.2.64/26");
  EXPECT_EQ(cidr.mask().to_string(), "255.255.255.192");
  EXPECT_EQ(cidr.broadcast(), Ipv4(192, 0, 2, 127));
  EXPECT_TRUE(cidr.contains(Ipv4(192, 0, 2, 64)));
  EXPECT_FALSE(cidr.is_host(Ipv4(192, 0, 2, 64)));
  EXPECT_FALSE(cidr.is_host(Ipv4(192, 0, 2, 127)));
  EXPECT_TRUE(cidr.is_host(Ipv4(192, 0, 2, 65)));
  EXPECT_FALSE(cidr.contains(Ipv4(192, 0, 2, 128)));
  EXPECT_TRUE(Ipv4Cidr(Ipv4(192, 0, 2, 1), 31).is_host(Ipv4(192, 0, 2, 0)));
  EXPECT_TRUE(Ipv4Cidr(Ipv4(192, 0, 2, 1), 0).contains(Ipv4(9, 9, 9, 9)));
  for (const char* wrong :
       {"192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/024", "192.0.2.0/", "192.0.2.0", "2001:db8::/32"})
    EXPECT_FALSE(parse_ipv4_cidr(wrong)) << wrong;
}

TEST(Cidr, MatchesItsOwnFamilyOnly) {
  const Cidr v6 = *parse_cidr("2001:db8::/33");
  EXPECT_TRUE(v6.contains(*parse_ip_address("2001:db8:7fff::1")));
  EXPECT_FALSE(v6.contains(*parse_ip_address("2001:db8:8000::1")));
  EXPECT_FALSE(v6.contains(Ipv4(32, 1, 13, 184)));
  EXPECT_TRUE(parse_cidr("0.0.0.0/0")->contains(Ipv4(8, 8, 8, 8)));
  EXPECT_TRUE(parse_cidr("10.0.0.0/8")->overlaps(*parse_cidr("10.1.0.0/16")));
  EXPECT_FALSE(parse_cidr("10.0.0.0/16")->overlaps(*parse_cidr("10.1.0.0/16")));
  EXPECT_FALSE(parse_cidr("2001:db8::1/32"));
}

TEST(MacAddress, ReadsBothSeparatorsAndPrintsOne) {
  EXPECT_EQ(parse_mac_address("02-00-00-AB-cd-01")->to_string(), "02:00:00:ab:cd:01");
  for (const char* wrong :
       {"", "02:00:00:ab:cd", "02:00-00:ab:cd:01", "02:00:00:ab:cd:0g", "0200.00ab.cd01", "02:00:00:ab:cd:01:02"})
    EXPECT_FALSE(parse_mac_address(wrong)) << wrong;
}

TEST(Endpoint, KeepsIpv6InBrackets) {
  EXPECT_EQ(parse_endpoint("[2001:db8::1]:53")->to_string(), "[2001:db8::1]:53");
  EXPECT_EQ(parse_endpoint("2001:db8::1", 53)->to_string(), "[2001:db8::1]:53");
  EXPECT_EQ(parse_endpoint("[2001:db8::1]", 53)->to_string(), "[2001:db8::1]:53");
  EXPECT_EQ(parse_endpoint("192.0.2.1:5353", 53)->port, 5353);
  EXPECT_EQ(parse_endpoint("192.0.2.1", 53)->port, 53);
  for (const char* wrong : {"192.0.2.1", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "2001:db8::1:53",
                            "[192.0.2.1]:53", ":53", "host:53"})
    EXPECT_FALSE(parse_endpoint(wrong)) << wrong;
}

TEST(Ipv4Range, CountsTheWholeSpace) {
  EXPECT_EQ((Ipv4Range{Ipv4(), Ipv4(255, 255, 255, 255)}).size(), 1ull << 32);
  EXPECT_TRUE((Ipv4Range{Ipv4(1), Ipv4(5)}).overlaps({Ipv4(5), Ipv4(9)}));
  EXPECT_FALSE((Ipv4Range{Ipv4(1), Ipv4(4)}).overlaps({Ipv4(5), Ipv4(9)}));
}

TEST(IpAddress, UnmapsWhatStandsForAnIpv4Address) {
  const auto unmapped = [](std::string_view text) { return parse_ip_address(text).value().unmapped().to_string(); };
  EXPECT_EQ(unmapped("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(unmapped("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(unmapped("::192.0.2.1"), "::192.0.2.1") << "IPv4-compatible addresses are no more (RFC 4291 2.5.5.1)";
  EXPECT_EQ(unmapped("64:ff9b::c000:201"), "64:ff9b::c000:201");
}

}  // namespace
}  // namespace hcpnet
