// SPDX-License-Identifier: Apache-2.0
#include "dns/stored_reply.hpp"

#include <algorithm>

#include "dns/message_writer.hpp"
#include "dns/reply_options.hpp"
#include "dns/reply_writer.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::uint8_t kAdditional = 2;

bool is_negative(const Message& reply) {
  const Type asked = reply.questions.front().type;
  const auto answers = [&](const Record& record) { return asked == Type::any || record.type == asked; };
  return reply.rcode() != Rcode::noerror || std::ranges::none_of(reply.answers, answers);
}

/// RFC 2308 section 5: what is not there is remembered as the zone's SOA says, and not at all without one.
std::uint32_t negative_lifetime(const Message& reply) {
  const auto soa = std::ranges::find(reply.authority, Type::soa, &Record::type);
  if (soa == reply.authority.end() || soa->rdata.size() < 4) return 0;
  const std::uint32_t minimum = ByteReader(as_bytes(soa->rdata).last(4)).u32();
  return std::min({soa->ttl, minimum, StoredReply::kMaxNegativeTtl});
}

std::uint32_t lifetime_of(const Message& reply) {
  std::uint32_t lifetime = is_negative(reply) ? negative_lifetime(reply) : StoredReply::kMaxTtl;
  for (const Record& record : reply.answers) lifetime = std::min(lifetime, record.ttl);
  return lifetime;
}

void shorten_ttl(std::uint8_t* at, std::uint32_t age_seconds) noexcept {
  ByteReader stored({at, 4});
  const std::uint32_t ttl = stored.u32();
  ByteWriter({at, 4}).u32(ttl - std::min(ttl, age_seconds));
}

}  // namespace

std::optional<StoredReply> StoredReply::make(Message reply, TtlBounds bounds) {
  StoredReply stored;
  const std::uint32_t highest = std::min(bounds.max, kMaxTtl);
  const std::uint32_t lowest = is_negative(reply) ? 0 : std::min(bounds.min, highest);
  std::vector<std::uint8_t> buffer(kMaxMessageBytes);
  MessageWriter writer(buffer);
  reply.edns.reset();
  writer.header(reply);
  writer.question(reply.questions.front());
  std::uint8_t section = 0;
  for (auto* records : {&reply.answers, &reply.authority, &reply.additional}) {
    for (Record& record : *records) {
      record.ttl = std::clamp(record.ttl, lowest, highest);
      const std::size_t ttl_at = writer.record(record);
      stored.records_.push_back(
          {static_cast<std::uint16_t>(ttl_at), static_cast<std::uint16_t>(writer.size()), section});
    }
    ++section;
  }
  // Room for the OPT record of a client that has EDNS where its upstream's reply had none.
  if (!writer.ok() || writer.size() > kMaxMessageBytes - kOptBytes - ReplyOptions::kMaxBytes) return std::nullopt;
  stored.message_.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(writer.size()));
  stored.rcode_ = reply.rcode();
  stored.lifetime_seconds_ = std::min(lifetime_of(reply), highest);
  return stored;
}

template <class SetTtl>
std::size_t StoredReply::write(const Query& query, Transport transport, std::span<std::uint8_t> out,
                               SetTtl set_ttl) const noexcept {
  const std::size_t room = room_for_records(query, transport, out.size());
  SectionCounts counts{};
  std::uint16_t flags = flag::kRecursionAvailable;
  std::size_t size = kHeaderBytes + query.question.size();
  for (const Place& record : records_) {
    if (record.end > room) {
      if (record.section != kAdditional) flags |= flag::kTruncated;  // RFC 2181 section 9
      break;
    }
    size = record.end;
    ++counts[record.section];
  }
  std::copy_n(message_.begin(), size, out.begin());
  for (const Place& record : records_)
    if (record.end <= size) set_ttl(out.data() + record.ttl_at);
  return complete_reply(query, flags, rcode_, counts, out, size);
}

std::size_t StoredReply::render(const Query& query, Transport transport, std::uint32_t age_seconds,
                                std::span<std::uint8_t> out) const noexcept {
  return write(query, transport, out, [age_seconds](std::uint8_t* at) { shorten_ttl(at, age_seconds); });
}

std::size_t StoredReply::render_stale(const Query& query, Transport transport,
                                      std::span<std::uint8_t> out) const noexcept {
  return write(query, transport, out, [](std::uint8_t* at) { ByteWriter({at, 4}).u32(kStaleTtl); });
}

std::size_t StoredReply::memory_bytes() const noexcept {
  return sizeof(StoredReply) + message_.capacity() + records_.capacity() * sizeof(Place);
}

}  // namespace hcpnet::dns
