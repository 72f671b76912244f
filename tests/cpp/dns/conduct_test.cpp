// SPDX-License-Identifier: Apache-2.0
// What a server tells of itself, how much it sends for how little, and how often.
#include <gtest/gtest.h>

#include "dns/dns_support.hpp"
#include "dns/rate_limiter.hpp"

namespace hcpnet::dns {
namespace {

ViewSet one_zone(std::vector<RRset> rrsets) {
  return ViewSet::make({test::view_of({std::make_shared<const Zone>(test::name("blue.example"), std::move(rrsets))})})
      .value();
}

class DnsIdentity : public testing::Test {
 protected:
  DnsIdentity() {
    context.view = &views[0];
    context.identity = &identity;
  }
  static Message chaos(std::string_view name, Type type = Type::txt) {
    Message query = test::make_query(name, type);
    query.questions[0].qclass = 3;
    return query;
  }
  std::string text_of(const Message& query) {
    const Message reply = test::answer(query, context).message;
    if (reply.rcode() != Rcode::noerror) return to_string(reply.rcode());
    EXPECT_EQ(reply.answers.at(0).rclass, 3);
    EXPECT_EQ(reply.answers.at(0).ttl, 0U);
    return reply.answers.at(0).rdata.substr(1);
  }
  ViewSet views = one_zone({test::a_record("api.blue.example", "192.0.2.4")});
  Identity identity{"dns-1", "hcpnet"};
  QueryContext context;
};

TEST_F(DnsIdentity, IsToldInClassChaos) {
  EXPECT_EQ(text_of(chaos("version.bind")), "hcpnet");
  EXPECT_EQ(text_of(chaos("VERSION.server")), "hcpnet");
  EXPECT_EQ(text_of(chaos("id.server", Type::any)), "dns-1");
  EXPECT_EQ(text_of(chaos("hostname.bind")), "dns-1");
  EXPECT_EQ(text_of(chaos("authors.bind")), "REFUSED");
  EXPECT_EQ(text_of(chaos("version.bind", Type::a)), "REFUSED");
}

TEST_F(DnsIdentity, IsRefusedUnlessGiven) {
  identity = {};
  for (const char* name : {"version.bind", "version.server", "id.server", "hostname.bind"})
    EXPECT_EQ(text_of(chaos(name)), "REFUSED") << name;
  context.identity = nullptr;
  EXPECT_EQ(text_of(chaos("version.bind")), "REFUSED");
}

TEST_F(DnsIdentity, IsInTheNsidOptionForThoseWhoAsk) {
  Message query = test::make_query("api.blue.example", Type::a);
  query.edns = Edns{};
  EXPECT_EQ(test::answer(query, context).message.edns.value().options, "");
  query.edns->options = std::string("\0\3\0\0", 4);
  EXPECT_EQ(test::answer(query, context).message.edns.value().options, std::string("\0\3\0\5dns-1", 9));
  identity.nsid.clear();
  EXPECT_EQ(test::answer(query, context).message.edns.value().options, "");
}

TEST(Amplification, StaysWithinWhatIsDocumented) {  // docs/dns.md, "Amplification"
  std::vector<RRset> rrsets;
  for (int i = 1; i <= 100; ++i) {
    rrsets.push_back(test::a_record("many.blue.example", "10.0.0." + std::to_string(i)));
    rrsets.push_back({test::name("sub.blue.example"),
                      Type::ns,
                      30,
                      {std::string(as_text(test::name("ns" + std::to_string(i) + ".sub.blue.example").wire()))}});
    rrsets.push_back(test::a_record("ns" + std::to_string(i) + ".sub.blue.example", "192.0.2.1"));
  }
  const auto views = one_zone(std::move(rrsets));
  const Identity identity{std::string(Identity::kMaxNsidBytes, 'n'), std::string(Identity::kMaxVersionBytes, 'v')};
  const CookieSecrets secrets;
  QueryContext context{&views[0], Transport::udp, false};
  context.identity = &identity;
  context.cookies = &secrets;
  context.client = *parse_ip_address("192.0.2.9");
  for (const char* name :
       {"many.blue.example", "x.sub.blue.example", "blue.example", "no.blue.example", "other.test"}) {
    for (const Type type : {Type::a, Type::any, Type::ns, Type::txt}) {
      for (const int edns : {-1, 0, 512, 1232, 65535}) {
        Message query = test::make_query(name, type);
        if (edns >= 0) {
          query.edns = Edns{};
          query.edns->udp_bytes = static_cast<std::uint16_t>(edns);
          query.edns->options = std::string("\0\3\0\0", 4);
        }
        const auto bytes = encode_message(query).value();
        const auto reply = test::answer(bytes, context);
        EXPECT_LE(reply.bytes.size(), edns < 0 ? 512U : 1232U) << name;
        if (type == Type::any && std::string_view(name) != "x.sub.blue.example") {
          EXPECT_LE(reply.bytes.size(), bytes.size() + 100 + (edns < 0 ? 0 : 4 + Identity::kMaxNsidBytes))
              << name << ": ANY";
        }
        test::Bytes less(kMaxUdpBytes);
        EXPECT_LE(respond_with_less(bytes, context, less), bytes.size() + (edns < 0 ? 0 : Identity::kMaxNsidBytes));
      }
    }
  }
}

/// The rows about ANY, and about what is held back, to the byte.
TEST(Amplification, OfAnyIsWhatTheTableSays) {
  const std::string label(63, 'x');
  const std::string longest = label + '.' + label + '.' + label + '.' + std::string(50, 'x');
  const Identity identity{std::string(Identity::kMaxNsidBytes, 'n'), ""};
  const CookieSecrets secrets;
  const std::string client_cookie(
      "\0\x0a\0\x08"
      "abcdefgh",
      12),
      nsid("\0\3\0\0", 4);
  for (const std::string& apex : {std::string("blue.example"), longest}) {
    const Name target = test::name(label + '.' + label + '.' + label + '.' + std::string(61, 'y'));
    ASSERT_EQ(target.wire().size(), Name::kMaxBytes);
    std::vector<RRset> rrsets{{test::name("alias." + apex), Type::cname, 30, {std::string(as_text(target.wire()))}}};
    for (int i = 1; i <= 100; ++i) rrsets.push_back(test::a_record("many." + apex, "10.0.0." + std::to_string(i)));
    const auto zone = std::make_shared<const Zone>(test::name(apex), std::move(rrsets));
    const std::size_t soa_names = zone->soa().rdata.front().size() - 20;
    if (apex == longest) {
      ASSERT_EQ(soa_names, 2 * Name::kMaxBytes - 8) << "hostmaster. and ns. before it";
    }
    const auto views = ViewSet::make({test::view_of({zone})}).value();
    QueryContext context{&views[0], Transport::udp, false};
    context.identity = &identity;
    context.cookies = &secrets;
    context.client = *parse_ip_address("192.0.2.9");
    const std::pair<const char*, std::size_t> rows[] = {
        {"many.", 21}, {"", 21}, {"alias.", 12 + Name::kMaxBytes}, {"none.", 32 + soa_names}};
    for (const auto& [label_asked, bytes_more] : rows) {
      for (const std::string& options :
           {std::string("none"), std::string(), client_cookie, nsid, nsid + client_cookie}) {
        SCOPED_TRACE(label_asked + apex + ' ' + std::to_string(options.size()));
        Message query = test::make_query(label_asked + apex, Type::any);
        if (options != "none") query.edns = Edns{.options = options};
        const bool has_cookie = options.ends_with(client_cookie), has_nsid = options.starts_with(nsid);
        const std::size_t of_options = (has_cookie ? 16 : 0) + (has_nsid ? Identity::kMaxNsidBytes : 0);
        const std::size_t asked = encode_message(query).value().size();
        const std::size_t whole = asked + bytes_more + of_options;
        const auto reply = test::answer(query, context);
        const bool is_cut = whole > (query.edns ? kMaxUdpBytes : 512U);
        EXPECT_EQ(reply.bytes.size(), is_cut ? asked + of_options : whole);
        EXPECT_EQ((reply.message.flags & flag::kTruncated) != 0, is_cut);
        test::Bytes less(kMaxUdpBytes);
        EXPECT_EQ(respond_with_less(encode_message(query).value(), context, less), asked + of_options);
      }
    }
  }
}

constexpr SipKey kKey{1, 2, 3};
const IpAddress kClient = *parse_ip_address("192.0.2.9");

RateLimit limit(std::uint32_t rate, std::uint32_t slip) {
  RateLimit made;
  made.responses_per_second = rate;
  made.slip = slip;
  return made;
}

TEST(RateLimiter, LetsThroughWhatASecondBringsThenShortensEverySecondOne) {
  RateLimiter limiter(limit(3, 2), kKey);
  using enum RateLimiter::Verdict;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1000), send);
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1000), drop);
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1000), shorten);
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1000), drop);
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1334), send);
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 1334), drop);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 60'000), send) << "never more than a second's";
  EXPECT_EQ(limiter.check(kClient, ReplyKind::answer, 60'000), drop);
}

TEST(RateLimiter, CountsNetworksAndKindsApart) {
  RateLimiter limiter(limit(1, 0), kKey);
  const auto is_sent = [&](const char* address, ReplyKind kind = ReplyKind::answer) {
    return limiter.check(*parse_ip_address(address), kind, 1000) == RateLimiter::Verdict::send;
  };
  EXPECT_TRUE(is_sent("192.0.2.1"));
  EXPECT_FALSE(is_sent("192.0.2.255")) << "the same /24";
  EXPECT_TRUE(is_sent("192.0.3.1"));
  EXPECT_TRUE(is_sent("192.0.2.1", ReplyKind::nxdomain));
  EXPECT_TRUE(is_sent("2001:db8:0:100::1"));
  EXPECT_FALSE(is_sent("2001:db8:0:1ff:ffff::1")) << "the same /56";
  EXPECT_TRUE(is_sent("2001:db8:0:200::1"));
}

TEST(RateLimiter, NeverHoldsMoreThanItsBuckets) {
  RateLimit small = limit(1, 0);
  small.max_buckets = 4;
  RateLimiter limiter(small, kKey);
  const auto check = [&](int network, std::uint64_t now) {
    return limiter.check(Ipv4(10, 0, static_cast<std::uint8_t>(network), 1), ReplyKind::answer, now);
  };
  for (int network = 0; network < 4; ++network)
    EXPECT_EQ(check(network, 1000 + static_cast<std::uint64_t>(network)), RateLimiter::Verdict::send);
  EXPECT_EQ(check(3, 1004), RateLimiter::Verdict::drop);
  EXPECT_EQ(check(4, 1005), RateLimiter::Verdict::send) << "takes the place of network 0";
  EXPECT_EQ(check(0, 1006), RateLimiter::Verdict::send) << "which is new again";
  EXPECT_EQ(check(4, 1007), RateLimiter::Verdict::drop);
}

}  // namespace
}  // namespace hcpnet::dns
