// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/explain.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <hcpnet/stack/config.hpp>

namespace hcpnet {
namespace {

using Texts = std::vector<std::string>;

const std::string kZone =
    "$TTL 60\n"
    "@ IN SOA ns hostmaster 7 3600 600 86400 30\n"
    "  IN NS ns\n"
    "ns A 192.0.2.53\n"
    "www A 192.0.2.80\n"
    "web CNAME www\n";

/// A DNSServer for blue.hc.example.com, and a policy with `fields`.
std::string spec_with(const std::string& fields) {
  return R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: d, namespace: "n"}
spec:
  networkConfig: {serverIP: 192.0.2.3, proxyIP: 192.0.2.4, internalProxyIP: 172.30.0.4, secondaryNetworkCIDR: 192.0.2.0/24}
  hostedClusterDomain: blue.hc.example.com
  staticEntries: [{hostname: api.blue.hc.example.com, ip: 192.0.2.4}]
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec:
  targetRef: {kind: DNSServer, name: d}
  recordTTLSeconds: 20
  entries: [{hostname: registry.example.org, ip: 192.0.2.9}]
)" + fields;
}

Result<StackConfig, Diagnostics> make(const std::string& fields, const std::vector<spec::RecordText>& records) {
  const spec::SpecSet specs = spec::load({{"dir/set.yaml", spec_with(fields)}});
  const auto set = spec::validate(specs, records);
  if (set.has_error()) return set.error();
  return make_stack_config(*set, {}, {});
}

/// "file:line code", of errors or of warnings.
Texts places(const Diagnostics& problems) {
  Texts all;
  for (const Diagnostic& d : problems) all.push_back(d.file + ':' + std::to_string(d.line) + ' ' + d.code);
  return all;
}

Texts errors(const std::string& fields, const std::vector<spec::RecordText>& records) {
  const auto config = make(fields, records);
  EXPECT_TRUE(config.has_error());
  return config.has_error() ? places(config.error()) : Texts{};
}

/// What a client gets: the last rule and its records.
std::string ask(const StackConfig& config, const std::string& name, const char* client = "192.0.2.77",
                dns::Type type = dns::Type::a) {
  const auto found =
      dns::explain(config.dns.at(0).config, dns::parse_name(name).value(), type, *parse_ip_address(client)).value();
  std::string text(dns::to_string(found.steps.back().rule));
  for (const std::string& record : found.steps.back().records) text += ' ' + record;
  return text;
}

TEST(FileRecords, AZoneFileIsAZoneOfItsView) {
  const auto config = make("  zoneFiles: [{path: zones/a, zone: corp.example.com}]\n", {{"dir/zones/a", kZone, {}}});
  ASSERT_TRUE(config.has_value()) << config.error().to_string();
  EXPECT_EQ(ask(*config, "www.corp.example.com"), "exact www.corp.example.com. 60 IN A 192.0.2.80");
  EXPECT_EQ(ask(*config, "web.corp.example.com"), "exact www.corp.example.com. 60 IN A 192.0.2.80");
  EXPECT_EQ(ask(*config, "none.corp.example.com"), "nxdomain");
  EXPECT_EQ(ask(*config, "www.corp.example.com", "172.16.0.9"), "forwarded") << "the pod side has not asked for it";
  EXPECT_TRUE(config->warnings.empty()) << config->warnings.to_string();
}

TEST(FileRecords, AHostsFileJoinsTheZoneThatHoldsAName) {
  const std::string hosts = "192.0.2.31 node.blue.hc.example.com\n2001:db8::31 node.blue.hc.example.com pad\n";
  const auto config = make("  hostsFiles: [{path: /etc/hosts.lan}, {path: /etc/hosts.lan, view: pod}]\n",
                           {{"/etc/hosts.lan", hosts, {}}});
  ASSERT_TRUE(config.has_value()) << config.error().to_string();
  EXPECT_EQ(ask(*config, "node.blue.hc.example.com"), "exact node.blue.hc.example.com. 20 IN A 192.0.2.31");
  EXPECT_EQ(ask(*config, "api.blue.hc.example.com"), "exact api.blue.hc.example.com. 20 IN A 192.0.2.4");
  EXPECT_EQ(ask(*config, "pad", "172.16.0.9", dns::Type::aaaa), "exact pad. 20 IN AAAA 2001:db8::31");
  EXPECT_EQ(ask(*config, "pad", "172.16.0.9"), "nodata");
}

