// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <hcpnet/tls/client_hello.hpp>
#include <random>

#include "support/allocations.hpp"
#include "support/openssl.hpp"
#include "support/vectors.hpp"

namespace hcpnet::tls {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put_u16(Bytes& bytes, std::size_t value) {
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  bytes.push_back(static_cast<std::uint8_t>(value));
}
Bytes with_length(const Bytes& content) {
  Bytes bytes;
  put_u16(bytes, content.size());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes text(std::string_view s) {
  return {s.begin(), s.end()};
}

Bytes extension(std::uint16_t type, const Bytes& data) {
  Bytes bytes;
  put_u16(bytes, type);
  return bytes + with_length(data);
}
Bytes server_name(std::string_view name) {
  return extension(0, with_length(Bytes{0} + with_length(text(name))));
}

/// A handshake message with one cipher suite; `tail` stands for the extensions with their length.
Bytes message(const Bytes& tail) {
  Bytes body = {3, 3};
  body.resize(34, 0xaa);
  body = body + Bytes{0, 0, 2, 0x13, 0x01, 1, 0} + tail;
  return Bytes{1, 0, static_cast<std::uint8_t>(body.size() >> 8), static_cast<std::uint8_t>(body.size())} + body;
}
Bytes record(const Bytes& fragment) {
  return Bytes{22, 3, 1} + with_length(fragment);
}
Bytes hello_with(const Bytes& extensions) {
  return record(message(with_length(extensions)));
}

/// The message in records of `size` bytes each.
Bytes in_records(const Bytes& bytes, std::size_t size) {
  Bytes out;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    out = out + record(Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                             bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), i + size))));
  }
  return out;
}

TEST(ParseClientHello, ReadsNameAndProtocolsOfABuiltHello) {
  const Bytes hello =
      hello_with(server_name("api.hc1.example.com") + extension(16, with_length(Bytes{2, 'h', '2', 1, 'x'})));
  const auto result = parse_client_hello(hello);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->server_name, "api.hc1.example.com");
  EXPECT_EQ(result->host_kind, HostKind::dns_name);
  EXPECT_EQ(result->alpn, (std::vector<std::string>{"h2", "x"}));
  EXPECT_EQ(result->consumed_bytes, hello.size());
}

TEST(ParseClientHello, ExtensionsMayBeAbsentAltogether) {
  const auto result = parse_client_hello(record(message({})));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->server_name, std::nullopt);
  EXPECT_TRUE(result->alpn.empty());
}

TEST(ParseClientHello, EveryProperPrefixNeedsMore) {
  const Bytes hello = test::openssl_client_hello({.server_name = "api.hc1.example.com", .alpn = {"h2", "http/1.1"}});
  for (std::size_t n = 0; n < hello.size(); ++n) {
    SCOPED_TRACE(n);
    ASSERT_EQ(parse_client_hello(ByteView(hello).first(n)).error(), Errc::need_more);
  }
  EXPECT_TRUE(parse_client_hello(hello));
}

TEST(ParseClientHello, EverySingleByteChangeIsDecidedWithoutACrash) {
  const Bytes original = test::openssl_client_hello({.server_name = "api.hc1.example.com", .alpn = {"h2"}});
  for (std::size_t at = 0; at < original.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff, 0x20}) {
      Bytes hello = original;
      hello[at] = static_cast<std::uint8_t>(hello[at] ^ change);
      const auto result = parse_client_hello(hello);
      if (result) {
        ASSERT_LE(result->consumed_bytes, hello.size());
      }
    }
  }
}

TEST(ParseClientHello, AnySplitIntoRecordsGivesTheSame) {
  const Bytes whole = message(with_length(server_name("api.hc1.example.com")));
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    const Bytes stream = in_records(whole, size);
    const auto result = parse_client_hello(stream);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_EQ(result->server_name, "api.hc1.example.com");
    ASSERT_EQ(result->consumed_bytes, stream.size());
    ASSERT_EQ(parse_client_hello(ByteView(stream).first(stream.size() - 1)).error(), Errc::need_more);
  }
}

TEST(ParseClientHello, BytesAfterTheMessageAreNotConsumed) {
  const Bytes hello = hello_with(server_name("a.test"));
  EXPECT_EQ(parse_client_hello(hello + Bytes{23, 3, 3, 0, 1, 9})->consumed_bytes, hello.size());
}

TEST(ParseClientHello, OtherRecordsInsideTheMessageAreMalformed) {
  const Bytes whole = message(with_length(server_name("a.test")));
  const Bytes first = record(Bytes(whole.begin(), whole.begin() + 20));
  EXPECT_EQ(parse_client_hello(first + Bytes{21}).error(), Errc::malformed);              // an alert
  EXPECT_EQ(parse_client_hello(first + Bytes{22, 2}).error(), Errc::malformed);           // another version
  EXPECT_EQ(parse_client_hello(first + Bytes{22, 3, 1, 0, 0}).error(), Errc::malformed);  // an empty fragment
}

TEST(ParseClientHello, RepeatedExtensionsThatMatterAreMalformed) {
  EXPECT_EQ(parse_client_hello(hello_with(server_name("a.test") + server_name("b.test"))).error(), Errc::malformed);
  const Bytes alpn = extension(16, with_length(Bytes{2, 'h', '2'}));
  EXPECT_EQ(parse_client_hello(hello_with(alpn + alpn)).error(), Errc::malformed);
  EXPECT_TRUE(parse_client_hello(hello_with(extension(9999, {}) + extension(9999, {}))));
}

