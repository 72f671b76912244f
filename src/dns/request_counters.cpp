// SPDX-License-Identifier: Apache-2.0
#include "dns/request_counters.hpp"

#include <algorithm>

namespace hcpnet::dns {
namespace {

constexpr std::array kTransports{"udp", "tcp"};  // by Transport

}  // namespace

void ServerStats::Durations::add(std::uint64_t count, std::chrono::nanoseconds time) noexcept {
  const double seconds = std::chrono::duration<double>(time).count();
  counts[static_cast<std::size_t>(std::ranges::lower_bound(kBounds, seconds) - kBounds.begin())] += count;
  sum_seconds += seconds * static_cast<double>(count);
}

void ServerStats::Sizes::add(std::size_t bytes) noexcept {
  // Nearly every message is below the first bounds.
  std::size_t place = 0;
  while (place < kBounds.size() && static_cast<double>(bytes) > kBounds[place]) ++place;
  ++counts[place];
  sum_bytes += bytes;
}

ServerStats::Sizes& ServerStats::Sizes::operator+=(const Sizes& more) noexcept {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += more.counts[i];
  sum_bytes += more.sum_bytes;
  return *this;
}

void RequestCounters::add_query(Transport transport, const IpAddress& client, Type type, std::size_t bytes) noexcept {
  const auto place = static_cast<std::size_t>(std::ranges::find(kTypes, type) - kTypes.begin());
  ++queries_[static_cast<std::size_t>(transport)][client.is_v4() ? 0 : 1][place];
  query_sizes_[static_cast<std::size_t>(transport)].add(bytes);
}

void RequestCounters::add_reply_size(Transport transport, std::size_t bytes) noexcept {
  reply_sizes_[static_cast<std::size_t>(transport)].add(bytes);
}

void RequestCounters::add_replies(std::uint64_t count, std::chrono::nanoseconds time) noexcept {
  durations_.add(count, time);
}

RequestCounters& RequestCounters::operator+=(const RequestCounters& more) noexcept {
  for (std::size_t t = 0; t < queries_.size(); ++t)
    for (std::size_t f = 0; f < queries_[t].size(); ++f)
      for (std::size_t i = 0; i < queries_[t][f].size(); ++i) queries_[t][f][i] += more.queries_[t][f][i];
  for (std::size_t i = 0; i < durations_.counts.size(); ++i) durations_.counts[i] += more.durations_.counts[i];
  durations_.sum_seconds += more.durations_.sum_seconds;
  for (std::size_t t = 0; t < query_sizes_.size(); ++t) {
    query_sizes_[t] += more.query_sizes_[t];
    reply_sizes_[t] += more.reply_sizes_[t];
  }
  return *this;
}

void RequestCounters::add_to(ServerStats& stats) const {
  for (std::size_t t = 0; t < queries_.size(); ++t)
    for (std::size_t f = 0; f < queries_[t].size(); ++f)
      for (std::size_t i = 0; i < queries_[t][f].size(); ++i)
        if (const std::uint64_t count = queries_[t][f][i]; count > 0)
          stats.requests.push_back(
              {kTransports[t], f == 0 ? 1 : 2, i < kTypes.size() ? to_string(kTypes[i]) : "other", count});
  stats.durations = durations_;
  for (std::size_t t = 0; t < query_sizes_.size(); ++t) {
    stats.query_sizes[kTransports[t]] = query_sizes_[t];
    stats.response_sizes[kTransports[t]] = reply_sizes_[t];
  }
}

}  // namespace hcpnet::dns
