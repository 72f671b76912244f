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

void UpstreamWatch::forget(const std::function<bool(const Endpoint&)>& is_gone) {
  std::erase_if(states_, [&](const auto& known) { return is_gone(known.first); });
}

Forwarder::Forwarder(boost::asio::any_io_executor executor, std::shared_ptr<runtime::TimerQueue> timers,
                     Forwarding forwarding, ForwarderOptions options, std::shared_ptr<ForwarderCounters> counters)
    : timers_(std::move(timers)),
      forwarding_(std::move(forwarding)),
      options_(std::move(options)),
      counters_(std::move(counters)),
      context_(std::make_shared<ExchangeContext>()),
      cache_(options_.max_cache_bytes, random_.u64()),
      resolv_conf_(options_.resolv_conf_path, options_.log),
      scratch_(kMaxMessageBytes) {
  context_->executor = std::move(executor);
  context_->timers = timers_;
  context_->on_foreign_reply = [shared = counters_] { ++shared->foreign_replies; };
  look_at_resolv_conf();
  forget_others();
}

bool Forwarder::is_upstream(const Endpoint& endpoint) const noexcept {
  const auto has = [&](const std::vector<Endpoint>& all) { return std::ranges::find(all, endpoint) != all.end(); };
  return has(forwarding_.upstreams) || has(name_servers_) ||
         std::ranges::any_of(forwarding_.zones, [&](const ZoneForwarding& zone) { return has(zone.upstreams); });
}

/// Else each change of upstreams would leave its counters behind.
void Forwarder::forget_others() {
  const auto is_gone = [&](const auto& known) { return !is_upstream(known.first); };
  std::erase_if(counters_->replies, is_gone);
  std::erase_if(counters_->times, is_gone);
  std::erase_if(plain_case_until_, is_gone);
  counters_->upstreams.forget([&](const Endpoint& upstream) { return !is_upstream(upstream); });
}

std::size_t Forwarder::answer_from_cache(const Query& query, Transport transport, std::span<std::uint8_t> out) {
  const runtime::TimerQueue::Time now = timers_->now();
  const std::string key = make_cache_key(query);
  ReplyCache::Entry* entry = cache_.find(key, now);
  if (entry == nullptr || (!entry->is_fresh(now) && now >= entry->retry)) {
    ++counters_->cache_misses;
    return 0;
  }
  ++counters_->cache_hits;
  if (!entry->is_fresh(now)) {
    ++counters_->stale;
    return entry->reply->render_stale(query, transport, out);
  }
  const std::size_t size = render(entry->reply.get(), query, transport, entry->age_seconds(now), out);
  if (forwarding_.prefetch) prefetch_if_popular(query, key, *entry);
  return size;
}

void Forwarder::prefetch_if_popular(const Query& query, const std::string& key, ReplyCache::Entry& entry) {
  if (!entry.reply || ++entry.uses < kPopularUses) return;
  if ((entry.expires - timers_->now()) * kPrefetchPart > entry.expires - entry.stored) return;
  if (pending_.contains(key) || pending_.size() >= options_.max_pending) return;
  entry.uses = 0;  // a failed attempt is not repeated by each query that follows
  ++counters_->prefetches;
  begin(query, key);
}

std::size_t Forwarder::ask(ByteView bytes, const Query& query, Transport transport, std::span<std::uint8_t> out,
                           ReplyLater later) {
  if (counters_->pending >= options_.max_pending) {
    ++counters_->refused_limit;
    return render(nullptr, query, transport, 0, out);
  }
  ++counters_->pending;
  Waiter waiter{{bytes.begin(), bytes.end()},
                {query.reply_options.begin(), query.reply_options.end()},
                transport,
                std::move(later)};
  std::string key = make_cache_key(query);
  if (const auto found = pending_.find(key); found != pending_.end()) {
    ++counters_->coalesced;
    add_waiter(found->second, std::move(waiter));
  } else {
    add_waiter(begin(query, std::move(key)), std::move(waiter));
  }
  return 0;
}

void Forwarder::add_waiter(const PendingPtr& pending, Waiter waiter) {
  pending->waiters.push_back(std::move(waiter));
  if (pending->waiters.size() > 1) return;  // the first, who may have joined a prefetch, decides how long they wait
  const ReplyCache::Entry* entry = cache_.find(pending->key, timers_->now());
  if (entry == nullptr || !entry->reply) return;
  pending->stale_timer = timers_->after(kStaleAfter, [weak = weak_from_this(), pending] {
    if (const auto self = weak.lock()) self->on_stale_timer(pending);
  });
}

