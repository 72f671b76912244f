// SPDX-License-Identifier: Apache-2.0
// Whom a question goes to, how long answers are used, and for whom; upstreams follow a script, the test holds the time.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "dns/server_support.hpp"

namespace hcpnet::dns {
namespace {

using namespace std::chrono_literals;
using test::addresses;
using test::Bytes;
using test::make_query;
using test::reply_with;
using test::reply_with_code;
using test::TcpClient;
using test::UdpClient;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Key;
using ::testing::Pair;
using Asked = test::ScriptedUpstream::Asked;
using Reply = std::optional<Bytes>;

const std::vector<std::string> kOld{"192.0.2.80"}, kNew{"192.0.2.81"};

std::string asked_name(const Asked& asked) {
  return asked.query.questions.at(0).name.to_string();
}
bool is_probe(const Asked& asked) {
  return asked.query.questions.at(0).name.is_root();
}

class DnsForwarderPolicy : public test::DnsServerTest {
 protected:
  /// An upstream that does as `does` says at that moment.
  test::ScriptedUpstream& add(test::ScriptedUpstream::Script does) {
    upstreams.push_back(std::make_unique<test::ScriptedUpstream>(io, std::move(does)));
    forwarding.upstreams.push_back(upstreams.back()->endpoint());
    return *upstreams.back();
  }
  test::ScriptedUpstream& add_good() {
    return add([this](const Asked& asked) { return reply_with(asked.query, now_true, ttl); });
  }
  /// One that answers unless it is `is_silent`.
  test::ScriptedUpstream& add_moody() {
    return add([this](const Asked& asked) -> Reply {
      if (is_silent) return std::nullopt;
      return reply_with(asked.query, now_true, ttl);
    });
  }
  void start_forwarding() {
    start(config_with(forwarding));
    client = std::make_unique<UdpClient>(io, bound());
  }
  /// Asks, and moves the clock on in small steps for as long as there is no reply; `waited` is what it took.
  Message ask(std::string_view qname = "www.example.net") {
    client->send(make_query(qname, Type::a));
    for (waited = 0ms; waited <= 10s; waited += 100ms) {
      test::run_ready(io);
      if (const auto reply = client->try_receive()) return parse_message(*reply).value();
      clock.advance(100ms);
    }
    ADD_FAILURE() << "no reply in time";
    return {};
  }
  /// Lets time pass in steps, so that what is due in between happens then.
  void pass(std::chrono::seconds time) {
    for (; time > 0s; time -= 1s) {
      clock.advance(1s);
      test::run_ready(io);
    }
  }
  [[nodiscard]] std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (const auto& upstream : upstreams)
      all.push_back(static_cast<std::size_t>(std::ranges::count_if(upstream->asked, std::not_fn(is_probe))));
    return all;
  }
  void ask_many(int count) {
    for (int i = 0; i < count; ++i) ask("n" + std::to_string(next_name_++) + ".example.net");
  }

  std::vector<std::unique_ptr<test::ScriptedUpstream>> upstreams;
  Forwarding forwarding;
  std::vector<std::string> now_true = kOld;
  std::uint32_t ttl = 60;
  bool is_silent = false;
  std::unique_ptr<UdpClient> client;
  std::chrono::milliseconds waited{};

