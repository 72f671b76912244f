// SPDX-License-Identifier: Apache-2.0
#include "runtime/http_connection.hpp"

#include <gmock/gmock.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>
#include <vector>

namespace hcpnet::runtime {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using testing::ElementsAre;
using testing::HasSubstr;

/// Takes one connection after the other, and on each gives its answers, one per request; then it closes it.
class ScriptedServer {
 public:
  using Answers = std::vector<std::string>;
  explicit ScriptedServer(std::vector<Answers> connections)
      : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        thread_([this, script = std::move(connections)] {
          for (const Answers& answers : script) serve(answers);
        }) {}
  ~ScriptedServer() { thread_.join(); }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] HttpPeer peer() const { return {false, "127.0.0.1", acceptor_.local_endpoint().port()}; }
  /// What was asked; after the last connection is over.
  [[nodiscard]] const std::vector<std::string>& requests() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return requests_;
  }

 private:
  void serve(const Answers& answers) {
    tcp::socket socket = acceptor_.accept();
    std::string text;
    for (const std::string& answer : answers) {
      error_code error;
      const std::size_t head = asio::read_until(socket, asio::dynamic_buffer(text), "\r\n\r\n", error);
      if (error) return;
      const std::size_t at = text.find("Content-Length: ");
      const std::size_t body = std::stoul(text.substr(at + 16));
      if (text.size() < head + body)
        asio::read(socket, asio::dynamic_buffer(text), asio::transfer_exactly(head + body - text.size()), error);
      requests_.push_back(text.substr(0, head + body));
      text.erase(0, head + body);
      asio::write(socket, asio::buffer(answer), error);
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string with_length(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class HttpConnectionTest : public testing::Test {
 protected:
  ~HttpConnectionTest() override {
    if (connection_) connection_->close();
    io_.poll();
  }
  void connect(HttpPeer peer, HttpConnectionLimits limits = {}) {
    connection_ = std::make_shared<HttpConnection>(io_.get_executor(), timers_, std::move(peer), limits);
  }
  HttpReply post(const std::string& body = "{}") {
    std::optional<HttpReply> reply;
    connection_->post("/v3/kv/range", "", body, [&](HttpReply r) { reply = std::move(r); });
    EXPECT_FALSE(reply) << "nobody is called back before he has called";
    while (!reply) io_.run_one();
    return *reply;
  }
  /// Lines, and then why there are no more.
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    bool is_over = false;
    connection_->stream(
        "/v3/watch", "token", "{}", [&](std::string_view line) { all.emplace_back(line); },
        [&](const std::string& why) {
          all.push_back("over: " + why);
          is_over = true;
        });
    while (!is_over) io_.run_one();
    return all;
  }

  asio::io_context io_{1};
  TimerQueue timers_{io_.get_executor(), system_clock()};
  std::shared_ptr<HttpConnection> connection_;
};

TEST_F(HttpConnectionTest, AsksTwiceOverOneConnection) {
  ScriptedServer server({{with_length("one"),
                          "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "2\r\ntw\r\n1\r\no\r\n0\r\n\r\n"}});
  connect(server.peer());
  const HttpReply first = post("{\"a\":1}");
  EXPECT_EQ(first.problem, "");
  EXPECT_EQ(first.status, 200U);
  EXPECT_EQ(first.body, "one");
  const HttpReply second = post();
  EXPECT_EQ(second.status, 404U);
  EXPECT_EQ(second.body, "two");
  const std::string host = "127.0.0.1:" + std::to_string(server.peer().port);
  EXPECT_THAT(server.requests(),
              ElementsAre("POST /v3/kv/range HTTP/1.1\r\nHost: " + host +
                              "\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
                          HasSubstr("Content-Length: 2\r\n\r\n{}")));
}

TEST_F(HttpConnectionTest, ReadsMoreThanOneBufferFull) {
  const std::string body(100'000, 'x');
  ScriptedServer server({{with_length(body)}});
  connect(server.peer());
  EXPECT_EQ(post().body, body);
}

TEST_F(HttpConnectionTest, WhatWasClosedMeanwhileIsMadeAnew) {
  ScriptedServer server({{with_length("one")}, {with_length("two")}});
  connect(server.peer());
  EXPECT_EQ(post().body, "one");
  EXPECT_EQ(post().body, "two");
}

TEST_F(HttpConnectionTest, WhatTheServerClosesIsMadeAnew) {
  ScriptedServer server(
      {{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none"}, {with_length("two")}});
  connect(server.peer());
  EXPECT_EQ(post().body, "one");
  EXPECT_EQ(post().body, "two");
}

TEST_F(HttpConnectionTest, AnAnswerThatBreaksOffIsNone) {
  ScriptedServer server({{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}});
  connect(server.peer());
  const HttpReply reply = post();
  EXPECT_THAT(reply.problem, HasSubstr("broke off"));
  EXPECT_EQ(reply.status, 0U);
}

TEST_F(HttpConnectionTest, WhatIsNoHttpIsRefused) {
  ScriptedServer server({{"SSH-2.0-OpenSSH\r\n\r\n"}});
  connect(server.peer());
  EXPECT_THAT(post().problem, HasSubstr("no HTTP answer"));
}

TEST_F(HttpConnectionTest, TooLargeAnAnswerIsRefused) {
  HttpConnectionLimits limits;
  limits.max_reply_bytes = 10;
  ScriptedServer server({{with_length("12345678901")},
                         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n"},
                         {"HTTP/1.1 200 OK\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"},
                         {with_length("1234567890")}});
  connect(server.peer(), limits);
  EXPECT_THAT(post().problem, HasSubstr("no HTTP answer"));
  EXPECT_THAT(post().problem, HasSubstr("no HTTP answer"));
  EXPECT_THAT(post().problem, HasSubstr("no HTTP answer"));
  EXPECT_EQ(post().body, "1234567890");
}

TEST_F(HttpConnectionTest, NobodyThereIsAProblem) {
  const std::uint16_t port =
      tcp::acceptor(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)).local_endpoint().port();
  connect({false, "127.0.0.1", port});
  EXPECT_THAT(post().problem, HasSubstr("no connection"));
}

TEST_F(HttpConnectionTest, SilenceEndsInTime) {
  const tcp::acceptor silent(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  ManualClock clock;
  TimerQueue timers(io_.get_executor(), clock);
  const auto connection = std::make_shared<HttpConnection>(
      io_.get_executor(), timers, HttpPeer{false, "127.0.0.1", silent.local_endpoint().port()});
  std::string problem;
  connection->post("/", "", "{}", [&](const HttpReply& reply) { problem = reply.problem; });
  clock.advance(HttpConnectionLimits().timeout - std::chrono::milliseconds(1));
  EXPECT_EQ(problem, "");
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(problem, "no answer in time");
  io_.poll();
}

TEST_F(HttpConnectionTest, FilesForTlsThatAreNotThereAreAProblem) {
  HttpPeer peer{true, "127.0.0.1", 1};
  peer.ca_file = "/no/such/file";
  connect(peer);
  EXPECT_THAT(post().problem, HasSubstr("the files for TLS"));
}

TEST_F(HttpConnectionTest, AStreamIsReadLineByLine) {
  ScriptedServer server(
      {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "6\r\none\ntw\r\n2\r\no\n\r\n4\r\nrest\r\n0\r\n\r\n"}});
  connect(server.peer());
  EXPECT_THAT(lines(), ElementsAre("one", "two", "over: the answer has ended, with status 200: rest"));
  EXPECT_THAT(server.requests().at(0), HasSubstr("\r\nAuthorization: token\r\n"));
}

TEST_F(HttpConnectionTest, AStreamThatIsRefusedSaysWhy) {
  ScriptedServer server({{with_length("{\"message\":\"no\"}\n", "403 Forbidden")}});
  connect(server.peer());
  EXPECT_THAT(lines(), ElementsAre("over: the answer has ended, with status 403: {\"message\":\"no\"}\n"));
}

TEST_F(HttpConnectionTest, ALineHasALimit) {
  HttpConnectionLimits limits;
  limits.max_line_bytes = 5;
  ScriptedServer server(
      {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n6\r\n123456\r\n0\r\n\r\n"}});
  connect(server.peer(), limits);
  EXPECT_THAT(lines(), ElementsAre("one", "over: a line of the answer is too long"));
}

TEST_F(HttpConnectionTest, CloseIsSilent) {
  ScriptedServer server({{with_length("one")}});
  connect(server.peer());
  connection_->post("/", "", "{}", [](const HttpReply&) { ADD_FAILURE() << "called back"; });
  connection_->close();
  connection_->post("/", "", "{}", [&](const HttpReply& reply) {
    EXPECT_EQ(reply.body, "one");
    io_.stop();
  });
  io_.run();
}

}  // namespace
}  // namespace hcpnet::runtime
