// SPDX-License-Identifier: Apache-2.0
// Zone transfers and NOTIFY with stock clients and a real secondary.
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <hcpnet/dns/rdata.hpp>
#include <thread>

#include "dns/notifier.hpp"
#include "dns/peer_support.hpp"
#include "dns/server_support.hpp"

namespace hcpnet::dns {
namespace {

/// A server in a thread of its own, on the system's clock.
class TransferPeers : public testing::Test {
 protected:
  static Config config(const std::string& address, std::vector<Endpoint> notify = {}) {
    std::vector<RRset> rrsets{test::a_record("api.blue.example", address)};
    for (int i = 0; i < 3000; ++i)
      rrsets.push_back(test::a_record("h" + std::to_string(i) + ".blue.example", "10.0.0.1"));
    Config made;
    made.listeners = {Endpoint{Ipv4(127, 0, 0, 5), 53}};
    made.views = {test::view_of({std::make_shared<const Zone>(test::name("blue.example"), std::move(rrsets))})};
    made.transfer = {{test::cidr("127.0.0.1/32")}, std::move(notify)};
    return made;
  }
  void start(Config with) {
    ServerOptions options;
    options.port_map[53] = 0;
    server = std::make_unique<Server>(io.get_executor(), options);
    server->start(std::move(with));
    port = std::to_string(server->listeners().at(0).bound.port);
    loop = std::thread([this] { io.run(); });
  }
  template <class Function>
  auto on_loop(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto result = task.get_future();
    boost::asio::post(io, [&task] { task(); });
    return result.get();
  }
  void TearDown() override {
    boost::asio::post(io, [this] { server->stop([this] { work.reset(); }); });
    loop.join();
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::unique_ptr<Server> server;
  std::string port;
  std::thread loop;
};

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(TransferPeers, DigAndKdigGetTheWholeZone) {
  start(config("192.0.2.4"));
  for (const std::string client : {"dig", "kdig"}) {
    if (test::is_missing(client)) FAIL() << client << " is not installed";
    const std::string at = client + " -b 127.0.0.1 @127.0.0.5 -p " + port + " +timeout=5 ";
    const std::string zone = test::run(at + "blue.example AXFR").output;
    EXPECT_EQ(count(zone, "10.0.0.1"), 3000U) << client;
    EXPECT_EQ(count(zone, "SOA"), 2U) << client;
    EXPECT_EQ(count(test::run(at + "blue.example IXFR=1").output, "10.0.0.1"), 3000U) << client;
    EXPECT_EQ(count(test::run(at + "blue.example IXFR=4000000000").output, "10.0.0.1"), 3000U)
        << client << ": a serial that comes before, by RFC 1982";
    const std::string wrong = test::run(at + "api.blue.example AXFR").output;
    EXPECT_EQ(count(wrong, "192.0.2.4"), 0U) << wrong;
  }
  EXPECT_GE(on_loop([&] { return server->stats().transfers; }), 4U);
}

TEST_F(TransferPeers, OthersAreRefused) {
  if (test::is_missing("dig")) FAIL() << "dig is not installed";
  start(config("192.0.2.4"));
  const std::string text = test::run("dig -b 127.0.0.2 @127.0.0.5 -p " + port + " +timeout=5 blue.example AXFR").output;
  EXPECT_NE(text.find("Transfer failed"), std::string::npos) << text;
  EXPECT_EQ(on_loop([&] { return server->stats().dropped.at("transfer_refused"); }), 1U);
}

/// A real secondary that takes notices from the primary's own address alone, and zones as its makers think right.
class Secondaries : public TransferPeers {
 protected:
  /// Runs `command`, whose file `text` makes it a secondary at `at`.
  void follow(const Endpoint& at, const std::string& file, const std::string& text,
              const std::vector<std::string>& command) {
    folder.write(file, text);
    test::Child child(command, folder.path() + "/log");
    test::PlainClient client(at);
    const Message query = test::make_query("api.blue.example", Type::a);
    ASSERT_TRUE(client.wait_until_answers(query)) << folder.read("log");
    const auto asked = [&] {
      return test::addresses(client.ask(encode_message(query).value(), Transport::udp).value());
    };
    const auto wait_for = [&](const std::string& address) {
      const auto end = std::chrono::steady_clock::now() + test::kPatience;
      while (asked() != std::vector<std::string>{address} && std::chrono::steady_clock::now() < end) {
      }
      EXPECT_EQ(asked(), std::vector<std::string>{address}) << folder.read("log");
    };
    wait_for("192.0.2.4");
    // The SOA says that a secondary looks once an hour: only NOTIFY makes it look now.
    on_loop([&] { server->replace(config("192.0.2.5", {at})); });
    wait_for("192.0.2.5");
  }

