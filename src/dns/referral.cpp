// SPDX-License-Identifier: Apache-2.0
#include "dns/referral.hpp"

#include <algorithm>

namespace hcpnet::dns {
namespace {

bool add_addresses(ReplyWriter& reply, const RRset& set) noexcept {
  return std::ranges::all_of(set.rdata, [&](const std::string& rdata) {
    return reply.add_named(Section::additional, set.owner.wire(), set.type, set.ttl, as_bytes(rdata));
  });
}

std::size_t size_of(const RRset& set) noexcept {
  std::size_t bytes = 0;
  for (const std::string& rdata : set.rdata) bytes += set.owner.wire().size() + ReplyWriter::kFixedBytes + rdata.size();
  return bytes;
}

}  // namespace

void add_referral(ReplyWriter& reply, const Delegation& delegation, std::size_t cut_at) noexcept {
  const RRset& servers = delegation.name_servers;
  for (const std::string& rdata : servers.rdata)
    if (!reply.add(Section::authority, cut_at, Type::ns, servers.ttl, as_bytes(rdata))) return;
  for (const RRset& set : delegation.required_glue)
    if (!add_addresses(reply, set)) return;
  for (const RRset& set : delegation.other_glue)
    if (size_of(set) <= reply.room()) add_addresses(reply, set);
}

}  // namespace hcpnet::dns
