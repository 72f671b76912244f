// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>

#include "bootstrap/base64.hpp"
#include "pki/pki_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json parsed(const pki::Secret& text) {
  const text::Parsed tree = text::parse_yaml("k", text.reveal());
  Diagnostics problems;
  return text::to_json(tree.documents.at(0), "k", problems);
}

TEST(Base64, AgreesWithTheVectorsOfRfc4648) {
  const std::array<std::pair<const char*, const char*>, 7> vectors{{{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64(bytes), text);
}

class Kubeconfigs : public testing::TestWithParam<pki::Layout> {
 protected:
  pki::PkiPlan plan = pki::plan_pki(GetParam(), test::example_cluster());
  pki::StoredPki stored = pki::complete_pki(plan, {}, "pki", {.now = test::kNow}).value();
};
INSTANTIATE_TEST_SUITE_P(Layouts, Kubeconfigs, testing::Values(pki::Layout::hand_made, pki::Layout::installer));

TEST_P(Kubeconfigs, AreTheEightWithTheirServers) {
  std::map<std::string, std::string> servers;
  for (const pki::OutputFile& file : render_kubeconfigs("ocp4.example.com", plan, stored)) {
    EXPECT_EQ(file.mode, 0600u);
    servers[file.name] = parsed(file.text).at("/clusters/0/cluster/server"_json_pointer).get<std::string>();
  }
  const std::string api = "https://api.ocp4.example.com:6443", internal = "https://api-int.ocp4.example.com:6443",
                    local = "https://localhost:6443";
  EXPECT_THAT(servers,
              testing::ContainerEq(std::map<std::string, std::string>{{"admin.kubeconfig", api},
                                                                      {"kube-controller-manager.kubeconfig", internal},
                                                                      {"kube-scheduler.kubeconfig", internal},
                                                                      {"kubelet-bootstrap.kubeconfig", internal},
                                                                      {"lb-ext.kubeconfig", api},
                                                                      {"lb-int.kubeconfig", internal},
                                                                      {"localhost-recovery.kubeconfig", local},
                                                                      {"localhost.kubeconfig", local}}));
}

TEST_P(Kubeconfigs, HoldTheIdentityAndTheAuthoritiesOfTheirServers) {
  for (const pki::OutputFile& file : render_kubeconfigs("ocp4.example.com", plan, stored)) {
    const nlohmann::json config = parsed(file.text);
    EXPECT_EQ(config.at("/clusters/0/cluster/certificate-authority-data"_json_pointer),
              base64(stored.bundles.at(plan.roles.server_ca)));
    EXPECT_EQ(config.at("current-context"), config.at("/contexts/0/name"_json_pointer));
  }
  const auto files = render_kubeconfigs("ocp4.example.com", plan, stored);
  const pki::Identity& admin = stored.identities.at(plan.roles.admin).identity;
  EXPECT_EQ(parsed(files[0].text).at("/users/0/user/client-key-data"_json_pointer),
            base64(admin.key.to_pem().reveal()));
}

TEST_P(Kubeconfigs, ByReferenceHoldNoKeys) {
  for (const pki::OutputFile& file : render_kubeconfigs("ocp4.example.com", plan, stored, "/etc/kubernetes/pki")) {
    EXPECT_THAT(file.text.reveal(), Not(HasSubstr("-data")));
    EXPECT_THAT(file.text.reveal(), HasSubstr("client-key: /etc/kubernetes/pki/"));
  }
}

const Endpoint kProxy{IpAddress(Ipv4(192, 0, 2, 4)), 6443};
std::string kubeconfig_with(const std::string& cluster) {
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: hc1\n  cluster:\n    " + cluster +
         "\nusers:\n- name: u\n  user: {token: not-a-secret}\n";
}

TEST(RetargetKubeconfig, TheHostIsReplacedAndKeptAsTheServerName) {
  const auto cluster =
      parsed(retarget_kubeconfig("k", kubeconfig_with("server: https://api.hc1.example.com:6443/x"), kProxy).value());
  EXPECT_EQ(cluster.at("/clusters/0/cluster/server"_json_pointer), "https://192.0.2.4:6443/x");
  EXPECT_EQ(cluster.at("/clusters/0/cluster/tls-server-name"_json_pointer), "api.hc1.example.com");
  EXPECT_EQ(cluster.at("/users/0/user/token"_json_pointer), "not-a-secret");
}

TEST(RetargetKubeconfig, ANameThatIsThereStaysAndAnAddressGivesNone) {
  const auto named =
      parsed(retarget_kubeconfig(
                 "k", kubeconfig_with("{server: \"https://10.0.0.1\", tls-server-name: api.hc1.example.com}"), kProxy)
                 .value());
  EXPECT_EQ(named.at("/clusters/0/cluster/tls-server-name"_json_pointer), "api.hc1.example.com");
  for (const char* server : {"https://10.0.0.1:6443", "https://[2001:db8::1]:6443"}) {
    const auto bare =
        parsed(retarget_kubeconfig("k", kubeconfig_with("server: \"" + std::string(server) + '"'), kProxy).value());
    EXPECT_FALSE(bare.at("/clusters/0/cluster"_json_pointer).contains("tls-server-name")) << server;
  }
}

TEST(RetargetKubeconfig, ProblemsNameThePlaceAndQuoteNothing) {
  for (const char* server : {"server: http://secret.example", "server: https://", "server: https://user:secret@h",
                             "server: 7", "x: secret"}) {
    const auto result = retarget_kubeconfig("k.yaml", kubeconfig_with(server), kProxy);
    ASSERT_TRUE(result.has_error()) << server;
    EXPECT_EQ(result.error().error_count(), 1u);
    EXPECT_THAT(result.error().to_string(), HasSubstr("/clusters/0/cluster/server"));
    EXPECT_THAT(result.error().to_string(), Not(HasSubstr("secret"))) << server;
  }
  for (const char* text : {"", "a: [", "- 1\n", "clusters: []\n", "a: 1\n---\nb: 2\n", "clusters: [1]\n"})
    EXPECT_TRUE(retarget_kubeconfig("k", text, kProxy).has_error()) << text;
}

TEST(Base64, IsReadBackAndNothingElseIs) {
  for (const char* bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"})
    EXPECT_EQ(parse_base64(base64(bytes)), bytes);
  EXPECT_EQ(parse_base64(" Zm9v\r\n\tYg= =\n"), "foob");
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "=",
                           "====", "Zm9v====", "Zm9v=", "Z=g=", "Z-8=", "Z_8=", "Zg==Zg==", "Zg\v=="})
    EXPECT_FALSE(parse_base64(text)) << text;
}

std::string token_secret(const std::string& data, const std::string& type = "kubernetes.io/service-account-token") {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: reader}\ntype: " + type + "\ndata: " + data + "\n";
}

