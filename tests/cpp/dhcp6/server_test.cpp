// SPDX-License-Identifier: Apache-2.0
// DHCPv6 in the server: sockets, disk and restarts, on ::1.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "dhcp/server_fixture.hpp"
#include "dhcp/temporary_folder.hpp"
#include "dhcp6/packets6.hpp"

namespace hcpnet::dhcp {
namespace {

using test::Bytes6;
using test::find6;
using test::from_hex6;
using test::join6;
using test::option6;

Config both_families() {
  Config config = test::loopback_config();
  dhcp6::Subnet subnet;
  subnet.name = "test/loopback";
  subnet.cidr = parse_cidr("2001:db8::/64").value();
  subnet.interface_address = config.subnets[0].server_id;
  subnet.pool = {parse_ipv6("2001:db8::10").value(), parse_ipv6("2001:db8::1f").value()};
  config.subnets6.push_back(subnet);
  return config;
}

ServerOptions any_port() {
  ServerOptions options;
  options.port_map = {{67, 0}, {547, 0}};
  return options;
}

class Client6 {
 public:
  explicit Client6(std::uint16_t port) : fd_(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in6 server{};
    server.sin6_family = AF_INET6;
    server.sin6_addr = in6addr_loopback;
    server.sin6_port = htons(port);
    if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr*>(&server), sizeof server) != 0)
      throw std::runtime_error("no socket");
  }
  ~Client6() { ::close(fd_); }
  Client6(const Client6&) = delete;
  Client6& operator=(const Client6&) = delete;
  void send(const Bytes6& request) const {
    static_cast<void>(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL));
  }
  /// The next reply; empty when none came in time.
  [[nodiscard]] Bytes6 receive() const {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1) return {};
    Bytes6 buffer(4096);
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    buffer.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return buffer;
  }
  [[nodiscard]] Bytes6 ask(const Bytes6& request) const {
    send(request);
    return receive();
  }

 private:
  int fd_;
};

Bytes6 solicit() {
  return from_hex6("01abcdef 0001 000a 00030001020000000101 0003 000c 000000010000000000000000");
}
Bytes6 request(const Bytes6& server_id) {
  return join6(
      {from_hex6("03abcdef 0001 000a 00030001020000000101 0003 000c 000000010000000000000000"), option6(2, server_id)});
}

std::uint16_t port_of(test::ServerThread& server) {
  return server.run([](Server& s) { return s.bound6().at(0).bound.port; });
}

TEST(Dhcp6Server, LeasesAndItsOwnNameOutliveARestart) {
  const test::TemporaryFolder folder;
  const std::string database = folder.file("leases.db");
  Bytes6 server_id;
  {
    test::ServerThread server(database, both_families(), any_port());
    const Client6 client(port_of(server));
    server_id = find6(client.ask(solicit()), 2);
    ASSERT_FALSE(server_id.empty());
    const Bytes6 reply = client.ask(request(server_id));
    ASSERT_FALSE(reply.empty());
    EXPECT_EQ(reply[0], 7);
    EXPECT_EQ(server.run([](Server& s) { return s.stats().v6.sent["REPLY"]; }), 1u);
    EXPECT_EQ(server.run([](Server& s) { return s.stats().v6.events["bound"]; }), 1u);
    server.stop();
  }
  test::ServerThread server(database, both_families(), any_port());
  const auto leases = server.run([](Server& s) { return s.leases6(); });
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(leases[0].address, parse_ipv6("2001:db8::10"));
  EXPECT_EQ(leases[0].client.mac, parse_mac_address("02:00:00:00:01:01"));
  EXPECT_EQ(leases[0].subnet, "test/loopback");
  const Client6 client(port_of(server));
  EXPECT_EQ(find6(client.ask(solicit()), 2), server_id);
}

/// A lease ends in whole seconds, and this one began late in one.
TEST(Dhcp6Server, GivesNoAddressAwayInTheLastSecondOfItsLease) {
  const test::TemporaryFolder folder;
  ManualClock clock(Clock::SystemTime(std::chrono::milliseconds(1'700'000'000'900)));
  boost::asio::io_context io{1};
  ServerOptions options = any_port();
  options.database = folder.file("leases.db");
  options.clock = &clock;
  Config config = both_families();
  config.subnets6[0].pool.last = config.subnets6[0].pool.first;
  Server server(io.get_executor(), options);
  server.start(config);
  const Client6 client(server.bound6().at(0).bound.port);
  const auto answers = [&] {
    auto sent = server.stats().v6.sent;
    return sent["ADVERTISE"] + sent["REPLY"];
  };
  const auto ask = [&](const Bytes6& message) {
    const std::uint64_t before = answers();
    client.send(message);
    while (answers() == before) io.run_one();
    return client.receive();
  };
  const auto has_address = [](const Bytes6& answer) { return !find6(find6(answer, 3), 5, 12).empty(); };
  ASSERT_TRUE(has_address(ask(request(find6(ask(solicit()), 2)))));
  const Bytes6 of_another = from_hex6("01abcdef 0001 000a 00030001020000000102 0003 000c 000000010000000000000000");
  clock.advance(std::chrono::hours(1) - std::chrono::milliseconds(100));
  EXPECT_FALSE(has_address(ask(of_another))) << "its client may use it for another 100 ms";
  clock.advance(std::chrono::milliseconds(1100));
  EXPECT_TRUE(has_address(ask(of_another)));
}

TEST(Dhcp6Server, AWrongServerNameFileIsRefused) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("server-duid")) << "nothing\n";
  boost::asio::io_context io;
  ServerOptions options = any_port();
  options.database = folder.file("leases.db");
  Server server(io.get_executor(), options);
  EXPECT_THROW(server.start(both_families()), std::runtime_error);
}

TEST(Dhcp6Server, HostileBytesAreCountedAndNotAnswered) {
  const test::TemporaryFolder folder;
  test::ServerThread server(folder.file("leases.db"), both_families(), any_port());
  const Client6 client(port_of(server));
  for (const char* hex : {"01", "01abcdef0001", "01abcdef00010001", "0c00", "ffabcdef"}) client.send(from_hex6(hex));
  EXPECT_EQ(client.ask(solicit()).at(0), 2) << "the first answer is that of the first good message";
  const auto dropped = server.run([](Server& s) { return s.stats().v6.dropped; });
  EXPECT_EQ(dropped.at("too_short"), 2u);
  EXPECT_EQ(dropped.at("malformed"), 2u);
  EXPECT_EQ(dropped.at("not_a_request"), 1u);
}

}  // namespace
}  // namespace hcpnet::dhcp
