// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>

#include <map>

#include "dns/dns_support.hpp"
#include "support/files.hpp"

namespace hcpnet::dns {
namespace {

using test::name;

constexpr const char* kSoa = "@ 300 IN SOA ns hostmaster 7 3600 600 86400 60\n";

std::vector<std::string> lines_of(const ZoneRecords& zone) {
  std::vector<std::string> lines;
  for (const RRset& set : zone.rrsets)
    for (const std::string& rdata : set.rdata)
      lines.push_back(set.owner.to_string() + ' ' + std::to_string(set.ttl) + ' ' + to_string(set.type) + ' ' +
                      rdata_to_string(set.type, rdata));
  return lines;
}

Result<ZoneRecords, Diagnostics> parse(const std::string& text) {
  return parse_zone_file("z", text, name("example.com"));
}

std::string problems_of(const std::string& text) {
  const auto parsed = parse(text);
  if (parsed) return "none";
  std::string all;
  for (const Diagnostic& d : parsed.error()) all += (all.empty() ? "" : " ") + std::to_string(d.line) + ':' + d.code;
  return all;
}

TEST(ParseZoneFile, ReadsEveryWayOfWritingARecord) {
  const auto zone = parse(
      "; a comment\n"
      "$TTL 1h\n"
      "@ IN SOA ns hostmaster (7 ; serial\n"
      "    1h 10m\n"
      "    1d 60 )\n"
      "\n"
      "www   300 IN A 192.0.2.1\n"
      "      IN 400 A 192.0.2.2 ; same owner\n"
      "      AAAA 2001:db8::1\n"
      "$ORIGIN sub.example.com.\n"
      "*     A 192.0.2.3\r\n"
      "txt   TXT ( \"semi;colon\" un\\;quoted\n"
      "            \"\\195\\169 \\\"q\\\"\" )\n"
      "a\\.b  TYPE65280 \\# 2 ABcd\n"
      "in    IN A 192.0.2.4\n"
      "dane  TLSA 3 1 1 ( AB\n"
      "        cd ) ; a digest may be cut\n"
      "sig   RRSIG \\# 3 0001 0d\n"
      "abs.example.com. TYPE1 \\# 4 c0000205\n");
  ASSERT_TRUE(zone) << zone.error().to_string();
  EXPECT_EQ(zone->apex, name("example.com"));
  EXPECT_EQ(zone->serial, 7U);
  EXPECT_EQ(lines_of(*zone), (std::vector<std::string>{
                                 "example.com. 3600 SOA ns.example.com. hostmaster.example.com. 7 3600 600 86400 60",
                                 "www.example.com. 300 A 192.0.2.1",
                                 "www.example.com. 300 A 192.0.2.2",
                                 "www.example.com. 3600 AAAA 2001:db8::1",
                                 "*.sub.example.com. 3600 A 192.0.2.3",
                                 "txt.sub.example.com. 3600 TXT \"semi;colon\" \"un;quoted\" \"\\195\\169 \\\"q\\\"\"",
                                 "a\\.b.sub.example.com. 3600 TYPE65280 \\# 2 abcd",
                                 "in.sub.example.com. 3600 A 192.0.2.4",
                                 "dane.sub.example.com. 3600 TLSA 3 1 1 abcd",
                                 "sig.sub.example.com. 3600 RRSIG \\# 3 00010d",
                                 "abs.example.com. 3600 A 192.0.2.5",
                             }));
  ASSERT_EQ(zone->warnings.warning_count(), 1U);
  EXPECT_EQ(zone->warnings.items()[0].code, "zone-ttl-differs");
  EXPECT_EQ(zone->warnings.items()[0].line, 8U);
}

TEST(ParseZoneFile, PassesOverAByteOrderMarkAtItsStartOnly) {
  EXPECT_EQ(problems_of("\xEF\xBB\xBF"
                        "$TTL 60\n@ SOA ns h 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n"),
            "none");
  EXPECT_NE(problems_of("$TTL 60\n"
                        "\xEF\xBB\xBF"
                        "$TTL 60\n@ SOA ns h 1 1 1 1 1\n"),
            "none");
}

TEST(ParseZoneFile, ReportsEveryErrorWithItsLineAtOnce) {
  EXPECT_EQ(
      problems_of(std::string(kSoa) +              // 1
                  "a 300 A 192.0.2\n"              // 2
                  "b 300 IN NOTYPE x\n"            // 3
                  "c 300 CH A 192.0.2.1\n"         // 4
                  "$INCLUDE other\n"               // 5
                  "$GENERATE 1-2 a A 192.0.2.$\n"  // 6
                  "d..e 300 A 192.0.2.1\n"         // 7
                  "  300 A 192.0.2.1\n"            // 8: of an owner that was bad
                  "e 300 TXT \"open\n"             // 9
                  "f 300 A 192.0.2.1 )\n"          // 10
                  "other.test. 300 A 192.0.2.1\n"  // 11
                  "g 300 CNAME api\n"              // 12
                  "g 300 A 192.0.2.1\n"            // 13
                  "@ 300 CNAME api\n"              // 14
                  "h 300\n"                        // 15
                  "@ 300 SOA a b 1 2 3 4 5\n"      // 16
                  "$TTL 1h30\n"                    // 17
                  "i 99999999999 A 192.0.2.1\n"    // 18
                  "j 300 DNAME api\n"),            // 19
      "2:zone-rdata 3:zone-type 4:zone-class 5:zone-include 6:zone-directive 7:zone-name 9:zone-syntax "
      "10:zone-syntax 11:zone-outside 12:zone-cname 14:zone-cname 15:zone-record 16:zone-soa 17:zone-ttl 18:zone-ttl "
      "19:zone-type");
}

TEST(ParseZoneFile, PointsAtTheWordThatIsWrong) {
  const auto zone = parse(std::string(kSoa) + "mail 300 IN MX ten mx.test.\n");
  ASSERT_FALSE(zone);
  EXPECT_EQ(zone.error().to_string(),
            "z:2:16: error: not data of type MX (found ten; expected a number from 0 to 65535) [zone-rdata]\n");
}

TEST(ParseZoneFile, NeedsASoaAnOriginAndATtl) {
  EXPECT_EQ(problems_of("a 300 A 192.0.2.1\n"), "0:zone-soa");
  EXPECT_EQ(problems_of(""), "0:zone-soa");
  EXPECT_EQ(problems_of(std::string(kSoa) + "a (300 A\n192.0.2.1\n"), "2:zone-syntax") << "where it was opened";
  EXPECT_EQ(parse_zone_file("z", kSoa).error().items()[0].code, "zone-origin");
  EXPECT_EQ(problems_of("@ IN NS ns\n" + std::string(kSoa)), "1:zone-ttl");
  EXPECT_EQ(problems_of("   300 NS ns\n" + std::string(kSoa)), "1:zone-owner");
}

TEST(ParseZoneFile, EveryLimitIsAnErrorThatNamesIt) {
  const std::string text = std::string(kSoa) + "a 300 A 192.0.2.1\na 300 A 192.0.2.2\n";
  ZoneFileLimits limits;
  limits.max_records = 2;
  EXPECT_EQ(parse_zone_file("z", text, name("example.com"), limits).error().items()[0].code, "zone-too-large");
  limits = {};
  limits.max_file_bytes = text.size() - 1;
  EXPECT_EQ(parse_zone_file("z", text, name("example.com"), limits).error().items()[0].code, "zone-too-large");
  limits = {};
  limits.max_entry_bytes = 100;
  EXPECT_EQ(parse_zone_file("z", kSoa + ("a 300 TXT (" + std::string(200, '\n')), name("example.com"), limits)
                .error()
                .items()[0]
                .code,
            "zone-syntax");
}

TEST(ParseZoneFile, RecordsOfOneNameNeedNotStandTogether) {
  std::string text = "$ORIGIN example.\n$TTL 30\n@ SOA ns h 1 1 1 1 1\nz A 192.0.2.1\na A 192.0.2.2\nZ A 192.0.2.3\n";
  for (int i = 0; i < 40; ++i) text += "m A 10.0.0." + std::to_string(i % 20) + "\na TXT t" + std::to_string(i) + '\n';
  const auto parsed = parse_zone_file("test", text);
  ASSERT_TRUE(parsed);
  std::map<std::string, std::size_t> found;
  for (const RRset& set : parsed->rrsets) found[set.owner.to_string() + to_string(set.type)] = set.rdata.size();
  EXPECT_EQ(
      found,
      (std::map<std::string, std::size_t>{
          {"example.SOA", 1}, {"z.example.A", 2}, {"a.example.A", 1}, {"m.example.A", 20}, {"a.example.TXT", 40}}));
  EXPECT_EQ(parsed->warnings.warning_count(), 20U) << "the second time that m has each address";
}

TEST(ParseZoneFile, RoundTripsThroughTheRenderer) {
  const auto first = parse_zone_file("zone-hcp1.txt", test::read_file(test::data_path("dns_render/zone-hcp1.txt")));
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->rrsets.size(), 19U);
  const auto zone = make_zone(*first);
  const std::string text = render_zone_file(*zone, first->serial);
  const auto again = parse_zone_file("rendered", text);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(render_zone_file(*make_zone(*again), again->serial), text);
  EXPECT_EQ(make_zone(*again)->rrsets().size(), zone->rrsets().size());
}

TEST(ParseZoneFile, NoPrefixAndNoChangedByteDoesHarm) {
  const std::string text =
      std::string("$TTL 5\n") + kSoa + "a TXT ( \"x\\\"\\007\" ; c\n y )\nb MX 1 a\\.b\nc TYPE9 \\# 1 00\n";
  for (std::size_t size = 0; size < text.size(); ++size) static_cast<void>(parse(text.substr(0, size)));
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; byte += 3) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      if (const auto zone = parse(changed)) {
        // What is accepted can be written and read again.
        const auto rendered = render_zone_file(*make_zone(*zone), zone->serial);
        EXPECT_TRUE(parse_zone_file("again", rendered)) << rendered;
      }
    }
  }
}

