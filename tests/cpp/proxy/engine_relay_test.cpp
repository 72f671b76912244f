// SPDX-License-Identifier: Apache-2.0
// What happens to the bytes, and how each kind of end is passed on.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <random>
#include <thread>

#include "proxy/engine_sockets.hpp"
#include "proxy/proxy_test.hpp"
#include "proxy/relay.hpp"
#include "support/vectors.hpp"

namespace hcpnet::proxy {
namespace {

namespace error = boost::asio::error;
using test::Peer;
using test::Server;

std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}
std::string as_string(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

class RelayTest : public test::ProxyTest {
 protected:
  void SetUp() override { start({{"a.test", {server.endpoint()}}}); }
  /// The backend does not read until the client has reset its connection.
  void expect_reset_seen_while_held(Peer& client) {
    const std::string chunk(1 << 20, 'x');
    ASSERT_TRUE(run_until([&] {
      client.send_some(chunk);
      return engine->stats().buffers_in_use == 1;
    }));
    client.reset();
    expect_all_closed();
    EXPECT_EQ(closed_for("client_reset"), 1u);
  }
  Server server{*this};
};

TEST_F(RelayTest, TheBackendGetsExactlyTheBytesOfTheClient) {
  auto [client, backend] = tunnel("a.test", server);
  expect_works(client, backend);
}

TEST_F(RelayTest, BytesAfterTheHelloInTheSameSegmentAreNotLost) {  // TLS-29
  const std::string stream = as_string(test::read_hex("tls/TLS-29-early-data.hex"));
  RouteConfig config = test::config_for({{"api.hcp1.example.com", {server.endpoint()}}});
  start(config);
  Peer from = client();
  from.send(stream);
  from.finish();
  EXPECT_EQ(server.accept().receive_all(), stream);
}

TEST_F(RelayTest, AHelloInTwoSegmentsIsRoutedByTheSecond) {  // TLS-06
  RouteConfig config = test::config_for({{"*.apps.hcp1.example.com", {server.endpoint()}}});
  start(config);
  const std::string first = as_string(test::read_hex("tls/TLS-06-pq-0.hex"));
  const std::string second = as_string(test::read_hex("tls/TLS-06-pq-1.hex"));
  Peer from = client();
  from.send(first);
  ASSERT_TRUE(run_until([&] { return engine->stats().active == 1; }));
  run_ready();
  EXPECT_FALSE(server.has_connection());
  from.send(second);
  EXPECT_EQ(server.accept().receive(first.size() + second.size()), first + second);
}

TEST_F(RelayTest, MegabytesBothWaysAtOnceArriveUnchanged) {
  auto [client, backend] = tunnel("a.test", server);
  const std::string up = random_bytes(5'000'000, 1), down = random_bytes(7'000'000, 2);
  std::string got_up, got_down;
  std::size_t sent_up = 0, sent_down = 0;
  ASSERT_TRUE(run_until([&] {
    sent_up += client.send_some(std::string_view(up).substr(sent_up));
    sent_down += backend.send_some(std::string_view(down).substr(sent_down));
    client.receive_some(got_down);
    backend.receive_some(got_up);
    return got_up.size() == up.size() && got_down.size() == down.size();
  }));
  EXPECT_TRUE(got_up == up);
  EXPECT_TRUE(got_down == down);
  client.finish();
  EXPECT_EQ(backend.end(), error::eof);
  backend.close();
  EXPECT_EQ(client.end(), error::eof);
  expect_all_closed();
  EXPECT_EQ(closed("bytes_to_client"), std::vector<std::string>{"7000000"});
  EXPECT_EQ(engine->stats().bytes_to_client, 7'000'000u);
  EXPECT_EQ(closed("reason"), std::vector<std::string>{"finished"});
}

TEST_F(RelayTest, AClientThatFinishesFirstStillGetsTheWholeAnswer) {  // PXY-01
  auto [client, backend] = tunnel("a.test", server);
  client.send(std::string("request"));
  client.finish();
  EXPECT_EQ(backend.receive(7), "request");
  EXPECT_EQ(backend.end(), error::eof);
  clock.advance(std::chrono::hours(1));  // however long the backend thinks
  run_ready();
  const std::string answer = random_bytes(1 << 20, 3);
  std::string got;
  std::size_t sent = 0;
  ASSERT_TRUE(run_until([&] {
    sent += backend.send_some(std::string_view(answer).substr(sent));
    client.receive_some(got);
    return got.size() == answer.size();
  }));
  EXPECT_TRUE(got == answer);
  backend.close();
  EXPECT_EQ(client.end(), error::eof);
  expect_all_closed();
  EXPECT_EQ(closed_for("finished"), 1u);
}

TEST_F(RelayTest, ABackendThatFinishesFirstStillGetsEverything) {
  auto [client, backend] = tunnel("a.test", server);
  backend.send(std::string("bye"));
  backend.finish();
  EXPECT_EQ(client.receive(3), "bye");
  EXPECT_EQ(client.end(), error::eof);
  client.send(std::string("and more"));
  EXPECT_EQ(backend.receive(8), "and more");
  client.close();
  EXPECT_EQ(backend.end(), error::eof);
  expect_all_closed();
}

TEST_F(RelayTest, AResetOfTheBackendReachesTheClientAsAReset) {  // PXY-03
  auto [client, backend] = tunnel("a.test", server);
  backend.send(std::string(100, 'x'));
  EXPECT_EQ(client.receive(100), std::string(100, 'x'));
  backend.reset();
  EXPECT_EQ(client.end(), error::connection_reset);
  expect_all_closed();
  EXPECT_EQ(engine->stats().upstream_resets, 1u);
  EXPECT_EQ(closed("reason"), std::vector<std::string>{"backend_reset"});
}

TEST_F(RelayTest, BytesBeforeAResetAreDelivered) {
  auto [client, backend] = tunnel("a.test", server);
  backend.send(std::string(100, 'x'));
  backend.reset();
  EXPECT_EQ(client.receive(100), std::string(100, 'x'));
  EXPECT_EQ(client.end(), error::connection_reset);
}

TEST_F(RelayTest, AResetOfTheClientReachesTheBackendAsAReset) {
  auto [client, backend] = tunnel("a.test", server);
  client.reset();
  EXPECT_EQ(backend.end(), error::connection_reset);
  expect_all_closed();
  EXPECT_EQ(engine->stats().downstream_resets, 1u);
}

TEST_F(RelayTest, AResetAfterAHalfCloseIsSeen) {
  auto [client, backend] = tunnel("a.test", server);
  client.finish();
  EXPECT_EQ(backend.end(), error::eof);
  client.reset();  // nobody reads that side any more
  expect_all_closed();
  EXPECT_EQ(closed_for("client_reset"), 1u);
}

TEST_F(RelayTest, AResetWhileTheOtherSideDoesNotReadIsSeen) {
  auto [client, backend] = tunnel("a.test", server);
  expect_reset_seen_while_held(client);
}

TEST_F(RelayTest, AResetAfterAnUrgentByteIsSeen) {
  auto [client, backend] = tunnel("a.test", server);
  client.socket().send(boost::asio::buffer("!", 1), boost::asio::socket_base::message_out_of_band);
  expect_reset_seen_while_held(client);
}

/// A read ends before the urgent byte, so that a short one does not mean that there is no more.
TEST_F(RelayTest, BytesBehindAnUrgentByteArrive) {
  auto [client, backend] = tunnel("a.test", server);
  for (int i = 0; i < 3; ++i) {
    client.socket().send(boost::asio::buffer("abc", 3));
    client.socket().send(boost::asio::buffer("!", 1), boost::asio::socket_base::message_out_of_band);
    client.socket().send(boost::asio::buffer("def", 3));
    EXPECT_EQ(backend.receive(6), "abcdef");
  }
  expect_works(client, backend);
}

TEST_F(RelayTest, AnAnswerBeforeAResetSurvivesUnreadRequests) {
  auto [client, backend] = tunnel("a.test", server);
  client.send(std::string("request"));
  ASSERT_TRUE(run_until([&] { return backend.socket().available() == 7; }));
  backend.send(std::string("refused"));
  backend.close();  // with bytes unread: the kernel resets
  EXPECT_EQ(client.receive(7), "refused");
  EXPECT_EQ(client.end(), error::connection_reset);
}

TEST_F(RelayTest, ASlowReaderStopsItsSenderAndCostsOneBuffer) {
  auto [client, backend] = tunnel("a.test", server);
  const std::string chunk = random_bytes(1 << 20, 4);
  std::string sent;
  // Until the engine is stalled and the kernel takes no more from the backend.
  int refusals = 0;
  ASSERT_TRUE(run_until([&] {
    const std::size_t count = backend.send_some(std::string_view(chunk).substr(sent.size() % chunk.size()));
    sent.append(chunk, sent.size() % chunk.size(), count);
    refusals = count == 0 ? refusals + 1 : 0;
    return refusals == 20 && engine->stats().buffers_in_use == 1;
  }));
  EXPECT_LT(sent.size(), 64u << 20) << "kernel buffers and one of ours, not everything";
  std::string got;
  ASSERT_TRUE(run_until([&] {
    client.receive_some(got);
    return got.size() == sent.size();
  }));
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(engine->stats().buffers_in_use, 0u);
  expect_works(client, backend);
}

/// For this thread, and for good.
bool forbid_splicing() {
  std::array<sock_filter, 4> filter{{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                     {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_splice},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(RelayTest, WhereSplicingIsForbiddenBytesAreCopied) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  start({{"a.test", {server.endpoint()}}});
  std::vector<std::pair<Peer, Peer>> tunnels;
  for (std::uint32_t i = 0; i < kSpliceFromStreams + 8; ++i) tunnels.push_back(tunnel("a.test", server));
  const std::string sent = random_bytes(1 << 19, 7);
  std::vector<std::size_t> done(tunnels.size());
  std::vector<std::string> received(tunnels.size());
  bool is_forbidden = false;
  std::thread([&] {
    is_forbidden = forbid_splicing();
    run_until([&] {
      bool is_all = true;
      for (std::size_t i = 0; i < tunnels.size(); ++i) {
        done[i] += tunnels[i].second.send_some(std::string_view(sent).substr(done[i]));
        tunnels[i].first.receive_some(received[i]);
        is_all = is_all && received[i].size() == sent.size();
      }
      return is_all;
    });
  }).join();
  std::signal(SIGPIPE, before);
  ASSERT_TRUE(is_forbidden) << "needs seccomp, and no privilege";
  for (const std::string& got : received) EXPECT_TRUE(got == sent);
  const auto is_told = [](const LogRecord& record) {
    return record.message == "splice(2) is refused here, so all bytes are copied";
  };
  EXPECT_EQ(std::ranges::count_if(records, is_told), 1);
}

TEST_F(RelayTest, OneStreamThatFillsABufferNowAndThenIsNotTakenForMany) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  start({{"a.test", {server.endpoint()}}});
  auto [client, backend] = tunnel("a.test", server);
  const std::string answer = random_bytes(100 * 1024, 8);  // a full buffer, and one that is not
  const std::size_t open = test::descriptors().size();
  for (std::uint32_t i = 0; i < 3 * kSpliceFromStreams; ++i) {
    backend.send(answer);
    EXPECT_TRUE(client.receive(answer.size()) == answer);
  }
  EXPECT_LE(test::descriptors().size(), open) << "a pipe was made, so it is spliced";
  std::signal(SIGPIPE, before);
}

TEST_F(RelayTest, AnIdleTunnelHoldsNoBufferAndHasNoDeadline) {
  auto [client, backend] = tunnel("a.test", server);
  expect_works(client, backend);
  EXPECT_EQ(engine->stats().buffers_in_use, 0u);
  clock.advance(std::chrono::hours(240));
  run_ready();
  expect_works(client, backend);
}

TEST_F(RelayTest, TrafficInEitherDirectionKeepsATunnelFromIdling) {  // PXY-05
  RouteConfig config = test::config_for({{"a.test", {server.endpoint()}}});
  config.backends[0].idle_timeout = std::chrono::seconds(2);
  start(config);
  auto [client, backend] = tunnel("a.test", server);
  for (int second = 0; second < 10; ++second) {
    backend.send(std::string(1, 'x'));
    EXPECT_EQ(client.receive(1), "x");
    clock.advance(std::chrono::seconds(1));
  }
  for (int second = 0; second < 10; ++second) {
    client.send(std::string(1, 'y'));
    EXPECT_EQ(backend.receive(1), "y");
    clock.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(engine->stats().active, 1u);
  clock.advance(std::chrono::milliseconds(1001));
  EXPECT_EQ(client.end(), error::eof);
  EXPECT_EQ(engine->stats().idle_timeouts, 1u);
  EXPECT_EQ(closed("reason"), std::vector<std::string>{"idle_timeout"});
}

}  // namespace
}  // namespace hcpnet::proxy
