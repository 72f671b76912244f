// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "spec/field_writer.hpp"
#include "spec/spec_text.hpp"

// Exclusions, pools, subnets and client classes of a DHCPPolicy. The Infra: 192.0.2.0/24, servers .1 to .4, DHCP from
// .100 to .149.
namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string policy(const std::string& more, const std::string& name = "p", const std::string& target = "yard") {
  return std::string(test::kHcpnet) + "kind: DHCPPolicy\nmetadata: {name: " + name +
         ", namespace: hcp}\nspec:\n  targetRef: {kind: Infra, name: " + target + "}\n" + more + "---\n";
}
std::vector<std::string> errors(const std::string& more) {
  return test::errors(test::infra_text() + policy(more));
}
std::string range(const std::string& first, const std::string& last) {
  return "rangeStart: " + first + ", rangeEnd: " + last;
}

constexpr const char* kEverything = R"(
  nextServer: 192.0.2.9
  serverHostName: boot.example.com
  bootFileName: undionly.kpxe
  exclusions: [{rangeStart: 192.0.2.110, rangeEnd: 192.0.2.119}, {rangeStart: 192.0.2.5}, {rangeStart: 198.51.100.20}]
  reservations: [{macAddress: "02:00:00:00:00:01", address: 192.0.2.112}, {macAddress: "02:00:00:00:00:02", address: 198.51.100.30}, {clientID: "hex:00ff", address: 192.0.2.113}]
  pools:
  - {rangeStart: 192.0.2.160, rangeEnd: 192.0.2.169, clientClasses: [pxe, lab], options: [{code: 42, value: 192.0.2.9}]}
  subnets:
  - cidr: 198.51.100.0/24
    gateway: 198.51.100.1
    serverIP: 198.51.100.2
    pools: [{rangeStart: 198.51.100.10, rangeEnd: 198.51.100.99}]
    options: [{code: 6, value: 198.51.100.2}]
  - {cidr: 203.0.113.0/26}
  clientClasses:
  - name: pxe
    match: {vendorClasses: [PXEClient], architectures: [7, 9]}
    nextServer: 192.0.2.10
    bootFileName: shim.efi
  - name: lab
    match: {userClasses: [iPXE, "hex:6c6162"], macPrefixes: ["52:54:00", 02-00], circuitIDs: ["hex:0001"], remoteIDs: [switch]}
    options: [{code: 67, value: lab.ipxe}]
  clientRateLimit: {messagesPerSecond: 5}
  probe: {timeoutMilliseconds: 250}
  identity: clientID
)";

TEST(DhcpPools, TakeEverythingThatIsRight) {
  const ValidSet set = test::valid(test::infra_text() + policy(kEverything));
  ASSERT_EQ(set.infras.size(), 1U);
  const ValidDhcpPolicy& valid = set.infras[0].dhcp_policy;
  ASSERT_EQ(valid.exclusions.size(), 3U);
  EXPECT_EQ(valid.exclusions[0].to_string(), "192.0.2.110-192.0.2.119");
  EXPECT_EQ(valid.exclusions[1].size(), 1U);
  ASSERT_EQ(valid.pools.size(), 1U);
  EXPECT_THAT(valid.pools[0].client_classes, ElementsAre("pxe", "lab"));
  ASSERT_EQ(valid.subnets.size(), 2U);
  EXPECT_EQ(valid.subnets[0].cidr.to_string(), "198.51.100.0/24");
  EXPECT_EQ(valid.subnets[0].server_ip, Ipv4(198, 51, 100, 2));
  EXPECT_EQ(valid.subnets[0].pools.at(0).range.size(), 90U);
  EXPECT_THAT(valid.client_classes.at(0).match.architectures, ElementsAre(7, 9));
  EXPECT_EQ(valid.client_rate_limit->burst, 20U);
  EXPECT_EQ(valid.probe->timeout_milliseconds, 250U);
  EXPECT_EQ(valid.client_identity, DHCPPolicy::ClientIdentity::client_id);
  EXPECT_EQ(valid.reservations.at(2).client_id, std::string("\x00\xff", 2));
  EXPECT_FALSE(valid.reservations.at(2).mac);
  EXPECT_EQ(set.infras[0].networks().size(), 3U);
  EXPECT_TRUE(set.infras[0].is_on_link(Ipv4(203, 0, 113, 5)));
  EXPECT_FALSE(set.infras[0].is_on_link(Ipv4(203, 0, 113, 65)));
}

