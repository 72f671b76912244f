// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <tuple>

#include "dns/rdata_text.hpp"

namespace hcpnet::dns {
namespace {

using namespace std::string_literals;

struct Sample {
  Type type;
  std::string wire;
  const char* text;
};

const Sample kSamples[] = {
    {Type::a, "\xc0\x00\x02\x01"s, "192.0.2.1"},
    {Type::aaaa, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"s, "2001:db8::1"},
    {Type::ns, "\2ns\4test\0"s, "ns.test."},
    {Type::cname, "\1a\1b\0"s, "a.b."},
    {Type::ptr, "\0"s, "."},
    {Type::soa, "\1a\0\1b\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"s, "a. b. 1 2 3 4 5"},
    {Type::hinfo, "\3x86\1\"", "\"x86\" \"\\\"\""},
    {Type::mx, "\0\x0a\2mx\0"s, "10 mx."},
    {Type::txt, "\3abc\0\2d;"s, "\"abc\" \"\" \"d;\""},
    {Type::srv, "\0\0\0\x0a\x09\x4c\3api\0"s, "0 10 2380 api."},
    {Type::caa, "\x80\5issueca.test"s, "128 issue \"ca.test\""},
    {Type::https, "\0\1\0"s, "1 ."},
    {Type::svcb, "\0\0\3foo\0"s, "0 foo."},
    {Type::https, "\0\1\0\0\1\0\6\2h2\2h3\0\2\0\0\0\3\0\2\x1\xbb\0\4\0\4\xc0\0\2\1"s,
     "1 . alpn=\"h2,h3\" no-default-alpn port=443 ipv4hint=192.0.2.1"},
    {Type::svcb, "\0\x10\0\0\0\0\4\0\1\0\4\0\1\0\3\2h2\0\4\0\4\xc0\0\2\1\x2\x9b\0\3a\"b"s,
     "16 . mandatory=alpn,ipv4hint alpn=\"h2\" ipv4hint=192.0.2.1 key667=\"a\\\"b\""},
    {Type::ds, "\x30\x39\x0d\x9\xab\xcd"s, "12345 13 9 abcd"},
    {Type::cds, "\0\0\0\0\0"s, "0 0 0 00"},
    {Type::sshfp, "\4\x9\x01\xff"s, "4 9 01ff"},
    {Type::tlsa, "\3\1\x9\xab"s, "3 1 9 ab"},
    {Type::smimea, "\3\0\0\xab"s, "3 0 0 ab"},
    {Type::naptr, "\0\x64\0\x0a\1S\7SIP+D2U\0\4_sip\0"s, "100 10 \"S\" \"SIP+D2U\" \"\" _sip."},
    {Type::rp, "\1a\0\1b\0"s, "a. b."},
    {Type::afsdb, "\0\1\2db\0"s, "1 db."},
    {Type::kx, "\0\x0a\2kx\0"s, "10 kx."},
    {Type::spf, "\5v=spf\0"s, "\"v=spf\" \"\""},
    {Type::uri, "\0\1\0\2http:\"x"s, "1 2 \"http:\\\"x\""},
    {Type::rrsig, "\0\1\x0d\2\0\0\0\x3c\0\0\0\1\0\0\0\1\0\7\0s"s, "\\# 20 00010d020000003c000000010000000100070073"},
    {Type{65280}, ""s, "\\# 0"},
};

TEST(RdataText, HasTheFormOfItsType) {
  for (const Sample& s : kSamples) EXPECT_EQ(rdata_to_string(s.type, s.wire), s.text);
}

TEST(RdataText, ReadsWhatItWrites) {
  for (const Sample& s : kSamples) {
    const auto parsed = parse_rdata(s.type, s.text);
    ASSERT_TRUE(parsed) << s.text;
    EXPECT_EQ(*parsed, s.wire) << s.text;
  }
}

TEST(RdataText, OfServicesIsReadInEveryWayOfWritingIt) {  // RFC 9460 section 2.1
  const auto wire = [](const char* text) {
    const auto parsed = parse_rdata(Type::https, text);
    return parsed ? *parsed : std::string("error");
  };
  const std::string plain = wire("1 . alpn=h2,h3 port=443");
  EXPECT_EQ(plain, "\0\1\0\0\1\0\6\2h2\2h3\0\3\0\2\x1\xbb"s);
  EXPECT_EQ(wire("1 . port=443 alpn=\"h2,h3\""), plain);
  EXPECT_EQ(wire("1 . key3=\"443\" key1=h2,h3"), plain);
  EXPECT_EQ(wire(R"(0 . alpn="f\\\\oo\\,bar,h2")"), "\0\0\0\0\1\0\x0c\x08"s + "f\\oo,bar\2h2")
      << "RFC 9460 appendix D.2";
}

TEST(RdataText, OfServicesThatDoNotGoTogetherIsRefused) {
  for (const char* text : {"1",
                           "1 . port",
                           "1 . port=",
                           "1 . port=65536",
                           "1 . port=1 port=2",
                           "1 . alpn",
                           "1 . alpn=,h2",
                           "1 . ipv4hint=",
                           "1 . ipv4hint=192.0.2",
                           "1 . ipv6hint=192.0.2.1",
                           "1 . no-default-alpn",
                           "1 . no-default-alpn=x alpn=h2",
                           "1 . mandatory=port",
                           "1 . mandatory=mandatory",
                           "1 . mandatory=alpn,alpn alpn=h2",
                           "1 . key65536=a",
                           "1 . key01=a",
                           "1 . ech=AA==",
                           "1 . unknown=a",
                           "1 . \"port=1\"",
                           "65536 .",
                           "1 . key7=\\999"})
    EXPECT_FALSE(parse_rdata(Type::https, text)) << text;
}

TEST(RdataText, CutOrChangedDataIsWrittenInTheGenericFormAndReadBack) {
  for (const Sample& s : kSamples) {
    for (std::size_t size = 0; size < s.wire.size(); ++size) {
      const std::string text = rdata_to_string(s.type, s.wire.substr(0, size));
      const auto parsed = parse_rdata(s.type, text);
      // A generic form that claims to be of a type but is not is refused.
      EXPECT_EQ(parsed.has_value(), !text.starts_with("\\#")) << text;
    }
    for (std::size_t at = 0; at < s.wire.size(); ++at) {
      for (const int bit : {0x01, 0x20, 0x80}) {
        std::string changed = s.wire;
        changed[at] = static_cast<char>(changed[at] ^ bit);
        const std::string text = rdata_to_string(s.type, changed);
        const auto parsed = parse_rdata(s.type, text);
        if (parsed) {
          EXPECT_EQ(*parsed, changed) << text;
        }
      }
    }
  }
}

TEST(RdataText, NamesAreRelativeToTheOrigin) {
  const Name origin = parse_name("example.com").value();
  EXPECT_EQ(parse_rdata(Type::cname, "api", origin).value(), "\3api\7example\3com\0"s);
  EXPECT_EQ(parse_rdata(Type::cname, "api.", origin).value(), "\3api\0"s);
  EXPECT_EQ(parse_rdata(Type::cname, "@", origin).value(), "\7example\3com\0"s);
  EXPECT_EQ(parse_rdata(Type::cname, "a\\.", origin).value(), "\2a.\7example\3com\0"s) << "an escaped dot is no end";
  EXPECT_EQ(parse_rdata(Type::cname, "a\\\\.", origin).value(), "\2a\\\0"s);
}

TEST(RdataText, RefusesWhatIsNotOfTheType) {
  const std::pair<Type, const char*> wrong[] = {{Type::a, "192.0.2"},
                                                {Type::a, "192.0.2.1 more"},
                                                {Type::a, ""},
                                                {Type::aaaa, "192.0.2.1"},
                                                {Type::mx, "mail.test."},
                                                {Type::mx, "65536 a."},
                                                {Type::mx, "1"},
                                                {Type::srv, "1 2 3"},
                                                {Type::txt, ""},
                                                {Type::txt, "\"open"},
                                                {Type::txt, "\\256"},
                                                {Type::txt, "\\1"},
                                                {Type::caa, "0 is-sue \"\""},
                                                {Type::caa, "256 issue a"},
                                                {Type::soa, "a. b. 1 2 3 4"},
                                                {Type::cname, "a..b."},
                                                {Type::https, "1 . alpn"},
                                                {Type::a, "\\# 4 c00002"},
                                                {Type::a, "\\# 3 c00002"},
                                                {Type::a, "\\# 4 c000020g"},
                                                {Type::a, "\\#"},
                                                {Type::txt, "( a"},
                                                {Type::ds, "12345 13 2"},
                                                {Type::ds, "12345 13 2 abc"},
                                                {Type::ds, "12345 RSASHA256 2 ab"},
                                                {Type::tlsa, "3 1 1 ab g0"},
                                                {Type::sshfp, "4 2 ab\nab"},
                                                {Type::ds, "\\# 4 30390d02"},
                                                {Type::naptr, "1 2 a b c"},
                                                {Type::naptr, "\\# 7 00000001000000"},
                                                {Type::rp, "a."},
                                                {Type::uri, "1 2 \"\""},
                                                {Type::uri, "\\# 4 00010002"},
                                                {Type::rrsig, "A 13 2 60 1 1 1 a. AA=="},
                                                {Type::a, "192.0.2.1\n192.0.2.2"}};
  for (const auto& [type, text] : wrong) EXPECT_EQ(parse_rdata(type, text).error(), Errc::bad_rdata) << text;
}

TEST(RdataText, DigestsHaveTheLengthOfTheirKind) {
  const auto of = [](const char* fields, std::size_t bytes) { return fields + std::string(2 * bytes, 'a'); };
  const std::tuple<Type, const char*, std::size_t> kinds[] = {
      {Type::ds, "1 8 1 ", 20},  {Type::ds, "1 8 2 ", 32},   {Type::cds, "1 8 4 ", 48},   {Type::sshfp, "1 1 ", 20},
      {Type::sshfp, "1 2 ", 32}, {Type::tlsa, "3 1 1 ", 32}, {Type::smimea, "3 1 2 ", 64}};
  for (const auto& [type, fields, bytes] : kinds) {
    EXPECT_TRUE(parse_rdata(type, of(fields, bytes))) << fields;
    for (const std::size_t wrong : {std::size_t{1}, bytes - 1, bytes + 1})
      EXPECT_EQ(parse_rdata(type, of(fields, wrong)).error(), Errc::bad_rdata) << fields << wrong;
  }
  EXPECT_TRUE(parse_rdata(Type::cds, "0 0 0 00")) << "RFC 8078 section 4";
}

TEST(RdataText, GenericDataOfATypeThatHasANameHasItsFields) {
  const std::pair<const char*, const char*> wrong[] = {{"LOC", "1 00"},
                                                       {"LOC", "16 01000000000000000000000000000000"},
                                                       {"CERT", "5 0001000205"},
                                                       {"APL", "5 00011002c0"},
                                                       {"IPSECKEY", "2 0100"},
                                                       {"IPSECKEY", "5 010102c000"},
                                                       {"IPSECKEY", "3 010402"},
                                                       {"RRSIG", "19 00010d020000003c0000000100000001000700"},
                                                       {"NSEC", "3 000001"},
                                                       {"NSEC", "5 0000214000"},
                                                       {"NSEC", "7 00010140000140"},
                                                       {"DNSKEY", "1 00"},
                                                       {"CDNSKEY", "4 01010308"},
                                                       {"DHCID", "3 000101"},
                                                       {"NSEC3", "3 000001"},
                                                       {"NSEC3", "6 010000000000"},
                                                       {"NSEC3PARAM", "5 0100000001"},
                                                       {"OPENPGPKEY", "0"},
                                                       {"CSYNC", "5 0000000100"},
                                                       {"ZONEMD", "7 00000001010100"},
                                                       {"NID", "9 000100000000000000"},
                                                       {"L32", "5 0001c00002"},
                                                       {"L64", "11 0001000000000000000000"},
                                                       {"LP", "2 0001"},
                                                       {"EUI48", "5 0000000000"},
                                                       {"EUI64", "6 000000000000"}};
  for (const auto& [type, data] : wrong)
    EXPECT_EQ(parse_rdata(parse_type(type).value(), std::string("\\# ") + data).error(), Errc::bad_rdata)
        << type << ' ' << data;
  const std::pair<const char*, const char*> good[] = {
      {"APL", "0"}, {"NSEC", "4 00000140"}, {"CSYNC", "6 000000010000"}};
  for (const auto& [type, data] : good)
    EXPECT_TRUE(parse_rdata(parse_type(type).value(), std::string("\\# ") + data)) << type << ' ' << data;
}

TEST(RdataText, GenericDigitsMayBeCutAnywhere) {
  EXPECT_EQ(parse_rdata(Type::a, "\\# 4 c0 0002 0A").value(), "\xc0\x00\x02\x0a"s);
  EXPECT_EQ(parse_rdata(Type::ds, "1 13 9 a Bc D").value(), "\0\1\x0d\x9\xab\xcd"s) << "RFC 4034 section 5.3";
}

TEST(ParseType, KnowsMnemonicsAndNumbers) {
  EXPECT_EQ(parse_type("aAaA"), Type::aaaa);
  EXPECT_EQ(parse_type("type65280"), Type{65280});
  EXPECT_EQ(parse_type("HTTPS"), Type::https);
  EXPECT_EQ(parse_type("TYPE257"), Type::caa);
  EXPECT_EQ(parse_type("nsec3param"), Type{51});
  std::size_t named = 0;
  for (unsigned number = 0; number <= 0xffff; ++number) {
    const auto type = static_cast<Type>(number);
    EXPECT_EQ(parse_type(to_string(type)), type);
    EXPECT_EQ(parse_type("TYPE" + std::to_string(number)), type) << "RFC 3597 section 5: for every type";
    if (!to_string(type).starts_with("TYPE")) ++named;
  }
  EXPECT_EQ(named, 49U);
  for (const char* wrong : {"", "TYPE", "TYPE65536", "TYPE-1", "TYPE1 ", "B", "AA"})
    EXPECT_EQ(parse_type(wrong), std::nullopt) << wrong;
}

TEST(ParseTtl, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_ttl("0"), 0U);
  EXPECT_EQ(parse_ttl("2147483647"), 2147483647U);
  EXPECT_EQ(parse_ttl("1h30m"), 5400U);
  EXPECT_EQ(parse_ttl("1W2d3H4m5s"), 788645U);
  for (const char* wrong : {"", "h", "2147483648", "1h30", "1x", "-1", "99999999w", "1.5h"})
    EXPECT_EQ(parse_ttl(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace hcpnet::dns
