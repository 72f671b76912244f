// SPDX-License-Identifier: Apache-2.0
// Leases from elsewhere in the hands of the allocators.
#include <gtest/gtest.h>

#include <array>
#include <hcpnet/dhcp/responder.hpp>
#include <hcpnet/dhcp6/responder.hpp>
#include <map>
#include <random>
#include <set>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;

constexpr Allocator::Time kNow{1'700'000'000s};

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}

Config config(unsigned first = 50, unsigned last = 59) {
  Subnet subnet;
  subnet.name = "hcp/vlan7";
  subnet.cidr = Ipv4Cidr(at(0), 24);
  subnet.server_id = at(2);
  subnet.router = at(1);
  subnet.dns_servers = {at(3)};
  subnet.pools = {{{at(first), at(last)}}};
  Config out;
  out.subnets = {subnet};
  return out;
}

ListedLease listed(unsigned last, unsigned mac, std::chrono::seconds ends_in = 1h,
                   LeaseState state = LeaseState::bound) {
  Lease lease;
  lease.address = at(last);
  lease.mac = test_mac(mac);
  lease.host_name = "vm" + std::to_string(mac);
  lease.client_id = "id";
  lease.state = state;
  lease.started = kNow - 1h;
  lease.expires = kNow + ends_in;
  return {lease, last};
}

LeaseList list_of(std::vector<ListedLease> leases) {
  LeaseList out;
  out.file = "f";
  out.leases = std::move(leases);
  return out;
}

std::string problems_of(const Responder& responder, const LeaseList& list) {
  Diagnostics problems;
  responder.check_import(list, kNow, problems);
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : " ") + std::to_string(d.line) + ':' + d.code;
  return all;
}

/// Imports and writes.
LeaseImport take_over(Responder& responder, const LeaseList& list, bool is_durable = true) {
  EXPECT_EQ(problems_of(responder, list), "");
  LeaseImport outcome;
  responder.settle_import(responder.import_leases(list, kNow, outcome), is_durable);
  return outcome;
}

test::DhcpPacket decline(const MacAddress& mac, Ipv4 address) {
  return test::dhcp_packet(4, mac).with_address(54, at(2)).with_address(50, address);
}

/// What a client without a past is offered; nullopt: nothing.
std::optional<Ipv4> offered(Responder& responder, const MacAddress& mac, Allocator::Time now = kNow) {
  const auto outcome = responder.handle(test::discover(mac).bytes(), 0, now);
  if (!outcome.reply) return std::nullopt;
  return test::read_answer(outcome.reply->packet).value().yiaddr;
}

/// The whole exchange. nullopt: refused.
std::optional<Ipv4> lease(Responder& responder, const MacAddress& mac, Allocator::Time now = kNow) {
  const auto address = offered(responder, mac, now);
  if (!address) return std::nullopt;
  const auto outcome = responder.handle(test::select(mac, at(2), *address).bytes(), 0, now);
  responder.settle(outcome.changes, true, now);
  if (!outcome.reply || outcome.reply->type != MessageType::ack) return std::nullopt;
  return address;
}

std::map<std::string, std::string> table_of(const Responder& responder) {
  std::map<std::string, std::string> out;
  for (const Lease& l : responder.leases())
    out[l.address.to_string()] = std::string(to_string(l.state)) + ' ' + l.mac.to_string();
  return out;
}
using Table = std::map<std::string, std::string>;

TEST(LeaseImport, ALeaseIsItsClientsAndNobodyElses) {
  Responder responder(config(50, 52));
  const auto outcome = take_over(responder, list_of({listed(50, 1), listed(51, 2)}));
  EXPECT_EQ(outcome.imported, 2U);
  EXPECT_EQ(responder.leases(), (std::vector<Lease>{[] {
                                                      Lease l = listed(50, 1).lease;
                                                      l.subnet = "hcp/vlan7";
                                                      return l;
                                                    }(),
                                                    [] {
                                                      Lease l = listed(51, 2).lease;
                                                      l.subnet = "hcp/vlan7";
                                                      return l;
                                                    }()}));
  EXPECT_EQ(lease(responder, test_mac(9)), at(52));
  EXPECT_EQ(lease(responder, test_mac(8)), std::nullopt);
  EXPECT_EQ(lease(responder, test_mac(2)), at(51));  // its own
  EXPECT_EQ(responder.usage(0).bound, 3U);
}

