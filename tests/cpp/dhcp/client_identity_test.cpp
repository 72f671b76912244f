// SPDX-License-Identifier: Apache-2.0
// By what a client is known again: RFC 2131 section 4.2, RFC 4361, RFC 6842.
#include <gtest/gtest.h>

#include <hcpnet/dhcp/responder.hpp>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::DhcpAnswer;
using test::DhcpPacket;
using test::test_mac;

constexpr Responder::Time kNow{1'700'000'000s};
const Ipv4 kServer(192, 0, 2, 2);
/// What a Linux system makes of its machine id: type 255, IAID, DUID (RFC 4361 section 6.1).
const Bytes kSystem = {255, 0, 0, 0, 1, 0, 2, 0, 0, 0xAB, 0x11, 1, 2, 3, 4, 5, 6, 7, 8};
/// And firmware of its UUID (RFC 4578 section 2.3 has the same form).
const Bytes kFirmware = {0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

Ipv4 at(unsigned last) {
  return {192, 0, 2, static_cast<std::uint8_t>(last)};
}
std::string text(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

Config config(Identity identity = Identity::client_id) {
  Subnet subnet;
  subnet.name = "hcp/vlan7";
  subnet.cidr = Ipv4Cidr(at(0), 24);
  subnet.server_id = kServer;
  subnet.pools = {{{at(50), at(59)}}};
  subnet.identity = identity;
  return {{subnet}, {}, {}};
}

class DhcpClientIdentity : public testing::Test {
 protected:
  void configure(const Config& c) { responder_ = Responder(c); }
  Outcome send(const DhcpPacket& packet, bool is_durable = true) {
    Outcome out = responder_.handle(packet.bytes(), 0, now_);
    responder_.settle(out.changes, is_durable, now_);
    return out;
  }
  DhcpAnswer answer(const DhcpPacket& packet) {
    const Outcome out = send(packet);
    EXPECT_TRUE(out.reply) << out.dropped;
    return out.reply ? test::read_answer(out.reply->packet).value() : DhcpAnswer();
  }
  Ipv4 bind(const MacAddress& mac, const Bytes& id) {
    const Ipv4 address = answer(with_id(test::discover(mac), id)).yiaddr;
    EXPECT_EQ(answer(with_id(test::select(mac, kServer, address), id)).type(), 5);
    return address;
  }
  static DhcpPacket with_id(DhcpPacket packet, const Bytes& id) { return id.empty() ? packet : packet.with(61, id); }
  static DhcpPacket release(const MacAddress& mac, Ipv4 address) {
    DhcpPacket packet = test::dhcp_packet(7, mac).with_address(54, kServer);
    packet.ciaddr = address;
    return packet;
  }
  [[nodiscard]] std::size_t bound() const { return responder_.usage(0).bound; }

  Responder responder_{config()};
  Responder::Time now_ = kNow;
};

TEST_F(DhcpClientIdentity, ByIdentifierClonedMachinesAreOneClient) {
  EXPECT_EQ(bind(test_mac(1), kSystem), at(50));
  EXPECT_EQ(bind(test_mac(2), kSystem), at(50)) << "case DHC-01: RFC 4361, and why it is not the default";
  ASSERT_EQ(responder_.leases().size(), 1U);
  EXPECT_EQ(responder_.leases()[0].mac, test_mac(2)) << "where it was seen last";
  configure(config(Identity::mac));
  EXPECT_EQ(bind(test_mac(1), kSystem), at(50));
  EXPECT_EQ(bind(test_mac(2), kSystem), at(51));
}

TEST_F(DhcpClientIdentity, ByIdentifierOneInterfaceMayHaveSeveralClients) {
  EXPECT_EQ(bind(test_mac(1), kFirmware), at(50));
  EXPECT_EQ(bind(test_mac(1), kSystem), at(51));
  EXPECT_EQ(bind(test_mac(1), kFirmware), at(50)) << "each finds its own again";
  EXPECT_EQ(bound(), 2U);
  configure(config(Identity::mac));
  EXPECT_EQ(bind(test_mac(1), kFirmware), at(50));
  EXPECT_EQ(bind(test_mac(1), kSystem), at(50));
}

TEST_F(DhcpClientIdentity, ClientWithoutAnIdentifierIsKnownByItsHardwareAddress) {
  EXPECT_EQ(bind(test_mac(1), {}), at(50));
  EXPECT_EQ(bind(test_mac(2), {}), at(51));
  EXPECT_EQ(bind(test_mac(1), {}), at(50));
  const auto mac = test_mac(1).bytes();
  Bytes same = {1};
  same.insert(same.end(), mac.begin(), mac.end());
  EXPECT_EQ(bind(test_mac(1), same), at(50)) << "RFC 2132 section 9.14: type of hardware and address";
  EXPECT_EQ(bound(), 2U);
}

TEST_F(DhcpClientIdentity, IdentifierComesBackInEveryReply) {
  const DhcpAnswer offer = answer(with_id(test::discover(test_mac(1)), kSystem));
  EXPECT_EQ(offer.find(61), kSystem);
  EXPECT_EQ(answer(with_id(test::select(test_mac(1), kServer, offer.yiaddr), kSystem)).find(61), kSystem);
  const DhcpAnswer nak = answer(with_id(test::select(test_mac(1), kServer, at(99)), kSystem));
  EXPECT_EQ(nak.type(), 6);
  EXPECT_EQ(nak.find(61), kSystem) << "RFC 6842 section 3";
}

TEST_F(DhcpClientIdentity, OnlyTheSameIdentifierRenewsReleasesAndDeclines) {
  const Ipv4 address = bind(test_mac(1), kSystem);
  EXPECT_EQ(answer(with_id(test::renew(test_mac(1), address), kFirmware)).type(), 6);
  EXPECT_EQ(send(with_id(release(test_mac(1), address), kFirmware)).dropped, "not_bound");
  const DhcpPacket decline = test::dhcp_packet(4, test_mac(1)).with_address(54, kServer).with_address(50, address);
  EXPECT_EQ(send(with_id(decline, kFirmware)).dropped, "not_bound");
  EXPECT_EQ(answer(with_id(test::renew(test_mac(7), address), kSystem)).type(), 5) << "another interface of it";
  EXPECT_EQ(send(with_id(release(test_mac(7), address), kSystem)).dropped, "");
  EXPECT_EQ(bound(), 0U);
}

TEST_F(DhcpClientIdentity, AnOfferIsTheIdentifiersToo) {
  const Ipv4 address = answer(with_id(test::discover(test_mac(1)), kSystem)).yiaddr;
  EXPECT_EQ(answer(with_id(test::select(test_mac(1), kServer, address), kFirmware)).type(), 6);
  EXPECT_EQ(answer(with_id(test::select(test_mac(2), kServer, address), kSystem)).type(), 5);
}

TEST_F(DhcpClientIdentity, AnswerToAProbeConcernsTheClientThatWasOffered) {
  Config probing = config();
  probing.subnets[0].probe_timeout = 300ms;
  configure(probing);
  const Outcome out = send(with_id(test::discover(test_mac(1)), kSystem));
  ASSERT_TRUE(out.probe);
  EXPECT_TRUE(responder_.has_offer(out.subnet, *out.probe));
  const auto rests = responder_.report_conflict(out.subnet, *out.probe, now_);
  ASSERT_TRUE(rests);
  EXPECT_EQ(rests->event.lease.client_id, text(kSystem));
}

TEST_F(DhcpClientIdentity, BindingThatDoesNotReachTheDiskIsTheClientsOfferAgain) {
  const Ipv4 address = answer(with_id(test::discover(test_mac(1)), kSystem)).yiaddr;
  send(with_id(test::select(test_mac(1), kServer, address), kSystem), false);
  EXPECT_EQ(bound(), 0U);
  EXPECT_EQ(answer(with_id(test::select(test_mac(1), kServer, address), kSystem)).type(), 5);
  EXPECT_EQ(bound(), 1U);
}

TEST_F(DhcpClientIdentity, ReservationMayNameTheIdentifier) {
  for (const Identity identity : {Identity::mac, Identity::client_id}) {
    Config reserving = config(identity);
    reserving.subnets[0].reservations = {{std::nullopt, at(20), "web", text(kSystem)}, {test_mac(1), at(21), "pxe"}};
    configure(reserving);
    EXPECT_EQ(bind(test_mac(1), kSystem), at(20)) << "it goes before the hardware address";
    EXPECT_EQ(responder_.leases().at(0).host_name, "web");
    const Ipv4 second = bind(test_mac(2), kFirmware);
    EXPECT_EQ(second, at(50));
    if (identity == Identity::client_id) {
      EXPECT_EQ(bind(test_mac(1), kFirmware), at(21)) << "from the interface that it is for";
    }
  }
}

TEST_F(DhcpClientIdentity, ReservationForWhatAHardwareAddressStandsForIsForAClientThatSendsNothing) {
  for (const Identity identity : {Identity::mac, Identity::client_id}) {
    Config reserving = config(identity);
    reserving.subnets[0].reservations = {{std::nullopt, at(20), "web", make_client_id(test_mac(1))}};
    configure(reserving);
    const bool is_known = identity == Identity::client_id;
    EXPECT_EQ(bind(test_mac(1), {}), is_known ? at(20) : at(50));
    EXPECT_EQ(responder_.leases().at(0).host_name, is_known ? "web" : "");
  }
}

TEST_F(DhcpClientIdentity, ReloadWithAnotherIdentityKeepsLeases) {
  configure(config(Identity::mac));
  EXPECT_EQ(bind(test_mac(1), kSystem), at(50));
  now_ += 10s;
  EXPECT_EQ(bind(test_mac(2), kSystem), at(51));
  EXPECT_EQ(bind(test_mac(3), kFirmware), at(52));
  EXPECT_EQ(answer(test::discover(test_mac(4))).yiaddr, at(53));
  responder_.replace(config());
  EXPECT_EQ(responder_.usage(0).offered, 0U) << "whom an offer is for is another question now";
  EXPECT_EQ(bound(), 3U) << "both cloned machines use their addresses";
  EXPECT_EQ(answer(with_id(test::discover(test_mac(9)), kSystem)).yiaddr, at(51)) << "the newer one is the client's";
  EXPECT_EQ(bind(test_mac(9), kFirmware), at(52));
  EXPECT_EQ(bind(test_mac(5), {}), at(53));
  responder_.replace(config(Identity::mac));
  EXPECT_EQ(bind(test_mac(1), {}), at(50));
  EXPECT_EQ(bind(test_mac(9), {}), at(52));
}

TEST_F(DhcpClientIdentity, RestoreEndsNoLeaseOfAnotherMachine) {
  const auto stored = [&](unsigned last, std::uint32_t mac, std::chrono::seconds started) {
    Lease lease;
    lease.address = at(last);
    lease.mac = test_mac(mac);
    lease.client_id = text(kSystem);
    lease.started = kNow + started;
    lease.expires = kNow + 1000s + started;
    return lease;
  };
  EXPECT_TRUE(responder_.restore({{stored(50, 1, 0s), stored(51, 2, 5s)}}, now_).empty());
  EXPECT_EQ(bound(), 2U);
  EXPECT_EQ(answer(with_id(test::discover(test_mac(3)), kSystem)).yiaddr, at(51));
  now_ += 1000s;
  responder_.expire(now_, 100);
  EXPECT_EQ(bound(), 1U) << "until it ends";

  configure(config());
  EXPECT_EQ(responder_.restore({{stored(50, 1, 0s), stored(51, 1, 5s)}}, now_).size(), 1U)
      << "of one machine the older";
}

TEST_F(DhcpClientIdentity, OneInterfaceDoesNotGetThePool) {
  ResponderLimits limits;
  limits.allocator.max_per_hardware_address = 2;
  responder_ = Responder(config(), limits);
  EXPECT_EQ(bind(test_mac(1), {1, 1}), at(50));
  EXPECT_EQ(answer(with_id(test::discover(test_mac(1)), {1, 2})).yiaddr, at(51));
  EXPECT_EQ(send(with_id(test::discover(test_mac(1)), {1, 3})).dropped, "client_limit") << "an offer counts too";
  EXPECT_EQ(answer(with_id(test::select(test_mac(1), kServer, at(55)), {1, 3})).type(), 6);
  EXPECT_EQ(bind(test_mac(1), {1, 2}), at(51)) << "what it has it keeps";
  EXPECT_EQ(bind(test_mac(1), {1, 1}), at(50));
  EXPECT_EQ(bind(test_mac(2), {1, 3}), at(52)) << "others have limits of their own";
  EXPECT_EQ(send(with_id(release(test_mac(1), at(50)), {1, 1})).dropped, "");
  EXPECT_EQ(bind(test_mac(1), {1, 4}), at(53));
  EXPECT_EQ(send(with_id(test::discover(test_mac(1)), {1, 1})).dropped, "client_limit");
  now_ += 3600s;
  EXPECT_EQ(bind(test_mac(1), {1, 1}), at(50)) << "once others have ended";
  responder_.replace(config(Identity::mac));
  responder_.replace(config());
  EXPECT_EQ(bind(test_mac(1), {1, 5}), at(54));
  EXPECT_EQ(send(with_id(test::discover(test_mac(1)), {1, 6})).dropped, "client_limit") << "as before the reloads";
  Config reserving = config();
  reserving.subnets[0].reservations = {{std::nullopt, at(20), {}, text({1, 6})}};
  responder_.replace(reserving);
  EXPECT_EQ(bind(test_mac(1), {1, 6}), at(20)) << "a reservation is beyond the limit";
}

// Cloned machines that had their addresses before the identifier counted: neither's renewal may free the other's.
TEST_F(DhcpClientIdentity, MachinesThatShareAnIdentifierRenewWhatTheyHave) {
  configure(config(Identity::mac));
  EXPECT_EQ(bind(test_mac(1), kSystem), at(50));
  EXPECT_EQ(bind(test_mac(2), kSystem), at(51));
  responder_.replace(config());
  for (int turn = 0; turn < 3; ++turn) {
    now_ += 1800s;
    EXPECT_EQ(answer(with_id(test::renew(test_mac(1), at(50)), kSystem)).type(), 5) << turn;
    EXPECT_EQ(answer(with_id(test::renew(test_mac(2), at(51)), kSystem)).type(), 5) << turn;
    EXPECT_EQ(bound(), 2U) << turn;
  }
  EXPECT_EQ(bind(test_mac(3), kFirmware), at(52)) << "nobody gets either";
}

TEST_F(DhcpClientIdentity, ImportedSecondLeaseOfAnIdentifierRests) {
  bind(test_mac(1), kSystem);
  LeaseList list;
  Lease lease;
  lease.address = at(55);
  lease.mac = test_mac(2);
  lease.client_id = text(kSystem);
  lease.started = kNow;
  lease.expires = kNow + 100s;
  list.leases.push_back({lease, 1});
  lease.address = at(56);
  lease.client_id = text(kFirmware);
  list.leases.push_back({lease, 2});
  Diagnostics problems;
  responder_.check_import(list, now_, problems);
  ASSERT_FALSE(problems.has_errors());
  LeaseImport outcome;
  const auto changes = responder_.import_leases(list, now_, outcome);
  responder_.settle_import(changes, true);
  EXPECT_EQ(outcome.warnings.items().size(), 1U);
  EXPECT_EQ(bound(), 2U);
  EXPECT_EQ(responder_.usage(0).declined, 1U);
  EXPECT_EQ(bind(test_mac(9), kFirmware), at(56));
}

}  // namespace
}  // namespace hcpnet::dhcp