 private:
  int next_name_ = 0;
};

TEST_F(DnsForwarderPolicy, SequentialAsksTheFirst) {
  for (int i = 0; i < 3; ++i) add_good();
  start_forwarding();
  ask_many(6);
  EXPECT_THAT(counts(), ElementsAre(6, 0, 0));
}

TEST_F(DnsForwarderPolicy, RoundRobinAsksEachInItsTurn) {
  for (int i = 0; i < 3; ++i) add_good();
  forwarding.policy = UpstreamPolicy::round_robin;
  start_forwarding();
  ask_many(9);
  EXPECT_THAT(counts(), ElementsAre(3, 3, 3));
}

TEST_F(DnsForwarderPolicy, RandomAsksAll) {
  for (int i = 0; i < 3; ++i) add_good();
  forwarding.policy = UpstreamPolicy::random;
  start_forwarding();
  ask_many(120);
  EXPECT_THAT(counts(), Each(Gt(15u))) << "40 each are expected; 15 is five deviations away";
}

TEST_F(DnsForwarderPolicy, ASilentUpstreamWaitsForAProbeToBeAnswered) {
  add_moody();
  add_good();
  forwarding.policy = UpstreamPolicy::round_robin;
  start_forwarding();
  is_silent = true;
  ask_many(10);
  EXPECT_THAT(counts(), ElementsAre(1, 10)) << "one client in ten waited";
  pass(25s);
  EXPECT_GE(server->stats().upstream_probes, 2u);
  ask_many(4);
  EXPECT_THAT(counts(), ElementsAre(1, 14)) << "no client's query is the probe";
  is_silent = false;
  pass(13s);
  ask_many(4);
  EXPECT_THAT(counts(), ElementsAre(3, 16));
  EXPECT_EQ(server->stats().upstream_replies.at(upstreams[0]->endpoint().to_string()).at("timeout"), 1u);
}

TEST_F(DnsForwarderPolicy, AZoneHasUpstreamsOfItsOwn) {
  add_good();
  for (const char* zone : {"corp.example", "a.corp.example"}) {
    add_good();
    forwarding.zones.push_back({test::name(zone), {forwarding.upstreams.back()}});
    forwarding.upstreams.pop_back();
  }
  start_forwarding();
  ask("xcorp.example");
  EXPECT_THAT(counts(), ElementsAre(1, 0, 0));
  ask("CORP.example");
  ask("x.corp.Example");
  EXPECT_THAT(counts(), ElementsAre(1, 2, 0));
  ask("x.y.a.corp.example");
  ask("a.corp.example");
  EXPECT_THAT(counts(), ElementsAre(1, 2, 2)) << "the longest zone decides";
}

/// The name asked for is an alias of `target`, whose address is this, where one is told.
Bytes reply_with_alias(const Message& query, std::string_view target, std::string_view address = {}) {
  Message reply = query;
  reply.flags |= flag::kResponse | flag::kRecursionAvailable;
  reply.edns.reset();
  const Name to = test::name(target);
  reply.answers = {{query.questions.at(0).name, Type::cname, kClassIn, 60, std::string(as_text(to.wire()))}};
  if (!address.empty())
    reply.answers.push_back({to, Type::a, kClassIn, 60, std::string(as_text(test::ipv4(address).bytes()))});
  return encode_message(reply).value();
}

TEST_F(DnsForwarderPolicy, WhoTellsAnAliasIntoAZoneHasNoSayThere) {
  add([](const Asked& asked) { return reply_with_alias(asked.query, "db.corp.example", "6.6.6.6"); });
  add_good();
  forwarding.zones.push_back({test::name("corp.example"), {forwarding.upstreams.back()}});
  forwarding.upstreams.pop_back();
  start_forwarding();
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask("www.example.net");
    EXPECT_EQ(addresses(reply), kOld) << from;
    ASSERT_EQ(reply.answers.size(), 2u) << from;
    EXPECT_EQ(reply.answers[0].owner, test::name("www.example.net")) << from;
  }
  EXPECT_THAT(counts(), ElementsAre(1, 1));
  EXPECT_EQ(addresses(ask("other.example.net")), kOld) << "with the end in the cache alone";
  EXPECT_THAT(counts(), ElementsAre(2, 1));
}

TEST_F(DnsForwarderPolicy, AnAliasOutOfAZoneIsFollowedWhereItIsToldAlone) {
  std::string_view told;
  add_good();
  add([&](const Asked& asked) { return reply_with_alias(asked.query, "www.example.net", told); });
  forwarding.zones.push_back({test::name("corp.example"), {forwarding.upstreams.back()}});
  forwarding.upstreams.pop_back();
  start_forwarding();
  for (const char* from : {"upstream", "cache"}) EXPECT_EQ(addresses(ask("a.corp.example")), kOld) << from;
  EXPECT_THAT(counts(), ElementsAre(1, 2)) << "an alias alone is not kept (RFC 2308 section 5), its end is";
  told = "192.0.2.99";
  EXPECT_EQ(addresses(ask("b.corp.example")), std::vector<std::string>{"192.0.2.99"}) << "a resolver says the rest";
  EXPECT_THAT(counts(), ElementsAre(1, 3));
}