TEST(FileRecords, EveryProblemOfEveryFileIsReportedAtOnce) {
  const std::string fields =
      "  zoneFiles: [{path: a}, {path: b, view: nobody}, {path: gone}, {path: c, zone: x..y}]\n"
      "  hostsFiles: [{path: h}]\n";
  const std::vector<spec::RecordText> records{{"dir/a", "$ORIGIN a.test.\n@ 9 SOA ns h 1 1 1 1 1\nx 9 A nine\n", {}},
                                              {"dir/b", "nonsense\n", {}},
                                              {"dir/gone", {}, "No such file or directory"},
                                              {"dir/h", "192.0.2 a\n192.0.2.1 ok b..c\n", {}}};
  Texts found = errors(fields, records);
  std::ranges::sort(found);
  EXPECT_EQ(found, (Texts{"dir/a:3 zone-rdata", "dir/b:1 zone-origin", "dir/b:1 zone-record", "dir/h:1 hosts-address",
                          "dir/h:2 hosts-name", "dir/set.yaml:16 bad-name", "dir/set.yaml:16 bad-reference",
                          "dir/set.yaml:16 unreadable-file"}));
}

TEST(FileRecords, ATextThatNobodyGaveIsAnError) {
  EXPECT_EQ(errors("  zoneFiles: [{path: zones/a}]\n", {}), Texts{"dir/set.yaml:16 unreadable-file"});
  EXPECT_EQ(errors("  zoneFiles: [{path: zones/a}]\n", {{"dir/zones/a", {}, "all have more", true}}),
            Texts{"dir/set.yaml:16 zone-too-large"});
}

TEST(FileRecords, TheZoneIsTheOneThatThePolicySays) {
  const std::string zone = "corp.example.com. 9 IN SOA ns.x. h.x. 1 1 1 1 1\n";
  EXPECT_EQ(errors("  zoneFiles: [{path: a, zone: corp.example.org}]\n", {{"dir/a", zone, {}}}),
            Texts{"dir/a:1 zone-apex"});
}

TEST(FileRecords, AnApexOfTwoSourcesIsAnErrorThatNamesBoth) {
  const auto config = make(
      "  zoneFiles: [{path: a, zone: blue.hc.example.com}, {path: a, zone: corp.example.com},"
      " {path: b}]\n",
      {{"dir/a", kZone, {}}, {"dir/b", "$ORIGIN corp.example.com.\n" + kZone, {}}});
  ASSERT_TRUE(config.has_error());
  EXPECT_EQ(places(config.error()), (Texts{"dir/a:2 record-clash", "dir/b:3 record-clash"}));
  EXPECT_EQ(config.error().items()[0].message,
            "n/d: the zone blue.hc.example.com. is there already, by n/d (view vlan)");
  EXPECT_EQ(config.error().items()[1].message,
            "n/d: the zone corp.example.com. is there already, by dir/a (view vlan)");
}

TEST(FileRecords, ANameAndTypeOfTwoSourcesIsAnErrorThatNamesBoth) {
  const std::string zone = "$TTL 9\n@ SOA ns h 1 1 1 1 1\nregistry A 192.0.2.10\napi.blue.hc A 192.0.2.5\n";
  const auto above = make("  zoneFiles: [{path: a, zone: example.org}]\n", {{"dir/a", zone, {}}});
  ASSERT_TRUE(above.has_error());
  EXPECT_EQ(places(above.error()), Texts{"dir/a:3 record-clash"});
  EXPECT_EQ(above.error().items()[0].message,
            "n/d: registry.example.org. A is published already by dir/set.yaml:15 (view vlan)");

  const auto hosts =
      make("  hostsFiles: [{path: h}, {path: i}]\n",
           {{"dir/h", "# who\n192.0.2.6 api.blue.hc.example.com\n192.0.2.7 a\n", {}}, {"dir/i", "192.0.2.8 A\n", {}}});
  ASSERT_TRUE(hosts.has_error());
  EXPECT_EQ(places(hosts.error()), (Texts{"dir/h:2 record-clash", "dir/i:1 record-clash"}));
  EXPECT_EQ(hosts.error().items()[0].message,
            "n/d: api.blue.hc.example.com. A is published already by n/d (view vlan)");
  EXPECT_EQ(hosts.error().items()[1].message, "n/d: A. A is published already by dir/h:3 (view vlan)");
}

