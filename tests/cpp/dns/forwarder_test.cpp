// SPDX-License-Identifier: Apache-2.0
// Forwarding against upstreams that follow a script; time is held by the test.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/system/system_error.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/cookie.hpp>
#include <hcpnet/dns/server.hpp>
#include <set>

#include "dns/forwarder.hpp"
#include "dns/resolv_conf_file.hpp"
#include "dns/server_support.hpp"

namespace hcpnet::dns {
namespace {

using namespace std::chrono_literals;
using test::addresses;
using test::Bytes;
using test::from_hex;
using test::make_query;
using test::reply_with;
using test::reply_with_code;
using test::TcpClient;
using test::UdpClient;
using Asked = test::ScriptedUpstream::Asked;
using Reply = std::optional<Bytes>;

const std::vector<std::string> kGood{"192.0.2.80"};

Reply good(const Asked& asked) {
  return reply_with(asked.query, kGood);
}
Reply silent(const Asked&) {
  return std::nullopt;
}
/// Of a server that can't read the question, and does not repeat it.
Reply formerr_alone(const Asked& asked) {
  Message bare;
  bare.id = asked.query.id;
  bare.flags = flag::kResponse | static_cast<std::uint16_t>(Rcode::formerr);
  return encode_message(bare).value();
}
test::ScriptedUpstream::Script always(Rcode rcode) {
  return [rcode](const Asked& asked) { return reply_with_code(asked.query, rcode); };
}
/// A case file's reply, with the id of the query.
Bytes case_reply(const std::string& file, const Asked& asked) {
  Bytes bytes = from_hex(test::read_dns_data(file));
  bytes[0] = static_cast<std::uint8_t>(asked.query.id >> 8);
  bytes[1] = static_cast<std::uint8_t>(asked.query.id);
  return bytes;
}

class DnsForwarder : public test::DnsServerTest {
 protected:
  test::ScriptedUpstream& add(test::ScriptedUpstream::Script script) {
    upstreams.push_back(std::make_unique<test::ScriptedUpstream>(io, std::move(script)));
    return *upstreams.back();
  }
  Forwarding all_upstreams() const {
    Forwarding forwarding;
    for (const auto& upstream : upstreams) forwarding.upstreams.push_back(upstream->endpoint());
    return forwarding;
  }
  void start_forwarding() {
    start(config_with(all_upstreams()));
    client = std::make_unique<UdpClient>(io, bound());
  }
  /// Asks, and moves the clock on in small steps for as long as there is no reply; adds to `waited` what it took.
  Message ask(const Message& query, std::chrono::milliseconds at_most = 10s) {
    client->send(query);
    std::optional<Bytes> reply;
    for (waited = 0ms; waited <= at_most; waited += 100ms) {
      test::run_ready(io);
      if ((reply = client->try_receive())) return parse_message(*reply).value();
      clock.advance(100ms);
    }
    ADD_FAILURE() << "no reply in time";
    return {};
  }
  Message ask(std::string_view qname = "www.example.net", Type type = Type::a) { return ask(make_query(qname, type)); }
  std::size_t asked(std::size_t upstream = 0) const { return upstreams.at(upstream)->asked.size(); }