TEST(DhcpPools, AreWrittenAsTheyAreRead) {
  const ValidSet set = test::valid(test::infra_text() + policy(kEverything));
  const nlohmann::json written = to_json(set.dhcp_policies.at(0));
  EXPECT_EQ(written.at("/spec/clientClasses/0/match/architectures"_json_pointer), nlohmann::json({7, 9}));
  const auto again = check({{"f.yaml", test::infra_text()}, {"p.json", written.dump()}});
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(to_json(again->dhcp_policies.at(0)), written);
}

TEST(DhcpPools, LieInTheNetworkAndApart) {
  const auto pools = [](const std::string& list) { return errors("  pools: [" + list + "]\n"); };
  const std::string at = " /spec/pools/0/";
  EXPECT_THAT(pools('{' + range("192.0.2.10", "192.0.2.19") + '}'), IsEmpty());
  EXPECT_THAT(pools('{' + range("198.51.100.10", "192.0.2.19") + '}'),
              ElementsAre("address-outside-cidr" + at + "rangeStart"));
  EXPECT_THAT(pools('{' + range("192.0.2.200", "192.0.2.255") + '}'),
              ElementsAre("address-reserved" + at + "rangeEnd"));
  EXPECT_THAT(pools('{' + range("192.0.2.19", "192.0.2.10") + '}'), ElementsAre("range-reversed" + at + "rangeEnd"));
  EXPECT_THAT(pools('{' + range("192.0.2.90", "192.0.2.100") + '}'), ElementsAre("ranges-overlap" + at + "rangeStart"))
      << "with the range of the target";
  EXPECT_THAT(pools('{' + range("192.0.2.10", "192.0.2.19") + "}, {" + range("192.0.2.19", "192.0.2.20") + '}'),
              ElementsAre("ranges-overlap /spec/pools/1/rangeStart"));
  EXPECT_THAT(pools('{' + range("192.0.2.3", "192.0.2.9") + '}'), ElementsAre("address-in-range" + at + "rangeStart"));
  EXPECT_THAT(errors("  exclusions: [{rangeStart: 192.0.2.3, rangeEnd: 192.0.2.4}]\n  pools: [{" +
                     range("192.0.2.3", "192.0.2.9") + "}]\n"),
              IsEmpty())
      << "servers in it are excluded";
  EXPECT_THAT(pools("{rangeStart: 192.0.2.10}"), ElementsAre("missing-field" + at + "rangeEnd"));
}

TEST(DhcpPools, HoldNothingThatALoadBalancerGives) {
  const std::string apps =
      "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}\n";
  EXPECT_THAT(test::errors(test::infra_text() + test::attachment_text("blue", apps) +
                           policy("  pools: [{" + range("192.0.2.190", "192.0.2.200") + "}]\n")),
              ElementsAre("ranges-overlap /spec/pools/0/rangeStart"));
  EXPECT_THAT(
      test::errors(test::infra_text() + test::attachment_text("blue") + test::apps_policy_text("blue", "192.0.2.200") +
                   policy("  pools: [{" + range("192.0.2.190", "192.0.2.200") + "}]\n")),
      ElementsAre("ranges-overlap /spec/pools/0/rangeStart"))
      << "a static VIP";
}