TEST(LeaseImport, ItEndsWhenItSays) {
  Responder responder(config(50, 50));
  take_over(responder, list_of({listed(50, 1, 100s)}));
  EXPECT_EQ(responder.next_due(), kNow + 100s);
  EXPECT_EQ(offered(responder, test_mac(9), kNow + 99s), std::nullopt);
  const auto expired = responder.expire(kNow + 100s, 10);
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].event.kind, LeaseEventKind::expired);
  EXPECT_EQ(offered(responder, test_mac(9), kNow + 100s), at(50));
}

TEST(LeaseImport, ALeaseWithoutEndStays) {
  Responder responder(config(50, 50));
  ListedLease endless = listed(50, 1);
  endless.lease.expires = kNeverEnds;
  take_over(responder, list_of({endless}));
  EXPECT_EQ(offered(responder, test_mac(9), kNow + 24h * 365 * 10), std::nullopt);
}

TEST(LeaseImport, AllReasonsAgainstItAreTold) {
  Responder responder(config());
  ASSERT_EQ(lease(responder, test_mac(1)), at(50));
  ASSERT_EQ(lease(responder, test_mac(2)), at(51));
  responder.handle(decline(test_mac(2), at(51)).bytes(), 0, kNow);
  auto foreign = listed(52, 5);
  foreign.lease.address = Ipv4(198, 51, 100, 7);
  auto nobody = listed(53, 6);
  nobody.lease.mac = {};
  auto long_name = listed(54, 7);
  long_name.lease.host_name = std::string(256, 'a');
  auto long_id = listed(55, 8);
  long_id.lease.client_id = std::string(4097, 'a');
  const auto list = list_of({listed(0, 11), listed(1, 12), listed(2, 13), listed(3, 14), listed(255, 15), listed(50, 3),
                             listed(51, 4), foreign, nobody, long_name, long_id, listed(56, 20)});
  EXPECT_EQ(problems_of(responder, list),
            "0:lease-own-address 1:lease-own-address 2:lease-own-address 3:lease-own-address 255:lease-own-address "
            "50:lease-held 51:lease-held 52:lease-foreign-network 53:lease-bad-value 54:lease-bad-value "
            "55:lease-bad-value");
}

TEST(LeaseImport, WhatEndedStandsAgainstNothing) {
  Responder responder(config());
  ASSERT_EQ(lease(responder, test_mac(1)), at(50));
  const auto outcome = take_over(responder, list_of({listed(50, 3, -1s), listed(2, 4, -1s), listed(200, 5, -1s),
                                                     listed(52, 6, -1s), listed(53, 7, 1h, LeaseState::released)}));
  EXPECT_EQ(outcome.imported, 2U);
  EXPECT_EQ(outcome.left_out, 3U);
  EXPECT_EQ(table_of(responder), (Table{{"192.0.2.50", "bound " + test_mac(1).to_string()},
                                        {"192.0.2.52", "expired " + test_mac(6).to_string()},
                                        {"192.0.2.53", "released " + test_mac(7).to_string()}}));
  EXPECT_EQ(lease(responder, test_mac(7)), at(53));
  EXPECT_EQ(lease(responder, test_mac(6)), at(52));
}

TEST(LeaseImport, OfEndedLeasesOfAClientTheNewestIsRemembered) {
  Responder responder(config());
  take_over(responder, list_of({listed(52, 1, -10s), listed(53, 1, -5s), listed(54, 1, -20s)}));
  EXPECT_EQ(lease(responder, test_mac(1)), at(53));
}

