// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/view.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/explain.hpp>
#include <map>
#include <optional>

#include "stack/example_set.hpp"

namespace hcpnet {
namespace {

StackConfig make(const std::vector<spec::SourceText>& specs, const std::vector<spec::SourceText>& objects,
                 const Surroundings& surroundings = {}) {
  Diagnostics warnings;
  spec::Observed observed = spec::load_observed(objects, {}, warnings).value();
  spec::ValidSet set = spec::check(specs).value();
  spec::apply_observed(set, observed);
  return make_stack_config(set, observed, surroundings).value();
}

/// "file:line path"
std::string place(const Diagnostic& d) {
  return d.file + ':' + std::to_string(d.line) + ' ' + d.path;
}

StackConfig example() {
  return make(test::example_set(), test::example_observed(), {{Ipv4(172, 16, 0, 9)}, {}});
}

/// "backend" or "closed: rule"
std::string route(const StackConfig& config, const std::string& name, std::uint16_t port, const char* from) {
  const ProxyServerConfig& proxy = config.proxies.at(0);
  const auto all = explain_routes(proxy.owner, *proxy.table, proxy.workers, name, port, *parse_ip_address(from));
  if (all.empty()) return "no listener";
  const RouteExplanation& answer = all.front();
  return answer.backend.empty() ? "closed: " + answer.rule : answer.backend + " -> " + answer.targets.at(0);
}

const dns::View& view(const StackConfig& config, const std::string& name) {
  for (const dns::View& v : config.dns.at(0).config.views)
    if (v.name == name) return v;
  throw std::out_of_range(name);
}

/// The data, or NODATA, NXDOMAIN, or "not ours".
std::string lookup(const dns::View& v, const std::string& text, dns::Type type = dns::Type::a) {
  const dns::Name name = dns::parse_name(text).value();
  const dns::Zone* best = nullptr;
  for (const auto& zone : v.zones)
    if (name.is_below_or_equal(zone->apex()) && (!best || best->apex().label_count() < zone->apex().label_count()))
      best = zone.get();
  if (!best) return "not ours";
  const auto found = best->find(name, type);
  if (found.outcome == dns::Zone::Outcome::nodata) return "NODATA";
  if (found.outcome == dns::Zone::Outcome::nxdomain) return "NXDOMAIN";
  std::string all;
  for (const std::string& rdata : found.rrset->rdata)
    (all += all.empty() ? "" : " ") += dns::rdata_to_string(found.rrset->type, rdata);
  return all;
}

TEST(StackConfig, RoutesTwoClustersOnOneVlan) {
  const StackConfig config = example();
  const char* stranger = "192.0.2.140";
  EXPECT_EQ(route(config, "api.blue.hc.example.com", 6443, stranger),
            "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "API-INT.red.hc.example.com", 6443, stranger),
            "red-kube-apiserver -> kube-apiserver.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "", 6443, "192.0.2.102"),
            "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "kubernetes.default.svc", 6443, "192.0.2.111"),
            "red-kube-apiserver -> kube-apiserver.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "172.20.0.1", 6443, "192.0.2.111"),
            "red-kube-apiserver -> kube-apiserver.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "", 6443, stranger), "closed: source_not_allowed");
  EXPECT_EQ(route(config, "", 6443, "10.132.0.9"), "closed: source_not_allowed")
      << "an address outside the VLAN proves nothing";
  EXPECT_EQ(route(config, "oauth.red.hc.example.com", 443, stranger),
            "red-oauth-openshift -> oauth-openshift.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "ignition.blue.hc.example.com", 443, stranger),
            "blue-ignition-server -> ignition-server-proxy.hcp-blue.svc.cluster.local:443");
  EXPECT_EQ(route(config, "konnectivity.blue.hc.example.com", 443, stranger),
            "blue-konnectivity-server -> konnectivity-server.hcp-blue.svc.cluster.local:8091");
  EXPECT_EQ(route(config, "oidc.blue.hc.example.com", 443, stranger),
            "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "a.b.apps.blue.hc.example.com", 443, stranger), "blue-apps-https -> 192.0.2.200:443");
  EXPECT_EQ(route(config, "kubernetes.default", 443, "192.0.2.101"),
            "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "kubernetes.default", 443, stranger), "closed: source_not_allowed");
  EXPECT_EQ(route(config, "", 443, "192.0.2.101"), "closed: no_match") << "the API is not published on 443";
  EXPECT_EQ(route(config, "nobody.example.org", 443, "192.0.2.101"), "closed: no_match");
  EXPECT_EQ(route(config, "x.apps.red.hc.example.com", 80, stranger), "red-apps-http -> 192.0.2.210:80");
  EXPECT_EQ(route(config, "", 80, stranger), "closed: no_match");
  EXPECT_EQ(route(config, "", 8080, stranger), "no listener");
}

TEST(StackConfig, ListensOnTheVlanAndOnThePodAddress) {
  const StackConfig config = example();
  std::vector<std::string> proxy, dns;
  for (const auto& l : config.proxies.at(0).table->config().listeners) proxy.push_back(l.address.to_string());
  for (const auto& l : config.dns.at(0).config.listeners) dns.push_back(l.to_string());
  EXPECT_EQ(proxy, (std::vector<std::string>{"192.0.2.4:6443", "192.0.2.4:443", "192.0.2.4:80", "172.16.0.9:6443",
                                             "172.16.0.9:443", "172.16.0.9:80"}));
  EXPECT_EQ(dns, (std::vector<std::string>{"192.0.2.3:53", "172.16.0.9:53"}));
}

TEST(StackConfig, ShowsEachSideItsOwnAddresses) {
  const StackConfig config = example();
  const dns::View& vlan = view(config, "vlan");
  const dns::View& pod = view(config, "pod");
  for (const char* label : {"api", "api-int", "oauth", "oidc", "ignition", "konnectivity"}) {
    EXPECT_EQ(lookup(vlan, std::string(label) + ".red.hc.example.com"), "192.0.2.4");
    EXPECT_EQ(lookup(pod, std::string(label) + ".red.hc.example.com"), "172.30.9.4");
  }
  EXPECT_EQ(lookup(vlan, "console.apps.blue.hc.example.com"), "192.0.2.200");
  EXPECT_EQ(lookup(vlan, "a.b.c.apps.red.hc.example.com"), "192.0.2.210");
  EXPECT_EQ(lookup(pod, "a.b.c.apps.red.hc.example.com"), "172.30.9.4");
  EXPECT_EQ(lookup(vlan, "api.blue.hc.example.com", dns::Type::aaaa), "NODATA");
  EXPECT_EQ(lookup(vlan, "nobody.blue.hc.example.com"), "NXDOMAIN");
  EXPECT_EQ(lookup(vlan, "hc.example.com"), "not ours");
  EXPECT_EQ(lookup(vlan, "kubernetes.default.svc"), "192.0.2.4");
  EXPECT_EQ(lookup(vlan, "kubernetes.default.svc", dns::Type::aaaa), "NODATA");
  EXPECT_EQ(lookup(pod, "kubernetes.default.svc"), "not ours");
  EXPECT_EQ(vlan.clients, std::vector<Cidr>{*parse_cidr("192.0.2.0/24")});
}

TEST(StackConfig, SaysNothingOfApplicationsUntilTheirAddressIsKnown) {
  const auto apps = [](const StackConfig& config, const std::string& name) {
    std::string all;
    for (const auto& zone : view(config, name).zones)
      if (zone->apex().to_string().starts_with("apps."))
        all += zone->apex().to_string() + (zone->is_available() ? " available " : " unavailable ");
    return all;
  };
  const std::string both = "apps.blue.hc.example.com. unavailable apps.red.hc.example.com. unavailable ";
  const StackConfig config = make(test::example_set(), {}, {{}, {{"vlan7-proxy.hcp.svc", Ipv4(172, 30, 1, 1)}}});
  EXPECT_EQ(apps(config, "vlan"), both);
  EXPECT_EQ(apps(config, "pod"), both) << "the proxy does not know either";
  EXPECT_EQ(lookup(view(config, "vlan"), "api.blue.hc.example.com"), "192.0.2.4");
  EXPECT_EQ(apps(example(), "vlan"), "");
}

TEST(StackConfig, PublishesKubernetesNamesOnlyWhereEveryClientMayUseThem) {
  auto objects = test::example_observed();
  const auto red_machine =
      objects[0].text.find("- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: r0");
  objects[0].text.erase(red_machine, objects[0].text.find('\n', red_machine) + 1 - red_machine);
  const StackConfig config = make(test::example_set(), objects);
  EXPECT_EQ(lookup(view(config, "vlan"), "kubernetes.default.svc"), "not ours")
      << "red's workers are not known: the proxy would drop them";
  objects[0].text +=
      "- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, metadata: {name: r0, namespace: hcp-red}, status: "
      "{addresses: [{type: ExternalIP, address: 203.0.113.111}]}}\n";
  EXPECT_EQ(lookup(view(make(test::example_set(), objects), "vlan"), "kubernetes.default.svc"), "not ours")
      << "an address of another network is no worker here";
}

TEST(StackConfig, TellsDhcpTheMaskTheRouterAndOurDns) {
  const StackConfig config = example();
  ASSERT_EQ(config.dhcp.subnets.size(), 1u);
  const dhcp::Subnet& subnet = config.dhcp.subnets[0];
  EXPECT_EQ(subnet.name, "hcp/vlan7");
  EXPECT_EQ(subnet.cidr.to_string(), "192.0.2.0/24");
  EXPECT_EQ(subnet.router, Ipv4(192, 0, 2, 1));
  EXPECT_EQ(subnet.dns_servers, std::vector<Ipv4>{Ipv4(192, 0, 2, 3)});
  EXPECT_EQ(subnet.pools.at(0).range.to_string(), "192.0.2.100-192.0.2.149");
  EXPECT_EQ(subnet.lease_time, std::chrono::hours(1));
}

TEST(StackConfig, LeasesOfALinkAreSharedByItsFirstSubnet) {
  std::vector<spec::SourceText> set = test::example_set();
  set.push_back({"folder/policy.yaml", R"(
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan7}
  subnets: [{cidr: 198.51.100.0/24}]
  sharedStore:
    endpoints: ["https://192.0.2.9"]
    prefix: /hcpnet/vlan7
    caFile: ca.crt
    certificateFile: /etc/tls.crt
    keyFile: /etc/tls.key
    serverName: etcd.example.com
    username: dhcp
    passwordFile: keys/password
    maxSkewSeconds: 7
)"});
  const StackConfig config = make(set, test::example_observed());
  ASSERT_EQ(config.dhcp.subnets.size(), 2u);
  EXPECT_EQ(config.dhcp.subnets[0].shared_store, (dhcp::SharedStore{.endpoints = {"https://192.0.2.9"},
                                                                    .prefix = "/hcpnet/vlan7",
                                                                    .ca_file = "folder/ca.crt",
                                                                    .certificate_file = "/etc/tls.crt",
                                                                    .key_file = "/etc/tls.key",
                                                                    .server_name = "etcd.example.com",
                                                                    .username = "dhcp",
                                                                    .password_file = "folder/keys/password",
                                                                    .max_skew = std::chrono::seconds(7)}));
  EXPECT_FALSE(config.dhcp.subnets[1].shared_store);
}

TEST(StackConfig, PutsTheSubnetsOfAPolicyOnOneLink) {
  const std::string policy = R"(
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: vlan7}
  options: [{code: 3, value: 192.0.2.1}, {code: 42, value: 192.0.2.9}]
  bootFileName: undionly.kpxe
  exclusions: [{rangeStart: 192.0.2.110}]
  reservations: [{macAddress: "02:00:00:00:00:01", address: 192.0.2.90}, {macAddress: "02:00:00:00:00:02", address: 198.51.100.90, hostName: db}]
  pools: [{rangeStart: 192.0.2.80, rangeEnd: 192.0.2.89, clientClasses: [pxe], options: [{code: 26, value: "1400"}]}]
  subnets:
  - {cidr: 198.51.100.0/24, gateway: 198.51.100.1, serverIP: 198.51.100.2, pools: [{rangeStart: 198.51.100.10, rangeEnd: 198.51.100.19}], options: [{code: 42, value: 198.51.100.9}]}
  - {cidr: 203.0.113.0/24}
  clientClasses: [{name: pxe, match: {vendorClasses: ["hex:505845"], macPrefixes: [52-54], architectures: [7]}, nextServer: 192.0.2.9}]
  clientRateLimit: {messagesPerSecond: 5}
  probe: {timeoutMilliseconds: 250}
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: d, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan7}, leaseDomain: vms.example.net, reverse: true}
)";
  std::vector<spec::SourceText> set = test::example_set();
  set.push_back({"policy.yaml", policy});
  const StackConfig config = make(set, test::example_observed());
  ASSERT_EQ(config.dhcp.subnets.size(), 3u);
  const dhcp::Subnet& own = config.dhcp.subnets[0];
  const dhcp::Subnet& second = config.dhcp.subnets[1];
  const dhcp::Subnet& third = config.dhcp.subnets[2];
  for (const dhcp::Subnet& subnet : config.dhcp.subnets) EXPECT_EQ(subnet.shared_network, "hcp/vlan7");
  EXPECT_EQ(own.name, "hcp/vlan7");
  EXPECT_EQ(second.name, "hcp/vlan7/198.51.100.0/24");
  EXPECT_EQ(second.server_id, Ipv4(198, 51, 100, 2));
  EXPECT_EQ(third.server_id, own.server_id);
  EXPECT_EQ(second.router, Ipv4(198, 51, 100, 1));
  EXPECT_FALSE(third.router);
  EXPECT_EQ(second.dns_servers, own.dns_servers);
  ASSERT_EQ(own.pools.size(), 2u);
  EXPECT_EQ(own.pools[1].client_classes, std::vector<std::string>{"pxe"});
  EXPECT_EQ(own.pools[1].options, (std::vector<dhcp::RawOption>{{26, {5, 0x78}}}));
  EXPECT_EQ(second.pools.at(0).range.to_string(), "198.51.100.10-198.51.100.19");
  EXPECT_EQ(own.options, (std::vector<dhcp::RawOption>{{3, {192, 0, 2, 1}}, {42, {192, 0, 2, 9}}}));
  EXPECT_EQ(second.options, (std::vector<dhcp::RawOption>{{42, {198, 51, 100, 9}}})) << "the router is not that of all";
  EXPECT_EQ(third.options, (std::vector<dhcp::RawOption>{{42, {192, 0, 2, 9}}}));
  EXPECT_EQ(third.boot.file, "undionly.kpxe");
  EXPECT_EQ(own.exclusions, (std::vector<Ipv4Range>{{Ipv4(192, 0, 2, 110), Ipv4(192, 0, 2, 110)}}));
  ASSERT_EQ(own.reservations.size(), 1u);
  ASSERT_EQ(second.reservations.size(), 1u);
  EXPECT_EQ(second.reservations[0].host_name, "db");
  const dhcp::ClientClass& pxe = own.client_classes.at(0);
  EXPECT_EQ(pxe.match.vendor_classes, std::vector<std::string>{"PXE"});
  EXPECT_EQ(pxe.match.mac_prefixes, (std::vector<std::vector<std::uint8_t>>{{0x52, 0x54}}));
  EXPECT_EQ(pxe.match.architectures, std::vector<std::uint16_t>{7});
  EXPECT_EQ(pxe.boot.next_server, Ipv4(192, 0, 2, 9));
  EXPECT_EQ(own.rate_limit->burst, 20u);
  EXPECT_EQ(own.probe_timeout, std::chrono::milliseconds(250));
  EXPECT_FALSE(second.probe_timeout) << "the first one speaks for the link";