  std::vector<std::unique_ptr<test::ScriptedUpstream>> upstreams;
  std::unique_ptr<UdpClient> client;
  std::chrono::milliseconds waited{};
};

TEST(DnsUpstreamWatch, SaysOnceThatAnUpstreamGoesAndOnceThatItIsBack) {
  std::vector<std::string> said;
  const Logger log([&](const LogRecord& record) { said.push_back(record.message + ' ' + record.fields.at(0).second); },
                   "dns");
  const Endpoint one = *parse_endpoint("192.0.2.53:53"), other = *parse_endpoint("192.0.2.54:53");
  const error_code timeout = make_error_code(boost::system::errc::timed_out);
  UpstreamWatch watch;
  runtime::TimerQueue::Time now{};
  watch.on_failure(one, timeout, now, log);
  watch.on_answer(one, now, log);
  EXPECT_TRUE(said.empty()) << "one datagram may get lost";
  for (int i = 0; i < 50; ++i) watch.on_failure(one, timeout, now, log);
  watch.on_failure(other, timeout, now, log);
  EXPECT_EQ(said, std::vector<std::string>{"upstream does not answer 192.0.2.53:53"});
  for (int i = 0; i < 50; ++i) watch.on_answer(one, now, log);
  EXPECT_EQ(said.size(), 2u);
  EXPECT_EQ(said.back(), "upstream answers again 192.0.2.53:53");
  for (int i = 0; i < 50; ++i) {  // it comes and goes
    now += 100ms;
    for (int j = 0; j < 3; ++j) watch.on_failure(one, timeout, now, log);
    watch.on_answer(one, now, log);
  }
  EXPECT_EQ(said.size(), 2u);
  now += UpstreamWatch::kQuiet;
  for (int j = 0; j < 3; ++j) watch.on_failure(one, timeout, now, log);
  watch.on_answer(one, now, log);
  EXPECT_EQ(said.size(), 4u);
}

TEST(DnsUpstreamWatch, IsBounded) {
  std::size_t said = 0;
  const Logger log([&](const LogRecord&) { ++said; }, "dns");
  UpstreamWatch watch;
  for (unsigned i = 0; i < 1000; ++i)
    for (int j = 0; j < 2; ++j)
      watch.on_failure({Ipv4(192, 0, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i)), 53},
                       make_error_code(boost::system::errc::timed_out), {}, log);
  EXPECT_EQ(said, UpstreamWatch::kMaxUpstreams);
}

TEST(DnsUpstreamWatch, HasRoomAgainForNewUpstreamsOnceOldOnesAreGone) {
  std::size_t said = 0;
  const Logger log([&](const LogRecord&) { ++said; }, "dns");
  UpstreamWatch watch;
  const auto fail = [&](std::uint8_t network) {
    for (unsigned i = 0; i < UpstreamWatch::kMaxUpstreams; ++i)
      for (unsigned j = 0; j < UpstreamWatch::kFailures; ++j)
        watch.on_failure({Ipv4(192, 0, network, static_cast<std::uint8_t>(i)), 53},
                         make_error_code(boost::system::errc::timed_out), {}, log);
  };
  fail(1);
  fail(2);
  EXPECT_EQ(said, UpstreamWatch::kMaxUpstreams);
  watch.forget([](const Endpoint& upstream) { return upstream.address.v4().bytes()[2] == 1; });
  fail(2);
  EXPECT_EQ(said, 2 * UpstreamWatch::kMaxUpstreams);
}

TEST_F(DnsForwarder, NamesOutsideTheZonesAreForwardedAndKept) {
  // Field case DNS-25: an upstream's AA is not passed on.
  add([](const Asked& query) {
    Bytes reply = *good(query);
    reply[2] |= 0x04;
    return reply;
  });
  start_forwarding();
  Message reply = ask();
  EXPECT_EQ(addresses(reply), kGood);
  EXPECT_EQ(reply.flags, flag::kResponse | flag::kRecursionDesired | flag::kRecursionAvailable);
  EXPECT_EQ(reply.answers.at(0).ttl, 60U);
  clock.advance(13s);
  reply = ask("WWW.example.NET");
  EXPECT_EQ(addresses(reply), kGood);
  EXPECT_EQ(reply.answers.at(0).ttl, 47U);
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(server->stats().cache_hits, 1U);
  EXPECT_EQ(server->stats().cache_entries, 1U);
  clock.advance(47s);
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_EQ(asked(), 2U) << "its time was over";
}

/// Of a client that has no cookie of a server, or shows the one it had.
Message query_with_cookie(std::string_view qname, std::string_view cookie = "abcdefgh") {
  Message query = make_query(qname, Type::a);
  query.edns = Edns{};
  query.edns->options = std::string("\0\x0a\0", 3) + static_cast<char>(cookie.size()) + std::string(cookie);
  return query;
}
/// That of the client with ours.
std::string cookie_of(const Message& reply) {
  const std::string options = reply.edns.value_or(Edns{}).options;
  EXPECT_EQ(options.substr(0, 12), std::string("\0\x0a\0\x18"
                                               "abcdefgh",
                                               12))
      << "not the client's and ours";
  return options.size() < 4 ? std::string() : options.substr(4);
}

// RFC 7873 section 5.3: a client that has had a cookie drops what comes without.
TEST_F(DnsForwarder, RepliesHaveCookiesAsThoseOfZonesHave) {
  const std::vector<std::string> many(40, "192.0.2.1");
  add([&](const Asked& asked) {
    const Name name = asked.query.questions.at(0).name;
    if (name == test::name("fails.example.net")) return Reply(reply_with_code(asked.query, Rcode::servfail));
    return Reply(reply_with(asked.query, name == test::name("many.example.net") ? many : kGood));
  });
  start_forwarding();
  const std::string cookie = cookie_of(ask(query_with_cookie("api.blue.example")));
  ASSERT_EQ(cookie.size(), sizeof(Cookie));
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask(query_with_cookie("www.example.net", cookie));
    EXPECT_EQ(addresses(reply), kGood) << from;
    EXPECT_EQ(cookie_of(reply).size(), sizeof(Cookie)) << from;
  }
  EXPECT_EQ(asked(), 1U);
  for (const char* from : {"upstream", "cache"}) {
    const Message failure = ask(query_with_cookie("fails.example.net", cookie));
    EXPECT_EQ(failure.rcode(), Rcode::servfail) << from;
    EXPECT_EQ(cookie_of(failure).size(), sizeof(Cookie)) << from;
  }
  for (const char* from : {"upstream", "cache"}) {
    Message query = query_with_cookie("many.example.net");
    query.edns->udp_bytes = kMinUdpBytes;
    const Message cut = ask(query);
    EXPECT_NE(cut.flags & flag::kTruncated, 0) << from;
    EXPECT_EQ(cut.answers.size(), (kMinUdpBytes - 34U - 11U - 4U - sizeof(Cookie)) / 16) << from;
    EXPECT_EQ(cookie_of(cut).size(), sizeof(Cookie)) << from;
  }
  EXPECT_EQ(server->stats().cookies.at("valid"), 4U);
}

TEST_F(DnsForwarder, RepliesHaveNoCookieWhereTheyAreOffAndTheNameOfTheServerIfAsked) {
  add(good);
  Config config = config_with(all_upstreams());
  config.cookies = false;
  config.identity.nsid = "dns-1";
  start(std::move(config));
  client = std::make_unique<UdpClient>(io, bound());
  Message query = query_with_cookie("www.example.net");
  for (const char* from : {"upstream", "cache"}) EXPECT_EQ(ask(query).edns.value().options, "") << from;
  query.edns->options = std::string("\0\3\0\0", 4);
  EXPECT_EQ(ask(query).edns.value().options, std::string("\0\3\0\5dns-1", 9));
}

TEST_F(DnsForwarder, NothingInAZoneOfTheViewIsForwarded) {
  add(good);
  start_forwarding();
  for (const char* text : {"api.blue.example", "nope.blue.example", "blue.example"})
    for (const Type type : {Type::a, Type::aaaa, Type{65}}) ask(text, type);
  Message no_recursion = make_query("www.example.net", Type::a);
  no_recursion.flags = 0;
  EXPECT_EQ(ask(no_recursion).rcode(), Rcode::refused);
  EXPECT_EQ(asked(), 0U);
}

class DnsAlias : public DnsForwarder {
 protected:
  void start_with_alias() {
    Config config = config_with(all_upstreams());
    config.views[0].zones = {std::make_shared<const Zone>(
        test::name("blue.example"),
        std::vector<RRset>{{test::name("out.blue.example"),
                            Type::cname,
                            30,
                            {std::string(as_text(test::name("www.example.net").wire()))}}})};
    start(std::move(config));
    client = std::make_unique<UdpClient>(io, bound());
  }
};