TEST(DhcpPools, AreNotEmpty) {
  EXPECT_THAT(
      errors("  exclusions: [{" + range("192.0.2.10", "192.0.2.14") + "}, {" + range("192.0.2.14", "192.0.2.18") +
             "}]\n  reservations: [{macAddress: \"02:00:00:00:00:01\", address: 192.0.2.19}]\n  pools: [{" +
             range("192.0.2.10", "192.0.2.19") + "}, {" + range("192.0.2.10", "192.0.2.20") + "}]\n"),
      ElementsAre("empty-pool /spec/pools/0/rangeStart", "ranges-overlap /spec/pools/1/rangeStart"));
  const std::string all = "  exclusions: [{" + range("192.0.2.100", "192.0.2.149") + "}]\n";
  EXPECT_THAT(errors(all), ElementsAre("empty-pool /spec/exclusions"));
  EXPECT_THAT(errors(all + "  pools: [{" + range("192.0.2.10", "192.0.2.19") + "}]\n"), IsEmpty())
      << "the range of the target is replaced";
}

TEST(DhcpPools, ExclusionsLieInANetworkOfTheLink) {
  const auto exclude = [](const std::string& item, const std::string& more = "") {
    return errors("  exclusions: [{" + item + "}]\n" + more);
  };
  const std::string second = "  subnets: [{cidr: 198.51.100.0/24}]\n";
  const std::string at = " /spec/exclusions/0/";
  EXPECT_THAT(exclude(range("192.0.2.0", "192.0.2.99")), IsEmpty()) << "the ends of the network too";
  EXPECT_THAT(exclude("rangeStart: 198.51.100.7"), ElementsAre("address-outside-cidr" + at + "rangeStart"));
  EXPECT_THAT(exclude("rangeStart: 198.51.100.7", second), IsEmpty());
  EXPECT_THAT(exclude(range("192.0.2.200", "198.51.100.7"), second),
              ElementsAre("address-outside-cidr" + at + "rangeEnd"));
  EXPECT_THAT(exclude(range("192.0.2.9", "192.0.2.8")), ElementsAre("range-reversed" + at + "rangeEnd"));
  EXPECT_THAT(exclude(range("192.0.2.9", "nine")), ElementsAre("bad-address" + at + "rangeEnd"));
}

TEST(DhcpPools, ReservationIsForAMacAddressOrAClientIdentifier) {
  const auto reserve = [](const std::string& list) { return errors("  reservations: [" + list + "]\n"); };
  const std::string at = " /spec/reservations/0";
  EXPECT_THAT(reserve("{clientID: \"hex:01525400000001\", address: 192.0.2.20}, {clientID: vm-7, address: 192.0.2.21}"),
              IsEmpty());
  EXPECT_THAT(reserve("{address: 192.0.2.20}"), ElementsAre("bad-combination" + at));
  EXPECT_THAT(reserve("{macAddress: \"02:00:00:00:00:01\", clientID: vm-7, address: 192.0.2.20}"),
              ElementsAre("bad-combination" + at));
  EXPECT_THAT(reserve("{clientID: vm-7, address: 192.0.2.20}, {clientID: \"hex:766d2d37\", address: 192.0.2.21}"),
              ElementsAre("duplicate-name /spec/reservations/1/clientID"))
      << "the same bytes";
  EXPECT_THAT(reserve("{clientID: \"hex:1\", address: 192.0.2.20}"),
              ElementsAre("bad-option-value" + at + "/clientID"));
  EXPECT_THAT(errors("  identity: duid\n"), ElementsAre("bad-choice /spec/identity"));
}

TEST(DhcpPools, ReservationMayLieInAnExclusionAndInAnyNetworkOfTheLink) {
  const auto reserve = [](const std::string& address) {
    return errors("  exclusions: [{" + range("192.0.2.60", "192.0.2.69") +
                  "}]\n  subnets: [{cidr: 198.51.100.0/24, gateway: 198.51.100.1}]\n"
                  "  reservations: [{macAddress: \"02:00:00:00:00:01\", address: " +
                  address + "}]\n");
  };
  const std::string at = " /spec/reservations/0/address";
  EXPECT_THAT(reserve("192.0.2.65"), IsEmpty());
  EXPECT_THAT(reserve("198.51.100.65"), IsEmpty());
  EXPECT_THAT(reserve("198.51.100.1"), ElementsAre("addresses-collide" + at));
  EXPECT_THAT(reserve("198.51.100.255"), ElementsAre("address-reserved" + at));
  EXPECT_THAT(reserve("203.0.113.1"), ElementsAre("address-outside-cidr" + at));
}