  test::Folder folder{"secondary"};
};

TEST_F(Secondaries, KnotFollowsOnNotify) {
  if (test::is_missing("knotd")) FAIL() << "knotd is not installed";
  const Endpoint at = test::free_endpoint();
  start(config("192.0.2.4", {at}));
  follow(at, "knot.conf",
         "server:\n  rundir: " + folder.path() + "\n  listen: 127.0.0.1@" + std::to_string(at.port) +
             "\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1\ndatabase:\n  storage: " + folder.path() +
             "\nlog:\n  - target: stderr\n    any: info\nremote:\n  - id: primary\n    address: 127.0.0.5@" + port +
             "\n    via: 127.0.0.1\nacl:\n  - id: notify\n    address: 127.0.0.5\n    action: notify\nzone:\n"
             "  - domain: blue.example\n    storage: " +
             folder.path() + "\n    master: primary\n    acl: notify\n",
         {"knotd", "-c", folder.path() + "/knot.conf"});
}

TEST_F(Secondaries, BindFollowsOnNotify) {
  if (test::is_missing("named")) FAIL() << "named is not installed";
  const Endpoint at = test::free_endpoint();
  start(config("192.0.2.4", {at}));
  follow(at, "named.conf",
         "options {\n  directory \"" + folder.path() +
             "\";\n  pid-file none;\n  session-keyfile none;\n"
             "  listen-on port " +
             std::to_string(at.port) +
             " { 127.0.0.1; };\n  listen-on-v6 { none; };\n"
             "  recursion no;\n  dnssec-validation no;\n  notify no;\n};\ncontrols { };\n"
             "zone \"blue.example\" {\n  type secondary;\n  primaries { 127.0.0.5 port " +
             port + "; };\n  transfer-source 127.0.0.1;\n  file \"blue.example\";\n};\n",
         {"named", "-g", "-c", folder.path() + "/named.conf"});
}

class Notifications : public test::DnsServerTest {};

TEST_F(Notifications, AreRepeatedUntilAcknowledgedOrGivenUp) {
  test::ScriptedUpstream secondary(io, [](const auto& asked) -> std::optional<test::Bytes> {
    if (asked.number < 3) return std::nullopt;
    Message reply = asked.query;
    reply.flags |= flag::kResponse;
    return encode_message(reply).value();
  });
  Config with = config_with();
  with.transfer.notify = {secondary.endpoint()};
  start(with);
  const auto wait_for = [&](std::size_t messages) {
    return test::run_until(io, [&] { return secondary.asked.size() >= messages; });
  };
  ASSERT_TRUE(wait_for(1));
  const Message& first = secondary.asked[0].query;
  EXPECT_EQ(first.flags, 0x2400) << "opcode NOTIFY, AA";
  EXPECT_EQ(first.questions.at(0), (Question{test::name("blue.example"), Type::soa, kClassIn}));
  EXPECT_EQ(first.answers.at(0).type, Type::soa);
  clock.advance(std::chrono::seconds(2));
  ASSERT_TRUE(wait_for(2));
  clock.advance(std::chrono::seconds(4));
  ASSERT_TRUE(test::run_until(io, [&] { return server->stats().notifies_acknowledged == 1; }));
  clock.advance(std::chrono::seconds(100));
  test::run_ready(io);
  EXPECT_EQ(server->stats().notifies_sent, 3U);

  secondary.script = [](const auto&) { return std::nullopt; };
  with.views[0].zones = {std::make_shared<const Zone>(
      test::name("blue.example"), std::vector<RRset>{test::a_record("api.blue.example", "192.0.2.9")})};
  server->replace(with);
  for (const int seconds : {2, 4, 8, 16, 32}) clock.advance(std::chrono::seconds(seconds));
  test::run_ready(io);
  EXPECT_EQ(server->stats().notifies_sent, 8U);
  EXPECT_EQ(server->stats().notifies_failed, 1U);
  server->replace(with);
  EXPECT_EQ(server->stats().notifies_sent, 8U) << "nothing has changed";
}

class ManyNotifications : public Notifications {
 protected:
  void start_with(std::size_t zones) {
    Config with = config_with();
    with.views[0].zones.clear();
    for (std::size_t i = 0; i < zones; ++i)
      with.views[0].zones.push_back(
          std::make_shared<const Zone>(test::name("z" + std::to_string(i) + ".example"), std::vector<RRset>{}));
    with.transfer.notify = {secondary.endpoint()};
    start(with);
  }
  test::ScriptedUpstream secondary{io, [](const auto&) { return std::nullopt; }};
};

TEST_F(ManyNotifications, WaitForTheirTurn) {
  constexpr std::size_t kZones = Notifier::kMaxPending + 50;
  secondary.script = [](const auto& asked) {
    Message reply = asked.query;
    reply.flags |= flag::kResponse;
    return encode_message(reply).value();
  };
  start_with(kZones);
  EXPECT_EQ(server->stats().notifies_sent, Notifier::kMaxPending);
  EXPECT_TRUE(test::run_until(io, [&] {
    clock.advance(std::chrono::milliseconds(100));  // the secondary's socket may have had no room for all
    return server->stats().notifies_acknowledged == kZones;
  }));
  EXPECT_EQ(dropped("notify_limit"), 0U);
}

TEST_F(ManyNotifications, BeyondTheLimitAreNotSent) {
  start_with(Notifier::kMaxPending + Notifier::kMaxWaiting + 5);
  EXPECT_EQ(dropped("notify_limit"), 5U);
  EXPECT_EQ(server->stats().notifies_sent, Notifier::kMaxPending);
}

class Limited : public test::DnsServerTest {
 protected:
  void start_limited(std::uint32_t rate, std::uint32_t slip) {
    Config with = config_with();
    with.rate_limit.emplace();
    with.rate_limit->responses_per_second = rate;
    with.rate_limit->slip = slip;
    start(with);
  }
};

TEST_F(Limited, WhoAsksTooOftenIsSentToTcpOrToACookie) {
  start_limited(1, 1);
  test::UdpClient client(io, bound());
  const Message plain = test::make_query("api.blue.example", Type::a);
  EXPECT_EQ(test::addresses(client.ask(plain)).size(), 1U);
  EXPECT_NE(client.ask(plain).flags & flag::kTruncated, 0);

  Message with_cookie = plain;
  with_cookie.edns = Edns{};
  with_cookie.edns->options = std::string("\0\x0a\0\10abcdefgh", 12);
  const Message refused = client.ask(with_cookie);
  EXPECT_EQ(refused.rcode(), Rcode::badcookie);
  with_cookie.edns->options = refused.edns.value().options;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(test::addresses(client.ask(with_cookie)).size(), 1U) << "a good cookie";

  test::TcpClient stream(io, bound());
  stream.send(test::TcpClient::frame(plain));
  EXPECT_EQ(test::addresses(stream.receive().value()).size(), 1U) << "TCP";
  EXPECT_EQ(server->stats().dropped.at("rate_shortened"), 2U);
  EXPECT_EQ(server->stats().cookies.at("valid"), 5U);
  clock.advance(std::chrono::hours(2));
  EXPECT_EQ(test::addresses(client.ask(with_cookie)).size(), 1U) << "the cookie is too old, but a second has passed";
  EXPECT_EQ(client.ask(with_cookie).rcode(), Rcode::badcookie);
}

/// NOERROR with TC would say that an update was done (RFC 2136 section 3.8).
TEST_F(Limited, AnErrorStaysAnError) {
  start_limited(1, 1);
  test::UdpClient client(io, bound());
  Message update = test::make_query("blue.example", Type::soa);
  update.flags = 5 << 11;
  for (int i = 0; i < 3; ++i) {
    const Message reply = client.ask(update);
    EXPECT_EQ(reply.rcode(), Rcode::notimp);
    EXPECT_EQ(reply.flags & flag::kTruncated, 0);
  }
}

TEST_F(Limited, TransfersOverUdpToo) {
  Config with = config_with();
  with.rate_limit = RateLimit{.responses_per_second = 1, .slip = 2};
  with.transfer.clients = {test::cidr("127.0.0.1/32")};
  start(with);
  Message ixfr = test::make_query("blue.example", Type::ixfr);
  ixfr.authority = {{test::name("blue.example"), Type::soa, kClassIn, 0, with.views[0].zones[0]->soa().rdata.front()}};
  const auto ask_thrice = [&](const char* from, const Message& query) {
    test::UdpClient client(io, bound(), from);
    Message last = client.ask(query);
    client.send(query);  // held back
    last = client.ask(query);
    EXPECT_FALSE(client.try_receive());
    return last;
  };
  const Message shortened = ask_thrice("127.0.0.1", ixfr);
  EXPECT_NE(shortened.flags & flag::kTruncated, 0);
  EXPECT_TRUE(shortened.answers.empty());
  EXPECT_EQ(ask_thrice("127.0.0.2", ixfr).rcode(), Rcode::refused);
  EXPECT_EQ(dropped("rate_limited"), 2U);
  EXPECT_EQ(dropped("rate_shortened"), 1U) << "an error is as short as a reply can be";
  EXPECT_EQ(dropped("transfer_refused"), 2U);
  EXPECT_EQ(server->stats().transfers, 1U);

  test::TcpClient stream(io, bound());
  for (int i = 0; i < 3; ++i) {
    stream.send(test::TcpClient::frame(test::make_query("blue.example", Type::axfr)));
    EXPECT_EQ(stream.receive().value().answers.size(), 4U) << "SOA, NS, A, SOA";
  }
}

TEST_F(Limited, WhatGoesToNoUpstreamCountsAsAnError) {
  Config with = config_with();
  with.rate_limit = RateLimit{.responses_per_second = 1, .slip = 0};
  with.forwarding.zones = {{test::name("corp.example"), {*parse_endpoint("127.0.0.9:5300")}}};
  start(with);
  test::UdpClient client(io, bound());
  EXPECT_EQ(client.ask(test::make_query("www.example.net", Type::a)).rcode(), Rcode::refused);
  client.send(test::make_query("www.example.net", Type::a));
  EXPECT_EQ(test::addresses(client.ask(test::make_query("api.blue.example", Type::a))).size(), 1U)
      << "answers are counted by themselves";
  EXPECT_EQ(dropped("rate_limited"), 1U);
}

TEST_F(Limited, WithoutSlipTheyGetNothing) {
  start_limited(2, 0);
  test::UdpClient client(io, bound());
  const Message query = test::make_query("api.blue.example", Type::a);
  client.ask(query);
  client.ask(query);
  client.send(query);
  ASSERT_TRUE(test::run_until(io, [&] { return dropped("rate_limited") == 1; }));
  EXPECT_FALSE(client.try_receive());
}

TEST_F(Limited, CookiesOutliveOneChangeOfSecretsButNotTheirHour) {
  start(config_with());
  test::UdpClient client(io, bound());
  Message query = test::make_query("api.blue.example", Type::a);
  query.edns = Edns{};
  query.edns->options = std::string("\0\x0a\0\10abcdefgh", 12);
  clock.advance(std::chrono::hours(23) + std::chrono::minutes(50));
  client.ask(query);
  clock.advance(std::chrono::hours(24) - std::chrono::minutes(20));
  query.edns->options = client.ask(query).edns.value().options;
  clock.advance(std::chrono::minutes(30));
  client.ask(query);
  EXPECT_EQ(server->stats().cookies.at("valid"), 1U);
}

}  // namespace
}  // namespace hcpnet::dns
