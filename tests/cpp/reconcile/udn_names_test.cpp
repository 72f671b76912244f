// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/yaml_writer.hpp>

#include "support/files.hpp"

// dns.operator.openshift.io: openshift/api operator/v1/types_dns.go; who asks the guest's DNS: openshift/hypershift
// konnectivity-https-proxy/cmd.go; names and ports: tests/cpp/data/manifest/SOURCES.md.
namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = "manifest/udn/names/";

std::string read(const std::string& name) {
  return test::read_file(test::data_path(kFolder + name));
}

struct State {
  std::string management = read("management.yaml"), guest = read("guest.yaml");
};

Plan guest_plan(const State& state = {}) {
  const auto set = spec::check({{"set.yaml", read("set.yaml")}}, {}, spec::KindSet::names).value();
  Diagnostics warnings;
  const auto observed = spec::load_observed({{"management.yaml", state.management}}, {}, warnings).value();
  const auto management = load_cluster_objects({{"management.yaml", state.management}}).value();
  const auto guest = load_cluster_objects({{"guest.yaml", state.guest}}).value();
  return make_guest_plan(set, observed, management, guest, "clusters/blue").value();
}
Plan management_plan(const State& state = {}) {
  const auto set = spec::check({{"set.yaml", read("set.yaml")}}, {}, spec::KindSet::names).value();
  Diagnostics warnings;
  const auto observed = spec::load_observed({{"management.yaml", state.management}}, {}, warnings).value();
  return make_plan(set, observed, load_cluster_objects({{"management.yaml", state.management}}).value()).value();
}

const Action* find(const Plan& plan, const std::string& kind, const std::string& name) {
  for (const Action& action : plan.actions)
    if (action.object["kind"] == kind && action.object["metadata"]["name"] == name) return &action;
  return nullptr;
}
std::vector<std::string> codes(const Plan& plan) {
  std::vector<std::string> list;
  for (const Diagnostic& d : plan.warnings) list.push_back(d.code);
  return list;
}
std::string replaced(std::string text, const std::string& old_text, const std::string& new_text) {
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

/// HCPNET_UPDATE_GOLDEN=1 writes the file anew.
TEST(UdnNamesGolden, GuestPlanIsAsReviewed) {
  const auto path = test::data_path(kFolder + "guest.golden.yaml");
  const std::string text = "# Upstream sources of what this shows: tests/cpp/data/manifest/SOURCES.md\n" +
                           text::render_yaml(to_json(guest_plan()));
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}

TEST(UdnNames, BridgeLeadsToTheOauthServerOnTheNetwork) {
  const Plan plan = guest_plan();
  const Action* service = find(plan, "Service", "oauth-bridge");
  ASSERT_NE(service, nullptr);
  EXPECT_FALSE(service->object["spec"].contains("selector")) << "its pods are in another cluster";
  EXPECT_EQ(service->object["spec"]["ports"][0]["port"], 443);
  EXPECT_EQ(service->object["spec"]["ports"][0]["targetPort"], 6443);
  const Action* slice = find(plan, "EndpointSlice", "oauth-bridge-ipv4");
  ASSERT_NE(slice, nullptr);
  ASSERT_EQ(slice->object["endpoints"].size(), 1U) << "of two pods one is ready";
  EXPECT_EQ(slice->object["endpoints"][0]["addresses"][0], "10.150.0.31") << "not its podIP";
  EXPECT_EQ(slice->object["metadata"]["labels"]["kubernetes.io/service-name"], "oauth-bridge");
  EXPECT_EQ(find(plan, "EndpointSlice", "oauth-bridge-ipv6"), nullptr) << "the network has no IPv6";
}

TEST(UdnNames, ServerIsAuthoritativeAndForwardsNothing) {
  const Plan plan = guest_plan();
  const std::string corefile = find(plan, "ConfigMap", "names-config")->object["data"]["Corefile"];
  EXPECT_THAT(corefile, HasSubstr("apps.blue.example.com"));
  EXPECT_THAT(corefile, HasSubstr("172.31.88.88")) << "the guest's own router";
  EXPECT_THAT(corefile, HasSubstr("oauth-clusters-blue.apps.mgmt.example.com"));
  EXPECT_THAT(corefile, testing::Not(HasSubstr("forward"))) << "what comes back here would go round for ever";
  const Action* deployment = find(plan, "Deployment", "names");
  EXPECT_EQ(deployment->object["spec"]["replicas"], 2);
  EXPECT_TRUE(deployment->object["spec"]["template"]["spec"]["containers"][0].contains("readinessProbe"));
  EXPECT_NE(find(plan, "PodDisruptionBudget", "names"), nullptr);
  EXPECT_EQ(deployment->object["spec"]["template"]["metadata"].contains("annotations"), false);
}

/// Names lead there only once somebody answers, and what the tenant has in his list stays.
TEST(UdnNames, DnsIsToldLastAndKeepsItsOtherServers) {
  const Plan early = guest_plan();
  EXPECT_EQ(find(early, "DNS", "default"), nullptr);
  EXPECT_THAT(codes(early), Contains("address-unknown"));

  State state;
  state.guest += R"(---
apiVersion: v1
kind: Service
metadata: {name: names, namespace: hcpnet-names}
spec: {clusterIP: 172.31.5.5}
)";
  EXPECT_THAT(codes(guest_plan(state)), Contains("not-ready"));
  state.guest += R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: names, namespace: hcpnet-names}
