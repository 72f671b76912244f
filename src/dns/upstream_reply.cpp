// SPDX-License-Identifier: Apache-2.0
#include "dns/upstream_reply.hpp"

#include <algorithm>
#include <hcpnet/dns/responder.hpp>
#include <utility>

#include "dns/folded_name.hpp"
#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

/// A server that could not even read the question says so without repeating it (RFC 6891 section 7).
bool is_bare_error(std::uint16_t flags, std::uint16_t questions, ByteView rest) noexcept {
  const auto code = static_cast<Rcode>(flags & flag::kRcode);
  return questions == 0 && rest.empty() &&
         (code == Rcode::formerr || code == Rcode::notimp || code == Rcode::servfail || code == Rcode::refused);
}

bool starts_with_question(ByteView rest, ByteView question) noexcept {
  if (rest.size() < question.size()) return false;
  rest = rest.first(question.size());
  const std::size_t name_bytes = question.size() - kTypeAndClassBytes;
  // The name's case may have changed on the way (RFC 4343).
  return std::ranges::equal(rest.first(name_bytes), question.first(name_bytes), {}, fold, fold) &&
         std::ranges::equal(rest.subspan(name_bytes), question.subspan(name_bytes));
}

/// More aliases than any answer has; each of them is looked for among all records.
constexpr std::size_t kMaxAliases = 64;

/// Nothing when it is damaged, or says more than an answer.
std::optional<Message> read_reply(ByteView bytes) {
  auto message = parse_message(bytes);
  if (!message) return std::nullopt;
  const auto aliases = std::ranges::count(message->answers, Type::cname, &Record::type);
  if (static_cast<std::size_t>(aliases) > kMaxAliases) return std::nullopt;
  return std::move(*message);
}

/// Whether an alias answers the question itself, and nothing beyond it was asked for (RFC 1034 section 3.6.2).
bool asks_for_aliases(Type asked) noexcept {
  return asked == Type::cname || asked == Type::any;
}

bool has(const std::vector<Name>& names, const Name& name) {
  return std::ranges::find(names, name) != names.end();
}

/// One alias stands at a name (RFC 2181 section 10.1): of several the first is believed, by whoever reads the reply.
void drop_other_aliases(std::vector<Record>& answers) {
  std::vector<Name> owners;
  std::vector<Record> kept;
  for (Record& record : answers) {
    if (record.type == Type::cname) {
      if (has(owners, record.owner)) continue;
      owners.push_back(record.owner);
    }
    kept.push_back(std::move(record));
  }
  answers = std::move(kept);
}

/// The alias that stands at `name`; null when there is none.
const Record* find_alias(const Message& reply, const Name& name) {
  const auto alias = std::ranges::find_if(
      reply.answers, [&](const Record& record) { return record.type == Type::cname && record.owner == name; });
  return alias == reply.answers.end() ? nullptr : &*alias;
}

struct NamesAsked {
  std::vector<Name> all;    ///< the one in the question, and those that it is an alias of
  std::optional<Name> end;  ///< the one that is no alias: what was asked for stands there; nullopt in a circle
};

/// In whatever order the aliases are told, of which each name has one at most.
NamesAsked names_asked(const Message& reply) {
  NamesAsked names{{reply.questions.front().name}, {}};
  if (!asks_for_aliases(reply.questions.front().type)) {
    while (const Record* alias = find_alias(reply, names.all.back())) {
      auto target = make_name(alias->rdata);
      if (!target || has(names.all, *target)) return names;
      names.all.push_back(*std::move(target));
    }
  }
  names.end = names.all.back();
  return names;
}

/// The type that a record is about: of a signature that which it covers (RFC 4034 section 3.1), unless signatures were
/// asked for.
Type subject_of(const Record& record, Type asked) noexcept {
  if (record.type != Type::rrsig || asked == Type::rrsig) return record.type;
  return Type{ByteReader(as_bytes(record.rdata)).u16()};
}

