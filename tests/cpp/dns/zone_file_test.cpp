// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>

#include <algorithm>
#include <chrono>
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

std::string codes_in(const Result<ZoneRecords, Diagnostics>& parsed) {
  if (parsed) return "none";
  const Diagnostics problems = parsed.error();
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : " ") + std::to_string(d.line) + ':' + d.code;
  return all;
}

std::string problems_of(const std::string& text) {
  return codes_in(parse(text));
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
      "dane  TLSA 3 1 0 ( AB\n"
      "        cd ) ; a digest may be cut\n"
      "sig   RRSIG \\# 20 00010d02 0000003c00000001 000000010007 0073\n"
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
                                 "dane.sub.example.com. 3600 TLSA 3 1 0 abcd",
                                 "sig.sub.example.com. 3600 RRSIG \\# 20 00010d020000003c000000010000000100070073",
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

TEST(ParseZoneFile, NeedsAnOriginForEveryRelativeNameOfItsData) {
  const std::string text =
      "corp.test. 60 IN SOA ns host 1 2 3 4 5\n"
      "corp.test. 60 IN NS @\n"
      "a.corp.test. 60 CNAME b\n"
      "corp.test. 60 MX 10 mail\n"
      "_x._tcp.corp.test. 60 SRV 0 0 443 srv\n"
      "corp.test. 60 HTTPS 1 svc alpn=h2\n"
      "corp.test. 60 RP who text.\\.\n"  // an escaped dot is no end
      "corp.test. 60 NAPTR 1 2 a b c n\n"
      "4.3.2.1.corp.test. 60 PTR ( \n"
      "   p )\n"
      "corp.test. 60 NS ns.corp.test.\n";
  const auto parsed = parse_zone_file("z", text);
  ASSERT_FALSE(parsed);
  const Diagnostics problems = parsed.error();
  std::string all;
  for (const Diagnostic& d : problems) {
    EXPECT_EQ(d.code, "zone-origin") << d.to_string();
    all += std::to_string(d.line) + ':' + std::to_string(d.column) + '=' + d.found + ' ';
  }
  EXPECT_EQ(all, "1:22=ns 1:25=host 2:21=@ 3:23=b 4:21=mail 5:35=srv 6:23=svc 7:18=who 7:22=text.\\. 8:31=n 10:4=p ");
  EXPECT_EQ(codes_in(parse_zone_file("z", text, name("corp.test"))), "none");
  EXPECT_EQ(codes_in(parse_zone_file("z", "$ORIGIN corp.test.\n" + text)), "none");
}

TEST(ParseZoneFile, NeedsNoOriginWhereEveryNameIsAbsolute) {
  const auto zone = parse_zone_file("z", "corp.test. 60 SOA ns.corp.test. h. 1 2 3 4 5\ncorp.test. 60 MX 0 .\n");
  ASSERT_TRUE(zone) << zone.error().to_string();
  EXPECT_EQ(lines_of(*zone),
            (std::vector<std::string>{"corp.test. 60 SOA ns.corp.test. h. 1 2 3 4 5", "corp.test. 60 MX 0 ."}));
}

TEST(ParseZoneFile, ANameWithoutOriginHidesNoOtherMistake) {
  EXPECT_EQ(codes_in(parse_zone_file("z", "corp.test. 60 SOA ns host x 1 1 1 1\n")),
            "1:zone-origin 1:zone-origin 1:zone-rdata");
  EXPECT_EQ(codes_in(parse_zone_file("z", "a\\. 60 NS b\n")), "1:zone-origin 1:zone-origin") << "owner and data";
}

TEST(ParseZoneFile, WhatAMistakeLeavesUnknownIsNoSecondMistake) {
  const std::string soa = kSoa;
  EXPECT_EQ(problems_of("$TTL 1h\n$TTL 1h30\nns A 192.0.2.1\n" + soa), "2:zone-ttl") << "the good one stays";
  EXPECT_EQ(problems_of("$TTL x\nns A 192.0.2.1\n" + soa), "1:zone-ttl");
  EXPECT_EQ(problems_of("ns 1h30 A 192.0.2.1\nb A 192.0.2.2\n" + soa), "1:zone-ttl");
  EXPECT_EQ(problems_of("ns 60 A nonsense\nb A 192.0.2.2\n" + soa), "1:zone-rdata");
  EXPECT_EQ(problems_of("@ SOA ns host x 1 1 1 1\nns A 192.0.2.1\n"), "1:zone-rdata");
  EXPECT_EQ(problems_of("ns 60 TXT \"open\n  TXT x\n" + soa), "1:zone-syntax");
  EXPECT_EQ(codes_in(parse_zone_file("z", "$ORIGIN a..b\n" + soa)), "1:zone-name");
}

TEST(ParseZoneFile, RefusesControlCharactersInWordsAndStrings) {
  const std::string soa = kSoa;
  for (const char* wrong : {"x\001y", "\"x\001y\"", "\"x\177\"", "\"x\ry\""})
    EXPECT_EQ(problems_of(soa + "a 300 TXT " + wrong + '\n'), "2:zone-syntax") << wrong;
  EXPECT_EQ(problems_of(soa + "a 300 TXT \"x\ty\" z\\\001 \"\\\001\"\r\n"), "none") << "a tab, and what is escaped";
  const auto open = parse(soa + "a 300 TXT \"x\r\n");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().items().at(0).message, "this quote is not closed on its line");
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

TEST(ParseZoneFile, RefusesWhatNoMessageCanHold) {
  const auto with = [](int records, std::size_t bytes) {
    std::string text = kSoa;
    for (int i = 0; i < records; ++i) {
      text += "a 300 TXT";
      for (std::size_t left = bytes; left > 0; left -= std::min<std::size_t>(left, 256))
        text += ' ' + std::string(std::min<std::size_t>(left, 256) - 1, static_cast<char>('a' + i % 26));
      text += " x" + std::to_string(i) + '\n';
    }
    return problems_of(text);
  };
  EXPECT_EQ(with(200, 256), "none");
  EXPECT_EQ(with(300, 256), "2:zone-rrset");
  EXPECT_EQ(with(1, 65'000), "none");
  EXPECT_EQ(with(1, 65'300), "2:zone-rrset");
  // What is accepted fits: header, the longest question, records with pointers for owners, EDNS with all its options.
  RRset set{name("a.test"), Type::txt, 5, {std::string(kMaxRRsetBytes - 12, 'x')}};
  EXPECT_TRUE(fits_message(set));
  EXPECT_LE(12 + 255 + 4 + kMaxRRsetBytes + 11 + (4 + 24) + (4 + 128), kMaxMessageBytes);
  set.rdata[0] += 'x';
  EXPECT_FALSE(fits_message(set));
  set.rdata = std::vector<std::string>(kMaxRRsetBytes / 16, "1234");
  EXPECT_TRUE(fits_message(set));
  set.rdata.emplace_back("1234");
  EXPECT_FALSE(fits_message(set));
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

TEST(ParseZoneFile, AWildcardHasNoNameServers) {
  EXPECT_EQ(problems_of("$TTL 60\n@ SOA ns h 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n*.w NS ns\n"), "5:zone-name-server");
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

TEST(ParseHostsFile, ManyAddressesOfOneNameCostNoMoreThanTheirNumber) {
  std::vector<HostsEntry> entries;
  for (std::uint32_t i = 0; i < 100'000; ++i) entries.push_back({Ipv4(0x0a000000 + i), {name("a.test")}, 0});
  for (std::uint32_t i = 0; i < 20; ++i) entries.push_back(entries[5000 * i]);
  const auto begin = std::chrono::steady_clock::now();
  const auto rrsets = to_rrsets(entries, 60);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "half a minute where it is quadratic";
  ASSERT_EQ(rrsets.size(), 1U);
  EXPECT_EQ(rrsets[0].rdata.size(), 100'000U);
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
  EXPECT_EQ(all, "1:hosts-name 2:hosts-name 3:hosts-name 3:hosts-name ");
}

TEST(ParseHostsFile, TakesHostNamesAlone) {
  for (const char* good : {"a", "A-1.b_c", "_x._tcp.a.test", "3com", "1.2.a", "12345", "xn--4ca.test.", "a--b"})
    EXPECT_TRUE(parse_hosts_file("hosts", std::string("10.0.0.1 ") + good)) << good;
  for (const char* bad : {"10.0.0.2", "::1", "\"q\"", "x;y", "-a", "a-.b", "a.-b", "a\\.b", "a\\045b", "a/b", "a.256",
                          "1.2.3", "10.0.0.2.", "a@b", "a:b"}) {
    const auto entries = parse_hosts_file("hosts", std::string("10.0.0.1 ok ") + bad);
    ASSERT_FALSE(entries) << bad;
    EXPECT_EQ(entries.error().items().at(0).code, "hosts-name") << bad;
    EXPECT_EQ(entries.error().items().at(0).column, 13U) << bad;
  }
}

TEST(ParseHostsFile, RefusesMoreAddressesOfOneNameThanAMessageHolds) {
  const auto with = [](std::uint32_t count) {
    std::string text = "192.0.2.1 other\n2001:db8::1 many\n";
    for (std::uint32_t i = 0; i < count; ++i) text += Ipv4(0x0a000000 + i).to_string() + " Many\n";
    return parse_hosts_file("hosts", text);
  };
  EXPECT_TRUE(with(kMaxRRsetBytes / 16));
  const auto refused = with(kMaxRRsetBytes / 16 + 1);
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().items().size(), 1U);
  EXPECT_EQ(refused.error().items()[0].code, "hosts-addresses");
  EXPECT_EQ(refused.error().items()[0].line, 3U);
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
