// SPDX-License-Identifier: Apache-2.0
#include "dns/transfer.hpp"

#include <algorithm>
#include <hcpnet/dns/renderer.hpp>
#include <utility>

#include "dns/missing_name_server.hpp"
#include "dns/reply_options.hpp"
#include "dns/reply_writer.hpp"
#include "dns/soa.hpp"

namespace hcpnet::dns {
namespace {

/// What compression pointers reach, so that owners can point to the question.
constexpr std::size_t kMessageBytes = 0x4000;
constexpr std::uint32_t kSerialOfNobody = 1;

/// The owner without the apex, then a pointer to the apex in the question.
class ShortOwner {
 public:
  ShortOwner(const Name& owner, const Name& apex) noexcept {
    const std::size_t before_apex = owner.wire().size() - apex.wire().size();
    ByteWriter writer(bytes_);
    writer.bytes(owner.wire().first(before_apex));
    writer.u16(0xc000 | kHeaderBytes);
    size_ = writer.size();
  }
  [[nodiscard]] ByteView bytes() const noexcept { return ByteView(bytes_).first(size_); }

 private:
  std::array<std::uint8_t, Name::kMaxBytes + 2> bytes_;
  std::size_t size_ = 0;
};

bool is_equal(const RRset& a, const RRset& b) {
  return a.type == b.type && a.ttl == b.ttl && a.owner == b.owner && a.rdata == b.rdata;
}

bool has_same_records(const Zone& a, const Zone& b) {
  RRset soa = a.soa();
  put_serial(soa.rdata.front(), serial_of(b));
  const auto rest = [](const Zone& zone) { return std::span(zone.rrsets()).subspan(1); };
  return is_equal(soa, b.soa()) && a.is_available() == b.is_available() &&
         std::ranges::equal(rest(a), rest(b), is_equal);
}

/// Whether who has `before` has all that `zone` would tell.
bool is_unchanged(const Zone& zone, const Zone& before) {
  const std::uint32_t given = serial_of(zone);
  return has_same_records(zone, before) && (given == kSerialOfNobody || !is_later_serial(given, serial_of(before)));
}

/// The serial that the client of an IXFR has, in the authority section (RFC 1995 section 3).
std::optional<std::uint32_t> clients_serial(ByteView query, const Name& apex) {
  const auto message = parse_message(query);
  if (!message) return std::nullopt;
  for (const Record& record : message->authority)
    if (record.type == Type::soa && record.rclass == kClassIn && record.owner == apex)
      return serial_in(as_bytes(record.rdata));
  return std::nullopt;
}

}  // namespace

ZoneTransfer::ZoneTransfer(std::shared_ptr<const Zone> zone, ByteView query, Form form)
    : zone_(std::move(zone)),
      bytes_(query.begin(), query.end()),
      last_(form == Form::whole ? zone_->rrsets().size() : 0) {
  static_cast<void>(read_query(bytes_, query_));
}

const RRset& ZoneTransfer::current() const noexcept {
  return set_ == zone_->rrsets().size() ? zone_->soa() : zone_->rrsets()[set_];
}

void ZoneTransfer::advance() noexcept {
  if (++record_ < current().rdata.size()) return;
  record_ = 0;
  ++set_;
}

std::size_t ZoneTransfer::next(std::span<std::uint8_t> out) {
  if (is_done()) return 0;
  const std::size_t size = fill(out.first(std::min(out.size(), kMessageBytes)));
  return size != 0 ? size : fill(out);
}

std::size_t ZoneTransfer::fill(std::span<std::uint8_t> out) {
  ReplyWriter reply(query_, Transport::tcp, out);
  reply.set_authoritative();
  bool is_empty = true;
  for (; !is_done(); advance()) {
    const ShortOwner owner(current().owner, zone_->apex());
    const std::string& rdata = current().rdata[record_];
    if (owner.bytes().size() + ReplyWriter::kFixedBytes + rdata.size() > reply.room()) break;
    reply.add_named(Section::answer, owner.bytes(), current().type, current().ttl, as_bytes(rdata));
    is_empty = false;
  }
  if (!is_empty) return reply.finish(Rcode::noerror);
  if (out.size() <= kMessageBytes) return 0;
  set_ = last_ + 1;  // a record that no message can hold: the client sees that the SOA at the end is missing
  return reply.finish(Rcode::servfail);
}

bool asks_for_transfer(ByteView bytes) noexcept {
  Query query;
  return !read_query(bytes, query) && !query.question.empty() && query.qclass == kClassIn &&
         (query.flags & flag::kOpcode) == 0 && (query.type == Type::axfr || query.type == Type::ixfr);
}

TransferStart start_transfer(ByteView bytes, Transport transport, const ViewZones& view,
                             const std::shared_ptr<const void>& owner) {
  Query query;
  if (read_query(bytes, query)) return {};
  if (query.type == Type::axfr && transport == Transport::udp) return {};  // RFC 5936 section 4.2
  const Zone* zone = view.find(query.name);
  if (zone == nullptr || zone->apex().wire().size() != query.name.wire().size()) return {Rcode::notauth, nullptr};
  if (!zone->is_available()) return {Rcode::servfail, nullptr};
  auto form = ZoneTransfer::Form::whole;
  if (query.type == Type::ixfr) {
    const auto known = clients_serial(bytes, zone->apex());
    if (!known) return {Rcode::formerr, nullptr, FormatError::missing_soa};
    if (!is_later_serial(serial_of(*zone), *known)) form = ZoneTransfer::Form::soa_only;
  }
  if (transport == Transport::udp) return {Rcode::noerror, nullptr};
  return {Rcode::noerror, std::make_shared<ZoneTransfer>(std::shared_ptr<const Zone>(owner, zone), bytes, form)};
}

std::size_t respond_with_soa(ByteView bytes, const QueryContext& context, std::span<std::uint8_t> out) noexcept {
  Query query;
  if (read_query(bytes, query)) return 0;
  const ReplyOptions options(query, context);
  query.reply_options = options.bytes();
  ReplyWriter reply(query, context.transport, out);
  reply.set_authoritative();
  reply.add(Section::answer, kHeaderBytes, context.view->find(query.name)->find(query.name, Type::soa).rrset);
  return reply.finish(Rcode::noerror);
}

std::uint32_t serial_of(const Zone& zone) noexcept {
  return serial_in(zone.soa_rdata());
}

bool is_later_serial(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t ahead = a - b;
  return ahead != 0 && ahead < 0x80000000;
}

std::shared_ptr<const Zone> with_name_server(const std::shared_ptr<const Zone>& zone) {
  const auto name_server = missing_name_server(*zone);
  if (!name_server) return zone;
  std::vector<RRset> rrsets = zone->rrsets();
  rrsets.push_back(*name_server);
  return std::make_shared<const Zone>(zone->apex(), std::move(rrsets), serial_of(*zone),
                                      zone->is_available() ? Availability::available : Availability::unavailable);
}

std::shared_ptr<const Zone> with_current_serial(const std::shared_ptr<const Zone>& zone,
                                                const std::shared_ptr<const Zone>& before, std::uint32_t now) {
  if (before && (zone == before || is_unchanged(*zone, *before))) return before;
  const std::uint32_t given = serial_of(*zone);
  if (given != kSerialOfNobody && (!before || is_later_serial(given, serial_of(*before)))) return zone;
  std::uint32_t serial = now;
  if (before && !is_later_serial(serial, serial_of(*before))) serial = next_serial(serial_of(*before));
  std::vector<RRset> rrsets = zone->rrsets();
  put_serial(rrsets.front().rdata.front(), serial);
  return std::make_shared<const Zone>(zone->apex(), std::move(rrsets), serial,
                                      zone->is_available() ? Availability::available : Availability::unavailable);
}

ZoneIndex::ZoneIndex(const Config& config) {
  for (const View& view : config.views)
    for (const auto& zone : view.zones) views_[view.name].emplace(zone->apex(), zone);
}

std::shared_ptr<const Zone> ZoneIndex::find(const std::string& view, const Name& apex) const {
  const auto zones = views_.find(view);
  if (zones == views_.end()) return nullptr;
  const auto zone = zones->second.find(apex);
  return zone == zones->second.end() ? nullptr : zone->second;
}

void set_serials(Config& config, const ZoneIndex& before, std::uint32_t now) {
  if (!config.transfer.is_enabled()) return;
  for (View& view : config.views)
    for (auto& zone : view.zones)
      zone = with_current_serial(with_name_server(zone), before.find(view.name, zone->apex()), now);
}

}  // namespace hcpnet::dns