status: {availableReplicas: 1}
)";
  const Plan plan = guest_plan(state);
  const Action* dns = find(plan, "DNS", "default");
  ASSERT_NE(dns, nullptr);
  const Json before = Json::parse(R"({"spec": {"servers": [{"name": "theirs", "zones": ["corp.example"]}]}})");
  const Json servers = text::apply_json_patch(before, dns->patch).value()["spec"]["servers"];
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0]["name"], "theirs");
  EXPECT_LE(servers[1]["name"].get<std::string>().size(), 15U) << "RFC 6335 section 5.1";
  EXPECT_EQ(servers[1]["zones"],
            Json::parse(R"(["apps.blue.example.com", "oauth-clusters-blue.apps.mgmt.example.com"])"));
  EXPECT_EQ(servers[1]["forwardPlugin"]["upstreams"], Json::array({"172.31.5.5:53"}));

  state.guest = replaced(state.guest, "servers: [", "servers: [" + servers[1].dump() + ", ");
  EXPECT_EQ(find(guest_plan(state), "DNS", "default"), nullptr) << "it is there";
  state.guest = replaced(state.guest, "172.31.5.5:53", "172.31.5.6:53");
  const Plan changed = guest_plan(state);
  ASSERT_NE(find(changed, "DNS", "default"), nullptr);
  EXPECT_EQ(find(changed, "DNS", "default")->patch[0]["op"], "test");
  EXPECT_EQ(find(changed, "DNS", "default")->patch[1]["path"], "/spec/servers/0");
}

/// The entry of the write-up that people follow has the same zone: CoreDNS would not start with both.
TEST(UdnNames, AZoneThatAnotherServerHasIsNotTakenTwice) {
  State state;
  state.guest = replaced(state.guest, "zones: [corp.example]", "zones: [Apps.blue.example.com.]");
  state.guest += R"(---
apiVersion: v1
kind: Service
metadata: {name: names, namespace: hcpnet-names}
spec: {clusterIP: 172.31.5.5}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: names, namespace: hcpnet-names}
status: {availableReplicas: 1}
)";
  const Plan plan = guest_plan(state);
  EXPECT_EQ(find(plan, "DNS", "default"), nullptr);
  EXPECT_THAT(codes(plan), Contains("zone-taken"));
}

/// Where there is no list yet, one that somebody has made meanwhile is not overwritten.
TEST(UdnNames, DnsWithoutAListIsChangedAsItWasSeen) {
  State state;
  state.guest =
      replaced(state.guest, "metadata: {name: default}\nspec: {servers: [{name: theirs, zones: [corp.example]}]}",
               "metadata: {name: default, resourceVersion: \"7\"}\nspec: {logLevel: Normal}");
  state.guest += R"(---
apiVersion: v1
kind: Service
metadata: {name: names, namespace: hcpnet-names}
spec: {clusterIP: 172.31.5.5}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: names, namespace: hcpnet-names}
status: {availableReplicas: 1}
)";
  const Plan plan = guest_plan(state);
  const Action* dns = find(plan, "DNS", "default");
  ASSERT_NE(dns, nullptr);
  Json seen = Json::parse(R"({"metadata": {"resourceVersion": "7"}, "spec": {"logLevel": "Normal"}})");
  EXPECT_EQ(text::apply_json_patch(seen, dns->patch).value()["spec"]["servers"].size(), 1U);
  seen["metadata"]["resourceVersion"] = "8";
  EXPECT_FALSE(text::apply_json_patch(seen, dns->patch));
}

TEST(UdnNames, IgnitionIsFoundByTheHostOfItsRoute) {
  const Plan plan = management_plan();
  const Action* config = find(plan, "ConfigMap", "hcp-blue-names-config");
  ASSERT_NE(config, nullptr);
  const std::string corefile = config->object["data"]["Corefile"];
  EXPECT_THAT(corefile, HasSubstr("ignition-server-clusters-blue.apps.mgmt.example.com"));
  EXPECT_THAT(corefile, HasSubstr("172.30.61.61")) << "Service ignition-server-proxy";
  EXPECT_EQ(config->object["metadata"]["namespace"], "clusters") << "the cluster's DNS reaches no pod of the network";
}

