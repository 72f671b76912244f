// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/spec/claim.hpp>
#include <hcpnet/spec/observed.hpp>

#include "spec/spec_text.hpp"
#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Reading {
  Observed observed;
  Diagnostics warnings;
};
Reading read(const std::string& objects, const std::string& endpoints = "{}\n") {
  Reading reading;
  auto result = load_observed({{"o.yaml", objects}}, {{"e.yaml", endpoints}}, reading.warnings);
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  if (result.has_value()) reading.observed = *std::move(result);
  return reading;
}
Reading read_sample() {
  return read(test::read_file(test::data_path("spec/observed.yaml")));
}

std::vector<std::string> texts(const std::vector<Endpoint>& endpoints) {
  std::vector<std::string> list;
  for (const Endpoint& endpoint : endpoints) list.push_back(endpoint.to_string());
  return list;
}
MacAddress mac(std::uint8_t last) {
  return MacAddress({2, 0, 0, 0, 0, last});
}

TEST(Observed, JoinsSlicesOfBothFamiliesByTheNameOfThePort) {
  const Observed observed = read_sample().observed;
  EXPECT_THAT(texts(observed.endpoints.at("hcp-blue/kube-apiserver:6443")),
              ElementsAre("10.128.0.11:7443", "10.128.0.12:7443", "[fd01::12]:7443"));
  EXPECT_THAT(texts(observed.endpoints.at("hcp-blue/kube-apiserver:9100")),
              ElementsAre("10.128.0.11:9101", "10.128.0.12:9101"));
  EXPECT_THAT(texts(observed.endpoints.at("hcp-blue/headless:80")), ElementsAre("10.128.0.20:8080"));
  EXPECT_FALSE(observed.endpoints.contains("hcp-red/unseen:8091")) << "nothing was ready then; the name is resolved";
  EXPECT_EQ(observed.endpoints.size(), 3u);
}

TEST(Observed, KnowsClusterAddressesButNotOfHeadlessServices) {
  EXPECT_THAT(read_sample().observed.service_addresses,
              ElementsAre(Pair("hcp-blue/kube-apiserver", Ipv4(172, 30, 0, 10))));
}

TEST(Observed, KnowsWhereAServiceIsReached) {
  const Observed observed = read(R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: inner, namespace: p}, spec: {clusterIP: 172.30.0.7, clusterIPs: [172.30.0.7, "fd02::7"]}}
- {apiVersion: v1, kind: Service, metadata: {name: six, namespace: p}, spec: {clusterIP: "fd02::8"}}
- {apiVersion: v1, kind: Service, metadata: {name: lb, namespace: p}, spec: {clusterIP: 172.30.0.9}, status: {loadBalancer: {ingress: [{hostname: a.example.com}, {ip: 198.51.100.9}]}}}
- {apiVersion: v1, kind: Service, metadata: {name: named, namespace: p}, spec: {clusterIP: 172.30.0.11}, status: {loadBalancer: {ingress: [{hostname: a.example.com}]}}}
- {apiVersion: v1, kind: Service, metadata: {name: headless, namespace: p}, spec: {clusterIP: None}}
- {apiVersion: v1, kind: Service, metadata: {name: external, namespace: p}, spec: {type: ExternalName, externalName: a.example.com}}
- {apiVersion: v1, kind: Service, metadata: {name: sliced, namespace: p}, spec: {clusterIP: 172.30.0.12, ports: [{port: 443}, {name: b, port: 80}]}}
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: sliced-x, namespace: p, labels: {kubernetes.io/service-name: sliced}}
  addressType: IPv4
  ports: [{port: 8443}]
  endpoints: [{addresses: [10.128.0.9]}]
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: inner-x, namespace: p, labels: {kubernetes.io/service-name: inner}}
  addressType: IPv4
  ports: [{port: 443}]
  endpoints: [{addresses: [10.128.0.10], conditions: {ready: false}}]
)",
                                 "p/lb:443: []\n")
                                .observed;
  const auto of = [&](const std::string& service, std::uint16_t port) {
    const auto known = observed.endpoints_of("p/" + service, port);
    return known ? texts(*known) : std::vector<std::string>{"by name"};
  };
  EXPECT_THAT(of("inner", 443), ElementsAre("172.30.0.7:443")) << "nothing of its slice is ready";
  EXPECT_THAT(of("six", 443), ElementsAre("[fd02::8]:443"));
  EXPECT_THAT(of("lb", 6443), ElementsAre("198.51.100.9:6443"));
  EXPECT_THAT(of("lb", 443), IsEmpty()) << "an endpoint map goes before all else";
  EXPECT_THAT(of("named", 443), ElementsAre("172.30.0.11:443"));
  for (const char* service : {"headless", "external", "unseen"})
    EXPECT_THAT(of(service, 443), ElementsAre("by name")) << service;
  EXPECT_THAT(of("sliced", 443), ElementsAre("10.128.0.9:8443"));
  EXPECT_THAT(of("sliced", 80), ElementsAre("172.30.0.12:80"));
}

