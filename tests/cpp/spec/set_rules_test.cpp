// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_text.hpp"

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string server(const std::string& kind, const std::string& name, const std::string& spec) {
  return std::string(test::kOooi) + "kind: " + kind + "\nmetadata: {name: " + name + ", namespace: hcp}\nspec: {" +
         spec + "}\n---\n";
}
std::string dhcp_server(const std::string& name, const std::string& cidr, const std::string& last_byte) {
  return server("DHCPServer", name,
                "networkConfig: {cidr: " + cidr + ", gateway: 192.0.2.1, serverIP: 192.0.2." + last_byte +
                    "}, leaseConfig: {rangeStart: 192.0.2.100, rangeEnd: 192.0.2.110}");
}
std::string dns_server(const std::string& upstreams, const std::string& port = "53") {
  return server("DNSServer", "a",
                "networkConfig: {serverIP: 192.0.2.3/24, proxyIP: 192.0.2.4, dnsPort: " + port +
                    "}, hostedClusterDomain: a.example.com, upstreamDNS: [" + upstreams + "]");
}
std::string proxy_server(const std::string& name, const std::string& last_byte, const std::string& target,
                         const std::string& more = "") {
  return server("ProxyServer", name,
                "networkConfig: {serverIP: 192.0.2." + last_byte + "}, backends: [{name: a, hostname: " + name +
                    ".example.com, port: 8443, targetService: " + target + ", targetNamespace: ns" + more + "}]");
}
/// Of the first error; empty when there is none.
std::string message(const std::string& text) {
  const auto result = check({{"f.yaml", text}});
  if (result.has_value()) return {};
  for (const Diagnostic& d : Diagnostics(result.error()))
    if (d.severity == Severity::error) return d.message;
  return {};
}

TEST(SetRules, ADnsServerDoesNotForwardToItself) {
  const auto infra = [](const std::string& servers) {
    return test::errors(test::infra_text("yard", "networkAttachmentDefinition: vlan7\n    dnsServers: " + servers));
  };
  const auto at = [](const char* index) { return std::string("forward-loop /spec/networkConfig/dnsServers/") + index; };
  EXPECT_THAT(infra("[198.51.100.53, 192.0.2.3]"), ElementsAre(at("1")));
  EXPECT_THAT(infra("[\"192.0.2.3:53\"]"), ElementsAre(at("0")));
  EXPECT_THAT(infra("[\"192.0.2.3:5353\", resolv.conf]"), IsEmpty());
  EXPECT_THAT(test::errors(dns_server("192.0.2.3")), ElementsAre("forward-loop /spec/upstreamDNS/0"));
  EXPECT_THAT(test::errors(dns_server("resolv.conf, \"192.0.2.3:5353\"", "5353")),
              ElementsAre("forward-loop /spec/upstreamDNS/1"));
  EXPECT_THAT(test::errors(dns_server("192.0.2.3", "5353")), IsEmpty());
  EXPECT_THAT(test::findings(dns_server("192.0.2.3")), ElementsAre("4:132 forward-loop /spec/upstreamDNS/0"));
}

// Field case ZON-11: an interface of one host is in no configuration for another.
TEST(SetRules, Zon11AnUpstreamWithAZoneIsRefusedAtItsLine) {
  for (const char* const upstream : {"\"2001:db8::53%eth0\"", "\"[fe80::1%eth0]:5353\"", "\"fe80::1%2\""}) {
    const std::string text = dns_server("\"2001:db8::53\", " + std::string(upstream));
    EXPECT_THAT(test::errors(text), ElementsAre("bad-address /spec/upstreamDNS/1")) << upstream;
    EXPECT_THAT(message(text), HasSubstr("an address with a zone means something on one host only")) << upstream;
  }
  EXPECT_THAT(
      test::errors(test::infra_text("yard", "networkAttachmentDefinition: vlan7\n    dnsServers: [\"fe80::1%eth0\"]")),
      ElementsAre("bad-address /spec/networkConfig/dnsServers/0"));
  EXPECT_THAT(test::errors(dns_server("\"2001:db8::53\", \"[2001:db8::53]:5353\"")), IsEmpty());
}

TEST(SetRules, ADhcpNetworkHasOneServer) {
  const std::string first = dhcp_server("a", "192.0.2.0/24", "2");
  EXPECT_THAT(test::errors(first + dhcp_server("b", "192.0.2.0/24", "5")),
              ElementsAre("networks-overlap /spec/networkConfig/cidr"));
  EXPECT_THAT(message(first + dhcp_server("b", "192.0.2.0/24", "5")), HasSubstr("DHCPServer hcp/a (f.yaml:4)"));
  EXPECT_THAT(test::errors(first + dhcp_server("b", "192.0.2.0/25", "2")),
              ElementsAre("addresses-collide /spec/networkConfig/serverIP"));
  EXPECT_THAT(test::errors(first + dhcp_server("b", "192.0.2.0/25", "5")), IsEmpty()) << "one process can serve these";
}