TEST(DhcpPools, SubnetsOfTheLinkDontOverlap) {
  const auto subnets = [](const std::string& list) { return errors("  subnets: [" + list + "]\n"); };
  const std::string at = " /spec/subnets/0/";
  EXPECT_THAT(subnets("{cidr: 192.0.2.128/25}"), ElementsAre("networks-overlap" + at + "cidr"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24}, {cidr: 198.51.100.0/25}"),
              ElementsAre("networks-overlap /spec/subnets/1/cidr"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.1/24}"), ElementsAre("bad-cidr" + at + "cidr"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24, gateway: 192.0.2.1}"),
              ElementsAre("address-outside-cidr" + at + "gateway"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24, gateway: 198.51.100.1, serverIP: 198.51.100.1}"),
              ElementsAre("addresses-collide" + at + "serverIP"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24, gateway: 198.51.100.9, pools: [{" +
                      range("198.51.100.9", "198.51.100.10") + "}]}"),
              ElementsAre("address-in-range" + at + "pools/0/rangeStart"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24, pools: [{" + range("192.0.2.10", "192.0.2.20") + "}]}"),
              ElementsAre("address-outside-cidr" + at + "pools/0/rangeStart",
                          "address-outside-cidr" + at + "pools/0/rangeEnd"));
  EXPECT_THAT(subnets("{cidr: 198.51.100.0/24, options: [{code: 53, value: \"1\"}]}"),
              ElementsAre("bad-option-value" + at + "options/0/code"));
}

TEST(DhcpPools, SubnetsDontOverlapThoseOfOthers) {
  const std::string two = test::infra_text() + test::infra_text("other", "", "198.51.100.");
  EXPECT_THAT(test::errors(two + policy("  subnets: [{cidr: 198.51.0.0/16}]\n")),
              ElementsAre("networks-overlap /spec/subnets/0/cidr"));
  const std::string third = "  subnets: [{cidr: 203.0.113.0/24}]\n";
  EXPECT_THAT(test::errors(two + policy(third) + policy(third, "q", "other")),
              ElementsAre("networks-overlap /spec/subnets/0/cidr"));
}

TEST(DhcpPools, NetworkOfTheLinkSelectsTheViewOfTheTarget) {
  EXPECT_THAT(
      test::errors(test::infra_text() + policy("  subnets: [{cidr: 198.51.100.0/24}]\n") + std::string(test::kHcpnet) +
                   "kind: DNSPolicy\nmetadata: {name: d, namespace: hcp}\nspec:\n  targetRef: {kind: Infra, "
                   "name: yard}\n  views: [{name: v, clientPrefixes: [198.51.100.0/24]}]\n"),
      ElementsAre("duplicate-prefix /spec/views/0/clientPrefixes/0"));
}

TEST(DhcpClientClasses, AreNamedOnceAndMatchSomething) {
  const auto classes = [](const std::string& list) { return errors("  clientClasses: [" + list + "]\n"); };
  const std::string at = " /spec/clientClasses/0/";
  EXPECT_THAT(classes("{name: a, match: {}}"), ElementsAre("bad-combination" + at + "match"));
  EXPECT_THAT(classes("{name: a, match: {vendorClasses: []}}"), ElementsAre("bad-combination" + at + "match"));
  EXPECT_THAT(classes("{name: a}"), ElementsAre("missing-field" + at + "match"));
  EXPECT_THAT(classes("{name: A B, match: {vendorClasses: [x]}}"), ElementsAre("bad-name" + at + "name"));
  EXPECT_THAT(classes("{name: a, match: {vendorClasses: [x]}}, {name: a, match: {userClasses: [z]}}"),
              ElementsAre("duplicate-name /spec/clientClasses/1/name"));
  EXPECT_THAT(classes("{name: a, match: {vendorClasses: [x]}, options: [{code: 3, value: x}]}"),
              ElementsAre("bad-option-value" + at + "options/0/value"));
}

TEST(DhcpClientClasses, MatchWhatOptionsCanHold) {
  const auto match = [](const std::string& fields) {
    return errors("  clientClasses: [{name: a, match: {" + fields + "}}]\n");
  };
  const std::string at = " /spec/clientClasses/0/match/";
  EXPECT_THAT(match("vendorClasses: [\"hex:0\"]"), ElementsAre("bad-option-value" + at + "vendorClasses/0"));
  EXPECT_THAT(match("userClasses: [\"\"]"), ElementsAre("bad-option-value" + at + "userClasses/0"));
  EXPECT_THAT(match("circuitIDs: [" + std::string(256, 'a') + "]"), ElementsAre("out-of-range" + at + "circuitIDs/0"));
  EXPECT_THAT(match("remoteIDs: [7]"), ElementsAre("wrong-type" + at + "remoteIDs/0"));
  EXPECT_THAT(match("architectures: [65536, 7]"), ElementsAre("out-of-range" + at + "architectures/0"));
  EXPECT_THAT(match("architectures: [efi]"), ElementsAre("wrong-type" + at + "architectures/0"));
  for (const char* good : {"52", "52:54", "52-54-00-aa-BB-cc"})
    EXPECT_THAT(match("macPrefixes: [\"" + std::string(good) + "\"]"), IsEmpty()) << good;
  for (const char* bad : {"5", "52:", "52:5", "52:54-00", "52:54:00:00:00:00:00", "xx", ""})
    EXPECT_THAT(match("macPrefixes: [\"" + std::string(bad) + "\"]"), ElementsAre("bad-address" + at + "macPrefixes/0"))
        << bad;
}

TEST(DhcpClientClasses, PoolNamesOnesThatAreThere) {
  EXPECT_THAT(errors("  clientClasses: [{name: a, match: {vendorClasses: [x]}}]\n  pools: [{" +
                     range("192.0.2.10", "192.0.2.19") + ", clientClasses: [a, b]}]\n"),
              ElementsAre("bad-reference /spec/pools/0/clientClasses/1"));
}

TEST(DhcpBoot, FitsTheFieldsOfTheMessage) {
  EXPECT_THAT(errors("  bootFileName: " + std::string(127, 'a') + "\n  serverHostName: " + std::string(63, 'b') + "\n"),
              IsEmpty());
  EXPECT_THAT(errors("  nextServer: tftp.example.com\n  bootFileName: " + std::string(128, 'a') +
                     "\n  serverHostName: " + std::string(64, 'b') + "\n"),
              testing::UnorderedElementsAre("bad-address /spec/nextServer", "out-of-range /spec/bootFileName",
                                            "out-of-range /spec/serverHostName"));
  EXPECT_THAT(errors("  clientRateLimit: {messagesPerSecond: 0, burst: 1001}\n"),
              testing::UnorderedElementsAre("out-of-range /spec/clientRateLimit/messagesPerSecond",
                                            "out-of-range /spec/clientRateLimit/burst"));
}

TEST(DhcpProbe, IsOffUnlessAskedFor) {
  const auto probe = [](const std::string& more) {
    return test::valid(test::infra_text() + policy(more)).infras.at(0).dhcp_policy.probe;
  };
  EXPECT_FALSE(probe(""));
  EXPECT_EQ(probe("  probe: {}\n").value().timeout_milliseconds, 300U);
}

TEST(DhcpProbe, HasTimeAndNotTooMuch) {
  EXPECT_THAT(errors("  probe: {timeoutMilliseconds: 49}\n"),
              ElementsAre("out-of-range /spec/probe/timeoutMilliseconds"));
  EXPECT_THAT(errors("  probe: {timeoutMilliseconds: 3001}\n"),
              ElementsAre("out-of-range /spec/probe/timeoutMilliseconds"));
  EXPECT_THAT(errors("  probe: {timeoutMilliseconds: 50}\n"), IsEmpty());
  EXPECT_THAT(errors("  probe: true\n"), testing::SizeIs(1));
}

TEST(DhcpRateLimit, BurstIsNoLessThanTheRate) {
  const std::string at = "  clientRateLimit: {messagesPerSecond: 50";
  EXPECT_THAT(errors(at + ", burst: 49}\n"), ElementsAre("bad-combination /spec/clientRateLimit/burst"));
  EXPECT_THAT(errors(at + ", burst: 50}\n"), IsEmpty());
  const ValidSet set = test::valid(test::infra_text() + policy(at + "}\n"));
  EXPECT_EQ(set.infras[0].dhcp_policy.client_rate_limit->burst, 50U) << "left out it follows the rate";
}

TEST(DhcpPools, LoadBalancersAddressIsNobodysOwn) {
  const std::string apps =
      "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}\n";
  EXPECT_THAT(test::errors(test::infra_text() + test::attachment_text("blue", apps) +
                           policy("  reservations: [{macAddress: \"02:00:00:00:00:01\", address: 192.0.2.202}]\n")),
              ElementsAre("address-in-range /spec/reservations/0/address"));
}

TEST(DhcpClientClasses, AreToldWhenTheySpeakOfOneSubnetToAll) {
  const std::string classes =
      "  clientClasses: [{name: a, match: {vendorClasses: [x]}, options: [{code: 3, value: 192.0.2.9}]}]\n";
  EXPECT_EQ(test::valid(test::infra_text() + policy(classes)).warnings.warning_count(), 0U);
  EXPECT_EQ(test::valid(test::infra_text() + policy(classes + "  subnets: [{cidr: 198.51.100.0/24}]\n"))
                .warnings.warning_count(),
            1U);
}

TEST(DhcpClientClasses, HaveListsOfABoundedLength) {
  std::string list;
  for (int n = 0; n < 1025; ++n) list += (n == 0 ? "" : ", ") + std::to_string(n);
  EXPECT_EQ(errors("  clientClasses: [{name: a, match: {architectures: [" + list + "]}}]\n").size(), 1U);
}

TEST(DhcpPools, AValueThatIsWrongIsOneProblem) {
  const std::string pools = "  pools: [{" + range("192.0.2.3", "192.0.2.9") + "}]\n";  // holds two servers
  EXPECT_THAT(errors("  exclusions: [{rangeStart: 192.0.2.3, rangeEnd: [x]}]\n" + pools),
              ElementsAre("wrong-type /spec/exclusions/0/rangeEnd"));
  EXPECT_THAT(errors("  exclusions: x\n" + pools), ElementsAre("wrong-type /spec/exclusions"));
  EXPECT_THAT(errors("  subnets: x\n  exclusions: [{rangeStart: 198.51.100.7}]\n"
                     "  reservations: [{macAddress: \"02:00:00:00:00:01\", address: 198.51.100.8}]\n"),
              ElementsAre("wrong-type /spec/subnets"));
  EXPECT_THAT(errors("  reservations: [{macAddress: 5, address: 192.0.2.20}, "
                     "{clientID: [x], address: 192.0.2.21}, x]\n"),
              ElementsAre("wrong-type /spec/reservations/0/macAddress", "wrong-type /spec/reservations/1/clientID",
                          "wrong-type /spec/reservations/2"));
  EXPECT_THAT(errors("  clientClasses: [{name: 5, match: {vendorClasses: [x]}}]\n  pools: [{" +
                     range("192.0.2.10", "192.0.2.19") + ", clientClasses: [pxe]}]\n"),
              ElementsAre("wrong-type /spec/clientClasses/0/name"));
  EXPECT_THAT(errors("  exclusions: [{" + range("192.0.2.100", "192.0.2.149") + "}]\n  pools: x\n"),
              ElementsAre("wrong-type /spec/pools"));
}

TEST(DhcpPools, ProblemIsToldAtItsLine) {
  const std::string text =
      test::infra_text() + policy("  pools:\n  - rangeStart: 192.0.2.90\n    rangeEnd: 192.0.2.100\n");
  const auto result = check({{"f.yaml", text}});
  ASSERT_FALSE(result.has_value());
  const Diagnostic& problem = *result.error().begin();
  EXPECT_EQ(problem.line,
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("192.0.2.90")), '\n'));
  EXPECT_THAT(problem.message, HasSubstr("the range of the target, 192.0.2.100-192.0.2.149"));
}