TEST(Observed, LetsTheOlderOneHaveAMacOrAnAddress) {
  const Reading reading = read_sample();
  EXPECT_THAT(reading.observed.mac_namespaces, UnorderedElementsAre(Pair(mac(1), "hcp-blue"), Pair(mac(2), "hcp-red")));
  EXPECT_THAT(reading.observed.host_names, UnorderedElementsAre(Pair(mac(1), "blue-1"), Pair(mac(2), "red-1")));
  EXPECT_THAT(reading.observed.namespace_workers.at("hcp-blue"),
              ElementsAre(IpAddress(Ipv4(192, 0, 2, 101)), IpAddress(*parse_ipv6("2001:db8::101"))));
  EXPECT_THAT(reading.observed.namespace_workers.at("hcp-red"), ElementsAre(IpAddress(Ipv4(192, 0, 2, 111))));
  std::vector<std::string> told;
  for (const Diagnostic& d : reading.warnings) told.push_back(std::to_string(d.line) + ' ' + d.code + ' ' + d.path);
  EXPECT_THAT(told, UnorderedElementsAre("48 claim-lost /items/6/status/interfaces/0/mac",
                                         "52 bad-address /items/7/status/interfaces/1/mac",
                                         "60 claim-lost /items/9/status/addresses/0/address"));
}

TEST(Observed, KnowsControlPlanesAndAppsAddresses) {
  const Observed observed = read_sample().observed;
  EXPECT_THAT(observed.control_plane_clusters,
              ElementsAre(Pair("hcp-blue", "hcp/blue"), Pair("hcp-red-two", "hcp/red.two")));
  EXPECT_THAT(observed.apps_addresses, ElementsAre(Pair("hcp/blue", Ipv4(192, 0, 2, 200))));
}

TEST(Observed, TakesTypedListsJsonAndSeveralDocuments) {
  const std::string json =
      R"({"kind": "ServiceList", "apiVersion": "v1", "items": [{"kind": "Service", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "b"}, "spec": {"clusterIP": "172.30.0.9"}}]})";
  Diagnostics warnings;
  const auto result = load_observed(
      {{"o.json", json},
       {"p.yaml",
        "---\n---\napiVersion: v1\nkind: Service\nmetadata: {name: c, namespace: b}\nspec: {clusterIP: 172.30.0.8}\n"}},
      {}, warnings);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->service_addresses.size(), 2u);
}

