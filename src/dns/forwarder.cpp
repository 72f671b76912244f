// SPDX-License-Identifier: Apache-2.0
#include "dns/forwarder.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>

#include "dns/reply_writer.hpp"

namespace hcpnet::dns {

void UpstreamWatch::on_failure(const Endpoint& upstream, const error_code& reason, runtime::TimerQueue::Time now,
                               const Logger& log) {
  if (states_.size() >= kMaxUpstreams && !states_.contains(upstream)) return;
  State& state = states_[upstream];
  ++state.failures;
  if (state.failures < kFailures || state.is_told || (state.quiet_until && now < *state.quiet_until)) return;
  state.is_told = true;
  log.warning("upstream does not answer", {{"upstream", upstream.to_string()}, {"reason", reason.message()}});
}

void UpstreamWatch::on_answer(const Endpoint& upstream, runtime::TimerQueue::Time now, const Logger& log) {
  const auto known = states_.find(upstream);
  if (known == states_.end()) return;
  State& state = known->second;
  state.failures = 0;
  if (std::exchange(state.is_told, false)) {
    state.quiet_until = now + kQuiet;
    log.info("upstream answers again", {{"upstream", upstream.to_string()}});
  } else if (!state.quiet_until || now >= *state.quiet_until) {
    states_.erase(known);
  }
}

Forwarder::Forwarder(boost::asio::any_io_executor executor, std::shared_ptr<runtime::TimerQueue> timers,
                     Forwarding forwarding, ForwarderOptions options, std::shared_ptr<ForwarderCounters> counters)
    : timers_(std::move(timers)),
      forwarding_(std::move(forwarding)),
      options_(std::move(options)),
      counters_(std::move(counters)),
      context_(std::make_shared<ExchangeContext>()),
      cache_(options_.max_cache_bytes, random_.u64()),
      resolv_conf_(options_.resolv_conf_path),
      scratch_(kMaxMessageBytes) {
  context_->executor = std::move(executor);
  context_->timers = timers_;
  context_->on_foreign_reply = [shared = counters_] { ++shared->foreign_replies; };
}

std::size_t Forwarder::answer_from_cache(const Query& query, Transport transport, std::span<std::uint8_t> out) {
  const runtime::TimerQueue::Time now = timers_->now();
  const ReplyCache::Entry* entry = cache_.find(make_cache_key(query), now);
  if (entry == nullptr) return 0;
  ++counters_->cache_hits;
  return render(entry->reply.get(), query, transport, entry->age_seconds(now), out);
}

std::size_t Forwarder::ask(ByteView bytes, const Query& query, Transport transport, std::span<std::uint8_t> out,
                           ReplyLater later) {
  if (counters_->pending >= options_.max_pending) {
    ++counters_->refused_limit;
    return render(nullptr, query, transport, 0, out);
  }
  ++counters_->pending;
  Waiter waiter{{bytes.begin(), bytes.end()}, transport, std::move(later)};
  std::string key = make_cache_key(query);
  if (const auto found = pending_.find(key); found != pending_.end()) {
    ++counters_->coalesced;
    found->second->waiters.push_back(std::move(waiter));
  } else {
    begin(query, std::move(key), std::move(waiter));
  }
  return 0;
}

void Forwarder::begin(const Query& query, std::string key, Waiter waiter) {
  const auto pending = std::make_shared<Pending>();
  pending->key = key;
  pending->question = {0,
                       {query.question.begin(), query.question.end()},
                       (query.flags & flag::kCheckingDisabled) != 0,
                       query.dnssec_ok,
                       true};
  pending->waiters.push_back(std::move(waiter));
  pending->upstreams = upstreams_now();
  pending->first_round = pending->upstreams.size();
  pending->deadline = timers_->now() + options_.deadline;
  pending_.emplace(std::move(key), pending);
  if (pending->upstreams.empty()) {
    boost::asio::post(context_->executor, [self = shared_from_this(), pending] { self->give_up(pending); });
    return;
  }
  ask_next(pending);
}

/// The configured ones, then those of resolv.conf, each once; those that were silent lately at the end.
std::vector<Endpoint> Forwarder::upstreams_now() {
  const runtime::TimerQueue::Time now = timers_->now();
  std::vector<Endpoint> upstreams = forwarding_.upstreams;
  if (forwarding_.resolv_conf) {
    for (const Endpoint& server : resolv_conf_.servers(now)) {
      if (options_.is_own_listener && options_.is_own_listener(server))
        ++counters_->own_upstreams;
      else if (std::ranges::find(upstreams, server) == upstreams.end())
        upstreams.push_back(server);
    }
  }
  std::erase_if(suspected_until_, [&](const auto& suspect) { return suspect.second <= now; });
  const auto is_suspect = [&](const Endpoint& upstream) { return suspected_until_.contains(upstream); };
  std::vector<Endpoint> suspects;
  std::ranges::copy_if(upstreams, std::back_inserter(suspects), is_suspect);
  std::erase_if(upstreams, is_suspect);
  upstreams.insert(upstreams.end(), suspects.begin(), suspects.end());
  return upstreams;
}

void Forwarder::ask_next(const PendingPtr& pending) {
  if (pending->next == pending->upstreams.size() || timers_->now() >= pending->deadline) return give_up(pending);
  const Endpoint upstream = pending->upstreams[pending->next++];
  pending->question.id = random_.u16();
  ++counters_->forwarded;
  pending->exchange = std::make_shared<UpstreamExchange>(
      context_, upstream, pending->question, [self = shared_from_this(), pending, upstream](Result<Message> result) {
        self->on_result(pending, upstream, std::move(result));
      });
  pending->exchange->start(options_.upstream_timeout, pending->deadline);
}

void Forwarder::on_result(const PendingPtr& pending, const Endpoint& upstream, Result<Message> result) {
  if (!result) {
    const error_code reason = result.error();
    options_.log.debug("upstream failed", {{"upstream", upstream.to_string()}, {"reason", reason.message()}});
    counters_->upstreams.on_failure(upstream, reason, timers_->now(), options_.log);
    if (reason == boost::asio::error::timed_out) {
      suspected_until_[upstream] = timers_->now() + kSuspicion;
      // A datagram may just have been lost, so each gets a second chance when all others have had their first.
      if (pending->next <= pending->first_round) pending->upstreams.push_back(upstream);
    }
    return ask_next(pending);
  }
  suspected_until_.erase(upstream);
  counters_->upstreams.on_answer(upstream, timers_->now(), options_.log);
  const Rcode rcode = result->rcode();
  if (rcode == Rcode::noerror || rcode == Rcode::nxdomain) return accept(pending, std::move(*result));
  if (rcode == Rcode::formerr && pending->question.has_edns && !result->edns) {
    pending->question.has_edns = false;  // RFC 6891 section 7: it may be older than EDNS
    --pending->next;
    return ask_next(pending);
  }
  ask_next(pending);
}

void Forwarder::accept(const PendingPtr& pending, Message message) {
  auto made = StoredReply::make(std::move(message));
  if (!made) return ask_next(pending);
  const auto reply = std::make_shared<const StoredReply>(std::move(*made));
  pending_.erase(pending->key);
  const runtime::TimerQueue::Time now = timers_->now();
  if (reply->lifetime_seconds() > 0)
    cache_.put(pending->key, {reply, now, now + std::chrono::seconds(reply->lifetime_seconds())});
  tell(*pending, reply.get());
}

void Forwarder::give_up(const PendingPtr& pending) {
  ++counters_->failures;
  pending_.erase(pending->key);
  const runtime::TimerQueue::Time now = timers_->now();
  cache_.put(pending->key, {nullptr, now, now + kFailureLifetime});
  tell(*pending, nullptr);
}

void Forwarder::tell(Pending& pending, const StoredReply* reply) {
  const std::vector<Waiter> waiters = std::exchange(pending.waiters, {});
  pending.exchange.reset();
  counters_->pending -= waiters.size();
  for (const Waiter& waiter : waiters) {
    Query query;
    if (read_query(waiter.query, query)) continue;  // it was read before
    waiter.later(ByteView(scratch_).first(render(reply, query, waiter.transport, 0, scratch_)));
  }
}

std::size_t Forwarder::render(const StoredReply* reply, const Query& query, Transport transport,
                              std::uint32_t age_seconds, std::span<std::uint8_t> out) const {
  if (reply != nullptr) return reply->render(query, transport, age_seconds, out);
  return complete_reply(query, flag::kRecursionAvailable, Rcode::servfail, {}, out,
                        kHeaderBytes + query.question.size());
}

void Forwarder::stop() {
  for (const auto& [key, pending] : std::exchange(pending_, {})) {
    counters_->pending -= pending->waiters.size();
    pending->waiters.clear();
    if (pending->exchange) pending->exchange->cancel();
    pending->exchange.reset();
  }
}

}  // namespace hcpnet::dns
