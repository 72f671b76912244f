// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/spec/validate.hpp>

namespace hcpnet::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::string kGood = R"(apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue.one, namespace: clusters, finalizers: [hypershift.openshift.io/finalizer]}
spec:
  release: {image: quay.io/openshift-release-dev/ocp-release:4.20.1-x86_64}
  platform: {type: KubeVirt, kubevirt: {generateID: x4k9z, storageDriver: {type: Default}}}
  dns: {baseDomain: example.com}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: LoadBalancer, loadBalancer: {hostname: api.example.com}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: NodePort, nodePort: {address: 192.0.2.9, port: 30001}}}
  - {service: Ignition, servicePublishingStrategy: {type: NodePort, nodePort: {address: nodes.example.com, port: -1}}}
  fieldOfTomorrow: {a: 1}
status:
  controlPlaneEndpoint: {host: API.example.com, port: 6443}
  ignitionEndpoint: ignition.example.com:31444
)";

/// "CODE PATH" of each error.
std::vector<std::string> errors(const std::string& text, KindSet kinds = KindSet::names) {
  const auto checked = check({{"f.yaml", text}}, {}, kinds);
  std::vector<std::string> list;
  if (checked.has_error())
    for (const Diagnostic& d : checked.error()) list.push_back(d.code + ' ' + d.path);
  return list;
}

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kGood;
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}
std::vector<std::string> errors_with(const std::string& old_text, const std::string& new_text) {
  return errors(with(old_text, new_text));
}

TEST(HostedCluster, IsReadWhereNamesAreAskedFor) {
  const auto set = check({{"f.yaml", kGood}}, {}, KindSet::names);
  ASSERT_TRUE(set) << set.error().to_string();
  const ValidHostedCluster& cluster = set->hosted_clusters.at(0);
  EXPECT_EQ(cluster.control_plane_namespace, "clusters-blue-one");
  EXPECT_EQ(cluster.spec.generate_id, "x4k9z");
  EXPECT_EQ(cluster.spec.find(ServiceType::konnectivity)->node_port->port, 30001);
  EXPECT_EQ(cluster.spec.find(ServiceType::oidc), nullptr);
  EXPECT_EQ(cluster.spec.status.api_host, "api.example.com");
  EXPECT_EQ(cluster.spec.status.api_port, 6443);
  EXPECT_EQ(cluster.spec.status.ignition_host, "ignition.example.com");
  EXPECT_EQ(cluster.spec.status.ignition_port, 31444);
}

/// Each command has its kinds.
TEST(HostedCluster, IsUnknownToEveryOtherCommand) {
  EXPECT_THAT(errors(kGood, KindSet::network), ElementsAre("unknown-kind /kind"));
  EXPECT_THAT(errors_with("v1beta1", "v1alpha1"), ElementsAre("unsupported-version /apiVersion"));
}

TEST(HostedCluster, MayBeADraftWithoutServices) {
  const std::size_t services = kGood.find("  services:"), after = kGood.find("  fieldOfTomorrow");
  EXPECT_THAT(errors(kGood.substr(0, services) + kGood.substr(after)), IsEmpty());
  EXPECT_THAT(errors(kGood.substr(0, services) + "  services: []\n"), ElementsAre("too-few-items /spec/services"));
}