TEST(FileRecords, AZoneFileTakesNoNamesFromAZoneAboveIt) {
  const auto config = make("  zoneFiles: [{path: a, zone: api.blue.hc.example.com}]\n", {{"dir/a", kZone, {}}});
  ASSERT_TRUE(config.has_error());
  EXPECT_EQ(places(config.error()), Texts{"dir/a:2 record-clash"});
  EXPECT_EQ(config.error().items()[0].message,
            "n/d: the zone api.blue.hc.example.com. would hide api.blue.hc.example.com. A, published by n/d (view "
            "vlan)");
}

TEST(FileRecords, WhatAZoneBelowHidesIsAWarningUnlessItIsDelegated) {
  const auto with = [](const std::string& record) {
    return make("  zoneFiles: [{path: a, zone: example.com}]\n",
                {{"dir/a", "$TTL 9\n@ SOA ns h 1 1 1 1 1\n" + record, {}}})
        .value();
  };
  EXPECT_EQ(places(with("x.blue.hc TXT t\n").warnings), Texts{"dir/set.yaml:16 records-hidden"});
  EXPECT_TRUE(with("blue.hc NS api.blue.hc\napi.blue.hc A 192.0.2.3\n").warnings.empty());
  EXPECT_TRUE(with("* A 192.0.2.3\n").warnings.empty());
}

TEST(FileRecords, AZoneFileBelowAnotherIsLookedAtInEitherOrder) {
  const std::string head = "$TTL 9\n@ SOA ns h 1 1 1 1 1\n";
  const std::string lists[] = {
      "  zoneFiles: [{path: outer, zone: corp.example.com}, {path: inner, zone: sub.corp.example.com}]\n",
      "  zoneFiles: [{path: inner, zone: sub.corp.example.com}, {path: outer, zone: corp.example.com}]\n"};
  for (const std::string& list : lists) {
    const auto with = [&](const std::string& outer, const std::string& inner) {
      return make(list, {{"dir/outer", head + outer, {}}, {"dir/inner", head + inner, {}}});
    };
    const auto clash = with("www.sub A 192.0.2.1\n", "www A 192.0.2.2\n");
    ASSERT_TRUE(clash.has_error()) << list;
    EXPECT_EQ(places(clash.error()), Texts{"dir/outer:3 record-clash"});
    EXPECT_EQ(clash.error().items()[0].message,
              "n/d: www.sub.corp.example.com. A is published already by dir/inner:3 (view vlan)");
    EXPECT_EQ(places(with("www.sub A 192.0.2.1\n", "").value().warnings), Texts{"dir/set.yaml:16 records-hidden"});
    EXPECT_TRUE(with("sub NS ns.sub\nns.sub A 192.0.2.1\n", "ns A 192.0.2.1\n").value().warnings.empty());
  }
}