TEST_F(DnsAlias, ThatLeavesTheZonesIsFollowed) {
  add(good);
  start_with_alias();
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask("OUT.blue.example");
    EXPECT_EQ(reply.flags,
              flag::kResponse | flag::kAuthoritative | flag::kRecursionDesired | flag::kRecursionAvailable);
    ASSERT_EQ(reply.answers.size(), 2U) << from;
    EXPECT_EQ(reply.answers[0].type, Type::cname);
    EXPECT_EQ(reply.answers[1].owner, test::name("www.example.net"));
    EXPECT_EQ(addresses(reply), kGood);
    EXPECT_EQ(reply.questions.at(0).name.to_string(), "OUT.blue.example.");
  }
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(upstreams[0]->asked[0].query.questions.at(0).name, test::name("www.example.net"));
  EXPECT_EQ(addresses(ask("www.example.net")), kGood) << "not taken for an alias any more";

  TcpClient stream(io, bound());
  stream.send(TcpClient::frame(make_query("out.blue.example", Type::a)));
  EXPECT_EQ(addresses(stream.receive().value()), kGood);
  Message edns = make_query("out.blue.example", Type::a);
  edns.edns = Edns{};
  EXPECT_TRUE(ask(edns).edns.has_value());
  edns.flags = 0;
  EXPECT_EQ(ask(edns).answers.size(), 1U) << "recursion is not wanted";
}

TEST_F(DnsAlias, ToldWithWhatBecameOfItsTarget) {
  Rcode rcode = Rcode::nxdomain;
  add([&](const Asked& query) { return reply_with_code(query.query, rcode); });
  start_with_alias();
  Message reply = ask("out.blue.example");
  EXPECT_EQ(reply.rcode(), Rcode::nxdomain) << "that of the last name (RFC 6604)";
  EXPECT_EQ(reply.answers.size(), 1U);
  rcode = Rcode::servfail;
  reply = ask("out.blue.example");
  EXPECT_EQ(reply.rcode(), Rcode::servfail);
  EXPECT_EQ(reply.answers.size(), 1U);
}

TEST_F(DnsAlias, MoreThanTheClientTakesIsAskedForOverTcp) {
  const std::vector<std::string> many(60, "192.0.2.1");
  add([&](const Asked& query) { return reply_with(query.query, many); });
  start_with_alias();
  const Message cut = ask("out.blue.example");
  EXPECT_NE(cut.flags & flag::kTruncated, 0);
  EXPECT_EQ(cut.answers.size(), 1U);
  TcpClient stream(io, bound());
  stream.send(TcpClient::frame(make_query("out.blue.example", Type::a)));
  EXPECT_EQ(stream.receive().value().answers.size(), 61U);
}

TEST_F(DnsAlias, AnAnswerThatFitsGoesWithoutItsAuthority) {
  add([](const Asked& asked) {
    Message reply = parse_message(*good(asked)).value();
    for (int i = 0; i < 40; ++i)
      reply.authority.push_back({test::name("example.net"), Type::ns, kClassIn, 60,
                                 std::string(as_text(test::name("ns" + std::to_string(i) + ".provider.test").wire()))});
    return std::optional(encode_message(reply).value());
  });
  start_with_alias();
  const Message reply = ask("out.blue.example");
  EXPECT_EQ(addresses(reply), kGood);
  EXPECT_TRUE(reply.authority.empty());
  EXPECT_EQ(reply.flags & flag::kTruncated, 0);
}

/// "www.example.net is cdn.example.org, that is `target`, and its address is this", in an order that nobody promised.
test::ScriptedUpstream::Script alias_of(std::string_view target) {
  return [target = test::name(target)](const Asked& asked) {
    const auto wire = [](const Name& name) { return std::string(as_text(name.wire())); };
    const Name middle = test::name("cdn.example.org");
    Message reply = asked.query;
    reply.flags |= flag::kResponse | flag::kRecursionAvailable;
    reply.answers = {{target, Type::a, kClassIn, 60, "\x06\x06\x06\x06"},
                     {middle, Type::cname, kClassIn, 60, wire(target)},
                     {asked.query.questions.at(0).name, Type::cname, kClassIn, 60, wire(middle)}};
    reply.edns.reset();
    return Reply(encode_message(reply).value());
  };
}

TEST_F(DnsForwarder, AnAliasOfTheirsThatLeadsIntoAZoneOfOursEndsThere) {
  add(alias_of("API.blue.example"));
  start_forwarding();
  const std::vector<std::string> ours{"192.0.2.4"};
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask();
    EXPECT_EQ(addresses(reply), ours) << from;
    ASSERT_EQ(reply.answers.size(), 3U) << from;
    EXPECT_EQ(reply.answers[0].owner, test::name("www.example.net"));
    EXPECT_EQ(reply.answers[1].owner, test::name("cdn.example.org"));
    EXPECT_EQ(reply.flags & flag::kAuthoritative, 0) << "not for the first name";
  }
  EXPECT_EQ(cookie_of(ask(query_with_cookie("www.example.net"))).size(), sizeof(Cookie));
  TcpClient stream(io, bound());
  stream.send(TcpClient::frame(make_query("www.example.net", Type::a)));
  EXPECT_EQ(addresses(stream.receive().value()), ours);
  EXPECT_EQ(asked(), 1U);
}

TEST_F(DnsForwarder, AnAliasOfTheirsToANameThatOursLacksIsNxdomain) {
  add(alias_of("nope.blue.example"));
  start_forwarding();
  const Message reply = ask();
  EXPECT_EQ(reply.rcode(), Rcode::nxdomain) << "that of the last name (RFC 6604)";
  EXPECT_EQ(reply.answers.size(), 2U);
  ASSERT_EQ(reply.authority.size(), 1U);
  EXPECT_EQ(reply.authority[0].owner, test::name("blue.example"));
}

