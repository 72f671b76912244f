// SPDX-License-Identifier: Apache-2.0
#include "dns/alias_query.hpp"

#include <algorithm>
#include <utility>

namespace hcpnet::dns {
namespace {

/// But for what is there already: a chain that has come round leads through an alias of before once more.
void append_answers(Message& to, std::vector<Record> answers) {
  for (Record& record : answers) {
    const bool is_known = record.type == Type::cname && std::ranges::find(to.answers, record) != to.answers.end();
    if (!is_known) to.answers.push_back(std::move(record));
  }
}

}  // namespace

AliasQuery::AliasQuery(ByteView query, ByteView aliases, Transport transport)
    : aliases_(parse_message(aliases).value()) {
  static_cast<void>(read_query(query, query_));  // respond() has read it before
  max_bytes_ = query_.max_reply_bytes(transport);
  Message target;
  target.id = query_.id;
  target.flags = query_.flags & (flag::kRecursionDesired | flag::kCheckingDisabled);
  target.questions = {{make_name(aliases_.answers.back().rdata).value(), query_.type, kClassIn}};
  if (query_.has_edns) target.edns.emplace().dnssec_ok = query_.dnssec_ok;
  question_ = encode_message(target).value();
  query_ = {};
  static_cast<void>(read_query(question_, query_));
}

AliasQuery AliasQuery::then(ByteView aliases) const {
  AliasQuery next(question_, aliases, Transport::tcp);
  next.max_bytes_ = max_bytes_;
  Message whole = aliases_;
  append_answers(whole, std::move(next.aliases_.answers));
  next.aliases_ = std::move(whole);
  return next;
}

std::size_t AliasQuery::complete(ByteView reply, std::span<std::uint8_t> out) const {
  Message whole = aliases_;
  if (auto rest = parse_message(reply)) {
    append_answers(whole, std::move(rest->answers));
    whole.authority = std::move(rest->authority);
    whole.flags = static_cast<std::uint16_t>((whole.flags & ~flag::kRcode) | (rest->flags & flag::kRcode));
  }
  const std::size_t room = std::min(max_bytes_, out.size());
  auto bytes = encode_message(whole);
  if ((!bytes || bytes->size() > room) && whole.rcode() == Rcode::noerror) {
    whole.authority.clear();  // an answer does without
    bytes = encode_message(whole);
  }
  if (bytes && bytes->size() <= room) {
    std::ranges::copy(*bytes, out.begin());
    return bytes->size();
  }
  const std::vector<std::uint8_t> alone = aliases_within(room);
  std::ranges::copy(alone, out.begin());
  if (max_bytes_ == kMaxMessageBytes)
    out[3] |= static_cast<std::uint8_t>(Rcode::servfail);  // over TCP there is nothing larger to ask for
  else
    out[2] |= flag::kTruncated >> 8;
  return alone.size();
}

/// An upstream's aliases may need more room in their order than in the one that they came in: not every name is
/// remembered for compression.
std::vector<std::uint8_t> AliasQuery::aliases_within(std::size_t room) const {
  auto bytes = encode_message(aliases_);
  if (bytes && bytes->size() <= room) return std::move(*bytes);
  Message empty = aliases_;
  empty.answers.clear();
  return encode_message(empty).value();
}

}  // namespace hcpnet::dns