TEST(SetRules, TwoInfrasDoNotServeDhcpOnOneNetwork) {
  std::string second = test::infra_text("second");
  for (const char* component : {"dhcp", "dns", "proxy"})
    second.insert(second.find("192.0.2.", second.find(std::string(component) + ": {serverIP")) + 8, "1");
  const Diagnostics problems = check({{"a.yaml", test::infra_text()}, {"b.yaml", second}}).error();
  ASSERT_EQ(problems.error_count(), 1u) << problems.to_string();
  const Diagnostic& d = problems.items().front();
  EXPECT_EQ(d.file, "b.yaml");
  EXPECT_EQ(d.code, "networks-overlap");
  EXPECT_THAT(d.message, HasSubstr("Infra "));
  EXPECT_THAT(d.message, HasSubstr("(a.yaml:"));
}

TEST(SetRules, ADhcpServerAndAnInfraDoNotServeOneNetwork) {
  const std::string server = dhcp_server("a", "192.0.2.0/24", "5");
  EXPECT_THAT(test::errors(test::infra_text() + server), ElementsAre("networks-overlap /spec/networkConfig/cidr"));
  EXPECT_THAT(message(test::infra_text() + server), HasSubstr("Infra hcp/yard (f.yaml:6)"));
  EXPECT_THAT(message(server + test::infra_text()), HasSubstr("DHCPServer hcp/a (f.yaml:4)"));
  std::string without = test::infra_text();
  without.replace(without.find("dhcp: {"), 7, "dhcp: {enabled: false, ");
  EXPECT_THAT(test::errors(without + server), IsEmpty());
}

TEST(SetRules, ABackendLeadsToNoProxyOfTheSet) {
  const auto at = ElementsAre("forward-loop /spec/backends/0/targetService");
  EXPECT_THAT(test::errors(proxy_server("a", "9", "192.0.2.9, targetPort: 8443")), at);
  EXPECT_THAT(test::errors(proxy_server("a", "9", "192.0.2.9, targetPort: 8444")), IsEmpty());
  EXPECT_THAT(test::errors(proxy_server("a", "9", "192.0.2.9, targetPort: 8443", ", protocol: UDP")), at);
  EXPECT_THAT(test::errors(proxy_server("a", "9", "192.0.2.10, targetPort: 8443") +
                           proxy_server("b", "10", "kube-apiserver, targetPort: 6443")),
              at);
  EXPECT_THAT(test::errors(proxy_server("a", "9", "192.0.2.10, targetPort: 8443") +
                           proxy_server("b", "10", "x, targetPort: 1", ", protocol: UDP")),
              IsEmpty());
  for (const char* port : {"443", "6443"})
    EXPECT_THAT(
        test::errors(test::infra_text() + proxy_server("a", "9", std::string("192.0.2.4, targetPort: ") + port)), at);
  EXPECT_THAT(test::errors(test::infra_text() + proxy_server("a", "9", "192.0.2.4, targetPort: 9443")), IsEmpty());
  EXPECT_THAT(message(test::infra_text() + proxy_server("a", "9", "192.0.2.4, targetPort: 443")),
              HasSubstr("Infra hcp/yard (f.yaml:12)"));
}

// --- Infras and their clusters

/// "yard" on 192.0.2.0/24 and "field" on 198.51.100.0/24, with one cluster each; `of_field` are further lines of the
/// second one's attachment.
std::string two_networks(const std::string& of_field, const std::string& of_yard = "") {
  return test::infra_text() + test::attachment_text("blue", of_yard) + test::infra_text("field", "", "198.51.100.") +
         test::attachment_text("red", of_field, "field");
}
std::string with_pool(const std::string& range) {
  return "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: " + range + "}}\n";
}
std::string replaced(std::string text, const std::string& was, const std::string& is) {
  return text.replace(text.find(was), was.size(), is);
}

TEST(SetRules, PoolsOfOneInfraHoldNothingOfAnother) {
  const std::string overlap = "ranges-overlap /spec/appsIngress/metallb/ipAddressPoolRange";
  for (const char* range :
       {"192.0.2.1/32", "192.0.2.2-192.0.2.4", "192.0.2.149-192.0.2.150", "192.0.2.210-192.0.2.220", "192.0.2.0/24"})
    EXPECT_THAT(test::errors(two_networks(with_pool(range), with_pool("192.0.2.200-192.0.2.210"))),
                ElementsAre(overlap))
        << range;
  EXPECT_THAT(test::errors(two_networks(with_pool("192.0.2.211-192.0.2.220"), with_pool("192.0.2.200-192.0.2.210"))),
              IsEmpty())
      << "something may route to it";
  const std::string text = two_networks(with_pool("192.0.2.1-192.0.2.4"));
  EXPECT_THAT(message(text),
              HasSubstr("networkConfig.gateway 192.0.2.1, infraComponents.dhcp.serverIP 192.0.2.2, "
                        "infraComponents.dns.serverIP 192.0.2.3, infraComponents.proxy.serverIP 192.0.2.4 of Infra "
                        "hcp/yard (f.yaml:"));
  EXPECT_THAT(message(two_networks(with_pool("192.0.2.200/32"), with_pool("192.0.2.200/32"))),
              HasSubstr("the pool of attachment blue of Infra hcp/yard (f.yaml:"));
}

