// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_text.hpp"

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string policy(const std::string& kind, const std::string& name, const std::string& target,
                   const std::string& more = "") {
  return std::string(test::kHcpnet) + "kind: " + kind + "\nmetadata: {name: " + name +
         ", namespace: hcp}\nspec:\n  targetRef: " + target + '\n' + more + "---\n";
}
std::vector<std::string> errors_of(const std::string& kind, const std::string& more) {
  return test::errors(test::infra_text() + policy(kind, "p", "{kind: Infra, name: yard}", more));
}

TEST(Policies, RefineOneTargetOfTheirPart) {
  const std::string infra = test::infra_text();
  for (const char* kind : {"DHCPPolicy", "DNSPolicy", "ProxyPolicy"}) {
    EXPECT_THAT(test::errors(infra + policy(kind, "p", "{kind: Infra, name: yard}")), IsEmpty());
    EXPECT_THAT(test::errors(infra + policy(kind, "p", "{kind: Infra, name: other}")),
                ElementsAre("bad-reference /spec/targetRef/name"));
    EXPECT_THAT(test::errors(infra + policy(kind, "p", "{kind: Service, name: yard}")),
                ElementsAre("bad-choice /spec/targetRef/kind"));
    EXPECT_THAT(test::errors(infra + policy(kind, "p", "{name: yard}")),
                ElementsAre("missing-field /spec/targetRef/kind"));
    EXPECT_THAT(test::errors(infra + policy(kind, "p", "{kind: Infra, name: yard}") +
                             policy(kind, "q", "{kind: Infra, name: yard}")),
                ElementsAre("duplicate-policy /spec/targetRef/name"));
  }
  EXPECT_THAT(test::errors(policy("DHCPPolicy", "p", "{kind: DNSServer, name: a}")),
              ElementsAre("bad-choice /spec/targetRef/kind"));
  EXPECT_THAT(test::errors(policy("DNSPolicy", "p", "{kind: DNSServer, name: a}")),
              ElementsAre("bad-reference /spec/targetRef/name"));
}

TEST(Policies, LookForTheirTargetInTheirNamespace) {
  std::string elsewhere = policy("DNSPolicy", "p", "{kind: Infra, name: yard}");
  elsewhere.replace(elsewhere.find("namespace: hcp"), 14, "namespace: abc");
  EXPECT_THAT(test::errors(test::infra_text() + elsewhere), ElementsAre("bad-reference /spec/targetRef/name"));
}

TEST(Policies, DoNotAccuseTargetsThatMayBeInAFileThatIsBroken) {
  const auto found = test::errors(
      std::vector<SourceText>{{"a.yaml", "a: [\n"}, {"b.yaml", policy("DNSPolicy", "p", "{kind: Infra, name: yard}")}});
  EXPECT_THAT(found, ElementsAre("yaml-syntax "));
}

TEST(DhcpPolicy, HoldsReservationsAgainstTheNetwork) {
  const auto reserve = [](const std::string& address) {
    return errors_of("DHCPPolicy", "  reservations: [{macAddress: \"02:00:00:00:00:01\", address: " + address + "}]\n");
  };
  const std::string at = " /spec/reservations/0/address";
  EXPECT_THAT(reserve("192.0.2.120"), IsEmpty());
  EXPECT_THAT(reserve("192.0.2.60"), IsEmpty());
  EXPECT_THAT(reserve("198.51.100.60"), ElementsAre("address-outside-cidr" + at));
  EXPECT_THAT(reserve("192.0.2.255"), ElementsAre("address-reserved" + at));
  EXPECT_THAT(reserve("192.0.2.1"), ElementsAre("addresses-collide" + at));
  EXPECT_THAT(reserve("192.0.2.4"), ElementsAre("addresses-collide" + at));
  EXPECT_THAT(reserve("worker"), ElementsAre("bad-address" + at));
}