TEST(LeaseImport, AClientsOtherLeasesRestUntilTheyEnd) {
  Responder responder(config(50, 52));
  auto newest = listed(51, 1, 1h);
  newest.lease.started = kNow;
  newest.lease.expires = kNow + 5h;
  const auto outcome = take_over(responder, list_of({listed(50, 1, 2h), newest, listed(52, 1, 3h)}));
  EXPECT_EQ(outcome.imported, 3U);
  EXPECT_EQ(outcome.warnings.warning_count(), 2U);
  EXPECT_EQ(offered(responder, test_mac(1)), at(51));
  EXPECT_EQ(lease(responder, test_mac(2)), std::nullopt);
  responder.expire(kNow + 2h, 10);
  EXPECT_EQ(lease(responder, test_mac(2), kNow + 2h), at(50));
}

TEST(LeaseImport, AClientOfOursKeepsWhatItHas) {
  Responder responder(config(50, 51));
  ASSERT_EQ(lease(responder, test_mac(1)), at(50));
  take_over(responder, list_of({listed(51, 1, 2h)}));
  EXPECT_EQ(table_of(responder), (Table{{"192.0.2.50", "bound " + test_mac(1).to_string()},
                                        {"192.0.2.51", "declined " + test_mac(1).to_string()}}));
  EXPECT_EQ(lease(responder, test_mac(1)), at(50));
  EXPECT_EQ(offered(responder, test_mac(2)), std::nullopt);
}

TEST(LeaseImport, ALeaseBecomesLongerButNeverShorter) {
  Responder responder(config());
  ASSERT_EQ(lease(responder, test_mac(1)), at(50));  // one hour
  EXPECT_EQ(take_over(responder, list_of({listed(50, 1, 60s)})).unchanged, 1U);
  EXPECT_EQ(responder.leases()[0].expires, kNow + 1h);
  EXPECT_EQ(take_over(responder, list_of({listed(50, 1, 2h)})).imported, 1U);
  EXPECT_EQ(responder.leases()[0].expires, kNow + 2h);
  responder.expire(kNow + 1h, 10);
  EXPECT_EQ(responder.leases()[0].state, LeaseState::bound);
}

TEST(LeaseImport, ASecondTimeNothingChanges) {
  Responder responder(config());
  auto older = listed(52, 1);
  older.lease.started -= 1h;
  const auto list = list_of({listed(50, 1), older, listed(53, 3, -1s), listed(54, 4, 1h, LeaseState::declined)});
  take_over(responder, list);
  LeaseImport again;
  EXPECT_TRUE(responder.import_leases(list, kNow, again).empty());
  EXPECT_EQ(again.unchanged, 4U);
}

TEST(LeaseImport, AnOfferGivesWay) {
  Responder responder(config(50, 51));
  ASSERT_EQ(offered(responder, test_mac(1)), at(50));
  take_over(responder, list_of({listed(50, 2)}));
  const auto outcome = responder.handle(test::select(test_mac(1), at(2), at(50)).bytes(), 0, kNow);
  ASSERT_TRUE(outcome.reply);
  EXPECT_EQ(outcome.reply->type, MessageType::nak);
  EXPECT_EQ(lease(responder, test_mac(1)), at(51));
}

TEST(LeaseImport, AnAddressOutsideThePoolsIsKeptUntilItEnds) {
  Responder responder(config());
  take_over(responder, list_of({listed(100, 1)}));
  const auto renewal = responder.handle(test::renew(test_mac(1), at(100)).bytes(), 0, kNow);
  EXPECT_EQ(renewal.dropped, "not_renewable");
  EXPECT_EQ(table_of(responder)["192.0.2.100"], "bound " + test_mac(1).to_string());
}

TEST(LeaseImport, WhatDidNotReachTheDiskIsForgotten) {
  Responder responder(config(50, 53));
  ASSERT_EQ(lease(responder, test_mac(9)), at(50));
  take_over(responder,
            list_of({listed(50, 9, 5h), listed(51, 1), listed(52, 2, 1h, LeaseState::declined), listed(53, 3, -1s)}),
            false);
  EXPECT_EQ(table_of(responder), (Table{{"192.0.2.50", "bound " + test_mac(9).to_string()}}));
  EXPECT_EQ(responder.usage(0).declined, 0U);
  std::set<std::optional<Ipv4>> given;
  for (unsigned n = 20; n < 23; ++n) given.insert(lease(responder, test_mac(n)));
  EXPECT_EQ(given, (std::set<std::optional<Ipv4>>{at(51), at(52), at(53)}));
  EXPECT_EQ(lease(responder, test_mac(30)), std::nullopt);
}

