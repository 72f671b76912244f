// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/server.hpp>
#include <numeric>
#include <set>
#include <thread>

#include "dns/program_support.hpp"
#include "dns/server_support.hpp"
#include "dns/tcp_session.hpp"

namespace hcpnet::dns {
namespace {

using namespace std::chrono_literals;
using test::a_record;
using test::addresses;
using test::Bytes;
using test::make_query;
using test::name;
using test::TcpClient;
using test::UdpClient;

class DnsServer : public test::DnsServerTest {};

const std::vector<std::string> kApi{"192.0.2.4"};

/// 200 addresses: 3 KB a reply.
std::shared_ptr<const Zone> large_zone() {
  std::vector<RRset> rrsets;
  for (std::uint32_t i = 0; i < 200; ++i) rrsets.push_back(make_a(name("many.large.example"), Ipv4(i), 30));
  return std::make_shared<const Zone>(name("large.example"), std::move(rrsets));
}

TEST_F(DnsServer, AnswersOverUdpAndTcpOnTheSamePort) {
  start(config_with());
  EXPECT_EQ(server->listeners().at(0).configured.port, 53);
  EXPECT_NE(bound().port, 53);
  UdpClient udp(io, bound());
  EXPECT_EQ(addresses(udp.ask(make_query("api.blue.example", Type::a))), kApi);
  TcpClient tcp(io, bound());
  tcp.send(TcpClient::frame(make_query("api.blue.example", Type::a)));
  EXPECT_EQ(addresses(tcp.receive().value()), kApi);
  const ServerStats stats = server->stats();
  EXPECT_EQ(stats.queries_udp, 1U);
  EXPECT_EQ(stats.queries_tcp, 1U);
  EXPECT_EQ(stats.responses, (std::map<std::string, std::uint64_t>{{"NOERROR", 2}}));
  EXPECT_EQ(stats.by_view, (std::map<std::string, std::uint64_t>{{"default", 2}}));
}

TEST_F(DnsServer, AWildcardListenerRepliesFromTheAddressAsked) {
  Config config = config_with();
  config.listeners = {Endpoint{Ipv4(), 53}};
  start(config);
  for (const char* asked : {"127.0.0.1", "127.0.0.9", "127.1.2.3"}) {
    UdpClient client(io, Endpoint{*parse_ip_address(asked), bound().port});
    EXPECT_EQ(addresses(client.ask(make_query("api.blue.example", Type::a))), kApi);
    EXPECT_EQ(client.replied_from.address().to_string(), asked);
  }
}

/// Loopback has one IPv6 address; more of them take a network namespace, which a thread may have to itself.
TEST_F(DnsServer, AnIpv6WildcardListenerRepliesFromTheAddressAsked) {
  std::string missing;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) != 0) {
      missing = std::string("no network namespace of its own: ") + std::strerror(errno);
      return;
    }
    for (const char* command :
         {"ip link set lo up", "ip -6 address add 2001:db8::3/128 dev lo nodad",
          "ip -6 address add 2001:db8:1::9/128 dev lo nodad", "ip -6 address add fe80::3/64 dev lo nodad"}) {
      const test::Finished done = test::run(command);
      ASSERT_EQ(done.status, 0) << command << ": " << done.output;
    }
    test::ScriptedUpstream upstream(
        io, [](const test::ScriptedUpstream::Asked& asked) { return test::reply_with(asked.query, {"198.51.100.7"}); },
        "::1");
    Config config = config_with({.upstreams = {upstream.endpoint()}});
    config.views[0].clients.push_back(test::cidr("::/0"));
    config.listeners = {Endpoint{*parse_ip_address("::"), 53}};
    start(config);
    for (const std::string asked : {"2001:db8::3", "2001:db8:1::9", "::1", "fe80::3%lo"}) {
      const test::udp::endpoint place(test::asio::ip::make_address(asked), bound().port);
      UdpClient client(io, place, asked == "fe80::3%lo" ? "fe80::3%lo" : "2001:db8::3");
      EXPECT_EQ(addresses(client.ask(make_query("api.blue.example", Type::a))), kApi) << asked;
      EXPECT_EQ(client.replied_from, place) << asked;
      EXPECT_EQ(addresses(client.ask(make_query("a.example.net", Type::a))), std::vector<std::string>{"198.51.100.7"});
      EXPECT_EQ(client.replied_from, place) << asked << ", forwarded or from the cache";
    }
    server->stop({});
    test::run_ready(io);
  }).join();
  if (!missing.empty()) GTEST_SKIP() << missing;
}