TEST_F(DnsForwarder, AnAliasOfTheirsThatIsAskedForItselfIsNotFollowed) {  // RFC 1034 section 3.6.2
  const std::string target(as_text(test::name("nope.blue.example").wire()));
  add([&](const Asked& asked) {
    Message reply = asked.query;
    reply.flags |= flag::kResponse | flag::kRecursionAvailable;
    reply.answers = {{asked.query.questions.at(0).name, Type::cname, kClassIn, 60, target}};
    reply.edns.reset();
    return Reply(encode_message(reply).value());
  });
  start_forwarding();
  for (const Type type : {Type::cname, Type::any}) {
    for (const char* from : {"upstream", "cache"}) {
      const Message reply = ask("www.example.net", type);
      EXPECT_EQ(reply.rcode(), Rcode::noerror) << from;
      ASSERT_EQ(reply.answers.size(), 1U) << from;
      EXPECT_EQ(reply.answers[0].rdata, target) << from;
      EXPECT_TRUE(reply.authority.empty()) << from;
    }
  }
}

TEST_F(DnsAlias, OfOursThatComesBackEndsInOurZone) {
  add(alias_of("out.blue.example"));
  start_with_alias();
  const Message reply = ask("out.blue.example");
  EXPECT_EQ(reply.rcode(), Rcode::noerror);
  std::vector<std::string> owners;
  for (const Record& record : reply.answers) {
    EXPECT_EQ(record.type, Type::cname);
    owners.push_back(record.owner.to_string());
  }
  EXPECT_EQ(owners, (std::vector<std::string>{"out.blue.example.", "www.example.net.", "cdn.example.org."}))
      << "each once";
  EXPECT_EQ(asked(), 1U) << "a loop is not followed";
}

TEST_F(DnsAlias, OfTheirsThatOursLeadsAwayAgainEndsThere) {
  add(alias_of("out.blue.example"));
  start_with_alias();
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask("first.example.net");
    EXPECT_EQ(reply.rcode(), Rcode::noerror) << from;
    ASSERT_EQ(reply.answers.size(), 3U) << from;
    EXPECT_EQ(reply.answers[2].owner, test::name("out.blue.example")) << from;
    EXPECT_EQ(reply.answers[2].rdata, std::string(as_text(test::name("www.example.net").wire()))) << from;
    EXPECT_TRUE(addresses(reply).empty()) << from;
  }
  EXPECT_EQ(asked(), 1U) << "docs/dns.md, \"Forwarding\"";
}

TEST_F(DnsForwarder, WhatWasNotAskedForIsNotPassedOn) {
  add([](const Asked& asked) {
    const auto record = [](std::string_view owner, Type type, std::string rdata) {
      return Record{test::name(owner), type, kClassIn, 60, std::move(rdata)};
    };
    const std::string evil = "\x06\x06\x06\x06";
    const auto wire = [](std::string_view text) { return std::string(as_text(test::name(text).wire())); };
    Message reply = asked.query;
    reply.flags |= flag::kResponse | flag::kRecursionAvailable;
    reply.answers = {record("target.example.org", Type::a, "\x0a\x01\x01\x01"), record("victim.test", Type::a, evil),
                     record("www.example.net", Type::cname, wire("Target.example.org"))};
    reply.authority = {record("example.org", Type::ns, wire("ns.example.org")),
                       record("victim.test", Type::ns, wire("ns.victim.test"))};
    reply.additional = {record("victim.test", Type::a, evil)};
    reply.edns.reset();
    return encode_message(reply).value();
  });
  start_forwarding();
  const Message reply = ask();
  ASSERT_EQ(reply.answers.size(), 2U);
  EXPECT_EQ(addresses(reply), std::vector<std::string>{"10.1.1.1"});
  ASSERT_EQ(reply.authority.size(), 1U);
  EXPECT_EQ(reply.authority[0].owner, test::name("example.org"));
  EXPECT_TRUE(reply.additional.empty());
}

/// Says this, whatever the question was.
test::ScriptedUpstream::Script saying(std::vector<Record> answers) {
  return [answers = std::move(answers)](const Asked& asked) {
    Message reply = asked.query;
    reply.flags |= flag::kResponse | flag::kRecursionAvailable;
    reply.answers = answers;
    reply.edns.reset();
    return Reply(encode_message(reply).value());
  };
}

TEST_F(DnsForwarder, ASecondAliasOfANameLeadsNowhere) {
  const auto alias = [](std::string_view owner, std::string_view target) {
    return Record{test::name(owner), Type::cname, kClassIn, 60, std::string(as_text(test::name(target).wire()))};
  };
  const Record forged{test::name("api.blue.example"), Type::a, kClassIn, 60, "\x06\x06\x06\x06"};
  const Record true_one{test::name("mid.test"), Type::a, kClassIn, 60, "\x0a\x01\x01\x01"};
  add(saying({alias("www.example.net", "mid.test"), alias("www.example.net", "api.blue.example"), true_one, forged}));
  start_forwarding();
  for (const char* from : {"upstream", "cache"}) {
    const Message reply = ask();
    EXPECT_EQ(addresses(reply), std::vector<std::string>{"10.1.1.1"}) << from;
    EXPECT_EQ(reply.answers.size(), 2U) << from;
  }
  upstreams[0]->script =
      saying({alias("w2.example.net", "w2.example.net"), alias("w2.example.net", "api.blue.example"), forged});
  EXPECT_TRUE(addresses(ask("w2.example.net")).empty()) << "nor where the first is a circle";
}

TEST_F(DnsForwarder, AnAnswerToAnotherQuestionIsNone) {
  add(saying({{test::name("www.example.net"), Type::aaaa, kClassIn, 60, std::string(16, '\0')}}));
  add(saying({{test::name("victim.test"), Type::a, kClassIn, 60, "\x06\x06\x06\x06"}}));
  start_forwarding();
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
  EXPECT_EQ(asked(0), 1U);
  EXPECT_EQ(asked(1), 1U);
  EXPECT_EQ(server->stats().forward_failures, 1U);
  add(good);
  server->replace(config_with(all_upstreams()));
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_EQ(asked(1), 2U);
}

TEST_F(DnsForwarder, NoAnswerAtAllIsNodata) {
  add(saying({}));
  add(good);
  start_forwarding();
  const Message reply = ask();
  EXPECT_EQ(reply.rcode(), Rcode::noerror);
  EXPECT_TRUE(reply.answers.empty());
  EXPECT_EQ(asked(1), 0U);
}

