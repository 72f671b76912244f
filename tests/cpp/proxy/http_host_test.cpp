// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/proxy/http_host.hpp>
#include <string>

namespace hcpnet::proxy {
namespace {

Result<HttpHost> parse(std::string_view text, const HttpHostLimits& limits = {}) {
  return parse_http_host(as_bytes(text), limits);
}
std::string get(std::string_view fields) {
  return "GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n";
}
std::string host_of(std::string_view request) {
  const auto host = parse(request);
  if (!host) return "error: " + host.error().message();
  return host->name.value_or("none");
}

TEST(HttpHostReader, FindsTheHost) {
  EXPECT_EQ(host_of(get("Host: console.apps.blue.test\r\n")), "console.apps.blue.test");
  EXPECT_EQ(host_of(get("A: b\r\nhOsT:\t a.test \t\r\nC: d\r\n") + "body"), "a.test");
  EXPECT_EQ(host_of(get("Host: a.test:8080\r\n")), "a.test");
  EXPECT_EQ(host_of(get("Host: [2001:db8::1]:80\r\n")), "[2001:db8::1]");
  EXPECT_EQ(host_of("\r\n" + get("Host: a.test\r\n")), "a.test");
  EXPECT_EQ(host_of("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n"), "a.test");
}

TEST(HttpHostReader, TheTargetGoesBeforeTheField) {  // RFC 9112 section 3.2.2
  EXPECT_EQ(host_of("GET http://a.test:80/x?y://z HTTP/1.1\r\nHost: b.test\r\n\r\n"), "a.test");
  EXPECT_EQ(host_of("GET a+b-c.d1://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n"), "a.test");
  EXPECT_EQ(host_of("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n"), "a.test");
  EXPECT_EQ(host_of("GET /redirect?to=http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"), "a.test");
}

TEST(HttpHostReader, AHostMayBeMissing) {
  EXPECT_EQ(host_of("GET / HTTP/1.0\r\n\r\n"), "none");
  EXPECT_EQ(host_of(get("Host:\r\n")), "none");
  EXPECT_EQ(parse(get("")).error(), Errc::malformed) << "HTTP/1.1 demands the field";
}

TEST(HttpHostReader, RefusesWhatServersUnderstandDifferently) {
  for (const std::string& request :
       {get("Host: a.test\r\nHost: a.test\r\n"), get("Host : a.test\r\n"), get(" Host: a.test\r\n"),
        get("Host: a.test\r\n b.test\r\n"), get("Host: a.test\nX: y\r\n"), get("Host: a\rb\r\n"),
        get("Host: a.test:80x\r\n"), get("Host: [::1\r\n"), get("no colon\r\n"),
        get(std::string_view("Host: a\0b\r\n", 11)), std::string("GET  HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET / x HTTP/1.1\r\nHost: a\r\n\r\n"),
        std::string("GET http://u@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        std::string("GET http:///x HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        std::string("GET http:b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        std::string("GET 1x://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        std::string("GET b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"), std::string("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        std::string("\r\n\r\n")}) {
    const auto host = parse(request);
    EXPECT_FALSE(host.has_value()) << request;
    EXPECT_NE(host.error(), Errc::need_more) << request;
  }
}

TEST(HttpHostReader, KnowsOtherProtocols) {
  EXPECT_EQ(parse("\x16\x03\x01").error(), Errc::other_protocol);
  EXPECT_EQ(parse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").error(), Errc::other_protocol);
  EXPECT_EQ(parse("SSH-2.0-x\r\n").error(), Errc::other_protocol);
}

TEST(HttpHostReader, IsBounded) {
  EXPECT_EQ(parse(get("Host: a.test\r\n" + std::string(200, 'x')), {.max_bytes = 100}).error(), Errc::too_large);
  EXPECT_EQ(parse(std::string(100, 'G'), {.max_bytes = 100}).error(), Errc::too_large);
  EXPECT_EQ(parse(get("Host: a\r\nA: b\r\nC: d\r\n"), {.max_fields = 2}).error(), Errc::too_large);
  EXPECT_EQ(host_of(get("Host: a\r\n")), "a");
}

TEST(HttpHostReader, EveryProperPrefixNeedsMoreAndByteByByteIsTheSame) {
  const std::string request = "\r\n" + get("Host: a.test\r\nX: y\r\n");
  HttpHostReader reader;
  for (std::size_t n = 0; n < request.size(); ++n) {
    EXPECT_EQ(parse(request.substr(0, n)).error(), Errc::need_more) << n;
    EXPECT_EQ(reader.read(as_bytes(request).first(n)).error(), Errc::need_more) << n;
  }
  EXPECT_EQ(reader.read(as_bytes(request)).value().name, "a.test");
}

TEST(HttpHostReader, SaysThatItIsGivenLessThanBefore) {
  const std::string request = get("Host: a.test\r\n");
  HttpHostReader reader;
  EXPECT_EQ(reader.read(as_bytes(request).first(20)).error(), Errc::need_more);
  EXPECT_EQ(reader.read(as_bytes(request).first(19)).error(), Errc::malformed);
}

TEST(HttpHostReader, SurvivesEverySingleByteChange) {
  const std::string request = get("Host: a.test:80\r\nX: y\r\n");
  for (std::size_t i = 0; i < request.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string bytes = request;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto host = parse(bytes);
      if (host && host->name) {
        EXPECT_LE(host->name->size(), bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace hcpnet::proxy
