// SPDX-License-Identifier: Apache-2.0
#include "proxy/backend_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hcpnet::proxy {
namespace {

constexpr unsigned kMaxEjectionFactor = 10;

/// Families in turn, in each the order as it was. `v6_first`: RFC 8305 section 4; otherwise the first one's.
void interleave_families(BackendState::Candidates& candidates, bool v6_first) {
  const auto is_v4 = [](const auto& candidate) { return candidate->address.address.is_v4(); };
  const auto v4_count = std::ranges::count_if(candidates, is_v4);
  if (v4_count == 0 || v4_count == std::ssize(candidates)) return;
  bool take_v4 = !v6_first && is_v4(candidates.front());
  BackendState::Candidates families[2];
  for (auto& candidate : candidates) families[is_v4(candidate) ? 1 : 0].push_back(std::move(candidate));
  candidates.clear();
  for (std::size_t next[2] = {0, 0}; next[0] + next[1] < families[0].size() + families[1].size(); take_v4 = !take_v4) {
    const std::size_t family = take_v4 ? 1 : 0;
    if (next[family] < families[family].size()) candidates.push_back(std::move(families[family][next[family]++]));
  }
}

/// Puts the emptier of two that are drawn at random first, the other one second.
void prefer_one_of_two(BackendState::Candidates& candidates, std::size_t count, std::uint64_t random) {
  if (count < 2) return;
  const std::size_t one = random % count;
  const std::size_t other = (one + 1 + (random >> 32) % (count - 1)) % count;
  const bool is_one_emptier = candidates[one]->active <= candidates[other]->active;
  auto first = candidates[is_one_emptier ? one : other], second = candidates[is_one_emptier ? other : one];
  std::erase_if(candidates, [&](const auto& c) { return c == first || c == second; });
  candidates.insert(candidates.begin(), {std::move(first), std::move(second)});
}

void balance(BackendState::Candidates& candidates, std::size_t usable, Balance balance, std::uint64_t random) {
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(usable);
  if (balance == Balance::random_of_two) return prefer_one_of_two(candidates, usable, random);
  if (balance == Balance::least_connections)
    std::stable_sort(candidates.begin(), end, [](const auto& a, const auto& b) { return a->active < b->active; });
}

}  // namespace

bool EndpointState::on_failure(const Ejection& ejection, Clock::SteadyTime now) noexcept {
  ++failures;
  if (ejection.failures == 0 || ++failures_in_row_ < ejection.failures || is_ejected(now)) return false;
  // Long in use again since the last time: it starts anew.
  if (ejections_ > 0 && now.time_since_epoch() - ejected_until_.load() > ejection.duration * kMaxEjectionFactor)
    ejections_ = 0;
  const unsigned factor = std::min(++ejections_, kMaxEjectionFactor);
  ejected_until_ = (now + ejection.duration * factor).time_since_epoch();
  return true;
}

bool EndpointState::on_check(const HealthCheck& check, bool is_good) noexcept {
  good_checks_ = is_good ? good_checks_ + 1 : 0;
  bad_checks_ = is_good ? 0 : bad_checks_ + 1;
  const bool is_first = !std::exchange(is_checked_, true);
  const bool before = is_healthy_;
  if (is_good && (is_first || good_checks_ >= check.successes)) is_healthy_ = true;
  if (!is_good && (is_first || bad_checks_ >= check.failures)) is_healthy_ = false;
  return before != is_healthy_;
}

BackendState::Candidates BackendState::choose(const Backend& backend, std::span<const Endpoint> endpoints,
                                              std::size_t count, Clock::SteadyTime now, std::uint64_t turn,
                                              std::uint64_t random) {
  Candidates candidates;
  if (endpoints.empty()) return candidates;
  candidates.reserve(endpoints.size());
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < endpoints.size(); ++i)
      candidates.push_back(find_or_add(endpoints[(turn + i) % endpoints.size()]));
  }
  if (candidates.size() > 1) {
    // The others stay in the list: when all are bad, trying one beats trying none.
    const auto bad = std::stable_partition(candidates.begin(), candidates.end(),
                                           [&](const auto& candidate) { return candidate->is_usable(now); });
    const auto usable = static_cast<std::size_t>(bad - candidates.begin());
    Candidates rest(std::make_move_iterator(bad), std::make_move_iterator(candidates.end()));
    candidates.resize(usable);
    balance(candidates, usable, backend.balance, random);
    for (Candidates* part : {&candidates, &rest}) interleave_families(*part, backend.endpoints.empty());
    std::ranges::move(rest, std::back_inserter(candidates));
  }
  candidates.resize(std::min(candidates.size(), count));
  return candidates;
}

std::shared_ptr<EndpointState> BackendState::endpoint(const Endpoint& address) {
  const std::lock_guard lock(mutex_);
  return find_or_add(address);
}

void BackendState::retain(std::span<const Endpoint> addresses) {
  const std::lock_guard lock(mutex_);
  std::erase_if(endpoints_, [&](const auto& endpoint) {
    if (std::ranges::find(addresses, endpoint->address) != addresses.end()) return false;
    endpoint->forget_health();
    return endpoint.use_count() == 1;
  });
}

void BackendState::forget_health() {
  const std::lock_guard lock(mutex_);
  for (const auto& endpoint : endpoints_) endpoint->forget_health();
}

std::shared_ptr<EndpointState> BackendState::find_or_add(const Endpoint& address) {
  const auto known =
      std::ranges::find_if(endpoints_, [&](const auto& endpoint) { return endpoint->address == address; });
  if (known != endpoints_.end()) return *known;
  if (endpoints_.size() >= kMaxIdleEndpoints)
    std::erase_if(endpoints_, [](const auto& endpoint) { return endpoint.use_count() == 1; });
  return endpoints_.emplace_back(std::make_shared<EndpointState>(address));
}

EngineStats::PerBackend BackendState::stats(Clock::SteadyTime now) const {
  EngineStats::PerBackend stats;
  stats.total = total;
  stats.active = active;
  stats.connect_failures = connect_failures;
  stats.connect_timeouts = connect_timeouts;
  stats.limit_refused = limit_refused;
  stats.bytes_to_backend = bytes_to_backend;
  stats.bytes_to_client = bytes_to_client;
  stats.health_checks = health_checks;
  stats.health_check_failures = health_check_failures;
  stats.health_checks_left_out = health_checks_left_out;
  stats.ejections = ejections;
  const std::lock_guard lock(mutex_);
  for (const auto& endpoint : endpoints_)
    stats.endpoints.emplace(endpoint->address,
                            EngineStats::PerEndpoint{endpoint->total, endpoint->active, endpoint->failures,
                                                     endpoint->is_healthy(), endpoint->is_ejected(now)});
  return stats;
}

}  // namespace hcpnet::proxy