TEST(KubeconfigOfAnAccount, HasItsTokenAndNothingOfTheAdministrator) {
  const pki::Secret token = read_account_token("s", token_secret("{token: cmVhZGVy}")).value();
  EXPECT_EQ(token.reveal(), "reader");
  const std::string admin =
      "clusters:\n- name: hc1\n  cluster: {server: \"https://api.hc1.example.com:6443\"}\nusers:\n- name: admin\n"
      "  user: {client-certificate-data: YQ==, client-key-data: Yg==}\ncurrent-context: admin\n";
  const auto config = parsed(replace_kubeconfig_users("k", admin, token).value());
  EXPECT_EQ(config["users"], nlohmann::json::parse(R"([{"name": "admin", "user": {"token": "reader"}}])"));
  EXPECT_EQ(config["current-context"], "admin");
  for (const char* text : {"users: []\n", "clusters: []\n", "users: [1]\n", "a: ["})
    EXPECT_TRUE(replace_kubeconfig_users("k", text, token).has_error()) << text;
}

TEST(KubeconfigOfAnAccount, SaysWhatASecretLacksAndQuotesNothing) {
  for (const auto& [text, path] :
       {std::pair{token_secret("{token: cmVhZGVy}", "Opaque"), "/type"}, std::pair{token_secret("{}"), "/data"},
        std::pair{token_secret("{token: \"secret!\"}"), "/data/token"}}) {
    const auto token = read_account_token("s.yaml", text);
    ASSERT_TRUE(token.has_error()) << text;
    EXPECT_EQ(token.error().begin()->path, path);
    EXPECT_THAT(token.error().to_string(), Not(HasSubstr("secret!")));
  }
}

}  // namespace
}  // namespace hcpnet::bootstrap