TEST_F(DnsForwarderPolicy, ACircleThroughSeveralUpstreamsEnds) {
  add([](const Asked& asked) { return reply_with_alias(asked.query, "b.corp.example"); });
  add([](const Asked& asked) { return reply_with_alias(asked.query, "a.example.net"); });
  forwarding.zones.push_back({test::name("corp.example"), {forwarding.upstreams.back()}});
  forwarding.upstreams.pop_back();
  start_forwarding();
  const Message reply = ask("a.example.net");
  EXPECT_EQ(reply.rcode(), Rcode::noerror);
  EXPECT_EQ(reply.answers.size(), 2u) << "each alias once";
  EXPECT_EQ(server->stats().chains_cut, 1u);
  EXPECT_THAT(counts(), ElementsAre(2, 1)) << "an alias alone is not kept";
}

TEST_F(DnsForwarderPolicy, WithZonesAloneOtherNamesAreRefused) {
  add_good();
  forwarding.zones.push_back({test::name("corp.example"), forwarding.upstreams});
  forwarding.upstreams.clear();
  start_forwarding();
  EXPECT_EQ(ask("www.example.net").rcode(), Rcode::refused);
  EXPECT_EQ(addresses(ask("www.corp.example")), kOld);
  Message with_cookie = make_query("www.example.net", Type::a);
  with_cookie.edns = Edns{.options = std::string("\0\x0a\0\10abcdefgh", 12)};
  const Message refused = client->ask(with_cookie);
  EXPECT_EQ(refused.rcode(), Rcode::refused);
  EXPECT_NE(refused.flags & flag::kRecursionAvailable, 0);
  EXPECT_EQ(refused.edns.value().options.size(), 4u + 24u) << "a reply of ours";
  EXPECT_EQ(server->stats().responses.at("REFUSED"), 2u);
}

TEST_F(DnsForwarderPolicy, CodesThatNobodyKnowsAreCountedTogether) {
  add([](const Asked& asked) {
    Message reply = asked.query;
    reply.flags |= flag::kResponse;
    reply.edns = Edns{};
    reply.extended_rcode = static_cast<std::uint8_t>(asked.number + 1);
    return Reply(encode_message(reply).value());
  });
  start_forwarding();
  ask_many(20);
  const ServerStats stats = server->stats();
  EXPECT_THAT(stats.upstream_replies, ElementsAre(Pair(::testing::_, ElementsAre(Pair("other", 20u)))));
  EXPECT_THAT(stats.upstream_durations, ElementsAre(Pair(::testing::_, ElementsAre(Key("other")))));
}

TEST_F(DnsForwarderPolicy, TimesToLiveAreBroughtIntoBounds) {
  add_good();
  forwarding.min_ttl = 100s;
  forwarding.max_ttl = 300s;
  start_forwarding();
  EXPECT_EQ(ask("short.example.net").answers.at(0).ttl, 100u);
  ttl = 3600;
  EXPECT_EQ(ask("long.example.net").answers.at(0).ttl, 300u);
  ttl = 200;
  EXPECT_EQ(ask("good.example.net").answers.at(0).ttl, 200u);
  clock.advance(99s);
  ask("short.example.net");
  EXPECT_THAT(counts(), ElementsAre(3)) << "it is also kept for so long";
}

TEST_F(DnsForwarderPolicy, AStaleAnswerHelpsWhileTheUpstreamIsSilent) {  // RFC 8767
  add_moody();
  forwarding.serve_stale = 3600s;
  start_forwarding();
  ask();
  is_silent = true;
  clock.advance(61s);
  Message reply = ask();
  EXPECT_EQ(addresses(reply), kOld);
  EXPECT_EQ(reply.answers.at(0).ttl, 30u) << "section 4";
  EXPECT_GE(waited, 1700ms);
  EXPECT_LE(waited, 1900ms) << "section 5: before the client gives up";
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_EQ(waited, 0ms) << "the look-up is known to be slow";
  is_silent = false;
  now_true = kNew;
  pass(40s);
  EXPECT_EQ(addresses(ask()), kNew);
  EXPECT_EQ(server->stats().stale_answers, 2u);
}

