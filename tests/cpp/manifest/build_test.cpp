// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "support/files.hpp"

namespace hcpnet::manifest {
namespace {

using testing::Contains;
using testing::ElementsAre;

const std::string kSpec = "manifest/two-clusters.yaml";

Result<Built, Diagnostics> build_text(const std::string& text, Deployment form) {
  const std::string observed_file = "manifest/two-clusters-observed.yaml";
  Diagnostics warnings;
  const auto observed =
      spec::load_observed({{observed_file, test::read_file(test::data_path(observed_file))}}, {}, warnings).value();
  auto set = spec::check({{kSpec, text}}).value();
  spec::apply_observed(set, observed);
  BuildOptions options;
  options.deployment = form;
  options.image = "registry.example.com/hcpnet:1";
  options.link = *parse_link("bridge:br-vlan7,vlan=7");
  return build(set, observed, options);
}

std::vector<std::string> codes(const Diagnostics& found) {
  std::vector<std::string> all;
  for (const Diagnostic& d : found)
    if (d.severity == Severity::error) all.push_back(d.code);
  return all;
}

class Golden : public testing::TestWithParam<Deployment> {};

/// HCPNET_UPDATE_GOLDEN=1 writes the files anew; tests/command/test_faults.py checks the fields on their own.
TEST_P(Golden, ObjectsAreAsReviewed) {
  const auto path = test::data_path("manifest/two-clusters-" + std::string(to_string(GetParam())) + ".golden.yaml");
  const std::string text =
      "# Upstream sources of what this shows: tests/cpp/data/manifest/SOURCES.md\n" +
      text::render_yaml_documents(build_text(test::read_file(test::data_path(kSpec)), GetParam()).value().objects);
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}
INSTANTIATE_TEST_SUITE_P(EveryForm, Golden, testing::ValuesIn(kDeployments), [](const auto& form) {
  return form.param == Deployment::coredns_envoy ? std::string("coredns_envoy") : std::string(to_string(form.param));
});

TEST(Build, OwnersAreNamedWhereTheirUidIsKnown) {
  std::string text = test::read_file(test::data_path(kSpec));
  const std::string metadata = "metadata: {name: vlan7, namespace: hcp}";
  text.replace(text.find(metadata), metadata.size(), "metadata: {name: vlan7, namespace: hcp, uid: 7d1f0e52}");
  for (const nlohmann::json& object : build_text(text, Deployment::split).value().objects) {
    const nlohmann::json& meta = object["metadata"];
    const bool is_foreign = !meta.contains("namespace") || meta["namespace"] != "hcp";
    const bool is_network = object["kind"] == "NetworkAttachmentDefinition";  // outlives what uses it
    EXPECT_EQ(meta.contains("ownerReferences"), !is_foreign && !is_network) << object["kind"] << meta["name"];
    if (meta.contains("ownerReferences")) {
      EXPECT_EQ(meta["ownerReferences"][0]["uid"], "7d1f0e52");
    }
  }
}

// ZON-09: CoreDNS reads a Corefile that changed, and a zone file only where its serial has grown.
TEST(Build, CoreDnsGetsANewPodWhereAZoneFileChanges) {
  const auto pod_hash = [](const std::string& records) {
    const std::string policy =
        "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
        "spec: {targetRef: {kind: Infra, name: vlan7}, records: [" +
        records + "]}\n";
    const auto built = build_text(test::read_file(test::data_path(kSpec)) + policy, Deployment::coredns_envoy).value();
    for (const nlohmann::json& object : built.objects)
      if (object["kind"] == "Deployment" && object["metadata"]["name"] == "vlan7-dns")
        return object["spec"]["template"]["metadata"].value("/annotations/hcpnet.io~1config-hash"_json_pointer,
                                                            std::string());
    return std::string("no Deployment");
  };
  EXPECT_EQ(pod_hash("{name: a.example, type: A, data: [192.0.2.9]}"), "") << "the Corefile has it all";
  const auto with_alias = [](const std::string& exchange) {
    return "{name: a.blue.hc.example.com, type: CNAME, data: [b.blue.hc.example.com.]}, {name: b.blue.hc.example.com, "
           "type: MX, data: [" +
           exchange + "]}";
  };
  const std::string before = pod_hash(with_alias("10 c.example."));
  EXPECT_EQ(before.size(), 64U) << before;
  EXPECT_NE(before, pod_hash(with_alias("10 d.example.")));
}

TEST(Build, DhcpGetsItsAddressInEverySubnetOfTheLink) {
  const std::string policy =
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DHCPPolicy\nmetadata: {name: p, namespace: hcp}\n"
      "spec: {targetRef: {kind: Infra, name: vlan7}, subnets: [{cidr: 198.51.100.0/22, serverIP: 198.51.100.2}, "
      "{cidr: 203.0.113.0/24}]}\n";
  const auto built = build_text(test::read_file(test::data_path(kSpec)) + policy, Deployment::split).value();
  for (const nlohmann::json& object : built.objects) {
    if (object["kind"] != "Deployment" && object["kind"] != "StatefulSet") continue;
    const std::string networks = object["spec"]["template"]["metadata"].value(
        "/annotations/k8s.v1.cni.cncf.io~1networks"_json_pointer, std::string());
    const bool is_dhcp = object["metadata"]["name"] == "vlan7-dhcp";
    EXPECT_EQ(networks.find("198.51.100.2/22") != std::string::npos, is_dhcp) << object["metadata"]["name"];
  }
}

// Keys have no place in a ConfigMap.
TEST(Build, FilesOfASharedStoreComeFromASecret) {
  const auto pod_with = [](const std::string& store) {
    const std::string policy =
        "---\napiVersion: hcpnet.io/v1alpha1\nkind: DHCPPolicy\nmetadata: {name: p, namespace: hcp}\n"
        "spec: {targetRef: {kind: Infra, name: vlan7}, sharedStore: {endpoints: [\"https://192.0.2.9\"], prefix: /a" +
        store + "}}\n";
    const auto built = build_text(test::read_file(test::data_path(kSpec)) + policy, Deployment::split).value();
    nlohmann::json pod, config;
    for (const nlohmann::json& object : built.objects) {
      if (object["metadata"]["name"] == "vlan7-dhcp" && object["kind"] == "Deployment")
        pod = object["spec"]["template"]["spec"];
      if (object["metadata"]["name"] == "vlan7-dhcp-config") config = object["data"];
    }
    return std::pair(pod, config["network.yaml"].get<std::string>());
  };
  const auto [pod, file] = pod_with(", caFile: files/ca.pem, username: dhcp, passwordFile: secret");
  const nlohmann::json secret = {
      {"secretName", "vlan7-dhcp-store"},
      {"defaultMode", 0400},
      {"items", {{{"key", "ca.crt"}, {"path", "ca.crt"}}, {{"key", "password"}, {"path", "password"}}}}};
  EXPECT_EQ(pod["volumes"][1], nlohmann::json({{"name", "store"}, {"secret", secret}}));
  EXPECT_EQ(pod["containers"][0]["volumeMounts"][1],
            nlohmann::json({{"name", "store"}, {"mountPath", "/etc/hcpnet-store"}, {"readOnly", true}}));
  EXPECT_NE(file.find("caFile: /etc/hcpnet-store/ca.crt"), std::string::npos) << file;
  EXPECT_NE(file.find("passwordFile: /etc/hcpnet-store/password"), std::string::npos) << file;
  EXPECT_EQ(file.find("files/ca.pem"), std::string::npos);
  EXPECT_EQ(pod_with("").first.dump().find("hcpnet-store"), std::string::npos) << "without files no Secret";
}

std::string key_with(const nlohmann::json& data, const std::string& extension) {
  for (const auto& [key, text] : data.items())
    if (key.starts_with("records-") && key.ends_with(extension)) return key;
  return {};
}

// A pod may see the policy of one moment and the files of the next.
TEST(Build, FilesOfRecordsAreNamedByWhatTheyHoldAndNotByTheirPlace) {
  const auto files = [](const std::string& list) {
    const std::string policy =
        "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
        "spec: {targetRef: {kind: Infra, name: vlan7}, hostsFiles: [" +
        list + "]}\n";
    const spec::SpecSet specs = spec::load({{kSpec, test::read_file(test::data_path(kSpec)) + policy}});
    BuildOptions options;
    options.deployment = Deployment::one;
    const std::vector<spec::RecordText> records{{"/a", "192.0.2.77 a.example.org\n", {}},
                                                {"/b", "192.0.2.78 b.example.org\n", {}}};
    std::map<std::string, std::string> found;
    for (const nlohmann::json& object : build(spec::validate(specs, records).value(), {}, options).value().objects)
      if (object["kind"] == "ConfigMap")
        for (const auto& [key, text] : object["data"].items())
          if (key.starts_with("records-")) found[key] = text;
    return found;
  };
  const auto once = files("{path: /a}, {path: /b, view: pod}");
  EXPECT_EQ(once.size(), 2U);
  EXPECT_EQ(once, files("{path: /b, view: pod}, {path: /a}"));
}

TEST(Build, AnAddressThatEndsLikeTheMarkOfThePodStaysAsItIs) {
  const std::string policy =
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
      "spec: {targetRef: {kind: Infra, name: vlan7}, records: [{name: gw.lan, type: A, data: [10.0.0.254]}]}\n";
  std::string corefile;
  const auto built = build_text(test::read_file(test::data_path(kSpec)) + policy, Deployment::coredns_envoy).value();
  for (const nlohmann::json& object : built.objects)
    if (object["kind"] == "ConfigMap" && object["data"].contains("Corefile")) corefile = object["data"]["Corefile"];
  EXPECT_THAT(corefile, testing::HasSubstr(" A 10.0.0.254\"\n"));
  EXPECT_THAT(corefile, testing::HasSubstr("    health {$POD_IP}:8080\n"));
  EXPECT_THAT(corefile, testing::HasSubstr(" {$POD_IP}\n")) << "bind";
  EXPECT_THAT(corefile, testing::Not(testing::HasSubstr(" 0.0.0.254")));
}

TEST(Build, EnvoyServesOnThePodsAddressWhatIsAllowedOnItsSide) {
  const std::string allowed =  // the ProxyPolicy comes last
      "  allowedNames: [{port: 443, side: vlan, names: [ignition.blue.hc.example.com]}, {port: 443, side: pod, names: "
      "[oauth.blue.hc.example.com]}]\n";
  const auto built = build_text(test::read_file(test::data_path(kSpec)) + allowed, Deployment::coredns_envoy).value();
  std::string bootstrap;
  for (const nlohmann::json& object : built.objects)
    if (object["kind"] == "ConfigMap" && object["data"].contains("envoy.yaml"))
      bootstrap = object["data"]["envoy.yaml"];
  EXPECT_THAT(bootstrap, testing::HasSubstr("oauth.blue.hc.example.com")) << "wherever the pod may be";
  EXPECT_THAT(bootstrap, testing::HasSubstr("ignition.blue.hc.example.com"));
  EXPECT_THAT(bootstrap, testing::HasSubstr(" prefix_ranges:"));
  EXPECT_THAT(bootstrap, testing::Not(testing::HasSubstr("0.0.0.254")));
}

TEST(Build, WhatElseIsTooLargeIsNotTheFaultOfAFileOfRecords) {
  std::string text = test::read_file(test::data_path(kSpec));
  text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
      "spec: {targetRef: {kind: Infra, name: vlan7}, hostsFiles: [{path: /hosts}]}\n";
  const spec::SpecSet specs = spec::load({{kSpec, text}});
  spec::ValidSet set = spec::validate(specs, std::vector<spec::RecordText>{{"/hosts", "192.0.2.77 a\n", {}}}).value();
  spec::Observed observed;
  for (spec::ValidCluster& cluster : set.infras.at(0).clusters)
    for (int i = 0; i < 20'000; ++i)
      observed.namespace_workers[cluster.control_plane_namespace].emplace_back(
          Ipv4(static_cast<std::uint32_t>(0x0a000000 + i)));
  BuildOptions options;
  options.deployment = Deployment::coredns_envoy;
  const auto built = build(set, observed, options);
  ASSERT_FALSE(built);
  const Diagnostics problems = built.error();
  ASSERT_THAT(codes(problems), ElementsAre("config-too-large"));
  EXPECT_EQ(std::ranges::find(problems, Severity::error, &Diagnostic::severity)->path, "");
}

auto records_of(const std::vector<dns::RRset>& rrsets) {
  std::vector<std::tuple<std::string, dns::Type, std::uint32_t, std::vector<std::string>>> all;
  for (const dns::RRset& set : rrsets) all.emplace_back(set.owner.to_string(), set.type, set.ttl, set.rdata);
  return all;
}

TEST(Build, RecordsOfFilesGoIntoTheConfigMap) {
  const std::string policy =
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
      "spec: {targetRef: {kind: Infra, name: vlan7}, zoneFiles: [{path: zones/a, zone: a.example.org}], "
      "hostsFiles: [{path: /etc/hosts.lan, view: pod}]}\n";
  const std::vector<spec::RecordText> records{{"manifest/zones/a", "$TTL 9\n@ SOA ns h 1 2 3 4 5\nx TXT \"a;b\"\n", {}},
                                              {"/etc/hosts.lan", "192.0.2.77 n.example.org # node\n", {}}};
  const spec::SpecSet specs = spec::load({{kSpec, test::read_file(test::data_path(kSpec)) + policy}});
  BuildOptions options;
  options.deployment = Deployment::one;
  const spec::ValidSet first = spec::validate(specs, records).value();
  const auto built = build(first, {}, options).value();
  std::size_t count = 0;
  for (const nlohmann::json& object : built.objects) {
    if (object["kind"] != "ConfigMap" || !object["data"].contains("network.yaml")) continue;
    const std::string zone_file = key_with(object["data"], ".zone"), hosts_file = key_with(object["data"], ".hosts");
    const std::string zone = object["data"].value(zone_file, ""), hosts = object["data"].value(hosts_file, "");
    EXPECT_EQ(zone,
              "a.example.org. 9 IN SOA ns.a.example.org. h.a.example.org. 1 2 3 4 5\n"
              "x.a.example.org. 9 IN TXT \"a;b\"\n");
    EXPECT_EQ(hosts, "192.0.2.77 n.example.org.\n");
    const spec::SpecSet again = spec::load({{"/etc/hcpnet/network.yaml", object["data"]["network.yaml"]}});
    const auto set = spec::validate(again, std::vector<spec::RecordText>{{"/etc/hcpnet/" + zone_file, zone, {}},
                                                                         {"/etc/hcpnet/" + hosts_file, hosts, {}}});
    ASSERT_TRUE(set.has_value()) << set.error().to_string();
    const spec::ValidDnsPolicy &there = set->infras.at(0).dns_policy, &here = first.infras.at(0).dns_policy;
    EXPECT_EQ(there.zone_files.at(0).view, "vlan");
    EXPECT_EQ(records_of(there.zone_files.at(0).file->zone()->rrsets()),
              records_of(here.zone_files.at(0).file->zone()->rrsets()));
    EXPECT_EQ(there.hosts_files.at(0).view, "pod");
    EXPECT_EQ(records_of(there.hosts_files.at(0).file->rrsets()), records_of(here.hosts_files.at(0).file->rrsets()));
    ++count;
  }
  EXPECT_EQ(count, 1U);
}

TEST(Build, PodsKnowTheStaticVipsOfTheirClusters) {
  std::string text = test::read_file(test::data_path(kSpec));
  const std::string pool =
      "{enabled: true, metallb: {addressPoolName: apps, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}";
  text.replace(text.find(pool), pool.size(), "{enabled: false}");
  text +=
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: AppsPolicy\nmetadata: {name: blue, namespace: hcp}\n"
      "spec: {targetRef: {kind: InfraClusterAttachment, name: blue}, staticVIP: 192.0.2.200}\n";
  for (const Deployment form : {Deployment::one, Deployment::split}) {
    BuildOptions options;
    options.deployment = form;
    const Built built = build(spec::check({{kSpec, text}}).value(), {}, options).value();
    std::size_t count = 0;
    for (const nlohmann::json& object : built.objects) {
      if (object["kind"] != "ConfigMap" || !object["data"].contains("network.yaml")) continue;
      const auto again = spec::check({{"network.yaml", object["data"]["network.yaml"]}});
      ASSERT_TRUE(again.has_value()) << again.error().to_string();
      EXPECT_EQ(again->infras.at(0).clusters.at(0).static_apps_vip, Ipv4(192, 0, 2, 200));
      ++count;
    }
    EXPECT_GE(count, 1U);
  }
}

TEST(Build, AConfigMapThatNoApiServerTakesIsOneError) {
  const std::string policy =
      "---\napiVersion: hcpnet.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: vlan7, namespace: hcp}\n"
      "spec: {targetRef: {kind: Infra, name: vlan7}, zoneFiles: [{path: /a, zone: a.example.org}], "
      "hostsFiles: [{path: /hosts}]}\n";
  const std::string text = test::read_file(test::data_path(kSpec)) + policy;
  const auto line = static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
  const spec::SpecSet specs = spec::load({{kSpec, text}});
  const auto result = [&](Deployment form, int texts) {
    std::string zone = "$TTL 9\n@ SOA ns h 1 2 3 4 5\n";
    for (int i = 0; i < texts; ++i) {  // few names with much data: they cost little to order
      zone += 't' + std::to_string(i) + " TXT";
      for (int part = 0; part < 240; ++part) zone += " \"" + std::string(250, 'x') + '"';
      zone += '\n';
    }
    const std::vector<spec::RecordText> records{{"/a", zone, {}}, {"/hosts", "192.0.2.77 n.blue.hc.example.com\n", {}}};
    BuildOptions options;
    options.deployment = form;
    return build(spec::validate(specs, records).value(), {}, options);
  };
  EXPECT_TRUE(result(Deployment::split, 1));
  for (const Deployment form : kDeployments) {
    const auto built = result(form, 18);
    ASSERT_FALSE(built);
    const Diagnostics problems = built.error();
    ASSERT_THAT(codes(problems), ElementsAre("config-too-large"));
    const auto error = std::ranges::find(problems, Severity::error, &Diagnostic::severity);
    EXPECT_EQ(error->file, kSpec);
    EXPECT_EQ(error->line, line);
    EXPECT_EQ(error->path, "/spec/zoneFiles/0/path");
    EXPECT_THAT(error->message, testing::HasSubstr("1048576")) << error->message;
  }
}

TEST(Build, SaysWhyANetworkCannotBeDeployed) {
  const auto errors = [](const std::string& text) {
    const auto built = build(spec::check({{"x.yaml", text}}).value(), {});
    return built ? std::vector<std::string>{} : codes(built.error());
  };
  const std::string proxy = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: ProxyServer
metadata: {name: edge}
spec:
  networkConfig: {serverIP: 192.0.2.4, networkAttachmentName: vlan7}
  backends: [{name: a, hostname: a.example.com, port: 443, targetService: s, targetPort: 443, targetNamespace: ns}]
)";
  EXPECT_THAT(errors(proxy), ElementsAre("prefix-unknown"));
  std::string unattached = proxy;
  unattached.replace(unattached.find(", networkAttachmentName: vlan7"), 30, "");
  EXPECT_THAT(errors(unattached), Contains("attachment-missing"));
}

std::string proxy_server(const std::string& backends) {
  return "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: ProxyServer\n"
         "metadata: {name: edge, namespace: hcp}\n"
         "spec:\n  networkConfig: {serverIP: 192.0.2.4/24, networkAttachmentName: vlan7}\n  backends:\n" +
         backends;
}

/// A backend may be UDP, and on a port of those that an Infra would give to what its clusters publish.
TEST(Build, PortsOfAProxyServerAreOpenInTheirProtocol) {
  const auto set = spec::check({{"x.yaml", proxy_server(R"(
  - {name: time, hostname: time.example.com, port: 123, protocol: UDP, targetService: time, targetPort: 123, targetNamespace: ns}
  - {name: web, hostname: web.example.com, port: 25000, targetService: web, targetPort: 443, targetNamespace: ns}
)")}}).value();
  std::map<std::string, std::vector<std::string>> opened;
  const auto take = [&](const std::string& kind, const nlohmann::json& ports, const char* number) {
    for (const nlohmann::json& port : ports)
      if (port[number] != 9464) opened[kind].push_back(port["protocol"].get<std::string>() + ' ' + port[number].dump());
  };
  const auto built = build(set, {}).value();
  for (const nlohmann::json& object : built.objects) {
    const std::string kind = object["kind"];
    if (object["metadata"]["name"] != "edge" || !object.contains("spec")) continue;
    const nlohmann::json& spec = object["spec"];
    if (kind == "Service") take(kind, spec["ports"], "port");
    if (kind == "Deployment") take(kind, spec["template"]["spec"]["containers"][0]["ports"], "containerPort");
    if (kind.ends_with("NetworkPolicy")) take(kind, spec["ingress"][0]["ports"], "port");
  }
  for (const char* kind : {"Service", "NetworkPolicy", "MultiNetworkPolicy", "Deployment"})
    EXPECT_THAT(opened[kind], ElementsAre("UDP 123", "TCP 25000")) << kind;
}

/// Else the policy of the VLAN side would cut DHCPv6.
TEST(Build, DhcpOfBothFamiliesIsOpenOnTheVlan) {
  const std::string server = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DHCPServer
metadata: {name: lan, namespace: hcp}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, serverIP: 192.0.2.2, networkAttachmentName: vlan7}
  leaseConfig: {rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}
)";
  const std::string policy = R"(---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: lan, namespace: hcp}
spec:
  targetRef: {kind: DHCPServer, name: lan}
  ipv6: {cidr: "2001:db8:7::/64", rangeStart: "2001:db8:7::100", rangeEnd: "2001:db8:7::1ff"}
)";
  const auto opened = [](const std::string& text, const std::string& kind) {
    std::vector<std::string> ports;
    for (const nlohmann::json& object : build(spec::check({{"x.yaml", text}}).value(), {}).value().objects)
      if (object["kind"] == kind)
        for (const nlohmann::json& port : object["spec"]["ingress"][0]["ports"])
          ports.push_back(port["protocol"].get<std::string>() + ' ' + port["port"].dump());
    return ports;
  };
  EXPECT_THAT(opened(server, "MultiNetworkPolicy"), ElementsAre("UDP 67"));
  EXPECT_THAT(opened(server + policy, "MultiNetworkPolicy"), ElementsAre("UDP 67", "UDP 547"));
  EXPECT_THAT(opened(server + policy, "NetworkPolicy"), ElementsAre("TCP 9464")) << "nothing for the pod network";
}

/// "CODE FILE:LINE PATH" of every error.
std::vector<std::string> errors_of(const std::string& text, Deployment form) {
  BuildOptions options;
  options.deployment = form;
  std::vector<std::string> all;
  if (const auto built = build(spec::check({{"x.yaml", text}}).value(), {}, options); !built)
    for (const Diagnostic& d : built.error())
      if (d.severity == Severity::error)
        all.push_back(d.code + ' ' + d.file + ':' + std::to_string(d.line) + ' ' + d.path);
  return all;
}

TEST(Build, APortAtWhichThePodIsWatchedIsRefused) {
  const auto backend = [](const std::string& port) {
    return "  - {name: a, hostname: a.example.com, port: 443, targetService: a, targetPort: 443, targetNamespace: ns}\n"
           "  - {name: b, hostname: b.example.com, port: " +
           port + ", targetService: b, targetPort: 443, targetNamespace: ns}\n";
  };
  const auto names = [](const std::string& port) {
    return "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: DNSServer\n"
           "metadata: {name: names, namespace: hcp}\nspec:\n  networkConfig: {serverIP: 192.0.2.3/24, proxyIP: "
           "192.0.2.4, networkAttachmentName: vlan7, dnsPort: " +
           port + "}\n  hostedClusterDomain: b.example.com\n";
  };
  const std::string of_backend = "port-taken x.yaml:8 /spec/backends/1/port";
  const std::string of_names = "port-taken x.yaml:5 /spec/networkConfig/dnsPort";
  for (const Deployment form : kDeployments) {
    EXPECT_THAT(errors_of(proxy_server(backend("9464")), form), ElementsAre(of_backend));
    EXPECT_THAT(errors_of(proxy_server(backend("9464, protocol: UDP")), form), testing::IsEmpty());
    EXPECT_THAT(errors_of(names("9464"), form), ElementsAre(of_names));
    const bool is_ours = form != Deployment::coredns_envoy;
    const std::vector<std::string> none;
    EXPECT_EQ(errors_of(proxy_server(backend("9901")), form), is_ours ? none : std::vector{of_backend});
    for (const char* port : {"8080", "8181"})
      EXPECT_EQ(errors_of(names(port), form), is_ours ? none : std::vector{of_names});
  }
}

TEST(Build, AServiceThatAProxyServerAsksForAndDoesNotGetIsTold) {
  std::string text = proxy_server(
      "  - {name: a, hostname: a.example.com, port: 443, targetService: a, targetPort: 443, targetNamespace: ns}\n");
  const auto warnings = [&] {
    std::vector<std::string> all;
    const auto built = build(spec::check({{"x.yaml", text}}).value(), {}).value();
    for (const Diagnostic& d : built.warnings) all.push_back(d.code + ' ' + std::to_string(d.line) + ' ' + d.path);
    return all;
  };
  EXPECT_THAT(warnings(), testing::IsEmpty());
  text += "  externalService: {enabled: true}\n";
  EXPECT_THAT(warnings(), ElementsAre("external-service 8 /spec/externalService/enabled"));
}

/// HyperShift's own policies leave these closed to pods of other namespaces.
TEST(Build, AProxyServerMayReachTheControlPlaneThatItsBackendsName) {
  const auto set = spec::check({{"x.yaml", proxy_server(R"(
  - {name: api, hostname: api.example.com, port: 6443, targetService: kube-apiserver, targetPort: 6443, targetNamespace: clusters-blue}
  - {name: oauth, hostname: oauth.example.com, port: 443, targetService: oauth-openshift, targetPort: 6443, targetNamespace: clusters-blue}
  - {name: agents, hostname: agents.example.com, port: 443, targetService: konnectivity-server, targetPort: 8091, targetNamespace: clusters-blue}
  - {name: red, hostname: red.example.com, port: 443, targetService: ignition-server-proxy, targetPort: 443, targetNamespace: clusters-red}
  - {name: web, hostname: web.example.com, port: 443, targetService: web, targetPort: 443, targetNamespace: shop}
)")}}).value();
  using Opened = std::tuple<std::string, std::string, int>;
  std::set<Opened> opened;
  const auto built = build(set, {}).value();
  const auto is_deployment = [](const nlohmann::json& object) { return object["kind"] == "Deployment"; };
  const auto pod = std::ranges::find_if(built.objects, is_deployment);
  ASSERT_TRUE(pod != built.objects.end());
  for (const nlohmann::json& object : built.objects) {
    if (object["kind"] != "NetworkPolicy" || object["metadata"]["namespace"] == "hcp") continue;
    const nlohmann::json& rule = object["spec"]["ingress"][0];
    opened.emplace(object["metadata"]["namespace"].get<std::string>(),
                   object["spec"]["podSelector"]["matchLabels"]["app"].get<std::string>(),
                   rule["ports"][0]["port"].get<int>());
    EXPECT_EQ(rule["from"][0]["podSelector"]["matchLabels"], (*pod)["spec"]["selector"]["matchLabels"]);
    EXPECT_EQ(rule["from"][0]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], "hcp");
  }
  EXPECT_THAT(opened, ElementsAre(Opened{"clusters-blue", "kube-apiserver", 8091},
                                  Opened{"clusters-blue", "oauth-openshift", 6443},
                                  Opened{"clusters-red", "ignition-server-proxy", 8443}));
}

TEST(Build, HasNoPodThatWouldServeNothing) {
  const std::string text = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: a}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan7}
)";
  for (const Deployment deployment : {Deployment::one, Deployment::split, Deployment::coredns_envoy}) {
    BuildOptions options;
    options.deployment = deployment;
    const auto built = build(spec::check({{"x.yaml", text}}).value(), {}, options);
    ASSERT_TRUE(built);
    for (const nlohmann::json& object : built->objects) EXPECT_NE(object["kind"], "Deployment");
  }
}

TEST(Build, RefusesTwoObjectsOfOneName) {
  const std::string text = R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: a}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan7}
  infraComponents: {dns: {serverIP: 192.0.2.3}}