TEST(HostedCluster, HasServicesThatHyperShiftTakes) {
  const std::string services = "/spec/services";
  const std::string api = services + "/0/servicePublishingStrategy", oauth = services + "/1/servicePublishingStrategy",
                    konnectivity = services + "/2/servicePublishingStrategy",
                    ignition = services + "/3/servicePublishingStrategy";
  const struct {
    std::string old_text, new_text, error;
  } cases[] = {
      {"service: OAuthServer", "service: OAuth", "bad-choice " + services + "/1/service"},
      {"service: Ignition", "service: APIServer", "duplicate-name " + services + "/3/service"},
      {"service: Ignition", "service: OIDC", "missing-field " + services},
      {"type: Route, route", "type: Ingress, route", "bad-choice " + oauth + "/type"},
      {"type: Route, route", "type: LoadBalancer, route", "bad-combination " + oauth + "/type"},
      {"type: Route, route: {hostname: oauth.example.com}", "type: NodePort", "missing-field " + oauth + "/nodePort"},
      {"type: LoadBalancer, loadBalancer: {hostname: api.example.com}", "type: Route",
       "missing-field " + api + "/route/hostname"},
      {"type: LoadBalancer, loadBalancer: {hostname: api.example.com}", "type: None",
       "bad-combination " + api + "/type"},
      {"hostname: api.example.com", "hostname: api", "bad-hostname " + api + "/loadBalancer/hostname"},
      {"hostname: api.example.com", "hostname: api.example.lan1", "bad-hostname " + api + "/loadBalancer/hostname"},
      {"hostname: api.example.com", "hostname: \"*.example.com\"", "bad-hostname " + api + "/loadBalancer/hostname"},
      {"hostname: api.example.com", "hostname: 192.0.2.1", "bad-hostname " + api + "/loadBalancer/hostname"},
      {"hostname: api.example.com", "host: api.example.com", "unknown-field " + api + "/loadBalancer/host"},
      {"address: 192.0.2.9", "address: 0.0.0.0", "bad-address " + konnectivity + "/nodePort/address"},
      {"address: 192.0.2.9", "address: localhost", "bad-hostname " + konnectivity + "/nodePort/address"},
      {"address: 192.0.2.9, ", "", "missing-field " + konnectivity + "/nodePort/address"},
      {"port: 30001", "port: 65536", "out-of-range " + konnectivity + "/nodePort/port"},
      {"port: -1", "port: 30001", "addresses-collide " + ignition + "/nodePort/port"},
      {"type: KubeVirt", "type: AWS", "bad-choice /spec/platform/type"},
      {"type: KubeVirt", "type: Xen", "bad-choice /spec/platform/type"},
      {"{type: KubeVirt, kubevirt", "{kubevirt", "missing-field /spec/platform/type"},
      {"baseDomain: example.com", "baseDomain: example_com", "bad-hostname /spec/dns/baseDomain"},
      {"dns: {baseDomain: example.com}",
       "configuration: {apiServer: {servingCerts: {namedCertificates: [{names: [api.example.com]}]}}}",
       "bad-combination " + api + "/loadBalancer/hostname"},
      {"name: blue.one", "name: Blue", "bad-name /metadata/name"},
      {"name: blue.one", "name: " + std::string(55, 'b'), "bad-name /metadata/name"},
  };
  for (const auto& [old_text, new_text, error] : cases)
    EXPECT_THAT(errors_with(old_text, new_text), ElementsAre(error)) << new_text;
}

TEST(HostedCluster, HasThePartOfItsStrategyAndNoOther) {
  const std::string oauth = "/spec/services/1/servicePublishingStrategy";
  EXPECT_THAT(errors_with("type: Route, route", "type: NodePort, route"),
              UnorderedElementsAre("bad-combination " + oauth + "/route", "missing-field " + oauth + "/nodePort"));
}

TEST(HostedCluster, PublishesEachRouteUnderANameOfItsOwn) {
  EXPECT_THAT(errors_with("type: NodePort, nodePort: {address: nodes.example.com, port: -1}",
                          "type: Route, route: {hostname: OAuth.example.com}"),
              ElementsAre("duplicate-hostname /spec/services/3/servicePublishingStrategy/route/hostname"));
}

TEST(HostedCluster, HasAControlPlaneOfItsOwn) {
  std::string other = with("name: blue.one", "name: blue-one");
  EXPECT_THAT(errors(kGood + "---\n" + other), ElementsAre("duplicate-cluster /metadata/name"));
  EXPECT_THAT(errors(kGood + "---\n" + kGood), ElementsAre("duplicate-object /metadata/name"));
}

TEST(HostedCluster, ToleratesAStatusThatMakesNoSense) {
  for (const char* endpoint : {"\"\"", "\"a b\"", "\"x:\"", "\"x:0\"", "\"x:65536\"", "\"0.0.0.0\"", "5", "[a]"}) {
    const auto set = check({{"f.yaml", with("ignition.example.com:31444", endpoint)}}, {}, KindSet::names);
    ASSERT_TRUE(set) << endpoint;
    EXPECT_EQ(set->hosted_clusters.at(0).spec.status.ignition_host, "") << endpoint;
  }
  const auto status = [](const char* endpoint) {
    return check({{"f.yaml", with("ignition.example.com:31444", endpoint)}}, {}, KindSet::names)
        .value()
        .hosted_clusters.at(0)
        .spec.status;
  };
  EXPECT_EQ(status("ignition.example.com").ignition_port, 443);
  EXPECT_EQ(status("\"[2001:DB8::1]:31444\"").ignition_host, "2001:db8::1");
  EXPECT_EQ(status("192.0.2.9:31444").ignition_port, 31444);
}

}  // namespace
}  // namespace hcpnet::spec