TEST(Observed, KnowsHowControlPlanesArePublished) {
  const Reading reading = read(R"(apiVersion: v1
kind: List
items:
- {apiVersion: config.openshift.io/v1, kind: Ingress, metadata: {name: other}, spec: {domain: other.example.com}}
- {apiVersion: config.openshift.io/v1, kind: Ingress, metadata: {name: cluster}, spec: {domain: Apps.mgmt.example.com}}
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: cluster}, spec: {domain: no.example.com}}
- {apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: oauth, namespace: p}, spec: {host: OAuth.example.com}}
- {apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: seen, namespace: p}, spec: {}, status: {ingress: [{host: seen.example.com}]}}
- {apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: bad, namespace: p}, spec: {host: a b}}
- {apiVersion: v1, kind: Service, metadata: {name: lb, namespace: p}, status: {loadBalancer: {ingress: [{ip: "2001:DB8::1"}]}}}
- {apiVersion: v1, kind: Service, metadata: {name: named, namespace: p}, spec: {ports: [{port: 443, nodePort: 30443}, {port: 80}]}, status: {loadBalancer: {ingress: [{hostname: LB.example.com}]}}}
- apiVersion: hypershift.openshift.io/v1beta1
  kind: HostedCluster
  metadata: {name: blue, namespace: clusters}
  status: {controlPlaneEndpoint: {host: api.example.com, port: 443}, ignitionEndpoint: "ignition.example.com"}
)");
  const ObservedPublishing& seen = reading.observed.publishing;
  EXPECT_EQ(seen.domain, "apps.mgmt.example.com");
  EXPECT_EQ(seen.apps_domain, "");
  EXPECT_THAT(seen.route_hosts, ElementsAre(Pair("p/oauth", "oauth.example.com"), Pair("p/seen", "seen.example.com")));
  EXPECT_THAT(seen.load_balancers, ElementsAre(Pair("p/lb", "2001:db8::1"), Pair("p/named", "lb.example.com")));
  EXPECT_THAT(seen.node_ports, ElementsAre(Pair("p/named:443", 30443)));
  EXPECT_EQ(seen.hosted_clusters.at("clusters/blue").api_port, 443);
  EXPECT_EQ(seen.hosted_clusters.at("clusters/blue").ignition_host, "ignition.example.com");
  ASSERT_EQ(reading.warnings.items().size(), 1);
  EXPECT_EQ(reading.warnings.items()[0].code, "bad-hostname");
  EXPECT_EQ(reading.warnings.items()[0].path, "/items/5/spec/host");
}

TEST(Observed, RefusesFilesThatCannotBeRead) {
  Diagnostics warnings;
  EXPECT_FALSE(load_observed({{"o.yaml", "a: 'b"}}, {}, warnings).has_value());
  EXPECT_FALSE(load_observed({{"o.yaml", "just a word\n"}}, {}, warnings).has_value());
  EXPECT_FALSE(load_observed({}, {{"e.yaml", "[a]\n"}}, warnings).has_value());
  // What a command leaves of the file that it was to write, when it fails.
  for (const char* nothing : {"", "\n", "# nothing\n", "---\n"}) {
    const auto objects = load_observed({{"o.yaml", nothing}}, {}, warnings);
    const auto endpoints = load_observed({}, {{"e.yaml", nothing}}, warnings);
    ASSERT_TRUE(objects.has_error() && endpoints.has_error()) << nothing;
    EXPECT_EQ(objects.error().begin()->code, "no-documents");
    EXPECT_EQ(endpoints.error().begin()->code, "no-documents");
  }
  EXPECT_TRUE(load_observed({{"o.yaml", "{apiVersion: v1, kind: List, items: []}"}}, {{"e.yaml", "{}"}}, warnings));
}

TEST(EndpointMap, ReplacesWhatSlicesSay) {
  const Observed observed = read(test::read_file(test::data_path("spec/observed.yaml")),
                                 "hcp-blue/kube-apiserver:6443: [192.0.2.10:7443, \"[2001:db8::1]:7443\", "
                                 "192.0.2.10:7443]\nhcp-blue/oauth:6443: []\n")
                                .observed;
  EXPECT_THAT(texts(observed.endpoints.at("hcp-blue/kube-apiserver:6443")),
              ElementsAre("192.0.2.10:7443", "[2001:db8::1]:7443"));
  EXPECT_THAT(observed.endpoints.at("hcp-blue/oauth:6443"), IsEmpty());
}

