// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/proxy/proxy_header.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <string>
#include <string_view>

#include "support/vectors.hpp"

namespace hcpnet::proxy {
namespace {

const std::string kSignature("\r\n\r\n\0\r\nQUIT\n", 12);

Result<ProxyHeader> parse(std::string_view text) {
  return parse_proxy_header(as_bytes(text));
}
std::string encode(ProxyHeaderVersion version, const ProxyHeader::Addresses& addresses) {
  const auto bytes = encode_proxy_header(version, addresses);
  return {bytes.begin(), bytes.end()};
}

// Bytes as they are printed in sections 2.1 and 2.2 of the specification.
struct Golden {
  ProxyHeaderVersion version;
  std::string bytes;
  ProxyHeader::Addresses addresses;
};
std::vector<Golden> goldens() {
  const Endpoint a4{Ipv4(192, 168, 0, 1), 56324}, b4{Ipv4(192, 168, 0, 11), 443};
  const Endpoint a6{*parse_ipv6("2001:db8::1"), 1}, b6{*parse_ipv6("2001:db8::2"), 65535};
  const std::string v6a("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", 16),
      v6b("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
  return {{ProxyHeaderVersion::v1, "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n", {a4, b4}},
          {ProxyHeaderVersion::v1, "PROXY TCP6 2001:db8::1 2001:db8::2 1 65535\r\n", {a6, b6}},
          {ProxyHeaderVersion::v2,
           kSignature + std::string("\x21\x11\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb", 16),
           {a4, b4}},
          {ProxyHeaderVersion::v2,
           kSignature + std::string("\x21\x21\x00\x24", 4) + v6a + v6b + std::string("\0\x01\xff\xff", 4),
           {a6, b6}}};
}

TEST(ProxyHeaderCodec, ReadsAndWritesWhatTheSpecificationShows) {
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(encode(golden.version, golden.addresses), golden.bytes);
    const auto header = parse(golden.bytes + "rest");
    ASSERT_TRUE(header.has_value()) << header.error().message();
    EXPECT_EQ(header->addresses, golden.addresses);
    EXPECT_EQ(header->consumed_bytes, golden.bytes.size());
  }
}

TEST(ProxyHeaderCodec, WhoSpeaksForItselfSaysSo) {
  const auto own = [](ProxyHeaderVersion version) {
    const auto bytes = encode_own_proxy_header(version);
    return std::string(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(own(ProxyHeaderVersion::v1), "PROXY UNKNOWN\r\n");
  EXPECT_EQ(own(ProxyHeaderVersion::v2), kSignature + std::string("\x20\0\0\0", 4));
  EXPECT_EQ(own(ProxyHeaderVersion::none), "");
  for (const auto version : {ProxyHeaderVersion::v1, ProxyHeaderVersion::v2}) {
    const auto header = parse(own(version));
    ASSERT_TRUE(header.has_value()) << header.error().message();
    EXPECT_FALSE(header->addresses.has_value());
    EXPECT_EQ(header->consumed_bytes, own(version).size());
  }
}

TEST(ProxyHeaderCodec, EveryProperPrefixNeedsMore) {
  for (const Golden& golden : goldens())
    for (std::size_t n = 0; n < golden.bytes.size(); ++n)
      EXPECT_EQ(parse(golden.bytes.substr(0, n)).error(), Errc::need_more) << n;
}

TEST(ProxyHeaderCodec, SurvivesEverySingleByteChange) {
  for (const Golden& golden : goldens()) {
    for (std::size_t i = 0; i < golden.bytes.size(); ++i) {
      for (int change = 1; change < 256; ++change) {
        std::string bytes = golden.bytes;
        bytes[i] = static_cast<char>(bytes[i] ^ change);
        const auto header = parse(bytes);
        if (header) {
          EXPECT_LE(header->consumed_bytes, bytes.size());
        }
      }
    }
  }
}

TEST(ProxyHeaderCodec, SendersMaySpeakForThemselves) {
  for (const std::string& bytes :
       {std::string("PROXY UNKNOWN\r\n"), std::string("PROXY UNKNOWN ffff::1 anything 1 2\r\n"),
        kSignature + std::string("\x20\x00\x00\x00", 4), kSignature + std::string("\x20\x11\x00\x03xyz", 7),
        kSignature + std::string("\x21\x31\x00\x02xx", 6)}) {
    const auto header = parse(bytes);
    ASSERT_TRUE(header.has_value()) << bytes;
    EXPECT_FALSE(header->addresses);
    EXPECT_EQ(header->consumed_bytes, bytes.size());
  }
}

TEST(ProxyHeaderCodec, StandsBeforeTheClientHello) {  // TLS-26
  const auto data = test::read_json("tls/TLS-26.json");
  for (const auto& vector : data.at("vectors")) {
    SCOPED_TRACE(vector.at("name"));
    const auto bytes = test::read_hex("tls/" + vector.at("hex_file").get<std::string>());
    EXPECT_EQ(tls::parse_client_hello(bytes).error(), tls::Errc::not_tls) << "where no header is expected";
    EXPECT_EQ(parse_proxy_header(ByteView(bytes).first(10)).error(), Errc::need_more);
    const auto header = parse_proxy_header(bytes);
    ASSERT_TRUE(header.has_value());
    const auto& expect = vector.at("expect");
    EXPECT_EQ(header->consumed_bytes, expect.at("header_len").get<std::size_t>());
    EXPECT_EQ(header->addresses ? header->addresses->source.to_string() : "peer", expect.at("src").get<std::string>());
    const auto hello = ByteView(bytes).subspan(header->consumed_bytes);
    EXPECT_EQ(tls::parse_client_hello(hello).value().server_name, expect.at("sni").get<std::string>());
    EXPECT_EQ(parse_proxy_header(hello).error(), Errc::other_protocol) << "a header that is missing";
  }
}

TEST(ProxyHeaderCodec, AttributesAreSkipped) {
  const std::string bytes =
      kSignature + std::string("\x21\x11\x00\x10\x01\x02\x03\x04\x05\x06\x07\x08\x00\x50\x00\x51\x04\x00\x01x", 20);
  const auto header = parse(bytes + "GET");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->consumed_bytes, bytes.size());
  EXPECT_EQ(header->addresses->source.to_string(), "1.2.3.4:80");
}

TEST(ProxyHeaderCodec, RefusesWhatIsNotOne) {
  const std::pair<std::string, Errc> cases[] = {
      {"GET / HTTP/1.1\r\n", Errc::other_protocol},
      {"\x16\x03\x01", Errc::other_protocol},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 56324\r\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443 \r\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.1  192.168.0.11 56324 443\r\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 56324 65536\r\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.1 192.168.0.11 056324 443\r\n", Errc::malformed},
      {"PROXY TCP4 192.168.0.256 192.168.0.11 1 443\r\n", Errc::malformed},
      {"PROXY TCP4 ::1 ::2 1 443\r\n", Errc::malformed},
      {"PROXY UDP4 192.168.0.1 192.168.0.11 1 443\r\n", Errc::malformed},
      {"PROXY UNKNOWN " + std::string(100, 'a'), Errc::too_large},
      {kSignature + std::string("\x31\x11\x00\x0c", 4), Errc::malformed},
      {kSignature + std::string("\x22\x11\x00\x0c", 4), Errc::malformed},
      {kSignature + std::string("\x21\x11\x00\x0b", 4) + std::string(11, 'x'), Errc::malformed},
      {kSignature + std::string("\x21\x11\x08\x00", 4), Errc::too_large},
  };
  for (const auto& [bytes, error] : cases) EXPECT_EQ(parse(bytes).error(), error) << bytes;
}

TEST(ProxyHeaderCodec, OfDifferentFamiliesTheIpv4AddressIsMapped) {
  const ProxyHeader::Addresses mixed{{Ipv4(192, 0, 2, 1), 1}, {*parse_ipv6("::1"), 2}};
  EXPECT_EQ(encode(ProxyHeaderVersion::v1, mixed), "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n");
  for (const auto version : {ProxyHeaderVersion::v1, ProxyHeaderVersion::v2})
    EXPECT_EQ(parse(encode(version, mixed)).value().addresses, mixed);
  EXPECT_EQ(encode(ProxyHeaderVersion::none, mixed), "");
}

}  // namespace
}  // namespace hcpnet::proxy