  EXPECT_EQ(view(config, "vlan").clients.size(), 3u) << "who has an address of the link is inside";
  ASSERT_TRUE(config.dns.at(0).lease_zone);
  EXPECT_EQ(config.dns[0].lease_zone->subnets,
            (std::vector<std::string>{"hcp/vlan7", "hcp/vlan7/198.51.100.0/24", "hcp/vlan7/203.0.113.0/24"}));
  EXPECT_EQ(config.dns[0].lease_zone->reverse.size(), 3u);
}

TEST(StackConfig, AsksForTheInternalProxyUntilItIsKnown) {
  auto objects = test::example_observed();
  const auto service = objects[0].text.find("- apiVersion: v1\n  kind: Service");
  objects[0].text.erase(service, objects[0].text.find("- {apiVersion: cluster") - service);
  EXPECT_EQ(make(test::example_set(), objects).proxies_by_dns, std::vector<std::string>{"vlan7-proxy.hcp.svc"});
  const StackConfig resolved = make(test::example_set(), objects, {{}, {{"vlan7-proxy.hcp.svc", Ipv4(172, 30, 1, 1)}}});
  EXPECT_EQ(lookup(view(resolved, "pod"), "api.red.hc.example.com"), "172.30.1.1");
}

constexpr const char* kSingleServers = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: p, namespace: "n"}
spec:
  networkConfig: {serverIP: 192.0.2.9}
  backends:
  - {name: api, hostname: api.x.example.com, alternateHostnames: [api-int.x.example.com], port: 6443, targetService: kube-apiserver, targetPort: 6443, targetNamespace: ns-x}
  - {name: kas443, hostname: kas.x.example.com, port: 443, targetService: kube-apiserver, targetPort: 6443, targetNamespace: ns-x}
  - {name: oauth, hostname: oauth.x.example.com, port: 443, targetService: 203.0.113.7, targetPort: 6443, targetNamespace: ns-x}
  - {name: konn, hostname: k.x.example.com, port: 8091, targetService: konnectivity-server, targetPort: 8091, targetNamespace: ns-x}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: d, namespace: "n"}