TEST(DhcpSharedStore, TakesEverythingThatIsRight) {
  const auto store = [](const std::string& more) {
    return test::valid(test::infra_text() + policy(more)).infras.at(0).dhcp_policy.shared_store;
  };
  EXPECT_FALSE(store(""));
  const auto all = store(
      "  sharedStore: {endpoints: [\"https://192.0.2.9:2379\", \"https://[2001:db8::9]\"], prefix: /hcpnet/vlan7, "
      "caFile: ca.crt, certificateFile: tls.crt, keyFile: /keys/tls.key, serverName: etcd.example.com, username: dhcp, "
      "passwordFile: password, maxSkewSeconds: 300}\n");
  ASSERT_TRUE(all);
  EXPECT_THAT(all->endpoints, ElementsAre("https://192.0.2.9:2379", "https://[2001:db8::9]"));
  EXPECT_EQ(all->prefix, "/hcpnet/vlan7");
  EXPECT_THAT(all->ca_file.value_or(""), testing::EndsWith("ca.crt"));
  EXPECT_EQ(all->key_file, "/keys/tls.key");
  EXPECT_EQ(all->username, "dhcp");
  EXPECT_EQ(all->max_skew, std::chrono::seconds(300));
  const auto little = store("  sharedStore: {endpoints: [\"http://etcd\"], prefix: /a}\n");
  ASSERT_TRUE(little);
  EXPECT_EQ(little->max_skew, std::chrono::seconds(5));
  EXPECT_FALSE(little->ca_file);
}

