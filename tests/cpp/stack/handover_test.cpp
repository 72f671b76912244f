// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <hcpnet/clock.hpp>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/stack.hpp>
#include <map>
#include <memory>

#include "runtime/timer_queue.hpp"
#include "stack/handover_server.hpp"
#include "stack/handover_wire.hpp"

namespace hcpnet {
namespace {

constexpr const char* kSpec = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: hcp}
spec:
  networkConfig: {cidr: 127.85.0.0/24, gateway: 127.85.0.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: 127.85.0.2, rangeStart: 127.85.0.100, rangeEnd: 127.85.0.149}
    dns: {serverIP: 127.85.0.3, clusterName: blue, baseDomain: example.com}
    proxy: {serverIP: 127.85.0.4, controlPlaneNamespace: clusters-blue, internalProxyService: 198.51.100.10}
---
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {name: vlan, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan}, workers: )";

class HandoverTest : public ::testing::Test {
 protected:
  HandoverTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hcpnet-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    write(2);
  }
  ~HandoverTest() override { std::filesystem::remove_all(folder); }

  void write(int workers) const { std::ofstream(folder / "set.yaml") << kSpec << workers << "}\n"; }
  [[nodiscard]] std::string socket_path() const { return (folder / "handover.sock").string(); }

  StackOptions options() {
    StackOptions o;
    o.files = {(folder / "set.yaml").string()};
    o.state_dir = folder.string();
    o.port_map = {{67, 0}, {53, 0}, {443, 0}, {6443, 0}};
    o.handover_socket = socket_path();
    o.admin_socket = (folder / "admin.sock").string();
    o.on_event = [this](const StackEvent& event) {
      if (event.kind == StackEvent::Kind::stopped) stopped.set_value();
    };
    return o;
  }
  StackOptions successor() {
    StackOptions o = options();
    o.takes_over = true;
    o.on_event = {};
    return o;
  }

  std::filesystem::path folder;
  std::promise<void> stopped;
};

std::map<std::pair<std::string, Endpoint>, Endpoint> places(const Stack& stack) {
  std::map<std::pair<std::string, Endpoint>, Endpoint> all;
  for (const StackListener& l : stack.listeners())
    if (l.service != "dhcp") all.emplace(std::pair(l.service, l.configured), l.bound);
  return all;
}

bool accepts(const Endpoint& address) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  to.sin_addr.s_addr = htonl(address.address.v4().value());
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

TEST_F(HandoverTest, ASuccessorHasTheSamePlacesAndTheOtherEnds) {
  for (const int workers : {1, 4}) {
    Stack old(options());
    old.start();
    const auto before = places(old);
    write(workers);
    Stack next(successor());
    next.start();
    EXPECT_EQ(places(next), before);
    EXPECT_TRUE(next.troubles().empty());
    stopped.get_future().wait();
    stopped = std::promise<void>();
    EXPECT_FALSE(old.is_running());
    for (const auto& [key, place] : before) {
      if (key.first != "proxy") continue;
      EXPECT_TRUE(accepts(place)) << place.to_string();
    }
    EXPECT_TRUE(std::filesystem::exists(socket_path()));
    next.stop();
    EXPECT_FALSE(std::filesystem::exists(socket_path()));
  }
}

TEST_F(HandoverTest, AFailedSuccessorChangesNothing) {
  Stack old(options());
  old.start();
  const auto before = places(old);
  StackOptions wrong = successor();
  wrong.observe = Endpoint{Ipv4(192, 0, 2, 1), 1};  // nobody's address here
  EXPECT_THROW(Stack(wrong).start(), boost::system::system_error);
  while (!old.reload())  // it takes back what it had let go
    ;
  EXPECT_EQ(places(old), before);
  Stack next(successor());
  next.start();
  EXPECT_EQ(places(next), before);
  stopped.get_future().wait();
}

TEST_F(HandoverTest, AFailedSuccessorMayTryAgain) {
  Stack old(options());
  old.start();
  const auto before = places(old);
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  StackOptions o = successor();
  o.observe = Endpoint{Ipv4(127, 0, 0, 1), taken.local_endpoint().port()};
  Stack next(o);
  EXPECT_THROW(next.start(), boost::system::system_error);
  while (!old.reload())  // it takes back what it had let go
    ;
  taken.close();
  next.start();
  auto after = places(next);
  std::erase_if(after, [](const auto& place) { return place.first.first == "observe"; });
  EXPECT_EQ(after, before);
  stopped.get_future().wait();
}