/// The question stays in flight, for the cache; who asks the same meanwhile gets the stale answer at once.
void Forwarder::on_stale_timer(const PendingPtr& pending) {
  if (is_stopped_ || !pending_.contains(pending->key)) return;
  ReplyCache::Entry* entry = cache_.find(pending->key, timers_->now());
  if (entry == nullptr || !entry->reply) return;
  entry->retry = pending->deadline;
  const std::shared_ptr<const StoredReply> reply = entry->reply;
  tell(*pending, reply.get(), Age::stale);
}

Forwarder::PendingPtr Forwarder::begin(const Query& query, std::string key) {
  const auto pending = std::make_shared<Pending>();
  pending->key = key;
  pending->question = {0,
                       {query.question.begin(), query.question.end()},
                       (query.flags & flag::kCheckingDisabled) != 0,
                       query.dnssec_ok,
                       true};
  pending->upstreams = upstreams_for(query.name);
  pending->first_round = pending->upstreams.size();
  pending->deadline = timers_->now() + options_.deadline;
  pending_.emplace(std::move(key), pending);
  if (pending->upstreams.empty())
    boost::asio::post(context_->executor, [self = shared_from_this(), pending] { self->give_up(pending); });
  else
    ask_next(pending);
  return pending;
}

/// No more often than the file itself is looked at: which addresses are our own is for the system to say, and its list
/// may be long.
void Forwarder::look_at_resolv_conf() {
  const runtime::TimerQueue::Time now = timers_->now();
  if (!forwarding_.resolv_conf || (looked_at_ && now < *looked_at_ + ResolvConfFile::kCheckInterval)) return;
  looked_at_ = now;
  std::vector<Endpoint> others;
  own_name_servers_ = 0;
  for (const Endpoint& server : resolv_conf_.servers(now)) {
    if (options_.is_own_listener && options_.is_own_listener(server))
      ++own_name_servers_;
    else
      others.push_back(server);
  }
  if (others == name_servers_) return;
  name_servers_ = std::move(others);
  forget_others();
}

/// The configured ones, then those of resolv.conf, each once.
std::vector<Endpoint> Forwarder::general_upstreams() {
  look_at_resolv_conf();
  counters_->own_upstreams += own_name_servers_;
  std::vector<Endpoint> upstreams = forwarding_.upstreams;
  for (const Endpoint& server : name_servers_)
    if (std::ranges::find(upstreams, server) == upstreams.end()) upstreams.push_back(server);
  return upstreams;
}

std::vector<Endpoint> Forwarder::upstreams_for(const FoldedName& name) {
  const ZoneForwarding* zone = forwarding_.zone_of(name);
  std::vector<Endpoint> upstreams = zone != nullptr ? zone->upstreams : general_upstreams();
  order(upstreams);
  return upstreams;
}

/// As the policy says; those that were silent lately at the end.
void Forwarder::order(std::vector<Endpoint>& upstreams) {
  if (upstreams.size() < 2) return;
  if (forwarding_.policy == UpstreamPolicy::round_robin) {
    const std::size_t first = next_turn_++ % upstreams.size();
    std::ranges::rotate(upstreams, upstreams.begin() + static_cast<std::ptrdiff_t>(first));
  } else if (forwarding_.policy == UpstreamPolicy::random) {
    for (std::size_t i = upstreams.size() - 1; i > 0; --i) std::swap(upstreams[i], upstreams[random_.u64() % (i + 1)]);
  }
  std::ranges::stable_partition(upstreams, [&](const Endpoint& e) { return !suspects_.contains(e); });
}

void Forwarder::suspect(const Endpoint& upstream) {
  const auto [known, is_new] = suspects_.try_emplace(upstream);
  if (!is_new) return;
  known->second.next_probe = timers_->after(kSuspicion, [weak = weak_from_this(), upstream] {
    if (const auto self = weak.lock()) self->probe(upstream);
  });
}

