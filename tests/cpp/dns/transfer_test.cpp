// SPDX-License-Identifier: Apache-2.0
#include "dns/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

std::string soa_rdata(std::uint32_t serial) {
  std::string rdata(as_text(test::name("ns.blue.example").wire()));
  rdata += as_text(test::name("host.blue.example").wire());
  for (const std::uint32_t number : {serial, 1U, 2U, 3U, 4U})
    for (int shift = 24; shift >= 0; shift -= 8) rdata += static_cast<char>(number >> shift);
  return rdata;
}

std::shared_ptr<const Zone> zone_with(std::vector<RRset> rrsets, std::uint32_t serial = 1) {
  rrsets.push_back({test::name("blue.example"), Type::soa, 60, {soa_rdata(serial)}});
  return std::make_shared<const Zone>(test::name("blue.example"), std::move(rrsets));
}

struct Sent {
  std::vector<Record> records;
  std::size_t messages = 0;
  std::size_t largest = 0;
};

Sent run(ZoneTransfer& transfer) {
  Sent sent;
  test::Bytes out(kMaxMessageBytes);
  for (std::size_t size = transfer.next(out); size != 0; size = transfer.next(out)) {
    const Message message = parse_message(ByteView(out).first(size)).value();
    EXPECT_EQ(message.id, 0x1234);
    EXPECT_NE(message.flags & flag::kAuthoritative, 0);
    EXPECT_EQ(message.flags & flag::kTruncated, 0);
    EXPECT_EQ(message.rcode(), Rcode::noerror);
    sent.records.insert(sent.records.end(), message.answers.begin(), message.answers.end());
    sent.largest = std::max(sent.largest, size);
    ++sent.messages;
  }
  return sent;
}

test::Bytes query(Type type, std::string_view name = "blue.example", std::optional<std::uint32_t> serial = {}) {
  Message message = test::make_query(name, type);
  if (serial) message.authority = {{test::name(name), Type::soa, kClassIn, 0, soa_rdata(*serial)}};
  return encode_message(message).value();
}

TEST(ZoneTransfer, SendsEveryRecordOnceBetweenTwoSoas) {
  std::vector<RRset> rrsets;
  for (int i = 0; i < 5000; ++i)
    rrsets.push_back(test::a_record("h" + std::to_string(i) + ".blue.example", "10.0.0.1"));
  rrsets.push_back({test::name("txt.blue.example"), Type::txt, 30, {std::string("\1a"), std::string("\1b")}});
  const auto zone = zone_with(rrsets);
  ZoneTransfer transfer(zone, query(Type::axfr), ZoneTransfer::Form::whole);
  const Sent sent = run(transfer);
  EXPECT_GT(sent.messages, 5U);
  EXPECT_LE(sent.largest, 16384U);
  ASSERT_EQ(sent.records.size(), 5004U);
  EXPECT_EQ(sent.records.front().type, Type::soa);
  EXPECT_EQ(sent.records.front(), sent.records.back());
  std::size_t at = 0;
  for (const RRset& set : zone->rrsets())
    for (const std::string& rdata : set.rdata)
      EXPECT_EQ(sent.records[at++], (Record{set.owner, set.type, kClassIn, set.ttl, rdata}));
}

