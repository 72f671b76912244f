// SPDX-License-Identifier: Apache-2.0
#include "proxy/name_cache.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <exception>
#include <set>

#include "proxy/sockets.hpp"

namespace hcpnet::proxy {
namespace {

/// Somebody who knows has said that the name stands for nothing, as opposed to nobody having said anything.
bool is_absence(const Result<Resolution>& answer) {
  if (answer) return answer->endpoints.empty();
  return answer.error() == asio::error::host_not_found || answer.error() == asio::error::no_data;
}

}  // namespace

Resolve make_system_resolve(const asio::any_io_executor& executor) {
  const auto resolver = std::make_shared<tcp::resolver>(executor);
  return [resolver](const std::string& host, std::uint16_t port, Resolved resolved) {
    resolver->async_resolve(
        host, std::to_string(port), tcp::resolver::numeric_service,
        [resolved = std::move(resolved)](const error_code& ec, const tcp::resolver::results_type& results) {
          if (ec) return resolved(ec);
          std::vector<Endpoint> endpoints;
          for (const auto& result : results) endpoints.push_back(from_asio(result.endpoint()));
          resolved(Resolution(std::move(endpoints)));
        });
  };
}

void NameCache::resolve(const std::string& host, std::uint16_t port, Resolved resolved) {
  const Key key(host, port);
  Entry& entry = entries_[key];
  if (timers_.now() >= entry.usable_until) entry.endpoints.clear();
  if (!entry.endpoints.empty() && timers_.now() < entry.fresh_until) return resolved(Resolution(entry.endpoints));
  if (entry.waiting.size() >= kMaxWaiting) {
    ++failures_;
    return resolved(error_code(asio::error::host_not_found_try_again));
  }
  entry.waiting.push_back(std::move(resolved));
  if (!entry.is_asked) return ask(key);
  if (!entry.endpoints.empty() && entry.waiting.size() == 1) lose_patience(key);  // the look-up is known to be slow
}

void NameCache::ask(const Key& key) {
  Entry& entry = entries_[key];
  entry.is_asked = true;
  if (!entry.endpoints.empty()) {
    timers_.after(kPatience, [weak = weak_from_this(), key] {
      if (const auto self = weak.lock()) self->lose_patience(key);
    });
  }
  try {
    resolve_(key.first, key.second, [weak = weak_from_this(), key](Result<Resolution> answer) {
      if (const auto self = weak.lock()) self->on_answer(key, std::move(answer));
    });
  } catch (...) {  // a user's function: whoever asks for the name later must not wait for an answer that never comes
    const auto asked = entries_.find(key);
    if (asked != entries_.end() && asked->second.is_asked)
      on_answer(key, error_code(asio::error::host_not_found_try_again));
    throw;
  }
}

void NameCache::on_answer(const Key& key, Result<Resolution> answer) {
  Entry& entry = entries_[key];
  entry.is_asked = false;
  if (answer && !answer->endpoints.empty()) {
    entry.endpoints = std::move(answer->endpoints);
    const auto time = answer->ttl ? std::chrono::milliseconds(std::min(*answer->ttl, kMostTime)) : fresh_for_;
    entry.fresh_until = timers_.now() + std::max<std::chrono::milliseconds>(time, kLeastTime);
    entry.usable_until = entry.fresh_until + kMostStale;
  } else {
    ++failures_;
    if (is_absence(answer) || timers_.now() >= entry.usable_until) entry.endpoints.clear();
    stale_answers_ += entry.endpoints.empty() ? 0 : entry.waiting.size();
    entry.fresh_until = timers_.now() + kLeastTime;
  }
  serve(entry, answer ? error_code(asio::error::host_not_found) : answer.error());
}

void NameCache::lose_patience(const Key& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !entry->second.is_asked || entry->second.endpoints.empty()) return;
  stale_answers_ += entry->second.waiting.size();
  serve(entry->second, {});
}

void NameCache::serve(Entry& entry, const error_code& failure) {
  // A callback may come back to this cache: work on copies.
  const std::vector<Resolved> waiting = std::exchange(entry.waiting, {});
  const std::vector<Endpoint> endpoints = entry.endpoints;
  std::exception_ptr thrown;  // by a user's function: the others don't pay for it
  for (const Resolved& resolved : waiting) {
    try {
      if (endpoints.empty())
        resolved(failure);
      else
        resolved(Resolution(endpoints));
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void NameCache::cancel() noexcept {
  const auto forgotten = std::exchange(entries_, {});
}

void NameCache::retain(const RouteConfig& config) {
  std::set<Key> used;
  for (const Backend& backend : config.backends) {
    if (!backend.host.empty()) used.emplace(backend.host, backend.port);
  }
  std::erase_if(entries_, [&](const auto& entry) { return !entry.second.is_asked && !used.contains(entry.first); });
}

}  // namespace hcpnet::proxy
