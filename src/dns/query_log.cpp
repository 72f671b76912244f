// SPDX-License-Identifier: Apache-2.0
#include "dns/query_log.hpp"

#include <chrono>
#include <utility>

#include "dns/query.hpp"

namespace hcpnet::dns {

Logger::Fields query_fields(const QueryRecord& record, ByteView bytes, ByteView reply, Clock::SteadyTime now) {
  Logger::Fields fields{{"client", record.client.to_string()}, {"view", printable(record.view)}};
  Query query;
  const bool is_readable = !read_query(bytes, query) && !query.question.empty();
  if (is_readable) {
    const auto name = make_name(std::string(as_text(query.name.wire())));
    fields.push_back({"name", name ? name->to_string() : std::string{}});
    fields.push_back({"type", to_string(query.type)});
  }
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(now - record.received);
  fields.push_back({"transport", record.transport == Transport::udp ? "udp" : "tcp"});
  if (reply.size() >= kHeaderBytes) fields.push_back({"rcode", to_string(static_cast<Rcode>(reply[3] & flag::kRcode))});
  fields.push_back({"bytes", reply.size()});
  fields.push_back({"duration_us", duration.count()});
  fields.push_back({"source", record.source});
  return fields;
}

}  // namespace hcpnet::dns
