// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/manifests.hpp>
#include <set>

#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

std::vector<ManifestStep> steps_of(const std::string& text) {
  const auto cluster = test::bootstrap_cluster(text);
  return make_manifests(cluster, plan_pki(cluster), test::bootstrap_inputs());
}
const Json& object_of(const std::vector<ManifestStep>& steps, const std::string& kind, const std::string& group = {}) {
  for (const ManifestStep& step : steps)
    for (const Json& object : step.objects)
      if (object.at("kind") == kind && object.at("apiVersion").get<std::string>().starts_with(group)) return object;
  throw std::runtime_error("there is no " + kind);
}
const Json& status_of(const std::vector<ManifestStep>& steps, const std::string& resource) {
  for (const ManifestStep& step : steps)
    for (const StatusPatch& status : step.statuses)
      if (status.resource.starts_with(resource)) return status.patch.at("status");
  throw std::runtime_error("there is no status of " + resource);
}

TEST(Manifests, GoldenAreAsReviewed) {
  const std::vector<CrdFile> crds{{"things.yaml", "kind: CustomResourceDefinition\n"}};
  test::expect_golden("manifests-HandMade.golden.txt",
                      test::in_one(render_manifests(steps_of(test::bootstrap_text()), crds)));
  const auto cluster = test::bootstrap_cluster(test::bootstrap_text());
  test::expect_golden("machine-config-inputs.golden.txt",
                      test::in_one(render_machine_config_inputs(cluster, test::bootstrap_inputs())));
}

TEST(Manifests, NothingComesBeforeWhatItNeeds) {
  std::set<std::string> namespaces{"kube-system", "default"};
  for (const ManifestStep& step : steps_of(test::bootstrap_text()))
    for (const Json& object : step.objects) {
      const Json& metadata = object.at("metadata");
      if (object.at("kind") == "Namespace") namespaces.insert(metadata.at("name"));
      const std::string within = metadata.value("namespace", "default");
      EXPECT_TRUE(namespaces.contains(within)) << object;
    }
}

TEST(Manifests, AStatusIsNeverPartOfWhatIsApplied) {
  const auto steps = steps_of(test::bootstrap_text());
  for (const ManifestStep& step : steps)
    for (const Json& object : step.objects) EXPECT_FALSE(object.contains("status")) << object;
  const Json& status = status_of(steps, "infrastructures.");
  EXPECT_EQ(status.at("apiServerURL"), "https://api.ocp4.example.com:6443");
  EXPECT_EQ(status.at("apiServerInternalURI"), "https://api-int.ocp4.example.com:6443");
  EXPECT_EQ(status.at("controlPlaneTopology"), "HighlyAvailable");
  EXPECT_EQ(status.at("infrastructureTopology"), "HighlyAvailable");
  const Json& gates = status_of(steps, "featuregates.").at("featureGates").at(0);
  EXPECT_EQ(gates.at("version"), "4.18.0");
  EXPECT_EQ(gates.at("disabled").at(1).at("name"), "OffToo");
}