// All or none: what an import that failed would have changed is as it was.
TEST(LeaseImport, WhatDidNotReachTheDiskLeavesARestAlone) {
  Responder responder(config(50, 51));
  ASSERT_EQ(lease(responder, test_mac(1)), at(50));
  responder.handle(decline(test_mac(1), at(50)).bytes(), 0, kNow);
  ASSERT_EQ(lease(responder, test_mac(2)), at(51));
  ASSERT_TRUE(responder.end(at(51), kNow));
  const auto before = responder.leases();
  take_over(responder, list_of({listed(50, 7, 5h, LeaseState::declined), listed(51, 3)}), false);
  EXPECT_EQ(responder.leases(), before);
  EXPECT_EQ(responder.usage(0).declined, 1U);
  EXPECT_EQ(lease(responder, test_mac(2)), at(51)) << "its own of before";
  EXPECT_EQ(offered(responder, test_mac(4)), std::nullopt) << "somebody uses 192.0.2.50";
  responder.expire(kNow + 1h, 10);
  EXPECT_EQ(offered(responder, test_mac(4), kNow + 1h), at(50)) << "the rest ends when it said";
}

// A client's request waits for the disk while the same lease is imported; it fails, and the import does not.
TEST(LeaseImport, AnImportedLeaseIsKeptThoughTheRequestBeforeFailed) {
  for (const auto ends_in : {30min, 120min}) {
    Responder responder(config(50, 50));
    ASSERT_EQ(offered(responder, test_mac(1)), at(50));
    const auto request = responder.handle(test::select(test_mac(1), at(2), at(50)).bytes(), 0, kNow);
    LeaseImport outcome;
    const auto imported = responder.import_leases(list_of({listed(50, 1, ends_in)}), kNow, outcome);
    EXPECT_EQ(outcome.unchanged, 0U) << "nothing is on disk yet";
    responder.settle(request.changes, false, kNow);
    responder.settle_import(imported, true);
    EXPECT_EQ(table_of(responder), (Table{{"192.0.2.50", "bound " + test_mac(1).to_string()}}));
    EXPECT_EQ(responder.next_due(), std::max(kNow + 1h, kNow + ends_in));
    responder.expire(kNow + 20s, 10);
    EXPECT_EQ(offered(responder, test_mac(2), kNow + 20s), std::nullopt);
  }
}

TEST(LeaseImport, MoreThanThereIsRoomForIsRefused) {
  ResponderLimits limits;
  limits.allocator.max_leases = 2;
  Responder responder(config(), limits);
  EXPECT_EQ(problems_of(responder, list_of({listed(50, 1), listed(51, 2), listed(52, 3)})), "0:lease-no-room");
  EXPECT_EQ(problems_of(responder, list_of({listed(50, 1), listed(51, 2)})), "");
}

TEST(LeaseImport, TheSmallestNetworkTakesTheLease) {
  Config both = config();
  Subnet inner = both.subnets[0];
  inner.name = "hcp/inner";
  inner.cidr = Ipv4Cidr(at(64), 26);
  inner.server_id = at(66);
  inner.pools = {{{at(70), at(80)}}};
  both.subnets.push_back(inner);
  Responder responder(both);
  take_over(responder, list_of({listed(70, 1), listed(50, 2)}));
  EXPECT_EQ(responder.usage(0).bound, 1U);
  EXPECT_EQ(responder.usage(1).bound, 1U);
}

