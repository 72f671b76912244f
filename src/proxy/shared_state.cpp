// SPDX-License-Identifier: Apache-2.0
#include "proxy/shared_state.hpp"

#include <set>
#include <string_view>

namespace hcpnet::proxy {

bool SourceCounts::add(const IpAddress& source, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::size_t& count = counts_[source];
  if (count >= limit) return false;
  ++count;
  return true;
}

void SourceCounts::remove(const IpAddress& source) {
  const std::lock_guard lock(mutex_);
  const auto known = counts_.find(source);
  if (known != counts_.end() && --known->second == 0) counts_.erase(known);
}

std::shared_ptr<BackendState> SharedState::backend(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& state = backends_[name];
  if (!state) state = std::make_shared<BackendState>(name);
  return state;
}

void SharedState::retain(const RouteConfig& config) {
  std::set<std::string_view> used;
  for (const Backend& backend : config.backends) {
    used.insert(backend.name);
    const std::shared_ptr<BackendState> state = this->backend(backend.name);
    if (backend.is_unserved || !backend.endpoints.empty()) state->retain(backend.endpoints);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(backends_, [&](const auto& item) { return item.second->active == 0 && !used.contains(item.first); });
}

std::shared_ptr<ListenerState> SharedState::listener(const Endpoint& address, Protocol protocol) {
  const std::lock_guard lock(mutex_);
  auto& state = listeners_[{address, protocol}];
  if (!state) state = std::make_shared<ListenerState>(address);
  return state;
}

void SharedState::add_to(EngineStats& stats, Clock::SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  stats.active += active;
  for (const auto& [name, state] : backends_) stats.backends.emplace(name, state->stats(now));
  for (const auto& [key, state] : listeners_) {
    EngineStats::PerListener& counts = stats.listeners[key.first];
    counts.total += state->total;
    counts.active += state->active;
    counts.limit_refused += state->limit_refused;
    counts.no_route += state->no_route;
    counts.inspect_timeouts += state->inspect_timeouts;
  }
}

}  // namespace hcpnet::proxy
