// SPDX-License-Identifier: Apache-2.0
// Stock clients, dig and kdig, against a server on loopback. A client that is not installed is a failure that names it.
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "dns/server_support.hpp"

namespace hcpnet::dns {
namespace {

/// What a command prints.
std::string run(const std::string& command) {
  std::string text;
  FILE* output = popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) return text;
  std::array<char, 4096> chunk;
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), output) != nullptr) text += chunk.data();
  pclose(output);
  return text;
}

/// The event loop in a thread of its own, and a server on the system's clock.
class DnsClients : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    config.listeners = {Endpoint{Ipv4(127, 0, 0, 1), 53}};
    config.views = {test::view_of({test::load_case_zone("zone-hcp1.txt")})};
    ServerOptions options;
    options.port_map[53] = 0;
    server = std::make_unique<Server>(io.get_executor(), options);
    server->start(std::move(config));
    port = std::to_string(server->listeners().at(0).bound.port);
    loop = std::thread([this] { io.run(); });
  }
  void TearDown() override {
    boost::asio::post(io, [this] { server->stop([this] { work.reset(); }); });
    loop.join();
  }
  /// Arguments as both clients take them.
  std::string ask(const std::string& client, const std::string& arguments) const {
    return run(client + " @127.0.0.1 -p " + port + " +timeout=5 +retry=0 " + arguments);
  }
  static bool is_missing(const std::string& client) {
    return std::system(("command -v " + client + " >/dev/null").c_str()) != 0;
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::unique_ptr<Server> server;
  std::string port;
  std::thread loop;
};

class DnsClientsEach : public DnsClients, public testing::WithParamInterface<const char*> {};

TEST_P(DnsClientsEach, UnderstandsEveryKindOfAnswer) {
  const std::string client = GetParam();
  if (is_missing(client)) FAIL() << client << " is not installed";
  EXPECT_EQ(ask(client, "+short api.hcp1.example.com A"), "192.168.100.4\n");
  EXPECT_EQ(ask(client, "+short X.y.APPS.hcp1.example.com A"), "192.168.100.4\n");
  EXPECT_EQ(ask(client, "+short dual.hcp1.example.com AAAA"), "2001:db8:100::20\n");
  EXPECT_EQ(ask(client, "+short _etcd-server-ssl._tcp.hcp1.example.com SRV"), "0 10 2380 api.hcp1.example.com.\n");
  EXPECT_EQ(ask(client, "+short in.hcp1.example.com A"), "api.hcp1.example.com.\n192.168.100.4\n");
  EXPECT_EQ(ask(client, "+short +tcp api.hcp1.example.com A"), "192.168.100.4\n");
  EXPECT_NE(ask(client, "nope.hcp1.example.com A").find("NXDOMAIN"), std::string::npos);
  EXPECT_NE(ask(client, "other.test A").find("REFUSED"), std::string::npos);
}

TEST_P(DnsClientsEach, RetriesOverTcpWhenTheReplyIsCut) {
  const std::string client = GetParam();
  if (is_missing(client)) FAIL() << client << " is not installed";
  const std::string many = ask(client, "+noedns +short many.hcp1.example.com A");
  std::size_t addresses = 0;
  for (std::size_t at = many.find("10.0.0."); at != std::string::npos; at = many.find("10.0.0.", at + 1)) ++addresses;
  EXPECT_EQ(addresses, 40U) << many;
}

INSTANTIATE_TEST_SUITE_P(Dns, DnsClientsEach, testing::Values("dig", "kdig"),
                         [](const auto& param) { return std::string(param.param); });

TEST_F(DnsClients, DigSeesAnAuthoritativeNegativeAnswerWithItsSoa) {
  if (is_missing("dig")) FAIL() << "dig is not installed";
  const std::string text = ask("dig", "+noall +comments +authority api.hcp1.example.com AAAA");
  EXPECT_NE(text.find("status: NOERROR"), std::string::npos) << text;
  EXPECT_NE(text.find("flags: qr aa rd;"), std::string::npos) << text;
  EXPECT_NE(text.find("hcp1.example.com.\t60\tIN\tSOA\tns1.hcp1.example.com. hostmaster.hcp1.example.com. 2026010101 "
                      "3600 600 86400 60"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("malformed"), std::string::npos);
}

TEST_F(DnsClients, DigAsksSeveralQuestionsOnOneConnection) {
  if (is_missing("dig")) FAIL() << "dig is not installed";
  EXPECT_EQ(ask("dig", "+tcp +keepopen +short api.hcp1.example.com A ns1.hcp1.example.com A"),
            "192.168.100.4\n192.168.100.3\n");
}

}  // namespace
}  // namespace hcpnet::dns