TEST(LeaseImport, EndingByHandFreesAnAddress) {
  Responder responder(config(50, 50));
  take_over(responder, list_of({listed(50, 1)}));
  const auto change = responder.end(at(50), kNow);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->event.kind, LeaseEventKind::released);
  EXPECT_EQ(change->event.lease.mac, test_mac(1));
  EXPECT_FALSE(responder.end(at(50), kNow));
  EXPECT_FALSE(responder.end(at(51), kNow));
  EXPECT_FALSE(responder.end(Ipv4(198, 51, 100, 1), kNow));
  EXPECT_EQ(lease(responder, test_mac(2)), at(50));
  responder.handle(decline(test_mac(2), at(50)).bytes(), 0, kNow);
  EXPECT_EQ(offered(responder, test_mac(3)), std::nullopt);
  EXPECT_TRUE(responder.end(at(50), kNow));
  EXPECT_EQ(lease(responder, test_mac(3)), at(50));
}

// Not of an import, but of the same kind: what is on disk is the client's, whatever came before it.
TEST(LeaseImport, ALeaseIsKeptThoughTheRequestBeforeFailed) {
  Responder responder(config(50, 50));
  ASSERT_EQ(offered(responder, test_mac(1)), at(50));
  const auto first = responder.handle(test::select(test_mac(1), at(2), at(50)).bytes(), 0, kNow);
  const auto second = responder.handle(test::select(test_mac(1), at(2), at(50)).bytes(), 0, kNow);
  responder.settle(first.changes, false, kNow);
  responder.settle(second.changes, true, kNow);
  EXPECT_EQ(table_of(responder), (Table{{"192.0.2.50", "bound " + test_mac(1).to_string()}}));
  EXPECT_EQ(responder.next_due(), kNow + 1h);
  responder.expire(kNow + 20s, 10);
  EXPECT_EQ(offered(responder, test_mac(2), kNow + 20s), std::nullopt);
}

/// Any mixture of imports and clients: no address has two owners.
TEST(LeaseImport, NoAddressIsGivenTwice) {
  std::mt19937 random(11);
  const auto pick = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  Responder responder(config(50, 99));
  std::map<Ipv4, std::pair<MacAddress, Allocator::Time>> owners;  // until when
  Allocator::Time now = kNow;
  for (int round = 0; round < 3000; ++round) {
    now += std::chrono::seconds(random() % 120);
    responder.expire(now, 1000);
    if (random() % 4 != 0) {
      const MacAddress mac = test_mac(pick(80));
      const auto address = lease(responder, mac, now);
      if (!address) continue;
      const auto owner = owners.find(*address);
      if (owner != owners.end()) {
        ASSERT_TRUE(owner->second.first == mac || owner->second.second <= now) << round;
      }
      owners[*address] = {mac, now + 1h};
      continue;
    }
    std::map<Ipv4, ListedLease> picked;
    for (int n = 0; n < 5; ++n) {
      auto one = listed(50 + pick(50), pick(80));
      one.lease.started = now - std::chrono::seconds(random() % 1000);
      one.lease.expires = now + std::chrono::seconds(random() % 5000) - 1000s;
      picked.emplace(one.lease.address, one);
    }
    LeaseList list;
    for (const auto& [address, one] : picked) list.leases.push_back(one);
    Diagnostics problems;
    responder.check_import(list, now, problems);
    if (problems.has_errors()) continue;
    LeaseImport outcome;
    const bool is_durable = random() % 5 != 0;
    const auto changes = responder.import_leases(list, now, outcome);
    responder.settle_import(changes, is_durable);
    if (!is_durable) continue;
    for (const LeaseChange& change : changes) {
      const Lease& l = change.event.lease;
      if (l.state != LeaseState::bound) continue;
      const auto owner = owners.find(l.address);
      if (owner != owners.end()) {
        ASSERT_TRUE(owner->second.first == l.mac || owner->second.second <= now) << round;
      }
      owners[l.address] = {l.mac, l.expires};
    }
  }
  std::set<Ipv4> seen;
  for (const Lease& l : responder.leases()) ASSERT_TRUE(seen.insert(l.address).second);
}

// --- DHCPv6

