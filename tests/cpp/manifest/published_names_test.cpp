// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "manifest/names_text.hpp"
#include "support/files.hpp"

namespace hcpnet::manifest {
namespace {

using test::codes;
using test::hosted_text;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const std::string kFolder = "manifest/names/";

spec::Observed read_observed() {
  Diagnostics warnings;
  const std::string file = kFolder + "observed.yaml";
  return spec::load_observed({{file, test::read_file(test::data_path(file))}}, {}, warnings).value();
}

spec::ValidSet read_set(const std::string& text) {
  return spec::check({{"hc.yaml", text}}, {}, spec::KindSet::names).value();
}

/// "SERVICE HOST:PORT TARGET SOURCE", with "!" behind a host that needs no record.
std::vector<std::string> lines(const ClusterNames& cluster) {
  std::vector<std::string> list;
  for (const PublishedName& name : cluster.names)
    list.push_back(name.service + ' ' + name.host + (name.needs_record ? "" : "!") + ':' + std::to_string(name.port) +
                   ' ' + (name.target ? name.target->to_string() : "-") + ' ' + std::string(to_string(name.source)));
  return list;
}

std::vector<std::string> fallbacks(const ClusterNames& cluster) {
  std::vector<std::string> list;
  for (const PortFallback& fallback : cluster.fallbacks)
    list.push_back(std::to_string(fallback.port) + ' ' + (fallback.target ? fallback.target->to_string() : "closed"));
  return list;
}

PublishedNames golden_names() {
  const std::string text = test::read_file(test::data_path(kFolder + "hosted-clusters.yaml"));
  return make_published_names(read_set(text), read_observed()).value();
}

/// HCPNET_UPDATE_GOLDEN=1 writes the file anew; the tests below check its parts on their own. Upstream sources:
/// tests/cpp/data/manifest/SOURCES.md.
TEST(PublishedNames, AreAsReviewed) {
  nlohmann::json clusters = nlohmann::json::array();
  for (const ClusterNames& cluster : golden_names().clusters) clusters.push_back(to_json(cluster));
  const auto path = test::data_path(kFolder + "published-names.golden.json");
  const std::string text = clusters.dump(1) + '\n';
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, test::read_file(path));
}

TEST(PublishedNames, OfHostNamesInTheSpec) {
  const ClusterNames cluster = golden_names().clusters.at(0);
  EXPECT_EQ(cluster.hosted_cluster, "clusters/by-name");
  EXPECT_EQ(cluster.control_plane_namespace, "clusters-by-name");
  const std::string api = " kube-apiserver.clusters-by-name.svc:6443 ";
  EXPECT_THAT(
      lines(cluster),
      ElementsAre(
          "APIServer api.by-name.example.com:6443" + api + "spec", "APIServer kube.example.com:6443" + api + "spec",
          "APIServer kubernetes!:6443" + api + "fixed", "APIServer kubernetes.default!:6443" + api + "fixed",
          "APIServer kubernetes.default.svc!:6443" + api + "fixed",
          "APIServer kubernetes.default.svc.cluster.local!:6443" + api + "fixed",
          "OAuthServer oauth.by-name.example.com:443 oauth-openshift.clusters-by-name.svc:6443 spec",
          "Konnectivity konnectivity.by-name.example.com:443 konnectivity-server.clusters-by-name.svc:8091 spec",
          "Ignition ignition.by-name.example.com:443 ignition-server-proxy.clusters-by-name.svc:443 spec",
          "OIDC oidc.by-name.example.com:443" + api + "spec", "Ingress *.apps.by-name.example.com:443 - spec",
          "Ingress *.apps.by-name.example.com:80 - spec"));
  EXPECT_THAT(fallbacks(cluster), ElementsAre("80 closed", "443 closed", "6443" + api.substr(0, api.size() - 1)));
}

/// Of the two domains of the router, Routes without a host get appsDomain; and what was seen goes before what would be.
TEST(PublishedNames, OfTheDefaultsOfTheCommandLine) {
  const ClusterNames cluster = golden_names().clusters.at(1);
  EXPECT_EQ(cluster.control_plane_namespace, "clusters-default-one") << "dots become dashes";
  const std::vector<std::string> found = lines(cluster);
  EXPECT_EQ(found.front(), "APIServer 198.51.100.21!:6443 kube-apiserver.clusters-default-one.svc:6443 observed");
  EXPECT_THAT(found, Contains("OAuthServer oauth.seen.example.com:443 oauth-openshift.clusters-default-one.svc:6443 "
                              "observed"));
  EXPECT_THAT(found, Contains("Konnectivity konnectivity-server-clusters-default-one.routes.mgmt.example.com:443 "
                              "konnectivity-server.clusters-default-one.svc:8091 router"));
  EXPECT_THAT(found, Contains("Ignition ignition-server-clusters-default-one.apps.mgmt.example.com:443 "
                              "ignition-server-proxy.clusters-default-one.svc:443 observed"));
  EXPECT_EQ(found.back(),
            "Ingress *.apps.default.one.apps.mgmt.example.com:443 "
            "default-ingress-passthrough-service-x4k9z.clusters-default-one.svc:443 spec");
  EXPECT_THAT(codes(golden_names().warnings), Contains("by-address")) << "no DNS leads an address anywhere else";
}

/// By Route the API is on 443, and then so is everything that names no server.
TEST(PublishedNames, OfAnApiServerByRouteAndOfShortenedHosts) {
  const ClusterNames cluster = golden_names().clusters.at(2);
  const std::string plane = "clusters-a-long-name-of-a-hosted-cluster-in-a-lab";
  const std::vector<std::string> found = lines(cluster);
  EXPECT_EQ(found.front(), "APIServer api.long.example.com:443 kube-apiserver." + plane + ".svc:6443 spec");
  EXPECT_THAT(found, Contains("OAuthServer oauth-" + plane + ".routes.mgmt.example.com:443 oauth-openshift." + plane +
                              ".svc:6443 router"));
  EXPECT_THAT(found, Contains("Ignition ignition-server-clusters-a-long-name-of-a-hosted-clus-df4e95fc"
                              ".apps.mgmt.example.com:443 ignition-server-proxy." +
                              plane + ".svc:443 shortened"));
  EXPECT_EQ(found.back(), "Ingress *.apps.example.com:80 - spec") << "an empty prefix is none";
  EXPECT_THAT(fallbacks(cluster), ElementsAre("80 closed", "443 kube-apiserver." + plane + ".svc:6443"));
}

TEST(PublishedNames, OfNodePortsAndLoadBalancers) {
  const ClusterNames cluster = golden_names().clusters.at(3);
  const std::vector<std::string> found = lines(cluster);
  EXPECT_EQ(found.front(), "APIServer nodes.example.com:31443 kube-apiserver.clusters-ports.svc:6443 spec");
  EXPECT_THAT(found, Contains("OAuthServer nodes.example.com:32100 oauth-openshift.clusters-ports.svc:6443 spec"));
  EXPECT_THAT(found, Contains("Konnectivity konnectivity.example.com:8091 konnectivity-server.clusters-ports.svc:8091 "
                              "spec"));
  EXPECT_THAT(found, Contains("Ignition 2001:db8::1!:31444 ignition-server-proxy.clusters-ports.svc:443 spec"));
  EXPECT_THAT(found, Contains("Ingress *.apps.example.net:443 - spec"));
  EXPECT_THAT(found, Contains("Ingress *.console.example.net:443 - spec"));
  EXPECT_THAT(
      fallbacks(cluster),
      ElementsAre("80 closed", "443 closed", "8091 konnectivity-server.clusters-ports.svc:8091",
                  "31443 kube-apiserver.clusters-ports.svc:6443", "31444 ignition-server-proxy.clusters-ports.svc:443",
                  "32100 oauth-openshift.clusters-ports.svc:6443"))
      << "a port that is one Service's own leads there whatever name is sent";
}

/// Case HCP-06: the names of the field, and that each leads to its Service. `api-int` does not exist in HyperShift.
TEST(PublishedNames, OfCaseHcp06) {
  const std::string file = kFolder + "HCP-06.yaml";
  const text::Value data = text::parse_yaml(file, test::read_file(test::data_path(file)), {}).documents.at(0);
  const auto at = [&](const std::string& pointer) { return text::find(data, pointer)->text; };
  const auto cluster = make_published_names(read_set(hosted_text(at("/hcp"), "example.com",
                                                                 {{"APIServer", "LoadBalancer", at("/hosts/api")},
                                                                  {"OAuthServer", "Route", ""},
                                                                  {"Konnectivity", "Route", ""},
                                                                  {"Ignition", "Route", ""}})),
                                            {}, {.apps_domain = "apps.mgmt.example.com"})
                           .value()
                           .clusters.at(0);
  EXPECT_EQ(cluster.control_plane_namespace, at("/namespace"));
  std::set<std::string> hosts;
  for (const auto& [service, key] : {std::pair{"APIServer", "api"},
                                     {"OAuthServer", "oauth"},
                                     {"Konnectivity", "konnectivity"},
                                     {"Ignition", "ignition"}}) {
    const auto name = std::ranges::find(cluster.names, service, &PublishedName::service);
    ASSERT_NE(name, cluster.names.end()) << service;
    EXPECT_EQ(name->host, at(std::string("/hosts/") + key));
    EXPECT_EQ(name->target->to_string(), at(std::string("/expect_backends/") + key));
  }
  for (const PublishedName& name : cluster.names) hosts.insert(name.host);
  EXPECT_FALSE(hosts.contains(at("/optional_hosts/apiInt")));
}

TEST(RouteHostLabel, IsShortenedFrom63CharactersOn) {
  EXPECT_EQ(route_host_label("oauth", "clusters-blue"), "oauth-clusters-blue");
  const std::string b33(33, 'b');
  EXPECT_EQ(route_host_label("konnectivity-server", "clusters-" + b33), "konnectivity-server-clusters-" + b33);
  EXPECT_EQ(route_host_label("konnectivity-server", "clusters-b" + b33),
            "konnectivity-server-clusters-bbbbbbbbbbbbbbbbbbbbbbbb-62aa2d2d");
  EXPECT_EQ(route_host_label("konnectivity-server", "clusters-bb" + b33),
            "konnectivity-server-clusters-bbbbbbbbbbbbbbbbbbbbbbbb-a0e5535d");
}

TEST(PublishedNames, OfTheCommandsDomainBeforeTheObservedOnes) {
  const auto set = read_set(hosted_text("blue", "example.com"));
  const auto names = make_published_names(set, read_observed(), {.apps_domain = "Apps.other.example.com"}).value();
  EXPECT_THAT(lines(names.clusters.at(0)), Contains("OAuthServer oauth-clusters-blue.apps.other.example.com:443 "
                                                    "oauth-openshift.clusters-blue.svc:6443 router"));
}

TEST(PublishedNames, SayWhatIsNotKnown) {
  const auto problems = [](const std::string& text, const NamesOptions& options = {}) {
    const auto made = make_published_names(read_set(text), {}, options);
    return codes(made ? made->warnings : made.error());
  };
  EXPECT_THAT(problems(hosted_text("blue", "example.com")),
              ElementsAre("by-address", "error host-unknown", "error host-unknown", "error host-unknown"));
  EXPECT_THAT(problems(hosted_text("blue", "example.com", {})), ElementsAre("error no-services"));
  EXPECT_THAT(problems(hosted_text("blue", "example.com"), {.apps_domain = "a b"}),
              ElementsAre("error bad-apps-domain"));
  EXPECT_THAT(problems("kind: List\napiVersion: v1\nitems: []\n"), ElementsAre("error no-hosted-cluster"));
  const std::string node_port = R"(
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: blue, namespace: clusters}
spec:
  platform: {type: None}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: NodePort, nodePort: {address: nodes.example.com}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: NodePort, nodePort: {address: 192.0.2.9, port: 31000}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: LoadBalancer}}
  - {service: Ignition, servicePublishingStrategy: {type: Route, route: {hostname: ignition.example.com}}}
)";
  EXPECT_THAT(problems(node_port), ElementsAre("port-unknown", "by-address", "by-address", "error host-unknown"))
      << "the last one is the guest's base domain";
}

