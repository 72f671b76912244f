// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/system/system_error.hpp>
#include <hcpnet/ra/schedule.hpp>
#include <hcpnet/ra/server.hpp>
#include <random>
#include <utility>

#include "ra/socket.hpp"
#include "runtime/error_text.hpp"
#include "runtime/timer_queue.hpp"

namespace hcpnet::ra {
namespace {

constexpr std::chrono::seconds kRetry{2};  // an interface that was deleted may come back

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Impl> {
  Impl(boost::asio::any_io_executor e, ServerOptions o)
      : executor(std::move(e)), options(std::move(o)), timers(executor, *options.clock) {}

  /// One interface; lives until it is replaced, so that its timer and reads find it or nothing.
  struct Link {
    Network network;
    std::unique_ptr<Socket> socket;
    Schedule schedule;
    runtime::TimerQueue::Id timer{};
    bool is_lost = false;
  };

  [[nodiscard]] std::vector<std::shared_ptr<Link>> open(std::vector<Network> networks);
  void begin(std::vector<std::shared_ptr<Link>> next);
  void end();
  void arm(const std::shared_ptr<Link>& link);
  void wait(const std::shared_ptr<Link>& link);
  void advertise(const std::shared_ptr<Link>& link);
  bool refresh(const std::shared_ptr<Link>& link);
  void stop();

  boost::asio::any_io_executor executor;
  ServerOptions options;
  runtime::TimerQueue timers;
  std::vector<std::shared_ptr<Link>> links;
  std::minstd_rand engine{std::random_device{}()};
  ServerStats stats;
};

std::vector<std::shared_ptr<Server::Impl::Link>> Server::Impl::open(std::vector<Network> networks) {
  std::vector<std::shared_ptr<Link>> out;
  for (Network& network : networks) {
    auto interface = dhcp::look_for_interface(network.interface_address);
    if (interface && interface->is_loopback) continue;
    const bool is_lost = !interface;
    auto socket =
        is_lost ? std::make_unique<Socket>(executor) : std::make_unique<Socket>(executor, *std::move(interface));
    Schedule schedule(timers.now(), [this] { return std::uniform_real_distribution<>(0, 1)(engine); });
    out.push_back(
        std::make_shared<Link>(Link{std::move(network), std::move(socket), std::move(schedule), {}, is_lost}));
  }
  return out;
}

void Server::Impl::begin(std::vector<std::shared_ptr<Link>> next) {
  end();
  links = std::move(next);
  for (const auto& link : links) {
    if (link->is_lost) {  // refresh() finds it when it comes
      arm(link);
      continue;
    }
    options.log.info("router advertisements sent", {{"subnet", link->network.name},
                                                    {"interface", link->socket->interface().name},
                                                    {"prefix", link->network.advertisement.prefix.to_string()}});
    wait(link);
    arm(link);
  }
}

void Server::Impl::end() {
  for (const auto& link : links) {
    timers.cancel(link->timer);
    link->socket->close();
  }
  links.clear();
}

void Server::Impl::arm(const std::shared_ptr<Link>& link) {
  timers.cancel(link->timer);
  const auto at = link->is_lost ? timers.now() + kRetry : link->schedule.next();
  link->timer = timers.at(at, [weak_self = weak_from_this(), weak = std::weak_ptr(link)] {
    const auto self = weak_self.lock();
    const auto held = weak.lock();
    if (self && held) self->advertise(held);
  });
}

void Server::Impl::wait(const std::shared_ptr<Link>& link) {
  link->socket->async_wait_readable([weak_self = weak_from_this(), weak = std::weak_ptr(link)](error_code error) {
    const auto self = weak_self.lock();
    const auto held = weak.lock();
    if (!self || !held || error) return;
    held->socket->receive([&](ByteView message, int hop_limit, const Ipv6& source) {
      const bool is_valid = is_valid_solicitation(message, hop_limit, source);
      ++(is_valid ? self->stats.solicited : self->stats.invalid);
      if (is_valid) held->schedule.on_solicitation(self->timers.now());
    });
    self->arm(held);
    self->wait(held);
  });
}

void Server::Impl::advertise(const std::shared_ptr<Link>& link) {
  if (refresh(link)) {
    const error_code error = link->socket->send(encode_advertisement(link->network.advertisement));
    ++(error ? stats.failed : stats.sent);
    link->schedule.on_sent(timers.now());
  }
  arm(link);
}

/// A socket is tied to an interface's index: when the interface is made anew, so is the socket. False: it is gone.
bool Server::Impl::refresh(const std::shared_ptr<Link>& link) {
  try {
    dhcp::Interface interface = dhcp::find_interface(link->network.interface_address);
    if (!link->is_lost && interface.index == link->socket->interface().index) return true;
    auto socket = std::make_unique<Socket>(executor, std::move(interface));
    link->socket->close();
    link->socket = std::move(socket);
    link->is_lost = false;
    wait(link);
    return true;
  } catch (const boost::system::system_error& error) {
    // That no list is to be had (for want of descriptors) says nothing of an interface whose socket works.
    if (!link->is_lost && error.code() != boost::system::errc::address_not_available) return true;
    if (!link->is_lost)
      options.log.error("no router advertisements",
                        {{"subnet", link->network.name}, {"reason", runtime::error_text(error)}});
    link->is_lost = true;
    return false;
  }
}

void Server::Impl::stop() {
  for (const auto& link : links) {
    Advertisement last = link->network.advertisement;
    if (last.router_lifetime.count() == 0) continue;
    last.router_lifetime = std::chrono::seconds(0);
    static_cast<void>(link->socket->send(encode_advertisement(last)));  // nobody is left to try again
  }
  end();
}

Server::Server(boost::asio::any_io_executor executor, ServerOptions options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

Server::~Server() {
  impl_->end();
}

void Server::start(std::vector<Network> networks) {
  impl_->begin(impl_->open(std::move(networks)));
}

void Server::replace(std::vector<Network> networks) {
  impl_->begin(impl_->open(std::move(networks)));
}

void Server::stop() {
  impl_->stop();
}

ServerStats Server::stats() const {
  return impl_->stats;
}

}  // namespace hcpnet::ra
