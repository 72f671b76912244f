// SPDX-License-Identifier: Apache-2.0
// Field cases TLS-01 to TLS-30: hellos that made other proxies fail, from tests/cpp/data/tls.
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/tls/client_hello.hpp>

#include "support/vectors.hpp"

namespace hcpnet::tls {
namespace {

using nlohmann::json;

std::string status_of(const Result<ClientHello>& result) {
  if (result) return "complete";
  const error_code ec = result.error();
  if (ec == Errc::need_more) return "need_more";
  if (ec == Errc::not_tls) return "not_tls";
  if (ec == Errc::malformed) return "malformed";
  return ec == Errc::too_large ? "too_large" : "unknown";
}

/// The name that routing would use: in lower case, or null.
json routable(const ClientHello& hello) {
  if (!hello.server_name || hello.host_kind != HostKind::dns_name) return nullptr;
  std::string name = *hello.server_name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

void expect_vector(const Result<ClientHello>& result, const json& expect) {
  const json allowed = expect["status"].is_array() ? expect["status"] : json::array({expect["status"]});
  EXPECT_NE(std::ranges::find(allowed, json(status_of(result))), allowed.end())
      << status_of(result) << " not in " << allowed;
  if (!result) return;
  if (expect.contains("sni")) {
    EXPECT_EQ(result->server_name ? json(*result->server_name) : json(), expect["sni"]);
  }
  if (expect.contains("sni_match")) {
    EXPECT_EQ(routable(*result), expect["sni_match"]);
  }
  if (expect.contains("never_sni")) {
    EXPECT_NE(routable(*result), expect["never_sni"]);
  }
  if (expect.contains("alpn")) {
    EXPECT_EQ(json(result->alpn), expect["alpn"]);
  }
  if (expect.contains("hello_record_len")) {
    EXPECT_EQ(result->consumed_bytes, expect["hello_record_len"].get<std::size_t>());
  }
  if (expect.value("treat_as", "") == "no_sni") {
    EXPECT_EQ(result->host_kind, HostKind::ip_address);
  }
}

std::vector<std::uint8_t> bytes_of(const json& vector) {
  std::vector<std::uint8_t> bytes;
  const json segments = vector.contains("segments") ? vector["segments"] : json::array({vector});
  for (const json& segment : segments) {
    const auto part = test::read_hex("tls/" + segment["hex_file"].get<std::string>());
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

class ClientHelloCase : public testing::TestWithParam<const char*> {
 protected:
  json vectors() const { return test::read_json(std::string("tls/") + GetParam() + ".json")["vectors"]; }
};

TEST_P(ClientHelloCase, AsExpectedAtOnce) {
  for (const json& vector : vectors()) {
    SCOPED_TRACE(vector["name"]);
    expect_vector(parse_client_hello(bytes_of(vector)), vector["expect"]);
  }
}

TEST_P(ClientHelloCase, AsExpectedByteByByteAndDecidedOnce) {
  for (const json& vector : vectors()) {
    SCOPED_TRACE(vector["name"]);
    const std::vector<std::uint8_t> bytes = bytes_of(vector);
    ClientHelloReader reader;
    std::size_t n = 0;
    Result<ClientHello> result = Errc::need_more;
    while (n < bytes.size() && status_of(result) == "need_more") result = reader.read(ByteView(bytes).first(++n));
    expect_vector(result, vector["expect"]);
    if (vector["expect"].contains("decided_at")) {
      EXPECT_EQ(n, vector["expect"]["decided_at"].get<std::size_t>());
    }
    if (result) {
      EXPECT_EQ(n, result->consumed_bytes);
    }
    EXPECT_EQ(status_of(result), status_of(parse_client_hello(ByteView(bytes).first(n))));
  }
}

INSTANTIATE_TEST_SUITE_P(Field, ClientHelloCase,
                         testing::Values("TLS-01", "TLS-02", "TLS-05", "TLS-06", "TLS-08", "TLS-10", "TLS-12", "TLS-14",
                                         "TLS-17", "TLS-18", "TLS-20", "TLS-22", "TLS-23", "TLS-25", "TLS-29",
                                         "TLS-30"),
                         [](const auto& test_case) {
                           std::string name = test_case.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ClientHelloCases, Tls06FirstSegmentAloneNeedsMore) {
  EXPECT_EQ(parse_client_hello(test::read_hex("tls/TLS-06-pq-0.hex")).error(), Errc::need_more);
}

// TLS-23: decided from the first nine bytes, whatever else is there.
TEST(ClientHelloCases, Tls23DecidesFromTheHeaders) {
  for (const char* name : {"hs16m", "hello40k"}) {
    const auto bytes = test::read_hex(std::string("tls/TLS-23-") + name + ".hex");
    EXPECT_EQ(parse_client_hello(ByteView(bytes).first(8)).error(), Errc::need_more) << name;
    EXPECT_EQ(parse_client_hello(ByteView(bytes).first(9)).error(), Errc::too_large) << name;
  }
  const auto overflow = test::read_hex("tls/TLS-23-rec4001.hex");
  EXPECT_EQ(parse_client_hello(ByteView(overflow).first(5)).error(), Errc::malformed);
}

}  // namespace
}  // namespace hcpnet::tls