TEST(FileRecords, WhetherSourcesClashDoesNotDependOnWhatIsKnown) {
  const auto with = [](const std::string& policy, const std::vector<spec::RecordText>& records,
                       const std::string& objects = {}) {
    const spec::SpecSet specs = spec::load({{"set.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: i, namespace: hcp}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dns: {serverIP: 192.0.2.3}
    proxy: {serverIP: 192.0.2.4, internalProxyService: edge.hcp.svc}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: InfraClusterAttachment
metadata: {name: blue, namespace: hcp}
spec:
  infraRef: {name: i}
  hostedClusterRef: {name: blue, namespace: hcp}
  dns: {clusterName: blue, baseDomain: hc.example.com}
  appsIngress: {enabled: true, metallb: {addressPoolName: blue, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: hcp}
spec:
  targetRef: {kind: Infra, name: i}
)" + policy}});
    Diagnostics warnings;
    const auto observed = spec::load_observed({{"observed.yaml", objects}}, {}, warnings).value();
    auto set = spec::validate(specs, records).value();
    spec::apply_observed(set, observed);
    const auto config = make_stack_config(set, observed, {});
    return config.has_error() ? places(config.error()) : Texts{};
  };
  const std::string known = R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: edge, namespace: hcp}, spec: {clusterIP: 172.30.9.4, ports: [{port: 443, protocol: TCP}]}}
- {apiVersion: hostedcluster.densityops.com/v1alpha1, kind: InfraClusterAttachment, metadata: {name: blue, namespace: hcp}, status: {appsIngressStatus: {externalIP: 192.0.2.200}}}
)";
  const std::string nothing = "{apiVersion: v1, kind: List, items: []}\n";
  const std::string zone = "$TTL 9\n@ SOA ns h 1 1 1 1 1\n*.apps.blue A 198.51.100.9\n";
  for (const std::string& objects : {nothing, known}) {
    EXPECT_EQ(with("  hostsFiles: [{path: /h, view: pod}]\n", {{"/h", "198.51.100.9 api.blue.hc.example.com\n", {}}},
                   objects),
              Texts{"/h:1 record-clash"});
    EXPECT_EQ(with("  zoneFiles: [{path: /z, zone: hc.example.com}]\n", {{"/z", zone, {}}}, objects),
              Texts{"/z:3 record-clash"});
    EXPECT_EQ(with("  hostsFiles: [{path: /h, view: pod}]\n", {{"/h", "198.51.100.9 own.blue.hc.example.com\n", {}}},
                   objects),
              Texts{});
  }
}

TEST(FileRecords, ProblemsSayWhereAndNeverWhatIsThere) {
  const std::string secret = "c2VjcmV0LWtleQ";
  const std::string text = secret + "\n-----BEGIN " + secret + "\n" + secret + ": " + secret + " A " + secret + "\n";
  for (const std::string kind : {"zoneFiles", "hostsFiles"}) {
    const auto config = make("  " + kind + ": [{path: /etc/key}]\n", {{"/etc/key", text, {}}});
    ASSERT_TRUE(config.has_error());
    const std::string shown = config.error().to_string();
    EXPECT_NE(shown.find("/etc/key:1:"), std::string::npos) << shown;
    EXPECT_EQ(shown.find(secret), std::string::npos) << shown;
  }
}

TEST(FileRecords, ErrorsThatAreNotShownAreCounted) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "none host\n";
  const auto config = make("  hostsFiles: [{path: /hosts}]\n", {{"/hosts", text, {}}});
  ASSERT_TRUE(config.has_error());
  EXPECT_EQ(Diagnostics(config.error()).error_count(), 300U);
}

TEST(FileRecords, AZoneOfForwardingThatAFileTakesIsAWarning) {
  const std::string fields =
      "  forwarding: {zones: [{zone: a.corp.example.com, upstreams: [198.51.100.1]}, {zone: other.example.com, "
      "upstreams: "
      "[198.51.100.1]}, {zone: x.host.example.net, upstreams: [198.51.100.1]}]}\n"
      "  zoneFiles: [{path: a, zone: corp.example.com}]\n"
      "  hostsFiles: [{path: h}]\n";
  const auto config = make(fields, {{"dir/a", kZone, {}}, {"dir/h", "192.0.2.7 host.example.net\n", {}}}).value();
  EXPECT_EQ(places(config.warnings),
            (Texts{"dir/set.yaml:16 zone-not-forwarded", "dir/set.yaml:16 zone-not-forwarded"}));
  EXPECT_EQ(config.warnings.items()[0].path, "/spec/forwarding/zones/0/zone");
  EXPECT_EQ(config.warnings.items()[1].path, "/spec/forwarding/zones/2/zone");
}

