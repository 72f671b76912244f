// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/text/yaml_writer.hpp>

#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Phase kPhases[] = {Phase::bootstrap, Phase::pivoted};

std::string with_keepalived() {
  return test::bootstrap_text("  pki:\n", "  keepalived: {interface: eth1, virtualRouterID: 77}\n  pki:\n");
}
std::vector<std::string> names_of(const BalancedService& service) {
  std::vector<std::string> names;
  for (const spec::ValidNode* node : service.nodes) names.push_back(node->name);
  return names;
}

TEST(LoadBalancer, GoldenAreAsReviewed) {
  test::expect_golden("load-balancer.golden.txt",
                      test::in_one(render_load_balancer(test::bootstrap_cluster(with_keepalived()))));
}

TEST(LoadBalancer, EachServiceGoesToTheNodesOfItsRole) {
  const auto cluster = test::bootstrap_cluster(test::bootstrap_text());
  for (const Phase phase : kPhases) {
    std::vector<std::string> masters{"master-0", "master-1", "master-2"};
    if (phase == Phase::bootstrap) masters.insert(masters.begin(), "bootstrap");
    for (const BalancedService& service : balanced_services(cluster, phase)) {
      const bool is_api = service.port == 6443 || service.port == 22623;
      EXPECT_EQ(service.address, is_api ? cluster.api_vip : cluster.ingress_vip) << service.name;
      if (is_api) {
        EXPECT_EQ(names_of(service), masters) << service.name;
      } else {
        EXPECT_THAT(names_of(service), ElementsAre("worker-0", "worker-1", "worker-2")) << service.name;
      }
      EXPECT_EQ(service.check.is_tls, is_api);
    }
  }
}

TEST(LoadBalancer, WithoutWorkersTheControlPlaneServesTheApplications) {
  const auto cluster = test::bootstrap_cluster(test::bootstrap_text("role: Worker", "role: ControlPlane"));
  const std::string text = render_haproxy(cluster, Phase::pivoted);
  EXPECT_THAT(text.substr(text.find("backend ingress-https")), HasSubstr("server master-0 192.168.126.101:443"));
}

TEST(LoadBalancer, HaproxyTakesEveryConfiguration) {
  const test::TemporaryFolder folder;
  for (const std::string& spec : {test::bootstrap_text(), with_keepalived()})
    for (const Phase phase : kPhases) {
      const std::string text = render_haproxy(test::bootstrap_cluster(spec), phase);
      test::write_file(folder / "haproxy.cfg", text);
      const auto ran = test::run("haproxy -c -f " + (folder / "haproxy.cfg"));
      EXPECT_EQ(ran.status, 0) << ran.output;
      EXPECT_THAT(ran.output, Not(HasSubstr("WARNING")));
      EXPECT_EQ(text.find("server bootstrap ") != std::string::npos, phase == Phase::bootstrap);
      // Workers serve the applications and never the API.
      const std::string api = text.substr(0, text.find("backend ingress-https"));
      EXPECT_THAT(api, Not(HasSubstr("worker-0")));
      EXPECT_THAT(api, HasSubstr("check check-ssl verify none"));
      EXPECT_THAT(api, HasSubstr("uri /readyz"));
      EXPECT_THAT(api, HasSubstr("bind 192.168.126.10:6443 transparent\n"));
      EXPECT_THAT(text.substr(api.size()), Not(HasSubstr("master-0")));
      EXPECT_THAT(text.substr(api.size()), HasSubstr("check port 1936 inter"));
    }
}

TEST(LoadBalancer, KeepalivedTakesItsConfiguration) {
  const test::TemporaryFolder folder;
  const std::string text = render_keepalived(test::bootstrap_cluster(with_keepalived()));
  test::write_file(folder / "keepalived.conf", text);
  // It looks for the interface, too.
  const auto ran = test::run(
      "unshare --user --map-root-user --net sh -c 'ip link add eth1 type bridge && "
      "keepalived --config-test --log-console --use-file " +
      (folder / "keepalived.conf") + "'");
  EXPECT_EQ(ran.status, 0) << ran.output;
  for (const char* line : {"interface eth1\n", "virtual_router_id 77\n", "192.168.126.10/32\n", "192.168.126.11/32\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(LoadBalancer, OnlyAClusterWithKeepalivedGetsItsFile) {
  for (const auto& [spec, expected] : {std::pair{test::bootstrap_text(), false}, {with_keepalived(), true}}) {
    const auto files = render_load_balancer(test::bootstrap_cluster(spec));
    EXPECT_EQ(std::ranges::find(files, "keepalived.conf", &pki::OutputFile::name) != files.end(), expected);
  }
}

TEST(OwnProxy, ServesWhatHaproxyServes) {
  const auto cluster = test::bootstrap_cluster(test::bootstrap_text());
  const auto set = spec::check({{"proxy.yaml", text::render_yaml_documents(make_proxy_servers(cluster))}});
  ASSERT_TRUE(set.has_value()) << set.error().to_string();
  EXPECT_TRUE(set->warnings.empty()) << set->warnings.to_string();
  for (const Phase phase : kPhases) {
    Diagnostics warnings;
    const auto observed = spec::load_observed(
        {}, {{"endpoints.yaml", text::render_yaml(make_proxy_endpoints(cluster, phase))}}, warnings);
    ASSERT_TRUE(observed.has_value()) << observed.error().to_string();
    const auto config = make_stack_config(*set, *observed, {});
    ASSERT_TRUE(config.has_value()) << config.error().to_string();
    EXPECT_TRUE(config->warnings.empty()) << config->warnings.to_string();
    ASSERT_EQ(config->proxies.size(), 2u);
    for (const BalancedService& service : balanced_services(cluster, phase)) {
      const Endpoint listener{service.address, service.port};
      const auto& proxy = config->proxies[service.address == cluster.api_vip ? 0 : 1];
      EXPECT_EQ(std::ranges::count(proxy.table->config().listeners, listener, &proxy::Listener::address), 1);
      const proxy::Decision decision =
          proxy.table->find(listener, proxy::Greeting::not_tls, {}, Ipv4(203, 0, 113, 9), {});
      ASSERT_NE(decision.backend, nullptr) << service.name;
      std::vector<Endpoint> expected;
      for (const spec::ValidNode* node : service.nodes) expected.push_back({node->address, service.port});
      EXPECT_EQ(decision.backend->endpoints, expected) << service.name;
      ASSERT_TRUE(decision.backend->health_check);
      EXPECT_EQ(decision.backend->health_check->kind == proxy::HealthCheck::Kind::tls, service.check.is_tls);
    }
  }
}

}  // namespace
}  // namespace hcpnet::bootstrap
