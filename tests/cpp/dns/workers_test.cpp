// SPDX-License-Identifier: Apache-2.0
// Several threads that answer over UDP, and replies that leave together.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/system/system_error.hpp>
#include <hcpnet/dns/server.hpp>
#include <map>
#include <thread>

#include "dns/server_support.hpp"

namespace hcpnet::dns {
namespace {

using test::a_record;
using test::addresses;
using test::make_query;
using test::name;
using test::UdpClient;

const std::vector<std::string> kApi{"192.0.2.4"};
constexpr std::size_t kClients = 48;  // so many that no worker is left without any

/// Asks from ever new sockets, and listens to no reply.
void ask_until(const std::atomic<bool>& is_over, const Endpoint& server) {
  test::asio::io_context io;
  while (!is_over) UdpClient(io, server).send(make_query("api.blue.example", Type::a));
}

class DnsWorkers : public test::DnsServerTest {
 protected:
  DnsWorkers() { options.workers = 3; }
  std::vector<std::unique_ptr<UdpClient>> make_clients() {
    std::vector<std::unique_ptr<UdpClient>> clients;
    for (std::size_t i = 0; i < kClients; ++i) clients.push_back(std::make_unique<UdpClient>(io, bound()));
    return clients;
  }
  static Config config_with_api(const char* address) {
    Config config = config_with();
    config.views[0] = test::view_of({std::make_shared<const Zone>(
        name("blue.example"), std::vector<RRset>{a_record("api.blue.example", address)})});
    return config;
  }
};

TEST_F(DnsWorkers, EveryClientIsAnsweredAndEveryQueryCounted) {
  start(config_with());
  for (const auto& client : make_clients())
    EXPECT_EQ(addresses(client->ask(make_query("api.blue.example", Type::a))), kApi);
  const auto clients = make_clients();
  for (const auto& client : clients)
    EXPECT_EQ(client->ask(make_query("x.blue.example", Type::a)).rcode(), Rcode::nxdomain);
  const ServerStats stats = server->stats();
  EXPECT_EQ(stats.queries_udp, 2 * kClients);
  EXPECT_EQ(stats.responses, (std::map<std::string, std::uint64_t>{{"NOERROR", kClients}, {"NXDOMAIN", kClients}}));
  EXPECT_EQ(stats.by_view, (std::map<std::string, std::uint64_t>{{"default", 2 * kClients}}));
}

TEST_F(DnsWorkers, AnswerWhileTheExecutorIsBusy) {
  start(config_with());
  const auto clients = make_clients();
  for (const auto& client : clients) client->send(make_query("api.blue.example", Type::a));
  const auto end = std::chrono::steady_clock::now() + test::kPatience;
  std::optional<test::Bytes> reply;  // the executor does not run here
  while (!reply && std::chrono::steady_clock::now() < end)
    for (const auto& client : clients)
      if (!reply) reply = client->try_receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(addresses(parse_message(*reply).value()), kApi);
}

TEST_F(DnsWorkers, WhatMustBeForwardedGoesThroughTheExecutor) {
  test::ScriptedUpstream upstream(io, [](const auto& asked) { return test::reply_with(asked.query, {"203.0.113.7"}); });
  start(config_with({{upstream.endpoint()}, false}));
  const auto clients = make_clients();
  for (int round = 0; round < 2; ++round)  // from the upstream, then from the cache
    for (const auto& client : clients)
      EXPECT_EQ(addresses(client->ask(make_query("www.example.net", Type::a))),
                std::vector<std::string>{"203.0.113.7"});
  EXPECT_EQ(upstream.asked.size(), 1U);
  const ServerStats stats = server->stats();
  EXPECT_EQ(stats.queries_udp, 2 * kClients);
  EXPECT_EQ(stats.by_view.at("default"), 2 * kClients);
  EXPECT_EQ(stats.dropped.at("handover_limit"), 0U);
}

TEST_F(DnsWorkers, AnswerFromTheNewDataOnceItIsReplaced) {
  start(config_with_api("192.0.2.0"));
  std::atomic<bool> is_over = false;
  std::thread noise([at = bound(), &is_over] { ask_until(is_over, at); });
  const auto clients = make_clients();
  for (int generation = 1; generation < 20; ++generation) {
    const std::string address = "192.0.2." + std::to_string(generation);
    server->replace(config_with_api(address.c_str()));
    for (const auto& client : clients)
      ASSERT_EQ(addresses(client->ask(make_query("api.blue.example", Type::a))), std::vector<std::string>{address});
  }
  is_over = true;
  noise.join();
  EXPECT_GE(server->stats().by_view.at("default"), 19 * kClients) << "counted over all configurations";
}

TEST_F(DnsWorkers, TheirPortIsNotSharedWithAnotherServer) {
  start(config_with());
  Config same = config_with();
  same.listeners = {bound()};
  ServerOptions others;
  others.workers = 3;
  Server second(io.get_executor(), others);
  EXPECT_THROW(second.start(same), boost::system::system_error);
  EXPECT_TRUE(second.listeners().empty());
}

TEST_F(DnsWorkers, StopClosesTheirSockets) {
  start(config_with());
  const Endpoint was = bound();
  server->stop({});
  server->stop({});
  test::udp::socket again(io, {dns::to_asio(was.address), was.port});  // throws if one were still bound
}

TEST_F(DnsWorkers, CountOnceWhatASocketThatTheyShareHasLost) {
  options.workers = 1;
  start(config_with());
  const int fewest_bytes = 1;
  ASSERT_EQ(setsockopt(server->sockets().at(0).descriptor, SOL_SOCKET, SO_RCVBUF, &fewest_bytes, sizeof fewest_bytes),
            0);
  UdpClient client(io, bound());
  const auto send = [&] {
    for (int i = 0; i < 100; ++i) client.send(make_query("api.blue.example", Type::a));
  };
  send();
  EXPECT_GT(dropped("receive_buffer"), 0U);
  test::run_ready(io);

  options.inherited = std::make_shared<InheritedSockets>();
  for (const ListeningSocket& socket : server->sockets())
    options.inherited->add(socket.kind, socket.configured, FileDescriptor::copy_of(socket.descriptor));
  options.workers = 3;
  options.udp_receive_buffer_bytes = 0;
  server->stop({});
  start(config_with());
  EXPECT_EQ(dropped("receive_buffer"), 0U) << "those are of the server before";
  std::uint64_t sent = 0;
  for (; dropped("receive_buffer") == 0 && sent < 1'000'000; sent += 100) send();
  EXPECT_GT(dropped("receive_buffer"), 0U);
  EXPECT_TRUE(test::run_until(io, [&] {
    const ServerStats stats = server->stats();
    return stats.queries_udp + stats.dropped.at("receive_buffer") == sent;
  }));
}

// What replies depend on besides the zones belongs to the executor's thread: workers neither ignore nor double it.

TEST_F(DnsWorkers, CountTogetherForTheRateLimit) {
  options.workers = 2;
  Config config = config_with();
  config.rate_limit = RateLimit{.responses_per_second = 10, .slip = 0};
  start(config);
  const auto clients = make_clients();
  for (const auto& client : clients) client->send(make_query("api.blue.example", Type::a));
  ASSERT_TRUE(test::run_until(io, [&] { return server->stats().queries_udp == kClients; }));
  EXPECT_EQ(server->stats().responses.at("NOERROR"), 10U);
  EXPECT_EQ(dropped("rate_limited"), kClients - 10);
  std::size_t answered = 0;
  for (const auto& client : clients) answered += client->try_receive() ? 1 : 0;
  EXPECT_EQ(answered, 10U);
}

TEST_F(DnsWorkers, StopCountingWithTheRateLimit) {
  options.workers = 2;
  Config config = config_with();
  config.rate_limit = RateLimit{.responses_per_second = 1, .slip = 0};
  start(config);
  server->replace(config_with());
  for (const auto& client : make_clients())
    EXPECT_EQ(addresses(client->ask(make_query("api.blue.example", Type::a))), kApi);
  EXPECT_EQ(dropped("rate_limited"), 0U);
}

Message query_with_option(const std::string& option) {
  Message query = make_query("api.blue.example", Type::a);
  query.edns = Edns{};
  query.edns->options = option;
  return query;
}

TEST_F(DnsWorkers, TakeEachOthersCookies) {
  options.workers = 2;
  start(config_with());
  const Message first = query_with_option(std::string("\0\x0a\0\x08", 4) + "12345678");
  const auto clients = make_clients();
  const std::string cookie = clients.front()->ask(first).edns.value().options;
  ASSERT_EQ(cookie.size(), 4U + 24U);
  for (const auto& client : clients) {
    const Message reply = client->ask(query_with_option(cookie));
    EXPECT_EQ(addresses(reply), kApi);
    EXPECT_EQ(reply.edns.value().options, cookie) << "time stands still, so that it is made anew just the same";
  }
  const ServerStats stats = server->stats();
  EXPECT_EQ(stats.cookies.at("client_only"), 1U);
  EXPECT_EQ(stats.cookies.at("valid"), kClients);
  EXPECT_EQ(stats.queries_udp, 1 + kClients);
}

TEST_F(DnsWorkers, IgnoreCookiesThatAreOff) {
  options.workers = 2;
  Config config = config_with();
  config.cookies = false;
  start(config);
  for (const auto& client : make_clients())
    EXPECT_EQ(client->ask(query_with_option(std::string("\0\x0a\0\x08", 4) + "12345678")).edns.value().options, "");
}

TEST_F(DnsWorkers, TellTheNameOfTheServer) {
  options.workers = 2;
  Config config = config_with();
  config.identity = {"dns-1", "hcpnet"};
  start(config);
  Message chaos = make_query("version.bind", Type::txt);
  chaos.questions[0].qclass = 3;
  for (const auto& client : make_clients()) {
    EXPECT_EQ(client->ask(query_with_option(std::string("\0\3\0\0", 4))).edns.value().options,
              std::string("\0\3\0\5dns-1", 9));
    EXPECT_EQ(client->ask(chaos).answers.at(0).rdata, "\6hcpnet");
  }
}

TEST_F(DnsWorkers, LeaveTransfersToTheExecutor) {
  options.workers = 2;
  Config config = config_with();
  config.transfer.clients = {test::cidr("127.0.0.0/8")};
  start(config);
  Message ixfr = make_query("blue.example", Type::ixfr);
  ixfr.authority = {{name("blue.example"), Type::soa, kClassIn, 0, config.views[0].zones[0]->soa().rdata.front()}};
  const auto clients = make_clients();
  for (const auto& client : clients) {
    const Message reply = client->ask(ixfr);
    ASSERT_EQ(reply.answers.size(), 1U);  // over UDP the SOA alone
    EXPECT_EQ(reply.answers[0].type, Type::soa);
    EXPECT_EQ(client->ask(make_query("blue.example", Type::axfr)).rcode(), Rcode::refused);
  }
  const ServerStats stats = server->stats();
  EXPECT_EQ(stats.transfers, kClients);
  EXPECT_EQ(stats.dropped.at("transfer_refused"), kClients);
  EXPECT_EQ(stats.queries_udp, 2 * kClients);
}

/// One socket that asks two addresses of a server in turn, so that neighbours in a batch differ.
TEST_F(DnsWorkers, RepliesThatLeaveTogetherKeepTheirAddressesAndSizes) {
  options.workers = 1;
  Config config = config_with();
  config.listeners = {Endpoint{Ipv4(), 53}};
  start(config);
  test::udp::socket socket(io, {test::asio::ip::address_v4::loopback(), 0});
  socket.non_blocking(true);
  const auto asked = [](std::uint16_t id) { return id % 5 < 3 ? "127.0.0.1" : "127.0.0.9"; };
  const auto is_known = [](std::uint16_t id) { return id % 7 != 0; };
  for (std::uint16_t id = 1; id <= 100; ++id) {
    const auto query =
        encode_message(make_query(is_known(id) ? "api.blue.example" : "no-such-name.blue.example", Type::a, id))
            .value();
    socket.send_to(test::asio::buffer(query), {test::asio::ip::make_address(asked(id)), bound().port});
  }
  std::map<std::uint16_t, std::pair<Rcode, std::string>> replies;
  ASSERT_TRUE(test::run_until(io, [&] {
    test::Bytes bytes(1500);
    test::udp::endpoint from;
    boost::system::error_code ec;
    bytes.resize(socket.receive_from(test::asio::buffer(bytes), from, 0, ec));
    if (ec) return false;
    const Message reply = parse_message(bytes).value();
    replies[reply.id] = {reply.rcode(), from.address().to_string()};
    return replies.size() == 100;
  }));
  for (const auto& [id, reply] : replies) {
    EXPECT_EQ(reply.first, is_known(id) ? Rcode::noerror : Rcode::nxdomain) << id;
    EXPECT_EQ(reply.second, asked(id)) << id;
  }
}

}  // namespace
}  // namespace hcpnet::dns