TEST(FileRecords, AZoneThatHidesNamesOfLeasesIsAWarning) {
  const std::string zone = "@ 9 SOA ns h 1 1 1 1 1\n";
  const auto with = [&](const std::string& apex) {
    return make("  leaseDomain: vms.example.org\n  zoneFiles: [{path: a, zone: " + apex + "}, {path: a, zone: " + apex +
                    ", view: pod}]\n",
                {{"dir/a", zone, {}}})
        .value();
  };
  const StackConfig config = with("node1.vms.example.org");
  EXPECT_EQ(places(config.warnings), Texts{"dir/set.yaml:17 lease-names-hidden"}) << "leases have no names in pod";
  EXPECT_EQ(config.warnings.items()[0].message,
            "n/d: the zone node1.vms.example.org. of dir/a would hide the name of a lease; leaseDomain is "
            "vms.example.org.");
  for (const char* const apart : {"a.node1.vms.example.org", "_tcp.vms.example.org", "vms2.example.org"})
    EXPECT_TRUE(with(apart).warnings.empty()) << apart;
}

TEST(FileRecords, AZoneThatHidesPointersOfLeasesIsAWarning) {
  const spec::SpecSet specs = spec::load({{"set.yaml", R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: i, namespace: "n"}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: 192.0.2.2, rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}
    dns: {serverIP: 192.0.2.3}
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: "n"}
spec:
  targetRef: {kind: Infra, name: i}
  leaseDomain: vms.example.org
  reverse: true
  zoneFiles: [{path: a, zone: 101.2.0.192.in-addr.arpa}, {path: b, zone: 3.0.192.in-addr.arpa}]
)"}});
  const std::string zone = "@ 9 SOA ns h 1 1 1 1 1\n";
  const std::vector<spec::RecordText> records{{"a", zone, {}}, {"b", zone, {}}};
  const auto set = spec::validate(specs, records);
  ASSERT_TRUE(set.has_value()) << set.error().to_string();
  const Diagnostics warnings = make_stack_config(*set, {}, {}).value().warnings;
  const std::string code = "lease-names-hidden";
  const auto hidden = std::ranges::find(warnings, code, &Diagnostic::code);
  ASSERT_NE(hidden, warnings.end()) << warnings.to_string();
  EXPECT_EQ(hidden->line, 18U);
  EXPECT_EQ(hidden->message,
            "n/i: the zone 101.2.0.192.in-addr.arpa. of a would hide PTR records of leases; leaseDomain is "
            "vms.example.org.");
  EXPECT_EQ(std::ranges::count(warnings, code, &Diagnostic::code), 1);
}

TEST(FileRecords, AViewWithoutClientsIsAWarning) {
  const std::string everyone = "  views: [{name: all, clientPrefixes: [0.0.0.0/0, '::/0']}]\n";
  const auto config =
      make(everyone + "  hostsFiles: [{path: h, view: pod}]\n", {{"dir/h", "192.0.2.7 a\n", {}}}).value();
  EXPECT_EQ(places(config.warnings), Texts{"dir/set.yaml:17 view-without-clients"});
}

TEST(FileRecords, PathsStartAtTheFolderOfTheSpec) {
  spec::Origin origin;
  EXPECT_EQ(spec::record_file_path(origin, "a"), "a");
  origin.file = "/etc/hcpnet/set.yaml";
  EXPECT_EQ(spec::record_file_path(origin, "zones/a"), "/etc/hcpnet/zones/a");
  EXPECT_EQ(spec::record_file_path(origin, "/a"), "/a");
  const spec::SpecSet set = spec::load(
      {{"dir/set.yaml", spec_with("  zoneFiles: [{path: a}, {path: b}]\n  hostsFiles: [{path: b}, {path: ''}]\n")}});
  EXPECT_EQ(spec::record_file_paths(set), (Texts{"dir/a", "dir/b"}));
}

TEST(FileRecords, AListHasAnEnd) {
  std::string list = "  hostsFiles: [";
  for (std::size_t i = 0; i <= spec::kMaxRecordFiles; ++i) list += "{path: h},";
  EXPECT_EQ(errors(list + "]\n", {{"dir/h", "192.0.2.7 a\n", {}}}), Texts{"dir/set.yaml:16 too-many-items"});
}

}  // namespace
}  // namespace hcpnet
