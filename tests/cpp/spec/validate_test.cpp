// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_text.hpp"
#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

ValidSet sample(const std::string& name) {
  return test::valid(test::read_file(test::data_path("samples/" + name)));
}

const std::string kPools = "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: ";

TEST(Validate, BuildsALegacyInfraWithItsOneCluster) {
  const ValidSet set = sample("accept-02-infra-full.yaml");
  const ValidInfra& infra = set.infras.at(0);
  EXPECT_EQ(infra.cidr.to_string(), "192.168.140.0/24");
  EXPECT_EQ(infra.gateway, Ipv4(192, 168, 140, 1));
  EXPECT_EQ(infra.dhcp->server_ip, Ipv4(192, 168, 140, 2));
  EXPECT_EQ(infra.dhcp->pool, (Ipv4Range{Ipv4(192, 168, 140, 50), Ipv4(192, 168, 140, 240)}));
  EXPECT_EQ(infra.dhcp->lease_time, std::chrono::hours(8));
  EXPECT_EQ(infra.dns->server_ip, Ipv4(192, 168, 140, 3));
  EXPECT_EQ(infra.proxy->internal_proxy_service, "maple-proxy.clusters.svc.cluster.local");
  ASSERT_EQ(infra.clusters.size(), 1u);
  EXPECT_EQ(infra.clusters[0].name, "maple");
  EXPECT_EQ(infra.clusters[0].hosted_cluster, "clusters/maple");
  EXPECT_EQ(infra.clusters[0].domain, "maple.lab.example.org");
  EXPECT_EQ(infra.clusters[0].control_plane_namespace, "clusters-maple");
  EXPECT_EQ(std::get<Endpoint>(infra.dns_servers[1]), (Endpoint{Ipv4(203, 0, 113, 53), 53}));
}

TEST(Validate, BuildsTheClustersOfAnInfraInTheOrderOfTheirNames) {
  const ValidSet set = sample("accept-30-many-clusters.yaml");
  const ValidInfra& infra = set.infras.at(0);
  ASSERT_GE(infra.clusters.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(infra.clusters, {}, &ValidCluster::name));
  EXPECT_EQ(infra.clusters[0].name, "ash");
  EXPECT_EQ(infra.clusters[0].hosted_cluster, "hcp/ash");
  EXPECT_EQ(infra.clusters[0].domain, "ash.hc.example.org");
  EXPECT_EQ(infra.clusters[0].apps_pool, (Ipv4Range{Ipv4(198, 51, 100, 150), Ipv4(198, 51, 100, 159)}));
  EXPECT_EQ(infra.clusters[0].apps_vip, std::nullopt);
  EXPECT_EQ(std::get<ResolverWord>(infra.dns_servers.at(0)), ResolverWord::resolv_conf);
}

TEST(Validate, BuildsSingleServers) {
  const ValidSet dns = test::valid(test::read_file(test::data_path("samples/accept-33-resolver-words.yaml")));
  EXPECT_EQ(dns.dns_servers.at(0).server_ip, Ipv4(198, 51, 100, 3));
  EXPECT_EQ(dns.dns_servers.at(0).secondary_network->to_string(), "198.51.100.0/24");
  EXPECT_EQ(std::get<ResolverWord>(dns.dns_servers.at(0).upstreams.at(1)), ResolverWord::node);
  EXPECT_EQ(dns.dns_servers.at(0).cache_ttl, std::chrono::seconds(30));

  const ValidSet proxy = sample("accept-25-wildcards-and-case.yaml");
  const ValidProxyBackend& apps = proxy.proxy_servers.at(0).backends.at(0);
  EXPECT_THAT(apps.hostnames,
              ElementsAre("apps.myrtle.example.com", "*.apps.myrtle.example.com", "*.dev.apps.myrtle.example.com"));
  EXPECT_EQ(apps.port, 443);
  EXPECT_EQ(apps.connect_timeout, std::chrono::seconds(30));

  const ValidSet dhcp = sample("accept-23-lease-times.yaml");
  std::vector<long> leases;
  for (const ValidDhcpServer& server : dhcp.dhcp_servers) leases.push_back(server.dhcp.lease_time.count());
  EXPECT_THAT(leases, ElementsAre(90, 2700, 604800, 5400, 3600, 5400, 60, 3600));
}