/// Asks for the name servers of the root, which any resolver can answer or refuse.
void Forwarder::probe(const Endpoint& upstream) {
  const auto known = suspects_.find(upstream);
  if (is_stopped_ || known == suspects_.end()) return;
  look_at_resolv_conf();
  if (!is_upstream(upstream)) {
    suspects_.erase(known);  // resolv.conf has changed
    return;
  }
  ++counters_->probes;
  const UpstreamQuestion question{random_.u16(), {0, 0, 2, 0, 1}, false, false, false, false};
  known->second.probe = std::make_shared<UpstreamExchange>(
      context_, upstream, question, [weak = weak_from_this(), upstream](const Result<Message>& result) {
        if (const auto self = weak.lock()) self->on_probed(upstream, result);
      });
  known->second.probe->start(options_.upstream_timeout, timers_->now() + options_.deadline);
}

void Forwarder::trust(const Endpoint& upstream) {
  const auto known = suspects_.find(upstream);
  if (known == suspects_.end()) return;
  timers_->cancel(known->second.next_probe);
  if (known->second.probe) known->second.probe->cancel();
  suspects_.erase(known);
}

void Forwarder::on_probed(const Endpoint& upstream, const Result<Message>& result) {
  trust(upstream);
  if (result) return counters_->upstreams.on_answer(upstream, timers_->now(), options_.log);
  counters_->upstreams.on_failure(upstream, result.error(), timers_->now(), options_.log);
  suspect(upstream);
}

/// A forger has to guess the case of every letter too (draft-vixie-dnsext-dns0x20).
void Forwarder::mix_case(UpstreamQuestion& question, const Endpoint& upstream) {
  const auto plain = plain_case_until_.find(upstream);
  if (plain != plain_case_until_.end() && plain->second <= timers_->now()) plain_case_until_.erase(plain);
  if (!forwarding_.mix_case) return;
  question.is_mixed_case = !plain_case_until_.contains(upstream);
  constexpr std::uint8_t kCaseBit = 0x20;
  const std::size_t name_bytes = question.question.size() - kTypeAndClassBytes;
  std::uint64_t coins = 0;
  for (std::size_t i = 0; i < name_bytes; ++i) {
    if (i % 64 == 0 && question.is_mixed_case) coins = random_.u64();
    std::uint8_t& byte = question.question[i];
    const std::uint8_t lower = fold(byte);  // label lengths are below 'A'
    const bool is_letter = lower >= 'a' && lower <= 'z';
    byte = is_letter && (coins >> (i % 64) & 1) != 0 ? static_cast<std::uint8_t>(lower ^ kCaseBit) : lower;
  }
}

void Forwarder::ask_next(const PendingPtr& pending) {
  if (pending->next == pending->upstreams.size()) return give_up(pending);
  pending->question.has_edns = true;  // which the one before may not have known
  ask_upstream(pending, pending->upstreams[pending->next++]);
}

void Forwarder::ask_upstream(const PendingPtr& pending, const Endpoint& upstream) {
  if (timers_->now() >= pending->deadline) return give_up(pending);
  pending->question.id = random_.u16();
  mix_case(pending->question, upstream);
  ++counters_->forwarded;
  pending->asked = timers_->now();
  pending->exchange = std::make_shared<UpstreamExchange>(
      context_, upstream, pending->question, [self = shared_from_this(), pending, upstream](Result<Message> result) {
        self->on_result(pending, upstream, std::move(result));
      });
  pending->exchange->start(options_.upstream_timeout, pending->deadline);
}

void Forwarder::note_reply(const Endpoint& upstream, const Result<Message>& result, std::chrono::nanoseconds time) {
  if (counters_->replies.size() >= kMaxCounted && !counters_->replies.contains(upstream)) return;
  std::map<std::string, std::uint64_t>& of_upstream = counters_->replies[upstream];
  if (result) {
    // One has 4096 to choose from; beyond the last of ours nobody needs to know which.
    const std::string rcode = result->rcode() <= Rcode::badcookie ? to_string(result->rcode()) : "other";
    ++of_upstream[rcode];
    counters_->times[upstream][rcode].add(1, time);
  } else {
    ++of_upstream[result.error() == boost::asio::error::timed_out ? "timeout" : "error"];
  }
}

