// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/post.hpp>
#include <stdexcept>

#include "runtime/error_text.hpp"
#include "stack/stack_impl.hpp"

namespace hcpnet {
namespace {

constexpr std::chrono::milliseconds kTakeBackEvery{200};

}  // namespace

std::optional<Takeover> Stack::Impl::connect_to_predecessor() {
  if (!options.takes_over) return std::nullopt;
  if (options.handover_socket.empty()) throw std::invalid_argument("taking over needs the path of a handover socket");
  if (!options.inherited) options.inherited = std::make_shared<InheritedSockets>();
  auto takeover = Takeover::connect(options.handover_socket);
  log.info(takeover ? "taking over" : "nobody to take over from", {{"socket", options.handover_socket}});
  return takeover;
}

void Stack::Impl::open_handover() {
  if (options.handover_socket.empty()) return;
  const auto weakly = [weak = weak_from_this()](void (Impl::*work)()) {
    return [weak, work] {
      if (const auto self = weak.lock()) (*self.*work)();
    };
  };
  HandoverServer::Owner owner;
  owner.sockets = [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self ? self->sockets() : std::vector<ListeningSocket>{};
  };
  owner.release = [weak = weak_from_this()](const std::function<void()>& released) {
    if (const auto self = weak.lock()) self->release(released);
  };
  owner.take_back = weakly(&Impl::take_back);
  owner.hand_over = weakly(&Impl::hand_over);
  handover_ = std::make_unique<HandoverServer>(io.get_executor(), timers, std::move(owner), log);
  handover_->open(options.handover_socket);
}

std::vector<ListeningSocket> Stack::Impl::sockets() const {
  std::vector<ListeningSocket> all;
  const auto add = [&](const std::vector<ListeningSocket>& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const NamedProxy& p : proxies) add(p.engine->sockets());
  for (const NamedDns& d : dns) add(d.server->sockets());
  return all;
}

/// Proxy and DNS go on.
void Stack::Impl::release(const std::function<void()>& released) {
  is_released_ = true;
  if (next_take_back_) timers.cancel(*std::exchange(next_take_back_, {}));
  admin_.reset();
  admin_tcp_.reset();
  observe_.reset();
  advertiser.reset();  // without a farewell: hosts would drop their router
  if (!dhcp) return boost::asio::post(io, released);
  dhcp->stop([weak = weak_from_this(), released] {
    const auto self = weak.lock();
    if (!self) return;
    boost::asio::post(self->io, [self, released] {  // it is not destroyed inside its own callback
      self->dhcp.reset();
      released();
    });
  });
}

/// What release() let go of. False after having said why it can't be had.
bool Stack::Impl::start_released() try {
  auto config = make_served_config(served_->checked, options.serve, surroundings_);
  if (config.has_error()) {
    for (const Diagnostic& d : config.error())
      log.error("what was let go for another process can't be built again", {{"problem", d.to_string()}});
    return false;
  }
  if (!dhcp) start_dhcp(std::move(config->dhcp));
  if (!advertiser) start_advertiser(std::move(config->advertisements));
  runtime::OpenFailures failures;
  start_http(failures);
  return true;
} catch (const std::exception& e) {
  log.error("what was let go for another process can't be had yet", {{"reason", runtime::error_text(e)}});
  return false;
}

/// A process that dies closes one descriptor after the other, so what it had may not be free at once.
void Stack::Impl::take_back() {
  next_take_back_.reset();
  if (state != State::running) return;
  if (is_released_ && !start_released()) {
    next_take_back_ = timers.after(kTakeBackEvery, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->take_back();
    });
    return;
  }
  is_released_ = false;
  log.info("serving goes on");
  if (watcher_) on_files_changed();
}

void Stack::Impl::hand_over() {
  state = State::handed_over;
  log.info("handed over: tunnels may finish here");
  if (watcher_) watcher_->stop();
  if (next_resolve_) timers.cancel(*std::exchange(next_resolve_, {}));
  notify({StackEvent::Kind::handed_over, {}, {}});
  end_servers(true);
}

}  // namespace hcpnet
