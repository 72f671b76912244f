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

TEST(Policies, OfApplicationsRefineAnAttachment) {
  const std::string set = test::infra_text() + test::attachment_text("blue");
  const auto apps = [&](const std::string& name, const std::string& target) {
    return policy("AppsPolicy", name, target, "  staticVIP: 192.0.2.200\n");
  };
  const std::string good = "{kind: InfraClusterAttachment, name: blue}";
  EXPECT_THAT(test::errors(set + apps("p", good)), IsEmpty());
  EXPECT_THAT(test::errors(set + apps("p", "{kind: Infra, name: yard}")),
              ElementsAre("bad-choice /spec/targetRef/kind"));
  EXPECT_THAT(test::errors(set + apps("p", "{kind: InfraClusterAttachment, name: red}")),
              ElementsAre("bad-reference /spec/targetRef/name"));
  EXPECT_THAT(test::errors(set + apps("p", good) + apps("q", good)),
              ElementsAre("duplicate-policy /spec/targetRef/name"));
  EXPECT_THAT(test::errors(set + policy("AppsPolicy", "p", good)), ElementsAre("missing-field /spec/staticVIP"));
  std::string nameless = set;
  nameless.replace(nameless.find("name: blue"), 10, "name: Blue");
  EXPECT_THAT(test::errors(nameless + apps("p", good)), ElementsAre("bad-name /metadata/name"));
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

TEST(Policies, DoNotAccuseTargetsWhoseIdentityIsAtFault) {
  const auto errors = [](const std::string& old_text, const std::string& new_text) {
    std::string set = test::infra_text() + policy("DNSPolicy", "p", "{kind: Infra, name: yard}");
    set.replace(set.find(old_text), old_text.size(), new_text);
    return test::errors(set);
  };
  EXPECT_THAT(errors("/v1alpha1", "/v1"), ElementsAre("unsupported-version /apiVersion"));
  EXPECT_THAT(errors("kind: Infra", "kind: Infar"), ElementsAre("unknown-kind /kind"));
  EXPECT_THAT(errors("kind: Infra", "kind: [Infra]"), ElementsAre("wrong-type /kind"));
  EXPECT_THAT(errors("name: yard", "name: Yard"), ElementsAre("bad-name /metadata/name"));
  EXPECT_THAT(errors("name: yard", "name: [yard]"), ElementsAre("wrong-type /metadata/name"));
  EXPECT_THAT(errors("namespace: hcp", "namespace: Hcp"), ElementsAre("bad-name /metadata/namespace"));
  EXPECT_THAT(errors("name: yard, namespace: hcp", "name: [yard], namespace: abc"),
              ElementsAre("wrong-type /metadata/name", "bad-reference /spec/targetRef/name"))
      << "what is good of it does not fit";
  EXPECT_THAT(errors("name: p, namespace: hcp", "name: p, namespace: [hcp]"),
              ElementsAre("wrong-type /metadata/namespace"));

  const std::string lone = policy("DNSPolicy", "p", "{kind: Infra, name: yard}");
  EXPECT_THAT(test::errors("apiVersion: v1\nkind: Secret\n---\n" + lone),
              ElementsAre("unknown-kind /kind", "bad-reference /spec/targetRef/name"))
      << "no policy refers to one";
  EXPECT_THAT(test::errors("apiVersion: v1\nkind: List\nitems: [5]\n---\n" + lone), ElementsAre("wrong-type /items/0"));
}

TEST(Policies, AValueThatIsWrongIsOneProblem) {
  const auto dhcp = [](const std::string& more) { return errors_of("DHCPPolicy", "  " + more + "\n"); };
  const std::string ipv6 =
      "ipv6: {cidr: \"2001:db8::/64\", rangeStart: \"2001:db8::10\", rangeEnd: \"2001:db8::1f\", reservations: [";
  const std::string item = "wrong-type /spec/ipv6/reservations/0";
  EXPECT_THAT(dhcp(ipv6 + "{macAddress: 5, address: \"2001:db8::77\"}]}"), ElementsAre(item + "/macAddress"));
  EXPECT_THAT(dhcp(ipv6 + "{duid: [a], address: \"2001:db8::77\"}]}"), ElementsAre(item + "/duid"));
  EXPECT_THAT(dhcp(ipv6 + "[a]]}"), ElementsAre(item));
  EXPECT_THAT(dhcp("ipv6: [x]\n  routerAdvertisement: {}"), ElementsAre("wrong-type /spec/ipv6"));

  const auto dns = [](const std::string& views) {
    return errors_of("DNSPolicy", "  views: " + views + "\n  access: [{view: w}]\n");
  };
  EXPECT_THAT(dns("[{name: 5, clientPrefixes: [198.51.100.0/24]}]"), ElementsAre("wrong-type /spec/views/0/name"));
  EXPECT_THAT(dns("[w]"), ElementsAre("wrong-type /spec/views/0"));
  EXPECT_THAT(dns("w"), ElementsAre("wrong-type /spec/views"));
  EXPECT_THAT(errors_of("DNSPolicy", "  access: [{view: w}, {view: w}]\n"),
              ElementsAre("bad-reference /spec/access/0/view", "bad-reference /spec/access/1/view"));

  const auto proxy = [](const std::string& more) { return errors_of("ProxyPolicy", "  " + more + "\n"); };
  EXPECT_THAT(proxy("proxyProtocol: {send: {zz: 1}, backends: [a]}"),
              ElementsAre("wrong-type /spec/proxyProtocol/send"));
  EXPECT_THAT(proxy("proxyProtocol: {send: V1, backends: a}"), ElementsAre("wrong-type /spec/proxyProtocol/backends"));
  EXPECT_THAT(proxy("healthCheck: {intervalSeconds: x, timeoutSeconds: 20}"),
              ElementsAre("wrong-type /spec/healthCheck/intervalSeconds"));
  EXPECT_THAT(proxy("accessLog: {format: json, template: \"%{path}\"}"),
              ElementsAre("bad-template /spec/accessLog/template"));

  std::string infra = test::infra_text();
  infra.replace(infra.find("proxy: {"), 8, "proxy: {enabled: \"false\", ");
  EXPECT_THAT(test::errors(infra + test::attachment_text("blue") +
                           policy("DNSPolicy", "p", "{kind: Infra, name: yard}",
                                  "  entries: [{hostname: api.blue.hc.example.com, ip: 192.0.2.9}]\n")),
              ElementsAre("wrong-type /spec/infraComponents/proxy/enabled"));
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

TEST(DhcpPolicy, ReservesForOneInterfaceAtOneHostsAddress) {
  const auto reserve = [](const std::string& mac, const std::string& address) {
    return errors_of("DHCPPolicy", "  reservations: [{macAddress: \"" + mac + "\", address: " + address + "}]\n");
  };
  for (const char* mac : {"ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "01:00:5e:00:00:01"})
    EXPECT_THAT(reserve(mac, "192.0.2.60"), ElementsAre("bad-address /spec/reservations/0/macAddress")) << mac;
  for (const char* address : {"0.0.0.0", "224.0.0.9", "255.255.255.255"})
    EXPECT_THAT(reserve("02:00:00:00:00:01", address), ElementsAre("bad-address /spec/reservations/0/address"));
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

TEST(DnsPolicy, SaysWhoIsAskedAndForWhom) {
  EXPECT_THAT(errors_of("DNSPolicy",
                        "  queryLog: true\n  views: [{name: v, clientPrefixes: [198.51.100.0/24]}]\n"
                        "  forwarding: {policy: RoundRobin, minTTLSeconds: 5, maxTTLSeconds: 5, serveStaleSeconds: 60, "
                        "prefetch: true, randomizeCase: true, zones: [{zone: corp.example, upstreams: [192.0.2.9, "
                        "\"[2001:db8::1]:5353\"]}, {zone: 2.0.192.in-addr.arpa, upstreams: [192.0.2.9]}]}\n"
                        "  access: [{view: pod, allowedClients: [10.0.0.0/8], forward: false}, {view: v, "
                        "forwardedClients: [198.51.100.0/25]}, {view: vlan}]\n"),
              IsEmpty());
  EXPECT_THAT(
      errors_of("DNSPolicy",
                "  forwarding: {policy: First, minTTLSeconds: 10, maxTTLSeconds: 9, zones: [{zone: a..b, upstreams: "
                "[node]}, {zone: c, upstreams: []}, {zone: d, upstreams: [192.0.2.9]}, {zone: D., upstreams: "
                "[192.0.2.9]}, {zone: \"*.e\", upstreams: [192.0.2.9]}]}\n"
                "  access: [{view: w}, {view: pod, allowedClients: [10.0.0.1/8]}, {view: pod, forward: false, "
                "forwardedClients: [10.0.0.0/8]}]\n"),
      testing::UnorderedElementsAre(
          "bad-choice /spec/forwarding/policy", "bad-combination /spec/forwarding/minTTLSeconds",
          "bad-name /spec/forwarding/zones/0/zone", "bad-address /spec/forwarding/zones/0/upstreams/0",
          "too-few-items /spec/forwarding/zones/1/upstreams", "duplicate-name /spec/forwarding/zones/3/zone",
          "bad-name /spec/forwarding/zones/4/zone", "bad-reference /spec/access/0/view",
          "bad-cidr /spec/access/1/allowedClients/0", "duplicate-name /spec/access/2/view",
          "bad-combination /spec/access/2/forwardedClients"));
  EXPECT_THAT(test::errors(std::string(test::kOooi) +
                           "kind: DNSServer\nmetadata: {name: a, namespace: hcp}\nspec: {networkConfig: {serverIP: "
                           "192.0.2.3, proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com}\n---\n" +
                           policy("DNSPolicy", "p", "{kind: DNSServer, name: a}",
                                  "  forwarding: {zones: [{zone: c.example, upstreams: [192.0.2.3]}]}\n")),
              ElementsAre("forward-loop /spec/forwarding/zones/0/upstreams/0"));
}

TEST(DnsPolicy, NamesLeasesBelowADomainWithRoomForNames) {
  const std::string longest = std::string(63, 'a') + '.' + std::string(63, 'b') + '.' + std::string(61, 'c');
  for (const std::string& good : {std::string("vms.example.com"), std::string("lan"), longest})
    EXPECT_THAT(errors_of("DNSPolicy", "  leaseDomain: " + good + "\n"), IsEmpty());
  for (const std::string& bad :
       {std::string("'.'"), std::string("'*.example.com'"), std::string("a..b"), longest + "d"})
    EXPECT_THAT(errors_of("DNSPolicy", "  leaseDomain: " + bad + "\n"), ElementsAre("bad-name /spec/leaseDomain"));
}

TEST(DnsPolicy, PublishesRecordsOfEveryTypeOfData) {
  const auto records = [](const std::string& list) { return errors_of("DNSPolicy", "  records: [" + list + "]\n"); };
  EXPECT_THAT(
      records("{name: a.example, type: TXT, data: [\"\\\"x y\\\"\"]}, {name: b.example, type: mx, ttlSeconds: 5, "
              "data: [10 a.example.]}, {name: _s._tcp.c.example, type: SRV, data: [0 0 1 a., 0 0 2 b.]}, "
              "{name: d.example, type: HTTPS, data: [1 . alpn=h2]}, {name: e.example, type: TYPE65280, data: "
              "['\\# 1 00']}, {name: _443._tcp.f.example, type: TLSA, data: [3 1 0 ab cd]}, {name: g.example, type: "
              "NAPTR, data: ['\\# 8 0000 0001 00 00 00 00', '100 10 U SIP+D2U \"\" _sip.example.']}"),
      IsEmpty());
  EXPECT_THAT(records("{name: a, type: NAPTR, data: ['\\# 1 00']}, {name: b, type: RP, data: ['\\# 3 0000ff']}"),
              ElementsAre("bad-record /spec/records/0/data/0", "bad-record /spec/records/1/data/0"));
  EXPECT_THAT(
      records("{name: a..b, type: A, data: [192.0.2.1]}, {name: a, type: SOA, data: [x]}, {name: a, type: "
              "AAAA, data: ['2001:db8::1', 192.0.2.1]}, {name: c, type: CNAME, data: [a., b.]}, {name: C, type: "
              "TXT, data: [x]}, {name: d, type: DNAME, data: [e.]}, {name: f, type: NAPTR, data: [0 0 x x f.]}"),
      testing::UnorderedElementsAre("bad-name /spec/records/0/name", "bad-choice /spec/records/1/type",
                                    "bad-record /spec/records/2/data/1", "too-many-items /spec/records/3/data",
                                    "bad-combination /spec/records/4/name", "bad-choice /spec/records/5/type",
                                    "bad-record /spec/records/6/data/0"));
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
  EXPECT_THAT(views("{name: vlan, clientPrefixes: [198.51.100.0/24]}, {name: pod, clientPrefixes: [203.0.113.0/24]}"),
              ElementsAre("duplicate-name /spec/views/0/name", "duplicate-name /spec/views/1/name"));
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

TEST(DnsPolicy, PublishesNoNameThatItsTargetPublishes) {
  const auto with = [](const std::string& set, const std::string& name, const std::string& target) {
    return test::errors(set +
                        policy("DNSPolicy", "p", target, "  entries: [{hostname: \"" + name + "\", ip: 192.0.2.9}]\n"));
  };
  const auto infra = [&](const std::string& name, const std::string& more = "") {
    return with(test::infra_text() + test::attachment_text("blue", more), name, "{kind: Infra, name: yard}");
  };
  const auto refused = ElementsAre("duplicate-hostname /spec/entries/0/hostname");
  const std::string apps =
      "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: "
      "192.0.2.200-192.0.2.204}}\n";
  for (const char* label : {"api", "api-int", "oauth", "oidc", "ignition", "konnectivity", "API"})
    EXPECT_THAT(infra(std::string(label) + ".blue.hc.example.com"), refused) << label;
  for (const char* name : {"kubernetes", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"})
    EXPECT_THAT(infra(name), refused) << name;
  EXPECT_THAT(infra("*.apps.blue.hc.example.com", apps), refused);
  EXPECT_THAT(with(test::infra_text() + test::attachment_text("blue") + test::apps_policy_text("blue", "192.0.2.200"),
                   "*.apps.blue.hc.example.com", "{kind: Infra, name: yard}"),
              refused);
  EXPECT_THAT(infra("*.apps.blue.hc.example.com"), IsEmpty()) << "nobody else says where they are";
  EXPECT_THAT(infra("console.apps.blue.hc.example.com", apps), IsEmpty());
  EXPECT_THAT(infra("api.red.hc.example.com"), IsEmpty());

  std::string no_proxy = test::infra_text();
  no_proxy.replace(no_proxy.find("proxy: {"), 8, "proxy: {enabled: false, ");
  EXPECT_THAT(with(no_proxy + test::attachment_text("blue"), "api.blue.hc.example.com", "{kind: Infra, name: yard}"),
              IsEmpty());
  const std::string server = std::string(test::kOooi) +
                             "kind: DNSServer\nmetadata: {name: a, namespace: hcp}\nspec: {networkConfig: {serverIP: "
                             "192.0.2.3, proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com, staticEntries: "
                             "[{hostname: Api.a.example.com, ip: 192.0.2.4}]}\n---\n";
  EXPECT_THAT(with(server, "api.a.example.com", "{kind: DNSServer, name: a}"), refused);
  EXPECT_THAT(with(server, "oauth.a.example.com", "{kind: DNSServer, name: a}"), IsEmpty());
}

TEST(DnsPolicy, MixesNoAddressRecordIntoANameOfItsTarget) {
  const auto record = [](const std::string& type_and_data) {
    return test::errors(test::infra_text() + test::attachment_text("blue") +
                        policy("DNSPolicy", "p", "{kind: Infra, name: yard}",
                               "  records: [{name: api.blue.hc.example.com., type: " + type_and_data + "}]\n"));
  };
  EXPECT_THAT(record("A, data: [192.0.2.9]"), ElementsAre("duplicate-hostname /spec/records/0/name"));
  EXPECT_THAT(record("TXT, data: [hello]"), IsEmpty());
}

TEST(DnsPolicy, KnowsANameOfItsTargetHoweverItIsWritten) {
  const std::string apps =
      "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: "
      "192.0.2.200-192.0.2.204}}\n";
  const auto record = [&](const std::string& name) {
    return test::errors(test::infra_text() + test::attachment_text("blue", apps) +
                        policy("DNSPolicy", "p", "{kind: Infra, name: yard}",
                               "  records: [{name: '" + name + "', type: A, data: [192.0.2.9]}]\n"));
  };
  for (const char* name :
       {R"(\097pi.blue.hc.example.com.)", "API.Blue.hc.example.com", R"(\042.apps.blue.hc.example.com.)"})
    EXPECT_THAT(record(name), ElementsAre("duplicate-hostname /spec/records/0/name")) << name;
  EXPECT_THAT(record(R"(api\.blue.hc.example.com.)"), IsEmpty()) << "the dot is in a label";
}

TEST(DnsPolicy, PublishesNoMoreOfANameThanAMessageHasRoomFor) {
  const auto texts = [](int first, int count) {
    std::string list;
    for (int i = first; i < first + count; ++i)
      list += (i == first ? "" : ", ") + std::string("'") + std::to_string(1000 + i) + std::string(196, 'x') + "'";
    return list;
  };
  // Each has 201 bytes of data and 12 beside it: 305 of them fit.
  const auto records = [&](int first, int second) {
    return errors_of("DNSPolicy",
                     "  records: [{name: b.example, type: A, data: [192.0.2.1]}, {name: a.example, type: "
                     "TXT, data: [" +
                         texts(0, first) + "]}, {name: A.example., type: TXT, data: [" + texts(295, second) + "]}]\n");
  };
  EXPECT_THAT(records(300, 10), IsEmpty()) << "five of them are the same";
  EXPECT_THAT(records(300, 11), ElementsAre("too-many-items /spec/records/1/data"));
}

TEST(DnsPolicy, SaysThatRecordsOfOneOwnerAndTypeHaveOneTtl) {
  const auto found = [](const std::string& more) {
    return test::warnings(test::infra_text() + policy("DNSPolicy", "p", "{kind: Infra, name: yard}", more));
  };
  const std::string lists =
      "  records: [{name: a.example, type: TXT, ttlSeconds: 5, data: [x]}, {name: A.example., type: txt, ttlSeconds: "
      "6, data: [z]}, {name: a.example, type: MX, ttlSeconds: 7, data: [10 b.]}]\n"
      "  views: [{name: v, clientPrefixes: [198.51.100.0/24], records: [{name: a.example, type: TXT, data: [x]}, "
      "{name: a.example, type: TXT, ttlSeconds: 60, data: [z]}]}]\n";
  EXPECT_THAT(found(lists),
              ElementsAre("ttl-differs /spec/records/1/ttlSeconds", "ttl-differs /spec/views/0/records/1/ttlSeconds"));
  EXPECT_THAT(found("  recordTTLSeconds: 60\n" + lists), ElementsAre("ttl-differs /spec/records/1/ttlSeconds"));
}

TEST(DnsPolicy, NoRecordTakesTheRoot) {
  const std::string records =
      "  records: [{name: ., type: A, data: [192.0.2.1]}, {name: '*.', type: A, data: [192.0.2.1]}, {name: foo, type: "
      "A, data: [192.0.2.1]}, {name: lan., type: A, data: [192.0.2.1]}]\n";
  EXPECT_THAT(errors_of("DNSPolicy", records),
              ElementsAre("bad-name /spec/records/0/name", "bad-name /spec/records/1/name"));
  EXPECT_THAT(test::warnings(test::infra_text() + policy("DNSPolicy", "p", "{kind: Infra, name: yard}",
                                                         "  records: [{name: foo, type: A, data: [192.0.2.1]}, {name: "
                                                         "lan., type: A, data: [192.0.2.1]}]\n")),
              ElementsAre("bad-name /spec/records/0/name"));
}

TEST(DnsPolicy, NotifiesNobodyOfItsOwnChanges) {
  EXPECT_THAT(test::errors(std::string(test::kOooi) +
                           "kind: DNSServer\nmetadata: {name: a, namespace: hcp}\nspec: {networkConfig: {serverIP: "
                           "192.0.2.3, proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com}\n---\n" +
                           policy("DNSPolicy", "p", "{kind: DNSServer, name: a}",
                                  "  transfer: {notify: [192.0.2.9, 192.0.2.3, \"192.0.2.3:54\"]}\n")),
              ElementsAre("forward-loop /spec/transfer/notify/1"));
}

TEST(DnsPolicy, HasNoRecordsThatOtherServersRefuse) {
  EXPECT_THAT(errors_of("DNSPolicy",
                        "  records: [{name: '*.w.example', type: NS, data: [ns.example.]}, {name: a.example, type: "
                        "DS, data: [1 8 2 00]}, {name: b.example, type: DNSKEY, data: ['\\# 1 00']}]\n"),
              testing::UnorderedElementsAre("bad-combination /spec/records/0/name", "bad-record /spec/records/1/data/0",
                                            "bad-record /spec/records/2/data/0"));
}

TEST(DnsPolicy, AListOfClientsThatHasLostItsLastOneLetsNobodyIn) {
  EXPECT_THAT(
      errors_of("DNSPolicy", "  access: [{view: vlan, allowedClients: [], forwardedClients: []}]\n"),
      ElementsAre("too-few-items /spec/access/0/allowedClients", "too-few-items /spec/access/0/forwardedClients"));
  EXPECT_THAT(errors_of("DNSPolicy", "  access: [{view: vlan}]\n  transfer: {allowedClients: []}\n"), IsEmpty())
      << "a list that is not there, and one that means nobody";
}

TEST(DnsPolicy, TakesNoIpv4AddressInTheFormOfAnIpv6One) {
  const auto found = [](const std::string& more) { return errors_of("DNSPolicy", "  " + more + "\n"); };
  EXPECT_THAT(found("views: [{name: a, clientPrefixes: ['::ffff:10.0.0.0/104']}]"),
              ElementsAre("bad-cidr /spec/views/0/clientPrefixes/0"));
  EXPECT_THAT(found("views: [{name: a, clientPrefixes: ['::/0', '::fffe:0:0/96']}]"), IsEmpty());
  EXPECT_THAT(found("access: [{view: vlan, allowedClients: ['::ffff:192.0.2.101/128'], forwardedClients: "
                    "['::ffff:0:0/96']}]"),
              ElementsAre("bad-cidr /spec/access/0/allowedClients/0", "bad-cidr /spec/access/0/forwardedClients/0"));
  EXPECT_THAT(found("transfer: {allowedClients: ['::ffff:c000:200/120'], notify: ['[::ffff:192.0.2.9]:53']}"),
              ElementsAre("bad-cidr /spec/transfer/allowedClients/0", "bad-address /spec/transfer/notify/0"));
  EXPECT_THAT(found("forwarding: {zones: [{zone: a.example, upstreams: ['::ffff:192.0.2.3']}]}"),
              ElementsAre("bad-address /spec/forwarding/zones/0/upstreams/0"));
  EXPECT_THAT(test::errors(
                  test::infra_text("yard", "networkAttachmentDefinition: vlan7\n    dnsServers: ['::ffff:192.0.2.3']")),
              ElementsAre("bad-address /spec/networkConfig/dnsServers/0"));
  EXPECT_THAT(errors_of("ProxyPolicy", "  allowedSources: ['::ffff:192.0.2.0/120']\n"),
              ElementsAre("bad-cidr /spec/allowedSources/0"));
  EXPECT_THAT(errors_of("DHCPPolicy",
                        "  ipv6: {cidr: '::ffff:192.0.2.0/120', rangeStart: '::ffff:192.0.2.10', rangeEnd: "
                        "'2001:db8::1'}\n"),
              ElementsAre("bad-cidr /spec/ipv6/cidr", "bad-address /spec/ipv6/rangeStart"));

  const auto checked =
      check({{"f.yaml", test::infra_text() + policy("DNSPolicy", "p", "{kind: Infra, name: yard}",
                                                    "  transfer: {allowedClients: ['::ffff:10.0.0.0/104']}\n")}});
  ASSERT_TRUE(checked.has_error());
  EXPECT_NE(checked.error().items().at(0).message.find("this is 10.0.0.0/8"), std::string::npos);
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

TEST(ProxyPolicy, TakesEveryFieldThatTheProxyHas) {
  EXPECT_THAT(
      errors_of("ProxyPolicy",
                "  maxConnectionsPerListener: 10\n  maxConnectionsPerSource: 0\n  maxConnectionsPerBackend: 5\n"
                "  allowedSources: [192.0.2.0/24, \"2001:db8::/32\"]\n  deniedSources: [192.0.2.7/32]\n"
                "  balance: RandomOfTwo\n  healthCheck: {kind: TLS, intervalSeconds: 5, timeoutSeconds: 5}\n"
                "  ejection: {failures: 0, durationSeconds: 1}\n  drainTimeoutSeconds: 60\n"
                "  udpIdleTimeoutSeconds: 30\n  listeners: [{port: 80, kind: TCP}, {port: 8080, kind: HTTP}]\n"
                "  proxyProtocol: {trustedSources: [192.0.2.9/32], send: V2, backends: [apps]}\n"
                "  interface: eth1\n  dialFrom: [192.0.2.4, \"2001:db8::4\"]\n  workers: 4\n"
                "  maxHelloBytes: 32768\n  maxConnectAttempts: 1\n  socketBuffers: {receiveBytes: 0, sendBytes: "
                "262144}\n  tcpKeepalive: {idleSeconds: 32767, intervalSeconds: 1, probes: 127}\n"
                "  allowedNames: [{port: 443, names: [a.example, \"*.b.example\"]}, {port: 443, address: "
                "192.0.2.4, names: [c.example]}, {port: 443, side: pod, names: [d.example]}]\n"
                "  backends: [{name: apps, idleTimeoutSeconds: 0}, {name: blue.1-kube-apiserver}]\n"
                "  accessLog: {format: text, template: \"%{client} %{sni}\"}\n"),
      IsEmpty());
}

TEST(ProxyPolicy, HoldsTheLimitsOfTheKernelAndOfTheParser) {
  const auto found = [](const std::string& more) { return errors_of("ProxyPolicy", "  " + more + "\n"); };
  EXPECT_THAT(found("maxHelloBytes: 1023"), ElementsAre("out-of-range /spec/maxHelloBytes"));
  EXPECT_THAT(found("maxHelloBytes: 32769"), ElementsAre("out-of-range /spec/maxHelloBytes"));
  EXPECT_THAT(found("maxConnectAttempts: 0"), ElementsAre("out-of-range /spec/maxConnectAttempts"));
  EXPECT_THAT(found("tcpKeepalive: {idleSeconds: 32768, intervalSeconds: 0, probes: 128}"),
              ElementsAre("out-of-range /spec/tcpKeepalive/idleSeconds",
                          "out-of-range /spec/tcpKeepalive/intervalSeconds", "out-of-range /spec/tcpKeepalive/probes"));
  EXPECT_THAT(
      found("socketBuffers: {receiveBytes: 262143, sendBytes: 1}"),
      ElementsAre("out-of-range /spec/socketBuffers/receiveBytes", "out-of-range /spec/socketBuffers/sendBytes"));
  EXPECT_THAT(found("socketBuffers: {receiveBytes: -1}"), ElementsAre("out-of-range /spec/socketBuffers/receiveBytes"));
}

TEST(ProxyPolicy, AllowsNamesOncePerListenerAndWhereNamesAreSeen) {
  const auto found = [](const std::string& list, const std::string& more = "") {
    return errors_of("ProxyPolicy", more + "  allowedNames: [" + list + "]\n");
  };
  EXPECT_THAT(found("{port: 443, names: [a.example]}, {port: 443, names: [b.example]}"),
              ElementsAre("duplicate-name /spec/allowedNames/1/port"));
  EXPECT_THAT(found("{port: 443, address: \"2001:db8::1\", names: [a.example]}, {port: 443, address: "
                    "\"2001:0db8::0:1\", names: [a.example]}"),
              ElementsAre("duplicate-name /spec/allowedNames/1/port"));
  EXPECT_THAT(found("{port: 443, side: pod, names: [a.example]}, {port: 443, side: vlan, names: [b.example]}, "
                    "{port: 443, side: pod, names: [b.example]}"),
              ElementsAre("duplicate-name /spec/allowedNames/2/port"));
  EXPECT_THAT(found("{port: 443, side: pod, address: 192.0.2.4, names: [a.example]}, {port: 443, side: public, names: "
                    "[a.example]}"),
              testing::UnorderedElementsAre("bad-combination /spec/allowedNames/0/side",
                                            "bad-choice /spec/allowedNames/1/side"));
  EXPECT_THAT(found("{port: 443, names: []}, {names: [a_b.example], address: x}"),
              testing::UnorderedElementsAre(
                  "too-few-items /spec/allowedNames/0/names", "missing-field /spec/allowedNames/1/port",
                  "bad-address /spec/allowedNames/1/address", "bad-hostname /spec/allowedNames/1/names/0"));
  EXPECT_THAT(found("{port: 22, names: [a.example]}", "  listeners: [{port: 22, kind: TCP}]\n"),
              ElementsAre("bad-combination /spec/allowedNames/0/port"));
  EXPECT_THAT(found("{port: 80, names: [a.example]}", "  listeners: [{port: 80, kind: HTTP}]\n"), IsEmpty());
}

TEST(ProxyPolicy, WarnsOfAPortThatNobodyListensOn) {
  const auto of_server = [](const std::string& listeners) {
    return test::warnings(
        std::string(test::kOooi) +
        "kind: ProxyServer\nmetadata: {name: s, namespace: hcp}\nspec: {networkConfig: {serverIP: "
        "192.0.2.4}, port: 22, backends: [{name: a, hostname: a.example.com, port: 22, "
        "targetService: svc, targetPort: 22, targetNamespace: ns}, {name: b, hostname: "
        "b.example.com, port: 53, targetService: svc, targetPort: 53, targetNamespace: ns, protocol: "
        "UDP}]}\n---\n" +
        policy("ProxyPolicy", "p", "{kind: ProxyServer, name: s}", "  listeners: " + listeners + '\n'));
  };
  EXPECT_THAT(of_server("[{port: 22, kind: TCP}]"), IsEmpty());
  EXPECT_THAT(of_server("[{port: 22, kind: TCP}, {port: 2, kind: TCP}, {port: 53, kind: TCP}]"),
              ElementsAre("unused-port /spec/listeners/1/port", "unused-port /spec/listeners/2/port"));
  const auto of_infra = [](const std::string& listeners) {
    return test::warnings(test::infra_text() +
                          policy("ProxyPolicy", "p", "{kind: Infra, name: yard}", "  listeners: " + listeners + '\n'));
  };
  EXPECT_THAT(of_infra("[{port: 80, kind: HTTP}, {port: 443, kind: TLS}]"), IsEmpty());
  EXPECT_THAT(of_infra("[{port: 443, kind: TCP}]"), ElementsAre("unused-port /spec/listeners/0/port"));
}

TEST(ProxyPolicy, RefinesABackendOnce) {
  EXPECT_THAT(
      errors_of("ProxyPolicy", "  backends: [{name: a}, {name: a}, {idleTimeoutSeconds: -1}]\n"),
      testing::UnorderedElementsAre("duplicate-name /spec/backends/1/name", "missing-field /spec/backends/2/name",
                                    "out-of-range /spec/backends/2/idleTimeoutSeconds"));
}

TEST(ProxyPolicy, SaysWhatDoesNotGoTogether) {
  const auto found = [](const std::string& more) { return errors_of("ProxyPolicy", "  " + more + "\n"); };
  EXPECT_THAT(found("listeners: [{port: 80, kind: TCP}, {port: 80, kind: TLS}]"),
              ElementsAre("duplicate-name /spec/listeners/1/port"));
  EXPECT_THAT(found("listeners: [{port: 80, kind: UDP}, {kind: TLS}]"),
              ElementsAre("bad-choice /spec/listeners/0/kind", "missing-field /spec/listeners/1/port"));
  EXPECT_THAT(found("proxyProtocol: {send: V1}"), ElementsAre("bad-combination /spec/proxyProtocol/send"));
  EXPECT_THAT(found("proxyProtocol: {backends: [a]}"), ElementsAre("bad-combination /spec/proxyProtocol/backends"));
  EXPECT_THAT(found("dialFrom: [192.0.2.4, 192.0.2.5]"), ElementsAre("bad-combination /spec/dialFrom/1"));
  EXPECT_THAT(found("dialFrom: [192.0.2.4, here]"), ElementsAre("bad-address /spec/dialFrom/1"));
  EXPECT_THAT(found("interface: fifteen-chars-x"), IsEmpty());
  for (const char* bad :
       {"sixteen-chars-xy", "''", "'lo x'", "\"lo\\tx\"", "a/b", "'eth0:1'", "'.'", "'..'", "'a#b'", "'a\"b'"})
    EXPECT_THAT(found(std::string("interface: ") + bad), ElementsAre("bad-name /spec/interface")) << bad;
  EXPECT_THAT(found("interface: br-ex.7+x@y"), IsEmpty());
  EXPECT_THAT(found("healthCheck: {intervalSeconds: 2, timeoutSeconds: 3}"),
              ElementsAre("bad-combination /spec/healthCheck/timeoutSeconds"));
  EXPECT_THAT(found("accessLog: {template: \"%{path}\"}"), ElementsAre("bad-template /spec/accessLog/template"));
  EXPECT_THAT(found("accessLog: {format: json, template: \"%{sni}\"}"),
              ElementsAre("bad-combination /spec/accessLog/template"));
  EXPECT_THAT(found("balance: Best"), ElementsAre("bad-choice /spec/balance"));
  EXPECT_THAT(found("workers: 65"), ElementsAre("out-of-range /spec/workers"));
  EXPECT_THAT(found("allowedSources: [192.0.2.1/24]"), ElementsAre("bad-cidr /spec/allowedSources/0"));
  EXPECT_THAT(found("allowedSources: []"), ElementsAre("too-few-items /spec/allowedSources")) << "it is not everyone";
}

}  // namespace
}  // namespace hcpnet::spec
