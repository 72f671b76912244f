// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <hcpnet/proxy/route_table.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "proxy/backend_state.hpp"

namespace hcpnet::proxy {

/// What the workers count of one listener together.
struct ListenerState {
  explicit ListenerState(const Endpoint& endpoint) : address(endpoint) {}
  const Endpoint address;  ///< as configured
  Counter total = 0;
  Counter active = 0;
  Counter limit_refused = 0;
  Counter no_route = 0;
  Counter inspect_timeouts = 0;
};

/// Open connections by client address, for a limit that holds over all workers. Thread-safe.
class SourceCounts {
 public:
  /// False, and nothing counted, when the address has `limit` already.
  bool add(const IpAddress& source, std::size_t limit);
  void remove(const IpAddress& source);

 private:
  std::mutex mutex_;
  std::unordered_map<IpAddress, std::size_t> counts_;
};

/// What all workers of an engine share: limits and the state of backends. Thread-safe.
class SharedState {
 public:
  Counter active = 0;     ///< connections, all listeners; UDP flows among them
  Counter udp_flows = 0;  ///< at most half of the limit
  /// Of the connection that was accepted last. The kernel gives the lowest number that is free, so this tells how many
  /// are in use, without asking.
  std::atomic<int> last_descriptor = 0;
  SourceCounts sources;

  [[nodiscard]] std::shared_ptr<BackendState> backend(const std::string& name);
  /// Forgets backends and endpoints that neither `config` nor a connection uses: counters would pile up from reload to
  /// reload, and an endpoint that is gone would stay unhealthy for ever.
  void retain(const RouteConfig& config);
  /// TCP and UDP of one address are two listeners.
  [[nodiscard]] std::shared_ptr<ListenerState> listener(const Endpoint& address, Protocol protocol);
  /// Adds what is kept here.
  void add_to(EngineStats& stats, Clock::SteadyTime now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<BackendState>> backends_;
  std::map<std::pair<Endpoint, Protocol>, std::shared_ptr<ListenerState>> listeners_;
};

}  // namespace hcpnet::proxy