TEST(EndpointMap, NamesTheLineOfEveryMistake) {
  Diagnostics warnings;
  const auto result =
      load_observed({},
                    {{"a.yaml", "ns/svc:1: [192.0.2.1:80]\n"},
                     {"e.yaml",
                      "svc:80: []\nns/svc: []\nns/svc:0: []\nns/svc:080: []\nns/svc:65536: "
                      "[]\nNS/svc:1: []\nns/s.v:1: []\nns/svc:1: []\n"
                      "ns/svc:2: 192.0.2.1:80\nns/svc:3:\n- 192.0.2.1\n- 192.0.2.1:0\n- host:80\n- "
                      "2001:db8::1:80\n- 5\nns/svc:3: []\nns/svc:4: [192.0.2.1:80, 0.0.0.0:80]\nns/svc:5: "
                      "[\"[::]:80\"]\nns/svc:6: [\"[ff02::1]:80\", 239.1.1.1:80]\n"}},
                    warnings);
  ASSERT_FALSE(result.has_value());
  std::vector<std::string> found;
  for (const Diagnostic& d : result.error()) found.push_back(d.file + ':' + std::to_string(d.line) + ' ' + d.code);
  EXPECT_THAT(found, UnorderedElementsAre("e.yaml:1 bad-endpoint", "e.yaml:2 bad-endpoint", "e.yaml:3 bad-endpoint",
                                          "e.yaml:4 bad-endpoint", "e.yaml:5 bad-endpoint", "e.yaml:6 bad-endpoint",
                                          "e.yaml:7 bad-endpoint", "e.yaml:8 duplicate-key", "e.yaml:9 wrong-type",
                                          "e.yaml:11 bad-endpoint", "e.yaml:12 bad-endpoint", "e.yaml:13 bad-endpoint",
                                          "e.yaml:14 bad-endpoint", "e.yaml:15 bad-endpoint", "e.yaml:16 duplicate-key",
                                          "e.yaml:17 bad-endpoint", "e.yaml:18 bad-endpoint", "e.yaml:19 bad-endpoint",
                                          "e.yaml:19 bad-endpoint"));
}

// --- apps addresses
// -----------------------------------------------------------------------------------------------------------

const std::string kIngress = "  appsIngress: {enabled: true, metallb: {addressPoolName: p, ipAddressPoolRange: ";

ValidSet two_clusters() {
  return test::valid(test::infra_text() + test::attachment_text("blue", kIngress + "192.0.2.200-192.0.2.204}}\n") +
                     test::attachment_text("red", kIngress + "192.0.2.210-192.0.2.214}}\n") +
                     test::attachment_text("white"));
}

TEST(ApplyObserved, GivesEachClusterItsAppsAddress) {
  ValidSet set = two_clusters();
  Observed observed;
  observed.apps_addresses = {{"hcp/blue", Ipv4(192, 0, 2, 200)}, {"hcp/white", Ipv4(192, 0, 2, 220)}};
  apply_observed(set, observed);
  const std::vector<ValidCluster>& clusters = set.infras.at(0).clusters;
  EXPECT_EQ(clusters[0].apps_vip, Ipv4(192, 0, 2, 200));
  EXPECT_EQ(clusters[1].apps_vip, std::nullopt);
  EXPECT_EQ(clusters[2].apps_vip, std::nullopt);  // its apps ingress is off
  EXPECT_TRUE(set.warnings.empty());
  apply_observed(set, {});
  EXPECT_EQ(clusters[0].apps_vip, std::nullopt);  // gone again
}

TEST(ApplyObserved, TakesTheAddressFromTheStatusOfAnAttachmentThatWasRead) {
  std::string text = test::attachment_text(
      "blue", kIngress + "192.0.2.200-192.0.2.204}}\nstatus: {appsIngressStatus: {externalIP: 192.0.2.201}}\n");
  ValidSet set = test::valid(test::infra_text() + text);
  apply_observed(set, {});
  EXPECT_EQ(set.infras.at(0).clusters.at(0).apps_vip, Ipv4(192, 0, 2, 201));
}

TEST(ApplyObserved, AStaticAddressNeedsNoObservationAndYieldsToNone) {
  ValidSet set =
      test::valid(test::infra_text() + test::attachment_text("blue", kIngress + "192.0.2.210-192.0.2.214}}\n") +
                  test::attachment_text("red") + test::apps_policy_text("red", "192.0.2.200"));
  const std::vector<ValidCluster>& clusters = set.infras.at(0).clusters;
  EXPECT_EQ(clusters[1].apps_vip, Ipv4(192, 0, 2, 200));
  Observed observed;
  observed.apps_addresses = {{"hcp/blue", Ipv4(192, 0, 2, 200)}, {"hcp/red", Ipv4(192, 0, 2, 201)}};
  apply_observed(set, observed);
  EXPECT_EQ(clusters[0].apps_vip, std::nullopt);
  ASSERT_EQ(set.warnings.items().size(), 1U);
  EXPECT_EQ(set.warnings.items()[0].code, "vip-unusable");
  EXPECT_EQ(clusters[1].apps_vip, Ipv4(192, 0, 2, 200));
}

