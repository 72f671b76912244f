// SPDX-License-Identifier: Apache-2.0
#include "proxy/crew.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <csignal>
#include <utility>

namespace hcpnet::proxy {
namespace {

/// Records reach the sink on the thread that it expects.
Logger logging_at(const asio::any_io_executor& home, const Logger& log) {
  if (!log.is_enabled()) return {};
  const auto forward = [home, sink = log.sink()](const LogRecord& record) {
    asio::post(home, [sink, record] { sink(record); });
  };
  return {forward, log.component()};
}

/// The embedder's resolver is asked on its own thread, and its answer is brought here. A question may wait there, and
/// an answer come, when the engine has ended on that thread, and this context with it.
Resolve resolving_at(const asio::any_io_executor& home, const std::weak_ptr<asio::io_context>& here,
                     const Resolve& resolve) {
  if (!resolve) return {};
  return [=](const std::string& host, std::uint16_t port, Resolved resolved) {
    asio::post(home, [=, resolved = std::move(resolved)] {
      if (here.expired()) return;
      const Resolved bring = [=](Result<Resolution> answer) {
        const auto io = here.lock();
        if (io) asio::post(*io, [resolved, answer = std::move(answer)] { resolved(answer); });
      };
      try {
        resolve(host, port, bring);
      } catch (...) {  // the worker waits for an answer
        bring(error_code(asio::error::host_not_found_try_again));
        throw;
      }
    });
  };
}

EngineOptions adapted(EngineOptions options, const asio::any_io_executor& home,
                      const std::weak_ptr<asio::io_context>& here) {
  if (options.access_log) {
    options.access_log = [home, write = options.access_log](std::string line) {
      asio::post(home, [write, line = std::move(line)] { write(line); });
    };
  }
  options.log = logging_at(home, options.log);
  options.resolve = resolving_at(home, here, options.resolve);
  return options;
}

/// Sockets of which `config` has no listener any more are closed, the others get its rules.
template <class Sockets>
void follow(Sockets& sockets, const RouteConfig& config) {
  std::erase_if(sockets, [&](const auto& socket) {
    const auto found = std::ranges::find_if(config.listeners, [&](const Listener& listener) {
      return listener.address == socket->listener().address && listener.kind == socket->listener().kind;
    });
    if (found == config.listeners.end())
      socket->close();
    else
      socket->set_listener(*found);
    return found == config.listeners.end();
  });
}

bool is_sigpipe_ignored() noexcept {
  struct sigaction action{};
  return ::sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Signals are the embedder's business: a thread of ours gets none of them. SIGPIPE stays pending there for ever.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

CrewMember::CrewMember(const asio::any_io_executor& home, const EngineOptions& options, const TcpOptions& tcp,
                       std::shared_ptr<SharedState> shared, bool has_thread) {
  if (!has_thread) {
    worker = std::make_shared<Worker>(home, options, tcp, std::move(shared));
    worker->may_splice = is_sigpipe_ignored();
    return;
  }
  io_ = std::make_shared<asio::io_context>(1);
  work_.emplace(io_->get_executor());
  worker = std::make_shared<Worker>(io_->get_executor(), adapted(options, home, io_), tcp, std::move(shared));
  worker->may_splice = true;
}

CrewMember::~CrewMember() {
  if (thread_.joinable()) {
    work_.reset();
    io_->stop();
    thread_.join();
  }
  close_listeners();
  try {
    worker->close_all(CloseReason::stopped);
  } catch (...) {  // of the embedder's functions, and there is nobody whom it could be passed to any more
  }
  worker->names->cancel();
}

void CrewMember::start() {
  if (!io_) return;
  const SignalsBlocked inherited;
  thread_ = std::thread([io = io_.get()] { io->run(); });
}

void CrewMember::adopt(const RouteConfig& config, std::vector<std::shared_ptr<Acceptor>> new_acceptors,
                       std::vector<std::shared_ptr<UdpRelay>> new_udp_relays) {
  follow(acceptors, config);
  follow(udp_relays, config);
  // A socket that changes its kind may change its interface too, and only now.
  for (auto& acceptor : new_acceptors) {
    acceptor->set_listener(acceptor->listener());
    acceptor->apply_settings();  // they may have changed since it was opened
    acceptors.emplace_back(std::move(acceptor))->accept();
  }
  for (auto& relay : new_udp_relays) {
    relay->set_listener(relay->listener());
    udp_relays.emplace_back(std::move(relay))->start();
  }
}

void CrewMember::configure(const EngineSettings& settings, const TcpOptions& tcp) {
  worker->configure(settings, tcp);
  for (const auto& acceptor : acceptors) acceptor->apply_settings();
}

std::vector<ListeningSocket> CrewMember::sockets() const {
  std::vector<ListeningSocket> all;
  for (const auto& acceptor : acceptors)
    all.push_back({SocketKind::stream, acceptor->listener().address, acceptor->descriptor()});
  for (const auto& relay : udp_relays)
    all.push_back({SocketKind::datagram, relay->listener().address, relay->descriptor()});
  return all;
}

void CrewMember::take_waiting() {
  for (const auto& acceptor : acceptors) acceptor->take_waiting();
}

void CrewMember::close_listeners() {
  for (const auto& acceptor : acceptors) acceptor->close();
  for (const auto& relay : udp_relays) relay->close();
  acceptors.clear();
  udp_relays.clear();
}

}  // namespace hcpnet::proxy