TEST_F(DnsForwarder, AReferralIsNoAnswer) {
  add([](const Asked& asked) {
    Message reply = asked.query;
    reply.flags |= flag::kResponse;
    reply.authority = {
        {test::name("."), Type::ns, kClassIn, 60, std::string(as_text(test::name("a.root.test").wire()))}};
    return encode_message(reply).value();
  });
  add(good);
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_EQ(asked(0), 1U);
}

TEST_F(DnsForwarder, EachQueryHasAnIdAndAPortOfItsOwn) {
  add(good);
  start_forwarding();
  std::set<std::uint16_t> ids;
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 64; ++i) {
    ask("n" + std::to_string(i) + ".example.net");
    ids.insert(upstreams[0]->asked.back().query.id);
    ports.insert(upstreams[0]->asked.back().client.port());
  }
  EXPECT_GT(ids.size(), 55U);
  EXPECT_GT(ports.size(), 55U);
  int ascending = 0;
  for (std::size_t i = 1; i < 64; ++i)
    ascending += upstreams[0]->asked[i].query.id == upstreams[0]->asked[i - 1].query.id + 1 ? 1 : 0;
  EXPECT_LT(ascending, 4);
}

// Field case DNS-17.
TEST_F(DnsForwarder, Case17FailoverIsFastEnoughForTheClient) {
  add(silent);
  add(always(Rcode::servfail));
  add(good);
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_LT(waited, 5s);
  EXPECT_GE(waited, 2s);
  ask("other.example.net");
  EXPECT_LT(waited, 200ms) << "the silent one is asked last for a while";
  EXPECT_EQ(asked(0), 1U);
  clock.advance(10s);
  ask("third.example.net");
  EXPECT_EQ(asked(0), 2U) << "then it has its chance again";
}

TEST_F(DnsForwarder, Case17RefusedIsTriedElsewhere) {
  add(always(Rcode::refused));
  add(good);
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_LT(waited, 200ms);
}

TEST_F(DnsForwarder, Case17NxdomainIsFinal) {
  add(always(Rcode::nxdomain));
  add(good);
  start_forwarding();
  EXPECT_EQ(ask().rcode(), Rcode::nxdomain);
  EXPECT_EQ(asked(0), 1U);
  EXPECT_EQ(asked(1), 0U);
}

TEST_F(DnsForwarder, Case17FailuresAreKeptForOneToFiveSeconds) {
  add(always(Rcode::servfail));
  add(always(Rcode::refused));
  start_forwarding();
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
  EXPECT_EQ(asked(0) + asked(1), 2U);
  clock.advance(900ms);
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
  EXPECT_EQ(asked(0) + asked(1), 2U);
  clock.advance(5100ms);
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
  EXPECT_GT(asked(0) + asked(1), 2U);
}

TEST_F(DnsForwarder, Case17AGoodEntryOutlivesAFailureOfTheUpstream) {
  Rcode now = Rcode::noerror;
  add([&](const Asked& query) { return now == Rcode::noerror ? good(query) : reply_with_code(query.query, now); });
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  now = Rcode::servfail;
  clock.advance(15s);
  EXPECT_EQ(addresses(ask()), kGood);
  now = Rcode::noerror;
  clock.advance(10s);
  EXPECT_EQ(addresses(ask()), kGood);
}

TEST_F(DnsForwarder, Case15LiesAreIgnoredUntilTheTruthComes) {
  test::udp::socket elsewhere(io, {test::asio::ip::address_v4::loopback(), 0});
  add([&](const Asked& query) -> Reply {
    Bytes wrong_id = case_reply("DNS-15-a-wrong-id.hex", query);
    wrong_id[1] = static_cast<std::uint8_t>(wrong_id[1] + 1);
    upstreams[0]->send_to(query.client, wrong_id);
    elsewhere.send_to(test::asio::buffer(case_reply("DNS-15-b-other-source-port.hex", query)), query.client);
    for (const char* file : {"DNS-15-c-other-question.hex", "DNS-15-d-qr0.hex", "DNS-15-e-junk.hex"})
      upstreams[0]->send_to(query.client, case_reply(file, query));
    return case_reply("DNS-15-good.hex", query);
  });
  start_forwarding();
  EXPECT_EQ(addresses(ask("good.example.net")), kGood);
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(dropped("foreign_reply"), 4U) << "the one from another port never reaches us";
  EXPECT_EQ(server->stats().cache_entries, 1U) << "nothing for the victim";
}

/// Whole records of 16 bytes within 512, behind header and question.
constexpr std::size_t kMinUdpRecords = (kMinUdpBytes - 33) / 16;

TEST_F(DnsForwarder, Case14ACutReplyIsAskedForAgainOverTcp) {
  for (const char* file : {"DNS-14-udp-tc-empty.hex", "DNS-14-udp-cut-512-mid-rr-no-tc.hex"}) {
    upstreams.clear();
    add([file](const Asked& query) { return case_reply(query.over_tcp ? "DNS-14-tcp-full-60.hex" : file, query); });
    start_forwarding();
    const Message over_udp = ask("big.example.net");
    EXPECT_NE(over_udp.flags & flag::kTruncated, 0);
    EXPECT_EQ(over_udp.answers.size(), kMinUdpRecords);
    TcpClient tcp(io, bound());
    tcp.send(TcpClient::frame(make_query("big.example.net", Type::a)));
    EXPECT_EQ(tcp.receive().value().answers.size(), 60U);
    EXPECT_EQ(asked(), 2U) << "UDP, then TCP; then the cache";
    server->stop({});
  }
}

TEST_F(DnsForwarder, Case14AReplyLargerThanAskedForIsUsable) {
  const char* const file = "DNS-14-udp-oversize-no-edns.hex";
  const std::size_t whole = parse_message(from_hex(test::read_dns_data(file))).value().answers.size();
  ASSERT_GT(whole, kMinUdpRecords);
  add([file](const Asked& query) { return case_reply(file, query); });
  start_forwarding();
  const Message cut = ask("big.example.net");
  EXPECT_NE(cut.flags & flag::kTruncated, 0);
  EXPECT_EQ(cut.answers.size(), kMinUdpRecords);
  TcpClient tcp(io, bound());
  tcp.send(TcpClient::frame(make_query("big.example.net", Type::a)));
  EXPECT_EQ(tcp.receive().value().answers.size(), whole);
  EXPECT_EQ(asked(), 1U) << "then the cache";
}

