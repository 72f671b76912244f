// SPDX-License-Identifier: Apache-2.0
#include "proxy/dns_resolve.hpp"

#include <gmock/gmock.h>

#include <boost/asio/error.hpp>
#include <optional>

#include "dns/server_support.hpp"

namespace hcpnet::proxy {
namespace {

using namespace std::chrono_literals;
using test::reply_with;
using test::reply_with_code;
using test::ScriptedUpstream;
using Asked = ScriptedUpstream::Asked;

class DnsResolveTest : public testing::Test {
 protected:
  Resolve resolver(std::vector<Endpoint> servers, error_code failure = error_code(boost::asio::error::host_not_found)) {
    return make_dns_resolve(
        io.get_executor(), clock, [servers](Clock::SteadyTime) { return servers; },
        [this, failure](const std::string& host, std::uint16_t, Resolved resolved) {
          otherwise.push_back(host);
          resolved(failure);
        });
  }
  std::optional<Result<Resolution>> resolve(const Resolve& with, const std::string& host) {
    std::optional<Result<Resolution>> answer;
    with(host, 6443, [&](Result<Resolution> found) { answer = std::move(found); });
    EXPECT_TRUE(test::run_until(io, [&] { return answer.has_value(); }));
    return answer;
  }
  static bool is_v4(const Asked& asked) { return asked.query.questions.at(0).type == dns::Type::a; }

  boost::asio::io_context io{1};
  ManualClock clock;
  std::vector<std::string> otherwise;
};

TEST_F(DnsResolveTest, AsksForBothFamiliesAndTakesTheLeastTimeToLive) {
  ScriptedUpstream server(io, [](const Asked& asked) {
    if (is_v4(asked)) return std::optional(reply_with(asked.query, {"192.0.2.1", "192.0.2.2"}, 90));
    dns::Message reply = dns::parse_message(reply_with(asked.query, {}, 0)).value();
    reply.answers.push_back({asked.query.questions[0].name, dns::Type::aaaa, dns::kClassIn, 30,
                             std::string("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07", 16)});
    return std::optional(dns::encode_message(reply).value());
  });
  const auto answer = resolve(resolver({server.endpoint()}), "kube-apiserver.blue.svc.cluster.local");
  ASSERT_TRUE(answer->has_value());
  std::vector<std::string> endpoints;
  for (const Endpoint& endpoint : (*answer)->endpoints) endpoints.push_back(endpoint.to_string());
  EXPECT_THAT(endpoints, testing::UnorderedElementsAre("192.0.2.1:6443", "192.0.2.2:6443", "[2001:db8::7]:6443"));
  EXPECT_EQ((*answer)->ttl, 30s);
  EXPECT_TRUE(otherwise.empty());
}

/// RFC 8305 section 3: some networks drop questions for AAAA.
TEST_F(DnsResolveTest, OneFamilyDoesNotWaitLongForTheOther) {
  ScriptedUpstream server(io, [](const Asked& asked) {
    return is_v4(asked) ? std::optional(reply_with(asked.query, {"192.0.2.1"})) : std::nullopt;
  });
  std::optional<Result<Resolution>> answer;
  resolver({server.endpoint()})("kube-apiserver.blue", 6443,
                                [&](Result<Resolution> found) { answer = std::move(found); });
  ASSERT_TRUE(test::run_until(io, [&] { return server.asked.size() == 2; }));
  test::run_ready(io);
  EXPECT_FALSE(answer) << "the other may be on its way";
  const bool is_told = test::run_until(io, [&] {
    clock.advance(1ms);
    return answer.has_value();
  });
  ASSERT_TRUE(is_told);
  EXPECT_EQ((*answer)->endpoints.size(), 1U);
  EXPECT_EQ((*answer)->ttl, 1s) << "the whole answer is asked for soon";
  EXPECT_LE(clock.steady_now(), Clock::SteadyTime{} + 1s) << "long before the question is given up";
}

TEST_F(DnsResolveTest, OneFamilyIsEnough) {
  ScriptedUpstream server(io, [](const Asked& asked) {
    return is_v4(asked) ? reply_with(asked.query, {"192.0.2.1"}, 5)
                        : reply_with_code(asked.query, dns::Rcode::nxdomain);
  });
  const auto answer = resolve(resolver({server.endpoint()}), "a.svc");
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->endpoints.size(), 1u);
  EXPECT_EQ((*answer)->ttl, 5s);
}

TEST_F(DnsResolveTest, AServerThatFailsIsPassedOver) {
  ScriptedUpstream broken(io, [](const Asked& asked) { return reply_with_code(asked.query, dns::Rcode::servfail); });
  ScriptedUpstream server(io, [](const Asked& asked) { return reply_with(asked.query, {"192.0.2.1"}); });
  const auto answer = resolve(resolver({broken.endpoint(), server.endpoint()}), "a.svc");
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ(broken.asked.size(), 2u);
}

TEST_F(DnsResolveTest, WhatDnsDoesNotKnowTheSystemMayKnow) {
  ScriptedUpstream server(io, [](const Asked& asked) { return reply_with_code(asked.query, dns::Rcode::nxdomain); });
  EXPECT_FALSE(resolve(resolver({server.endpoint()}), "a.hosts")->has_value());
  EXPECT_FALSE(resolve(resolver({server.endpoint()}), "localhost")->has_value());
  EXPECT_FALSE(resolve(resolver({}), "b.hosts")->has_value());
  EXPECT_THAT(otherwise, testing::ElementsAre("a.hosts", "localhost", "b.hosts"));
  EXPECT_EQ(server.asked.size(), 2u) << "a single label is not asked for";
}

TEST_F(DnsResolveTest, AHalfThatFailedMakesTheOtherHoldForASecond) {
  ScriptedUpstream server(io, [](const Asked& asked) {
    return is_v4(asked) ? reply_with(asked.query, {"192.0.2.1"}, 3600)
                        : reply_with_code(asked.query, dns::Rcode::servfail);
  });
  const auto answer = resolve(resolver({server.endpoint()}), "a.svc");
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->ttl, 1s);
}