dhcp6::ResponderConfig config6() {
  dhcp6::Subnet subnet;
  subnet.name = "hcp/vlan7";
  subnet.cidr = *parse_cidr("2001:db8::/64");
  subnet.pool = {*parse_ipv6("2001:db8::50"), *parse_ipv6("2001:db8::52")};
  subnet.dns_servers = {*parse_ipv6("2001:db8::3")};
  return {{subnet}, {}, *dhcp6::parse_duid("00:04:aa")};
}

ListedLease6 listed6(const char* address, unsigned client, std::chrono::seconds ends_in = 1h,
                     LeaseState state = LeaseState::bound) {
  dhcp6::Lease lease;
  lease.address = *parse_ipv6(address);
  lease.client.duid = *dhcp6::parse_duid("00:04:bb:" + std::to_string(10 + client));
  lease.client.iaid = 1;
  lease.state = state;
  lease.started = kNow - 1h;
  lease.expires = kNow + ends_in;
  return {lease, client};
}

LeaseList list6(std::vector<ListedLease6> leases) {
  LeaseList out;
  out.leases6 = std::move(leases);
  return out;
}

std::string problems_of(const dhcp6::Responder& responder, const LeaseList& list) {
  Diagnostics problems;
  responder.check_import(list, kNow, problems);
  std::string all;
  for (const Diagnostic& d : problems) all += (all.empty() ? "" : " ") + std::to_string(d.line) + ':' + d.code;
  return all;
}

LeaseImport take_over(dhcp6::Responder& responder, const LeaseList& list, bool is_durable = true) {
  EXPECT_EQ(problems_of(responder, list), "");
  LeaseImport outcome;
  responder.settle_import(responder.import_leases(list, kNow, outcome), is_durable);
  return outcome;
}

Table table_of(const dhcp6::Responder& responder) {
  Table out;
  for (const dhcp6::Lease& l : responder.leases())
    out[l.address.to_string()] = std::string(to_string(l.state)) + ' ' + l.client.duid.to_string();
  return out;
}

TEST(LeaseImport6, LeasesAreTakenOver) {
  dhcp6::Responder responder(config6());
  auto second = listed6("2001:db8::51", 1);
  second.lease.started = kNow;
  const auto outcome = take_over(responder, list6({listed6("2001:db8::50", 1), second, listed6("2001:db8::52", 2, -1s),
                                                   listed6("2001:db8::99", 3), listed6("2001:db8::98", 4, -1s)}));
  EXPECT_EQ(outcome.imported, 4U);
  EXPECT_EQ(outcome.left_out, 1U);
  EXPECT_EQ(outcome.warnings.warning_count(), 1U);
  EXPECT_EQ(table_of(responder), (Table{{"2001:db8::50", "declined 00:04:bb:11"},
                                        {"2001:db8::51", "bound 00:04:bb:11"},
                                        {"2001:db8::52", "expired 00:04:bb:12"},
                                        {"2001:db8::99", "bound 00:04:bb:13"}}));
  EXPECT_EQ(responder.next_due(), kNow + 1h);
}

TEST(LeaseImport6, AllReasonsAgainstItAreTold) {
  dhcp6::Responder responder(config6());
  take_over(responder, list6({listed6("2001:db8::50", 1), listed6("2001:db8::51", 2, 1h, LeaseState::declined)}));
  auto nobody = listed6("2001:db8::52", 9);
  nobody.lease.client.duid = {};
  EXPECT_EQ(
      problems_of(responder, list6({listed6("2001:db8::", 3), listed6("2001:db8::3", 4), listed6("2001:db8::50", 5),
                                    listed6("2001:db8::51", 6), listed6("2001:db8:1::1", 7), nobody,
                                    listed6("2001:db8::50", 8, -1s)})),
      "3:lease-own-address 4:lease-own-address 5:lease-held 6:lease-held 7:lease-foreign-network 9:lease-bad-value");
}

