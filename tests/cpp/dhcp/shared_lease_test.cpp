// SPDX-License-Identifier: Apache-2.0
#include "dhcp/shared_lease.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using namespace std::chrono_literals;
using test::test_mac;

const std::chrono::sys_seconds kNow(1'800'000'000s);
constexpr Ipv4 kAddress(192, 0, 2, 10);

Lease lease_of(std::uint32_t client, std::chrono::sys_seconds expires = kNow + 1h,
               LeaseState state = LeaseState::bound) {
  Lease lease;
  lease.address = kAddress;
  lease.mac = test_mac(client);
  lease.state = state;
  lease.started = kNow - 1h;
  lease.expires = expires;
  return lease;
}

TEST(StoreEndpoint, HasSchemeHostAndPort) {
  const auto plain = parse_store_endpoint("http://etcd-0.etcd.example.com:12379/");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->is_encrypted);
  EXPECT_EQ(plain->host, "etcd-0.etcd.example.com");
  EXPECT_EQ(plain->port, 12379);
  const auto v6 = parse_store_endpoint("https://[2001:db8::9]");
  ASSERT_TRUE(v6);
  EXPECT_TRUE(v6->is_encrypted);
  EXPECT_EQ(v6->host, "2001:db8::9");
  EXPECT_EQ(v6->port, 2379);
  for (const char* text : {"", "https://", "https://:2379", "192.0.2.9:2379", "ftp://a", "https://a:0",
                           "https://a:65536", "https://a:b", "https://a:", "https://a/b", "https://[::1", "https://[]",
                           "https://[a]:1", "https://a b", "https://u@a", "https://2001:db8::9", "https://a\r\nb"})
    EXPECT_FALSE(parse_store_endpoint(text)) << text;
}

TEST(StorePrefix, IsSlashesWithWords) {
  for (const char* text : {"/a", "/hcpnet/vlan-7"}) EXPECT_TRUE(is_store_prefix(text)) << text;
  EXPECT_TRUE(is_store_prefix('/' + std::string(255, 'a')));
  for (const char* text : {"", "/", "a", "a/b", "/a/", "//a", "/a//b", "/a b", "/\x7f", "/\xc3\xa4"})
    EXPECT_FALSE(is_store_prefix(text)) << text;
  EXPECT_FALSE(is_store_prefix('/' + std::string(256, 'a')));
}

TEST(SharedLease, KeyIsPrefixAndAddress) {
  EXPECT_EQ(shared_lease_key("/p", kAddress), "/p/192.0.2.10");
  EXPECT_EQ(parse_shared_lease_key("/p", "/p/192.0.2.10"), kAddress);
  for (const char* key : {"/p", "/p/", "/p/x", "/q/192.0.2.10", "/pp/192.0.2.10", "/p192.0.2.10", "/p/192.0.2.10/x"})
    EXPECT_FALSE(parse_shared_lease_key("/p", key)) << key;
}

TEST(SharedLease, ComesBackAsItWas) {
  SharedLease shared{lease_of(1), "192.0.2.2"};
  shared.lease.client_id = std::string("\x00\xff\x01", 3);
  shared.lease.host_name = "vm-7";
  shared.lease.relay_information =
      "\x01\x02"
      "ab";
  for (const LeaseState state : {LeaseState::bound, LeaseState::released, LeaseState::expired, LeaseState::declined}) {
    shared.lease.state = state;
    EXPECT_EQ(parse_shared_lease(kAddress, render_shared_lease(shared)), shared);
  }
  shared.lease.host_name = "\xff";  // no UTF-8: it is stored as something, and no exception
  EXPECT_TRUE(parse_shared_lease(kAddress, render_shared_lease(shared)));
}