TEST_F(HandoverTest, OnlyOneTakesOver) {
  Stack old(options());
  old.start();
  const FileDescriptor first = handover::make_socket();
  ASSERT_EQ(handover::call(handover::Verb::connect, first.get(), socket_path()), 0);
  ASSERT_TRUE(handover::send(first.get(), handover::kTake));
  ASSERT_TRUE(handover::receive(first.get()));
  EXPECT_FALSE(old.reload());
  EXPECT_THROW(Stack(successor()).start(), std::runtime_error);
}

TEST_F(HandoverTest, WithoutAPredecessorItStartsAlone) {
  Stack next(successor());
  next.start();
  EXPECT_TRUE(next.is_running());
}

TEST_F(HandoverTest, TheSocketIsPrivate) {
  Stack old(options());
  old.start();
  struct stat info{};
  ASSERT_EQ(::stat(socket_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(HandoverTest, WithoutDescriptorsItWaitsInsteadOfSpinning) {
  boost::asio::io_context io{1};
  ManualClock clock;
  runtime::TimerQueue timers(io.get_executor(), clock);
  HandoverServer::Owner owner;
  owner.sockets = [] { return std::vector<ListeningSocket>{}; };
  owner.take_back = [] {};
  HandoverServer server(io.get_executor(), timers, owner, {});
  server.open(socket_path());
  server.start();
  const FileDescriptor client = handover::make_socket();
  ASSERT_EQ(handover::call(handover::Verb::connect, client.get(), socket_path()), 0);
  ASSERT_EQ(::fcntl(client.get(), F_SETFL, O_NONBLOCK), 0);
  ASSERT_TRUE(handover::send(client.get(), handover::kTake));
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{0, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::size_t steps = 0;
  while (steps < 100 && io.poll_one() > 0) ++steps;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_LT(steps, 100u);
  clock.advance(std::chrono::milliseconds(100));
  io.restart();
  io.poll();
  const auto answer = handover::receive(client.get());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, handover::kAll);
}

TEST(HandoverWire, DescriptionsAreReadBack) {
  for (const SocketKind kind : {SocketKind::stream, SocketKind::datagram})
    for (const char* text : {"192.0.2.1:443", "[2001:db8::1]:53"}) {
      const auto described = handover::parse_description(handover::describe(kind, *parse_endpoint(text)));
      ASSERT_TRUE(described);
      EXPECT_EQ(described->kind, kind);
      EXPECT_EQ(described->configured.to_string(), text);
    }
  for (const char* wrong :
       {"", "socket", "socket stream", "socket raw 192.0.2.1:443", "socket stream 192.0.2.1", "all"})
    EXPECT_FALSE(handover::parse_description(wrong)) << wrong;
}

TEST(InheritedSockets, AreTakenByKindAndAddressInOrder) {
  const auto open = [] { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); };
  InheritedSockets sockets;
  const Endpoint here{Ipv4(192, 0, 2, 1), 443};
  const Endpoint there{Ipv4(192, 0, 2, 2), 443};
  std::vector<int> numbers;
  for (int i = 0; i < 3; ++i) {
    FileDescriptor socket = open();
    numbers.push_back(socket.get());
    sockets.add(SocketKind::stream, here, std::move(socket));
  }
  sockets.add(SocketKind::datagram, here, open());
  EXPECT_TRUE(sockets.take(SocketKind::stream, there).empty());
  const auto taken = sockets.take(SocketKind::stream, here);
  ASSERT_EQ(taken.size(), 3u);
  for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i].get(), numbers[i]);
  EXPECT_EQ(sockets.size(), 1u);
  EXPECT_TRUE(sockets.take(SocketKind::stream, here).empty());
}

TEST(InheritedSockets, OfAnotherProcessAreNotTaken) {
  ASSERT_EQ(::setenv("LISTEN_PID", "1", 1), 0);
  ASSERT_EQ(::setenv("LISTEN_FDS", "1", 1), 0);
  InheritedSockets sockets;
  sockets.add_from_service_manager();
  EXPECT_EQ(sockets.size(), 0u);
  EXPECT_EQ(::getenv("LISTEN_FDS"), nullptr);
}

}  // namespace
}  // namespace hcpnet
