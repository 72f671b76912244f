// SPDX-License-Identifier: Apache-2.0
#include "dns/referral.hpp"

#include <algorithm>

namespace hcpnet::dns {
namespace {

/// What a compression pointer reaches.
constexpr std::size_t kMaxPointer = 0x3fff;

/// Where the RDATA of the name servers stands in the reply: one record after the other, from the first on.
class ServerNames {
 public:
  ServerNames(const RRset& servers, std::size_t first_at) noexcept : servers_(servers), first_at_(first_at) {}

  /// 0 when no pointer can lead there.
  [[nodiscard]] std::size_t find(const Name& name) const noexcept {
    std::size_t at = first_at_;
    for (const std::string& rdata : servers_.rdata) {
      if (std::ranges::equal(as_bytes(rdata), name.wire())) return at <= kMaxPointer ? at : 0;
      at += rdata.size() + 2 + ReplyWriter::kFixedBytes;
    }
    return 0;  // written in another case
  }

 private:
  const RRset& servers_;
  std::size_t first_at_;
};

bool add_addresses(ReplyWriter& reply, const RRset& set, std::size_t owner_at) noexcept {
  return std::ranges::all_of(set.rdata, [&](const std::string& rdata) {
    if (owner_at != 0) return reply.add(Section::additional, owner_at, set.type, set.ttl, as_bytes(rdata));
    return reply.add_named(Section::additional, set.owner.wire(), set.type, set.ttl, as_bytes(rdata));
  });
}

std::size_t size_of(const RRset& set, std::size_t owner_at) noexcept {
  const std::size_t owner_bytes = owner_at != 0 ? 2 : set.owner.wire().size();
  std::size_t bytes = 0;
  for (const std::string& rdata : set.rdata) bytes += owner_bytes + ReplyWriter::kFixedBytes + rdata.size();
  return bytes;
}

}  // namespace

void add_referral(ReplyWriter& reply, const Delegation& delegation, std::size_t cut_at) noexcept {
  const RRset& servers = delegation.name_servers;
  std::size_t first_at = 0;
  for (const std::string& rdata : servers.rdata) {
    if (!reply.add(Section::authority, cut_at, Type::ns, servers.ttl, as_bytes(rdata))) return;
    if (first_at == 0) first_at = reply.rdata_at();
  }
  const ServerNames names(servers, first_at);
  for (const RRset& set : delegation.required_glue)
    if (!add_addresses(reply, set, names.find(set.owner))) return;
  for (const RRset& set : delegation.other_glue) {
    const std::size_t owner_at = names.find(set.owner);
    if (size_of(set, owner_at) <= reply.room()) add_addresses(reply, set, owner_at);
  }
}

}  // namespace hcpnet::dns
