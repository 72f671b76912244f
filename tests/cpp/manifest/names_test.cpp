// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/manifest/names.hpp>
#include <regex>
#include <set>

namespace hcpnet::manifest {
namespace {

using testing::EndsWith;
using testing::MatchesRegex;
using testing::StartsWith;

// FIPS 180-4 example values, and one of more than one block (NIST CSRC, "SHA-256 examples").
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Case MAN-05.
TEST(CutName, KeepsWhatFits) {
  const std::string longest(63, 'a');
  EXPECT_EQ(cut_name(longest), longest);
  EXPECT_EQ(cut_name("vlan7", "-dns"), "vlan7-dns");
  EXPECT_EQ(cut_name(cut_name(std::string(64, 'a'))), cut_name(std::string(64, 'a')));
}

TEST(CutName, ToldApartAfterTheCut) {
  const std::string a = std::string(70, 'p') + "xxxxxxxxxx";
  const std::string b = std::string(70, 'p') + "yyyyyyyyyy";
  for (const char* suffix : {"", "-dns", "-dns-config", "-anyuid-scc"}) {
    EXPECT_NE(cut_name(a, suffix), cut_name(b, suffix));
    EXPECT_EQ(cut_name(a, suffix).size(), kMaxLabelBytes);
    EXPECT_THAT(cut_name(a, suffix), EndsWith(suffix));
  }
  EXPECT_THAT(cut_name(a), MatchesRegex("p{54}-[0-9a-f]{8}"));
  EXPECT_EQ(cut_name(std::string(300, 'a'), "-x", kMaxNameBytes).size(), kMaxNameBytes);
}

TEST(CutName, NeverEndsAPartInAHyphenOrDot) {
  const std::string dashes = std::string(53, 'b') + "---" + std::string(20, 'c');
  EXPECT_THAT(cut_name(dashes), MatchesRegex("b{53}-[0-9a-f]{8}"));
  EXPECT_THAT(cut_name(std::string(50, 'b') + "...." + std::string(20, 'c')), MatchesRegex("b{50}-[0-9a-f]{8}"));
}

/// Case MAN-07.
TEST(ServiceName, IsARfc1035Label) {
  const std::regex label("^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$");
  for (const char* name : {"8472-proxy", "hcp.1", "a", "1", "a.b.c", "vlan7", "x-1.y"})
    for (const char* suffix : {"", "-dns", "-proxy-external"})
      EXPECT_TRUE(std::regex_match(service_name(name, suffix), label)) << service_name(name, suffix);
  EXPECT_EQ(service_name("vlan7", "-dns"), "vlan7-dns");
  EXPECT_THAT(service_name("8472", "-proxy"), StartsWith("h-8472-"));
}

TEST(ServiceName, DifferentNamesStayDifferent) {
  std::set<std::string> all;
  for (const char* name : {"a.b", "a-b", "8a", "h-8a", "8.a", "8-a"}) all.insert(service_name(name, "-dns"));
  EXPECT_EQ(all.size(), 6);
}

}  // namespace
}  // namespace hcpnet::manifest
