// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/name.hpp>
#include <vector>

#include "dns/dns_support.hpp"
#include "dns/folded_name.hpp"

namespace hcpnet::dns {
namespace {

using test::name;

std::string wire_of(std::string_view text) {
  return std::string(as_text(name(text).wire()));
}

TEST(DnsName, WireFormIsLengthsAndLabels) {
  EXPECT_EQ(wire_of("api.Example"), std::string("\3api\7Example\0", 13));
  EXPECT_EQ(wire_of("api.Example."), wire_of("api.Example"));
  EXPECT_EQ(wire_of("."), std::string(1, '\0'));
  EXPECT_EQ(wire_of(R"(a\.b\\\065\000.c)"), std::string("\6a.b\\A\0\1c\0", 10));
}

TEST(DnsName, TextThatIsNoNameIsRefused) {
  const std::string label64(64, 'a');
  for (const std::string& text : {std::string(), std::string(".."), std::string(".a"), std::string("a..b"),
                                  label64 + ".b", std::string("a b"), std::string("a\tb"),
                                  std::string("b\xc3\xbc"
                                              "cher.example"),
                                  std::string("a\\"), std::string("a\\25"), std::string("a\\256"),
                                  std::string("a\\2x5"), std::string("a\\\xc3"), std::string("a\0b", 3)})
    EXPECT_EQ(parse_name(text).error(), Errc::bad_name) << text;
}

TEST(DnsName, LengthLimitsAreExact) {
  const std::string label63(63, 'a');
  EXPECT_TRUE(parse_name(label63));
  const std::string three = label63 + '.' + label63 + '.' + label63 + '.';  // 3 * 64 bytes
  EXPECT_EQ(name(three + std::string(61, 'b')).wire().size(), 255U);
  EXPECT_EQ(parse_name(three + std::string(62, 'b')).error(), Errc::bad_name);
  std::string deep;
  for (int i = 0; i < 127; ++i) deep += "x.";
  EXPECT_EQ(name(deep).label_count(), 127U);
  EXPECT_EQ(parse_name(deep + "x").error(), Errc::bad_name);
}

TEST(DnsName, CaseIsKeptAndDoesNotCount) {
  const Name mixed = name("aPi.EXAMPLE.com");
  EXPECT_EQ(mixed.to_string(), "aPi.EXAMPLE.com.");
  EXPECT_EQ(mixed, name("api.example.com"));
  EXPECT_EQ(std::hash<Name>{}(mixed), std::hash<Name>{}(name("api.example.com")));
  EXPECT_FALSE(mixed == name("api.example.con"));
  EXPECT_FALSE(name("a\\[.b") == name("a\\{.b")) << "'[' and '{' differ by the case bit, but are no letters";
  EXPECT_FALSE(name("\\193.b") == name("\\225.b")) << "folding is for ASCII only";
}

// The example of RFC 4034 section 6.1.
TEST(DnsName, OrderIsCanonical) {
  const std::vector<Name> in_order = {name("example"),         name("a.example"),      name("yljkjljk.a.example"),
                                      name("Z.a.example"),     name("zABC.a.EXAMPLE"), name("z.example"),
                                      name("\\001.z.example"), name("*.z.example"),    name("\\200.z.example")};
  std::vector<Name> sorted = in_order;
  std::ranges::reverse(sorted);
  std::ranges::sort(sorted, [](const Name& a, const Name& b) { return a < b; });
  for (std::size_t i = 0; i < in_order.size(); ++i) EXPECT_EQ(sorted[i].to_string(), in_order[i].to_string());
}

TEST(DnsName, TextFormReadsBackAsTheSameBytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string wire{'\3', 'a', static_cast<char>(byte), 'b', '\1', 'c', '\0'};
    const Name original = make_name(wire).value();
    const auto again = parse_name(original.to_string());
    ASSERT_TRUE(again) << original.to_string();
    EXPECT_EQ(as_text(again->wire()), wire);
  }
  EXPECT_EQ(make_name(std::string("\3a.b\0", 5)).value().to_string(), "a\\.b.");
}

TEST(DnsName, WireThatIsNoNameIsRefused) {
  for (const std::string& wire : {std::string(), std::string("\1a", 2), std::string("\1a\0x", 4),
                                  std::string("\300\14", 2), '\100' + std::string(64, 'a') + '\0'})
    EXPECT_EQ(make_name(wire).error(), Errc::bad_name);
}

TEST(DnsName, BelowAndParents) {
  const Name apps = name("apps.Example.com");
  EXPECT_TRUE(name("x.APPS.example.com").is_below_or_equal(apps));
  EXPECT_TRUE(apps.is_below_or_equal(apps));
  EXPECT_TRUE(apps.is_below_or_equal(Name()));
  EXPECT_FALSE(name("xapps.example.com").is_below_or_equal(apps));
  EXPECT_FALSE(name("example.com").is_below_or_equal(apps));
  // The bytes of "\4apps..." end this name, but not at a label: "3\4app" is one label of four characters and a length.
  EXPECT_FALSE(
      make_name(std::string("\6x\4apps\7example\3com\0", 20)).value().is_below_or_equal(name("apps.example.com")));
  EXPECT_EQ(apps.parent(), name("example.com"));
  EXPECT_EQ(apps.wildcard_child()->to_string(), "*.apps.Example.com.");
  EXPECT_TRUE(apps.wildcard_child()->is_wildcard());
  EXPECT_FALSE(name("**.example").is_wildcard());
  EXPECT_FALSE(
      name(std::string(63, 'a') + '.' + std::string(63, 'a') + '.' + std::string(63, 'a') + '.' + std::string(60, 'a'))
          .wildcard_child());
}

TEST(DnsFoldedName, FoldsEightBytesAsOneByOne) {
  for (int byte = 0; byte < 256; ++byte) {
    std::uint64_t word = 0;
    std::uint64_t expected = 0;
    const int neighbour = 255 - byte;
    for (int i = 0; i < 8; ++i) {
      const auto value = static_cast<std::uint8_t>(i % 2 == 0 ? byte : neighbour);
      word = word << 8 | value;
      expected = expected << 8 | (value >= 65 && value <= 90 ? value + 32U : value);
    }
    EXPECT_EQ(fold8(word), expected);
  }
}

TEST(DnsFoldedName, EverySuffixHashesAsTheNameItIs) {
  const FoldedName folded(name("A.bcdefghijk.Example-with-a-long-label.com"));
  const char* suffixes[] = {".", "com", "example-with-a-long-label.com", "bcdefghijk.example-with-a-long-label.com"};
  for (std::size_t labels = 0; labels < 4; ++labels) {
    const FoldedName alone(name(suffixes[labels]));
    EXPECT_EQ(folded.hash(labels), alone.hash(alone.label_count())) << labels;
    EXPECT_EQ(as_text(folded.suffix(labels)), as_text(alone.wire()));
  }
}

}  // namespace
}  // namespace hcpnet::dns
