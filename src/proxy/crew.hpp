// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <hcpnet/proxy/engine.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "proxy/acceptor.hpp"
#include "proxy/udp_relay.hpp"
#include "proxy/worker.hpp"

namespace hcpnet::proxy {

/// One worker with its listening sockets, on the engine's executor or on a thread of its own.
class CrewMember {
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;
  std::shared_ptr<boost::asio::io_context> io_;  ///< null: on the engine's executor; outlives all that uses it
  std::optional<WorkGuard> work_;
  std::thread thread_;

 public:
  /// `home`: the engine's executor, where the embedder's callbacks run.
  CrewMember(const boost::asio::any_io_executor& home, const EngineOptions& options, const TcpOptions& tcp,
             std::shared_ptr<SharedState> shared, bool has_thread);
  /// Closes everything at once.
  ~CrewMember();
  CrewMember(const CrewMember&) = delete;
  CrewMember& operator=(const CrewMember&) = delete;

  void start();
  /// Runs `work` where the worker lives: at once, or soon.
  template <class Work>
  void run(Work work) {
    if (!io_) return work();
    boost::asio::post(*io_, std::move(work));
  }
  /// The same, and waits for its result.
  template <class Work>
  auto call(Work work) {
    if (!thread_.joinable()) return work();
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    boost::asio::post(*io_, [&task] { task(); });
    return result.get();
  }
  /// Serves what `config` has: opened sockets that are new, those of before that are still there, under its rules.
  void adopt(const RouteConfig& config, std::vector<std::shared_ptr<Acceptor>> new_acceptors,
             std::vector<std::shared_ptr<UdpRelay>> new_udp_relays);
  void configure(const EngineSettings& settings, const TcpOptions& tcp);
  void take_waiting();
  void close_listeners();
  [[nodiscard]] std::vector<ListeningSocket> sockets() const;

  // Only from within run() and call(), or before start().
  std::shared_ptr<Worker> worker;
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  std::vector<std::shared_ptr<UdpRelay>> udp_relays;
};

}  // namespace hcpnet::proxy
