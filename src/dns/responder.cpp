// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/dns/responder.hpp>

#include "dns/folded_name.hpp"
#include "dns/query.hpp"
#include "dns/reply_writer.hpp"
#include "dns/zone_store.hpp"

namespace hcpnet::dns {
namespace {

/// RFC 8482 section 4.2: what stands for "everything": small, of no use to an amplifier, and worth caching for long.
constexpr std::string_view kMinimalAny{"\7RFC8482\0", 9};
constexpr std::uint32_t kMinimalAnyTtl = 3600;

/// RFC 2308 section 3: the SOA in the authority section says for how long there is nothing. Its owner is the end of the
/// name asked.
void add_soa(ReplyWriter& reply, const Zone& zone, const FoldedName& name, std::size_t name_at) noexcept {
  const std::size_t apex_at = name_at + name.wire().size() - zone.apex().wire().size();
  reply.add(Section::authority, apex_at, Type::soa, zone.negative_ttl(), zone.soa_rdata());
}

/// RFC 1034 section 4.3.2, steps 3 and 4, along CNAMEs for as long as they lead into zones of the view.
class Search {
 public:
  Search(const Query& query, const ViewZones& view, ReplyWriter& reply) noexcept
      : query_(query), view_(view), reply_(reply) {}

  Rcode run(const Zone* zone) noexcept {
    const FoldedName* name = &query_.name;
    reply_.set_authoritative();
    while (zone != nullptr) {
      if (!zone->is_available()) {
        reply_.clear();
        return Rcode::servfail;
      }
      const ZoneMatch found = zone->find(*name, query_.type);
      if (found.outcome != Zone::Outcome::answer) {
        add_soa(reply_, *zone, *name, name_at_);
        return found.outcome == Zone::Outcome::nodata ? Rcode::noerror : Rcode::nxdomain;
      }
      if (was_followed(found.rrset) || !add(found.rrset) || !follow(found.rrset)) return Rcode::noerror;
      name = &target_;
      zone = view_.find(target_);
    }
    return Rcode::noerror;
  }

 private:
  bool add(const StoredRRset& rrset) noexcept {
    if (query_.type == Type::any && rrset.type != Type::cname)
      return reply_.add(Section::answer, name_at_, Type::hinfo, kMinimalAnyTtl, as_bytes(kMinimalAny));
    return reply_.add(Section::answer, name_at_, rrset);
  }

  [[nodiscard]] bool was_followed(const StoredRRset& rrset) const noexcept {
    const auto end = followed_.begin() + static_cast<std::ptrdiff_t>(hops_);
    return std::find(followed_.begin(), end, rrset.records.data()) != end;
  }

  /// Whether the answer goes on at the target of `rrset`.
  bool follow(const StoredRRset& rrset) noexcept {
    if (rrset.type != Type::cname || query_.type == Type::cname || query_.type == Type::any) return false;
    if (hops_ == kMaxCnameHops) return false;
    followed_[hops_++] = rrset.records.data();
    name_at_ = reply_.rdata_at();
    return target_.read(rrset.front()) != 0;
  }

  const Query& query_;
  const ViewZones& view_;
  ReplyWriter& reply_;
  FoldedName target_;
  std::size_t name_at_ = kHeaderBytes;
  std::array<const std::uint8_t*, kMaxCnameHops> followed_;
  std::size_t hops_ = 0;
};

Response reply_with(ReplyWriter& reply, Rcode rcode) noexcept {
  return {Response::Verdict::reply, {}, rcode, reply.finish(rcode)};
}

}  // namespace

std::string_view to_string(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::too_short:
      return "short";
    case DropReason::is_response:
      return "is_response";
  }
  return "unknown";
}

Response respond(ByteView bytes, const QueryContext& context, std::span<std::uint8_t> out) noexcept {
  Query query;
  if (const auto reason = read_query(bytes, query)) return {Response::Verdict::drop, *reason, {}, 0};
  ReplyWriter reply(query, context.transport, out);
  if (context.can_forward) reply.set_recursion_available();
  if (query.verdict != Rcode::noerror) return reply_with(reply, query.verdict);
  if (context.view == nullptr) return reply_with(reply, Rcode::refused);
  const Zone* zone = context.view->find(query.name);
  if (zone != nullptr) return reply_with(reply, Search(query, *context.view, reply).run(zone));
  // RFC 1034 section 4.3.1: only those who ask for recursion get it.
  if (context.can_forward && query.recursion_desired()) return {Response::Verdict::forward, {}, {}, 0};
  return reply_with(reply, Rcode::refused);
}

std::size_t respond_with_error(ByteView bytes, Rcode rcode, const QueryContext& context,
                               std::span<std::uint8_t> out) noexcept {
  Query query;
  if (read_query(bytes, query)) return 0;
  ReplyWriter reply(query, context.transport, out);
  if (context.can_forward) reply.set_recursion_available();
  return reply.finish(rcode);
}

}  // namespace hcpnet::dns
