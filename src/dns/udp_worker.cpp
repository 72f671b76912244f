// SPDX-License-Identifier: Apache-2.0
#include "dns/udp_worker.hpp"

#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "dns/query.hpp"
#include "dns/transfer.hpp"

namespace hcpnet::dns {
namespace {

/// Signals are for the threads that the embedding program has made itself. A new thread inherits this mask.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Whether the reply depends on the counts of the rate limit or on the secrets of cookies, or is logged.
bool needs_state(ByteView bytes, const Config& config) noexcept {
  if (config.rate_limit || config.query_log) return true;
  Query query;
  return config.cookies && may_have_options(bytes) && !read_query(bytes, query) && !query.cookie.empty();
}

bool is_transfer(ByteView query, const Response& response, const Config& config) noexcept {
  return response.rcode == Rcode::refused && config.transfer.is_enabled() && asks_for_transfer(query);
}

}  // namespace

/// Precondition: of the same number of views.
WorkerCounters& operator+=(WorkerCounters& sum, const WorkerCounters& more) {
  const auto add = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  sum.queries += more.queries;
  add(sum.responses, more.responses);
  add(sum.dropped, more.dropped);
  add(sum.format_errors, more.format_errors);
  add(sum.views, more.views);
  sum.no_view += more.no_view;
  sum.chains_cut += more.chains_cut;
  sum.oversize += more.oversize;
  sum.send_failures += more.send_failures;
  sum.handover_refused += more.handover_refused;
  sum.requests += more.requests;
  return sum;
}

UdpWorker::UdpWorker(boost::asio::any_io_executor server, Receive receive, std::size_t receive_buffer_bytes)
    : server_(std::move(server)), receive_(std::move(receive)), receive_buffer_bytes_(receive_buffer_bytes) {}

void UdpWorker::bind(const Endpoint& at) {
  listeners_.push_back(std::make_shared<UdpListener>(io_.get_executor(), at, PortSharing::shared, receive_buffer_bytes_,
                                                     *this, *batch_));
}

void UdpWorker::adopt(const Endpoint& at, FileDescriptor socket) {
  listeners_.push_back(
      std::make_shared<UdpListener>(io_.get_executor(), at, std::move(socket), receive_buffer_bytes_, *this, *batch_));
}

void UdpWorker::start() {
  for (const auto& listener : listeners_) listener->start();
  const BlockedSignals blocked;
  thread_ = std::thread([this] { io_.run(); });  // waits for its sockets until it is stopped
}

std::vector<std::uint64_t> UdpWorker::replace(std::shared_ptr<const Snapshot> snapshot) {
  std::vector<std::uint64_t> views(snapshot->views.size(), 0);
  const std::lock_guard lock(mutex_);
  snapshot_.swap(snapshot);
  views.swap(counters_.views);
  return views;
}

WorkerCounters UdpWorker::counters() const {
  const std::lock_guard lock(mutex_);
  WorkerCounters counters = counters_;
  counters.send_failures = send_failures_.load(std::memory_order_relaxed);
  return counters;
}

void UdpWorker::add_lost(LostDatagrams& lost) const {
  for (const auto& listener : listeners_) listener->add_lost(lost);
}

void UdpWorker::stop() noexcept {
  io_.stop();
  if (thread_.joinable()) thread_.join();
  for (const auto& listener : listeners_) listener->close();
  listeners_.clear();
}

QueryHandler::Handled UdpWorker::handle(ByteView query, const IpAddress& client, Transport transport,
                                        std::span<std::uint8_t> out) {
  client_ = client;
  if (needs_state(query, snapshot_->config)) return {0, true};
  const auto position = snapshot_->views.find(client);
  const Response response = respond(query, snapshot_->context(position, transport, client), out);
  if (response.verdict == Response::Verdict::forward || is_transfer(query, response, snapshot_->config))
    return {0, true};  // counted where it is answered
  ++counters_.queries;
  counters_.requests.add_query(transport, client, response.type, query.size());
  ++(position ? counters_.views[*position] : counters_.no_view);
  if (response.verdict == Response::Verdict::drop) {
    ++counters_.dropped[static_cast<std::size_t>(response.drop_reason)];
    return {};
  }
  ++counters_.responses[static_cast<std::size_t>(response.rcode)];
  ++counters_.format_errors[static_cast<std::size_t>(response.format_error)];
  if (response.is_chain_cut) ++counters_.chains_cut;
  counters_.requests.add_reply_size(transport, response.bytes);
  return {response.bytes, false};
}

std::size_t UdpWorker::forward(ByteView query, Transport, std::span<std::uint8_t>, ReplyLater later) {
  if (waiting_->load(std::memory_order_relaxed) >= kMaxHandedOver) {
    ++counters_.handover_refused;  // the client asks again
    return 0;
  }
  waiting_->fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(server_, [receive = receive_, waiting = waiting_, client = client_, later = std::move(later),
                              bytes = std::vector<std::uint8_t>(query.begin(), query.end())] {
    waiting->fetch_sub(1, std::memory_order_relaxed);
    receive(bytes, client, later);
  });
  return 0;
}

}  // namespace hcpnet::dns