void Forwarder::on_result(const PendingPtr& pending, const Endpoint& upstream, Result<Message> result) {
  note_reply(upstream, result, timers_->now() - pending->asked);
  if (pending->exchange && pending->exchange->has_changed_case() && pending->question.is_mixed_case) {
    ++counters_->case_changed;
    plain_case_until_[upstream] = timers_->now() + kPlainCase;
    if (!result) return ask_upstream(pending, upstream);
  }
  if (!result) {
    const error_code reason = result.error();
    options_.log.debug("upstream failed", {{"upstream", upstream.to_string()}, {"reason", reason.message()}});
    counters_->upstreams.on_failure(upstream, reason, timers_->now(), options_.log);
    if (reason == boost::asio::error::timed_out) {
      suspect(upstream);
      // A datagram may just have been lost, so each gets a second chance when all others have had their first.
      if (pending->next <= pending->first_round) pending->upstreams.push_back(upstream);
    }
    return ask_next(pending);
  }
  trust(upstream);
  counters_->upstreams.on_answer(upstream, timers_->now(), options_.log);
  const Rcode rcode = result->rcode();
  if (is_referral(*result)) return ask_next(pending);
  if (rcode == Rcode::noerror || rcode == Rcode::nxdomain) return accept(pending, std::move(*result));
  if (rcode == Rcode::formerr && pending->question.has_edns && !result->edns) {
    pending->question.has_edns = false;  // RFC 6891 section 7: it may be older than EDNS
    return ask_upstream(pending, upstream);
  }
  ask_next(pending);
}

void Forwarder::accept(const PendingPtr& pending, Message message) {
  const TtlBounds bounds{static_cast<std::uint32_t>(forwarding_.min_ttl.count()),
                         static_cast<std::uint32_t>(forwarding_.max_ttl.count())};
  if (!keep_what_was_asked(message)) return ask_next(pending);
  auto made = StoredReply::make(std::move(message), bounds);
  if (!made) return ask_next(pending);
  const auto reply = std::make_shared<const StoredReply>(std::move(*made));
  pending_.erase(pending->key);
  const runtime::TimerQueue::Time now = timers_->now();
  if (reply->lifetime_seconds() > 0) {
    const runtime::TimerQueue::Time expires = now + std::chrono::seconds(reply->lifetime_seconds());
    cache_.put(pending->key, {reply, now, expires, expires + forwarding_.serve_stale, now, 0});
  }
  tell(*pending, reply.get());
}

/// A failure never takes the place of an answer that can still be used.
void Forwarder::give_up(const PendingPtr& pending) {
  ++counters_->failures;
  pending_.erase(pending->key);
  const runtime::TimerQueue::Time now = timers_->now();
  ReplyCache::Entry* entry = cache_.find(pending->key, now);
  if (entry != nullptr && entry->reply) {
    entry->retry = now + kStaleRetry;
    const std::shared_ptr<const StoredReply> reply = entry->reply;
    return tell(*pending, reply.get(), Age::stale);
  }
  cache_.put(pending->key, {nullptr, now, now + kFailureLifetime, now + kFailureLifetime, now, 0});
  tell(*pending, nullptr);
}

void Forwarder::tell(Pending& pending, const StoredReply* reply, Age age) {
  const std::vector<Waiter> waiters = std::exchange(pending.waiters, {});
  timers_->cancel(pending.stale_timer);
  if (!pending_.contains(pending.key)) pending.exchange.reset();
  if (age == Age::stale) counters_->stale += waiters.size();
  counters_->pending -= waiters.size();
  for (const Waiter& waiter : waiters) {
    Query query;
    if (read_query(waiter.query, query)) continue;  // it was read before
    query.reply_options = waiter.options;
    const std::size_t size = age == Age::stale ? reply->render_stale(query, waiter.transport, scratch_)
                                               : render(reply, query, waiter.transport, 0, scratch_);
    waiter.later(ByteView(scratch_).first(size));
  }
}

std::size_t Forwarder::render(const StoredReply* reply, const Query& query, Transport transport,
                              std::uint32_t age_seconds, std::span<std::uint8_t> out) const {
  if (reply != nullptr) return reply->render(query, transport, age_seconds, out);
  return complete_reply(query, flag::kRecursionAvailable, Rcode::servfail, {}, out,
                        kHeaderBytes + query.question.size());
}

void Forwarder::stop() {
  is_stopped_ = true;
  for (const auto& [upstream, suspect] : std::exchange(suspects_, {})) {
    timers_->cancel(suspect.next_probe);
    if (suspect.probe) suspect.probe->cancel();
  }
  for (const auto& [key, pending] : std::exchange(pending_, {})) {
    counters_->pending -= pending->waiters.size();
    pending->waiters.clear();
    timers_->cancel(pending->stale_timer);
    if (pending->exchange) pending->exchange->cancel();
    pending->exchange.reset();
  }
}

}  // namespace hcpnet::dns