TEST(ApplyObserved, DoesNotUseAnAddressThatBelongsToSomethingElse) {
  for (const Ipv4 taken :
       {Ipv4(192, 0, 2, 1), Ipv4(192, 0, 2, 2), Ipv4(192, 0, 2, 3), Ipv4(192, 0, 2, 4), Ipv4(192, 0, 2, 149)}) {
    ValidSet set = two_clusters();
    Observed observed;
    observed.apps_addresses = {{"hcp/red", taken}};
    apply_observed(set, observed);
    EXPECT_EQ(set.infras.at(0).clusters.at(1).apps_vip, std::nullopt) << taken.to_string();
    ASSERT_EQ(set.warnings.items().size(), 1u);
    EXPECT_EQ(set.warnings.items()[0].code, "vip-unusable");
  }
  ValidSet set = two_clusters();
  Observed observed;
  observed.apps_addresses = {{"hcp/blue", Ipv4(192, 0, 2, 200)}, {"hcp/red", Ipv4(192, 0, 2, 200)}};
  apply_observed(set, observed);
  EXPECT_EQ(set.infras.at(0).clusters.at(0).apps_vip, Ipv4(192, 0, 2, 200));
  EXPECT_EQ(set.infras.at(0).clusters.at(1).apps_vip, std::nullopt);
}

TEST(ApplyObserved, DoesNotUseAnAddressThatAPolicyGivesToSomethingElse) {
  const std::string policy =
      "apiVersion: hcpnet.io/v1alpha1\nkind: DHCPPolicy\nmetadata: {name: p, namespace: hcp}\nspec:\n"
      "  targetRef: {kind: Infra, name: yard}\n"
      "  exclusions: [{rangeStart: 192.0.2.64}, {rangeStart: 192.0.2.149}, {rangeStart: 198.51.100.19}]\n"
      "  reservations: [{macAddress: \"02:00:00:00:00:01\", address: 192.0.2.70}]\n"
      "  pools: [{rangeStart: 192.0.2.60, rangeEnd: 192.0.2.69}]\n"
      "  subnets: [{cidr: 198.51.100.0/24, gateway: 198.51.100.1, serverIP: 198.51.100.2,\n"
      "    pools: [{rangeStart: 198.51.100.10, rangeEnd: 198.51.100.19}]}]\n---\n";
  const auto is_used = [&](Ipv4 address) {
    ValidSet set = test::valid(test::infra_text() + policy +
                               test::attachment_text("red", kIngress + "192.0.2.210-192.0.2.214}}\n"));
    Observed observed;
    observed.apps_addresses = {{"hcp/red", address}};
    apply_observed(set, observed);
    return set.infras.at(0).clusters.at(0).apps_vip == address;
  };
  for (const Ipv4 taken : {Ipv4(192, 0, 2, 60), Ipv4(192, 0, 2, 70), Ipv4(192, 0, 2, 148), Ipv4(198, 51, 100, 1),
                           Ipv4(198, 51, 100, 2), Ipv4(198, 51, 100, 10)})
    EXPECT_FALSE(is_used(taken)) << taken.to_string();
  for (const Ipv4 excluded : {Ipv4(192, 0, 2, 64), Ipv4(192, 0, 2, 149), Ipv4(198, 51, 100, 19)})
    EXPECT_TRUE(is_used(excluded)) << excluded.to_string();
}

