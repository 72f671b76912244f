// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/manifest/published_names.hpp>

#include "manifest/names_text.hpp"

namespace hcpnet::manifest {
namespace {

using test::codes;
using test::hosted_text;
using test::kByName;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kVersion = "apiVersion: hostedcluster.densityops.com/v1alpha1\n";

/// A VLAN with the cluster `blue` of the HostedCluster clusters/blue; `more` are further lines of the attachment's
/// spec.
std::string vlan_text(const std::string& more = {}) {
  return std::string(kVersion) +
         "kind: Infra\nmetadata: {name: yard, namespace: hcp}\nspec:\n  networkConfig: {cidr: 192.0.2.0/24, gateway: "
         "192.0.2.1, networkAttachmentDefinition: vlan7}\n  infraComponents:\n    dhcp: {serverIP: 192.0.2.2, "
         "rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}\n    dns: {serverIP: 192.0.2.3}\n    proxy: {serverIP: "
         "192.0.2.4}\n---\n" +
         kVersion +
         "kind: InfraClusterAttachment\nmetadata: {name: blue, namespace: hcp}\nspec:\n  infraRef: {name: yard}\n  "
         "hostedClusterRef: {name: blue, namespace: clusters}\n  dns: {clusterName: blue, baseDomain: example.com}\n" +
         more + "---\n";
}

std::string policy_text(const std::string& kind, const std::string& spec) {
  return "apiVersion: hcpnet.io/v1alpha1\nkind: " + kind +
         "\nmetadata: {name: yard, namespace: hcp}\nspec:\n  targetRef: {kind: Infra, name: yard}\n" + spec + "---\n";
}

Diagnostics problems(const std::string& text, const std::string& observed_text = "{}\n") {
  Diagnostics ignored;
  const auto observed = spec::load_observed({}, {{"e.yaml", observed_text}}, ignored).value();
  const auto made = make_published_names(spec::check({{"f.yaml", text}}, {}, spec::KindSet::names).value(), observed,
                                         {.apps_domain = "apps.mgmt.example.com"});
  return made ? made->warnings : made.error();
}
std::vector<std::string> messages(const Diagnostics& found) {
  std::vector<std::string> list;
  for (const Diagnostic& d : found)
    if (d.severity == Severity::error) list.push_back(d.message);
  return list;
}

/// Case HCP-06: every name in the routes has a record, and every published name has both.
TEST(ServedNames, AreWhatTheVlanServes) {
  EXPECT_THAT(codes(problems(vlan_text() + hosted_text("blue", "example.com", kByName))), ElementsAre("not-resolved"))
      << "the warning is about the applications, which have no address yet";
}

TEST(ServedNames, WithOidc) {
  std::vector<test::Published> services = kByName;
  services.push_back({"OIDC", "Route", "oidc.blue.example.com"});
  EXPECT_THAT(codes(problems(vlan_text() + hosted_text("blue", "example.com", services))),
              ElementsAre("certificate-lacks-name", "not-resolved"));
}

/// Case HCP-06: a worker on an isolated VLAN can't fetch ignition where the Route's default host is in no record.
TEST(ServedNames, AreMissedOneByOne) {
  const Diagnostics found = problems(vlan_text() + hosted_text("blue", "example.com"));
  EXPECT_THAT(codes(found), ElementsAre("by-address", "error not-resolved", "error not-resolved", "error not-resolved",
                                        "not-resolved"));
  EXPECT_THAT(messages(found),
              ElementsAre(HasSubstr("oauth-clusters-blue.apps.mgmt.example.com (OAuthServer)"),
                          HasSubstr("konnectivity-server-clusters-blue.apps.mgmt.example.com (Konnectivity)"),
                          HasSubstr("ignition-server-clusters-blue.apps.mgmt.example.com (Ignition)")));
}

/// With records and backends of one's own for the default hosts all is well again.
TEST(ServedNames, MayBeServedByOtherObjects) {
  std::string records, backends;
  for (const auto& [route, service, port] : {std::tuple{"oauth", "oauth-openshift", "6443"},
                                             {"konnectivity-server", "konnectivity-server", "8091"},
                                             {"ignition-server", "ignition-server-proxy", "443"}}) {
    const std::string host = std::string(route) + "-clusters-blue.apps.mgmt.example.com";
    records += "  - {hostname: " + host + ", ip: 192.0.2.5}\n";
    backends += std::string("  - {name: ") + route + ", hostname: " + host + ", port: 443, targetService: " + service +
                ", targetPort: " + port + ", targetNamespace: clusters-blue}\n";
  }
  const std::string proxy = std::string(kVersion) +
                            "kind: ProxyServer\nmetadata: {name: more, namespace: hcp}\nspec:\n  networkConfig: "
                            "{serverIP: 192.0.2.5/24, networkAttachmentName: vlan7}\n  backends:\n" +
                            backends + "---\n";
  const std::string text =
      vlan_text() + policy_text("DNSPolicy", "  entries:\n" + records) + proxy + hosted_text("blue", "example.com");
  EXPECT_THAT(codes(problems(text)), ElementsAre("by-address", "not-resolved"));
  std::string wrong = text;
  const std::string target = "targetService: oauth-openshift";
  wrong.replace(wrong.find(target), target.size(), "targetService: something-else");
  EXPECT_THAT(codes(problems(wrong)), ElementsAre("by-address", "other-target", "not-resolved"));
}

/// A guest comes up without them.
TEST(ServedNames, ThatWorkersDoWithoutAreWarnings) {
  std::vector<test::Published> services = kByName;
  services.push_back({"OIDC", "Route", "oidc.example.com"});
  const Diagnostics found = problems(
      vlan_text() + hosted_text("blue", "example.com", services, "  kubeAPIServerDNSName: kube.example.com\n"));
  EXPECT_THAT(codes(found), ElementsAre("certificate-lacks-name", "certificate-lacks-name", "not-resolved",
                                        "not-resolved", "not-resolved"));
}

TEST(ServedNames, OfAnApiServerByRouteNeedThePortToo) {
  std::vector<test::Published> services = kByName;
  services[0].type = "Route";
  const std::string hosted = hosted_text("blue", "example.com", services);
  const Diagnostics found = problems(vlan_text() + hosted);
  EXPECT_THAT(messages(found), ElementsAre(AllOf(HasSubstr("api.blue.example.com:443"), HasSubstr("closes"))));
  EXPECT_THAT(codes(problems(vlan_text() + policy_text("ProxyPolicy", "  publishAPIOn443: true\n") + hosted)),
              ElementsAre("not-resolved"));
}

TEST(ServedNames, OnAPortThatNothingListensOn) {
  std::vector<test::Published> services = kByName;
  services[2].type = "LoadBalancer";
  EXPECT_THAT(
      messages(problems(vlan_text() + hosted_text("blue", "example.com", services))),
      ElementsAre(AllOf(HasSubstr("konnectivity.blue.example.com:8091"), HasSubstr("nothing of the set listens"))));
}

TEST(ServedNames, LeadToWhereHyperShiftPutsTheControlPlane) {
  const std::string elsewhere = vlan_text("  controlPlaneNamespace: hcp-blue\n");
  const Diagnostics found = problems(elsewhere + hosted_text("blue", "example.com", kByName));
  EXPECT_THAT(codes(found), Contains("error namespace-differs"));
  EXPECT_THAT(codes(found), Contains("other-target"));
}

TEST(ServedNames, AreComparedByEndpointsWhereTheseAreKnown) {
  const std::string text = vlan_text() + hosted_text("blue", "example.com", kByName);
  EXPECT_THAT(codes(problems(text, "clusters-blue/kube-apiserver:6443: [198.51.100.7:6443]\n")),
              ElementsAre("not-resolved"));
  EXPECT_THAT(codes(problems(text, "clusters-blue/kube-apiserver:6443: []\n")), ElementsAre("not-resolved"));
}

/// A legacy Infra knows the control plane, not the HostedCluster.
TEST(ServedNames, OfAnInfraThatNamesItsCluster) {
  const std::string infra =
      std::string(kVersion) +
      "kind: Infra\nmetadata: {name: yard, namespace: hcp}\nspec:\n  networkConfig: {cidr: 192.0.2.0/24, gateway: "
      "192.0.2.1, networkAttachmentDefinition: vlan7}\n  infraComponents:\n    dns: {serverIP: 192.0.2.3, clusterName: "
      "blue, baseDomain: other.example.com}\n    proxy: {serverIP: 192.0.2.4, controlPlaneNamespace: "
      "clusters-blue}\n---\n";
  const Diagnostics found = problems(infra + hosted_text("blue", "example.com", kByName));
  EXPECT_THAT(messages(found), testing::SizeIs(4));
  EXPECT_THAT(messages(found), Each(HasSubstr("has no address for")));
}

TEST(ServedNames, AreNotComparedWithoutDnsOrProxy) {
  std::string text = vlan_text();
  const std::string proxy = "    proxy: {serverIP: 192.0.2.4}\n";
  text.erase(text.find(proxy), proxy.size());
  EXPECT_THAT(codes(problems(text + hosted_text("blue", "example.com", kByName))), ElementsAre("not-compared"));
}

TEST(ServedNames, OfOtherClustersAreLeftAlone) {
  EXPECT_THAT(codes(problems(vlan_text() + hosted_text("red", "example.com", kByName))), IsEmpty());
}

}  // namespace
}  // namespace hcpnet::manifest