TEST_F(DnsResolveTest, WhatDnsSaysOfANameHoldsWhereTheSystemCannotTell) {
  const error_code no_answer = boost::asio::error::host_not_found_try_again;
  ScriptedUpstream absent(io, [](const Asked& asked) {
    return is_v4(asked) ? reply_with(asked.query, {}, 0) : reply_with_code(asked.query, dns::Rcode::nxdomain);
  });
  EXPECT_EQ(resolve(resolver({absent.endpoint()}, no_answer), "a.svc")->error(), boost::asio::error::host_not_found);
  ScriptedUpstream broken(io, [](const Asked& asked) {
    return reply_with_code(asked.query, is_v4(asked) ? dns::Rcode::nxdomain : dns::Rcode::servfail);
  });
  EXPECT_EQ(resolve(resolver({broken.endpoint()}, no_answer), "a.svc")->error(), no_answer);
}

TEST_F(DnsResolveTest, SilenceHasAnEnd) {
  ScriptedUpstream silent(io, [](const Asked&) { return std::nullopt; });
  std::optional<Result<Resolution>> answer;
  resolver({silent.endpoint()})("a.svc", 443, [&](Result<Resolution> found) { answer = std::move(found); });
  for (int i = 0; i < 5 && !answer; ++i) {
    test::run_until(io, [&] { return silent.asked.size() >= 2u * static_cast<unsigned>(i + 1) || answer; });
    clock.advance(2s);
  }
  ASSERT_TRUE(test::run_until(io, [&] { return answer.has_value(); }));
  EXPECT_FALSE(answer->has_value());
}

}  // namespace
}  // namespace hcpnet::proxy