TEST(LeaseImport6, ASecondTimeNothingChanges) {
  dhcp6::Responder responder(config6());
  const auto list = list6({listed6("2001:db8::50", 1), listed6("2001:db8::51", 2, 1h, LeaseState::declined),
                           listed6("2001:db8::52", 3, -1s)});
  take_over(responder, list);
  LeaseImport again;
  EXPECT_TRUE(responder.import_leases(list, kNow, again).empty());
  EXPECT_EQ(again.unchanged, 3U);
  EXPECT_EQ(take_over(responder, list6({listed6("2001:db8::50", 1, 2h)})).imported, 1U);
  EXPECT_EQ(responder.leases()[0].expires, kNow + 2h);
}

TEST(LeaseImport6, WhatDidNotReachTheDiskIsForgotten) {
  dhcp6::Responder responder(config6());
  take_over(responder, list6({listed6("2001:db8::50", 1), listed6("2001:db8::51", 2, 1h, LeaseState::declined)}),
            false);
  EXPECT_TRUE(responder.leases().empty());
  EXPECT_EQ(responder.usage(0).bound, 0U);
  EXPECT_EQ(take_over(responder, list6({listed6("2001:db8::50", 3)})).imported, 1U);
}

TEST(LeaseImport6, WhatDidNotReachTheDiskLeavesARestAlone) {
  dhcp6::Responder responder(config6());
  take_over(responder, list6({listed6("2001:db8::50", 1, 1h, LeaseState::declined), listed6("2001:db8::51", 2, -1s)}));
  const auto before = responder.leases();
  take_over(responder, list6({listed6("2001:db8::50", 3, 5h, LeaseState::declined), listed6("2001:db8::51", 4)}),
            false);
  EXPECT_EQ(responder.leases(), before);
  EXPECT_EQ(responder.usage(0).declined, 1U);
  EXPECT_EQ(responder.next_due(), kNow + 1h);
}

// The client's own request waits for the disk meanwhile; it fails, and the import does not.
TEST(LeaseImport6, AnImportedLeaseIsKeptThoughTheRequestBeforeFailed) {
  for (const auto ends_in : {30min, 120min}) {
    dhcp6::Allocator allocator(config6().subnets[0]);
    const dhcp6::Lease wanted = listed6("2001:db8::50", 1, ends_in).lease;
    ASSERT_EQ(allocator.offer(wanted.client, std::array{wanted.address}, kNow), wanted.address);
    allocator.bind(wanted.client, wanted.address, {}, kNow);
    const auto adopted = allocator.adopt(wanted, kNow);
    ASSERT_TRUE(adopted.event) << "nothing is on disk yet";
    allocator.revert(wanted.address, kNow);
    allocator.settle_adopted(*adopted.event, true);
    ASSERT_EQ(allocator.leases().size(), 1U);
    EXPECT_EQ(allocator.leases()[0].state, LeaseState::bound);
    EXPECT_EQ(allocator.leases()[0].expires, adopted.event->lease.expires);
    EXPECT_TRUE(allocator.expire(kNow + 20min, 10).empty());
    EXPECT_EQ(allocator.bound(wanted.client), wanted.address);
  }
}

TEST(LeaseImport6, EndingByHandFreesAnAddress) {
  dhcp6::Responder responder(config6());
  take_over(responder, list6({listed6("2001:db8::50", 1), listed6("2001:db8::51", 2, 1h, LeaseState::declined)}));
  EXPECT_TRUE(responder.end(*parse_ipv6("2001:db8::50"), kNow));
  EXPECT_TRUE(responder.end(*parse_ipv6("2001:db8::51"), kNow));
  EXPECT_FALSE(responder.end(*parse_ipv6("2001:db8::51"), kNow));
  EXPECT_FALSE(responder.end(*parse_ipv6("2001:db8::52"), kNow));
  EXPECT_EQ(table_of(responder),
            (Table{{"2001:db8::50", "released 00:04:bb:11"}, {"2001:db8::51", "released 00:04:bb:12"}}));
  EXPECT_EQ(take_over(responder, list6({listed6("2001:db8::50", 3)})).imported, 1U);
}

}  // namespace
}  // namespace hcpnet::dhcp