TEST_F(DnsForwarder, ATruncatedReplyOverTcpTooIsAFailure) {
  add([](const Asked& query) { return case_reply("DNS-14-udp-tc-empty.hex", query); });
  start_forwarding();
  EXPECT_EQ(ask("big.example.net").rcode(), Rcode::servfail);
  EXPECT_EQ(server->stats().forward_failures, 1U);
}

TEST_F(DnsForwarder, SilenceEndsInServfailBeforeTheClientGivesUp) {
  for (int i = 0; i < 5; ++i) add(silent);
  start_forwarding();
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
  EXPECT_LE(waited, 4'600ms);
  EXPECT_EQ(server->stats().forwarded, 3U) << "2 s, 2 s, and what is left of 4.5 s";
  EXPECT_EQ(server->stats().pending_forwards, 0U);
}

TEST_F(DnsForwarder, ALostDatagramIsSentAgain) {
  add([](const Asked& query) { return query.number == 1 ? std::nullopt : good(query); });
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_EQ(asked(), 2U);
}

TEST_F(DnsForwarder, APortThatIsClosedCostsNoTime) {
  {
    test::udp::socket closed(io, {test::asio::ip::address_v4::loopback(), 0});
    add(good);
    start(
        config_with({{Endpoint{Ipv4(127, 0, 0, 1), closed.local_endpoint().port()}, upstreams[0]->endpoint()}, false}));
  }
  client = std::make_unique<UdpClient>(io, bound());
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_LT(waited, 300ms);
}

TEST_F(DnsForwarder, AnUpstreamOlderThanEdnsIsAskedWithoutIt) {
  add([](const Asked& query) { return query.query.edns ? formerr_alone(query) : good(query); });
  start_forwarding();
  EXPECT_EQ(addresses(ask()), kGood);
  EXPECT_EQ(asked(), 2U);
}

TEST_F(DnsForwarder, WhatOneUpstreamDoesNotKnowOfEdnsIsNoWordAboutTheNext) {
  add(formerr_alone);
  add(good);
  start_forwarding();
  Message query = make_query("www.example.net", Type::a);
  query.edns = Edns{};
  query.edns->dnssec_ok = true;
  EXPECT_EQ(addresses(ask(query)), kGood);
  EXPECT_EQ(asked(0), 2U) << "with EDNS, then without";
  ASSERT_EQ(asked(1), 1U);
  ASSERT_TRUE(upstreams[1]->asked[0].query.edns.has_value());
  EXPECT_TRUE(upstreams[1]->asked[0].query.edns->dnssec_ok);
}

TEST_F(DnsForwarder, TheSameQuestionOfSeveralClientsGoesOutOnce) {
  Reply later;
  test::udp::endpoint where;
  add([&](const Asked& query) -> Reply {
    later = good(query);
    where = query.client;
    return std::nullopt;
  });
  start_forwarding();
  UdpClient second(io, bound(), "127.0.0.2");
  TcpClient third(io, bound());
  client->send(make_query("www.example.net", Type::a, 1));
  second.send(make_query("wWw.example.net", Type::a, 2));
  third.send(TcpClient::frame(make_query("www.example.net", Type::a, 3)));
  ASSERT_TRUE(test::run_until(io, [&] { return server->stats().pending_forwards == 3 && later; }));
  upstreams[0]->send_to(where, *later);
  EXPECT_EQ(client->receive().id, 1);
  const Message other = second.receive();
  EXPECT_EQ(other.id, 2);
  EXPECT_EQ(other.questions[0].name.to_string(), "wWw.example.net.");
  EXPECT_EQ(third.receive().value().id, 3);
  EXPECT_EQ(asked(), 1U);
  EXPECT_EQ(server->stats().coalesced, 2U);
  EXPECT_EQ(server->stats().pending_forwards, 0U);
}

TEST_F(DnsForwarder, BeyondTheLimitClientsGetServfailAtOnce) {
  options.max_pending_forwards = 2;
  add(silent);
  start_forwarding();
  client->send(make_query("a.example.net", Type::a, 1));
  client->send(make_query("a.example.net", Type::a, 2));
  client->send(make_query("b.example.net", Type::a, 3));
  const Message refused = client->receive();
  EXPECT_EQ(refused.id, 3);
  EXPECT_EQ(refused.rcode(), Rcode::servfail);
  EXPECT_EQ(dropped("forward_limit"), 1U);
}

TEST_F(DnsForwarder, WithoutAnyUpstreamTheAnswerIsServfail) {
  options.resolv_conf_path = "/nonexistent/resolv.conf";
  start(config_with({{}, true}));
  client = std::make_unique<UdpClient>(io, bound());
  EXPECT_EQ(ask().rcode(), Rcode::servfail);
}

TEST_F(DnsForwarder, TheCacheOutlivesAReplacementOnlyIfForwardingIsTheSame) {
  add(good);
  add(good);
  start(config_with({{upstreams[0]->endpoint()}, false}));
  client = std::make_unique<UdpClient>(io, bound());
  ask();
  server->replace(config_with({{upstreams[0]->endpoint()}, false}));
  ask();
  EXPECT_EQ(asked(0), 1U);
  server->replace(config_with({{upstreams[1]->endpoint()}, false}));
  ask();
  EXPECT_EQ(asked(1), 1U);
}

TEST_F(DnsForwarder, QueriesInFlightFinishUnderTheOldConfiguration) {
  Reply later;
  test::udp::endpoint where;
  add([&](const Asked& query) -> Reply {
    later = good(query);
    where = query.client;
    return std::nullopt;
  });
  start_forwarding();
  client->send(make_query("www.example.net", Type::a));
  ASSERT_TRUE(test::run_until(io, [&] { return later.has_value(); }));
  server->replace(config_with());
  UdpClient other(io, bound());
  EXPECT_EQ(other.ask(make_query("www.example.net", Type::a)).rcode(), Rcode::refused);
  upstreams[0]->send_to(where, *later);
  EXPECT_EQ(addresses(client->receive()), kGood);
}

TEST_F(DnsForwarder, StopForgetsThoseWhoWait) {
  add(silent);
  start_forwarding();
  client->send(make_query("www.example.net", Type::a));
  ASSERT_TRUE(test::run_until(io, [&] { return asked() == 1; }));
  server->replace(config_with());  // one of them under an old configuration
  server->stop({});
  EXPECT_EQ(server->stats().pending_forwards, 0U);
  test::run_ready(io);
  clock.advance(10s);
  server.reset();
  test::run_ready(io);
  clock.advance(10s);
}

TEST_F(DnsForwarder, TcpQueriesThatWaitDoNotHoldUpOthers) {
  add(silent);
  start_forwarding();
  TcpClient tcp(io, bound());
  tcp.send(TcpClient::frame(make_query("slow.example.net", Type::a, 1)));
  tcp.send(TcpClient::frame(make_query("api.blue.example", Type::a, 2)));
  EXPECT_EQ(tcp.receive().value().id, 2);
  tcp.socket.close();
  test::run_ready(io);
  clock.advance(10s);  // the reply finds nobody
  test::run_ready(io);
  EXPECT_EQ(server->stats().pending_forwards, 0U);
}

TEST_F(DnsForwarder, AnUpstreamThatIsThisServerIsRefused) {
  start(config_with());
  Config looped = config_with({{bound()}, false});
  EXPECT_THROW(server->replace(looped), boost::system::system_error);
  // A listener on every address is reached by any of the host's.
  server->stop({});
  Config wildcard = config_with();
  wildcard.listeners = {Endpoint{Ipv4(), 53}};
  start(wildcard);
  looped = wildcard;
  looped.forwarding.upstreams = {Endpoint{Ipv4(127, 0, 0, 53), bound().port}};
  try {
    server->replace(looped);
    FAIL() << "a loop";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), Errc::upstream_is_self);
  }
}

