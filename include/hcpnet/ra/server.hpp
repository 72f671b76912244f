// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/ra/advertisement.hpp>
#include <memory>
#include <vector>

namespace hcpnet::ra {

struct ServerOptions {
  Clock* clock = &system_clock();
  Logger log;
};

struct ServerStats {
  std::uint64_t sent = 0, solicited = 0, invalid = 0, failed = 0;
};

/// Sends router advertisements (RFC 4861 section 6.2): from time to time, and when a host asks. Needs CAP_NET_RAW. A
/// loopback interface has no hosts to tell, and is left alone. All calls on the executor's thread (one thread), or
/// before it runs.
class Server {
 public:
  Server(boost::asio::any_io_executor executor, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// An interface that is not there yet is looked for. Throws boost::system::system_error that names the interface.
  /// Call once.
  void start(std::vector<Network> networks);
  /// Advertises the new contents soon. What was advertised on an interface and is no more simply ends; its lifetimes
  /// run out. Throws like start(), with the old state kept.
  void replace(std::vector<Network> networks);
  /// Ceases to be a default router where it was one (section 6.2.5). Idempotent.
  void stop();
  [[nodiscard]] ServerStats stats() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hcpnet::ra
