// SPDX-License-Identifier: Apache-2.0
// The field cases DNS-01 to DNS-27 that are one query and its reply; data and expectations are those of
// tests/cpp/data/dns.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <hcpnet/dns/cookie.hpp>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/responder.hpp>
#include <nlohmann/json.hpp>
#include <tuple>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

using nlohmann::json;
using test::Answered;

std::string rcode_of(const Answered& reply) {
  return reply.response.verdict == Response::Verdict::drop ? "drop" : to_string(reply.message.rcode());
}

void expect_one_of(const json& expected, const std::string& found) {
  if (expected.is_string()) {
    EXPECT_EQ(found, expected.get<std::string>());
  } else {
    EXPECT_NE(std::ranges::find(expected, json(found)), expected.end()) << found << " is none of " << expected;
  }
}

constexpr std::size_t kCookieOptionBytes = 4 + sizeof(Cookie);

bool has_soa(const Message& message) {
  return std::ranges::any_of(message.authority, [](const Record& record) { return record.type == Type::soa; });
}

/// One key of an "expect" object. False for a key that this test does not know.
bool check(const std::string& key, const json& expected, ByteView query, const Answered& reply) {
  const Message& message = reply.message;
  const auto has_flag = [&](std::uint16_t bit) { return (message.flags & bit) != 0; };
  if (key == "rcode" || key == "ext_rcode")
    expect_one_of(expected, rcode_of(reply));
  else if (key == "an")
    EXPECT_EQ(message.answers.size(), expected.get<std::size_t>());
  else if (key == "soa")
    EXPECT_EQ(has_soa(message), expected.get<bool>());
  else if (key == "aa")
    EXPECT_EQ(has_flag(flag::kAuthoritative), expected.get<bool>());
  else if (key == "rd")
    EXPECT_EQ(has_flag(flag::kRecursionDesired), expected.get<bool>());
  else if (key == "tc")
    EXPECT_EQ(has_flag(flag::kTruncated), expected.get<bool>());
  else if (key == "a")
    EXPECT_EQ(test::addresses(message), expected.get<std::vector<std::string>>());
  else if (key == "max_len")
    EXPECT_LE(reply.bytes.size(), expected.get<std::size_t>());
  else if (key == "opt")
    EXPECT_EQ(message.edns.has_value(), expected.get<bool>());
  else if (key == "question")
    EXPECT_EQ(!message.questions.empty(), expected.get<bool>());
  else if (key == "question_exact") {
    const std::size_t size = kHeaderBytes + message.questions.at(0).name.wire().size() + 4;
    EXPECT_TRUE(std::ranges::equal(query.subspan(12, size - 12), ByteView(reply.bytes).subspan(12, size - 12)));
  } else if (key == "opt_options") {
    EXPECT_EQ(message.edns.has_value() ? message.edns->options : "no OPT", "");
  } else if (key == "cookie_not_echoed") {
    const bool is_proper = reply.response.cookie != CookieState::none;
    EXPECT_EQ(message.edns.has_value() ? message.edns->options.size() : 999, is_proper ? kCookieOptionBytes : 0);
  } else if (key == "z")
    EXPECT_EQ(reply.bytes.at(reply.bytes.size() - 3) & 0x7f, expected.get<int>()) << "the flags of the OPT record";
  else
    return false;
  return true;
}

/// The zone of the cases, for a client of its view.
struct CaseZone {
  explicit CaseZone(Transport transport = Transport::udp) : context{&views[0], transport, false} {
    context.client = *parse_ip_address("192.0.2.9");
  }
  Answered answer(const std::string& file) const {
    return test::answer(test::from_hex(test::read_dns_data(file)), context);
  }

  ViewSet views = ViewSet::make({test::view_of({test::load_case_zone("zone-hcp1.txt")})}).value();
  CookieSecrets secrets;
  QueryContext context;
};