TEST(SharedLease, WhatIsDamagedOrNewerIsNone) {
  using nlohmann::json;
  const json good = json::parse(render_shared_lease({lease_of(1), "192.0.2.2"}));
  const auto with = [&](const char* field, const json& value) {
    json changed = good;
    changed[field] = value;
    return parse_shared_lease(kAddress, changed.dump()).has_value();
  };
  EXPECT_TRUE(with("added", 1)) << "a field that we don't know";
  EXPECT_FALSE(with("version", 2));
  EXPECT_FALSE(with("version", "1"));
  EXPECT_FALSE(with("state", "bond"));
  EXPECT_FALSE(with("state", 7));
  EXPECT_FALSE(with("mac", "02:00"));
  EXPECT_FALSE(with("clientID", "0g"));
  EXPECT_FALSE(with("clientID", nullptr));
  EXPECT_FALSE(with("hostName", std::string(256, 'a')));
  EXPECT_FALSE(with("relayInformation", 1));
  EXPECT_FALSE(with("expires", -1));
  EXPECT_FALSE(with("expires", 1.5));
  EXPECT_FALSE(with("expires", UINT64_MAX));
  EXPECT_FALSE(with("started", 253'402'300'799)) << "no timer can wait for the year 9999";
  EXPECT_FALSE(with("expires", 9'000'000'001));
  EXPECT_TRUE(with("expires", 9'000'000'000));
  EXPECT_FALSE(with("server", json::array()));
  for (const auto& [field, value] : good.items()) {
    json without = good;
    without.erase(field);
    EXPECT_FALSE(parse_shared_lease(kAddress, without.dump())) << field;
  }
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{"), std::string("null"),
                                  std::string(kMaxSharedLeaseBytes + 1, ' ')})
    EXPECT_FALSE(parse_shared_lease(kAddress, text));
}

TEST(SharedLease, ClientsAreKnownAsTheSubnetSays) {
  Lease one = lease_of(1), other = lease_of(2);
  EXPECT_FALSE(is_same_client(one, other, Identity::mac));
  one.client_id = other.client_id = "id";
  EXPECT_TRUE(is_same_client(one, other, Identity::client_id));
  EXPECT_FALSE(is_same_client(one, other, Identity::mac));
  one.client_id.clear();
  EXPECT_FALSE(is_same_client(one, other, Identity::client_id));
  other = lease_of(1);
  other.client_id = std::string("\x01", 1) + std::string("\x02\x00\x00\x00\x00\x01", 6);
  EXPECT_TRUE(is_same_client(one, other, Identity::client_id)) << "RFC 2132 section 9.14";
}

/// The clocks of two servers may differ by max_skew, so the end that one of them has written may be that much later.
TEST(SharedLease, AnotherClientWaitsForSkewAndMargin) {
  const SharedRules rules{Identity::mac, 5s};
  const auto wait = rules.max_skew + kSharedMargin;
  const Lease wanted = lease_of(2);
  EXPECT_FALSE(may_replace(lease_of(1, kNow + 1h), wanted, rules, kNow));
  EXPECT_FALSE(may_replace(lease_of(1, kNow), wanted, rules, kNow));
  EXPECT_FALSE(may_replace(lease_of(1, kNow - wait), wanted, rules, kNow)) << "the last second is not over";
  EXPECT_TRUE(may_replace(lease_of(1, kNow - wait - 1s), wanted, rules, kNow));
}

TEST(SharedLease, ItsOwnClientNeedNotWait) {
  const SharedRules rules{Identity::mac, 5s};
  EXPECT_TRUE(may_replace(lease_of(1), lease_of(1, kNow + 2h), rules, kNow));
  EXPECT_TRUE(may_replace(lease_of(1), lease_of(1, kNow, LeaseState::released), rules, kNow));
  EXPECT_TRUE(may_replace(lease_of(1), lease_of(1, kNow + 1h, LeaseState::declined), rules, kNow));
  EXPECT_FALSE(may_replace(lease_of(1), lease_of(2, kNow, LeaseState::released), rules, kNow));
  EXPECT_FALSE(may_replace(lease_of(1), lease_of(2, kNow + 1h, LeaseState::declined), rules, kNow));
}

TEST(SharedLease, WhatWasGivenBackIsFreeAtOnce) {
  const SharedRules rules{Identity::mac, 5s};
  for (const LeaseState state : {LeaseState::released, LeaseState::expired})
    EXPECT_TRUE(may_replace(lease_of(1, kNow + 1h, state), lease_of(2), rules, kNow));
}

TEST(SharedLease, WhatRestsIsNobodys) {
  const SharedRules rules{Identity::mac, 5s};
  const Lease resting = lease_of(1, kNow + 1h, LeaseState::declined);
  EXPECT_FALSE(may_replace(resting, lease_of(1), rules, kNow));
  EXPECT_FALSE(may_replace(resting, lease_of(2), rules, kNow));
  EXPECT_TRUE(may_replace(resting, lease_of(2, kNow + 2h, LeaseState::declined), rules, kNow));
  EXPECT_TRUE(may_replace(resting, lease_of(1, kNow, LeaseState::released), rules, kNow)) << "ended by hand";
  EXPECT_TRUE(may_replace(lease_of(1, kNow - 9s, LeaseState::declined), lease_of(2), rules, kNow));
}

}  // namespace
}  // namespace hcpnet::dhcp