TEST_F(DnsServer, AnswersOverIpv6) {
  Config config = config_with();
  config.views[0].clients.push_back(test::cidr("::1/128"));
  config.listeners = {Endpoint{*parse_ip_address("::1"), 53}, Endpoint{*parse_ip_address("::"), 53}};
  start(config);
  for (std::size_t i = 0; i < 2; ++i) {
    UdpClient udp(io, Endpoint{*parse_ip_address("::1"), bound(i).port}, "::1");
    EXPECT_EQ(addresses(udp.ask(make_query("api.blue.example", Type::a))), kApi);
    EXPECT_EQ(udp.replied_from.address().to_string(), "::1");
  }
}

TEST_F(DnsServer, SaysWhichAddressItCannotBind) {
  test::udp::socket taken(io, {test::asio::ip::address_v4::loopback(), 0});
  Config config = config_with();
  config.listeners = {Endpoint{Ipv4(127, 0, 0, 1), 53}, Endpoint{Ipv4(127, 0, 0, 1), taken.local_endpoint().port()}};
  try {
    start(config);
    FAIL() << "bound twice";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), test::asio::error::address_in_use);
    EXPECT_NE(std::string(e.what()).find("UDP 127.0.0.1:" + std::to_string(taken.local_endpoint().port())),
              std::string::npos)
        << e.what();
  }
  EXPECT_TRUE(server->listeners().empty()) << "all or nothing";
}

TEST_F(DnsServer, RefusesAWrongConfiguration) {
  Config config = config_with();
  config.views.push_back(config.views[0]);
  EXPECT_THROW(start(config), boost::system::system_error);
}

TEST_F(DnsServer, EachClientSeesItsView) {
  Config config = config_with();
  config.views.push_back(
      test::view_of({std::make_shared<const Zone>(name("blue.example"),
                                                  std::vector<RRset>{a_record("api.blue.example", "172.30.9.4")})},
                    "127.0.0.2/32"));
  config.views[1].name = "pods";
  config.views[0].clients = {test::cidr("127.0.0.0/30")};
  start(config);
  const Message query = make_query("api.blue.example", Type::a);
  EXPECT_EQ(addresses(UdpClient(io, bound(), "127.0.0.1").ask(query)), kApi);
  EXPECT_EQ(addresses(UdpClient(io, bound(), "127.0.0.2").ask(query)), std::vector<std::string>{"172.30.9.4"});
  EXPECT_EQ(UdpClient(io, bound(), "127.0.0.4").ask(query).rcode(), Rcode::refused);
  EXPECT_EQ(server->stats().by_view, (std::map<std::string, std::uint64_t>{{"default", 1}, {"pods", 1}, {"", 1}}));
}

TEST_F(DnsServer, ManyQueriesAtOnceAreAllAnswered) {
  start(config_with());
  UdpClient client(io, bound());
  for (std::uint16_t id = 0; id < 150; ++id) client.send(make_query("api.blue.example", Type::a, id));
  std::set<std::uint16_t> answered;
  for (int i = 0; i < 150; ++i) answered.insert(client.receive().id);
  EXPECT_EQ(answered.size(), 150U);
}

TEST_F(DnsServer, CountsWhatTheKernelHadNoRoomFor) {
  start(config_with());
  const int few_bytes = 4096;
  ASSERT_EQ(setsockopt(server->sockets().at(0).descriptor, SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof few_bytes), 0);
  UdpClient client(io, bound());
  constexpr std::size_t kSent = 100;
  for (std::uint16_t id = 0; id < kSent; ++id) client.send(make_query("api.blue.example", Type::a, id));
  const std::uint64_t lost = dropped("receive_buffer");
  EXPECT_GT(lost, 0U);
  ASSERT_LT(lost, kSent);
  for (std::size_t i = lost; i < kSent; ++i) EXPECT_EQ(addresses(client.receive()), kApi);
  EXPECT_EQ(server->stats().queries_udp, kSent - lost);
  server->stop({});
  EXPECT_EQ(dropped("receive_buffer"), lost);
}