/// A case, and whether the server has cookies, as it does unless told otherwise.
class DnsFieldCase : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(DnsFieldCase, IsAnsweredAsItSays) {
  const std::string id = std::get<0>(GetParam());
  CaseZone zone;
  if (std::get<1>(GetParam())) zone.context.cookies = &zone.secrets;
  const json data = json::parse(test::read_dns_data(id + ".json"));
  int checked = 0;
  for (const json& vector : data.at("vectors")) {
    const std::string file = vector.at("hex_file");
    SCOPED_TRACE(file);
    const json& expect = vector.at("expect");
    if (expect.contains("parse")) continue;  // DNS-19: see below
    const test::Bytes query = test::from_hex(test::read_dns_data(file));
    const Answered reply = zone.answer(file);
    for (const auto& [key, expected] : expect.items())
      EXPECT_TRUE(check(key, expected, query, reply)) << "unknown key " << key;
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(Dns, DnsFieldCase,
                         testing::Combine(testing::Values("DNS-01", "DNS-03", "DNS-04", "DNS-06", "DNS-08", "DNS-10",
                                                          "DNS-12", "DNS-19", "DNS-21", "DNS-25", "DNS-27"),
                                          testing::Bool()),
                         [](const auto& param) {
                           return "Case" + std::string(std::get<0>(param.param)).substr(4) +
                                  (std::get<1>(param.param) ? "WithCookies" : "");
                         });

TEST(DnsFieldCase01, HttpsAtANameWithoutItIsNodata) {
  const auto reply = test::answer(test::make_query("api.hcp1.example.com", Type::https), CaseZone().context);
  EXPECT_EQ(reply.message.rcode(), Rcode::noerror);
  EXPECT_TRUE(reply.message.answers.empty());
  EXPECT_NE(reply.message.flags & flag::kAuthoritative, 0);
  EXPECT_TRUE(has_soa(reply.message));
}

TEST(DnsFieldCase12, TheCookieCountsToo) {  // coredns #2581
  CaseZone zone;
  zone.context.cookies = &zone.secrets;
  const Answered reply = zone.answer("DNS-12-b700.hex");
  EXPECT_LE(reply.bytes.size(), 700U);
  EXPECT_NE(reply.message.flags & flag::kTruncated, 0) << "without the cookie all 40 fit";
  EXPECT_EQ(reply.message.answers.size(), (700U - 39 - 11 - kCookieOptionBytes) / 16);
  EXPECT_EQ(reply.message.edns.value().options.size(), kCookieOptionBytes);
}

TEST(DnsFieldCase12, TcpGivesTheWholeSet) {
  const Answered reply = CaseZone(Transport::tcp).answer("DNS-12-noopt.hex");
  EXPECT_EQ(reply.message.answers.size(), 40U);
  EXPECT_EQ(reply.message.flags & flag::kTruncated, 0);
}

TEST(DnsFieldCase21, AnyIsMinimalWithEdnsAndOverTcpToo) {
  Message many = test::make_query("many.hcp1.example.com", Type::any);
  many.edns = Edns{};
  many.edns->udp_bytes = 4096;
  const CaseZone udp, tcp(Transport::tcp);
  for (const Answered& reply : {test::answer(many, udp.context),
                                test::answer(test::make_query("api.hcp1.example.com", Type::any), tcp.context)}) {
    EXPECT_EQ(reply.message.rcode(), Rcode::noerror);
    ASSERT_EQ(reply.message.answers.size(), 1U);
    EXPECT_EQ(reply.message.answers[0].type, Type::hinfo);
    EXPECT_LE(reply.bytes.size(), 512U);
  }
}

TEST(DnsFieldCase19, PointersToPointersAreFollowed) {
  const auto message = parse_message(test::from_hex(test::read_dns_data("DNS-19-ptr2ptr.hex")));
  ASSERT_TRUE(message);
  std::vector<std::string> names;
  for (const Question& question : message->questions) names.push_back(question.name.to_string());
  for (const Record& record : message->answers) names.push_back(record.owner.to_string());
  EXPECT_NE(std::ranges::find(names, "api.hcp1.example.com."), names.end());
  EXPECT_NE(std::ranges::find(names, "x.hcp1.example.com."), names.end());
}

TEST(DnsFieldCase19, AChainOfThousandsOfPointersIsCutShort) {
  const test::Bytes chain = test::from_hex(test::read_dns_data("DNS-19-chain.hex"));
  EXPECT_EQ(parse_message(chain).error(), Errc::malformed);
}

/// Of this thread alone.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// The case's 5 ms have five times the slack.
TEST(DnsFieldCase19, IsRefusedWithinMilliseconds) {
  for (const char* which : {"self", "a-self", "oob", "fwd", "l40", "l80", "chain"}) {
    const test::Bytes message = test::from_hex(test::read_dns_data("DNS-19-" + std::string(which) + ".hex"));
    auto least = std::chrono::nanoseconds::max();
    for (int i = 0; i < 5; ++i) {
      const auto begin = cpu_time();
      EXPECT_TRUE(parse_message(message).has_error()) << which;
      least = std::min(least, cpu_time() - begin);
    }
    EXPECT_LT(least, std::chrono::milliseconds(25)) << which;
  }
}

TEST(DnsFieldCase27, AnInternationalNameIsRefusedUnlessInItsAsciiForm) {
  EXPECT_EQ(parse_name("b\xc3\xbc"
                       "cher.hcp1.example.com")
                .error(),
            Errc::bad_name);
  EXPECT_THAT(make_error_code(Errc::bad_name).message(), ::testing::HasSubstr("xn-- form"));
  const auto zone = std::make_shared<const Zone>(
      test::name("hcp1.example.com"),
      std::vector<RRset>{test::a_record("xn--bcher-kva.hcp1.example.com", "192.168.100.4")});
  const auto views = ViewSet::make({test::view_of({zone})}).value();
  const auto reply =
      test::answer(test::make_query("xn--bcher-kva.hcp1.example.com", Type::a), {&views[0], Transport::udp, false});
  EXPECT_EQ(test::addresses(reply.message), std::vector<std::string>{"192.168.100.4"});
}

}  // namespace
}  // namespace hcpnet::dns