spec:
  networkConfig: {serverIP: 192.0.2.8, proxyIP: 192.0.2.9, internalProxyIP: 172.30.0.9, secondaryNetworkCIDR: 192.0.2.0/24}
  hostedClusterDomain: x.example.com
  staticEntries:
  - {hostname: api.x.example.com, ip: 192.0.2.9}
  - {hostname: "*.apps.x.example.com", ip: 192.0.2.10}
  - {hostname: registry.example.org, ip: 192.0.2.11}
  upstreamDNS: [198.51.100.53, resolv.conf]
)";

TEST(StackConfig, ServesSingleServers) {
  const StackConfig config = make({{"single.yaml", kSingleServers}}, {});
  EXPECT_EQ(route(config, "", 6443, "192.0.2.77"), "api -> kube-apiserver.ns-x.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "", 443, "192.0.2.77"), "kas443 -> kube-apiserver.ns-x.svc.cluster.local:6443")
      << "here the API is published on 443";
  EXPECT_EQ(route(config, "", 8091, "192.0.2.77"), "closed: no_match") << "never konnectivity by default";
  EXPECT_EQ(route(config, "oauth.x.example.com", 443, "192.0.2.77"), "oauth -> 203.0.113.7:6443");
  EXPECT_EQ(lookup(view(config, "vlan"), "registry.example.org"), "192.0.2.11");
  EXPECT_EQ(lookup(view(config, "vlan"), "registry.example.org", dns::Type::aaaa), "NODATA");
  EXPECT_EQ(lookup(view(config, "pod"), "registry.example.org"), "172.30.0.9");
  EXPECT_EQ(lookup(view(config, "pod"), "z.apps.x.example.com"), "172.30.0.9");
  EXPECT_EQ(lookup(view(config, "vlan"), "nobody.x.example.com"), "NXDOMAIN");
  EXPECT_TRUE(config.dns.at(0).config.forwarding.resolv_conf);
  EXPECT_EQ(config.dns.at(0).config.forwarding.upstreams.at(0).to_string(), "198.51.100.53:53");
}

TEST(StackConfig, KnowsAnApiServerByItsNamesWhereItsTargetIsAnAddress) {
  const StackConfig config = make({{"single.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: p, namespace: "n"}
spec:
  networkConfig: {serverIP: 192.0.2.9}
  backends:
  - {name: blue-api, hostname: api.blue.example.com, port: 6443, targetService: 198.51.100.20, targetPort: 6443, targetNamespace: hcp-blue}
  - {name: red-api, hostname: api.red.example.com, port: 6443, targetService: 198.51.100.21, targetPort: 6443, targetNamespace: hcp-red}
  - {name: red-oauth, hostname: oauth.red.example.com, port: 6443, targetService: 198.51.100.22, targetPort: 6443, targetNamespace: hcp-red}
  - {name: blue-kubernetes, hostname: kubernetes, port: 6443, targetService: 198.51.100.20, targetPort: 6443, targetNamespace: hcp-blue, sourcePrefixRanges: [192.0.2.101/32]}
  - {name: red-kubernetes, hostname: kubernetes, port: 6443, targetService: kas-of-red, targetPort: 6443, targetNamespace: hcp-red, sourcePrefixRanges: [192.0.2.111/32]}
  - {name: blue-alias, hostname: kubernetes.default.svc, port: 443, targetService: 198.51.100.20, targetPort: 6443, targetNamespace: hcp-blue, sourcePrefixRanges: [192.0.2.101/32]}
)"}},
                                  {});
  EXPECT_EQ(route(config, "", 6443, "192.0.2.101"), "blue-kubernetes -> 198.51.100.20:6443");
  EXPECT_EQ(route(config, "", 6443, "192.0.2.111"), "red-kubernetes -> kas-of-red.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "", 6443, "192.0.2.140"), "closed: source_not_allowed") << "there are two of them";
  EXPECT_EQ(route(config, "oauth.red.example.com", 6443, "192.0.2.140"), "red-oauth -> 198.51.100.22:6443");
  EXPECT_EQ(route(config, "", 443, "192.0.2.101"), "closed: no_match") << "an alias does not publish the API";
}

TEST(StackConfig, PublishesRecordsAndPointersOfAPolicy) {
  const StackConfig config = make({{"single.yaml", std::string(kSingleServers) + R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec:
  targetRef: {kind: DNSServer, name: d}
  nsid: dns-1
  cookies: false
  responseRateLimit: {responsesPerSecond: 7}
  transfer: {allowedClients: [192.0.2.0/24], notify: [192.0.2.99]}
  reverse: true
  records:
  - {name: note.x.example.com, type: TXT, data: [hello]}
  - {name: api.x.example.com, type: CNAME, data: [note.x.example.com.]}
)"}},
                                  {});
  EXPECT_EQ(lookup(view(config, "vlan"), "note.x.example.com", dns::Type::txt), "\"hello\"");
  EXPECT_EQ(lookup(view(config, "vlan"), "api.x.example.com"), "192.0.2.9") << "the alias is left out";
  EXPECT_EQ(lookup(view(config, "vlan"), "9.2.0.192.in-addr.arpa", dns::Type::ptr), "api.x.example.com.");
  EXPECT_EQ(lookup(view(config, "vlan"), "10.2.0.192.in-addr.arpa", dns::Type::ptr), "not ours") << "a wildcard";
  const dns::Config& server = config.dns.at(0).config;
  EXPECT_EQ(server.identity.nsid, "dns-1");
  EXPECT_FALSE(server.cookies);
  EXPECT_EQ(server.rate_limit.value().responses_per_second, 7U);
  EXPECT_EQ(server.transfer.notify.at(0).to_string(), "192.0.2.99:53");
}

/// "view network, network" of each view of the first DNS server; the test fails when they make no set.
std::vector<std::string> clients(const StackConfig& config) {
  const std::vector<dns::View>& views = config.dns.at(0).config.views;
  EXPECT_TRUE(dns::ViewSet::make(views).has_value());
  std::vector<std::string> list;
  for (const dns::View& v : views) {
    list.push_back(v.name);
    for (const Cidr& cidr : v.clients) list.back() += ' ' + cidr.to_string();
  }
  return list;
}
using Texts = std::vector<std::string>;

TEST(StackConfig, GivesADefaultPrefixToTheViewOfAPolicy) {
  const auto with_view = [](const std::string& prefixes) {
    std::vector<spec::SourceText> set = test::example_set();
    set[0].text += R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan7}, views: [{name: mine, clientPrefixes: [)" +
                   prefixes + "]}]}\n";
    return make(set, test::example_observed());
  };
  EXPECT_EQ(clients(with_view("0.0.0.0/0")), (Texts{"vlan 192.0.2.0/24", "mine 0.0.0.0/0", "pod ::/0"}));
  EXPECT_EQ(clients(with_view("\"::/0\"")), (Texts{"vlan 192.0.2.0/24", "mine ::/0", "pod 0.0.0.0/0"}));
  EXPECT_EQ(clients(with_view("0.0.0.0/0, \"::/0\"")), (Texts{"vlan 192.0.2.0/24", "mine 0.0.0.0/0 ::/0"}));
}

TEST(StackConfig, GivesADefaultPrefixToTheNetworkItself) {
  std::vector<spec::SourceText> set = test::example_set();
  set[0].text.replace(set[0].text.find("192.0.2.0/24"), 12, "0.0.0.0/0");
  EXPECT_EQ(clients(make(set, test::example_observed())), (Texts{"vlan 0.0.0.0/0", "pod ::/0"}));
  std::string single = kSingleServers;
  single.replace(single.find("secondaryNetworkCIDR: 192.0.2.0/24"), 34, "secondaryNetworkCIDR: 0.0.0.0/0");
  EXPECT_EQ(clients(make({{"single.yaml", single}}, {})), (Texts{"vlan 0.0.0.0/0", "pod ::/0"}));
}

TEST(StackConfig, GivesADefaultPrefixOfAServerWithOneSideToTheViewOfAPolicy) {
  std::string single = kSingleServers;
  single.replace(single.find(", secondaryNetworkCIDR: 192.0.2.0/24"), 36, "");
  const std::string policy = R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec: {targetRef: {kind: DNSServer, name: d}, views: [{name: mine, clientPrefixes: [0.0.0.0/0)";
  EXPECT_EQ(clients(make({{"single.yaml", single + policy + "]}]}\n"}}, {})), (Texts{"mine 0.0.0.0/0", "vlan ::/0"}));
  EXPECT_EQ(clients(make({{"single.yaml", single + policy + ", \"::/0\"]}]}\n"}}, {})), (Texts{"mine 0.0.0.0/0 ::/0"}));
}

TEST(StackConfig, RefusesAPodAddressForTwoProxies) {
  std::string second = kSingleServers;
  for (std::size_t at = 0; (at = second.find("namespace: \"n\"}", at)) != std::string::npos; ++at)
    second.replace(at, 15, "namespace: nem}");
  for (std::size_t at = 0; (at = second.find("192.0.2.", at)) != std::string::npos; ++at)
    second.replace(at, 8, "203.0.113.");
  const auto set = spec::check({{"a.yaml", kSingleServers}, {"b.yaml", second}});
  const auto config = make_stack_config(set.value(), {}, {{Ipv4(172, 16, 0, 9)}, {}});
  ASSERT_TRUE(config.has_error());
  EXPECT_EQ(Diagnostics(config.error()).items().at(0).code, "pod-address-ambiguous");
  EXPECT_EQ(place(Diagnostics(config.error()).items().at(0)), "b.yaml:17 /spec/networkConfig/serverIP") << "DNS";
  EXPECT_EQ(place(Diagnostics(config.error()).items().at(1)), "b.yaml:6 /spec/networkConfig/serverIP") << "the proxy";
}

/// The only finding with this code; the test fails when there is none or another one.
Diagnostic only(const Diagnostics& all, const std::string& code) {
  Diagnostic found;
  int count = 0;
  for (const Diagnostic& d : all)
    if (d.code == code) {
      found = d;
      ++count;
    }
  EXPECT_EQ(count, 1) << code;
  return found;
}

std::vector<spec::SourceText> with_dns_policy(const std::string& fields) {
  std::vector<spec::SourceText> set = test::example_set();
  set[0].text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: p, namespace: hcp}\nspec:\n  "
      "targetRef: {kind: Infra, name: vlan7}\n" +
      fields;
  return set;
}
/// What those of the findings say that have this code.
Texts messages(const Diagnostics& all, const std::string& code) {
  Texts found;
  for (const Diagnostic& d : all)
    if (d.code == code) found.push_back(d.message);
  return found;
}

TEST(StackConfig, RecordsOfAViewTakeThePlaceOfWhatIsPublished) {
  const auto set = with_dns_policy(R"(  reverse: true
  views:
  - name: a
    clientPrefixes: [10.0.0.0/8]
    proxyAddress: 10.9.9.9
    records:
    - {name: api.blue.hc.example.com., type: A, data: [10.6.6.6]}
    - {name: "*.apps.blue.hc.example.com.", type: A, data: [10.7.7.7, 10.7.7.8]}
    - {name: oauth.blue.hc.example.com., type: CNAME, data: [api.blue.hc.example.com.]}
    - {name: api-int.blue.hc.example.com., type: TXT, data: [note]}
)");
  // Whether applications have an address is known with the first alone.
  for (const auto& objects : {test::example_observed(), std::vector<spec::SourceText>{}}) {
    const StackConfig config = make(set, objects);
    const dns::View& a = view(config, "a");
    EXPECT_EQ(lookup(a, "api.blue.hc.example.com"), "10.6.6.6");
    EXPECT_EQ(lookup(a, "api.blue.hc.example.com", dns::Type::aaaa), "NODATA");
    EXPECT_EQ(lookup(a, "x.apps.blue.hc.example.com"), "10.7.7.7 10.7.7.8");
    EXPECT_EQ(lookup(a, "oauth.blue.hc.example.com"), "api.blue.hc.example.com.");
    EXPECT_EQ(lookup(a, "api-int.blue.hc.example.com"), "10.9.9.9") << "a text is no address";
    EXPECT_EQ(lookup(a, "api.red.hc.example.com"), "10.9.9.9");
    EXPECT_EQ(lookup(a, "6.6.6.10.in-addr.arpa", dns::Type::ptr), "not ours");
    for (const auto& zone : a.zones)
      EXPECT_EQ(zone->is_available(), objects.size() == 1 || zone->apex().to_string() != "apps.red.hc.example.com.")
          << zone->apex().to_string();
    EXPECT_EQ(lookup(view(config, "vlan"), "api.blue.hc.example.com"), "192.0.2.4");
    EXPECT_EQ(messages(config.warnings, "alias-not-alone"), Texts{});
  }
}

TEST(StackConfig, ShowsTheNamesOfKubernetesToTheVlanAlone) {
  const std::string entry = "  - {hostname: registry.example.org, ip: 192.0.2.11}\n";
  std::string single = kSingleServers;
  single.insert(single.find(entry), "  - {hostname: kubernetes.default.svc, ip: 192.0.2.9}\n");
  const StackConfig config = make({{"single.yaml", single + R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec: {targetRef: {kind: DNSServer, name: d}, views: [{name: mgmt, clientPrefixes: [10.0.0.0/8], proxyAddress: 10.9.9.9}]}
)"}},
                                  {});
  EXPECT_EQ(lookup(view(config, "vlan"), "kubernetes.default.svc"), "192.0.2.9");
  EXPECT_EQ(lookup(view(config, "pod"), "kubernetes.default.svc"), "not ours");
  EXPECT_EQ(lookup(view(config, "mgmt"), "kubernetes.default.svc"), "not ours");
  EXPECT_EQ(lookup(view(config, "mgmt"), "api.x.example.com"), "10.9.9.9");
}

TEST(StackConfig, WarnsOfAViewThatLeadsTheNamesOfAClusterNowhere) {
  const std::string code = "no-proxy-address";
  const auto warnings = [](const std::string& more) {
    return make(with_dns_policy("  views: [{name: a, clientPrefixes: [10.0.0.0/8]" + more + "}]\n"),
                test::example_observed())
        .warnings;
  };
  const auto record = [](const std::string& name) { return "{name: " + name + ", type: A, data: [10.6.6.6]}"; };
  EXPECT_EQ(place(only(warnings(""), code)), "set.yaml:35 /spec/views/0/proxyAddress");
  EXPECT_EQ(messages(warnings(""), code),
            Texts{"hcp/vlan7: clients of the view a get NXDOMAIN for the names of blue.hc.example.com, and of 1 more: "
                  "without proxyAddress nothing says where to send them"});
  const std::string blue = record("api.blue.hc.example.com"), red = record("x.red.hc.example.com");
  EXPECT_EQ(messages(warnings(", records: [" + blue + "]"), code),
            Texts{"hcp/vlan7: clients of the view a get NXDOMAIN for the names of red.hc.example.com: "
                  "without proxyAddress nothing says where to send them"});
  EXPECT_EQ(messages(warnings(", records: [" + blue + ", " + red + "]"), code), Texts{});
  EXPECT_EQ(messages(warnings(", proxyAddress: 10.9.9.9"), code), Texts{});

  const std::string single = std::string(kSingleServers) + R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec: {targetRef: {kind: DNSServer, name: d}, views: [{name: a, clientPrefixes: [10.0.0.0/8]}]}
)";
  EXPECT_EQ(only(make({{"single.yaml", single}}, {}).warnings, code).path, "/spec/views/0/proxyAddress");
}

TEST(StackConfig, WarnsOfADelegationThatHidesWhatStandsBelowIt) {
  const std::string code = "records-hidden";
  const auto warnings = [](const std::string& records, const std::vector<spec::SourceText>& objects) {
    return make(with_dns_policy("  records:\n" + records), objects).warnings;
  };
  const auto referral = [](const std::string& name) {
    return "  - {name: " + name + ", type: NS, data: [ns.example.net.]}\n";
  };
  EXPECT_EQ(place(only(warnings(referral("api.blue.hc.example.com"), test::example_observed()), code)),
            "set.yaml:36 /spec/records/0");
  for (const auto& objects : {test::example_observed(), std::vector<spec::SourceText>{}})
    EXPECT_EQ(messages(warnings(referral("apps.blue.hc.example.com"), objects), code),
              Texts{"hcp/vlan7: this delegation hides *.apps.blue.hc.example.com. A from the view vlan, whose clients "
                    "are referred to its name servers"});
  EXPECT_EQ(messages(warnings(referral("blue.hc.example.com"), {}), code), Texts{}) << "the apex is no cut";

  const std::string with_servers = R"(  - {name: sub.red.hc.example.com, type: NS, data: [ns.sub.red.hc.example.com.]}
  - {name: sub.red.hc.example.com, type: NS, data: [ns2.sub.red.hc.example.com.]}
  - {name: sub.red.hc.example.com, type: DS, data: ["1 8 9 00"]}
  - {name: ns.sub.red.hc.example.com, type: A, data: [192.0.2.50]}
  - {name: ns2.sub.red.hc.example.com, type: AAAA, data: ["2001:db8::50"]}
)";
  EXPECT_EQ(messages(warnings(with_servers, {}), code), Texts{});
  EXPECT_EQ(messages(warnings(with_servers + "  - {name: x.sub.red.hc.example.com, type: TXT, data: [x]}\n", {}), code),
            Texts{"hcp/vlan7: this delegation hides x.sub.red.hc.example.com. TXT from the view vlan, whose clients "
                  "are referred to its name servers"});
}

TEST(StackConfig, WarnsOfAZoneOfForwardingThatIsOurOwn) {
  const auto zone = [](const std::string& name) { return "{zone: " + name + ", upstreams: [198.51.100.1]}"; };
  const StackConfig config =
      make(with_dns_policy("  entries: [{hostname: registry.example.org, ip: 192.0.2.9}]\n  forwarding: {zones: [" +
                           zone("x.blue.hc.example.com") + ", " + zone("registry.example.org") + ", " +
                           zone("hc.example.com") + ", " + zone("example.net") + "]}\n"),
           test::example_observed());
  EXPECT_EQ(messages(config.warnings, "zone-not-forwarded"),
            (Texts{"hcp/vlan7: nothing of the zone x.blue.hc.example.com. is forwarded in view vlan, pod: "
                   "blue.hc.example.com. is a zone of our own",
                   "hcp/vlan7: nothing of the zone registry.example.org. is forwarded in view vlan: "
                   "registry.example.org. is a zone of our own"}));
}

TEST(StackConfig, WarnsOfAZoneThatTakesTheNamesOfEverybody) {
  EXPECT_EQ(messages(make(with_dns_policy("  leaseDomain: in-addr.arpa\n"), {}).warnings, "zone-not-forwarded"),
            Texts{"hcp/vlan7: no name below in-addr.arpa. is forwarded in view vlan: that is a zone of our own"});
  EXPECT_EQ(messages(make(with_dns_policy("  leaseDomain: vms.example.com\n"), {}).warnings, "zone-not-forwarded"),
            Texts{});
}

TEST(StackConfig, WarnsOfClientsThatNoViewHas) {
  const auto warnings = [](const std::string& access) {
    return messages(make(with_dns_policy("  access: [" + access + "]\n"), {}).warnings, "no-client-of-view");
  };
  const Texts nobody{"hcp/vlan7: no client of the view vlan is in any of these networks"};
  EXPECT_EQ(warnings("{view: vlan, allowedClients: [10.0.0.0/8, '2001:db8::/32']}"), nobody);
  EXPECT_EQ(warnings("{view: vlan, forwardedClients: [10.0.0.0/8]}"), nobody);
  EXPECT_EQ(warnings("{view: vlan, allowedClients: [192.0.0.0/16, 10.0.0.0/8]}"), Texts{});
  EXPECT_EQ(warnings("{view: pod, allowedClients: [10.0.0.0/8]}"), Texts{});
}

TEST(StackConfig, RefusesAPodAddressInTheFormOfAnIpv6One) {
  const auto config =
      make_stack_config(spec::check(test::example_set()).value(), {}, {{*parse_ip_address("::ffff:192.0.2.3")}, {}});
  ASSERT_TRUE(config.has_error());
  EXPECT_EQ(messages(config.error(), "bad-pod-address"),
            Texts{"the pod address ::ffff:192.0.2.3 is 192.0.2.3 in the form of an IPv6 address"});
}

std::vector<spec::SourceText> with_lease_domain(const std::string& domain) {
  std::vector<spec::SourceText> set = test::example_set();
  set[0].text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: p, namespace: hcp}\nspec: "
      "{targetRef: {kind: Infra, name: vlan7}, reverse: true, recordTTLSeconds: 20, leaseDomain: " +
      domain + "}\n";
  return set;
}

TEST(StackConfig, MakesZonesForTheNamesOfLeases) {
  const StackConfig config = make(with_lease_domain("vms.example.com"), test::example_observed());
  const LeaseZone& leases = config.dns.at(0).lease_zone.value();
  EXPECT_EQ(leases.subnets, Texts{"hcp/vlan7"});
  EXPECT_EQ(leases.ttl, 20u);
  EXPECT_EQ(config.dhcp.subnets.at(0).names_domain, "vms.example.com");
  ASSERT_EQ(leases.reverse.size(), 1u);
  EXPECT_EQ(leases.reverse[0].to_string(), "2.0.192.in-addr.arpa.");
  EXPECT_EQ(lookup(view(config, "vlan"), "nobody.vms.example.com"), "NXDOMAIN");
  EXPECT_EQ(lookup(view(config, "vlan"), "99.2.0.192.in-addr.arpa", dns::Type::ptr), "NXDOMAIN");
  EXPECT_EQ(lookup(view(config, "pod"), "nobody.vms.example.com"), "not ours");
}

TEST(StackConfig, KeepsTheNamesOfLeasesApartFromThoseOfClusters) {
  for (const char* const domain : {"blue.hc.example.com", "vms.red.hc.example.com", "example.com"}) {
    const auto config = make_stack_config(spec::check(with_lease_domain(domain)).value(), {}, {});
    ASSERT_TRUE(config.has_error()) << domain;
    EXPECT_EQ(place(only(config.error(), "lease-domain-overlaps")), "set.yaml:33 /spec/leaseDomain");
  }
}

TEST(StackConfig, SaysInWhichLineTwoServersMeet) {
  std::string second = kSingleServers;
  for (std::size_t at = 0; (at = second.find("namespace: \"n\"}", at)) != std::string::npos; ++at)
    second.replace(at, 15, "namespace: nem}");
  second.replace(second.find("192.0.2.8"), 9, "192.0.2.7");
  const auto set = spec::check({{"a.yaml", kSingleServers}, {"b.yaml", second}});
  const auto config = make_stack_config(set.value(), {}, {});
  ASSERT_TRUE(config.has_error());
  for (const Diagnostic& d : Diagnostics(config.error())) {
    EXPECT_EQ(d.code, "listener-collides");
    EXPECT_EQ(place(d), "b.yaml:6 /spec/networkConfig/serverIP");
    EXPECT_NE(d.message.find("n/p (a.yaml:6)"), std::string::npos) << d.message;
  }
}

TEST(StackConfig, SaysWhichLineAWarningIsAbout) {
  std::string text = kSingleServers;
  text.replace(text.find(", secondaryNetworkCIDR: 192.0.2.0/24"), 36, "");
  text += R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec:
  targetRef: {kind: DNSServer, name: d}
  records:
  - {name: note.x.example.com, type: TXT, data: [hello]}
  - {name: api.x.example.com, type: CNAME, data: [note.x.example.com.]}
)";
  const StackConfig single = make({{"single.yaml", text}}, {});
  EXPECT_EQ(place(only(single.warnings, "no-second-view")), "single.yaml:17 /spec/networkConfig/secondaryNetworkCIDR");
  EXPECT_EQ(place(only(single.warnings, "alias-not-alone")), "single.yaml:32 /spec/records/1");

  std::vector<spec::SourceText> set = test::example_set();
  set[0].text.erase(set[0].text.find("---"));
  set[0].text +=
      "---\n{apiVersion: hcpnet.io/v1alpha1, kind: ProxyPolicy, metadata: {name: p, namespace: hcp}, spec: "
      "{targetRef: {kind: Infra, name: vlan7}, proxyProtocol: {send: V2, backends: [nobody]}}}\n";
  const StackConfig empty = make(set, {});
  EXPECT_EQ(place(only(empty.warnings, "no-clusters")), "set.yaml:10 /spec/infraComponents/proxy");
  EXPECT_EQ(place(only(empty.warnings, "no-such-backend")), "set.yaml:12 /spec/proxyProtocol/backends/0");

  set = test::example_set();
  set[0].text.replace(set[0].text.find(", internalProxyService: vlan7-proxy.hcp.svc"), 43, "");
  EXPECT_EQ(place(only(make(set, {}).warnings, "no-internal-proxy")),
            "set.yaml:10 /spec/infraComponents/proxy/internalProxyService");
}

std::vector<spec::SourceText> with_proxy_policy(const std::string& fields) {
  std::vector<spec::SourceText> set = test::example_set();
  set[0].text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: p, namespace: hcp}\nspec:\n  "
      "targetRef: {kind: Infra, name: vlan7}\n" +
      fields;
  return set;
}
const proxy::RouteConfig& routes(const StackConfig& config) {
  return config.proxies.at(0).table->config();
}

TEST(StackConfig, PublishesTheApiOn443WhereItsPolicySaysSo) {
  const std::string blue = "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443";
  const char* stranger = "192.0.2.140";
  std::vector<spec::SourceText> set = with_proxy_policy("  publishAPIOn443: true\n");
  const StackConfig config = make(set, test::example_observed());
  EXPECT_EQ(route(config, "api.blue.hc.example.com", 443, stranger), blue);
  for (const char* name : {"", "172.20.0.1", "nobody.example.org"}) {
    EXPECT_EQ(route(config, name, 443, "192.0.2.101"), blue) << name;
    EXPECT_EQ(route(config, name, 443, stranger), "closed: source_not_allowed") << name;
  }
  EXPECT_EQ(route(config, "", 443, "192.0.2.111"),
            "red-kube-apiserver -> kube-apiserver.hcp-red.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "oauth.red.hc.example.com", 443, "192.0.2.101"),
            "red-oauth-openshift -> oauth-openshift.hcp-red.svc.cluster.local:6443");

  // With one cluster every client is its own.
  std::string& text = set[0].text;
  const std::size_t red = text.find("kind: InfraClusterAttachment\nmetadata: {name: red");
  const std::size_t begin = text.rfind("---", red);
  text.erase(begin, text.find("---", red) - begin);
  const StackConfig single = make(set, {});
  for (const std::uint16_t port : {std::uint16_t{443}, std::uint16_t{6443}})
    for (const char* name : {"", "172.20.0.1", "kubernetes.default.svc", "nobody.example.org"})
      EXPECT_EQ(route(single, name, port, stranger), blue) << name << " on " << port;
}

TEST(StackConfig, ABackendHasItsTargetWhereverThatIsServed) {
  const std::vector<proxy::Backend> by_name = routes(make({{"single.yaml", kSingleServers}}, {})).backends;
  EXPECT_EQ(by_name.at(0).target, "ns-x/kube-apiserver:6443");
  EXPECT_EQ(by_name.at(2).target, "203.0.113.7:6443");
  Surroundings surroundings;
  surroundings.endpoints["ns-x/kube-apiserver:6443"] = {};
  const spec::ValidSet set = spec::check({{"single.yaml", kSingleServers}}).value();
  const StackConfig unserved = make_stack_config(set, {}, surroundings).value();
  EXPECT_TRUE(routes(unserved).backends.at(0).is_unserved);
  EXPECT_EQ(routes(unserved).backends.at(0).target, "ns-x/kube-apiserver:6443");
}

TEST(StackConfig, TellsAnEngineWhatItsPolicySays) {
  const StackConfig plain = example();
  const proxy::EngineSettings usual;
  EXPECT_EQ(plain.proxies.at(0).settings.max_hello_bytes, usual.max_hello_bytes);
  EXPECT_EQ(plain.proxies.at(0).settings.max_connect_attempts, usual.max_connect_attempts);
  EXPECT_EQ(plain.proxies.at(0).settings.inspect_timeout, usual.inspect_timeout);
  EXPECT_EQ(plain.proxies.at(0).settings.keepalive.idle, usual.keepalive.idle);
  EXPECT_EQ(plain.proxies.at(0).settings.buffers.receive_bytes, std::nullopt);

  const StackConfig config =
      make(with_proxy_policy("  inspectTimeoutSeconds: 3\n  maxHelloBytes: 2048\n  maxConnections: 7\n"
                             "  maxConnectionsPerSource: 5\n  maxConnectAttempts: 9\n  drainTimeoutSeconds: 11\n"
                             "  udpIdleTimeoutSeconds: 12\n  workers: 2\n  accessLog: {template: \"%{sni}\"}\n"
                             "  tcpKeepalive: {idleSeconds: 20, intervalSeconds: 21, probes: 22}\n"
                             "  socketBuffers: {receiveBytes: 0, sendBytes: 300000}\n"),
           test::example_observed());
  const proxy::EngineSettings& settings = config.proxies.at(0).settings;
  EXPECT_EQ(settings.inspect_timeout, std::chrono::seconds(3));
  EXPECT_EQ(settings.max_hello_bytes, 2048u);
  EXPECT_EQ(settings.max_connections, 7u);
  EXPECT_EQ(settings.max_connections_per_source, 5u);
  EXPECT_EQ(settings.max_connect_attempts, 9u);
  EXPECT_EQ(settings.removed_route_timeout, std::chrono::seconds(11));
  EXPECT_EQ(settings.udp_idle_timeout, std::chrono::seconds(12));
  EXPECT_EQ(settings.keepalive.idle, std::chrono::seconds(20));
  EXPECT_EQ(settings.keepalive.interval, std::chrono::seconds(21));
  EXPECT_EQ(settings.keepalive.probes, 22);
  EXPECT_EQ(settings.buffers.receive_bytes, 0u);
  EXPECT_EQ(settings.buffers.send_bytes, 300'000u);
  EXPECT_EQ(settings.access_log_format.render({}), "-");
  EXPECT_EQ(config.proxies.at(0).worker_threads, 2u);
}

TEST(StackConfig, TellsEveryBackendWhatItsPolicySays) {
  const StackConfig plain = example();
  for (const proxy::Backend& backend : routes(plain).backends) {
    SCOPED_TRACE(backend.name);
    EXPECT_EQ(backend.connect_timeout, std::chrono::seconds(30));
    EXPECT_TRUE(backend.balance == proxy::Balance::round_robin);
    EXPECT_TRUE(backend.ejection == proxy::Ejection());
    EXPECT_FALSE(backend.health_check.has_value());
    EXPECT_EQ(backend.max_connections, 0u);
  }

  const StackConfig config =
      make(with_proxy_policy("  connectTimeoutSeconds: 9\n  balance: LeastConnections\n"
                             "  healthCheck: {intervalSeconds: 8, timeoutSeconds: 3, failures: 4, successes: 5}\n"
                             "  ejection: {failures: 2, durationSeconds: 7}\n  maxConnectionsPerBackend: 6\n"
                             "  proxyProtocol: {send: V2, backends: [blue-apps-https]}\n"),
           test::example_observed());
  proxy::HealthCheck check;
  check.interval = std::chrono::seconds(8);
  check.timeout = std::chrono::seconds(3);
  check.failures = 4;
  check.successes = 5;
  for (const proxy::Backend& backend : routes(config).backends) {
    SCOPED_TRACE(backend.name);
    EXPECT_EQ(backend.connect_timeout, std::chrono::seconds(9));
    EXPECT_TRUE(backend.balance == proxy::Balance::least_connections);
    EXPECT_TRUE(backend.ejection == (proxy::Ejection{2, std::chrono::seconds(7)}));
    EXPECT_TRUE(backend.health_check == check);
    EXPECT_EQ(backend.max_connections, 6u);
    const auto header =
        backend.name == "blue-apps-https" ? proxy::ProxyHeaderVersion::v2 : proxy::ProxyHeaderVersion::none;
    EXPECT_TRUE(backend.proxy_header == header);
  }
  const StackConfig random = make(with_proxy_policy("  balance: RandomOfTwo\n"), test::example_observed());
  EXPECT_TRUE(routes(random).backends.at(0).balance == proxy::Balance::random_of_two);
}

TEST(StackConfig, TellsEveryListenerWhatItsPolicySays) {
  const StackConfig config =
      make(with_proxy_policy("  allowedSources: [192.0.2.0/24]\n  deniedSources: [192.0.2.9/32]\n"
                             "  maxConnectionsPerListener: 6\n  proxyProtocol: {trustedSources: [192.0.2.8/32]}\n"
                             "  interface: eth7\n  dialFrom: [192.0.2.4, \"2001:db8::4\"]\n"),
           test::example_observed());
  EXPECT_EQ(routes(config).listeners.size(), 3u);
  for (const proxy::Listener& listener : routes(config).listeners) {
    proxy::Listener expected{listener.address};
    expected.kind = listener.address.port == 80 ? proxy::ListenerKind::http : proxy::ListenerKind::tls;
    expected.allow = {*parse_cidr("192.0.2.0/24")};
    expected.deny = {*parse_cidr("192.0.2.9/32")};
    expected.max_connections = 6;
    expected.trusted_proxies = {*parse_cidr("192.0.2.8/32")};
    expected.interface = "eth7";
    expected.dial_from = {Ipv4(192, 0, 2, 4), *parse_ipv6("2001:db8::4")};
    EXPECT_TRUE(listener == expected) << listener.address.to_string();
  }
}

TEST(StackConfig, TheTimeoutOfABackendIsThatOfItsConnects) {
  std::string text = kSingleServers;
  text.insert(text.find("targetService: konnectivity-server"), "timeoutSeconds: 7, ");
  const auto backends_of = [](const std::string& specs) { return routes(make({{"single.yaml", specs}}, {})).backends; };
  for (const proxy::Backend& backend : backends_of(text)) {
    SCOPED_TRACE(backend.name);
    EXPECT_EQ(backend.connect_timeout, std::chrono::seconds(backend.name == "konn" ? 7 : 30));
    EXPECT_EQ(backend.idle_timeout, std::nullopt) << "a watch may be silent for longer";
  }
  text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: p, namespace: \"n\"}\n"
      "spec: {targetRef: {kind: ProxyServer, name: p}, connectTimeoutSeconds: 4}\n";
  for (const proxy::Backend& backend : backends_of(text))
    EXPECT_EQ(backend.connect_timeout, std::chrono::seconds(4)) << backend.name;
}

TEST(StackConfig, ABackendMayIdleAsLongAsItsPolicySaysOfIt) {
  const StackConfig config =
      make(with_proxy_policy("  idleTimeoutSeconds: 60\n  backends:\n  - {name: blue-kube-apiserver, "
                             "idleTimeoutSeconds: 0}\n  - {name: red-oauth-openshift, idleTimeoutSeconds: 5}\n"
                             "  - {name: nobody}\n"),
           test::example_observed());
  const auto idle = [&](const std::string& name) {
    return std::ranges::find(routes(config).backends, name, &proxy::Backend::name)->idle_timeout;
  };
  EXPECT_EQ(idle("blue-kube-apiserver"), std::nullopt);
  EXPECT_EQ(idle("red-kube-apiserver"), std::chrono::seconds(60));
  EXPECT_EQ(idle("red-oauth-openshift"), std::chrono::seconds(5));
  EXPECT_EQ(place(only(config.warnings, "no-such-backend")), "set.yaml:39 /spec/backends/2/name");
}

TEST(StackConfig, ABackendIsCheckedInAWayThatItCanPass) {
  const StackConfig config =
      make(with_proxy_policy("  healthCheck: {kind: TLS, intervalSeconds: 5}\n"), test::example_observed());
  const auto kind_of = [&](const std::string& name) {
    return std::ranges::find(routes(config).backends, name, &proxy::Backend::name)->health_check->kind;
  };
  EXPECT_EQ(kind_of("blue-kube-apiserver"), proxy::HealthCheck::Kind::tls);
  EXPECT_EQ(kind_of("blue-apps-https"), proxy::HealthCheck::Kind::tls);
  EXPECT_EQ(kind_of("blue-apps-http"), proxy::HealthCheck::Kind::tcp) << "it speaks no TLS";

  const spec::ValidSet server = spec::check({{"p.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: p, namespace: hcp}
spec:
  networkConfig: {serverIP: 192.0.2.4}
  backends:
  - {name: dns, port: 53, hostname: dns.example, targetService: 10.0.0.1, targetPort: 53, targetNamespace: a, protocol: UDP}
  - {name: ldaps, port: 636, hostname: ldaps.example, targetService: 10.0.0.1, targetPort: 636, targetNamespace: a}
---
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: ProxyServer, name: p}
  listeners: [{port: 636, kind: TCP}]
  healthCheck: {kind: TLS}
)"}})
                                    .value();
  const StackConfig single = make_stack_config(server, {}, {}).value();
  EXPECT_FALSE(routes(single).backends.at(0).health_check.has_value()) << "a connection says nothing about UDP";
  EXPECT_EQ(routes(single).backends.at(1).health_check->kind, proxy::HealthCheck::Kind::tls) << "as the policy says";
}

TEST(StackConfig, AListenerServesTheNamesThatAreAllowedOnItAlone) {
  const auto config_for = [](const std::string& lists) {
    Diagnostics warnings;
    const spec::Observed observed = spec::load_observed(test::example_observed(), {}, warnings).value();
    spec::ValidSet set = spec::check(with_proxy_policy("  allowedNames:\n" + lists)).value();
    spec::apply_observed(set, observed);
    return make_stack_config(set, observed, {{Ipv4(172, 16, 0, 9)}, {}}).value();
  };
  const StackConfig config = config_for(
      "  - {port: 443, address: 172.16.0.9, names: [OAuth.blue.hc.example.com]}\n"
      "  - {port: 80, names: [\"*.apps.red.hc.example.com\"]}\n");
  std::map<std::string, std::vector<std::string>> allowed;
  for (const proxy::Listener& l : routes(config).listeners) allowed[l.address.to_string()] = l.only_names;
  EXPECT_EQ(allowed.at("192.0.2.4:443"), Texts{});
  EXPECT_EQ(allowed.at("172.16.0.9:443"), Texts{"oauth.blue.hc.example.com"});
  EXPECT_EQ(allowed.at("172.16.0.9:80"), Texts{"*.apps.red.hc.example.com"});
  EXPECT_EQ(allowed.at("192.0.2.4:80"), Texts{"*.apps.red.hc.example.com"});
  EXPECT_EQ(allowed.at("192.0.2.4:6443"), Texts{});
  EXPECT_EQ(route(config, "x.apps.blue.hc.example.com", 80, "192.0.2.140"), "closed: name_not_allowed");
  const auto explained = explain_routes("p", *config.proxies.at(0).table, {}, "oauth.red.hc.example.com", 443,
                                        *parse_ip_address("192.0.2.140"));
  ASSERT_EQ(explained.size(), 2u) << "one answer for each address";
  EXPECT_EQ(explained[0].rule, "exact");
  EXPECT_EQ(explained[1].rule, "name_not_allowed");

  const auto refused = make_stack_config(
      spec::check(with_proxy_policy("  allowedNames:\n  - {port: 444, names: [a.example]}\n")).value(), {}, {});
  ASSERT_TRUE(refused.has_error()) << "it would restrict nobody";
  EXPECT_EQ(place(only(refused.error(), "no-such-listener")), "set.yaml:36 /spec/allowedNames/0");
  const StackConfig later =
      make_stack_config(spec::check(with_proxy_policy("  allowedNames:\n  - {port: 80, names: [a.example]}\n")).value(),
                        {}, {})
          .value();
  EXPECT_EQ(only(later.warnings, "no-such-listener").severity, Severity::warning) << "applications may come";
}

TEST(StackConfig, ASideServesTheNamesThatAreAllowedOnIt) {
  const auto build = [](const std::string& lists, const std::vector<IpAddress>& pod_addresses) {
    const spec::ValidSet set = spec::check(with_proxy_policy("  allowedNames:\n" + lists)).value();
    return make_stack_config(set, {}, {pod_addresses, {}}).value();
  };
  const std::string lists =
      "  - {port: 443, names: [c.example]}\n  - {port: 443, side: pod, names: [a.example]}\n"
      "  - {port: 443, address: 172.16.0.8, names: [b.example]}\n";
  const StackConfig config = build(lists, {Ipv4(172, 16, 0, 9), Ipv4(172, 16, 0, 8)});
  std::map<std::string, std::vector<std::string>> allowed;
  for (const proxy::Listener& l : routes(config).listeners) allowed[l.address.to_string()] = l.only_names;
  EXPECT_EQ(allowed.at("172.16.0.9:443"), Texts{"a.example"});
  EXPECT_EQ(allowed.at("172.16.0.8:443"), Texts{"b.example"}) << "an address goes before a side";
  EXPECT_EQ(allowed.at("192.0.2.4:443"), Texts{"c.example"}) << "and a side before none";
  EXPECT_EQ(allowed.at("172.16.0.9:6443"), Texts{});

  const std::string one_side = "  - {port: 443, side: pod, names: [a.example]}\n";
  const StackConfig alone = build(one_side, {});
  EXPECT_TRUE(routes(alone).listeners.at(1).only_names.empty()) << "nobody comes in on that side";
  EXPECT_FALSE(std::ranges::any_of(alone.warnings, [](const auto& d) { return d.code == "no-such-listener"; }));
  const spec::ValidSet set = spec::check(with_proxy_policy("  allowedNames:\n" + one_side)).value();
  Surroundings everywhere;
  everywhere.has_any_address = true;
  const auto refused = make_stack_config(set, {}, everywhere);
  ASSERT_TRUE(refused.has_error()) << "it would serve everything on addresses that nobody has named";
  EXPECT_EQ(place(only(refused.error(), "no-such-listener")), "set.yaml:36 /spec/allowedNames/0/side");
  everywhere.pod_addresses = {Ipv4(172, 16, 0, 9)};
  EXPECT_TRUE(make_stack_config(set, {}, everywhere).has_value());
  const auto wrong = make_stack_config(
      spec::check(with_proxy_policy("  allowedNames:\n  - {port: 444, side: pod, names: [a.example]}\n")).value(), {},
      {{Ipv4(172, 16, 0, 9)}, {}});
  ASSERT_TRUE(wrong.has_error());
  EXPECT_EQ(place(only(wrong.error(), "no-such-listener")), "set.yaml:36 /spec/allowedNames/0");
}

TEST(StackConfig, AListOfNamesForAnAddressThatIsNotThereIsRefused) {
  const auto build = [](const std::string& address) {
    spec::ValidSet set = spec::check(with_proxy_policy("  allowedNames:\n  - {port: 443, address: \"" + address +
                                                       "\", names: [a.example]}\n"))
                             .value();
    return make_stack_config(set, {}, {{Ipv4(172, 16, 0, 9)}, {}});
  };
  const auto refused = build("172.16.0.8");
  ASSERT_TRUE(refused.has_error()) << "it would restrict nobody";
  EXPECT_EQ(place(only(refused.error(), "no-such-listener")), "set.yaml:36 /spec/allowedNames/0/address");
  EXPECT_TRUE(build("::ffff:172.16.0.9").has_value());
  const spec::ValidSet set =
      spec::check(with_proxy_policy("  allowedNames:\n  - {port: 443, address: 172.16.0.9, names: [a.example]}\n"))
          .value();
  const StackConfig looked_at = make_stack_config(set, {}, unknown_place()).value();
  EXPECT_EQ(place(only(looked_at.warnings, "no-such-listener")), "set.yaml:36 /spec/allowedNames/0/address")
      << "where it runs it may be right";
}

TEST(StackConfig, KnowsAWorkerByAnAddressOfAnyType) {
  std::vector<spec::SourceText> objects = test::example_observed();
  objects.push_back({"machines.yaml", R"(apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: b2, namespace: hcp-blue}
status:
  addresses:
  - {type: Hostname, address: b2}
  - {type: ExternalIP, address: 192.0.2.103}
  - {type: ExternalIP, address: 203.0.113.103}
)"});
  const StackConfig config = make(test::example_set(), objects);
  EXPECT_EQ(route(config, "", 6443, "192.0.2.103"),
            "blue-kube-apiserver -> kube-apiserver.hcp-blue.svc.cluster.local:6443");
  EXPECT_EQ(route(config, "", 6443, "203.0.113.103"), "closed: source_not_allowed");
}

TEST(StackConfig, LeadsToTheAddressOfAServiceThatWasSeen) {
  std::vector<spec::SourceText> objects = test::example_observed();
  objects.push_back({"services.yaml", R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: kube-apiserver, namespace: hcp-blue}, spec: {clusterIP: 172.30.0.10, ports: [{port: 6443}]}}
- {apiVersion: v1, kind: Service, metadata: {name: kube-apiserver, namespace: hcp-red}, spec: {clusterIP: 172.30.0.11}, status: {loadBalancer: {ingress: [{ip: 198.51.100.20}]}}}
- {apiVersion: v1, kind: Service, metadata: {name: oauth-openshift, namespace: hcp-red}, spec: {clusterIP: None}}
)"});
  const StackConfig config = make(test::example_set(), objects);
  const char* stranger = "192.0.2.140";
  EXPECT_EQ(route(config, "api.blue.hc.example.com", 6443, stranger), "blue-kube-apiserver -> 172.30.0.10:6443");
  EXPECT_EQ(route(config, "api.red.hc.example.com", 6443, stranger), "red-kube-apiserver -> 198.51.100.20:6443");
  EXPECT_EQ(route(config, "oauth.red.hc.example.com", 443, stranger),
            "red-oauth-openshift -> oauth-openshift.hcp-red.svc.cluster.local:6443");
}

TEST(StackConfig, TheEmbeddersEndpointsGoBeforeTheOthers) {
  Surroundings surroundings;
  surroundings.endpoints = {{"hcp-blue/kube-apiserver:6443", {{Ipv4(10, 0, 0, 1), 6443}}},
                            {"hcp-red/kube-apiserver:6443", {}}};
  const StackConfig config = make(test::example_set(), test::example_observed(), surroundings);
  EXPECT_EQ(route(config, "api.blue.hc.example.com", 6443, "192.0.2.140"), "blue-kube-apiserver -> 10.0.0.1:6443");
  const auto red = std::ranges::find(routes(config).backends, "red-kube-apiserver", &proxy::Backend::name);
  EXPECT_TRUE(red->is_unserved);
}

}  // namespace
}  // namespace hcpnet
