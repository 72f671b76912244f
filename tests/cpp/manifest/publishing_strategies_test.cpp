// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>

#include "manifest/names_text.hpp"
#include "support/files.hpp"

namespace hcpnet::manifest {
namespace {

using test::codes;
using test::hosted_text;
using testing::ElementsAre;
using testing::IsEmpty;

Result<PublishingStrategies, Diagnostics> make(const std::string& text) {
  return make_publishing_strategies(spec::check({{"f.yaml", text}}, {}, spec::KindSet::names).value());
}

std::string two_clusters() {
  return test::read_file(test::data_path("manifest/two-clusters.yaml"));
}

std::vector<std::string> published(const nlohmann::json& hosted_cluster) {
  std::vector<std::string> list;
  for (const nlohmann::json& entry : hosted_cluster["spec"]["services"]) {
    const nlohmann::json& strategy = entry["servicePublishingStrategy"];
    const std::string type = strategy["type"];
    const char* part = type == "Route" ? "route" : "loadBalancer";
    list.push_back(entry["service"].get<std::string>() + ' ' + type + ' ' +
                   strategy[part]["hostname"].get<std::string>());
  }
  return list;
}

std::vector<std::string> errors(const std::string& text) {
  const auto made = make(text);
  return made ? std::vector<std::string>{} : codes(made.error());
}

/// HCPNET_UPDATE_GOLDEN=1 writes the file anew. Upstream sources: tests/cpp/data/manifest/SOURCES.md.
TEST(PublishingStrategies, AreAsReviewed) {
  const auto path = test::data_path("manifest/names/publishing-strategies.golden.yaml");
  const std::string text = text::render_yaml_documents(make(two_clusters()).value().hosted_clusters);
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}

TEST(PublishingStrategies, AreTheNamesThatTheInfraServes) {
  const auto made = make(two_clusters()).value();
  ASSERT_EQ(made.hosted_clusters.size(), 2);
  const nlohmann::json& blue = made.hosted_clusters.front();
  EXPECT_EQ(blue["apiVersion"], "hypershift.openshift.io/v1beta1");
  EXPECT_EQ(blue["metadata"], nlohmann::json::parse(R"({"name": "blue", "namespace": "hcp"})"));
  EXPECT_EQ(blue["spec"].size(), 1) << "a merge patch changes nothing else";
  EXPECT_THAT(
      published(blue),
      ElementsAre("APIServer LoadBalancer api.blue.hc.example.com", "OAuthServer Route oauth.blue.hc.example.com",
                  "OIDC Route oidc.blue.hc.example.com", "Konnectivity Route konnectivity.blue.hc.example.com",
                  "Ignition Route ignition.blue.hc.example.com"));
  EXPECT_TRUE(made.warnings.empty());
}

/// Case HCP-06, both ways: what is made of the Infra is served by the Infra, name by name.
TEST(PublishingStrategies, AreServedByTheInfraThatTheyAreMadeFor) {
  for (const char* policy : {"",
                             "---\napiVersion: hcpnet.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: p, namespace: "
                             "hcp}\nspec: {targetRef: {kind: Infra, name: vlan7}, publishAPIOn443: true}\n"}) {
    std::string text = two_clusters();
    if (*policy != '\0') text = text.substr(0, text.rfind("---\n")) + policy;
    const auto made = make(text).value();
    for (nlohmann::json object : made.hosted_clusters) {
      object["spec"]["platform"] = {{"type", "KubeVirt"}};
      object["spec"]["dns"] = {{"baseDomain", "hc.example.com"}};
      text += "---\n" + text::render_yaml(object);
    }
    const auto set = spec::check({{"f.yaml", text}}, {}, spec::KindSet::names).value();
    const auto names = make_published_names(set, {});
    ASSERT_TRUE(names) << names.error().to_string();
    EXPECT_THAT(codes(names->warnings),
                ElementsAre("certificate-lacks-name", "certificate-lacks-name", "not-resolved", "not-resolved"))
        << "OIDC needs a certificate, and nobody has seen applications";
    EXPECT_THAT(codes(make_publishing_strategies(set).value().warnings), IsEmpty()) << "the same list is no change";
  }
}

TEST(PublishingStrategies, PutTheApiServerOn443WhereTheProxyDoes) {
  std::string text = two_clusters();
  const std::string limit = "maxConnections: 5000";
  text.replace(text.find(limit), limit.size(), "publishAPIOn443: true");
  EXPECT_EQ(published(make(text).value().hosted_clusters.front()).front(), "APIServer Route api.blue.hc.example.com");
}

TEST(PublishingStrategies, OfADraft) {
  const auto names = published(make(hosted_text("blue", "Example.com", {})).value().hosted_clusters.at(0));
  EXPECT_EQ(names.front(), "APIServer LoadBalancer api.blue.example.com");
  std::string text = hosted_text("blue", "example.com, baseDomainPrefix: \"\"", {});
  EXPECT_EQ(published(make(text).value().hosted_clusters.at(0)).back(), "Ignition Route ignition.example.com");
  EXPECT_THAT(errors(hosted_text("blue", "\"\"", {})), ElementsAre("error no-domain"));
}

TEST(PublishingStrategies, NameTheHostedClusterOfALegacyInfra) {
  const std::string infra =
      "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: Infra\nmetadata: {name: yard, namespace: hcp}\nspec:\n "
      " "
      "networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, networkAttachmentDefinition: vlan7}\n  "
      "infraComponents:\n "
      "   dns: {serverIP: 192.0.2.3, clusterName: blue, baseDomain: example.com}\n    proxy: {serverIP: 192.0.2.4";
  const auto name = [&](const std::string& more) {
    return make(infra + more + "}\n").value().hosted_clusters.at(0)["metadata"].dump();
  };
  EXPECT_EQ(name(", controlPlaneNamespace: clusters-blue"), R"({"name":"blue","namespace":"clusters"})");
  EXPECT_EQ(name(""), R"({"name":"blue","namespace":"hcp"})");
  EXPECT_THAT(errors(infra + ", controlPlaneNamespace: elsewhere}\n"), ElementsAre("error namespace-differs"));
}

TEST(PublishingStrategies, SayWhatHyperShiftWillNotDo) {
  std::string text = two_clusters();
  EXPECT_THAT(errors("kind: List\napiVersion: v1\nitems: []\n"), ElementsAre("error no-cluster"));
  EXPECT_THAT(errors(hosted_text("blue", "example.lan1", {})), ElementsAre("error bad-published-name"));
  const std::string reference = "hostedClusterRef: {name: blue, namespace: hcp}";
  std::string elsewhere = text;
  elsewhere.insert(elsewhere.find(reference), "controlPlaneNamespace: clusters-blue\n  ");
  EXPECT_THAT(errors(elsewhere), ElementsAre("error namespace-differs"));
  std::string other = hosted_text("blue", "hc.example.com", test::kByName);
  other.replace(other.find("namespace: clusters"), 19, "namespace: hcp");
  EXPECT_THAT(codes(make(text + "---\n" + other).value().warnings), ElementsAre("services-immutable"));
}

}  // namespace
}  // namespace hcpnet::manifest