TEST(ApplyObserved, DoesNotUseAnAddressOfAnotherInfra) {
  const std::string sets = test::infra_text() +
                           test::attachment_text("blue", kIngress + "192.0.2.200-192.0.2.204}}\n") +
                           test::infra_text("field", "", "198.51.100.") +
                           test::attachment_text("red", kIngress + "198.51.100.210-198.51.100.214}}\n", "field");
  for (const Ipv4 taken : {Ipv4(192, 0, 2, 4), Ipv4(192, 0, 2, 120), Ipv4(192, 0, 2, 200)}) {
    ValidSet set = test::valid(sets);
    Observed observed;
    observed.apps_addresses = {{"hcp/blue", Ipv4(192, 0, 2, 200)}, {"hcp/red", taken}};
    apply_observed(set, observed);
    EXPECT_EQ(set.infras.at(0).clusters.at(0).apps_vip, Ipv4(192, 0, 2, 200));
    EXPECT_EQ(set.infras.at(1).clusters.at(0).apps_vip, std::nullopt) << taken.to_string();
    ASSERT_EQ(set.warnings.items().size(), 1u);
    EXPECT_EQ(set.warnings.items()[0].code, "vip-unusable");
    EXPECT_THAT(set.warnings.items()[0].message, HasSubstr("of Infra hcp/yard"));
  }
}

// --- who wins

/// An observed attachment; `created` is the day of January.
std::string attachment(const std::string& name, const std::string& created, const std::string& domain,
                       const std::string& pool, const std::string& address, const std::string& infra = "v") {
  return "---\napiVersion: hostedcluster.densityops.com/v1alpha1\nkind: InfraClusterAttachment\nmetadata: {name: " +
         name + ", namespace: hcp, creationTimestamp: \"2026-01-" + created +
         "T00:00:00Z\"}\nspec:\n  infraRef: {name: " + infra + "}\n  hostedClusterRef: {name: " + name +
         ", namespace: hcp}\n  dns: {clusterName: " + domain.substr(0, domain.find('.')) +
         ", baseDomain: " + domain.substr(domain.find('.') + 1) +
         "}\n  appsIngress: {enabled: true, metallb: {ipAddressPoolRange: " + pool +
         "}}\nstatus: {appsIngressStatus: {externalIP: " + address + "}}\n";
}

TEST(Observed, TheOlderAttachmentKeepsDomainAndPool) {
  const Reading reading =
      read(attachment("young", "03", "Blue.example.com", "192.0.2.200-192.0.2.204", "192.0.2.200") +
           attachment("below", "04", "sub.blue.example.com", "192.0.2.210-192.0.2.214", "192.0.2.210") +
           attachment("above", "05", "example.com", "192.0.2.220-192.0.2.224", "192.0.2.220") +
           attachment("pool", "06", "red.example.org", "192.0.2.244-192.0.2.246", "192.0.2.244") +
           attachment("fine", "07", "blue2.example.com", "192.0.2.250-192.0.2.254", "192.0.2.250") +
           attachment("old", "02", "blue.example.com", "192.0.2.240-192.0.2.244", "192.0.2.240"));
  EXPECT_THAT(reading.observed.apps_addresses,
              ElementsAre(Pair("hcp/fine", Ipv4(192, 0, 2, 250)), Pair("hcp/old", Ipv4(192, 0, 2, 240))));
  std::vector<std::string> told;
  for (const Diagnostic& d : reading.warnings) {
    told.push_back(std::to_string(d.line) + ' ' + d.code + ' ' + d.path);
    EXPECT_THAT(d.message,
                AllOf(HasSubstr("belongs to hcp/old, which is older; hcp/"), EndsWith(" gets no apps address")));
  }
  EXPECT_THAT(told, ElementsAre("8 claim-lost /spec/dns/clusterName", "18 claim-lost /spec/dns/clusterName",
                                "28 claim-lost /spec/dns/clusterName",
                                "39 claim-lost /spec/appsIngress/metallb/ipAddressPoolRange"));
}

TEST(Observed, TheOlderAttachmentKeepsItsPoolFromThatOfAnotherInfra) {
  const Reading reading =
      read(attachment("young", "03", "red.example.com", "192.0.2.204-192.0.2.210", "192.0.2.210", "w") +
           attachment("old", "02", "blue.example.com", "192.0.2.200-192.0.2.204", "192.0.2.200"));
  EXPECT_THAT(reading.observed.apps_addresses, ElementsAre(Pair("hcp/old", Ipv4(192, 0, 2, 200))));
  ASSERT_EQ(reading.warnings.warning_count(), 1u) << reading.warnings.to_string();
  EXPECT_EQ(reading.warnings.items().front().path, "/spec/appsIngress/metallb/ipAddressPoolRange");
}