TEST(DhcpPolicy, HoldsTheIpv6PartAgainstItself) {
  const auto errors = [](const std::string& rest,
                         const std::string& range = "rangeStart: \"2001:db8::10\", rangeEnd: \"2001:db8::1f\"") {
    return errors_of("DHCPPolicy", "  ipv6: {cidr: \"2001:db8::/56\", " + range + rest + "}\n");
  };
  const std::string at = " /spec/ipv6/";
  EXPECT_THAT(
      errors(", dnsServers: [\"2001:db8::53\"], domainSearch: [hc.example.com], rapidCommit: true, identity: duid"),
      IsEmpty());
  EXPECT_THAT(errors("", "rangeStart: 192.0.2.1, rangeEnd: \"2001:db8::1f\""),
              ElementsAre("bad-address" + at + "rangeStart"));
  EXPECT_THAT(errors("", "rangeStart: \"2001:db9::1\", rangeEnd: \"2001:db9::2\""),
              ElementsAre("address-outside-cidr" + at + "rangeStart", "address-outside-cidr" + at + "rangeEnd"));
  EXPECT_THAT(errors("", "rangeStart: \"2001:db8::20\", rangeEnd: \"2001:db8::1f\""),
              ElementsAre("range-reversed" + at + "rangeEnd"));
  EXPECT_THAT(errors("", "rangeStart: \"2001:db8::20\", rangeEnd: \"2001:db8:0:1::1f\""),
              ElementsAre("bad-range" + at + "rangeEnd"));
  EXPECT_THAT(errors("", "rangeStart: \"2001:db8::\", rangeEnd: \"2001:db8::1f\""),
              ElementsAre("address-reserved" + at + "rangeStart"));
  EXPECT_THAT(errors(", identity: hostname"), ElementsAre("bad-choice" + at + "identity"));
  EXPECT_THAT(errors(", reservations: [{duid: \"00:04:01\", address: \"2001:db8::77\"}, {macAddress: "
                     "\"02:00:00:00:00:01\", address: \"2001:db8::78\"}]"),
              IsEmpty());
  EXPECT_THAT(errors(", reservations: [{duid: \"00:04\", address: \"2001:db8::77\"}]"),
              ElementsAre("bad-address" + at + "reservations/0/duid"));
  EXPECT_THAT(errors(", reservations: [{address: \"2001:db8::77\"}]"),
              ElementsAre("bad-combination" + at + "reservations/0"));
  EXPECT_THAT(errors(", reservations: [{duid: \"00:04:01\", address: \"2001:db8::77\"}, {duid: \"00:04:02\", address: "
                     "\"2001:db8::77\"}]"),
              ElementsAre("addresses-collide" + at + "reservations/1/address"));
}

TEST(DhcpPolicy, AdvertisesOnlyAPrefixThatItHas) {
  const auto errors = [](const std::string& advertisement, const std::string& cidr) {
    const std::string ipv6 =
        cidr.empty() ? ""
                     : "  ipv6: {cidr: \"" + cidr + "\", rangeStart: \"2001:db8::10\", rangeEnd: \"2001:db8::1f\"}\n";
    return errors_of("DHCPPolicy", ipv6 + "  routerAdvertisement: {" + advertisement + "}\n");
  };
  const std::string at = " /spec/routerAdvertisement";
  EXPECT_THAT(errors("", "2001:db8::/64"), IsEmpty());
  EXPECT_THAT(
      errors(
          "managed: false, otherConfig: false, onLink: false, autonomous: true, mtu: 1400, routerLifetimeSeconds: 1800",
          "2001:db8::/64"),
      IsEmpty());
  EXPECT_THAT(errors("", ""), ElementsAre("bad-combination" + at));
  EXPECT_THAT(errors("autonomous: true", "2001:db8::/80"), ElementsAre("bad-combination" + at + "/autonomous"));
  EXPECT_THAT(errors("mtu: 1279", "2001:db8::/64"), ElementsAre("out-of-range" + at + "/mtu"));
  EXPECT_THAT(errors("routerLifetimeSeconds: 9001", "2001:db8::/64"),
              ElementsAre("out-of-range" + at + "/routerLifetimeSeconds"));
}

TEST(DhcpPolicy, ReservesEachAddressForOneMac) {
  EXPECT_THAT(
      errors_of("DHCPPolicy",
                "  reservations:\n  - {macAddress: \"02:00:00:00:00:01\", address: 192.0.2.60}\n"
                "  - {macAddress: 02-00-00-00-00-01, address: 192.0.2.61}\n  - {macAddress: \"02:00:00:00:00:03\", "
                "address: 192.0.2.60}\n"
                "  - {macAddress: nonsense, address: 192.0.2.62, hostName: a_b}\n"),
      ElementsAre("duplicate-name /spec/reservations/1/macAddress", "addresses-collide /spec/reservations/2/address",
                  "bad-address /spec/reservations/3/macAddress", "bad-hostname /spec/reservations/3/hostName"));
}

TEST(DhcpPolicy, SetsEachOptionOnce) {
  EXPECT_THAT(
      errors_of("DHCPPolicy",
                "  options: [{code: 42, value: 192.0.2.9}, {code: 42, value: 192.0.2.10}, {code: 255, value: c}]\n"),
      ElementsAre("duplicate-name /spec/options/1/code", "out-of-range /spec/options/2/code"));
}

TEST(DnsPolicy, SaysWhatTheServerTellsAndToWhom) {
  EXPECT_THAT(
      errors_of("DNSPolicy",
                "  cookies: false\n  nsid: a\n  version: b\n  responseRateLimit: {responsesPerSecond: 5, slip: 0}\n"
                "  transfer: {allowedClients: [192.0.2.0/24], notify: [192.0.2.9, \"[2001:db8::1]:5353\"]}\n"),
      IsEmpty());
  EXPECT_THAT(
      errors_of("DNSPolicy", "  nsid: \"" + std::string(129, 'a') +
                                 "\"\n  version: \"\"\n  responseRateLimit: {slip: 11}\n"
                                 "  transfer: {allowedClients: [192.0.2.1/24], notify: [node]}\n"),
      testing::UnorderedElementsAre("out-of-range /spec/nsid", "out-of-range /spec/version",
                                    "missing-field /spec/responseRateLimit/responsesPerSecond",
                                    "out-of-range /spec/responseRateLimit/slip",
                                    "bad-cidr /spec/transfer/allowedClients/0", "bad-address /spec/transfer/notify/0"));
}