TEST(Manifests, OneNodeOfAKindIsNotHighlyAvailable) {
  std::string text = test::bootstrap_text();
  for (const char* node : {"master-1", "master-2", "worker-1", "worker-2"}) {
    const std::size_t at = text.find("    - {name: " + std::string(node));
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  const auto steps = steps_of(text);
  const Json& one = status_of(steps, "infrastructures.");
  EXPECT_EQ(one.at("controlPlaneTopology"), "SingleReplica");
  EXPECT_EQ(one.at("infrastructureTopology"), "SingleReplica");
  // Without workers the control plane carries the applications.
  const std::size_t at = text.find("    - {name: worker-0");
  text.erase(at, text.find('\n', at) + 1 - at);
  EXPECT_EQ(status_of(steps_of(text), "infrastructures.").at("infrastructureTopology"), "SingleReplica");
}

TEST(Manifests, SayWhatOperatorsReadThere) {
  const auto steps = steps_of(test::bootstrap_text());
  EXPECT_FALSE(object_of(steps, "ClusterVersion").at("spec").contains("desiredUpdate"));
  EXPECT_EQ(object_of(steps, "ClusterVersion").at("spec").at("channel"), "stable-4.18");
  EXPECT_EQ(object_of(steps, "DNS").at("spec").at("baseDomain"), "ocp4.example.com");
  EXPECT_EQ(object_of(steps, "Network", "config.openshift.io").at("spec").at("clusterNetwork"),
            object_of(steps, "Network", "operator.openshift.io").at("spec").at("clusterNetwork"));
  std::map<std::string, Json> maps;
  for (const Json& object : steps.at(4).objects) maps[object.at("metadata").at("name")] = object;
  const Json& etcd = maps.at("etcd-endpoints");
  EXPECT_EQ(etcd.at("metadata").at("annotations").at("alpha.installer.openshift.io/etcd-bootstrap"), "192.168.126.100");
  EXPECT_TRUE(etcd.at("data").empty());
  const std::string install_config = maps.at("cluster-config-v1").at("data").at("install-config");
  EXPECT_EQ(test::parsed_yaml(install_config).at("/controlPlane/replicas"_json_pointer), 3);
  EXPECT_THAT(install_config, Not(HasSubstr("c2VjcmV0")));
}

TEST(Manifests, NewNodesMayAskForCertificatesAsWhoTheyAre) {
  const auto steps = steps_of(test::bootstrap_text());
  EXPECT_EQ(steps.at(1).objects.at(0).at("subjects").at(0).at("name"), "system:bootstrapper");
  EXPECT_EQ(steps.at(1).objects.size(), 2u);
  const auto others = steps_of(test::bootstrap_text(test::kInstallerLayout[0], test::kInstallerLayout[1]));
  const Json& subject = others.at(1).objects.at(0).at("subjects").at(0);
  EXPECT_EQ(subject.at("kind"), "ServiceAccount");
  EXPECT_EQ(subject.at("namespace"), "openshift-machine-config-operator");
  EXPECT_EQ(subject.at("name"), "node-bootstrapper");
  const auto with_proxy = steps_of(test::bootstrap_text("  pki:\n", "  kubeProxy: true\n  pki:\n"));
  EXPECT_EQ(with_proxy.at(1).objects.at(2).at("roleRef").at("name"), "system:node-proxier");
}

TEST(Manifests, TheScriptAppliesEachFileOnceAndIsSoundShell) {
  const test::TemporaryFolder folder;
  for (const bool has_crds : {false, true}) {
    const std::vector<CrdFile> crds{{"things.yaml", "x"}};
    const auto files = render_manifests(steps_of(test::bootstrap_text()), has_crds ? crds : std::vector<CrdFile>());
    const std::string script = files.back().text.reveal();
    EXPECT_EQ(files.back().name, "apply.sh");
    test::write_file(folder / "apply.sh", script);
    EXPECT_EQ(test::shell_check(folder / "apply.sh"), "");
    std::size_t at = 0;  // in this order
    for (const pki::OutputFile& file : files) {
      if (file.name == "apply.sh" || file.name.starts_with("crds/")) continue;
      at = script.find(' ' + file.name + '\n', at);
      ASSERT_NE(at, std::string::npos) << file.name;
    }
    EXPECT_EQ(script.find("\napply crds\n") != std::string::npos, has_crds);
    for (const char* crd : {"crd/dnses.config.openshift.io", "crd/ingresses.config.openshift.io",
                            "crd/networks.operator.openshift.io", "crd/clusterversions.config.openshift.io"})
      EXPECT_THAT(script, HasSubstr(crd));
  }
}

TEST(Manifests, SecretsAreForTheirOwnerOnly) {
  const auto cluster = test::bootstrap_cluster(test::bootstrap_text());
  auto files = render_manifests(steps_of(test::bootstrap_text()), {});
  for (pki::OutputFile& file : render_machine_config_inputs(cluster, test::bootstrap_inputs()))
    files.push_back(std::move(file));
  std::vector<std::string> secret;
  for (const pki::OutputFile& file : files)
    if (file.mode == 0600) secret.push_back(file.name);
  EXPECT_THAT(secret, ElementsAre("60-secrets.yaml", "openshift-config-secret-pull-secret.yaml"));
}

}  // namespace
}  // namespace hcpnet::bootstrap