TEST_F(DnsForwarderPolicy, AStaleAnswerHelpsWhileTheUpstreamFails) {
  bool fails = false;
  add([&](const Asked& asked) {
    return fails ? reply_with_code(asked.query, Rcode::servfail) : reply_with(asked.query, kOld);
  });
  forwarding.serve_stale = 3600s;
  start_forwarding();
  ask();
  fails = true;
  clock.advance(61s);
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_EQ(waited, 0ms);
  EXPECT_THAT(counts(), ElementsAre(2));
  clock.advance(29s);
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_THAT(counts(), ElementsAre(2)) << "section 5: not asked again for 30 s";
  clock.advance(2s);
  ask();
  EXPECT_THAT(counts(), ElementsAre(3));
}

TEST_F(DnsForwarderPolicy, WhatIsTooOldIsNotUsed) {
  add_moody();
  forwarding.serve_stale = 100s;
  start_forwarding();
  ask();
  is_silent = true;
  clock.advance(161s);
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
}

TEST_F(DnsForwarderPolicy, WithoutServeStaleNothingIs) {
  add_moody();
  start_forwarding();
  ask();
  is_silent = true;
  clock.advance(61s);
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
}

TEST_F(DnsForwarderPolicy, WhatIsPopularIsFetchedBeforeItsTimeEnds) {
  add_good();
  forwarding.prefetch = true;
  start_forwarding();
  ask("often.example.net");
  ask("once.example.net");
  clock.advance(53s);
  ask("often.example.net");
  EXPECT_THAT(counts(), ElementsAre(2)) << "too early";
  now_true = kNew;
  clock.advance(2s);
  EXPECT_EQ(addresses(ask("often.example.net")), kOld) << "nobody waits for it";
  EXPECT_EQ(waited, 0ms);
  ask("once.example.net");
  test::run_ready(io);
  EXPECT_THAT(counts(), ElementsAre(3)) << "the other is not popular";
  EXPECT_EQ(server->stats().prefetches, 1u);
  clock.advance(10s);
  EXPECT_EQ(addresses(ask("often.example.net")), kNew);
  EXPECT_THAT(counts(), ElementsAre(3));
}

TEST_F(DnsForwarderPolicy, Case17AFailedPrefetchLeavesTheAnswerAsItIs) {
  bool fails = false;
  add([&](const Asked& asked) {
    return fails ? reply_with_code(asked.query, Rcode::servfail) : reply_with(asked.query, kOld);
  });
  forwarding.prefetch = true;
  start_forwarding();
  ask();
  ask();
  clock.advance(55s);
  fails = true;
  ask();
  test::run_ready(io);
  EXPECT_THAT(counts(), ElementsAre(2)) << "the upstream was asked for it";
  EXPECT_EQ(server->stats().prefetches, 1u);
  EXPECT_EQ(server->stats().forward_failures, 1u);
  const Message reply = ask();
  EXPECT_EQ(addresses(reply), kOld);
  EXPECT_EQ(reply.answers.at(0).ttl, 5u);
  EXPECT_EQ(waited, 0ms);
  fails = false;
  clock.advance(6s);
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_THAT(counts(), ElementsAre(3));
}

TEST_F(DnsForwarderPolicy, WhoJoinsAPrefetchGetsTheStaleAnswerAsSoonAsOthers) {
  add_moody();
  forwarding.prefetch = true;
  forwarding.serve_stale = 3600s;
  start_forwarding();
  ask();
  ask();
  clock.advance(59s);
  is_silent = true;
  ask();
  test::run_ready(io);
  ASSERT_EQ(server->stats().prefetches, 1u);
  clock.advance(1s);
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_EQ(server->stats().coalesced, 1u);
  EXPECT_GE(waited, 1700ms);
  EXPECT_LE(waited, 1900ms) << "RFC 8767 section 5";
}