TEST(ParseClientHello, FieldsThatBreakTheirGrammarAreMalformed) {
  const Bytes two_names =
      extension(0, with_length(Bytes{0} + with_length(text("a.test")) + Bytes{0} + with_length(text("b.test"))));
  const Bytes lying = extension(0, {0, 9, 0, 0, 6, 'a'});
  for (const Bytes& bad : {two_names, lying, extension(16, with_length({})), extension(16, with_length({0})),
                           extension(16, with_length({5, 'h'})), extension(16, {0}), Bytes{0}, Bytes{0, 0, 0, 9}}) {
    EXPECT_EQ(parse_client_hello(hello_with(bad)).error(), Errc::malformed);
  }
  Bytes odd_suites = message({});
  odd_suites[4 + 34 + 2] = 1;  // cipher_suites of one byte
  EXPECT_EQ(parse_client_hello(record(odd_suites)).error(), Errc::malformed);
  Bytes long_session = message({});
  long_session[4 + 34] = 33;
  EXPECT_EQ(parse_client_hello(record(long_session)).error(), Errc::malformed);
  EXPECT_EQ(parse_client_hello(record(message(with_length({}) + Bytes{0}))).error(),
            Errc::malformed);  // bytes after the extensions
}

TEST(ParseClientHello, LimitsAreSharp) {
  const Bytes hello = hello_with(extension(21, Bytes(1000)));
  EXPECT_TRUE(parse_client_hello(hello, {.max_bytes = hello.size()}));
  EXPECT_EQ(parse_client_hello(hello, {.max_bytes = hello.size() - 1}).error(), Errc::too_large);
  const Bytes alpn = hello_with(extension(16, with_length({1, 'a', 1, 'b', 1, 'c'})));
  EXPECT_TRUE(parse_client_hello(alpn, {.max_alpn_protocols = 3}));
  EXPECT_EQ(parse_client_hello(alpn, {.max_alpn_protocols = 2}).error(), Errc::too_large);
}

TEST(ParseClientHello, NeverAsksForMoreThanItsLimit) {
  // One message byte per record: the headers count as well.
  const Bytes stream = in_records(message(with_length(extension(21, Bytes(2000)))), 1);
  constexpr std::size_t kLimit = 4096;
  for (std::size_t n = 0; n < stream.size(); ++n) {
    const auto result = parse_client_hello(ByteView(stream).first(n), {.max_bytes = kLimit});
    if (result.error() != Errc::need_more) {
      EXPECT_EQ(result.error(), Errc::too_large);
      EXPECT_LE(n, kLimit);
      return;
    }
  }
  FAIL() << "no decision";
}

TEST(ClientHelloReader, OneByteAtATimeIsLinearWork) {
  // Starting over at every byte would walk 15,000 times over up to 2,600 records, twenty times.
  const Bytes stream = in_records(message(with_length(extension(21, Bytes(2600)))), 1);
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 20; ++round) {
    ClientHelloReader reader({.max_bytes = stream.size()});
    for (std::size_t n = 0; n < stream.size(); ++n)
      ASSERT_EQ(reader.read(ByteView(stream).first(n)).error(), Errc::need_more);
    ASSERT_TRUE(reader.read(stream));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ClientHelloReader, FailureAllocatesNothing) {
  const Bytes whole = message(with_length(server_name("api.hc1.example.com") + server_name("b.test")));
  const Bytes malformed = in_records(whole, 7);
  const Bytes partial(malformed.begin(), malformed.end() - 1);
  const std::size_t before = test::allocation_count();
  const bool is_refused = parse_client_hello(malformed).error() == Errc::malformed;
  const bool needs_more = parse_client_hello(partial).error() == Errc::need_more;
  const std::size_t after = test::allocation_count();
  EXPECT_TRUE(is_refused);
  EXPECT_TRUE(needs_more);
  EXPECT_EQ(after, before);
}

TEST(ClassifyHost, TellsNamesFromAddressesAndFromTheRest) {
  const std::string label63(63, 'a');
  const std::string name253 = label63 + '.' + label63 + '.' + label63 + '.' + std::string(61, 'b');
  for (const std::string& name :
       {std::string("kubernetes"), std::string("API.Hc1.example.COM"), std::string("a_b.-c-.x1"), std::string("*"),
        std::string("*.apps.example.com"), std::string("xn--bcher-kva.example"), std::string("1.2.3.4a"), name253}) {
    EXPECT_EQ(classify_host(name), HostKind::dns_name) << name;
  }
  for (const char* name : {"192.0.2.10", "2001:db8::10", "[2001:db8::10]", "::ffff:192.0.2.1"}) {
    EXPECT_EQ(classify_host(name), HostKind::ip_address) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string("a."), std::string(".a"), std::string("a..b"), std::string("a b"),
        std::string("a\0b", 3), std::string("192.0.2.300"), std::string("1.2.3"), std::string("[192.0.2.1]"),
        std::string("a:443"), label63 + "a", name253 + "b", std::string("b\xc3\xbc.example")}) {
    EXPECT_EQ(classify_host(name), HostKind::unusable) << name;
  }
}

TEST(TlsErrc, HasACategoryAndMessages) {
  for (const Errc code : {Errc::need_more, Errc::not_tls, Errc::malformed, Errc::too_large}) {
    const error_code ec = code;
    EXPECT_STREQ(ec.category().name(), "hcpnet.tls");
    EXPECT_NE(ec.message(), "unknown error");
  }
}

}  // namespace
}  // namespace hcpnet::tls
