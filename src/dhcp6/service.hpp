// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <hcpnet/dhcp6/responder.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dhcp/lease_clock.hpp"
#include "dhcp/lease_store.hpp"
#include "dhcp6/socket.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::dhcp6 {

/// What the service borrows from the server that it is part of.
struct ServiceHost {
  boost::asio::any_io_executor executor;
  const dhcp::ServerOptions& options;
  dhcp::LeaseStore& store;
  runtime::TimerQueue& timers;
  const dhcp::LeaseClock& time;
  std::weak_ptr<void> owner;  ///< keeps all of these, and the service, alive while locked
  std::function<void(error_code)> on_commit;
  std::function<void(std::string_view reason, const Endpoint& source)> log_drop;
};

/// Throws boost::system::system_error for subnets that can't be served together.
void check(std::span<const Subnet> subnets);

/// DHCPv6 beside DHCPv4 in one server: same disk, same clock, same interfaces. Life of a message as in dhcp::Server.
class Service {
 public:
  /// Binds every IPv6 network's interface and reads the server's DUID. nullptr: there is no such network.
  [[nodiscard]] static std::unique_ptr<Service> open(ServiceHost host, const dhcp::Config& config);
  /// Whether the networks and interfaces of `config` are those that are served.
  [[nodiscard]] static bool can_replace(const Service* service, const dhcp::Config& config);

  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() = default;

  void restore(std::vector<Lease> leases, std::span<const Ipv6> unreadable);
  void start();
  /// Precondition: can_replace().
  void replace(const dhcp::Config& config);
  void stop_reading();
  void close();
  /// As those of Responder. The host writes the changes, and pauses meanwhile.
  void check_import(const dhcp::LeaseList& list, Responder::Time now, Diagnostics& problems) const {
    responder_.check_import(list, now, problems);
  }
  std::vector<LeaseChange> import_leases(const dhcp::LeaseList& list, Responder::Time now, dhcp::LeaseImport& outcome) {
    return responder_.import_leases(list, now, outcome);
  }
  void settle_import(const std::vector<LeaseChange>& changes, bool is_durable) {
    responder_.settle_import(changes, is_durable);
  }
  std::optional<LeaseChange> end(const Ipv6& address, Responder::Time now) { return responder_.end(address, now); }
  /// Counts an event that is on disk, and calls whoever wants to know.
  void tell(const LeaseEvent& event);
  /// From pause() to resume() no message is answered and nothing expires.
  void pause() noexcept { is_paused_ = true; }
  void resume();
  /// A socket is tied to an interface's index: when the interface is made anew, so is the socket.
  void check_interfaces();

  [[nodiscard]] std::vector<Lease> leases() const { return responder_.leases(); }
  [[nodiscard]] std::vector<dhcp::BoundSubnet6> bound() const;
  [[nodiscard]] dhcp::ServerStats::V6 stats() const;
  /// As dhcp::Server::troubles() tells them.
  [[nodiscard]] std::vector<std::string> troubles() const;

 private:
  struct Link {
    std::unique_ptr<Socket> socket;
    std::uint16_t port = 0;
    bool is_lost = false;
  };
  /// What waits for the disk.
  struct Pending {
    Outcome outcome;
    std::size_t link = 0;
    Path path;
  };

  Service(ServiceHost host, ResponderConfig config);
  void open_links();
  void check_interface(std::size_t link);
  void wait(std::size_t link);
  void on_message(std::size_t link, ByteView payload, const Path& path);
  void commit(Pending pending);
  void on_committed(const Pending& pending, error_code result);
  void publish(const std::vector<LeaseChange>& changes);
  void send(const Reply& reply, std::size_t link, const Path& path);
  void drop(std::string_view reason, const Path& path);
  void arm();
  void expire();

  ServiceHost host_;
  Responder responder_;
  std::vector<Link> links_;  // one per subnet, in its order
  dhcp::ServerStats::V6 stats_;
  std::optional<std::pair<Responder::Time, runtime::TimerQueue::Id>> armed_;
  bool is_running_ = false;
  bool is_closed_ = false;  ///< nobody is told any more
  bool is_paused_ = false;
};

}  // namespace hcpnet::dhcp6