TEST(SetRules, DomainsOfOneInfraMeetNoneOfAnother) {
  const auto with_domain = [](const std::string& domain) {
    return replaced(two_networks(""), "clusterName: red, baseDomain: hc.example.com", domain);
  };
  for (const char* domain :
       {"clusterName: blue, baseDomain: hc.example.com", "clusterName: a, baseDomain: blue.hc.example.com",
        "clusterName: hc, baseDomain: example.com"})
    EXPECT_THAT(test::errors(with_domain(domain)), ElementsAre("domains-overlap /spec/dns")) << domain;
  EXPECT_THAT(test::errors(with_domain("clusterName: blue, baseDomain: hc.example.org")), IsEmpty());
  EXPECT_THAT(message(with_domain("clusterName: blue, baseDomain: hc.example.com")),
              HasSubstr("that of attachment blue of Infra hcp/yard (f.yaml:"));
}

TEST(SetRules, ALegacyInfraIsComparedWithTheClustersOfOthers) {
  const auto legacy = [](const std::string& name, const std::string& prefix, const std::string& domain,
                         const std::string& plane) {
    return replaced(replaced(test::infra_text(name, "", prefix), "3}\n", "3, " + domain + "}\n"), "4}\n",
                    "4, controlPlaneNamespace: " + plane + "}\n");
  };
  const std::string blue = legacy("field", "198.51.100.", "clusterName: blue, baseDomain: HC.example.com", "p");
  const std::string attached = test::infra_text() + test::attachment_text("blue");
  EXPECT_THAT(test::errors(attached + blue), ElementsAre("domains-overlap /spec/infraComponents/dns/clusterName"));
  EXPECT_THAT(test::errors(blue + attached), ElementsAre("domains-overlap /spec/dns"));
  const std::string other = "clusterName: red, baseDomain: example.org";
  EXPECT_THAT(test::errors(attached + legacy("field", "198.51.100.", other, "hcp-blue")),
              ElementsAre("duplicate-cluster /spec/infraComponents/proxy/controlPlaneNamespace"));
  EXPECT_THAT(test::errors(attached + legacy("field", "198.51.100.", other, "hcp-red")), IsEmpty());
  EXPECT_THAT(test::errors(legacy("yard", "192.0.2.", other, "a") + legacy("field", "198.51.100.", other, "b")),
              ElementsAre("domains-overlap /spec/infraComponents/dns/clusterName"));
}

TEST(SetRules, AHostedClusterHasOneInfra) {
  const std::string twice = replaced(two_networks(""), "hostedClusterRef: {name: red", "hostedClusterRef: {name: blue");
  EXPECT_THAT(test::errors(twice), ElementsAre("duplicate-cluster /spec/hostedClusterRef/name"));
  EXPECT_THAT(message(twice), HasSubstr("HostedCluster hcp/blue is attached by attachment blue of Infra hcp/yard"));
  EXPECT_THAT(test::errors(two_networks("  controlPlaneNamespace: hcp-blue\n")),
              ElementsAre("duplicate-cluster /spec/hostedClusterRef/name"));
}

TEST(SetRules, NetworksThatOverlapGiveNoAddressOutTwice) {
  // The second has other servers than the first, no DHCP, and the same gateway.
  const std::string other =
      replaced(replaced(replaced(test::infra_text("field"), "192.0.2.3", "192.0.2.13"), "192.0.2.4", "192.0.2.14"),
               "dhcp: {serverIP: 192.0.2.2, rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}", "dhcp: {enabled: false}");
  EXPECT_THAT(test::warnings(test::infra_text() + other), ElementsAre("networks-overlap /spec/networkConfig/cidr"));
  EXPECT_THAT(test::errors(test::infra_text() + replaced(other, "192.0.2.14", "192.0.2.110")),
              ElementsAre("address-in-range /spec/infraComponents/proxy/serverIP"));
  EXPECT_THAT(test::errors(replaced(other, "192.0.2.14", "192.0.2.110") + test::infra_text()),
              ElementsAre("ranges-overlap /spec/infraComponents/dhcp/rangeStart"));
  EXPECT_THAT(test::errors(test::infra_text() + replaced(other, "gateway: 192.0.2.1", "gateway: 192.0.2.4")),
              ElementsAre("addresses-collide /spec/networkConfig/gateway"));
}

}  // namespace
}  // namespace hcpnet::spec
