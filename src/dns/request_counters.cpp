// SPDX-License-Identifier: Apache-2.0
#include "dns/request_counters.hpp"

#include <algorithm>

namespace hcpnet::dns {

void RequestCounters::add_query(Transport transport, const IpAddress& client, Type type) noexcept {
  const auto place = static_cast<std::size_t>(std::ranges::find(kTypes, type) - kTypes.begin());
  ++queries_[static_cast<std::size_t>(transport)][client.is_v4() ? 0 : 1][place];
}

void RequestCounters::add_replies(std::uint64_t count, std::chrono::nanoseconds time) noexcept {
  const double seconds = std::chrono::duration<double>(time).count();
  const auto& bounds = ServerStats::Durations::kBounds;
  durations_[static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin())] += count;
  seconds_ += seconds * static_cast<double>(count);
}

RequestCounters& RequestCounters::operator+=(const RequestCounters& more) noexcept {
  for (std::size_t t = 0; t < queries_.size(); ++t)
    for (std::size_t f = 0; f < queries_[t].size(); ++f)
      for (std::size_t i = 0; i < queries_[t][f].size(); ++i) queries_[t][f][i] += more.queries_[t][f][i];
  for (std::size_t i = 0; i < durations_.size(); ++i) durations_[i] += more.durations_[i];
  seconds_ += more.seconds_;
  return *this;
}

void RequestCounters::add_to(ServerStats& stats) const {
  for (std::size_t t = 0; t < queries_.size(); ++t)
    for (std::size_t f = 0; f < queries_[t].size(); ++f)
      for (std::size_t i = 0; i < queries_[t][f].size(); ++i)
        if (const std::uint64_t count = queries_[t][f][i]; count > 0)
          stats.requests.push_back(
              {t == 0 ? "udp" : "tcp", f == 0 ? 1 : 2, i < kTypes.size() ? to_string(kTypes[i]) : "other", count});
  std::ranges::copy(durations_, stats.durations.counts.begin());
  stats.durations.sum_seconds = seconds_;
}

}  // namespace hcpnet::dns