TEST(Validate, BuildsPolicies) {
  const ValidSet set = test::valid(test::read_file(test::data_path("spec/policies.yaml")));
  const ValidInfra& infra = set.infras.at(0);
  EXPECT_FALSE(infra.dhcp_policy.authoritative);
  EXPECT_EQ(infra.dhcp_policy.options.at(0).code, 42);
  ASSERT_EQ(infra.dhcp_policy.reservations.size(), 2u);
  EXPECT_EQ(infra.dhcp_policy.reservations[0].mac.value().to_string(), "02:00:00:00:00:0a");
  EXPECT_EQ(infra.dhcp_policy.reservations[0].address, Ipv4(192, 0, 2, 110));
  EXPECT_EQ(infra.dhcp_policy.reservations[0].host_name, "worker-a");
  EXPECT_EQ(infra.dns_policy.record_ttl, std::chrono::seconds(300));
  EXPECT_EQ(infra.dns_policy.entries.at(0).hostname, "*.mirror.example.com");
  EXPECT_EQ(infra.dns_policy.views.at(0).clients.at(1).to_string(), "2001:db8:7::/48");
  EXPECT_EQ(infra.dns_policy.views.at(0).proxy_address, Ipv4(198, 51, 100, 4));
  EXPECT_EQ(infra.proxy_policy.connect_timeout, std::chrono::seconds(3));
  EXPECT_EQ(infra.proxy_policy.idle_timeout, std::chrono::hours(2));
  EXPECT_EQ(infra.proxy_policy.max_connections, 500u);
  EXPECT_TRUE(infra.proxy_policy.publish_api_on_443);
}

TEST(Validate, ChecksObjectsMadeInMemory) {
  SpecSet set;
  Infra infra;
  infra.metadata.name = "Bad";
  infra.network.cidr = "192.0.2.0/24";
  infra.network.gateway = "192.0.2.300";
  infra.network.network_attachment_definition = "vlan7";
  infra.proxy.emplace();
  set.infras.push_back({infra, {}});
  const auto result = validate(set);
  ASSERT_FALSE(result.has_value());
  std::vector<std::string> found;
  for (const Diagnostic& d : result.error()) found.push_back(d.code + ' ' + d.path);
  EXPECT_THAT(found, UnorderedElementsAre("bad-name /metadata/name", "bad-address /spec/networkConfig/gateway",
                                          "missing-field /spec/infraComponents/proxy/serverIP"));

  set.infras[0].value.metadata.name = "good";
  set.infras[0].value.network.gateway = "192.0.2.1";
  set.infras[0].value.proxy->server_ip = "192.0.2.4";
  EXPECT_TRUE(validate(set).has_value());
}

