// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <hcpnet/dns/responder.hpp>

#include "dns/chaos.hpp"
#include "dns/folded_name.hpp"
#include "dns/query.hpp"
#include "dns/referral.hpp"
#include "dns/reply_options.hpp"
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
        kind_ = ReplyKind::error;
        return Rcode::servfail;
      }
      if (const Delegation* cut = zone->find_delegation(*name, query_.type)) {
        refer(*cut, *name);
        return Rcode::noerror;
      }
      const ZoneMatch found = zone->find(*name, query_.type);
      if (found.outcome != Zone::Outcome::answer) {
        add_soa(reply_, *zone, *name, name_at_);
        const bool exists = found.outcome == Zone::Outcome::nodata;
        kind_ = exists ? ReplyKind::nodata : ReplyKind::nxdomain;
        return exists ? Rcode::noerror : Rcode::nxdomain;
      }
      if (was_followed(found.rrset) || !add(found.rrset) || !follow(found.rrset)) return Rcode::noerror;
      name = &target_;
      zone = view_.find_for(target_, query_.type);
    }
    leaves_zones_ = true;
    return Rcode::noerror;
  }

  /// Our aliases end at a name of no zone.
  [[nodiscard]] bool leaves_zones() const noexcept { return leaves_zones_; }
  [[nodiscard]] ReplyKind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_chain_cut() const noexcept { return is_chain_cut_; }

 private:
  /// AA is about the name asked: it stays where that was an alias of ours (RFC 1035 section 4.1.1).
  void refer(const Delegation& cut, const FoldedName& name) noexcept {
    if (hops_ == 0) reply_.clear_authoritative();
    kind_ = ReplyKind::referral;
    add_referral(reply_, cut, name_at_ + name.wire().size() - cut.name_servers.owner.wire().size());
  }

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
    if (hops_ == kMaxCnameHops) {
      is_chain_cut_ = true;
      return false;
    }
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
  ReplyKind kind_ = ReplyKind::answer;
  bool leaves_zones_ = false;
  bool is_chain_cut_ = false;
};

Response reply_with(ReplyWriter& reply, Rcode rcode, CookieState cookie, ReplyKind kind = ReplyKind::error) noexcept {
  return {Response::Verdict::reply, {}, rcode, reply.finish(rcode), kind, cookie};
}

/// One TXT record of class CHAOS, which nobody is to keep.
Response tell_identity(ReplyWriter& reply, std::string_view text, CookieState cookie) noexcept {
  std::array<std::uint8_t, 1 + Identity::kMaxVersionBytes> rdata;
  ByteWriter writer(rdata);
  const ByteView fitting = as_bytes(text.substr(0, Identity::kMaxVersionBytes));
  writer.u8(static_cast<std::uint8_t>(fitting.size()));
  writer.bytes(fitting);
  reply.set_authoritative();
  reply.add(Section::answer, kHeaderBytes, Type::txt, 0, writer.written());
  return reply_with(reply, Rcode::noerror, cookie, ReplyKind::answer);
}

}  // namespace

std::string_view to_string(FormatError error) noexcept {
  switch (error) {
    case FormatError::none:
      return "none";
    case FormatError::question:
      return "question";
    case FormatError::record:
      return "record";
    case FormatError::misplaced_opt:
      return "misplaced_opt";
    case FormatError::option:
      return "option";
    case FormatError::trailing_bytes:
      return "trailing_bytes";
    case FormatError::missing_soa:
      return "missing_soa";
  }
  return "unknown";
}

std::string_view to_string(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::too_short:
      return "short";
    case DropReason::is_response:
      return "is_response";
  }
  return "unknown";
}

namespace {

Response respond_to(Query& query, const QueryContext& context, std::span<std::uint8_t> out) noexcept {
  const ReplyOptions options(query, context);
  query.reply_options = options.bytes();
  const CookieState cookie = options.cookie();
  ReplyWriter reply(query, context.transport, out);
  if (context.can_forward) reply.set_recursion_available();
  if (const auto text = find_chaos_text(query, identity_for(context)); !text.empty())
    return tell_identity(reply, text, cookie);
  if (query.verdict != Rcode::noerror) return reply_with(reply, query.verdict, cookie);
  if (query.question.empty())
    return reply_with(reply, cookie == CookieState::none ? Rcode::formerr : Rcode::noerror, cookie, ReplyKind::nodata);
  if (context.view == nullptr) return reply_with(reply, Rcode::refused, cookie);
  const Zone* zone = context.view->find_for(query.name, query.type);
  if (zone != nullptr) {
    Search search(query, *context.view, reply);
    const Rcode rcode = search.run(zone);
    Response response = reply_with(reply, rcode, cookie, search.kind());
    response.is_chain_cut = search.is_chain_cut();
    if (search.leaves_zones() && context.can_forward && query.recursion_desired())
      response.verdict = Response::Verdict::forward;
    return response;
  }
  // RFC 1034 section 4.3.1: only those who ask for recursion get it.
  if (context.can_forward && query.recursion_desired())
    return {Response::Verdict::forward, {}, {}, 0, ReplyKind::answer, cookie};
  return reply_with(reply, Rcode::refused, cookie);
}

}  // namespace

Response respond(ByteView bytes, const QueryContext& context, std::span<std::uint8_t> out) noexcept {
  Query query;
  if (const auto reason = read_query(bytes, query)) return {Response::Verdict::drop, *reason};
  Response response = respond_to(query, context, out);
  response.type = query.type;
  if (response.rcode != Rcode::formerr) return response;
  // Without a question it asks for a cookie, of which nothing is known here.
  response.format_error = query.format_error == FormatError::none ? FormatError::question : query.format_error;
  return response;
}

namespace {

/// A reply without records, which `finish` ends.
template <class Finish>
std::size_t respond_without_records(ByteView bytes, const QueryContext& context, std::span<std::uint8_t> out,
                                    Finish finish) noexcept {
  Query query;
  if (read_query(bytes, query)) return 0;
  const ReplyOptions options(query, context);
  query.reply_options = options.bytes();
  ReplyWriter reply(query, context.transport, out);
  if (context.can_forward) reply.set_recursion_available();
  return finish(reply, options.cookie());
}

}  // namespace

std::size_t respond_with_error(ByteView bytes, Rcode rcode, const QueryContext& context,
                               std::span<std::uint8_t> out) noexcept {
  return respond_without_records(bytes, context, out,
                                 [rcode](ReplyWriter& reply, CookieState) { return reply.finish(rcode); });
}

std::size_t respond_with_less(ByteView bytes, const QueryContext& context, std::span<std::uint8_t> out) noexcept {
  return respond_without_records(bytes, context, out, [](ReplyWriter& reply, CookieState cookie) {
    if (cookie != CookieState::none) return reply.finish(Rcode::badcookie);
    reply.set_truncated();
    return reply.finish(Rcode::noerror);
  });
}

}  // namespace hcpnet::dns