TEST_F(DnsForwarderPolicy, NamesGoOutInRandomCaseThatMustComeBack) {  // 0x20
  add_good();
  forwarding.mix_case = true;
  start_forwarding();
  std::set<std::string> forms;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(addresses(ask()), kOld);
    forms.insert(asked_name(upstreams[0]->asked.back()));
    clock.advance(61s);
  }
  EXPECT_GT(forms.size(), 6u) << "13 letters: 8,192 forms";
  EXPECT_EQ(server->stats().case_changed, 0u);
}

/// The reply to the same question in lower case.
Bytes reply_in_lower_case(const Asked& asked, const std::vector<std::string>& addresses) {
  Message query = asked.query;
  std::string lower = asked_name(asked);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  query.questions[0].name = test::name(lower);
  return reply_with(query, addresses);
}

TEST_F(DnsForwarderPolicy, AnUpstreamThatDoesNotKeepCaseIsAskedOverTcpAndThenInPlainCase) {
  add([](const Asked& asked) { return reply_in_lower_case(asked, kOld); });
  forwarding.mix_case = true;
  start_forwarding();
  EXPECT_EQ(addresses(ask("one.example.net")), kOld);
  EXPECT_EQ(server->stats().case_changed, 1u);
  EXPECT_THAT(counts(), ElementsAre(2)) << "UDP, then TCP";
  ask("two.example.net");
  EXPECT_THAT(counts(), ElementsAre(3));
  EXPECT_EQ(asked_name(upstreams[0]->asked.back()), "two.example.net.");
}

TEST_F(DnsForwarderPolicy, AForgeryInAnotherCaseIsNotBelieved) {
  add([](const Asked& asked) -> Reply {
    return asked.over_tcp ? reply_with(asked.query, kOld) : reply_in_lower_case(asked, kNew);
  });
  forwarding.mix_case = true;
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kOld);
  EXPECT_EQ(server->stats().case_changed, 0u) << "the upstream itself keeps case";
  EXPECT_EQ(dropped("foreign_reply"), 1u);
}

TEST_F(DnsForwarderPolicy, CountersOfUpstreamsThatAreGoneGoToo) {
  add_good();
  add_good();
  const Endpoint first = forwarding.upstreams[0], second = forwarding.upstreams[1];
  forwarding.upstreams = {first};
  start_forwarding();
  ask();
  EXPECT_THAT(server->stats().upstream_replies, ElementsAre(Pair(first.to_string(), ElementsAre(Pair("NOERROR", 1u)))));
  forwarding.upstreams = {second};
  server->replace(config_with(forwarding));
  ask();
  EXPECT_THAT(server->stats().upstream_replies, ElementsAre(Key(second.to_string())));
  EXPECT_THAT(server->stats().upstream_durations, ElementsAre(Key(second.to_string())));
}

TEST_F(DnsForwarderPolicy, AViewSaysWhoIsAnsweredAndForWhomIsForwarded) {
  add_good();
  Config config = config_with(forwarding);
  config.views[0].allowed = {test::cidr("127.0.0.0/30")};
  config.views[0].forwarding_allowed = {test::cidr("127.0.0.1/32")};
  start(config);
  const auto rcode = [&](const char* from, std::string_view qname) {
    UdpClient asking(io, bound(), from);
    return asking.ask(make_query(qname, Type::a)).rcode();
  };
  EXPECT_EQ(rcode("127.0.0.1", "www.example.net"), Rcode::noerror);
  EXPECT_EQ(rcode("127.0.0.2", "www.example.net"), Rcode::refused) << "also from the cache";
  EXPECT_EQ(rcode("127.0.0.2", "api.blue.example"), Rcode::noerror);
  EXPECT_EQ(rcode("127.0.0.9", "api.blue.example"), Rcode::refused);
  EXPECT_THAT(counts(), ElementsAre(1));
  const auto over_tcp = [&](const char* from, std::string_view qname) {
    TcpClient asking(io, bound(), from);
    asking.send(TcpClient::frame(make_query(qname, Type::a)));
    return asking.receive().value().rcode();
  };
  EXPECT_EQ(over_tcp("127.0.0.1", "www.example.net"), Rcode::noerror);
  EXPECT_EQ(over_tcp("127.0.0.2", "www.example.net"), Rcode::refused);
  EXPECT_EQ(over_tcp("127.0.0.2", "api.blue.example"), Rcode::noerror);
  EXPECT_EQ(over_tcp("127.0.0.9", "api.blue.example"), Rcode::refused);
  EXPECT_THAT(counts(), ElementsAre(1));
}