TEST(ParseHostsFile, ReadsAddressesAndNames) {
  const auto entries =
      parse_hosts_file("hosts",
                       "# comment\n127.0.0.1 localhost\n\n  2001:db8::1\tapi.example.com api # tail\r\n"
                       "192.0.2.1 API.example.com\n192.0.2.2 api.example.com\n192.0.2.2 api.example.com");
  ASSERT_TRUE(entries) << entries.error().to_string();
  ASSERT_EQ(entries->size(), 5U);
  EXPECT_EQ((*entries)[1], (HostsEntry{*parse_ip_address("2001:db8::1"), {name("api.example.com"), name("api")}, 4}));
  const auto rrsets = to_rrsets(*entries, 60);
  ASSERT_EQ(rrsets.size(), 4U);
  EXPECT_EQ(rrsets[3].owner, name("api.example.com"));
  EXPECT_EQ(rrsets[3].rdata.size(), 2U) << "one name in any case, each address once";
}

TEST(ParseHostsFile, PassesOverAByteOrderMark) {
  const auto entries = parse_hosts_file("hosts",
                                        "\xEF\xBB\xBF"
                                        "192.0.2.1 a\n");
  ASSERT_TRUE(entries) << entries.error().to_string();
  EXPECT_EQ(*entries, (std::vector<HostsEntry>{{*parse_ip_address("192.0.2.1"), {name("a")}, 1}}));
}

TEST(ParseHostsFile, TheRootAndWildcardsAreNoHosts) {
  const auto entries = parse_hosts_file("hosts", "192.0.2.1 a *\n192.0.2.1 .\n192.0.2.1 *.a x*\n");
  ASSERT_FALSE(entries);
  std::string all;
  for (const Diagnostic& d : entries.error()) all += std::to_string(d.line) + ':' + d.code + ' ';
  EXPECT_EQ(all, "1:hosts-name 2:hosts-name 3:hosts-name ");
}

TEST(ParseHostsFile, ReportsEveryErrorWithItsLine) {
  const auto entries = parse_hosts_file("hosts", "192.0.2.1\nnonsense a\nfe80::1%eth0 b\n192.0.2.1 ok a..b\n");
  ASSERT_FALSE(entries);
  std::string all;
  for (const Diagnostic& d : entries.error())
    all += std::to_string(d.line) + ':' + std::to_string(d.column) + ':' + d.code + ' ';
  EXPECT_EQ(all, "1:1:hosts-name 2:1:hosts-address 3:1:hosts-address 4:14:hosts-name ");
}

}  // namespace
}  // namespace hcpnet::dns