TEST(PublishedNames, NeedACertificateThatHasThem) {
  const std::string more = "  kubeAPIServerDNSName: kube.example.com\n";
  const auto warnings = [&](const std::string& certificates) {
    return codes(
        make_published_names(read_set(hosted_text("blue", "example.com", test::kByName, more + certificates)), {})
            .value()
            .warnings);
  };
  const auto certificates = [](const std::string& list) {
    return "  configuration: {apiServer: {servingCerts: {namedCertificates: " + list + "}}}\n";
  };
  EXPECT_THAT(warnings(""), ElementsAre("certificate-lacks-name"));
  EXPECT_THAT(warnings(certificates("[{names: [other.example.com, '*.kube.example.com']}]")),
              ElementsAre("certificate-lacks-name"));
  EXPECT_THAT(warnings(certificates("[{names: ['*.Example.com']}]")), IsEmpty());
  EXPECT_THAT(warnings(certificates("[{servingCertificate: {name: kube}}]")), IsEmpty()) << "its names are inside";
}

TEST(PublishedNames, AreNeverLongerThanDnsAllows) {
  const std::string label(63, 'a');
  const std::string base = label + '.' + label + '.' + label + '.' + std::string(50, 'a') + ".example";
  const auto made = make_published_names(read_set(hosted_text("blue", base, test::kByName)), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(codes(made.error()), Contains("error bad-published-name"));
}

TEST(PublishedNames, OfPassthroughNeedTheManagementDomain) {
  std::string text = hosted_text("blue", "\"\"", test::kByName);
  const std::string platform = "{type: KubeVirt}";
  text.replace(text.find(platform), platform.size(), "{type: KubeVirt, kubevirt: {baseDomainPassthrough: true}}");
  EXPECT_THAT(codes(make_published_names(read_set(text), {}).error()), ElementsAre("error host-unknown"));
  const auto names = make_published_names(read_set(text), {}, {.apps_domain = "apps.mgmt.example.com"}).value();
  EXPECT_EQ(lines(names.clusters.at(0)).back(), "Ingress *.apps.blue.apps.mgmt.example.com:443 - spec")
      << "the Service's name is known once the controller has set generateID";
}

TEST(PublishedNames, AsJsonTellWhatIsNotKnownByNull) {
  ClusterNames cluster;
  cluster.names = {PublishedName{"APIServer", "LoadBalancer", "", 0, std::nullopt, NameSource::observed, false}};
  const nlohmann::json name = to_json(cluster)["names"][0];
  for (const char* field : {"host", "port", "target"}) EXPECT_TRUE(name[field].is_null()) << field;
}

}  // namespace
}  // namespace hcpnet::manifest