TEST(Validate, TakesSeveralFilesForOneSet) {
  const std::string other = test::infra_text();
  EXPECT_THAT(test::findings({{"a.yaml", test::infra_text()}, {"b.yaml", test::attachment_text("blue")}}), IsEmpty());
  EXPECT_THAT(test::findings({{"a.yaml", test::infra_text()}, {"b.yaml", "\n" + other}}),
              testing::Contains("4:18 duplicate-object /metadata/name"));
  // Reported at the later file even where its line is smaller.
  const auto result = check({{"a.yaml", test::infra_text() + test::attachment_text("blue")},
                             {"b.yaml", test::attachment_text("red", kPools + "192.0.2.149/32}}\n")}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().items().at(0).file, "b.yaml");
  EXPECT_EQ(result.error().items().at(0).code, "ranges-overlap");
}

TEST(Validate, MakesUpControlPlaneNamespacesAsHyperShiftDoes) {
  const std::string dotted = "  controlPlaneNamespace:\n";
  std::string text = test::infra_text() + test::attachment_text("blue", dotted);
  EXPECT_THAT(test::warnings(text), IsEmpty());
  EXPECT_EQ(test::valid(text).infras.at(0).clusters.at(0).control_plane_namespace, "hcp-blue");

  text.replace(text.find("hostedClusterRef: {name: blue"), 29, "hostedClusterRef: {name: blue.one");
  EXPECT_THAT(test::warnings(text), ElementsAre("other-namespace /spec/hostedClusterRef/name"));
  EXPECT_EQ(test::valid(text).infras.at(0).clusters.at(0).control_plane_namespace, "hcp-blue-one");

  text.replace(text.find("{name: blue.one, namespace: hcp}"), 32, "{name: blue}");
  EXPECT_EQ(test::valid(text).infras.at(0).clusters.at(0).control_plane_namespace, "clusters-blue");
}

TEST(Validate, WarnsOfTheGuessAndOfDroppedFieldsInALegacyInfra) {
  std::string text = test::infra_text();
  text.replace(text.find("dns: {serverIP: 192.0.2.3}"), 26,
               "dns: {serverIP: 192.0.2.3, clusterName: blue, baseDomain: hc.example.com}");
  EXPECT_THAT(test::warnings(text), UnorderedElementsAre("dropped-field /spec/infraComponents/dns/baseDomain",
                                                         "dropped-field /spec/infraComponents/dns/clusterName",
                                                         "guessed-namespace /spec/infraComponents/dns/clusterName"));
  EXPECT_EQ(test::valid(text).infras.at(0).clusters.at(0).control_plane_namespace, "hcp-blue");
  text.replace(text.find("proxy: {serverIP: 192.0.2.4}"), 28,
               "proxy: {serverIP: 192.0.2.4, controlPlaneNamespace: hcp-b, apiServerService: kas}");
  EXPECT_THAT(test::warnings(text),
              UnorderedElementsAre("dropped-field /spec/infraComponents/dns/baseDomain",
                                   "dropped-field /spec/infraComponents/dns/clusterName",
                                   "dropped-field /spec/infraComponents/proxy/controlPlaneNamespace",
                                   "dropped-field /spec/infraComponents/proxy/apiServerService"));
  EXPECT_EQ(test::valid(text).infras.at(0).clusters.at(0).control_plane_namespace, "hcp-b");
}

TEST(Validate, RefusesDomainsThatEqualOrNest) {
  const auto with_domain = [](const std::string& name, const std::string& cluster, const std::string& base) {
    std::string text = test::attachment_text(name);
    const std::string old = "dns: {clusterName: " + name + ", baseDomain: hc.example.com}";
    return text.replace(text.find(old), old.size(), "dns: {clusterName: " + cluster + ", baseDomain: " + base + "}");
  };
  const auto pair = [&](const std::string& c1, const std::string& b1, const std::string& c2, const std::string& b2) {
    return test::errors(test::infra_text() + with_domain("one", c1, b1) + with_domain("two", c2, b2));
  };
  EXPECT_THAT(pair("a", "example.com", "a", "example.com"), ElementsAre("domains-overlap /spec/dns"));
  EXPECT_THAT(pair("a", "example.com", "b", "a.example.com"), ElementsAre("domains-overlap /spec/dns"));
  EXPECT_THAT(pair("b", "a.example.com", "a", "example.com"), ElementsAre("domains-overlap /spec/dns"));
  EXPECT_THAT(pair("a", "example.com", "b-a", "example.com"), IsEmpty());
  EXPECT_THAT(pair("a", "example.com", "b", "example.com"), IsEmpty());
}

TEST(Validate, ComparesPoolsWithEverythingElseThatIsGivenOut) {
  const auto pool = [](const std::string& range) {
    return test::errors(test::infra_text() + test::attachment_text("blue", kPools + range + "}}\n"));
  };
  const std::string overlap = "ranges-overlap /spec/appsIngress/metallb/ipAddressPoolRange";
  EXPECT_THAT(pool("192.0.2.149-192.0.2.150"), ElementsAre(overlap));
  EXPECT_THAT(pool("192.0.2.4/32"), ElementsAre(overlap));
  EXPECT_THAT(pool("192.0.2.0/31"), ElementsAre(overlap));
  EXPECT_THAT(pool("192.0.2.150-192.0.2.160"), IsEmpty());
  EXPECT_THAT(pool("2001:db8::1-2001:db8::9"), ElementsAre("bad-range /spec/appsIngress/metallb/ipAddressPoolRange"));
  // An Infra that stands behind its attachment is compared all the same.
  EXPECT_THAT(test::errors(test::attachment_text("blue", kPools + "192.0.2.120/32}}\n") + test::infra_text()),
              ElementsAre(overlap));
  // What is switched off takes no part.
  EXPECT_THAT(
      test::errors(test::infra_text() +
                   test::attachment_text("blue", "  appsIngress: {metallb: {ipAddressPoolRange: 192.0.2.149/32}}\n")),
      IsEmpty());
}

TEST(Validate, ComparesAStaticVipLikeAPool) {
  const auto vip = [](const std::string& address, const std::string& of_attachment = {}) {
    return test::errors(test::infra_text() + test::attachment_text("blue", of_attachment) +
                        test::apps_policy_text("blue", address));
  };
  const std::string field = " /spec/staticVIP";
  EXPECT_THAT(vip("192.0.2.200"), IsEmpty());
  EXPECT_THAT(vip("192.0.2.200", "  appsIngress: {enabled: false, service: {name: apps}}\n"), IsEmpty());
  EXPECT_THAT(vip("192.0.2.4"), ElementsAre("ranges-overlap" + field));
  EXPECT_THAT(vip("192.0.2.120"), ElementsAre("ranges-overlap" + field)) << "in the DHCP range";
  EXPECT_THAT(vip("192.0.2.0"), ElementsAre("address-reserved" + field));
  EXPECT_THAT(vip("192.0.2.200/24"), ElementsAre("bad-address" + field));
  EXPECT_THAT(vip("192.0.2.200", kPools + "192.0.2.210-192.0.2.214}}\n"), ElementsAre("bad-combination" + field));
  EXPECT_THAT(test::warnings(test::infra_text() + test::attachment_text("blue") +
                             test::apps_policy_text("blue", "198.51.100.7")),
              ElementsAre("pool-outside-cidr" + field));

  const std::string blue = test::attachment_text("blue") + test::apps_policy_text("blue", "192.0.2.200");
  const std::string red = test::attachment_text("red") + test::apps_policy_text("red", "192.0.2.200");
  EXPECT_THAT(test::errors(test::infra_text() + blue + red), ElementsAre("ranges-overlap" + field));
  EXPECT_THAT(
      test::errors(test::infra_text() + blue + test::attachment_text("red", kPools + "192.0.2.200-192.0.2.204}}\n")),
      ElementsAre("ranges-overlap /spec/appsIngress/metallb/ipAddressPoolRange"));
  EXPECT_THAT(test::errors(test::infra_text() + blue + test::infra_text("barn", "", "198.51.100.") +
                           test::attachment_text("red", "", "barn") + test::apps_policy_text("red", "192.0.2.200")),
              ElementsAre("ranges-overlap" + field))
      << "of another Infra";
}

TEST(Validate, HoldsTheRulesOfTheStructuredNetwork) {
  const auto network = [](const std::string& fields) { return test::errors(test::infra_text("yard", fields)); };
  const std::string nad = "attachment: {kind: NetworkAttachmentDefinition, name: v}\n    ";
  const std::string cudn = "attachment: {kind: ClusterUserDefinedNetwork, name: v, namespace: hcp}\n    ";
  const std::string at = " /spec/networkConfig/";
  EXPECT_THAT(network(nad + "ipam: DHCP"), IsEmpty());
  EXPECT_THAT(network(cudn + "role: Secondary\n    topology: Localnet\n    ipam: DHCP"), IsEmpty());
  EXPECT_THAT(network("topology: Localnet"), ElementsAre("missing-field" + at + "attachment"));
  EXPECT_THAT(network("networkAttachmentNamespace: hcp"),
              ElementsAre("missing-field" + at + "networkAttachmentDefinition"));
  EXPECT_THAT(network("role: Secondary\n    networkAttachmentNamespace: hcp"),
              ElementsAre("mixed-forms" + at + "networkAttachmentNamespace"));
  EXPECT_THAT(network("attachment: {kind: ClusterUserDefinedNetwork, name: v}"),
              ElementsAre("missing-field" + at + "attachment/namespace"));
  EXPECT_THAT(network(nad + "topology: Layer3"), ElementsAre("bad-combination" + at + "topology"));
  EXPECT_THAT(network(nad + "role: Primary"), ElementsAre("bad-combination" + at + "role"));
  EXPECT_THAT(network(nad + "ipam: OVNKubernetes"), testing::Contains("bad-combination" + at + "ipam"));
  EXPECT_THAT(network(nad + "ipam: External"), ElementsAre("bad-combination" + at + "ipam"));  // DHCP is enabled
  EXPECT_THAT(network(nad + "topology: Localnet\n    exposure: BGP"), ElementsAre("bad-combination" + at + "exposure"));
  EXPECT_THAT(network(nad + "topology: Localnet\n    routeAdvertisementsRef: {name: r}"),
              ElementsAre("bad-combination" + at + "routeAdvertisementsRef"));
  EXPECT_THAT(network(cudn + "role: Secondary\n    topology: Layer2"),
              ElementsAre("bad-combination" + at + "topology"));
  // A value that is wrong takes no part: y is no string to every reader, and nobody knows what "false" was to mean.
  EXPECT_THAT(network("attachment: {kind: ClusterUserDefinedNetwork, name: v, namespace: y}"),
              ElementsAre("wrong-type" + at + "attachment/namespace"));
  std::string quoted = test::infra_text("yard", cudn + "ipam: OVNKubernetes");
  quoted.replace(quoted.find("dhcp: {"), 7, "dhcp: {enabled: \"false\", ");
  EXPECT_THAT(test::errors(quoted), ElementsAre("wrong-type /spec/infraComponents/dhcp/enabled"));
}

TEST(Validate, SettlesInfrasThatMeet) {
  // One range on two networks may be right; one server address in one process never is.
  std::string elsewhere = test::infra_text("field");
  for (const char* address : {"serverIP: 192.0.2.2", "serverIP: 192.0.2.3", "serverIP: 192.0.2.4"}) {
    const std::size_t at = elsewhere.find(address);
    elsewhere.replace(at + std::string(address).size() - 1, 1,
                      std::string("1") + elsewhere[at + std::string(address).size() - 1]);
  }
  EXPECT_THAT(test::errors(test::infra_text() + elsewhere), ElementsAre("networks-overlap /spec/networkConfig/cidr"))
      << "leases are kept by network";
  elsewhere.replace(elsewhere.find("192.0.2.0/24"), 12, "192.0.2.0/23");
  EXPECT_THAT(test::errors(test::infra_text() + elsewhere),
              ElementsAre("ranges-overlap /spec/infraComponents/dhcp/rangeStart"));
  for (const char* end : {"192.0.2.100", "192.0.2.149"}) elsewhere[elsewhere.find(end) + 6] = '3';
  EXPECT_THAT(test::warnings(test::infra_text() + elsewhere), ElementsAre("networks-overlap /spec/networkConfig/cidr"));
  EXPECT_THAT(
      test::errors(test::infra_text() + test::infra_text("field")),
      ElementsAre("networks-overlap /spec/networkConfig/cidr", "addresses-collide /spec/infraComponents/dhcp/serverIP",
                  "addresses-collide /spec/infraComponents/dns/serverIP",
                  "addresses-collide /spec/infraComponents/proxy/serverIP"));
  EXPECT_THAT(test::warnings(test::infra_text() + test::infra_text("field", "", "198.51.100.")), IsEmpty());
}

// --- what the samples leave open
// ----------------------------------------------------------------------------------------------

TEST(Decision, AnInfraWithoutComponentsIsWarnedOf) {
  EXPECT_THAT(
      test::warnings(std::string(test::kOooi) + "kind: Infra\nmetadata: {name: a}\nspec: {networkConfig: {cidr: "
                                                "192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: v}}\n"),
      ElementsAre("no-component /metadata/name"));
}

TEST(Decision, AMergeKeyGivesWayWhereverItStands) {
  const std::string text =
      std::string(test::kOooi) +
      "kind: DNSServer\nmetadata: {name: a}\nspec:\n  hostedClusterDomain: a.example.com\n  staticEntries:\n  - &e "
      "{hostname: x.example.com, ip: 192.0.2.9}\n"
      "  - {hostname: y.example.com, <<: *e}\n  networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4}\n";
  EXPECT_EQ(test::valid(text).dns_servers.at(0).entries.at(1).hostname, "y.example.com");
}

TEST(Decision, HostNamesAreAsciiAndAWildcardHasADomain) {
  const auto name = [](const std::string& hostname) {
    return test::errors(std::string(test::kOooi) +
                        "kind: DNSServer\nmetadata: {name: a}\nspec:\n  hostedClusterDomain: a.example.com\n  "
                        "staticEntries: [{hostname: \"" +
                        hostname + "\", ip: 192.0.2.9}]\n  networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4}\n");
  };
  EXPECT_THAT(name("*"), ElementsAre("bad-hostname /spec/staticEntries/0/hostname"));
  EXPECT_THAT(name("b\xC3\xBC"
                   "cher.example.com"),
              ElementsAre("bad-hostname /spec/staticEntries/0/hostname"));
  EXPECT_THAT(name("xn--bcher-kva.example.com"), IsEmpty());
  EXPECT_THAT(name("kube-apiserver.hcp-blue.svc"), IsEmpty());  // a Service name is a host name like any other
}

TEST(Decision, ObjectNamesMayHaveDotsAndBeginWithADigit) {
  EXPECT_THAT(test::errors(test::infra_text("1.yard")), IsEmpty());
}

TEST(Decision, AnEmptyStringIsAValueAndNotAnAbsence) {
  std::string text = test::infra_text();
  text.replace(text.find("serverIP: 192.0.2.4"), 19, "serverIP: \"\"");
  EXPECT_THAT(test::errors(text), ElementsAre("bad-address /spec/infraComponents/proxy/serverIP"));
  text = test::infra_text();
  text.replace(text.find("serverIP: 192.0.2.4"), 19, "serverIP: 192.0.2.4, proxyImage: \"\"");
  EXPECT_THAT(test::errors(text), ElementsAre("bad-name /spec/infraComponents/proxy/proxyImage"));
}

TEST(Decision, AnAddressIsOneThatAHostCanHave) {
  const auto with = [](const std::string& was, const std::string& is) {
    std::string text = test::infra_text();
    text.replace(text.find(was), was.size(), is);
    return test::errors(text);
  };
  for (const char* address : {"0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "255.255.255.255"}) {
    EXPECT_THAT(with("gateway: 192.0.2.1", std::string("gateway: ") + address),
                ElementsAre("bad-address /spec/networkConfig/gateway"));
    EXPECT_THAT(with("serverIP: 192.0.2.4", std::string("serverIP: ") + address),
                ElementsAre("bad-address /spec/infraComponents/proxy/serverIP"));
    EXPECT_THAT(with("serverIP: 192.0.2.4", std::string("serverIP: 192.0.2.4, internalProxyService: ") + address),
                ElementsAre("bad-address /spec/infraComponents/proxy/internalProxyService"));
    EXPECT_THAT(with("gateway: 192.0.2.1", std::string("gateway: 192.0.2.1\n    dnsServers: [") + address + "]"),
                ElementsAre("bad-address /spec/networkConfig/dnsServers/0"));
    EXPECT_THAT(test::errors(std::string(test::kOooi) +
                             "kind: ProxyServer\nmetadata: {name: a}\nspec: {networkConfig: {serverIP: " + address +
                             "/24}, backends: [{name: a, hostname: a.b, port: 443, targetService: " + address +
                             ", targetPort: 1, targetNamespace: ns}]}\n"),
                ElementsAre("bad-address /spec/networkConfig/serverIP", "bad-address /spec/backends/0/targetService"));
  }
  for (const char* network : {"0.0.0.0/8", "224.0.0.0/4", "230.1.2.0/24", "255.255.255.255/32"})
    EXPECT_THAT(with("cidr: 192.0.2.0/24", std::string("cidr: ") + network),
                ElementsAre("bad-address /spec/networkConfig/cidr"));
  for (const char* network : {"0.0.0.0/0", "192.0.0.0/3"})
    EXPECT_THAT(with("cidr: 192.0.2.0/24", std::string("cidr: ") + network), IsEmpty());
  EXPECT_THAT(test::errors(test::infra_text() +
                           test::attachment_text("blue",
                                                 "  appsIngress: {enabled: true, metallb: {addressPoolName: p, "
                                                 "ipAddressPoolRange: 224.0.0.0/28}}\n")),
              ElementsAre("bad-address /spec/appsIngress/metallb/ipAddressPoolRange"));
}

TEST(Decision, AnInfrasServerAddressHasNoPrefixLength) {
  std::string text = test::infra_text();
  text.replace(text.find("serverIP: 192.0.2.4"), 19, "serverIP: 192.0.2.4/24");
  EXPECT_THAT(test::errors(text), ElementsAre("bad-address /spec/infraComponents/proxy/serverIP"));
}

TEST(Decision, TheWrittenPortOfAProxyServerIsThatOfABackend) {
  const auto with = [](const std::string& port) {
    return test::warnings(std::string(test::kOooi) +
                          "kind: ProxyServer\nmetadata: {name: a}\nspec: {networkConfig: {serverIP: 192.0.2.4}, " +
                          port +
                          "backends: [{name: a, hostname: a.example.com, port: 6443, targetService: svc, targetPort: "
                          "6443, targetNamespace: ns}]}\n");
  };
  EXPECT_THAT(with(""), IsEmpty()) << "443 is nobody's word then";
  EXPECT_THAT(with("port: 6443, "), IsEmpty());
  EXPECT_THAT(with("port: 443, "), ElementsAre("unused-port /spec/port"));
}

TEST(Decision, AServersAddressIsAHostOfTheNetworkThatItsLengthMakes) {
  const auto dns = [](const std::string& address) {
    return std::string(test::kOooi) +
           "kind: DNSServer\nmetadata: {name: a}\nspec: {networkConfig: {serverIP: " + address +
           ", proxyIP: 198.51.100.4}, hostedClusterDomain: a.example.com}\n";
  };
  const auto proxy = [](const std::string& address) {
    return std::string(test::kOooi) +
           "kind: ProxyServer\nmetadata: {name: a}\nspec: {networkConfig: {serverIP: " + address +
           "}, backends: [{name: a, hostname: a.example.com, port: 443, targetService: svc, targetPort: 443, "
           "targetNamespace: ns}]}\n";
  };
  const std::string at = " /spec/networkConfig/serverIP";
  for (const char* good :
       {"192.0.2.4", "192.0.2.0", "192.0.2.4/24", "192.0.3.0/23", "192.0.2.4/31", "192.0.2.4/32", "192.0.2.4/1"}) {
    EXPECT_THAT(test::errors(dns(good)), IsEmpty()) << good;
    EXPECT_THAT(test::errors(proxy(good)), IsEmpty()) << good;
  }
  for (const char* reserved : {"192.0.2.0/24", "192.0.2.255/24", "192.0.2.7/29", "128.0.0.0/1"}) {
    EXPECT_THAT(test::errors(dns(reserved)), ElementsAre("address-reserved" + at)) << reserved;
    EXPECT_THAT(test::errors(proxy(reserved)), ElementsAre("address-reserved" + at)) << reserved;
  }
  for (const char* length : {"/0", "/33", "/99", "/024", "/"}) {
    const auto result = check({{"f.yaml", proxy(std::string("192.0.2.4") + length)}});
    ASSERT_TRUE(result.has_error()) << length;
    ASSERT_EQ(result.error().error_count(), 1u) << result.error().to_string();
    EXPECT_EQ(result.error().items().front().code, "bad-address") << length;
    EXPECT_THAT(result.error().items().front().message, testing::HasSubstr("the prefix length")) << length;
  }
}

TEST(Decision, ADurationThatIsTooLongIsToldTheLimit) {
  const auto found = [](const std::string& field) {
    return check({{"f.yaml", std::string(test::kOooi) +
                                 "kind: DNSServer\nmetadata: {name: a}\nspec: {networkConfig: {serverIP: 192.0.2.3, "
                                 "proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com, " +
                                 field + "}\n"}});
  };
  for (const char* good : {"cacheTTL: 0s", "cacheTTL: 4294967294s", "cacheTTL: 1193046h", "reloadInterval: 71582788m"})
    EXPECT_TRUE(found(good).has_value()) << good;
  for (const char* bad : {"cacheTTL: 4294967295s", "cacheTTL: 9999999h", "reloadInterval: 71582789m",
                          "cacheTTL: 99999999999999999999s"}) {
    const auto result = found(bad);
    ASSERT_TRUE(result.has_error()) << bad;
    EXPECT_THAT(result.error().items().front().message, testing::HasSubstr("at most 4294967294 seconds")) << bad;
  }
  EXPECT_THAT(found("cacheTTL: 1m30s").error().items().front().message, testing::HasSubstr("one unit of s, m, h"));
}

TEST(Decision, AnOptionValueThatDoesNotFitItsCodeIsAnErrorAtItsLine) {
  const auto result = check({{"s.yaml", R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DHCPServer
metadata: {name: s}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, serverIP: 192.0.2.2}
  leaseConfig: {rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}
  options:
  - {code: 26, value: many}
  - {code: 54, value: 192.0.2.3}
  - {code: 15, value: example.com}
  - {code: 15, value: example.org}
)"}});
  ASSERT_TRUE(result.has_error());
  const Diagnostics& problems = result.error();
  ASSERT_EQ(problems.items().size(), 3u) << problems.to_string();
  EXPECT_EQ(problems.items()[0].to_string(),
            "s.yaml:8:23: error: /spec/options/0/value: option 26 does not take this value (found \"many\"; expected a "
            "number from 68 to 65535) [bad-option-value]");
  EXPECT_EQ(problems.items()[1].path, "/spec/options/1/code");
  EXPECT_EQ(problems.items()[1].line, 9u);
  EXPECT_EQ(problems.items()[2].code, "duplicate-name");
  EXPECT_EQ(problems.items()[2].line, 11u);
}

TEST(Decision, Utf16IsNoUtf8InAnyByteOrder) {
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF", ""})
    for (const bool is_little : {true, false}) {
      std::string text = mark;
      for (const char c : std::string("kind: Infra\n")) text += is_little ? std::string{c, '\0'} : std::string{'\0', c};
      const Diagnostics problems = spec::check({{"s.yaml", text}}).error();
      ASSERT_FALSE(problems.empty());
      EXPECT_EQ(problems.begin()->to_string(), "s.yaml:1:1: error: this is UTF-16, and UTF-8 is needed [bad-encoding]");
    }
}

TEST(Decision, Utf16IsNoUtf8) {
  EXPECT_THAT(test::errors(std::string("\xFF\xFE"
                                       "a\0:\0",
                                       6)),
              ElementsAre("bad-encoding "));
}

TEST(Decision, APoolOutsideTheNetworkIsWarnedOf) {
  EXPECT_THAT(test::warnings(test::infra_text() + test::attachment_text("blue", kPools + "203.0.113.0/28}}\n")),
              ElementsAre("pool-outside-cidr /spec/appsIngress/metallb/ipAddressPoolRange"));
}

TEST(Decision, AnAttachmentOfAnInfraElsewhereIsWarnedOf) {
  EXPECT_THAT(test::warnings(test::attachment_text("blue")), ElementsAre("bad-reference /spec/infraRef/name"));
  // Unless a file could not be read, which may hold it.
  const auto result = check({{"a.yaml", "a: 'b"}, {"b.yaml", test::attachment_text("blue")}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().warning_count(), 0u);
  // Nor when the Infra is there and its name cannot be read.
  const auto nameless = check({{"f.yaml", test::infra_text("[yard]") + test::attachment_text("blue")}});
  ASSERT_FALSE(nameless.has_value());
  EXPECT_EQ(nameless.error().warning_count(), 0u) << nameless.error().to_string();
}

TEST(Decision, AHostedClusterIsAttachedOnce) {
  std::string second = test::attachment_text("red");
  second.replace(second.find("hostedClusterRef: {name: red"), 28, "hostedClusterRef: {name: blue");
  EXPECT_THAT(test::errors(test::infra_text() + test::attachment_text("blue") + second),
              ElementsAre("duplicate-cluster /spec/hostedClusterRef/name"));
  // Nor to two of them.
  second.replace(second.find("infraRef: {name: yard}"), 22, "infraRef: {name: field}");
  EXPECT_THAT(test::errors(test::infra_text() + test::infra_text("field", "", "198.51.100.") +
                           test::attachment_text("blue") + second),
              ElementsAre("duplicate-cluster /spec/hostedClusterRef/name"));
  // a.b and a-b have one control plane.
  std::string dotted = test::attachment_text("red");
  dotted.replace(dotted.find("hostedClusterRef: {name: red"), 28, "hostedClusterRef: {name: a.b");
  std::string dashed = test::attachment_text("blue");
  dashed.replace(dashed.find("hostedClusterRef: {name: blue"), 29, "hostedClusterRef: {name: a-b");
  EXPECT_THAT(test::errors(test::infra_text() + dotted + dashed),
              ElementsAre("duplicate-cluster /spec/hostedClusterRef/name"));
}

TEST(Decision, NamesThatHyperShiftCouldNotUseAreRefused) {
  std::string text = test::attachment_text("blue");
  text.replace(text.find("hostedClusterRef: {name: blue"), 29, "hostedClusterRef: {name: " + std::string(62, 'a'));
  EXPECT_THAT(test::errors(test::infra_text() + text), ElementsAre("bad-name /spec/hostedClusterRef/name"));
  text = test::attachment_text("blue");
  const std::string label(60, 'a');
  text.replace(text.find("hc.example.com"), 14, label + '.' + label + '.' + label + '.' + std::string(55, 'b'));
  EXPECT_THAT(test::errors(test::infra_text() + text), ElementsAre("bad-hostname /spec/dns/baseDomain"));
}

}  // namespace
}  // namespace hcpnet::spec