/// The management cluster's router has no leg in the network; HyperShift's own, which goes with an API by Route, has.
TEST(UdnNames, KonnectivityHasToBeReached) {
  const auto told = [](const std::string& old_text, const std::string& new_text) {
    const std::string text = replaced(read("set.yaml"), old_text, new_text);
    const auto set = spec::check({{"set.yaml", text}}, {}, spec::KindSet::names).value();
    Diagnostics warnings;
    const State state;
    const auto observed = spec::load_observed({{"management.yaml", state.management}}, {}, warnings).value();
    return codes(
        make_plan(set, observed, load_cluster_objects({{"management.yaml", state.management}}).value()).value());
  };
  const std::string by_route = "{service: Konnectivity, servicePublishingStrategy: {type: Route}}";
  EXPECT_THAT(told(by_route, by_route), Contains("konnectivity-unreachable"));
  EXPECT_THAT(told(by_route,
                   "{service: Konnectivity, servicePublishingStrategy: {type: LoadBalancer, loadBalancer: "
                   "{hostname: konnectivity.blue.example.com}}}"),
              testing::Not(Contains("konnectivity-unreachable")));
  EXPECT_THAT(told("{type: LoadBalancer, loadBalancer: {hostname: api.blue.example.com}}",
                   "{type: Route, route: {hostname: api.blue.example.com}}"),
              testing::Not(Contains("konnectivity-unreachable")));
}

/// Its host is dialled at a port that the bridge doesn't have, and is reached from every network.
TEST(UdnNames, OauthByNodePortNeedsNoBridge) {
  const std::string by_route = "{service: OAuthServer, servicePublishingStrategy: {type: Route}}";
  const std::string by_node_port =
      "{service: OAuthServer, servicePublishingStrategy: {type: NodePort, nodePort: {address: nodes.example.com, port: "
      "30643}}}";
  const auto set =
      spec::check({{"set.yaml", replaced(read("set.yaml"), by_route, by_node_port)}}, {}, spec::KindSet::names).value();
  Diagnostics warnings;
  const State state;
  const auto observed = spec::load_observed({{"management.yaml", state.management}}, {}, warnings).value();
  const auto management = load_cluster_objects({{"management.yaml", state.management}}).value();
  const auto guest = load_cluster_objects({{"guest.yaml", state.guest}}).value();
  const Plan plan = make_guest_plan(set, observed, management, guest, "clusters/blue").value();
  EXPECT_EQ(find(plan, "Service", "oauth-bridge"), nullptr);
  EXPECT_EQ(find(plan, "EndpointSlice", "oauth-bridge-ipv4"), nullptr);
  const Action* config = find(plan, "ConfigMap", "names-config");
  ASSERT_NE(config, nullptr);
  const std::string corefile = config->object["data"]["Corefile"];
  EXPECT_THAT(corefile, HasSubstr("apps.blue.example.com"));
  EXPECT_THAT(corefile, testing::Not(HasSubstr("nodes.example.com")));
}

/// On the network itself the cluster's DNS would not reach it.
TEST(UdnNames, TheServerIsNotOnTheNetwork) {
  const std::string text =
      replaced(replaced(read("set.yaml"), "namespace: clusters}", "namespace: clusters-blue}"),
               "hostedClusterRef: {name: blue}", "hostedClusterRef: {name: blue, namespace: clusters}");
  const auto set = spec::check({{"set.yaml", text}}, {}, spec::KindSet::names).value();
  Diagnostics warnings;
  const State state;
  const auto observed = spec::load_observed({{"management.yaml", state.management}}, {}, warnings).value();
  const Plan plan =
      make_plan(set, observed, load_cluster_objects({{"management.yaml", state.management}}).value()).value();
  EXPECT_EQ(find(plan, "ConfigMap", "hcp-blue-names-config"), nullptr);
  EXPECT_THAT(codes(plan), Contains("server-on-network"));
}

TEST(UdnNames, SaysWhatIsNotKnownYet) {
  State state;
  state.management = replaced(state.management, "name: ignition-server-proxy", "name: other");
  const Plan plan = management_plan(state);
  EXPECT_EQ(find(plan, "ConfigMap", "hcp-blue-names-config"), nullptr);
  EXPECT_THAT(codes(plan), Contains("address-unknown"));

  const auto set = spec::check({{"udn.yaml", read("set.yaml").substr(0, read("set.yaml").find("---"))}}).value();
  EXPECT_THAT(codes(make_plan(set, {}, {}).value()), Contains("names-unknown"));
  const auto wrong = make_guest_plan(set, {}, {}, {}, "clusters/red");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().begin()->code, "no-primary-network");
}

}  // namespace
}  // namespace hcpnet::reconcile
