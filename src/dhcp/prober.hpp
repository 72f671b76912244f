// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dhcp/interface.hpp"
#include "dhcp/probe_socket.hpp"
#include "dhcp/probe_table.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp {

/// What the prober borrows from the server that it is part of.
struct ProberHost {
  boost::asio::any_io_executor executor;
  runtime::TimerQueue& timers;
  std::weak_ptr<void> owner;                           ///< keeps these, and the prober, alive while locked
  std::function<void(const ProbedOffer&)> on_silence;  ///< nobody answered in time
  std::function<void(ProbedOffer, const std::optional<MacAddress>& by)> on_conflict;  ///< somebody did; `by` for ARP
};

/// Asks whether addresses are in use before they are offered: ProbeTable with sockets and a timer.
class Prober {
 public:
  explicit Prober(ProberHost host, const ProbeLimits& limits = {}) : host_(std::move(host)), table_(limits) {}
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  [[nodiscard]] const ProbeLimits& limits() const noexcept { return table_.limits(); }
  /// Opens the sockets of a link, in the place of those that it had. Throws as ProbeSocket does.
  void open(std::size_t link, const Interface& interface);
  void close(std::size_t link) { sockets_.erase(link); }
  [[nodiscard]] bool is_open(std::size_t link) const { return sockets_.contains(link); }
  /// Asks for the address of an offer, and calls back unless a reason is returned: a fixed word, why it is dropped.
  [[nodiscard]] std::string_view ask(ProbedOffer offer);
  /// Closes everything; nobody is called any more.
  void stop();

  /// "unanswered", "answered".
  [[nodiscard]] const std::map<std::string, std::uint64_t>& results() const noexcept { return results_; }

 private:
  void wait(std::size_t link, ProbeSocket::Kind kind);
  void hear(std::size_t link, ProbeSocket::Kind kind);
  void arm();
  void end_due();

  ProberHost host_;
  ProbeTable table_;
  std::map<std::size_t, std::shared_ptr<ProbeSocket>> sockets_;  // by link
  std::optional<runtime::TimerQueue::Id> armed_;
  std::map<std::string, std::uint64_t> results_;
};

}  // namespace hcpnet::dhcp
