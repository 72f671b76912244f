// SPDX-License-Identifier: Apache-2.0
#include "proxy/admission.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

namespace hcpnet::proxy {
namespace {

/// Two workers that judge one after the other, before either has a connection to show for it.
class AdmissionTest : public testing::Test {
 protected:
  std::shared_ptr<Worker> worker(std::size_t max_connections) {
    EngineOptions options;
    options.max_connections = max_connections;
    options.resolve = [](const std::string&, std::uint16_t, const Resolved&) {};
    return std::make_shared<Worker>(io.get_executor(), options, TcpOptions{}, shared);
  }
  bool admits(const std::shared_ptr<Worker>& judge) {
    const auto state = shared->listener(listener.address, protocol_of(listener.kind));
    return take_room(*judge, listener, *state, {Ipv4(192, 0, 2, 1), 1});
  }

  boost::asio::io_context io{1};
  std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
  Listener listener{{Ipv4(127, 0, 0, 1), 443}};
};

TEST_F(AdmissionTest, WorkersCannotPassTheLimitTogether) {
  const auto one = worker(2), other = worker(2);
  EXPECT_TRUE(admits(one));
  EXPECT_TRUE(admits(other));
  EXPECT_FALSE(admits(one));
  EXPECT_FALSE(admits(other));
  EXPECT_EQ(shared->active.load(), 2u);
  EXPECT_EQ(one->counters.limit_refused, 1u);
  EXPECT_EQ(other->counters.limit_refused, 1u);
}

TEST_F(AdmissionTest, NorThatOfAListener) {
  const auto one = worker(10), other = worker(10);
  listener.max_connections = 1;
  EXPECT_TRUE(admits(one));
  EXPECT_FALSE(admits(other));
  EXPECT_EQ(shared->active.load(), 1u) << "who is refused takes no room";
  EXPECT_EQ(other->counters.listener_limit_refused, 1u);
}

TEST_F(AdmissionTest, NorTheShareOfDatagrams) {
  const auto one = worker(2), other = worker(2);
  listener.kind = ListenerKind::udp;
  EXPECT_TRUE(admits(one));
  EXPECT_FALSE(admits(other));
  EXPECT_EQ(shared->active.load(), 1u) << "a connection finds room still";
  EXPECT_EQ(shared->udp_flows.load(), 1u);
}

}  // namespace
}  // namespace hcpnet::proxy
