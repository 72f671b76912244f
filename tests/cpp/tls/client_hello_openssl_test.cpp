// SPDX-License-Identifier: Apache-2.0
// Our parser and OpenSSL's server must see the same name and protocols, or a client could be routed by one name and
// served by another.
#include <gtest/gtest.h>

#include <hcpnet/tls/client_hello.hpp>
#include <string>

#include "support/openssl.hpp"
#include "support/vectors.hpp"

namespace hcpnet::tls {
namespace {

void expect_agreement(ByteView hello) {
  const auto theirs = test::seen_by_openssl(hello);
  ASSERT_TRUE(theirs);
  const auto ours = parse_client_hello(hello);
  ASSERT_TRUE(ours) << ours.error().message();
  EXPECT_EQ(ours->server_name, theirs->server_name);
  EXPECT_EQ(ours->alpn, theirs->alpn);
  EXPECT_EQ(ours->consumed_bytes, hello.size());
}

TEST(ClientHelloAgainstOpenssl, AgreesOnRealHellos) {
  const std::string longest =
      std::string(63, 'a') + '.' + std::string(63, 'b') + '.' + std::string(63, 'c') + '.' + std::string(61, 'd');
  for (const int version : {0, TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const std::string& name : {std::string(), std::string("a"), std::string("API.Hc1.example.com"), longest}) {
      for (const std::vector<std::string>& alpn :
           {std::vector<std::string>{}, std::vector<std::string>{"h2", "http/1.1"},
            std::vector<std::string>{std::string(255, 'p')}}) {
        SCOPED_TRACE(name + " version " + std::to_string(version));
        expect_agreement(test::openssl_client_hello({.server_name = name, .alpn = alpn, .version = version}));
      }
    }
  }
}

TEST(ClientHelloAgainstOpenssl, AgreesOnResumedSessions) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const test::SessionPtr session = test::make_session("api.hc1.example.com", version);
    const auto hello = test::openssl_client_hello(
        {.server_name = "api.hc1.example.com", .alpn = {"h2"}, .version = version, .session = session.get()});
    expect_agreement(hello);
    EXPECT_EQ(parse_client_hello(hello)->server_name, "api.hc1.example.com");
  }
}

TEST(ClientHelloAgainstOpenssl, AgreesOnAddressesAsNames) {  // TLS-14
  expect_agreement(test::openssl_client_hello({.server_name = "192.0.2.10"}));
  expect_agreement(test::openssl_client_hello({.server_name = "2001:db8::10"}));
}

// Where the two differ, and why that is safe.
TEST(ClientHelloAgainstOpenssl, DiffersOnlyWhereWeAreStricter) {
  struct Difference {
    const char* file;
    bool is_refused_by_openssl;
    bool is_refused_by_us;
  };
  for (const Difference& d : {
           Difference{"TLS-10-empty-host.hex", false,
                      true},  // OpenSSL lets the empty name through; RFC 6066 has at least one byte
           Difference{"TLS-10-empty-list.hex", true, true},    //
           Difference{"TLS-10-empty-ext.hex", true, true},     //
           Difference{"TLS-17-mixed.hex", true, true},         //
           Difference{"TLS-17-only7.hex", true, true},         //
           Difference{"TLS-18-nul.hex", true, false},          // we read it, and route it nowhere
           Difference{"TLS-18-long.hex", true, false},         // likewise
           Difference{"TLS-18-crlf.hex", false, false},        // likewise
           Difference{"TLS-18-empty-label.hex", false, false}  // likewise
       }) {
    SCOPED_TRACE(d.file);
    const auto hello = test::read_hex(std::string("tls/") + d.file);
    EXPECT_EQ(!test::seen_by_openssl(hello).has_value(), d.is_refused_by_openssl);
    const auto ours = parse_client_hello(hello);
    EXPECT_EQ(!ours, d.is_refused_by_us);
    if (ours) {
      EXPECT_EQ(ours->host_kind, HostKind::unusable);
    }
  }
}

}  // namespace
}  // namespace hcpnet::tls
