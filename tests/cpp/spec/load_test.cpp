// SPDX-License-Identifier: Apache-2.0
#include "spec/spec_text.hpp"
#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Load, FillsEveryFieldOfAnInfra) {
  const SpecSet set = load({{"f.yaml", test::read_file(test::data_path("samples/accept-02-infra-full.yaml"))}});
  ASSERT_EQ(set.infras.size(), 1u);
  const Infra& infra = set.infras[0].value;
  EXPECT_EQ(infra.metadata.key(), "clusters/maple");
  EXPECT_EQ(infra.metadata.labels.at("app.kubernetes.io/part-of"), "maple");
  EXPECT_EQ(infra.metadata.annotations.at("example.com/owner"), "platform-team");
  EXPECT_EQ(infra.network.cidr, "192.168.140.0/24");
  EXPECT_EQ(infra.network.network_attachment_namespace, "default");
  EXPECT_THAT(infra.network.dns_servers, ElementsAre("198.51.100.53", "203.0.113.53"));
  EXPECT_EQ(infra.dhcp->lease_time, "8h");
  EXPECT_EQ(infra.dhcp->image, "registry.example.com/net/dhcp:1.4.2");
  EXPECT_EQ(infra.dns->cluster_name, "maple");
  EXPECT_EQ(infra.proxy->internal_proxy_service, "maple-proxy.clusters.svc.cluster.local");
  EXPECT_EQ(infra.proxy->api_server_service, "kube-apiserver");
}

TEST(Load, FillsTheStructuredNetworkAndEveryDefault) {
  const SpecSet set = load({{"f.yaml", test::read_file(test::data_path("samples/accept-31-structured-network.yaml"))}});
  ASSERT_EQ(set.infras.size(), 3u);
  const NetworkConfig& network = set.infras[2].value.network;
  EXPECT_EQ(network.attachment->kind, AttachmentKind::cluster_user_defined_network);
  EXPECT_EQ(network.topology, Topology::layer2);
  EXPECT_EQ(network.role, Role::primary);
  EXPECT_EQ(network.exposure, Exposure::bgp);
  EXPECT_EQ(network.ipam, Ipam::ovn_kubernetes);
  EXPECT_EQ(network.route_advertisements_ref, "hcp-primary");
  EXPECT_FALSE(set.infras[2].value.dhcp->enabled);
  EXPECT_EQ(set.infras[0].value.dhcp->lease_time, "1h");
  EXPECT_EQ(set.infras[0].value.proxy->proxy_image, "envoyproxy/envoy:v1.36.4");
}

TEST(Load, FillsAnAttachment) {
  const SpecSet set = load({{"f.yaml", test::read_file(test::data_path("samples/accept-30-many-clusters.yaml"))}});
  const InfraClusterAttachment& ash = set.attachments.at(0).value;
  EXPECT_EQ(ash.infra_name, "yard");
  EXPECT_EQ(ash.control_plane_namespace, "hcp-ash");
  EXPECT_EQ(ash.external_service.annotations.at("example.com/announce"), "true");
  EXPECT_TRUE(ash.apps_ingress.enabled);
  EXPECT_EQ(ash.apps_ingress.address_pool_range, "198.51.100.150-198.51.100.159");
  EXPECT_EQ(ash.apps_ingress.service_name, "ash-ingress");
  EXPECT_EQ(ash.apps_ingress.https_port, 443);
}

TEST(Load, RemembersWhereEachFieldStands) {
  const SpecSet set = load({{"a.yaml", "# nothing but a comment\n" + test::infra_text()}});
  const Origin& origin = set.infras.at(0).origin;
  EXPECT_EQ(origin.file, "a.yaml");
  EXPECT_EQ(origin.position("/spec/networkConfig/gateway"), (text::Position{8, 14}));
  EXPECT_EQ(origin.key_position("/spec/networkConfig/gateway"), (text::Position{8, 5}));
  EXPECT_EQ(origin.position("/spec/networkConfig/role"), (text::Position{6, 3}));
  EXPECT_EQ(Origin{}.position("/spec"), text::Position{});
  EXPECT_TRUE(Origin{}.is_readable("/spec"));
}

TEST(Load, NamesTheSuccessorOfAFieldThatIsGone) {
  const std::string text =
      std::string(test::kOooi) +
      "kind: Infra\nmetadata: {name: a}\nspec:\n  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, "
      "networkAttachmentDefinition: v}\n  infraComponents:\n    proxy:\n      serverIP: 192.0.2.4\n      "
      "externalService: {enabled: true}\n  appsIngress: {enabled: true}\n";
  const auto result = check({{"f.yaml", text}});
  ASSERT_FALSE(result.has_value());
  const auto problems = result.error().items();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].path, "/spec/infraComponents/proxy/externalService");
  EXPECT_EQ(problems[0].code, "unknown-field");
  EXPECT_THAT(problems[0].message, testing::HasSubstr("spec.externalService of the cluster's InfraClusterAttachment"));
  EXPECT_THAT(problems[1].message, testing::HasSubstr("spec.appsIngress of the cluster's InfraClusterAttachment"));
}

