// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <hcpnet/proxy/route_table.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/worker.hpp"

namespace hcpnet::proxy {

class HealthProbe;

/// Asks the endpoints of every backend that has a HealthCheck, at its intervals, whether they are there. On one
/// worker's thread; what it finds out is in BackendState, for all.
class HealthMonitor : public std::enable_shared_from_this<HealthMonitor> {
 public:
  /// Probes under way; further ones wait. A backend whose last round still waits is left out of the next.
  static constexpr std::size_t kMaxProbes = 256;

  explicit HealthMonitor(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}

  /// Backends that are checked already go on at their own pace unless their check is another one now.
  void set_table(const std::shared_ptr<const RouteTable>& table);
  void stop();

 private:
  struct Watch {
    std::shared_ptr<const RouteTable> table;  ///< owns backend
    const Backend* backend = nullptr;
    std::shared_ptr<BackendState> state;
    runtime::TimerQueue::Id timer{};
    std::uint64_t number = 0;  ///< tells a watch from an earlier one of this name
    std::size_t waiting = 0;   ///< of its endpoints
  };
  struct Waiting {
    std::string name;
    std::uint64_t number;
    Endpoint address;
  };
  [[nodiscard]] Watch* find(const std::string& name, std::uint64_t number);
  void check(const std::string& name, std::uint64_t number);
  void resolve(const std::string& name, std::uint64_t number);
  void check_endpoints(Watch& watch, const std::vector<Endpoint>& endpoints);
  void start_waiting();
  void start_probe(const Waiting& next, const Watch& watch);
  void on_result(const std::string& name, std::uint64_t number, EndpointState& endpoint, std::optional<bool> is_good);

  std::shared_ptr<Worker> worker_;
  std::map<std::string, Watch> watches_;
  std::deque<Waiting> waiting_;
  std::vector<std::weak_ptr<HealthProbe>> probes_;  ///< under way, and some that have ended
  std::size_t under_way_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace hcpnet::proxy