TEST(DhcpSharedStore, EachBadValueIsOneError) {
  EXPECT_THAT(errors("  sharedStore: {}\n"), testing::UnorderedElementsAre("missing-field /spec/sharedStore/endpoints",
                                                                           "missing-field /spec/sharedStore/prefix"));
  EXPECT_THAT(
      errors("  sharedStore: {endpoints: [\"etcd:2379\", \"https://a\", \"https://a/b\"], prefix: a, caFile: \"\", "
             "serverName: a_b, maxSkewSeconds: 0}\n"),
      testing::UnorderedElementsAre("bad-address /spec/sharedStore/endpoints/0",
                                    "bad-address /spec/sharedStore/endpoints/2", "bad-name /spec/sharedStore/prefix",
                                    "bad-name /spec/sharedStore/caFile", "bad-hostname /spec/sharedStore/serverName",
                                    "out-of-range /spec/sharedStore/maxSkewSeconds"));
  EXPECT_THAT(errors("  sharedStore: {endpoints: [\"https://a\"], prefix: /a, certificateFile: a, passwordFile: b}\n"),
              testing::UnorderedElementsAre("bad-combination /spec/sharedStore/certificateFile",
                                            "bad-combination /spec/sharedStore/passwordFile"));
  EXPECT_THAT(errors("  sharedStore: {endpoints: [\"http://a\"], prefix: /a, caFile: a, serverName: b}\n"),
              testing::UnorderedElementsAre("bad-combination /spec/sharedStore/caFile",
                                            "bad-combination /spec/sharedStore/serverName"));
}

}  // namespace
}  // namespace hcpnet::spec