/// The code is that of the last name (RFC 6604 section 3): where that does not exist nothing but aliases leads to it.
bool denies_what_it_says(const Message& reply) {
  return reply.rcode() == Rcode::nxdomain && std::ranges::any_of(reply.answers, [](const Record& record) {
           return record.type != Type::cname && record.type != Type::dname && record.type != Type::rrsig;
         });
}

/// Whether a reply says what stands at a name, or that nothing does. One that is cut may.
bool says_what_stands_at(const Message& reply, const Name& name) {
  if (reply.rcode() != Rcode::noerror || (reply.flags & flag::kTruncated) != 0) return true;
  const auto denies_it = [&](const Record& record) {
    return record.type == Type::soa && name.is_below_or_equal(record.owner);
  };
  return std::ranges::find(reply.answers, name, &Record::owner) != reply.answers.end() ||
         std::ranges::any_of(reply.authority, denies_it);
}

/// Whether other upstreams have to say what stands at `target` than those who told of it, the ones of `told_by`; null:
/// the ones for everything.
bool is_for_others(const Message& reply, const Name& target, const ZoneForwarding* told_by, const Forwarding& to) {
  if (to.zones.empty()) return false;
  const FoldedName name(target);
  const ZoneForwarding* const theirs = to.zone_of(name);
  if (theirs == told_by) return false;
  const auto upstreams_of = [&](const ZoneForwarding* zone) -> const std::vector<Endpoint>& {
    return zone != nullptr ? zone->upstreams : to.upstreams;
  };
  const bool may_be_same = !to.resolv_conf || (theirs != nullptr && told_by != nullptr);
  if (may_be_same && upstreams_of(theirs) == upstreams_of(told_by)) return false;
  if (theirs != nullptr) return true;
  // A server that knows nothing but its zone ends there.
  return to.is_responsible_for(name) && !says_what_stands_at(reply, target);
}

/// Cheap, since most replies have none.
bool has_alias(ByteView reply) noexcept {
  ByteReader reader(reply);
  reader.skip(4);
  const std::uint16_t questions = reader.u16();
  const std::uint16_t answers = reader.u16();
  reader.skip(4);
  for (int i = 0; i < questions && reader.ok(); ++i) {
    skip_name(reader);
    reader.skip(4);
  }
  for (int i = 0; i < answers && reader.ok(); ++i) {
    skip_name(reader);
    const auto type = static_cast<Type>(reader.u16());
    if (reader.ok() && type == Type::cname) return true;
    reader.skip(6);
    reader.skip(reader.u16());
  }
  return false;
}

}  // namespace

bool keep_what_was_asked(Message& reply) {
  const bool is_empty = reply.answers.empty();
  for (auto* records : {&reply.answers, &reply.authority})
    std::erase_if(*records, [](const Record& record) { return record.rclass != kClassIn; });
  drop_other_aliases(reply.answers);
  const Type asked = reply.questions.front().type;
  const NamesAsked names = names_asked(reply);
  const auto is_above = [&](const Name& owner) {
    return std::ranges::any_of(names.all, [&](const Name& name) { return name.is_below_or_equal(owner); });
  };
  std::erase_if(reply.answers, [&](const Record& record) {
    const Type type = subject_of(record, asked);
    // An alias of a whole subtree stands above the name (RFC 6672).
    if (type == Type::dname && is_above(record.owner) && names.end != record.owner) return false;
    if (type == Type::cname || asked == Type::any) return !has(names.all, record.owner);
    if (type != asked) return true;
    // Nothing but these stands beside an alias (RFC 2181 section 10.1, RFC 4035 section 2.5).
    const bool is_beside_aliases = type == Type::rrsig || type == Type::nsec;
    return is_beside_aliases ? !has(names.all, record.owner) : names.end != record.owner;
  });
  std::erase_if(reply.authority, [&](const Record& record) {
    const bool is_proof = record.type == Type::nsec || record.type == Type::nsec3 || record.type == Type::rrsig;
    return !is_proof && !is_above(record.owner);
  });
  reply.additional.clear();
  if (denies_what_it_says(reply)) return false;
  return is_empty || !reply.answers.empty() ||
         std::ranges::find(reply.authority, Type::soa, &Record::type) != reply.authority.end();
}