// Field case DNS-26, "mutual": two servers that forward to each other.
TEST_F(DnsForwarder, Case26AMutualLoopEndsSoonAndWithFewPackets) {
  start(config_with());
  const Server& first = *server;
  options.port_map[53] = 0;
  Server second(io.get_executor(), options);
  Config config = config_with({{first.listeners()[0].bound}, false});
  config.listeners = {Endpoint{Ipv4(127, 0, 0, 2), 53}};
  second.start(config);
  server->replace(config_with({{second.listeners()[0].bound}, false}));
  client = std::make_unique<UdpClient>(io, bound());
  EXPECT_EQ(ask("loop.test").rcode(), Rcode::servfail);
  EXPECT_LT(waited, 5s);
  EXPECT_LT(first.stats().queries_udp + second.stats().queries_udp, 25U) << "each query has at most one reply";
  second.stop({});
}

/// A file of the test's own.
class ResolvConf {
 public:
  ResolvConf() {
    std::string name = (std::filesystem::temp_directory_path() / "hcpnet-resolv-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~ResolvConf() { std::filesystem::remove_all(folder); }
  ResolvConf(const ResolvConf&) = delete;
  ResolvConf& operator=(const ResolvConf&) = delete;

  [[nodiscard]] std::string path() const { return (folder / "resolv.conf").string(); }
  /// As editors and DHCP clients do it.
  void replace_with(const std::string& text) const {
    std::ofstream(path() + ".new") << text;
    std::filesystem::rename(path() + ".new", path());
  }

 private:
  std::filesystem::path folder;
};

class DnsResolvConfFile : public testing::Test, protected ResolvConf {
 protected:
  static std::vector<std::string> texts(const std::vector<Endpoint>& servers) {
    std::vector<std::string> found;
    for (const Endpoint& server : servers) found.push_back(server.to_string());
    return found;
  }
};

TEST_F(DnsResolvConfFile, IsReadAgainWhenItChangesAtMostOnceASecond) {
  replace_with("nameserver 192.0.2.1\n");
  ResolvConfFile file(path());
  const Clock::SteadyTime start{};
  EXPECT_EQ(texts(file.servers(start)), std::vector<std::string>{"192.0.2.1:53"});
  replace_with("nameserver 192.0.2.2\nnameserver 192.0.2.3\n");
  EXPECT_EQ(texts(file.servers(start + 999ms)), std::vector<std::string>{"192.0.2.1:53"});
  EXPECT_EQ(texts(file.servers(start + 1s)), (std::vector<std::string>{"192.0.2.2:53", "192.0.2.3:53"}));
  std::filesystem::remove(path());
  EXPECT_EQ(file.servers(start + 5s).size(), 2U) << "a file that is gone for a moment changes nothing";
  replace_with("");
  EXPECT_TRUE(file.servers(start + 6s).empty());
}

TEST_F(DnsResolvConfFile, IsReadAgainWhereItCouldNotBeOpened) {
  replace_with("nameserver 192.0.2.1\n");
  ResolvConfFile file(path());
  const Clock::SteadyTime start{};
  const std::vector<std::string> before{"192.0.2.1:53"};
  EXPECT_EQ(texts(file.servers(start)), before);
  replace_with("nameserver 192.0.2.2\n");
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit no_descriptors{0, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &no_descriptors), 0);
  const auto meanwhile = texts(file.servers(start + 1s));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(meanwhile, before);
  EXPECT_EQ(texts(file.servers(start + 2s)), std::vector<std::string>{"192.0.2.2:53"});
}

TEST_F(DnsResolvConfFile, WaitsForNobodyWhoWritesIntoAFifo) {
  replace_with("nameserver 192.0.2.1\n");
  ResolvConfFile file(path());
  const Clock::SteadyTime start{};
  const std::vector<std::string> before{"192.0.2.1:53"};
  EXPECT_EQ(texts(file.servers(start)), before);
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(texts(file.servers(start + 1s)), before);
  replace_with("nameserver 192.0.2.2\n");
  EXPECT_EQ(texts(file.servers(start + 2s)), std::vector<std::string>{"192.0.2.2:53"});
}

TEST_F(DnsResolvConfFile, SaysWhichNameServersItLeavesOut) {
  std::vector<std::string> said;
  ResolvConfFile file(path(),
                      Logger([&](const LogRecord& record) { said.push_back(record.fields.at(1).second); }, "dns"));
  const Clock::SteadyTime start{};
  replace_with("nameserver fe80::1%eth0\nnameserver 192.0.2.1\n");
  EXPECT_EQ(texts(file.servers(start)), std::vector<std::string>{"192.0.2.1:53"});
  EXPECT_EQ(texts(file.servers(start + 1s)), std::vector<std::string>{"192.0.2.1:53"});
  EXPECT_EQ(said, std::vector<std::string>{"fe80::1%eth0"}) << "once, while the file is the same";
}

TEST_F(DnsResolvConfFile, SaysThatItsEndIsNotRead) {
  std::vector<std::string> said;
  ResolvConfFile file(path(), Logger([&](const LogRecord& record) { said.push_back(record.message); }, "dns"));
  const Clock::SteadyTime start{};
  std::string text = "nameserver 192.0.2.1\n#";
  text.resize(ResolvConfFile::kMaxFileBytes, 'x');
  replace_with(text);
  EXPECT_EQ(texts(file.servers(start)), std::vector<std::string>{"192.0.2.1:53"});
  EXPECT_TRUE(said.empty());
  replace_with(text + "\nnameserver 192.0.2.2\n");
  EXPECT_EQ(texts(file.servers(start + 1s)), std::vector<std::string>{"192.0.2.1:53"});
  EXPECT_EQ(said.size(), 1U);
}

/// Name servers of resolv.conf have port 53: that needs a network of the test's own.
class DnsForwarderByResolvConf : public DnsForwarder, protected ResolvConf {
 protected:
  /// An upstream that refuses, so that the next one is asked.
  void add_at(const std::string& address) {
    const auto refuse = [this, address](const Asked& asked) {
      order.push_back(address);
      return reply_with_code(asked.query, Rcode::refused);
    };
    upstreams.push_back(std::make_unique<test::ScriptedUpstream>(io, refuse, address.c_str(), kPort));
  }
  void start_at(const Ipv4& address, std::vector<Endpoint> given) {
    Config config = config_with({std::move(given), true});
    config.listeners = {Endpoint{address, kPort}};
    options.resolv_conf_path = path();
    options.clock = &clock;
    server = std::make_unique<Server>(io.get_executor(), options);
    server->start(std::move(config));
    client = std::make_unique<UdpClient>(io, Endpoint{Ipv4(127, 0, 0, 1), kPort});
  }
  /// Who is asked for a name, in this order.
  std::vector<std::string> asked_for(std::string_view qname) {
    order.clear();
    EXPECT_EQ(ask(qname).rcode(), Rcode::servfail);
    return order;
  }
  template <class Map>
  static std::vector<std::string> keys(const Map& map) {
    std::vector<std::string> all;
    for (const auto& [key, value] : map) all.push_back(key);
    return all;
  }

