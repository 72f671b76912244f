// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/options.hpp>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes read_case(const std::string& name) {
  std::ifstream file(HCPNET_TEST_DATA "/dhcp/cases/" + name);
  Bytes out;
  for (char high = 0, low = 0; file >> high >> low;) {
    out.push_back(static_cast<std::uint8_t>(std::stoi(std::string{high, low}, nullptr, 16)));
  }
  EXPECT_FALSE(out.empty()) << name;
  return out;
}

ClasslessRoute route(const char* destination, unsigned length, const char* router) {
  return {Ipv4Cidr(parse_ipv4(destination).value(), length), parse_ipv4(router).value()};
}

const std::vector<ClasslessRoute> kRoutes = {
    route("0.0.0.0", 0, "192.168.100.1"),          route("10.17.0.0", 16, "192.168.100.254"),
    route("10.27.129.0", 24, "192.168.100.254"),   route("10.229.0.128", 25, "192.168.100.254"),
    route("10.198.122.47", 32, "192.168.100.254"), route("172.16.0.0", 12, "0.0.0.0")};

// DHC-26
TEST(DhcpClasslessRoutes, AreWrittenWithSignificantOctetsOnly) {
  EXPECT_EQ(encode_classless_routes(kRoutes), read_case("DHC-26-encode.hex"));
}

TEST(DhcpClasslessRoutes, AreReadBack) {
  const auto routes = parse_classless_routes(read_case("DHC-26-encode.hex"));
  ASSERT_TRUE(routes);
  EXPECT_EQ(*routes, kRoutes);
}

TEST(DhcpClasslessRoutes, WithWrongWidthOrTooShortAreRefused) {
  EXPECT_EQ(parse_classless_routes(read_case("DHC-26-bad-width33.hex")).error(), Errc::malformed);
  EXPECT_EQ(parse_classless_routes(read_case("DHC-26-bad-short.hex")).error(), Errc::malformed);
  EXPECT_EQ(parse_classless_routes({}).error(), Errc::malformed);
}

TEST(DhcpClasslessRoutes, LoseTheirHostBits) {
  const auto routes = parse_classless_routes(read_case("DHC-26-host-bits.hex"));
  ASSERT_TRUE(routes);
  EXPECT_EQ(*routes, (std::vector{route("10.0.0.0", 8, "192.168.100.1"), route("172.16.0.0", 12, "192.168.100.1")}));
}

TEST(DhcpClasslessRoutes, EveryProperPrefixIsRefusedOrIsFewerRoutes) {
  const Bytes all = read_case("DHC-26-encode.hex");
  std::size_t whole = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto routes = parse_classless_routes(ByteView(all).first(n));
    if (!routes) continue;
    ++whole;
    EXPECT_LT(routes->size(), kRoutes.size());
    EXPECT_TRUE(std::ranges::equal(*routes, std::span(kRoutes).first(routes->size())));
  }
  EXPECT_EQ(whole, kRoutes.size() - 1);
}

TEST(DhcpDomainSearch, PointsBackToTailsThatWereWritten) {
  const std::vector<std::string> names = {"eng.apple.com", "marketing.apple.com"};  // the example of RFC 3397 section 2
  const Bytes expected = {3, 'e', 'n', 'g', 5,   'a', 'p', 'p', 'l', 'e', 3,   'c',  'o', 'm',
                          0, 9,   'm', 'a', 'r', 'k', 'e', 't', 'i', 'n', 'g', 0xC0, 4};
  const auto encoded = encode_domain_search(names);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(*encoded, expected);
}

TEST(DhcpDomainSearch, RefusesWhatIsNoName) {
  for (const std::string& name :
       {std::string(), std::string("a..b"), std::string("."), std::string(64, 'a'), std::string(254, 'a')}) {
    EXPECT_EQ(encode_domain_search(std::vector{name}).error(), Errc::malformed) << name;
  }
  EXPECT_TRUE(encode_domain_search(std::vector<std::string>{"example.com."}));
}

TEST(DhcpHostLabel, IsMadeOfWhatClientsSend) {
  const auto label = [](std::string_view name) { return make_host_label(as_bytes(name)); };
  using namespace std::string_view_literals;
  EXPECT_EQ(label("EXAMPLE\0"sv), "example");
  EXPECT_EQ(label("BUSY Bar"), "busy-bar");
  EXPECT_EQ(label("\"infix\""), "infix");
  EXPECT_EQ(label("worker-0.hcp1.example.com"), "worker-0");
  EXPECT_EQ(label(std::string(255, 'a')), std::string(63, 'a'));
  EXPECT_EQ(label(std::string(62, 'a') + "-b"), std::string(62, 'a'));
  for (const auto useless :
       {""sv, "localhost"sv, "1.2.3.4"sv, "../../etc"sv, "\xC3\xA9"sv, "\0\0"sv, "12345"sv, "---"sv}) {
    EXPECT_EQ(label(useless), "") << useless;
  }
}

TEST(DhcpOptionSet, JoinsPiecesAndKeepsTheOrderOfFirstAppearance) {
  OptionSet set;
  set.add(55, Bytes{1, 3});
  set.add(12, Bytes{'x'});
  set.add(55, Bytes{6, 15});
  set.add(12, Bytes{'y'});
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(set[0].code, 55);
  EXPECT_TRUE(std::ranges::equal(set[0].data, Bytes{1, 3, 6, 15}));
  EXPECT_TRUE(std::ranges::equal(set[1].data, Bytes{'x', 'y'}));
  EXPECT_TRUE(std::ranges::equal(*set.find(12), Bytes{'x', 'y'}));
}

TEST(DhcpOptionSet, TellsAnEmptyOptionFromAnAbsentOne) {
  OptionSet set;
  set.add(80, {});
  EXPECT_TRUE(set.contains(80));
  EXPECT_FALSE(set.contains(81));
  set.add(80, Bytes{1});
  EXPECT_EQ(set.find_u8(80), 1);
}

TEST(DhcpOptionSet, NumbersHaveToHaveTheirSize) {
  OptionSet set;
  set.add_u16(57, 1500);
  EXPECT_EQ(set.find_u16(57), 1500);
  EXPECT_EQ(set.find_u8(57), std::nullopt);
  EXPECT_EQ(set.find_u32(57), std::nullopt);
  EXPECT_EQ(set.find_address(57), std::nullopt);
}

TEST(DhcpProtocolOptions, AreThoseThatOneReplyDecides) {
  for (const int code : {0, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 81, 82, 118, 255}) {
    EXPECT_TRUE(is_protocol_option(static_cast<std::uint8_t>(code))) << code;
  }
  for (const int code : {1, 3, 6, 12, 15, 26, 42, 43, 60, 66, 67, 119, 121, 254}) {
    EXPECT_FALSE(is_protocol_option(static_cast<std::uint8_t>(code))) << code;
  }
}

}  // namespace
}  // namespace hcpnet::dhcp