TEST(Observed, TheOlderInfraKeepsAServerAddress) {
  const auto infra = [](const std::string& name, const std::string& created, const std::string& dns) {
    return "---\napiVersion: hostedcluster.densityops.com/v1alpha1\nkind: Infra\nmetadata: {name: " + name +
           ", namespace: hcp, creationTimestamp: \"" + created +
           "\"}\nspec:\n  infraComponents:\n    dns: {serverIP: 192.0.2.3" + dns + "}\n";
  };
  const Reading reading =
      read(infra("b", "2026-01-02T00:00:00Z", "") + infra("off", "2026-01-03T00:00:00Z", ", enabled: false") +
           infra("z", "2026-01-01T00:00:00Z", ""));
  ASSERT_EQ(reading.warnings.warning_count(), 1u) << reading.warnings.to_string();
  const Diagnostic& d = reading.warnings.items().front();
  EXPECT_EQ(d.path, "/spec/infraComponents/dns/serverIP");
  EXPECT_EQ(d.line, 7u);
  EXPECT_EQ(d.message, "server address 192.0.2.3 belongs to hcp/z, which is older; hcp/b needs another");
}

// -----------------------------------------------------------------------------------------------------------------

ObjectMeta claimant(const std::string& created, const std::string& namespace_, const std::string& name) {
  ObjectMeta metadata;
  metadata.creation_timestamp = created;
  metadata.namespace_ = namespace_;
  metadata.name = name;
  return metadata;
}

TEST(HasPrecedence, OrdersByAgeThenNamespaceThenName) {
  std::vector<ObjectMeta> claims{claimant("", "a", "a"),
                                 claimant("2026-01-02T00:00:00Z", "a", "a"),
                                 claimant("2026-01-01T00:00:00Z", "b", "b"),
                                 claimant("2026-01-01T00:00:00Z", "b", "a"),
                                 claimant("2025-12-31T23:59:59Z", "z", "z"),
                                 claimant("2026-01-01T00:00:00Z", "a", "c")};
  std::ranges::sort(claims, has_precedence);
  std::vector<std::string> keys;
  for (const ObjectMeta& claim : claims) keys.push_back(claim.key());
  EXPECT_THAT(keys, ElementsAre("z/z", "a/c", "b/a", "b/b", "a/a", "a/a"));
  EXPECT_TRUE(claims.back().creation_timestamp.empty());
  EXPECT_FALSE(has_precedence(claims[0], claims[0]));
}

TEST(CheckEndpoints, PutsThemInOrderOnce) {
  const Endpoint one{Ipv4(192, 0, 2, 1), 443}, two{Ipv4(192, 0, 2, 2), 443};
  const auto checked = check_endpoints({{"ns/svc:443", {two, one, two}}, {"ns/gone:80", {}}});
  ASSERT_TRUE(checked.has_value());
  EXPECT_EQ(checked->at("ns/svc:443"), (std::vector{one, two}));
  EXPECT_TRUE(checked->at("ns/gone:80").empty());
}

TEST(CheckEndpoints, NamesEveryKeyAndAddressThatIsNone) {
  const auto checked = check_endpoints(
      {{"svc:443", {}}, {"ns/svc:0", {}}, {"ns/svc:443", {{Ipv4(0, 0, 0, 0), 443}, {Ipv4(192, 0, 2, 1), 0}}}});
  ASSERT_TRUE(checked.has_error());
  std::vector<std::string> paths;
  for (const Diagnostic& d : Diagnostics(checked.error())) {
    EXPECT_EQ(d.code, "bad-endpoint");
    paths.push_back(d.path);
  }
  EXPECT_THAT(paths, testing::UnorderedElementsAre("/svc:443", "/ns~1svc:0", "/ns~1svc:443/0", "/ns~1svc:443/1"));
}

}  // namespace
}  // namespace hcpnet::spec