  static constexpr std::uint16_t kPort = 53;
  std::vector<std::string> order;
};

TEST_F(DnsForwarderByResolvConf, AsksThoseGivenFirstEachOnceAndNeverThisServer) {
  const std::string missing = test::in_own_network([this] {
    for (const char* address : {"127.0.53.1", "127.0.53.2", "127.0.53.3", "127.0.53.4"}) add_at(address);
    replace_with("nameserver 127.0.53.3\nnameserver 127.0.0.1\nnameserver 127.0.53.1\n");
    start_at(Ipv4(127, 0, 0, 1), {Endpoint{Ipv4(127, 0, 53, 2), kPort}, Endpoint{Ipv4(127, 0, 53, 1), kPort}});
    EXPECT_EQ(asked_for("a.example.net"), (std::vector<std::string>{"127.0.53.2", "127.0.53.1", "127.0.53.3"}));
    EXPECT_EQ(dropped("own_upstream"), 1U);

    replace_with("nameserver 127.0.53.4\n");
    clock.advance(ResolvConfFile::kCheckInterval);
    EXPECT_EQ(asked_for("b.example.net"), (std::vector<std::string>{"127.0.53.2", "127.0.53.1", "127.0.53.4"}));
    EXPECT_EQ(dropped("own_upstream"), 1U);
    const std::vector<std::string> now{"127.0.53.1:53", "127.0.53.2:53", "127.0.53.4:53"};
    EXPECT_EQ(keys(server->stats().upstream_replies), now) << "what is gone leaves no counters";
    EXPECT_EQ(keys(server->stats().upstream_durations), now);
    server->stop({});
    test::run_ready(io);
  });
  if (!missing.empty()) GTEST_SKIP() << missing;
}

TEST_F(DnsForwarderByResolvConf, Case26AnyAddressOfThisHostIsThisServerWhereItListensOnAll) {
  const std::string missing = test::in_own_network([this] {
    ASSERT_EQ(test::run("ip address add 192.0.2.7/32 dev lo").status, 0);
    replace_with("nameserver 127.0.0.53\nnameserver 192.0.2.7\n");
    start_at(Ipv4(), {});
    EXPECT_TRUE(asked_for("a.example.net").empty());
    EXPECT_EQ(waited, 0ms);
    EXPECT_EQ(dropped("own_upstream"), 2U);
    EXPECT_EQ(server->stats().forwarded, 0U);
    EXPECT_EQ(server->stats().queries_udp, 1U) << "nothing comes round";

    ASSERT_EQ(test::run("ip address del 192.0.2.7/32 dev lo").status, 0);
    asked_for("b.example.net");
    EXPECT_EQ(dropped("own_upstream"), 4U) << "the host is not asked for its addresses at each question";
    clock.advance(ResolvConfFile::kCheckInterval);
    asked_for("c.example.net");
    EXPECT_EQ(dropped("own_upstream"), 5U);
    EXPECT_EQ(server->stats().forwarded, 1U);
    server->stop({});
    test::run_ready(io);
  });
  if (!missing.empty()) GTEST_SKIP() << missing;
}

}  // namespace
}  // namespace hcpnet::dns
