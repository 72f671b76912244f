// SPDX-License-Identifier: Apache-2.0
#include "proxy/name_cache.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <set>

#include "proxy/sockets.hpp"

namespace hcpnet::proxy {

Resolve make_system_resolve(const asio::any_io_executor& executor) {
  const auto resolver = std::make_shared<tcp::resolver>(executor);
  return [resolver](const std::string& host, std::uint16_t port, Resolved resolved) {
    resolver->async_resolve(
        host, std::to_string(port), tcp::resolver::numeric_service,
        [resolved = std::move(resolved)](const error_code& ec, const tcp::resolver::results_type& results) {
          if (ec) return resolved(ec);
          std::vector<Endpoint> endpoints;
          for (const auto& result : results) endpoints.push_back(from_asio(result.endpoint()));
          resolved(std::move(endpoints));
        });
  };
}

void NameCache::resolve(const std::string& host, std::uint16_t port, Resolved resolved) {
  const Key key(host, port);
  Entry& entry = entries_[key];
  if (!entry.endpoints.empty() && clock_.steady_now() < entry.fresh_until) return resolved(entry.endpoints);
  if (entry.waiting.size() >= kMaxWaiting) {
    ++failures_;
    return resolved(error_code(asio::error::host_not_found_try_again));
  }
  entry.waiting.push_back(std::move(resolved));
  if (entry.waiting.size() > 1) return;
  resolve_(host, port, [weak = weak_from_this(), key](Result<std::vector<Endpoint>> answer) {
    if (const auto self = weak.lock()) self->on_answer(key, std::move(answer));
  });
}

void NameCache::on_answer(const Key& key, Result<std::vector<Endpoint>> answer) {
  Entry& entry = entries_[key];
  if (answer && !answer->empty()) {
    entry.endpoints = *answer;
    entry.fresh_until = clock_.steady_now() + fresh_for_;
  } else {
    ++failures_;
    entry.fresh_until = clock_.steady_now() + kRetryAfterFailure;
  }
  // A callback may come back to this cache: work on copies.
  const std::vector<Resolved> waiting = std::exchange(entry.waiting, {});
  const std::vector<Endpoint> endpoints = entry.endpoints;
  const error_code failure = answer ? error_code(asio::error::host_not_found) : answer.error();
  for (const Resolved& resolved : waiting) {
    if (endpoints.empty())
      resolved(failure);
    else
      resolved(endpoints);
  }
}

void NameCache::retain(const RouteConfig& config) {
  std::set<Key> used;
  for (const Backend& backend : config.backends) {
    if (backend.endpoints.empty()) used.emplace(backend.host, backend.port);
  }
  std::erase_if(entries_,
                [&](const auto& entry) { return entry.second.waiting.empty() && !used.contains(entry.first); });
}

}  // namespace hcpnet::proxy
