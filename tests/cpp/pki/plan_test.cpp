// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pki/pki_support.hpp"

namespace hcpnet::pki {
namespace {

using test::kNow;
using testing::HasSubstr;

struct Case {
  Layout layout;
  KeyAlgorithm algorithm;
};
class EveryLayout : public testing::TestWithParam<Case> {
 protected:
  PkiPlan plan = plan_pki(GetParam().layout, test::example_cluster());
  const StoredPki& pki = made(plan);
  test::TemporaryFolder folder;

  /// Once for all tests: RSA keys take their time.
  static const StoredPki& made(const PkiPlan& plan) {
    static std::map<std::pair<Layout, KeyAlgorithm>, StoredPki> all;
    StoredPki& one = all[{GetParam().layout, GetParam().algorithm}];
    if (one.files.empty())
      one = complete_pki(plan, {}, "pki", {.now = kNow, .algorithm = GetParam().algorithm}).value();
    return one;
  }
  std::string verify(const std::string& name, const std::string& options) {
    return test::verify(folder, plan, pki, name, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Pki, EveryLayout,
                         testing::Values(Case{Layout::hand_made, KeyAlgorithm::ecdsa_p256},
                                         Case{Layout::installer, KeyAlgorithm::ecdsa_p256},
                                         Case{Layout::hand_made, KeyAlgorithm::rsa_2048}),
                         [](const auto& c) {
                           return std::string(to_string(c.param.layout)) + std::string(to_string(c.param.algorithm));
                         });

TEST_P(EveryLayout, OpensslVerifiesEveryChainForItsPurposeAndForNoOther) {
  for (const PlannedCertificate& planned : plan.certificates) {
    SCOPED_TRACE(planned.name);
    if (planned.profile.is_authority) {
      EXPECT_EQ(verify(planned.name, ""), "");
      continue;
    }
    EXPECT_EQ(verify(planned.name, "-purpose sslserver").empty(), planned.profile.server_auth);
    EXPECT_EQ(verify(planned.name, "-purpose sslclient").empty(), planned.profile.client_auth);
  }
}

TEST_P(EveryLayout, OpensslVerifiesEveryNameOfEveryServerAndNoOther) {
  for (const PlannedCertificate& planned : plan.certificates) {
    SCOPED_TRACE(planned.name);
    for (const std::string& name : planned.profile.dns_names)
      EXPECT_EQ(verify(planned.name, "-purpose sslserver -verify_hostname " + name), "");
    for (const IpAddress& address : planned.profile.addresses)
      EXPECT_EQ(verify(planned.name, "-purpose sslserver -verify_ip " + address.to_string()), "");
    if (!planned.profile.server_auth) continue;
    EXPECT_THAT(verify(planned.name, "-verify_hostname other.example.com"), HasSubstr("ostname mismatch"));
    EXPECT_THAT(verify(planned.name, "-verify_ip 198.51.100.1"), HasSubstr("IP address mismatch"));
  }
}

TEST_P(EveryLayout, RolesNameWhatIsThere) {
  const PkiRoles& r = plan.roles;
  for (const std::string& name :
       {r.admin, r.controller_manager, r.scheduler, r.kubelet_bootstrap, r.kubelet_client, r.aggregator_client,
        r.etcd_client, r.etcd_serving, r.etcd_peer, r.etcd_ca, r.aggregator_ca, r.csr_signer, r.serving.at(0)})
    EXPECT_TRUE(pki.identities.contains(name)) << name;
  for (const std::string& name : {r.server_ca, r.client_ca, r.kubelet_client_ca})
    EXPECT_TRUE(pki.bundles.contains(name)) << name;
  EXPECT_TRUE(pki.key_pairs.contains(r.service_account));
}

TEST_P(EveryLayout, ClientsAreKnownByTheBundleAndEtcdKnowsOnlyItsOwn) {
  test::write_file(folder / "clients.pem", pki.bundles.at(plan.roles.client_ca));
  test::write_file(folder / "etcd.pem", pki.identities.at(plan.roles.etcd_ca).identity.certificate.to_pem());
  const auto is_known = [&](const std::string& name, const char* bundle) {
    test::write_file(folder / "leaf.pem", pki.identities.at(name).identity.certificate.to_pem());
    // As Go does it: what is in the bundle is trusted, self-signed or not.
    return test::run("openssl verify -partial_chain -purpose sslclient -CAfile " + (folder / bundle) + test::at_now() +
                     (folder / "leaf.pem"))
               .status == 0;
  };
  const PkiRoles& r = plan.roles;
  for (const std::string& name : {r.admin, r.controller_manager, r.scheduler, r.kubelet_bootstrap}) {
    EXPECT_TRUE(is_known(name, "clients.pem")) << name;
    EXPECT_FALSE(is_known(name, "etcd.pem")) << name;
  }
  EXPECT_TRUE(is_known(r.etcd_client, "etcd.pem"));
  EXPECT_FALSE(is_known(r.etcd_client, "clients.pem"));
}

// Written down here once more, by hand: user and groups as Kubernetes will see them.
struct Row {
  std::string name, common_name;
  std::vector<std::string> organizations;
  bool server, client;
};
void expect_rows(const PkiPlan& plan, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const PlannedCertificate* planned = plan.find(row.name);
    ASSERT_NE(planned, nullptr);
    EXPECT_EQ(planned->profile.subject.common_name, row.common_name);
    EXPECT_EQ(planned->profile.subject.organizations, row.organizations);
    EXPECT_EQ(planned->profile.server_auth, row.server);
    EXPECT_EQ(planned->profile.client_auth, row.client);
  }
}
std::vector<std::string> names_of(const PkiPlan& plan, const std::string& name) {
  std::vector<std::string> names = plan.find(name)->profile.dns_names;
  for (const IpAddress& address : plan.find(name)->profile.addresses) names.push_back(address.to_string());
  return names;
}

TEST(HandMadeLayout, IsTheTable) {
  const PkiPlan plan = plan_pki(Layout::hand_made, test::example_cluster());
  expect_rows(plan, {{"etcd-server", "etcd-server", {}, true, true},
                     {"etcd-peer-master-2", "etcd-peer-master-2", {}, true, true},
                     {"etcd-client", "etcd-client", {}, false, true},
                     {"kube-apiserver", "kube-apiserver", {}, true, true},
                     {"kube-apiserver-kubelet-client", "system:kube-apiserver", {}, false, true},
                     {"kube-controller-manager", "system:kube-controller-manager", {}, false, true},
                     {"kube-scheduler", "system:kube-scheduler", {}, false, true},
                     {"front-proxy-client", "front-proxy-client", {}, false, true},
                     {"admin", "system:admin", {"system:masters"}, false, true},
                     {"kubelet-bootstrap", "system:bootstrapper", {}, false, true}});
  EXPECT_THAT(names_of(plan, "kube-apiserver"),
              testing::UnorderedElementsAre(
                  "localhost", "api.ocp4.example.com", "api-int.ocp4.example.com", "kubernetes", "kubernetes.default",
                  "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "127.0.0.1", "172.30.0.1",
                  "192.168.126.10", "192.168.126.100", "192.168.126.101", "192.168.126.102", "192.168.126.103"));
  EXPECT_THAT(names_of(plan, "etcd-server"),
              testing::UnorderedElementsAre("localhost", "127.0.0.1", "192.168.126.100", "192.168.126.101",
                                            "192.168.126.102", "192.168.126.103"));
  EXPECT_EQ(plan.find("kubelet-ca")->issuer, "kubernetes-ca");
  EXPECT_EQ(plan.find("etcd-ca")->issuer, "root-ca");
}

TEST(InstallerLayout, IsTheTable) {
  const PkiPlan plan = plan_pki(Layout::installer, test::example_cluster());
  expect_rows(plan,
              {{"kube-apiserver-lb-server", "api.ocp4.example.com", {}, true, false},
               {"machine-config-server", "api-int.ocp4.example.com", {}, true, false},
               {"kube-control-plane-kube-controller-manager-client", "system:admin", {"system:masters"}, false, true},
               {"kube-control-plane-kube-scheduler-client", "system:admin", {"system:masters"}, false, true},
               {"admin-kubeconfig-client", "system:admin", {"system:masters"}, false, true},
               {"kubelet-bootstrap-kubeconfig-client",
                "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
                {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts"},
                false,
                true},
               {"etcd-serving-bootstrap", "system:etcd-server:bootstrap", {}, true, true},
               {"etcd-peer-master-0", "system:etcd-peer:master-0", {}, true, true}});
  EXPECT_THAT(names_of(plan, "kube-apiserver-localhost-server"),
              testing::UnorderedElementsAre("localhost", "127.0.0.1", "::1"));
  EXPECT_THAT(names_of(plan, "kube-apiserver-lb-server"), testing::ElementsAre("api.ocp4.example.com"));
  EXPECT_THAT(names_of(plan, "kube-apiserver-internal-lb-server"), testing::ElementsAre("api-int.ocp4.example.com"));
  EXPECT_THAT(names_of(plan, "kube-apiserver-service-network-server"), testing::Contains("172.30.0.1"));
  EXPECT_THAT(names_of(plan, "kube-apiserver-service-network-server"), testing::Contains("openshift.default.svc"));
  EXPECT_EQ(plan.find("kubelet-signer")->lifetime, std::chrono::hours(24));
  for (const PlannedCertificate& planned : plan.certificates)
    EXPECT_TRUE(!planned.profile.is_authority || planned.issuer.empty()) << planned.name << ": there is no common root";
}

TEST(EveryPlan, IssuersStandBeforeWhatTheySign) {
  for (const Layout layout : {Layout::hand_made, Layout::installer}) {
    std::vector<std::string> seen;
    for (const PlannedCertificate& planned : plan_pki(layout, test::example_cluster()).certificates) {
      EXPECT_EQ(std::ranges::count(seen, planned.name), 0) << planned.name;
      EXPECT_EQ(std::ranges::count(seen, planned.issuer), planned.issuer.empty() ? 0 : 1) << planned.name;
      seen.push_back(planned.name);
    }
    EXPECT_EQ(parse_layout(to_string(layout)), layout);
  }
}

}  // namespace
}  // namespace hcpnet::pki