---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DNSServer
metadata: {name: a-dns}
spec:
  networkConfig: {serverIP: 198.51.100.3/24, proxyIP: 198.51.100.4, networkAttachmentName: vlan8}
  hostedClusterDomain: b.example.com
)";
  BuildOptions options;
  options.deployment = Deployment::split;
  const auto built = build(spec::check({{"x.yaml", text}}).value(), {}, options);
  ASSERT_FALSE(built);
  EXPECT_THAT(codes(built.error()), ElementsAre("object-collides")) << "once, and not for each object";
  EXPECT_THAT(built.error().items()[0].message, testing::HasSubstr("a and a-dns_dnsserver"));
}

TEST(Kustomize, ListsEveryFileInOrder) {
  const auto objects = build_text(test::read_file(test::data_path(kSpec)), Deployment::one).value().objects;
  const auto files = render_kustomize(objects);
  ASSERT_EQ(files.size(), objects.size() + 1);
  EXPECT_EQ(files.front().name, "01-serviceaccount-vlan7-network.yaml");
  EXPECT_EQ(files.back().name, "kustomization.yaml");
  EXPECT_THAT(files.back().text, testing::HasSubstr("sortOptions:\n  order: fifo\n")) << "kustomize has its own order";
}

/// Names of objects may have 253 bytes, and so may names of files with all that is around.
TEST(Kustomize, NamesOfFilesAreNoLongerThanAFileSystemTakes) {
  std::vector<nlohmann::json> objects;
  for (const char last : {'a', 'b'})
    objects.push_back({{"kind", "VirtualMachine"}, {"metadata", {{"name", std::string(252, 'v') + last}}}});
  const auto files = render_kustomize(objects);
  for (const RenderedFile& file : files) EXPECT_LE(file.name.size(), 255U) << file.name;
  EXPECT_TRUE(files[0].name.starts_with("01-virtualmachine-vvv"));
  EXPECT_TRUE(files[0].name.ends_with(".yaml"));
  EXPECT_NE(files[0].name.substr(2), files[1].name.substr(2));
}

}  // namespace
}  // namespace hcpnet::manifest