TEST_F(DnsForwarderPolicy, WhereNothingIsForwardedAnAliasOfOursEndsAtTheForeignName) {
  add_good();
  Config config = config_with(forwarding);
  config.views[0].zones = {std::make_shared<const Zone>(
      test::name("blue.example"), std::vector<RRset>{{test::name("out.blue.example"),
                                                      Type::cname,
                                                      30,
                                                      {std::string(as_text(test::name("www.example.net").wire()))}}})};
  config.views[0].forwarding_allowed = {test::cidr("127.0.0.1/32")};
  start(config);
  const auto ask_from = [&](const char* from) {
    UdpClient asking(io, bound(), from);
    return asking.ask(make_query("out.blue.example", Type::a));
  };
  EXPECT_EQ(addresses(ask_from("127.0.0.1")), kOld);
  for (const char* when : {"once another client has it in the cache", "again"}) {
    const Message alone = ask_from("127.0.0.2");
    EXPECT_EQ(alone.rcode(), Rcode::noerror) << when;
    ASSERT_EQ(alone.answers.size(), 1u) << when;
    EXPECT_EQ(alone.answers[0].type, Type::cname) << when;
    EXPECT_EQ(alone.flags & flag::kRecursionAvailable, 0) << when;
  }
  EXPECT_THAT(counts(), ElementsAre(1));
}

TEST_F(DnsForwarderPolicy, EachQueryIsLoggedOnceWhenAsked) {
  std::vector<std::map<std::string, std::string>> log;
  options.log = Logger(
      [&](const LogRecord& record) {
        if (record.message != "query") return;
        auto& fields = log.emplace_back();
        for (const auto& [key, value] : record.fields) fields.emplace(key, value);
      },
      "dns");
  add_good();
  Config config = config_with(forwarding);
  config.query_log = true;
  start(config);
  client = std::make_unique<UdpClient>(io, bound());
  ask("api.blue.example");
  ask("www.example.net");
  ask("www.example.net");
  ask("no.blue.example");
  ASSERT_EQ(log.size(), 4u);
  EXPECT_THAT(log[0], Contains(Pair("source", "zone")));
  EXPECT_THAT(log[0], Contains(Pair("client", "127.0.0.1")));
  EXPECT_THAT(log[0], Contains(Pair("name", "api.blue.example.")));
  EXPECT_THAT(log[0], Contains(Pair("type", "A")));
  EXPECT_THAT(log[0], Contains(Pair("transport", "udp")));
  EXPECT_THAT(log[0], Contains(Pair("rcode", "NOERROR")));
  EXPECT_THAT(log[1], Contains(Pair("source", "upstream")));
  EXPECT_THAT(log[2], Contains(Pair("source", "cache")));
  EXPECT_THAT(log[3], Contains(Pair("rcode", "NXDOMAIN")));
}

TEST_F(DnsForwarderPolicy, WithWorkersTooEachQueryIsLogged) {
  std::size_t logged = 0;
  options.log = Logger([&](const LogRecord& record) { logged += record.message == "query" ? 1 : 0; }, "dns");
  options.workers = 2;
  Config config = config_with();
  config.query_log = true;
  start(config);
  client = std::make_unique<UdpClient>(io, bound());
  for (int i = 0; i < 5; ++i) client->ask(make_query("api.blue.example", Type::a));
  EXPECT_EQ(logged, 5u);
}

}  // namespace
}  // namespace hcpnet::dns
