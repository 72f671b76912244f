// SPDX-License-Identifier: Apache-2.0
// The server's side of RFC 8415 section 18.3, message by message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp6/responder.hpp>
#include <set>

#include "dhcp6/packets6.hpp"

namespace hcpnet::dhcp6 {
namespace {

using test::Bytes6;
using test::find6;
using test::from_hex6;
using test::join6;
using test::option6;
using namespace std::chrono_literals;

constexpr std::chrono::sys_seconds kStart{std::chrono::seconds(1'700'000'000)};
const std::string kServerId = "0004000102030405060708090a0b0c0d0e0f";
const Ipv6 kLinkLocal = parse_ipv6("fe80::1234").value();  // tells no hardware address

Ipv6 address(const char* text) {
  return parse_ipv6(text).value();
}

ResponderConfig config() {
  Subnet subnet;
  subnet.name = "test/v6";
  subnet.cidr = parse_cidr("2001:db8::/64").value();
  subnet.pool = {address("2001:db8::10"), address("2001:db8::1f")};
  subnet.dns_servers = {address("2001:db8::53")};
  subnet.domain_search = {"hc.example.com"};
  return {{subnet}, {}, parse_duid(kServerId).value()};
}

Bytes6 duid(std::uint8_t n) {
  return {0, 3, 0, 1, 2, 0, 0, 0, 1, n};
}

struct Ask {
  std::uint8_t type = 1;
  Bytes6 client = duid(1);
  bool names_server = false;
  std::uint32_t iaid = 1;
  std::vector<Ipv6> addresses = {};
  Bytes6 more = {};

  [[nodiscard]] Bytes6 bytes() const {
    Bytes6 ia = {static_cast<std::uint8_t>(iaid >> 24), 0, 0, static_cast<std::uint8_t>(iaid), 0, 0, 0, 0, 0, 0, 0, 0};
    for (const Ipv6& a : addresses) {
      Bytes6 body(a.bytes().begin(), a.bytes().end());
      body.resize(24);
      ia = join6({ia, option6(5, body)});
    }
    Bytes6 out = join6({{type, 0xAB, 0xCD, 0xEF}, option6(1, client)});
    if (names_server) out = join6({out, option6(2, from_hex6(kServerId))});
    if (type != 11) out = join6({out, option6(3, ia)});
    return join6({out, more});
  }
};

struct Answer {
  Outcome outcome;
  [[nodiscard]] Bytes6 packet() const { return outcome.reply ? outcome.reply->packet : Bytes6(); }
  [[nodiscard]] int type() const { return outcome.reply ? packet().at(0) : 0; }
  [[nodiscard]] Bytes6 option(unsigned code) const { return find6(packet(), code); }
  /// The first address of the first IA_NA; nullopt when there is none.
  [[nodiscard]] std::optional<Ipv6> given() const {
    const Bytes6 body = find6(option(3), 5, 12);
    std::array<std::uint8_t, 16> bytes{};
    if (body.size() < bytes.size()) return std::nullopt;
    std::copy_n(body.begin(), bytes.size(), bytes.begin());
    return Ipv6(bytes);
  }
  [[nodiscard]] unsigned lifetime() const {
    const Bytes6 body = find6(option(3), 5, 12);
    return body.size() < 24 ? 0
                            : unsigned{body[20]} << 24 | unsigned{body[21]} << 16 | unsigned{body[22]} << 8 | body[23];
  }
  /// Of the first IA_NA; -1: none.
  [[nodiscard]] int ia_status() const {
    const Bytes6 body = find6(option(3), 13, 12);
    return body.size() < 2 ? -1 : body[1];
  }
  [[nodiscard]] int status() const {
    const Bytes6 body = option(13);
    return body.size() < 2 ? -1 : body[1];
  }
};

class Dhcp6 : public ::testing::Test {
 protected:
  explicit Dhcp6(ResponderConfig c = config()) : responder(std::move(c)) {}
  Answer send(const Bytes6& bytes, const Origin& origin = {0, kLinkLocal, true}) {
    Answer out{responder.handle(bytes, origin, now)};
    responder.settle(out.outcome.changes, true, now);
    return out;
  }
  Answer send(const Ask& ask, const Origin& origin = {0, kLinkLocal, true}) { return send(ask.bytes(), origin); }
  std::optional<Ipv6> lease(std::uint8_t n) {
    return send(Ask{.type = 3, .client = duid(n), .names_server = true}).given();
  }
  Responder responder;
  Responder::Time now = kStart;
};

TEST_F(Dhcp6, SolicitIsAdvertisedWithoutALease) {  // sections 18.3.1 and 18.3.9
  const Answer answer = send(Ask{});
  EXPECT_EQ(answer.type(), 2);
  EXPECT_EQ(answer.given(), address("2001:db8::10"));
  EXPECT_EQ(answer.option(2), from_hex6(kServerId));
  EXPECT_EQ(answer.option(1), duid(1));
  EXPECT_EQ(answer.option(7), Bytes6{255});
  EXPECT_EQ(answer.outcome.reply->port, 546);
  EXPECT_TRUE(answer.outcome.changes.empty());
  EXPECT_TRUE(responder.leases().empty());
}

TEST_F(Dhcp6, RequestBindsAndIsStoredBeforeTheReply) {  // section 18.3.2
  const Answer answer = send(Ask{.type = 3, .names_server = true});
  EXPECT_EQ(answer.type(), 7);
  ASSERT_EQ(answer.outcome.changes.size(), 1u);
  EXPECT_EQ(answer.outcome.changes[0].event.kind, LeaseEventKind::bound);
  EXPECT_EQ(answer.outcome.changes[0].event.lease.expires, kStart + 3600s);
  EXPECT_EQ(answer.lifetime(), 3600u);
  const Bytes6 ia = answer.option(3);
  EXPECT_EQ(Bytes6(ia.begin(), ia.begin() + 12), from_hex6("00000001 00000708 00000b40")) << "T1 half, T2 four fifths";
}

TEST_F(Dhcp6, OptionsComeAsAsked) {
  const Answer all = send(Ask{});
  EXPECT_EQ(all.option(23), from_hex6("20010db8000000000000000000000053"));
  EXPECT_EQ(all.option(24), from_hex6("02686307 6578616d706c65 03636f6d00"));
  const Answer one = send(Ask{.more = option6(6, {0, 24})});
  EXPECT_TRUE(one.option(23).empty());
  EXPECT_FALSE(one.option(24).empty());
}

TEST_F(Dhcp6, InformationRequestGetsConfigurationOnly) {  // section 18.3.6
  const Answer answer = send(Ask{.type = 11, .more = option6(6, {0, 23, 0, 32})});
  EXPECT_EQ(answer.type(), 7);
  EXPECT_FALSE(answer.option(23).empty());
  EXPECT_EQ(answer.option(32), (Bytes6{0, 0, 0x0E, 0x10}));
  EXPECT_TRUE(answer.option(3).empty());
  EXPECT_EQ(send(from_hex6("0babcdef")).type(), 7) << "a client identifier is not needed";
}

TEST_F(Dhcp6, MessagesThatAServerIgnores) {  // RFC 8415 section 16
  EXPECT_EQ(send(from_hex6("01abcdef")).outcome.dropped, "no_client_id");
  EXPECT_EQ(send(Ask{.names_server = true}).outcome.dropped, "inconsistent");
  EXPECT_EQ(send(Ask{.type = 3}).outcome.dropped, "no_server_id");
  EXPECT_EQ(send(Ask{.type = 3, .more = option6(2, from_hex6("0004ff"))}).outcome.dropped, "not_for_us");
  EXPECT_EQ(send(Ask{.type = 6, .names_server = true}).outcome.dropped, "inconsistent");
  EXPECT_EQ(send(Ask{.type = 2}).outcome.dropped, "not_a_request");
  EXPECT_EQ(send(Ask{.type = 11, .more = option6(3, Bytes6(12))}).outcome.dropped, "inconsistent");
  EXPECT_EQ(send(Ask{.more = option6(3, Bytes6(11))}).outcome.dropped, "malformed");
  EXPECT_EQ(send(Ask{.client = {1, 2}}).outcome.dropped, "no_client_id") << "no DUID";
}

TEST_F(Dhcp6, UnicastIsToldToUseMulticast) {  // section 18.4
  const Origin unicast{0, kLinkLocal, false};
  const Answer answer = send(Ask{.type = 3, .names_server = true}, unicast);
  EXPECT_EQ(answer.status(), 5);
  EXPECT_TRUE(answer.outcome.changes.empty());
  EXPECT_EQ(send(Ask{}, unicast).outcome.dropped, "unicast");
}

TEST_F(Dhcp6, RapidCommitOnlyWhereConfigured) {  // section 18.3.1
  EXPECT_EQ(send(Ask{.more = option6(14, {})}).type(), 2);
  ResponderConfig rapid = config();
  rapid.subnets[0].rapid_commit = true;
  responder.replace(rapid);
  const Answer answer = send(Ask{.more = option6(14, {})});
  EXPECT_EQ(answer.type(), 7);
  EXPECT_EQ(answer.outcome.changes.size(), 1u);
  const Bytes6 rapid_commit = option6(14, {});
  const auto packet = answer.packet();
  EXPECT_FALSE(std::ranges::search(packet, rapid_commit).empty());
  EXPECT_EQ(send(Ask{.client = duid(2)}).type(), 2) << "without the option four messages as ever";
}

TEST_F(Dhcp6, ConfirmIsAboutTheLink) {  // section 18.3.3
  EXPECT_EQ(send(Ask{.type = 4, .addresses = {address("2001:db8::77")}}).status(), 0);
  EXPECT_EQ(send(Ask{.type = 4, .addresses = {address("2001:db8:9::77")}}).status(), 4);
  EXPECT_EQ(send(Ask{.type = 4}).outcome.dropped, "inconsistent");
}

TEST_F(Dhcp6, RequestForAnotherLinkIsNotOnLink) {  // section 18.3.2
  const Answer answer = send(Ask{.type = 3, .names_server = true, .addresses = {address("2001:db8:9::77")}});
  EXPECT_EQ(answer.ia_status(), 4);
  EXPECT_TRUE(answer.outcome.changes.empty());
}

TEST_F(Dhcp6, RenewAndRebindProlong) {  // sections 18.3.4 and 18.3.5
  const auto first = lease(1);
  now += 1800s;
  const Answer renewed = send(Ask{.type = 5, .names_server = true, .addresses = {*first}});
  EXPECT_EQ(renewed.given(), first);
  ASSERT_EQ(renewed.outcome.changes.size(), 1u);
  EXPECT_EQ(renewed.outcome.changes[0].event.kind, LeaseEventKind::renewed);
  EXPECT_EQ(renewed.outcome.changes[0].event.lease.expires, now + 3600s);
  now += 1800s;
  EXPECT_EQ(send(Ask{.type = 6, .addresses = {*first}}).given(), first);
}

TEST_F(Dhcp6, AnUnknownBindingGoesOnWhereTheAddressIsFree) {  // sections 18.3.4 and 18.3.5
  const Answer free = send(Ask{.type = 5, .names_server = true, .addresses = {address("2001:db8::1a")}});
  EXPECT_EQ(free.given(), address("2001:db8::1a"));
  const Answer taken =
      send(Ask{.type = 5, .client = duid(2), .names_server = true, .addresses = {address("2001:db8::1a")}});
  EXPECT_EQ(taken.ia_status(), 3) << "NoBinding: it is somebody else's";
  const Answer foreign = send(Ask{.type = 6, .client = duid(3), .addresses = {address("2001:db8:9::1")}});
  EXPECT_EQ(foreign.given(), address("2001:db8:9::1"));
  EXPECT_EQ(foreign.lifetime(), 0u) << "not of this link: the client has to give it up";
  ResponderConfig modest = config();
  modest.subnets[0].authoritative = false;
  responder.replace(modest);
  EXPECT_EQ(send(Ask{.type = 6, .client = duid(4), .addresses = {address("2001:db8::1b")}}).outcome.dropped,
            "not_authoritative");
}

TEST_F(Dhcp6, ReleaseEndsAndTheSameClientGetsItAgain) {  // section 18.3.7
  const auto first = lease(1);
  const Answer answer = send(Ask{.type = 8, .names_server = true, .addresses = {*first}});
  EXPECT_EQ(answer.status(), 0);
  ASSERT_EQ(answer.outcome.changes.size(), 1u);
  EXPECT_EQ(answer.outcome.changes[0].event.kind, LeaseEventKind::released);
  EXPECT_NE(lease(2), first);
  EXPECT_EQ(lease(1), first);
  const Answer other = send(Ask{.type = 8, .client = duid(2), .names_server = true, .addresses = {*first}});
  EXPECT_EQ(other.ia_status(), 3);
  EXPECT_TRUE(other.outcome.changes.empty()) << "nobody releases what is another's";
}

TEST_F(Dhcp6, ADeclinedAddressRests) {  // section 18.3.8
  const auto first = lease(1);
  const Answer answer = send(Ask{.type = 9, .names_server = true, .addresses = {*first}});
  ASSERT_EQ(answer.outcome.changes.size(), 1u);
  EXPECT_EQ(answer.outcome.changes[0].event.kind, LeaseEventKind::declined);
  EXPECT_NE(lease(1), first);
  std::set<Ipv6> given;
  for (std::uint8_t n = 2; n < 40; ++n)
    if (const auto next = lease(n)) given.insert(*next);
  EXPECT_EQ(given.size(), 14u);
  EXPECT_FALSE(given.contains(*first));
}

TEST_F(Dhcp6, AFullPoolSaysSo) {  // section 18.3.9
  for (std::uint8_t n = 1; n <= 16; ++n) ASSERT_TRUE(lease(n));
  const Answer answer = send(Ask{.client = duid(17)});
  EXPECT_EQ(answer.type(), 2);
  EXPECT_EQ(answer.ia_status(), 2);
  EXPECT_FALSE(answer.given());
  now += 3601s;
  EXPECT_EQ(lease(17), address("2001:db8::10")) << "the one that has been out of use longest";
}

TEST_F(Dhcp6, AnOfferThatNobodyTakesIsFreeAgain) {
  for (std::uint8_t n = 1; n <= 16; ++n) ASSERT_TRUE(send(Ask{.client = duid(n)}).given());
  EXPECT_FALSE(send(Ask{.client = duid(17)}).given());
  now += 11s;
  EXPECT_TRUE(lease(17));
}

TEST_F(Dhcp6, ABindingThatWasNotStoredIsAnOfferAgain) {
  const Outcome failed = responder.handle(Ask{.type = 3, .names_server = true}.bytes(), {0, kLinkLocal, true}, now);
  responder.settle(failed.changes, false, now);
  EXPECT_TRUE(responder.leases().empty());
  EXPECT_EQ(responder.usage(0).offered, 1u);
  EXPECT_EQ(lease(2), address("2001:db8::11")) << "it is held";
  EXPECT_EQ(lease(1), address("2001:db8::10"));
}

// A machine that restarts while the disk fails needs its address; what a restart of the server knows can be told.
TEST_F(Dhcp6, ARenewalThatWasNotStoredIsToldWhatIsLeftOfTheLease) {
  const auto given = lease(1);
  ASSERT_TRUE(given);
  const auto send_in_vain = [&](const Bytes6& bytes) {
    Answer out{responder.handle(bytes, {0, kLinkLocal, true}, now)};
    responder.settle(out.outcome.changes, false, now);
    out.outcome.reply = responder.acknowledge_stored(out.outcome, now);
    return out;
  };
  const Bytes6 renew = Ask{.type = 5, .names_server = true, .addresses = {*given}}.bytes();
  now += 600s;
  const Answer told = send_in_vain(renew);
  EXPECT_EQ(told.type(), 7);
  EXPECT_EQ(told.given(), given);
  EXPECT_EQ(told.lifetime(), 2999u) << "a client may have asked a second ago";
  const Bytes6 association = told.option(3);
  ASSERT_GE(association.size(), 12u);
  EXPECT_EQ(Bytes6(association.begin() + 4, association.begin() + 12), from_hex6("000005db 0000095f")) << "T1, T2";

  const auto bytes_of = [](const Ipv6& a) { return Bytes6(a.bytes().begin(), a.bytes().end()); };
  const Bytes6 relayed = join6({{12, 0}, bytes_of(address("2001:db8::1")), bytes_of(kLinkLocal), option6(9, renew)});
  EXPECT_EQ(find6(send_in_vain(relayed).packet(), 9, 34), told.packet()) << "the same through a relay";

  EXPECT_EQ(send_in_vain(Ask{.type = 3, .client = duid(2), .names_server = true}.bytes()).type(), 0) << "a new lease";
  EXPECT_EQ(send_in_vain(Ask{.type = 8, .names_server = true, .addresses = {*given}}.bytes()).type(), 0) << "RELEASE";
}

TEST_F(Dhcp6, ALeaseThatIsAlmostOverOnDiskIsNotAcknowledgedFromThere) {
  const auto given = lease(1);
  const Ask renew{.type = 5, .names_server = true, .addresses = {*given}};
  for (const auto& [after, type] : {std::pair(3589s, 7), std::pair(1s, 0)}) {
    now += after;
    Answer out{responder.handle(renew.bytes(), {0, kLinkLocal, true}, now)};
    responder.settle(out.outcome.changes, false, now);
    out.outcome.reply = responder.acknowledge_stored(out.outcome, now);
    EXPECT_EQ(out.type(), type);
  }
  EXPECT_EQ(send(renew).lifetime(), 3600u) << "the disk works again";
}

TEST_F(Dhcp6, ALateCommitOfARenewalMakesItABindingAgain) {
  const Bytes6 bytes = Ask{.type = 3, .names_server = true}.bytes();
  const Outcome first = responder.handle(bytes, {0, kLinkLocal, true}, now);
  const Outcome second = responder.handle(bytes, {0, kLinkLocal, true}, now);
  responder.settle(first.changes, false, now);
  responder.settle(second.changes, true, now);
  ASSERT_EQ(responder.leases().size(), 1u);
  now += 60s;
  responder.expire(now, 100);
  EXPECT_EQ(responder.leases()[0].state, LeaseState::bound);
}

TEST_F(Dhcp6, TwoAssociationsOfOneClientHaveTwoAddresses) {
  Bytes6 two =
      join6({Ask{.type = 3, .names_server = true}.bytes(), option6(3, from_hex6("00000002 00000000 00000000"))});
  const Answer answer = send(two);
  ASSERT_EQ(answer.outcome.changes.size(), 2u);
  EXPECT_NE(answer.outcome.changes[0].event.lease.address, answer.outcome.changes[1].event.lease.address);
  EXPECT_TRUE(send(two).outcome.changes.size() == 2u);
  EXPECT_EQ(responder.usage(0).bound, 2u) << "the same ones again";
}

TEST_F(Dhcp6, OneClientDoesNotGetThePool) {
  std::size_t given = 0;
  ResponderConfig large = config();
  large.subnets[0].pool.last = address("2001:db8::ffff");
  responder.replace(large);
  for (std::uint32_t iaid = 1; iaid <= 40; ++iaid) {
    if (send(Ask{.type = 3, .names_server = true, .iaid = iaid}).given()) ++given;
  }
  EXPECT_EQ(given, AllocatorLimits{}.max_per_client);
}

TEST_F(Dhcp6, PrefixesAndTemporaryAddressesAreRefusedInWords) {
  const Answer answer = send(
      Ask{.more = join6({option6(25, from_hex6("00000009 00000000 00000000")), option6(4, from_hex6("00000008"))})});
  EXPECT_EQ(find6(answer.option(25), 13, 12).at(1), 6);
  EXPECT_EQ(find6(answer.option(4), 13, 4).at(1), 2);
}

TEST_F(Dhcp6, ReservationsByMacAndByDuid) {
  ResponderConfig reserved = config();
  reserved.subnets[0].reservations = {{parse_mac_address("02:00:00:00:01:05"), {}, address("2001:db8::100"), "five"},
                                      {{}, parse_duid("0004aa"), address("2001:db8::10"), ""}};
  responder.replace(reserved);
  EXPECT_EQ(lease(5), address("2001:db8::100"));
  EXPECT_EQ(responder.leases().at(0).host_name, "five");
  EXPECT_EQ(lease(1), address("2001:db8::11")) << "2001:db8::10 is kept";
  EXPECT_EQ(send(Ask{.type = 3, .client = {0, 4, 0xAA}, .names_server = true}).given(), address("2001:db8::10"));
}

TEST_F(Dhcp6, ANewReservationMovesTheClientAtItsRenewal) {
  const auto before = lease(1);
  ResponderConfig reserved = config();
  reserved.subnets[0].reservations = {{parse_mac_address("02:00:00:00:01:01"), {}, address("2001:db8::100"), ""}};
  responder.replace(reserved);
  const Answer answer = send(Ask{.type = 5, .names_server = true, .addresses = {*before}});
  EXPECT_EQ(answer.given(), address("2001:db8::100"));
  ASSERT_EQ(answer.outcome.changes.size(), 2u);
  EXPECT_EQ(answer.outcome.changes[0].event.kind, LeaseEventKind::released);
  EXPECT_EQ(answer.outcome.changes[0].event.lease.address, before);
  EXPECT_EQ(responder.usage(0).bound, 1u);
}

// The client goes on with what it has: the reply that would have moved it never left.
TEST_F(Dhcp6, AMoveThatWasNotStoredLeavesTheOldLease) {
  const auto before = lease(1);
  ResponderConfig reserved = config();
  reserved.subnets[0].reservations = {{parse_mac_address("02:00:00:00:01:01"), {}, address("2001:db8::100"), ""}};
  responder.replace(reserved);
  const Ask renew{.type = 5, .names_server = true, .addresses = {*before}};
  const Outcome lost = responder.handle(renew.bytes(), {0, kLinkLocal, true}, now);
  EXPECT_EQ(lost.changes.size(), 2u);
  responder.settle(lost.changes, false, now);
  ASSERT_EQ(responder.leases().size(), 1u);
  EXPECT_EQ(responder.leases()[0].address, before);
  EXPECT_EQ(responder.leases()[0].state, LeaseState::bound) << "as on disk";
  now += 11s;
  responder.expire(now, 100);
  responder.replace(config());
  EXPECT_EQ(send(renew).given(), before) << "and is known there when the offer of the other one has ended";
}

TEST_F(Dhcp6, AnOfferElsewhereThatIsNotTakenLeavesTheLease) {
  const auto before = lease(1);
  ResponderConfig reserved = config();
  reserved.subnets[0].reservations = {{parse_mac_address("02:00:00:00:01:01"), {}, address("2001:db8::100"), ""}};
  responder.replace(reserved);
  EXPECT_EQ(send(Ask{}).given(), address("2001:db8::100"));
  reserved.subnets[0].reservations[0].address = address("2001:db8::101");
  responder.replace(reserved);
  const Answer moved = send(Ask{.type = 5, .names_server = true, .addresses = {*before}});
  EXPECT_EQ(moved.given(), address("2001:db8::101"));
  EXPECT_EQ(responder.usage(0).bound, 1u) << "it leaves the old one, whatever it was offered in between";
  EXPECT_EQ(responder.usage(0).offered, 0u);
}

TEST_F(Dhcp6, AClientThatNeedNotMoveAnyMoreStays) {
  const auto before = lease(1);
  for (const char* elsewhere : {"2001:db8::100", "2001:db8::15"}) {
    ResponderConfig reserved = config();
    reserved.subnets[0].reservations = {{parse_mac_address("02:00:00:00:01:01"), {}, address(elsewhere), ""}};
    responder.replace(reserved);
    EXPECT_EQ(send(Ask{}).given(), address(elsewhere));
    responder.replace(config());
    EXPECT_EQ(send(Ask{}).given(), before) << elsewhere;
    EXPECT_EQ(responder.usage(0).offered, 0u) << elsewhere;
  }
}

TEST_F(Dhcp6, AShorterRenewalThatWasNotStoredChangesNothing) {
  const auto before = lease(1);
  ResponderConfig shorter = config();
  shorter.subnets[0].lease_time = 60s;
  responder.replace(shorter);
  const Ask renew{.type = 5, .names_server = true, .addresses = {*before}};
  const Outcome lost = responder.handle(renew.bytes(), {0, kLinkLocal, true}, now);
  ASSERT_EQ(lost.changes.size(), 1u);
  EXPECT_EQ(lost.changes[0].event.lease.expires, kStart + 60s);
  responder.settle(lost.changes, false, now);
  EXPECT_EQ(responder.leases().at(0).expires, kStart + 3600s);
  send(renew);
  EXPECT_EQ(responder.leases().at(0).expires, kStart + 60s);
}

TEST_F(Dhcp6, OneClientDoesNotDeclineThePool) {
  ResponderLimits limits;
  limits.allocator.max_declined_per_client = 1;
  responder = Responder(config(), limits);
  const auto decline = [&] { return send(Ask{.type = 9, .names_server = true, .addresses = {lease(1).value()}}); };
  EXPECT_EQ(decline().outcome.changes.size(), 1u);
  const Answer second = decline();
  EXPECT_EQ(second.ia_status(), 3);
  EXPECT_TRUE(second.outcome.changes.empty());
  EXPECT_EQ(responder.usage(0).declined, 1u);
}

TEST_F(Dhcp6, ARelayNamesTheLink) {  // section 13.1
  const Bytes6 header = from_hex6("0c00 20010db8000000000000000000000001 fe800000000000000000000000001234");
  const Bytes6 relayed = join6({header, option6(18, {'e', 't', 'h'}), option6(9, Ask{}.bytes())});
  const Answer answer = send(relayed, {0, address("2001:db8:5::1"), false});
  ASSERT_TRUE(answer.outcome.reply);
  EXPECT_EQ(answer.outcome.reply->port, 547);
  EXPECT_EQ(answer.packet().at(0), 13);
  EXPECT_EQ(find6(answer.packet(), 18, 34), (Bytes6{'e', 't', 'h'}));
  EXPECT_EQ(find6(answer.packet(), 9, 34).at(0), 2) << "the ADVERTISE inside";
  Bytes6 foreign = relayed;
  foreign[6] = 0x77;
  EXPECT_EQ(send(foreign).outcome.dropped, "no_subnet");
}

// --- who is who

TEST_F(Dhcp6, CaseDh6_01ADuidThatChangesKeepsTheAddress) {
  const Origin origin{0, address("fe80::200:ff:fe00:101"), true};
  const Answer uuid = send(test::read_case6("DH6-01-uuid.hex"), origin);
  const Answer link_layer = send(test::read_case6("DH6-01-ll.hex"), origin);
  EXPECT_EQ(uuid.type(), 2);
  EXPECT_EQ(link_layer.type(), 2);
  ASSERT_TRUE(uuid.given());
  EXPECT_EQ(link_layer.given(), uuid.given());
}

TEST_F(Dhcp6, CaseDh6_01WithIdentityByDuidTheyAreTwoClients) {
  ResponderConfig strict = config();
  strict.subnets[0].identity = Identity::duid;
  responder.replace(strict);
  const Origin origin{0, address("fe80::200:ff:fe00:101"), true};
  EXPECT_NE(send(test::read_case6("DH6-01-uuid.hex"), origin).given(),
            send(test::read_case6("DH6-01-ll.hex"), origin).given());
}

TEST_F(Dhcp6, TheRelaysLinkLayerAddressKnowsTheClientAgain) {  // RFC 6939
  const auto relayed = [&](const Bytes6& client) {
    const Bytes6 header = from_hex6("0c00 20010db8000000000000000000000001 fe80000000000000aaaabbbbccccdddd");
    return join6({header, option6(79, from_hex6("0001 020000000107")),
                  option6(9, Ask{.type = 3, .client = client, .names_server = true}.bytes())});
  };
  send(relayed({0, 4, 1, 2, 3}));
  send(relayed({0, 4, 9, 9, 9}));
  ASSERT_EQ(responder.leases().size(), 1u);
  EXPECT_EQ(responder.leases()[0].client.mac, parse_mac_address("02:00:00:00:01:07"));
}

TEST_F(Dhcp6, ClonedDuidsAreToldApartByTheirInterfaces) {
  const Bytes6 clone = {0, 4, 7, 7, 7};
  std::set<Ipv6> given;
  for (const char* source : {"fe80::ff:fe00:201", "fe80::ff:fe00:202", "fe80::ff:fe00:203"}) {
    const Answer answer = send(Ask{.type = 3, .client = clone, .names_server = true}, {0, address(source), true});
    ASSERT_TRUE(answer.given());
    given.insert(*answer.given());
  }
  EXPECT_EQ(given.size(), 3u);
}

TEST_F(Dhcp6, TwoInterfacesUnderTheDuidOfOneHaveTwoAddresses) {
  const auto first = send(Ask{.type = 3, .names_server = true, .iaid = 1}, {0, address("fe80::1"), true}).given();
  const auto second = send(Ask{.type = 3, .names_server = true, .iaid = 2}, {0, address("fe80::2"), true}).given();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first, second);
}

TEST_F(Dhcp6, ARestartKnowsEveryClient) {
  const auto first = lease(1);
  const auto second = lease(2);
  Responder after(config());
  after.restore(responder.leases(), now);
  EXPECT_EQ(after.leases(), responder.leases());
  const auto handle = [&](std::uint8_t n) {
    Answer answer{after.handle(Ask{.client = duid(n)}.bytes(), {0, kLinkLocal, true}, now)};
    return answer.given();
  };
  EXPECT_EQ(handle(2), second);
  EXPECT_EQ(handle(1), first);
  EXPECT_EQ(handle(3), address("2001:db8::12"));
}

TEST_F(Dhcp6, EveryPrefixAndEveryChangedByteIsHandled) {
  const Bytes6 bytes = Ask{.type = 3, .names_server = true, .addresses = {address("2001:db8::11")}}.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    send(Bytes6(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i)));
    for (const int value : {0, 1, 127, 128, 255}) {
      Bytes6 changed = bytes;
      changed[i] = static_cast<std::uint8_t>(value);
      send(changed);
    }
  }
  EXPECT_LE(responder.usage(0).bound, 16u);
}

}  // namespace
}  // namespace hcpnet::dhcp6
