// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <hcpnet/clock.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/log.hpp>
#include <hcpnet/net.hpp>
#include <string>

namespace hcpnet::dns {

/// What is known of a query before its reply is.
struct QueryRecord {
  IpAddress client;
  Transport transport = Transport::udp;
  std::string view;  ///< empty for a client of none
  Clock::SteadyTime received;
  const char* source = "none";  ///< "zone" (also for refusals), "cache", "upstream", "none" (no reply)
};

/// The fields of a line of the query log: client, view, name, type, transport, rcode, bytes, duration_us, source.
[[nodiscard]] Logger::Fields query_fields(const QueryRecord& record, ByteView query, ByteView reply,
                                          Clock::SteadyTime now);

}  // namespace hcpnet::dns