std::optional<BegunReply> up_to_others_name(ByteView reply, const ViewZones& zones, const Forwarding& forwarding) {
  if (!has_alias(reply)) return std::nullopt;
  auto message = parse_message(reply);
  if (!message || message->questions.size() != 1) return std::nullopt;
  const Question question = message->questions.front();
  if (asks_for_aliases(question.type)) return std::nullopt;
  const ZoneForwarding* const told_by = forwarding.zone_of(FoldedName(question.name));
  std::vector<Record> chain;
  for (Name name = question.name; chain.size() < kMaxAliases;) {
    const Record* const alias = find_alias(*message, name);
    if (alias == nullptr) return std::nullopt;
    auto target = make_name(alias->rdata);
    if (!target) return std::nullopt;
    chain.push_back(*alias);
    const bool is_ours = zones.find(*target) != nullptr;
    if (is_ours || is_for_others(*message, *target, told_by, forwarding)) {
      message->flags = static_cast<std::uint16_t>(message->flags & ~flag::kRcode);  // theirs decides
      message->answers = std::move(chain);
      message->authority.clear();
      message->additional.clear();
      return BegunReply{encode_message(*message).value(), is_ours};
    }
    name = *std::move(target);
  }
  return std::nullopt;
}

bool is_referral(const Message& reply) noexcept {
  return reply.rcode() == Rcode::noerror && reply.answers.empty() &&
         (reply.flags & (flag::kAuthoritative | flag::kRecursionAvailable)) == 0 &&
         std::ranges::find(reply.authority, Type::soa, &Record::type) == reply.authority.end() &&
         std::ranges::find(reply.authority, Type::ns, &Record::type) != reply.authority.end();
}

std::vector<std::uint8_t> encode_query(const UpstreamQuestion& question) {
  std::vector<std::uint8_t> bytes(kHeaderBytes + question.question.size() + 11);
  ByteWriter writer(bytes);
  writer.u16(question.id);
  writer.u16(
      static_cast<std::uint16_t>(flag::kRecursionDesired | (question.checking_disabled ? flag::kCheckingDisabled : 0)));
  for (const int count : {1, 0, 0, question.has_edns ? 1 : 0}) writer.u16(static_cast<std::uint16_t>(count));
  writer.bytes(question.question);
  if (question.has_edns) {
    writer.u8(0);
    writer.u16(static_cast<std::uint16_t>(Type::opt));
    writer.u16(kMaxUdpBytes);
    writer.u16(0);
    writer.u16(question.dnssec_ok ? kDnssecOk : 0);
    writer.u16(0);
  }
  bytes.resize(writer.size());
  return bytes;
}

JudgedReply judge_reply(ByteView bytes, const UpstreamQuestion& asked) {
  using Verdict = JudgedReply::Verdict;
  ByteReader reader(bytes);
  const std::uint16_t id = reader.u16();
  const std::uint16_t flags = reader.u16();
  const std::uint16_t questions = reader.u16();
  reader.skip(6);
  if (!reader.ok() || id != asked.id || (flags & (flag::kResponse | flag::kOpcode)) != flag::kResponse) return {};
  const bool is_ours = questions == 1 && starts_with_question(reader.rest(), asked.question);
  if (!is_ours && !is_bare_error(flags, questions, reader.rest())) return {};
  const bool has_case = !asked.is_mixed_case || !is_ours ||
                        std::ranges::equal(reader.rest().first(asked.question.size()), asked.question);
  if (!has_case) {
    auto folded = read_reply(bytes);
    return {Verdict::case_changed, folded ? std::move(*folded) : Message{}};
  }
  if ((flags & flag::kTruncated) != 0) return {Verdict::truncated, {}};
  auto message = read_reply(bytes);
  if (!message) return {Verdict::truncated, {}};
  return {Verdict::accepted, std::move(*message)};
}

}  // namespace hcpnet::dns
