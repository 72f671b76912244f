// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/guest.hpp>
#include <hcpnet/text/yaml_writer.hpp>

#include "support/files.hpp"

namespace hcpnet::manifest {
namespace {

using Json = nlohmann::json;

std::string read_set() {
  return test::read_file(test::data_path("manifest/two-clusters.yaml"));
}

Result<Built, Diagnostics> build_text(const std::string& text, const std::string& cluster = "hcp/blue") {
  return build_guest(spec::check({{"set.yaml", text}}).value(), cluster);
}

Json one(const Built& built, const std::string& kind) {
  for (const Json& object : built.objects)
    if (object["kind"] == kind) return object;
  ADD_FAILURE() << "no " << kind;
  return {};
}

/// HCPNET_UPDATE_GOLDEN=1 writes the file anew.
TEST(GuestGolden, ObjectsAreAsReviewed) {
  const auto path = test::data_path("manifest/two-clusters-guest.golden.yaml");
  const std::string text = "# Upstream sources of what this shows: tests/cpp/data/manifest/SOURCES.md\n" +
                           text::render_yaml_documents(build_text(read_set()).value().objects);
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}

// metallb/metallb api/v1beta1/ipaddresspool_types.go. Fault 29 of oooi: any Service of the cluster could take the VIP.
TEST(Guest, Fault29PoolIsForTheIngressServiceAlone) {
  const Built built = build_text(read_set()).value();
  const Json pool = one(built, "IPAddressPool"), service = one(built, "Service");
  EXPECT_EQ(pool["metadata"]["name"], "apps");
  EXPECT_EQ(pool["spec"]["addresses"], Json::array({"192.0.2.200-192.0.2.204"}));
  EXPECT_EQ(pool["spec"]["autoAssign"], false);
  const Json allocation = pool["spec"]["serviceAllocation"];
  EXPECT_EQ(allocation["namespaces"], Json::array({service["metadata"]["namespace"]}));
  for (const auto& [label, value] : allocation["serviceSelectors"][0]["matchLabels"].items())
    EXPECT_EQ(service["metadata"]["labels"][label], value);
  EXPECT_EQ(service["metadata"]["annotations"]["metallb.io/address-pool"], "apps");
  EXPECT_EQ(service["metadata"]["annotations"]["metallb.universe.tf/address-pool"], "apps") << "MetalLB before 0.14.9";
  EXPECT_EQ(one(built, "L2Advertisement")["spec"]["ipAddressPools"], Json::array({"apps"}));
}

// Fault 33 of oooi: with other ports the Service missed those of the router.
TEST(Guest, Fault33ServiceLeadsToTheRoutersPorts) {
  std::string text = read_set();
  const std::string enabled = "appsIngress: {enabled: true, ";
  text.replace(text.find(enabled), enabled.size(), enabled + "ports: {http: 8080, https: 8443}, ");
  const Json ports = one(build_text(text).value(), "Service")["spec"]["ports"];
  EXPECT_EQ(ports, Json::parse(R"([{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 80},
                                   {"name": "https", "port": 8443, "protocol": "TCP", "targetPort": 443}])"));
}

// Fault 28 of oooi: the administrator's kubeconfig for all that is done in the hosted cluster.
TEST(Guest, Fault28AccountMayReadOneService) {
  const Built built = build_text(read_set()).value();
  const Json role = one(built, "Role"), binding = one(built, "RoleBinding"), account = one(built, "ServiceAccount");
  EXPECT_EQ(role["rules"], Json::parse(R"([{"apiGroups": [""], "resources": ["services"],
    "resourceNames": ["oooi-ingress"], "verbs": ["get", "list", "watch"]}])"));
  EXPECT_EQ(binding["roleRef"]["name"], role["metadata"]["name"]);
  EXPECT_EQ(binding["subjects"][0]["name"], account["metadata"]["name"]);
  EXPECT_EQ(binding["subjects"][0]["namespace"], account["metadata"]["namespace"]);
  EXPECT_EQ(one(built, "Secret")["metadata"]["annotations"]["kubernetes.io/service-account.name"],
            account["metadata"]["name"]);
  EXPECT_FALSE(one(built, "Secret").contains("data")) << "the cluster itself makes the token";
}

// Fault 30 of oooi: it installs MetalLB by a Subscription, and takes both away from a tenant who has his own.
TEST(Guest, Fault30NothingThatATenantMayOwnIsInstalledOrSetUp) {
  const Built built = build_text(read_set()).value();
  for (const Json& object : built.objects)
    EXPECT_FALSE(object["apiVersion"].get<std::string>().starts_with("operators.coreos.com/")) << object;
  EXPECT_EQ(one(built, "MetalLB")["spec"], Json::object()) << "whatever a tenant has in it stays";
}

// core/v1 ServiceSpec.externalIPs: nodes take what arrives for the address, without a load balancer.
TEST(Guest, AStaticVipNeedsNoMetalLb) {
  std::string text = read_set();
  const std::string pool =
      "appsIngress: {enabled: true, metallb: {addressPoolName: apps, ipAddressPoolRange: 192.0.2.200-192.0.2.204}}";
  text.replace(text.find(pool), pool.size(), "appsIngress: {service: {name: apps}}");
  EXPECT_FALSE(build_text(text)) << "of this attachment alone";
  text += R"(---
apiVersion: hcpnet.io/v1alpha1
kind: AppsPolicy
metadata: {name: blue, namespace: hcp}
spec: {targetRef: {kind: InfraClusterAttachment, name: blue}, staticVIP: 192.0.2.200}
)";
  const Built built = build_text(text).value();
  for (const Json& object : built.objects)
    EXPECT_FALSE(object["apiVersion"].get<std::string>().starts_with("metallb.io/")) << object;
  const Json service = one(built, "Service");
  EXPECT_EQ(service["metadata"]["name"], "apps");
  EXPECT_EQ(service["spec"]["type"], "ClusterIP");
  EXPECT_EQ(service["spec"]["externalIPs"], Json::array({"192.0.2.200"}));
  EXPECT_FALSE(service["metadata"].contains("annotations"));
  EXPECT_EQ(one(built, "Role")["rules"][0]["resourceNames"], Json::array({service["metadata"]["name"]}));
}

TEST(Guest, OfNoOtherCluster) {
  for (const char* cluster : {"hcp/green", "clusters/blue", ""}) {
    const auto built = build_text(read_set(), cluster);
    ASSERT_FALSE(built) << cluster;
    EXPECT_EQ(built.error().begin()->code, "no-apps-ingress");
  }
  std::string text = read_set();
  text.replace(text.find("appsIngress: {enabled: true"), 27, "appsIngress: {enabled: false");
  EXPECT_FALSE(build_text(text));
}

}  // namespace
}  // namespace hcpnet::manifest
