// SPDX-License-Identifier: Apache-2.0
#include "dhcp/probe_table.hpp"

#include <gtest/gtest.h>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;
using Verdict = ProbeTable::Verdict;

const Ipv4 kAddress(192, 0, 2, 50);
const ProbeTable::Time kStart{1000s};

ProbedOffer offer(unsigned mac, Ipv4 address = kAddress, bool is_relayed = false) {
  ProbedOffer out;
  out.probe = {address, test_mac(mac), Ipv4(192, 0, 2, 2), is_relayed, 300ms};
  out.message = {static_cast<std::uint8_t>(mac)};
  return out;
}
ProbeAnswer by_arp(unsigned mac, Ipv4 address = kAddress) {
  return {address, test_mac(mac), 0};
}
ProbeAnswer by_echo(std::uint16_t sequence, Ipv4 address = kAddress) {
  return {address, {}, sequence};
}

TEST(DhcpProbeTable, OfferThatNobodyAnswersToIsDueInTime) {
  ProbeTable table;
  EXPECT_EQ(table.next_due(), std::nullopt);
  EXPECT_EQ(table.add(offer(1), kStart).verdict, Verdict::ask);
  EXPECT_EQ(table.next_due(), kStart + 300ms);
  EXPECT_FALSE(table.take_due(kStart + 299ms));
  const auto due = table.take_due(kStart + 300ms);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->probe.address, kAddress);
  EXPECT_FALSE(table.take_due(kStart + 300ms)) << "once";
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.next_due(), std::nullopt);
}

TEST(DhcpProbeTable, OffersAreDueInTheOrderOfTheirTimes) {
  ProbeTable table;
  ProbedOffer slow = offer(1, Ipv4(192, 0, 2, 51));
  slow.probe.timeout = 1s;
  table.add(std::move(slow), kStart);
  table.add(offer(2, Ipv4(192, 0, 2, 52)), kStart + 100ms);
  EXPECT_EQ(table.take_due(kStart + 2s)->probe.client, test_mac(2));
  EXPECT_EQ(table.take_due(kStart + 2s)->probe.client, test_mac(1));
}

TEST(DhcpProbeTable, AnswerByArpIsAConflictUnlessItIsTheClients) {
  ProbeTable table;
  table.add(offer(1), kStart);
  EXPECT_FALSE(table.take_answered(0, by_arp(1))) << "its own";
  EXPECT_FALSE(table.take_answered(0, by_arp(9, Ipv4(192, 0, 2, 51)))) << "another address";
  EXPECT_FALSE(table.take_answered(1, by_arp(9))) << "another link";
  EXPECT_FALSE(table.take_answered(0, by_echo(1))) << "nobody asked by ICMP";
  const auto taken = table.take_answered(0, by_arp(9));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->message, (std::vector<std::uint8_t>{1}));
  EXPECT_FALSE(table.take_answered(0, by_arp(9))) << "once";
  EXPECT_FALSE(table.take_due(kStart + 1h)) << "and it is due no more";
}

TEST(DhcpProbeTable, AnswerByEchoIsThatOfItsRequest) {
  ProbeTable table;
  const auto first = table.add(offer(1, kAddress, true), kStart);
  EXPECT_TRUE(table.take_due(kStart + 300ms));
  const auto second = table.add(offer(1, kAddress, true), kStart + 1s);
  EXPECT_NE(first.sequence, second.sequence);
  EXPECT_FALSE(table.take_answered(0, by_echo(first.sequence))) << "too late for that one";
  EXPECT_FALSE(table.take_answered(0, by_arp(9))) << "nobody asked by ARP";
  EXPECT_TRUE(table.take_answered(0, by_echo(second.sequence)));
}

TEST(DhcpProbeTable, ClientThatAsksAgainWaitsNoLonger) {
  ProbeTable table;
  ProbedOffer first = offer(1);
  first.conflicts = 2;
  table.add(std::move(first), kStart);
  ProbedOffer again = offer(1, kAddress, true);
  again.message = {7};
  EXPECT_EQ(table.add(std::move(again), kStart + 200ms).verdict, Verdict::waiting);
  EXPECT_EQ(table.size(), 1U);
  const auto due = table.take_due(kStart + 300ms);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->message, (std::vector<std::uint8_t>{7})) << "the later message is answered";
  EXPECT_EQ(due->conflicts, 2U) << "and meets no more addresses than the first one would have";
  EXPECT_FALSE(due->probe.is_relayed) << "by the question that was asked";
}

TEST(DhcpProbeTable, AddressThatIsOfferedAnewIsAskedForAnew) {
  ProbeTable table;
  table.add(offer(1), kStart);
  EXPECT_EQ(table.add(offer(2), kStart + 200ms).verdict, Verdict::ask);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_FALSE(table.take_due(kStart + 300ms));
  EXPECT_EQ(table.take_due(kStart + 500ms)->probe.client, test_mac(2));
}

TEST(DhcpProbeTable, SameAddressOnTwoLinksIsTwoAddresses) {
  ProbeTable table;
  table.add(offer(1), kStart);
  ProbedOffer other = offer(2);
  other.link = 1;
  EXPECT_EQ(table.add(std::move(other), kStart).verdict, Verdict::ask);
  EXPECT_EQ(table.take_answered(1, by_arp(9))->probe.client, test_mac(2));
  EXPECT_EQ(table.take_answered(0, by_arp(9))->probe.client, test_mac(1));
}

TEST(DhcpProbeTable, HoldsNoMoreThanItsLimit) {
  ProbeTable table({.max_waiting = 2, .max_conflicts = 1});
  table.add(offer(1, Ipv4(192, 0, 2, 51)), kStart);
  table.add(offer(2, Ipv4(192, 0, 2, 52)), kStart);
  EXPECT_EQ(table.add(offer(3, Ipv4(192, 0, 2, 53)), kStart).verdict, Verdict::full);
  EXPECT_EQ(table.add(offer(2, Ipv4(192, 0, 2, 52)), kStart).verdict, Verdict::waiting);
  table.forget(0, Ipv4(192, 0, 2, 51));
  table.forget(0, Ipv4(192, 0, 2, 99));
  EXPECT_EQ(table.add(offer(3, Ipv4(192, 0, 2, 53)), kStart).verdict, Verdict::ask);
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.next_due(), std::nullopt);
}

}  // namespace
}  // namespace hcpnet::dhcp
