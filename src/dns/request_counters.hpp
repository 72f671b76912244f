// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/server.hpp>

namespace hcpnet::dns {

/// Queries by what they were, and how long their replies took: what users of CoreDNS graph.
class RequestCounters {
 public:
  void add_query(Transport transport, const IpAddress& client, Type type, std::size_t bytes) noexcept;
  void add_reply_size(Transport transport, std::size_t bytes) noexcept;
  /// `count` replies that took `time` each.
  void add_replies(std::uint64_t count, std::chrono::nanoseconds time) noexcept;
  RequestCounters& operator+=(const RequestCounters& more) noexcept;
  void add_to(ServerStats& stats) const;

 private:
  /// Types with counters of their own; the last place is for all others.
  static constexpr std::array kTypes{Type::a,   Type::aaaa,  Type::any,  Type::axfr, Type::cname,
                                     Type::ds,  Type::https, Type::ixfr, Type::mx,   Type::ns,
                                     Type::ptr, Type::soa,   Type::srv,  Type::svcb, Type::txt};
  using ByType = std::array<std::uint64_t, kTypes.size() + 1>;
  std::array<std::array<ByType, 2>, 2> queries_{};  ///< by transport, then IPv4 and IPv6
  ServerStats::Durations durations_;
  std::array<ServerStats::Sizes, 2> query_sizes_{}, reply_sizes_{};  ///< by transport
};

}  // namespace hcpnet::dns