TEST(DnsPolicy, PublishesRecordsOfEveryTypeOfData) {
  const auto records = [](const std::string& list) { return errors_of("DNSPolicy", "  records: [" + list + "]\n"); };
  EXPECT_THAT(
      records("{name: a.example, type: TXT, data: [\"\\\"x y\\\"\"]}, {name: b.example, type: mx, ttlSeconds: 5, "
              "data: [10 a.example.]}, {name: _s._tcp.c.example, type: SRV, data: [0 0 1 a., 0 0 2 b.]}, "
              "{name: d.example, type: HTTPS, data: [1 . alpn=h2]}, {name: e.example, type: TYPE65280, data: "
              "['\\# 1 00']}"),
      IsEmpty());
  EXPECT_THAT(
      records("{name: a..b, type: A, data: [192.0.2.1]}, {name: a, type: SOA, data: [x]}, {name: a, type: "
              "AAAA, data: ['2001:db8::1', 192.0.2.1]}, {name: c, type: CNAME, data: [a., b.]}, {name: C, type: "
              "TXT, data: [x]}"),
      testing::UnorderedElementsAre("bad-name /spec/records/0/name", "bad-choice /spec/records/1/type",
                                    "bad-record /spec/records/2/data/1", "too-many-items /spec/records/3/data",
                                    "bad-combination /spec/records/4/name"));
  EXPECT_THAT(errors_of("DNSPolicy",
                        "  views: [{name: v, clientPrefixes: [198.51.100.0/24], records: [{name: a, type: A, data: "
                        "[b]}]}]\n"),
              ElementsAre("bad-record /spec/views/0/records/0/data/0"));
}

TEST(DnsPolicy, HasNoTwoEqualPrefixes) {
  const auto views = [](const std::string& list) { return errors_of("DNSPolicy", "  views: [" + list + "]\n"); };
  EXPECT_THAT(views("{name: a, clientPrefixes: [198.51.100.0/24]}, {name: b, clientPrefixes: [198.51.100.0/25]}"),
              IsEmpty());
  EXPECT_THAT(views("{name: a, clientPrefixes: [198.51.100.0/24]}, {name: a, clientPrefixes: [198.51.100.0/24]}"),
              ElementsAre("duplicate-name /spec/views/1/name", "duplicate-prefix /spec/views/1/clientPrefixes/0"));
  EXPECT_THAT(views("{name: a, clientPrefixes: [192.0.2.0/24]}"),
              ElementsAre("duplicate-prefix /spec/views/0/clientPrefixes/0"));
  EXPECT_THAT(views("{name: a, clientPrefixes: []}"), ElementsAre("too-few-items /spec/views/0/clientPrefixes"));
  EXPECT_THAT(views("{name: a}"), ElementsAre("missing-field /spec/views/0/clientPrefixes"));
  const std::string server = std::string(test::kOooi) +
                             "kind: DNSServer\nmetadata: {name: a, namespace: hcp}\nspec: {networkConfig: {serverIP: "
                             "192.0.2.3, proxyIP: 192.0.2.4, "
                             "secondaryNetworkCIDR: 192.0.2.0/24}, hostedClusterDomain: a.example.com}\n---\n";
  EXPECT_THAT(test::errors(server + policy("DNSPolicy", "p", "{kind: DNSServer, name: a}",
                                           "  views: [{name: v, clientPrefixes: [192.0.2.0/24]}]\n")),
              ElementsAre("duplicate-prefix /spec/views/0/clientPrefixes/0"));
}

TEST(DnsPolicy, HoldsItsFormats) {
  EXPECT_THAT(errors_of("DNSPolicy",
                        "  recordTTLSeconds: 0\n  entries: [{hostname: a_b, ip: 192.0.2.9}]\n  views: [{name: a, "
                        "clientPrefixes: [192.0.2.9/24], proxyAddress: x}]\n"),
              ElementsAre("out-of-range /spec/recordTTLSeconds", "bad-hostname /spec/entries/0/hostname",
                          "bad-cidr /spec/views/0/clientPrefixes/0", "bad-address /spec/views/0/proxyAddress"));
}

TEST(ProxyPolicy, HoldsItsIntervals) {
  EXPECT_THAT(errors_of("ProxyPolicy",
                        "  connectTimeoutSeconds: 0\n  idleTimeoutSeconds: 2147483648\n  inspectTimeoutSeconds: 5s\n  "
                        "maxConnections: 1000001\n  publishAPIOn443: yes\n"),
              ElementsAre("out-of-range /spec/connectTimeoutSeconds", "out-of-range /spec/idleTimeoutSeconds",
                          "wrong-type /spec/inspectTimeoutSeconds", "out-of-range /spec/maxConnections",
                          "wrong-type /spec/publishAPIOn443"));
}

}  // namespace
}  // namespace hcpnet::spec