TEST_F(DnsServer, AsksForALargerReceiveBufferThanTheSystemGives) {
  const auto room = [this] {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    EXPECT_EQ(getsockopt(server->sockets().at(0).descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &size), 0);
    return bytes;
  };
  options.udp_receive_buffer_bytes = 0;
  start(config_with());
  const int given = room();
  server->stop({});
  options.udp_receive_buffer_bytes = static_cast<std::size_t>(given);
  start(config_with());
  EXPECT_GT(room(), given) << "twice, but for what net.core.rmem_max allows";
}

TEST_F(DnsServer, HostileDatagramsAreCountedAndDoNoHarm) {
  start(config_with());
  UdpClient client(io, bound());
  const Bytes query = encode_message(make_query("api.blue.example", Type::a)).value();
  for (std::size_t size = 0; size < query.size(); ++size) client.send(ByteView(query).first(size));
  client.send(Bytes(5'000, 0xff));
  Bytes response = query;
  response[2] |= 0x80;
  client.send(response);
  client.send(make_query("api.blue.example", Type::a, 0x7777));
  Message last;
  while (last.id != 0x7777) last = client.receive();
  EXPECT_EQ(addresses(last), kApi);
  EXPECT_EQ(dropped("short"), kHeaderBytes);
  EXPECT_EQ(dropped("is_response"), 1U);
  EXPECT_EQ(dropped("oversize"), 1U);
  EXPECT_EQ(server->stats().responses.at("FORMERR"), query.size() - kHeaderBytes);
}

TEST_F(DnsServer, ReplacedDataAnswersFromTheNextQueryOn) {
  start(config_with());
  UdpClient client(io, bound());
  EXPECT_EQ(addresses(client.ask(make_query("api.blue.example", Type::a))), kApi);
  Config next = config_with();
  next.views[0] = test::view_of({std::make_shared<const Zone>(
      name("blue.example"), std::vector<RRset>{a_record("api.blue.example", "192.0.2.99")})});
  server->replace(next);
  EXPECT_EQ(addresses(client.ask(make_query("api.blue.example", Type::a))), std::vector<std::string>{"192.0.2.99"});
  Config wrong = next;
  wrong.views.push_back(wrong.views[0]);
  EXPECT_THROW(server->replace(wrong), boost::system::system_error);
  EXPECT_EQ(addresses(client.ask(make_query("api.blue.example", Type::a))), std::vector<std::string>{"192.0.2.99"});
  EXPECT_EQ(server->stats().by_view.at("default"), 3U) << "counted over both configurations";
}

TEST_F(DnsServer, StopClosesEverythingAndMayBeRepeated) {
  start(config_with());
  TcpClient client(io, bound());
  client.send(TcpClient::frame(make_query("api.blue.example", Type::a)));
  ASSERT_TRUE(client.receive());
  const Endpoint was = bound();
  int stopped = 0;
  server->stop([&] { ++stopped; });
  server->stop([&] { ++stopped; });
  EXPECT_EQ(stopped, 0) << "told from the event loop";
  EXPECT_TRUE(client.wait_closed());
  EXPECT_TRUE(test::run_until(io, [&] { return stopped == 2; }));
  test::udp::socket again(io, {dns::to_asio(was.address), was.port});  // throws if it were still bound
}

TEST_F(DnsServer, TcpQueriesMayBePipelined) {
  start(config_with());
  TcpClient client(io, bound());
  Bytes all;
  for (std::uint16_t id = 0; id < 500; ++id) {
    const Bytes framed = TcpClient::frame(make_query("api.blue.example", Type::a, id));
    all.insert(all.end(), framed.begin(), framed.end());
  }
  client.send(all);
  for (std::uint16_t id = 0; id < 500; ++id) ASSERT_EQ(client.receive().value().id, id);
}

TEST_F(DnsServer, TcpQueriesMayComeByteByByte) {
  start(config_with());
  TcpClient client(io, bound());
  for (const std::uint8_t byte : TcpClient::frame(make_query("api.blue.example", Type::a))) {
    client.send({&byte, 1});
    test::run_ready(io);
  }
  EXPECT_EQ(addresses(client.receive().value()), kApi);
}

TEST_F(DnsServer, ATcpClientThatSendsNoMoreStillGetsItsReplies) {
  start(config_with());
  TcpClient client(io, bound());
  client.send(TcpClient::frame(make_query("api.blue.example", Type::a)));
  client.socket.shutdown(test::tcp::socket::shutdown_send);
  EXPECT_EQ(addresses(client.receive().value()), kApi);
  EXPECT_EQ(client.receive(), std::nullopt);
}

TEST_F(DnsServer, JunkEndsATcpConnection) {
  start(config_with());
  for (const Bytes& junk : {Bytes{0, 0}, Bytes{0, 5, 1, 2, 3, 4, 5}}) {
    TcpClient client(io, bound());
    client.send(junk);
    EXPECT_TRUE(client.wait_closed());
  }
  EXPECT_EQ(server->stats().tcp_connections, 0U);
}

TEST_F(DnsServer, AnIdleTcpConnectionIsClosedInTime) {
  options.tcp_idle_timeout = 10s;
  start(config_with());
  TcpClient client(io, bound());
  client.send(TcpClient::frame(make_query("api.blue.example", Type::a)));
  ASSERT_TRUE(client.receive());
  clock.advance(6s);
  client.send(TcpClient::frame(make_query("api.blue.example", Type::a)));
  ASSERT_TRUE(client.receive());
  clock.advance(9s);
  test::run_ready(io);
  EXPECT_FALSE(client.is_closed());
  // A byte now and then is not a query.
  client.send(Bytes{0});
  test::run_ready(io);
  clock.advance(1s);
  EXPECT_TRUE(client.wait_closed());
  EXPECT_EQ(dropped("tcp_timeout"), 1U);
}

TEST_F(DnsServer, ANewTcpConnectionTakesThePlaceOfTheOneSilentLongest) {
  options.max_tcp_connections = 2;
  start(config_with());
  TcpClient first(io, bound());
  TcpClient second(io, bound());
  ASSERT_TRUE(test::run_until(io, [&] { return server->stats().tcp_connections == 2; }));
  const Bytes query = TcpClient::frame(make_query("api.blue.example", Type::a));
  first.send(query);
  ASSERT_TRUE(first.receive());
  TcpClient third(io, bound());
  EXPECT_TRUE(second.wait_closed());
  for (TcpClient* client : {&first, &third}) {
    client->send(query);
    EXPECT_TRUE(client->receive());
  }
  EXPECT_EQ(dropped("tcp_limit"), 1U);
}

TEST_F(DnsServer, CountsQueriesByWhatTheyAreAndHowLongTheirRepliesTook) {
  start(config_with());
  UdpClient udp(io, bound());
  udp.ask(make_query("api.blue.example", Type::a));
  udp.ask(make_query("api.blue.example", Type::a));
  udp.ask(make_query("api.blue.example", Type{999}));
  TcpClient tcp(io, bound());
  tcp.send(TcpClient::frame(make_query("api.blue.example", Type::aaaa)));
  tcp.receive();
  const ServerStats stats = server->stats();
  std::vector<std::string> counted;
  for (const auto& r : stats.requests)
    counted.push_back(r.proto + ' ' + std::to_string(r.family) + ' ' + r.type + ' ' + std::to_string(r.count));
  EXPECT_EQ(counted, (std::vector<std::string>{"udp 1 A 2", "udp 1 other 1", "tcp 1 AAAA 1"}));
  EXPECT_EQ(std::accumulate(stats.durations.counts.begin(), stats.durations.counts.end(), std::uint64_t{0}), 4U);
  EXPECT_GT(stats.durations.sum_seconds, 0);
}

TEST_F(DnsServer, ATcpClientThatDoesNotReadIsNotReadFrom) {
  Config config = config_with();
  config.views[0].zones.push_back(large_zone());
  start(config);
  TcpClient client(io, bound());
  Bytes all;
  const Bytes query = TcpClient::frame(make_query("many.large.example", Type::a));
  for (int i = 0; i < 200; ++i) all.insert(all.end(), query.begin(), query.end());
  std::size_t sent = 0;
  std::uint64_t answered = 0;
  // Until neither the client can send nor the server takes any more.
  for (int quiet = 0; quiet < 50; ++quiet) {
    boost::system::error_code ec;
    sent += client.socket.write_some(test::asio::buffer(all), ec);
    test::run_ready(io);
    if (server->stats().queries_tcp != answered) quiet = 0;
    answered = server->stats().queries_tcp;
    ASSERT_LT(sent, 100'000'000U) << "the server reads without end";
  }
  EXPECT_GT(answered, 0U);
  EXPECT_LT(answered, sent / query.size());
  clock.advance(11s);
  EXPECT_TRUE(test::run_until(io, [&] { return server->stats().tcp_connections == 0; })) << "and is dropped in time";
}

}  // namespace
}  // namespace hcpnet::dns
