// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/reconcile/plan.hpp>

#include "support/files.hpp"

// dns.operator.openshift.io: openshift/api operator/v1/types_dns.go.
namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using manifest::Deployment;
using testing::Contains;
using testing::IsEmpty;

const std::string kDns =
    "---\napiVersion: operator.openshift.io/v1\nkind: DNS\nmetadata: {name: default}\n"
    "spec: {servers: [{name: theirs, zones: [corp.example]}]}\n";
const std::string kService =
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: vlan7-dns, namespace: hcp}\nspec: {clusterIP: 172.30.9.3}\n";

std::string available(const std::string& deployment) {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + deployment +
         ", namespace: hcp}\nstatus: {availableReplicas: 1}\n";
}

Plan plan(const std::string& observed, Deployment deployment = Deployment::one) {
  const auto set = spec::check({{"set.yaml", test::read_file(test::data_path("manifest/two-clusters.yaml"))}}).value();
  Diagnostics warnings;
  const std::string known = test::read_file(test::data_path("manifest/two-clusters-observed.yaml"));
  PlanOptions options;
  options.build.deployment = deployment;
  return make_plan(set, spec::load_observed({{"known.yaml", known}}, {}, warnings).value(),
                   load_cluster_objects({{"observed.yaml", observed}}).value(), options)
      .value();
}

std::vector<const Action*> patches(const Plan& plan) {
  std::vector<const Action*> found;
  for (const Action& action : plan.actions)
    if (action.object["kind"] == "DNS") found.push_back(&action);
  return found;
}
std::vector<std::string> codes(const Plan& plan) {
  std::vector<std::string> list;
  for (const Diagnostic& d : plan.warnings) list.push_back(d.code);
  return list;
}

TEST(VlanNames, ManagementDnsAsksTheVlansServerForItsDomains) {
  for (const auto& [deployment, pods] :
       {std::pair{Deployment::one, "vlan7-network"}, std::pair{Deployment::split, "vlan7-dns"},
        std::pair{Deployment::coredns_envoy, "vlan7-dns"}}) {
    const Plan made = plan(kDns + kService + available(pods), deployment);
    ASSERT_EQ(patches(made).size(), 1U) << pods;
    const Json patch = patches(made)[0]->patch;
    ASSERT_EQ(patch.size(), 1U);
    EXPECT_EQ(patch[0]["path"], "/spec/servers/-") << "the others stay";
    EXPECT_EQ(patch[0]["value"]["zones"], Json::parse(R"(["blue.hc.example.com", "red.hc.example.com"])"));
    EXPECT_EQ(patch[0]["value"]["forwardPlugin"]["upstreams"], Json::array({"172.30.9.3:53"}));
  }
}

TEST(VlanNames, NothingIsForwardedToWhoDoesNotAnswer) {
  const Plan nowhere = plan(kDns);
  EXPECT_THAT(patches(nowhere), IsEmpty());
  EXPECT_THAT(codes(nowhere), Contains("address-unknown"));
  const Plan early = plan(kDns + kService);
  EXPECT_THAT(patches(early), IsEmpty());
  EXPECT_THAT(codes(early), Contains("not-ready"));
  const Plan elsewhere = plan(kService + available("vlan7-network"));
  EXPECT_THAT(patches(elsewhere), IsEmpty()) << "a cluster without a DNS operator";
  EXPECT_THAT(codes(elsewhere), testing::Not(Contains("dns-unknown")));
}

}  // namespace
}  // namespace hcpnet::reconcile
