// SPDX-License-Identifier: Apache-2.0
// Cases from the field: messages that other servers or clients stumbled over, each file with what is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <hcpnet/dhcp/responder.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using nlohmann::json;
using test::Bytes;
using test::DhcpAnswer;

constexpr std::chrono::sys_seconds kStart{std::chrono::seconds(1'700'000'000)};
const std::string kFolder = HCPNET_TEST_DATA "/dhcp/cases/";

std::string read_file(const std::string& name) {
  std::ifstream file(kFolder + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

Bytes from_hex(const std::string& text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](unsigned char c) { return std::isxdigit(c) != 0; });
  Bytes out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string to_hex(const std::optional<Bytes>& bytes) {
  if (!bytes) return "absent";
  std::ostringstream out;
  for (const std::uint8_t byte : *bytes) out << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
  return out.str();
}

Ipv4 ip(const json& text) {
  return parse_ipv4(text.get<std::string>()).value();
}

std::vector<std::uint8_t> bytes_of(Ipv4 address) {
  const auto bytes = address.bytes();
  return {bytes.begin(), bytes.end()};
}

Config config_of(const json& context) {
  Subnet subnet;
  subnet.name = "hcp/vlan";
  subnet.cidr = parse_ipv4_cidr(context.at("subnet").get<std::string>()).value();
  subnet.server_id = ip(context.at("server_ip"));
  const std::string pool = context.at("pool");
  const std::size_t dash = pool.find('-');
  subnet.pools = {{{parse_ipv4(pool.substr(0, dash)).value(), parse_ipv4(pool.substr(dash + 1)).value()}}};
  subnet.router = ip(context.at("router"));
  for (const json& server : context.at("dns")) subnet.dns_servers.push_back(ip(server));
  subnet.lease_time = std::chrono::seconds(context.at("lease").get<int>());
  subnet.authoritative = context.at("authoritative");
  if (context.contains("mtu")) {
    const int mtu = context.at("mtu");
    subnet.options.push_back({26, {static_cast<std::uint8_t>(mtu >> 8), static_cast<std::uint8_t>(mtu)}});
  }
  for (const json& server : context.value("ntp", json::array())) subnet.options.push_back({42, bytes_of(ip(server))});
  return {{subnet}, {}, {}};
}

std::vector<Lease> preload_of(const json& context) {
  std::vector<Lease> out;
  for (const json& row : context.value("preload", json::array())) {
    if (!row.is_array()) continue;  // garbage: LeaseDatabase.ReportsRowsThatMakeNoSense
    Lease lease;
    lease.address = ip(row.at(0));
    lease.mac = parse_mac_address(row.at(1).get<std::string>()).value();
    lease.expires = kStart + std::chrono::seconds(row.at(2).get<int>());
    const std::string age = row.at(3);
    const bool has_age = age.starts_with("t=");
    lease.started = kStart + std::chrono::seconds(has_age ? std::stoi(age.substr(2)) : -100);
    if (age == "expired") lease.state = LeaseState::expired;
    out.push_back(lease);
  }
  return out;
}

/// Plays one vector against a responder of its own.
class Player {
 public:
  explicit Player(const json& context) : config_(config_of(context)), responder_(config_) {
    for (const LeaseChange& change : responder_.restore({preload_of(context)}, kStart)) static_cast<void>(change);
  }

  void play(const json& step) {
    // What comes in on another interface never gets this far: dhcp_clients_test.sh has the two interfaces.
    if (step.value("iface", "net1") != "net1") return;
    SCOPED_TRACE(step.at("hex_file").get<std::string>());
    const Bytes packet = from_hex(read_file(step.at("hex_file")));
    packet_ = packet;
    const auto now = kStart + std::chrono::seconds(step.at("at").get<int>());
    outcome_ = responder_.handle(packet, 0, now);
    responder_.settle(outcome_.changes, true, now);
    answer_ = outcome_.reply ? test::read_answer(outcome_.reply->packet) : std::nullopt;
    ASSERT_EQ(outcome_.reply.has_value(), answer_.has_value()) << "not well-formed";
    const json& expect = step.at("expect");
    check_type(expect.at("reply"));
    if (answer_ && !HasFailure()) check_message(packet);
    for (const auto& [key, value] : expect.items()) {
      if (key != "reply") check(key, value);
    }
  }

 private:
  static bool HasFailure() { return testing::Test::HasFailure(); }
  void check_type(const json& expected) {
    static const std::map<int, std::string> names = {{2, "OFFER"}, {5, "ACK"}, {6, "NAK"}};
    const std::string type = answer_ ? names.at(answer_->type()) : "none";
    const json allowed = expected.is_array() ? expected : json::array({expected});
    EXPECT_TRUE(std::ranges::find(allowed, json(type)) != allowed.end()) << type << ", expected " << allowed.dump();
  }

  /// What holds for every reply.
  void check_message(const Bytes& request) {
    EXPECT_EQ(answer_->op, 2);
    EXPECT_GE(answer_->size, 300U);
    EXPECT_EQ(Bytes(answer_->chaddr.begin(), answer_->chaddr.begin() + 6),
              Bytes(request.begin() + 28, request.begin() + 34));
    EXPECT_EQ(answer_->sname, Bytes(64)) << "stale bytes";
    EXPECT_EQ(answer_->file, Bytes(128)) << "stale bytes";
    EXPECT_EQ(answer_->find(54), bytes_of(config_.subnets[0].server_id));
    EXPECT_EQ(outcome_.reply->source, config_.subnets[0].server_id);
  }

  void check(const std::string& key, const json& value) {
    SCOPED_TRACE(key);
    using Check = void (Player::*)(const json&);
    static const std::map<std::string, Check> checks = {
        {"yiaddr", &Player::check_address},      {"yiaddr_not", &Player::check_other_address},
        {"yiaddr_in", &Player::check_in_pool},   {"siaddr", &Player::check_next_server},
        {"giaddr", &Player::check_relay},        {"flags", &Player::check_flags},
        {"src_ip", &Player::check_source},       {"dst", &Player::check_destination},
        {"l2", &Player::check_hardware},         {"lease", &Player::check_lease_time},
        {"opt54", &Player::check_server},        {"opt82_last", &Player::check_last},
        {"opts_order", &Player::check_order},    {"absent_opts", &Player::check_absent},
        {"present_opts", &Player::check_present}};
    if (key == "deviation" || key == "note" || key == "reply_if_not_authoritative")
      return;  // tests of their own in responder_test
    if (key == "sanitised_any_of") return check_name(value);
    if (key == "bindings") return check_count(value);
    if (key == "bound") return check_bound(value);
    if (!answer_) return;  // only where "none" is allowed
    if (const auto found = checks.find(key); found != checks.end()) return (this->*found->second)(value);
    ASSERT_TRUE(key.starts_with("opt")) << "unknown expectation";
    const auto code = static_cast<std::uint8_t>(std::stoi(key.substr(3)));
    EXPECT_EQ(to_hex(answer_->find(code)), value.is_null() ? "absent" : value.get<std::string>());
  }

  void check_other_address(const json& value) { EXPECT_NE(answer_->yiaddr, ip(value)); }
  void check_in_pool(const json&) { EXPECT_TRUE(config_.subnets[0].pools[0].range.contains(answer_->yiaddr)); }
  void check_next_server(const json& value) { EXPECT_EQ(answer_->siaddr, ip(value)); }
  void check_relay(const json& value) { EXPECT_EQ(answer_->giaddr, ip(value)); }
  void check_flags(const json& value) { EXPECT_EQ(answer_->flags, value.get<int>()); }
  void check_source(const json& value) { EXPECT_EQ(outcome_.reply->source, ip(value)); }
  void check_lease_time(const json& value) { EXPECT_EQ(answer_->find(51), bytes_of(Ipv4(value.get<std::uint32_t>()))); }
  void check_server(const json& value) { EXPECT_EQ(answer_->find(54), bytes_of(ip(value))); }
  void check_last(const json&) { EXPECT_EQ(answer_->codes().back(), 82); }
  void check_count(const json& value) { EXPECT_EQ(responder_.leases().size(), value.get<std::size_t>()); }
  void check_absent(const json& codes) {
    for (const int code : codes) EXPECT_FALSE(answer_->find(static_cast<std::uint8_t>(code))) << code;
  }
  void check_present(const json& codes) {
    for (const int code : codes) EXPECT_TRUE(answer_->find(static_cast<std::uint8_t>(code))) << code;
  }
  void check_address(const json& value) {
    if (value == "A") {  // whatever it was, it is the same from now on
      if (!symbol_) symbol_ = answer_->yiaddr;
      EXPECT_EQ(answer_->yiaddr, *symbol_);
      return;
    }
    const json allowed = value.is_array() ? value : json::array({value});
    EXPECT_TRUE(std::ranges::any_of(allowed, [&](const json& one) { return ip(one) == answer_->yiaddr; }))
        << answer_->yiaddr.to_string();
  }
  void check_destination(const json& expected) {
    const std::string value = expected;
    const bool is_own = value == "yiaddr:68";
    EXPECT_EQ(outcome_.reply->destination.to_string(), is_own ? answer_->yiaddr.to_string() + ":68" : value);
    const bool is_broadcast = value.starts_with("255.255.255.255");
    EXPECT_EQ(outcome_.reply->delivery == Delivery::broadcast, is_broadcast);
    EXPECT_EQ(outcome_.reply->delivery == Delivery::hardware, is_own);
    EXPECT_EQ(outcome_.reply->delivery == Delivery::relay, value.ends_with(":67"));
  }
  void check_hardware(const json& value) {
    ASSERT_EQ(value, "chaddr");
    EXPECT_EQ(outcome_.reply->delivery, Delivery::hardware);
    EXPECT_TRUE(std::ranges::equal(outcome_.reply->hardware.bytes(), std::span(answer_->chaddr).first(6)));
  }
  void check_order(const json& value) {
    std::vector<int> seen;
    const auto expected = value.get<std::vector<int>>();
    std::ranges::copy_if(answer_->codes(), std::back_inserter(seen),
                         [&](int c) { return std::ranges::count(expected, c) > 0; });
    EXPECT_EQ(seen, expected);
  }
  void check_bound(const json& value) {
    for (const auto& [address, mac] : value.items()) {
      const auto leases = responder_.leases();
      EXPECT_TRUE(std::ranges::any_of(leases, [&](const Lease& l) {
        return l.state == LeaseState::bound && l.address == parse_ipv4(address) &&
               l.mac.to_string() == mac.get<std::string>();
      })) << address;
    }
  }
  /// The name shows in the lease, so the offer is taken: the same message as a REQUEST for the address that was
  /// offered.
  void check_name(const json& allowed) {
    ASSERT_TRUE(answer_);
    Bytes request = packet_;
    const Bytes discover = {53, 1, 1};
    const auto type = std::ranges::search(request, discover).begin();
    ASSERT_NE(type, request.end());
    *(type + 2) = 3;
    Bytes more = {54, 4};
    std::ranges::copy(config_.subnets[0].server_id.bytes(), std::back_inserter(more));
    more.insert(more.end(), {50, 4});
    std::ranges::copy(answer_->yiaddr.bytes(), std::back_inserter(more));
    request.insert(type, more.begin(), more.end());
    const Outcome bound = responder_.handle(request, 0, kStart);
    ASSERT_EQ(bound.changes.size(), 1U);
    const std::string& name = bound.changes[0].event.lease.host_name;
    const bool is_label =
        name.size() <= 63 && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    EXPECT_TRUE(is_label) << name;
    const json found = name.empty() ? json() : json(name);
    const auto is_it = [&](const json& one) { return one == found || (one == "<any LDH label>" && is_label); };
    EXPECT_TRUE(std::ranges::any_of(allowed, is_it)) << name << ", expected " << allowed.dump();
  }

  Config config_;
  Responder responder_;
  Outcome outcome_;
  std::optional<DhcpAnswer> answer_;
  std::optional<Ipv4> symbol_;
  Bytes packet_;
};

class DhcpFieldCase : public testing::TestWithParam<const char*> {};

TEST_P(DhcpFieldCase, IsAnsweredAsTheFileSays) {
  const json file = json::parse(read_file(std::string(GetParam()) + ".json"));
  ASSERT_EQ(file.at("kind"), "dhcp4");
  for (const json& vector : file.at("vectors")) {
    SCOPED_TRACE(vector.at("name").get<std::string>());
    Player player(file.at("context"));
    for (const json& step : vector.at("steps")) player.play(step);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DhcpFieldCase,
                         testing::Values("DHC-01", "DHC-03", "DHC-05", "DHC-06", "DHC-08", "DHC-09", "DHC-11", "DHC-12",
                                         "DHC-14", "DHC-15", "DHC-17", "DHC-19", "DHC-21", "DHC-23", "DHC-24", "DHC-28",
                                         "DHC-30", "DHC-31", "DHC-32", "DHC-34", "DHC-36", "DHC-38", "DHC-41"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hcpnet::dhcp