TEST(ZoneTransfer, GivesALargeRecordAsLargeAMessageAsItNeeds) {
  const std::string big(60'000, 'x');
  ZoneTransfer transfer(zone_with({{test::name("big.blue.example"), Type{65280}, 30, {big}}}), query(Type::axfr),
                        ZoneTransfer::Form::whole);
  const Sent sent = run(transfer);
  EXPECT_EQ(sent.messages, 2U) << "the first SOA, then the record with the last";
  ASSERT_EQ(sent.records.size(), 3U);
  EXPECT_EQ(sent.records[1].rdata, big);
}

class TransferStarts : public testing::Test {
 protected:
  TransferStart start(ByteView bytes, Transport transport = Transport::tcp) const {
    return start_transfer(bytes, transport, views[0], zone);
  }
  std::shared_ptr<const Zone> zone = zone_with({test::a_record("api.blue.example", "192.0.2.4")}, 100);
  ViewSet views = ViewSet::make({test::view_of({zone})}).value();
};

TEST_F(TransferStarts, OnlyAtAnApex) {
  EXPECT_EQ(start(query(Type::axfr)).rcode, Rcode::noerror);
  EXPECT_EQ(start(query(Type::axfr, "api.blue.example")).rcode, Rcode::notauth);
  EXPECT_EQ(start(query(Type::axfr, "other.example")).rcode, Rcode::notauth);
}

TEST_F(TransferStarts, OfIncrementsGiveTheSoaToWhoIsUpToDateAndElseTheZone) {
  EXPECT_EQ(run(*start(query(Type::ixfr, "blue.example", 100)).transfer).records.size(), 1U);
  EXPECT_EQ(run(*start(query(Type::ixfr, "blue.example", 101)).transfer).records.size(), 1U);
  EXPECT_EQ(run(*start(query(Type::ixfr, "blue.example", 99)).transfer).records.size(), 3U);
}

TEST_F(TransferStarts, OfIncrementsNeedTheClientsSoa) {
  Message other = test::make_query("blue.example", Type::ixfr);
  other.authority = {{test::name("red.example"), Type::soa, kClassIn, 0, soa_rdata(100)}};
  Message chaos = other;
  chaos.authority = {{test::name("blue.example"), Type::soa, 3, 0, soa_rdata(100)}};
  test::Bytes cut = query(Type::ixfr, "blue.example", 100);
  constexpr std::size_t kLengthAt = kHeaderBytes + 14 + kTypeAndClassBytes + 2 + 8;  // the owner is a pointer
  ASSERT_EQ(cut.size(), kLengthAt + 2 + cut[kLengthAt + 1]);
  cut[kLengthAt + 1] = static_cast<std::uint8_t>(cut[kLengthAt + 1] - 4);
  cut.resize(cut.size() - 4);
  for (const test::Bytes& bytes :
       {query(Type::ixfr), encode_message(other).value(), encode_message(chaos).value(), cut}) {
    const TransferStart refused = start(bytes);
    EXPECT_EQ(refused.rcode, Rcode::formerr);
    EXPECT_EQ(refused.format_error, FormatError::missing_soa);
    EXPECT_EQ(refused.transfer, nullptr);
  }
  EXPECT_EQ(start(query(Type::ixfr, "blue.example", 100)).format_error, FormatError::none);
}

TEST_F(TransferStarts, NotOverUdp) {
  EXPECT_EQ(start(query(Type::axfr), Transport::udp).rcode, Rcode::refused);
  const TransferStart increments = start(query(Type::ixfr, "blue.example", 99), Transport::udp);
  EXPECT_EQ(increments.rcode, Rcode::noerror);
  EXPECT_EQ(increments.transfer, nullptr);
}

/// What respond_with_soa() says to a query for increments of the only zone, whose apex is `apex`.
Message soa_over_udp(std::string_view apex, std::optional<Edns> edns, std::size_t& bytes) {
  const auto views =
      ViewSet::make({test::view_of({std::make_shared<const Zone>(test::name(apex), std::vector<RRset>{}, 100)})})
          .value();
  const CookieSecrets secrets;
  QueryContext context{&views[0], Transport::udp, false};
  context.client = *parse_ip_address("192.0.2.9");
  context.cookies = &secrets;
  Message message = test::make_query(apex, Type::ixfr);
  message.authority = {{test::name(apex), Type::soa, kClassIn, 0, soa_rdata(99)}};
  message.edns = std::move(edns);
  test::Bytes out(kMaxUdpBytes);
  bytes = respond_with_soa(encode_message(message).value(), context, out);
  return parse_message(ByteView(out).first(bytes)).value();
}

TEST(SoaOverUdp, HasACookieForWhoSendsOne) {
  std::size_t bytes = 0;
  Edns edns;
  edns.options = std::string("\0\x0a\0\10abcdefgh", 12);
  const Message reply = soa_over_udp("blue.example", edns, bytes);
  EXPECT_NE(reply.flags & flag::kAuthoritative, 0);
  ASSERT_EQ(reply.answers.size(), 1U);
  EXPECT_EQ(reply.answers[0].type, Type::soa);
  EXPECT_EQ(reply.edns.value().options.size(), 4U + 24U);
}

TEST(SoaOverUdp, IsCutToWhatTheClientTakes) {  // docs/dns.md, "Amplification"
  const std::string label(63, 'x');
  const std::string longest = label + '.' + label + '.' + label + '.' + std::string(50, 'x');
  std::size_t bytes = 0;
  const Message cut = soa_over_udp(longest, std::nullopt, bytes);
  EXPECT_LE(bytes, kMinUdpBytes);
  EXPECT_NE(cut.flags & flag::kTruncated, 0);
  EXPECT_TRUE(cut.answers.empty());
  const Message whole = soa_over_udp(longest, Edns{}, bytes);
  EXPECT_GT(bytes, kMinUdpBytes);
  EXPECT_EQ(whole.answers.size(), 1U);
  EXPECT_EQ(whole.flags & flag::kTruncated, 0);
}

TEST(Serials, GrowWithEachChangeAndOverRestarts) {
  const auto given = zone_with({test::a_record("a.blue.example", "192.0.2.1")});
  const auto first = with_current_serial(given, nullptr, 1'700'000'000);
  EXPECT_EQ(serial_of(*first), 1'700'000'000U);
  EXPECT_EQ(with_current_serial(zone_with({test::a_record("a.blue.example", "192.0.2.1")}), first, 1'700'000'009),
            first)
      << "nothing has changed";
  const auto changed = zone_with({test::a_record("a.blue.example", "192.0.2.2")});
  EXPECT_EQ(serial_of(*with_current_serial(changed, first, 1'700'000'009)), 1'700'000'009U);
  EXPECT_EQ(serial_of(*with_current_serial(changed, first, 1'700'000'000)), 1'700'000'001U) << "twice in a second";
  EXPECT_EQ(serial_of(*with_current_serial(changed, first, 1'600'000'000)), 1'700'000'001U) << "the clock went back";
}

/// A zone for each of many names, as a hosts file makes them; the first has this address.
Config config_of_many_zones(std::string_view first_address) {
  constexpr int kZones = 10'000;
  Config config;
  config.transfer.clients = {test::cidr("192.0.2.0/24")};
  config.views = {test::view_of({})};
  for (int i = 0; i < kZones; ++i) {
    const std::string apex = 'h' + std::to_string(i) + ".lan";
    config.views[0].zones.push_back(std::make_shared<const Zone>(
        test::name(apex), std::vector<RRset>{test::a_record(apex, i == 0 ? first_address : "192.0.2.7")}));
  }
  return config;
}

TEST(Serials, OfManyZonesAreSetInTime) {
  using namespace std::chrono_literals;
  const auto began = std::chrono::steady_clock::now();
  Config first = config_of_many_zones("192.0.2.1");
  set_serials(first, {}, 1'700'000'000);
  const ZoneIndex before(first);
  const auto count_same = [&](const Config& config) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < config.views[0].zones.size(); ++i)
      if (config.views[0].zones[i] == first.views[0].zones[i]) ++same;
    return same;
  };
  Config next = config_of_many_zones("192.0.2.2");
  set_serials(next, before, 1'700'000'009);
  EXPECT_EQ(count_same(next), next.views[0].zones.size() - 1);
  EXPECT_EQ(serial_of(*next.views[0].zones[0]), 1'700'000'009U);
  const auto zones = next.views[0].zones;
  set_serials(next, before, 1'700'000'011);
  EXPECT_EQ(next.views[0].zones, zones) << "they have them";
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s) << "each zone was looked for among all";
}

TEST(Serials, ThatSomebodyChoseStayAsLongAsTheyGrow) {
  const auto first = with_current_serial(zone_with({}, 2026010101), nullptr, 1'700'000'000);
  EXPECT_EQ(serial_of(*first), 2026010101U);
  EXPECT_EQ(serial_of(*with_current_serial(zone_with({}, 2026010102), first, 1'700'000'000)), 2026010102U);
  const auto same = zone_with({test::a_record("a.blue.example", "192.0.2.1")}, 2026010101);
  EXPECT_EQ(serial_of(*with_current_serial(same, first, 1'700'000'000)), 2026010102U) << "changed without saying so";
  EXPECT_EQ(serial_of(*with_current_serial(zone_with({}, 2026010101), first, 1'700'000'000)), 2026010101U);
}

}  // namespace
}  // namespace hcpnet::dns
