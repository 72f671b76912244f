// SPDX-License-Identifier: Apache-2.0
#include "dns/upstream_reply.hpp"

#include <algorithm>
#include <hcpnet/dns/responder.hpp>

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
  constexpr std::size_t kTypeAndClassBytes = 4;
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

/// The name asked for, and those that it is an alias of, in whatever order they are told.
std::vector<Name> names_asked(const Message& reply) {
  std::vector<Name> names{reply.questions.front().name};
  for (std::size_t i = 0; i < names.size() && names.size() <= kMaxAliases; ++i) {
    for (const Record& record : reply.answers) {
      if (record.type != Type::cname || record.owner != names[i]) continue;
      const auto target = make_name(record.rdata);
      if (target && std::ranges::find(names, *target) == names.end()) names.push_back(*target);
    }
  }
  return names;
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

void keep_what_was_asked(Message& reply) {
  const std::vector<Name> names = names_asked(reply);
  const auto is_above = [&](const Name& owner) {
    return std::ranges::any_of(names, [&](const Name& name) { return name.is_below_or_equal(owner); });
  };
  std::erase_if(reply.answers, [&](const Record& record) {
    // An alias of a whole subtree stands above the name (RFC 6672), with its signature.
    if (record.type == Type::dname || record.type == Type::rrsig) return !is_above(record.owner);
    return std::ranges::find(names, record.owner) == names.end();
  });
  std::erase_if(reply.authority, [&](const Record& record) {
    const bool is_proof = record.type == Type::nsec || record.type == Type::nsec3 || record.type == Type::rrsig;
    return !is_proof && !is_above(record.owner);
  });
  reply.additional.clear();
}

std::optional<std::vector<std::uint8_t>> up_to_own_name(ByteView reply, const ViewZones& zones) {
  if (!has_alias(reply)) return std::nullopt;
  auto message = parse_message(reply);
  if (!message || message->questions.size() != 1) return std::nullopt;
  std::vector<Record> chain;
  for (Name name = message->questions.front().name; chain.size() < kMaxAliases;) {
    const auto alias = std::ranges::find_if(
        message->answers, [&](const Record& record) { return record.type == Type::cname && record.owner == name; });
    if (alias == message->answers.end()) return std::nullopt;
    auto target = make_name(alias->rdata);
    if (!target) return std::nullopt;
    chain.push_back(*alias);
    if (zones.find(*target) != nullptr) {
      message->flags = static_cast<std::uint16_t>(message->flags & ~flag::kRcode);  // ours decides
      message->answers = std::move(chain);
      message->authority.clear();
      return encode_message(*message).value();
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
    writer.u16(question.dnssec_ok ? 0x8000 : 0);
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