TEST(Load, SuggestsTheNearestFieldAndKind) {
  const auto suggestion = [](const std::string& text) {
    const auto result = check({{"f.yaml", text}});
    return result.has_value() || result.error().empty() ? "nothing found" : result.error().items().front().expected;
  };
  const std::string head =
      std::string(test::kOooi) +
      "kind: DNSServer\nmetadata: {name: a}\nspec:\n  hostedClusterDomain: a.example.com\n  networkConfig: "
      "{serverIP: 192.0.2.3, proxyIP: 192.0.2.4}\n  ";
  EXPECT_EQ(suggestion(head + "cachettl: 30s\n"), "cacheTTL");
  EXPECT_EQ(suggestion(head + "upstreamDSN: []\n"), "upstreamDNS");
  EXPECT_EQ(suggestion(head + "statcEntries: []\n"), "staticEntries");
  EXPECT_EQ(suggestion(head + "completelyDifferent: []\n"), "");
  EXPECT_EQ(suggestion(std::string(test::kOooi) + "kind: InfraClusterAttachement\n"), "InfraClusterAttachment");
  EXPECT_EQ(suggestion("apiVersion: hcpnet.io/v1alpha1\nkind: Infra\n"), "hostedcluster.densityops.com/v1alpha1");
  EXPECT_EQ(suggestion("apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: DNSPolicy\n"), "hcpnet.io/v1alpha1");
}

TEST(Load, NeverShowsWhatASecretHolds) {
  const auto result = check(
      {{"f.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2, password: hunter3}\n"}});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().to_string(), testing::Not(testing::HasSubstr("hunter")));
}

TEST(Load, TakesPipedJsonForJson) {
  const std::string json = "\t{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}";
  EXPECT_TRUE(check({{"-", json}}).has_value());
  EXPECT_THAT(test::errors(std::vector<SourceText>{{"f.json", "{\"a\": 1,}"}}), ElementsAre("json-syntax "));
  // In a file of another name it is YAML's flow style, where a tab may not stand first.
  EXPECT_THAT(test::errors("{apiVersion: v1, kind: List, items: []}"), IsEmpty());
}

TEST(Load, JudgesListsAndWhatTheyHold) {
  EXPECT_THAT(test::errors("apiVersion: v2\nkind: List\n"), ElementsAre("unsupported-version /apiVersion"));
  EXPECT_THAT(test::errors("apiVersion: v1\nkind: List\nitem: []\n"), ElementsAre("unknown-field /item"));
  EXPECT_THAT(test::errors("apiVersion: v1\nkind: List\nitems: {}\n"), ElementsAre("wrong-type /items"));
  EXPECT_THAT(test::errors("apiVersion: v1\nkind: List\nitems: [5, {apiVersion: v1, kind: List}]\n"),
              ElementsAre("wrong-type /items/0", "unknown-kind /items/1/kind"));
}

TEST(Load, SaysWhichOptionTakesWhatIsNoSpec) {
  const auto message = [](const std::string& text) {
    const auto result = check({{"f.yaml", text}});
    return result.has_value() ? "nothing found" : Diagnostics(result.error()).begin()->message;
  };
  EXPECT_THAT(message("{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: a}}\n"),
              testing::HasSubstr("--observed"));
  EXPECT_THAT(message("{apiVersion: v1, kind: VirtualMachineInstance, metadata: {name: a}}\n"),
              testing::Not(testing::HasSubstr("--observed")));
  const std::string map = "\"hcp-blue/kube-apiserver:6443\": [\"198.51.100.21:6443\"]\n";
  EXPECT_THAT(message(map), testing::HasSubstr("--endpoints"));
  EXPECT_THAT(test::errors(map), ElementsAre("unknown-kind ")) << "one problem, not one for each field that it lacks";
}

TEST(Load, StopsCollectingAtTheLimitOfProblems) {
  std::string text = std::string(test::kOooi) + "kind: DNSServer\nmetadata: {name: a}\nspec:\n";
  for (int i = 0; i < 1000; ++i) text += "  unknown" + std::to_string(i) + ": 1\n";
  const auto result = check({{"f.yaml", text}}, {.max_errors = 10});
  ASSERT_FALSE(result.has_value());
  const auto problems = result.error();
  EXPECT_EQ(problems.items().size(), 10u);
  EXPECT_EQ(problems.error_count(), 1002u);
}

TEST(Load, ReadsNamesOfLabelsOnlyAsStrings) {
  EXPECT_THAT(
      test::errors(std::string(test::kOooi) + "kind: DNSServer\nmetadata: {name: a, labels: {on: \"x\", 12: \"y\", "
                                              "\"13\": \"z\"}}\nspec: {networkConfig: {serverIP: 192.0.2.3, "
                                              "proxyIP: 192.0.2.4}, hostedClusterDomain: a.example.com}\n"),
      ElementsAre("wrong-type /metadata/labels/on", "wrong-type /metadata/labels/12"));
}

// Every cut and every changed byte of a good file gives a verdict, and a bad one has a place.
TEST(Load, SurvivesEveryPrefixAndByteChangeOfTheGoodSamples) {
  for (const std::string& name : test::file_names(test::data_path("samples"), "accept-")) {
    const std::string text = test::read_file(test::data_path("samples/" + name));
    const auto examine = [&](const std::string& changed) {
      const auto result = check({{name, changed}});
      if (result.has_value()) return;
      for (const Diagnostic& problem : result.error())
        ASSERT_GT(problem.line, 0u) << name << ": " << problem.to_string();
    };
    for (std::size_t n = 0; n < text.size(); n += 1 + text.size() / 24) examine(text.substr(0, n));
    for (std::size_t i = 0; i < text.size(); i += 1 + text.size() / 12) {
      for (const char c : {'\0', '\n', '"', ':', '-', '{', '*', '\xFF'}) {
        std::string changed = text;
        changed[i] = c;
        examine(changed);
      }
    }
  }
}

}  // namespace
}  // namespace hcpnet::spec
