// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/node_files.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <set>

#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class StaticPods : public testing::TestWithParam<pki::Layout> {
 protected:
  spec::ValidBootstrapCluster cluster = test::bootstrap_cluster(
      GetParam() == pki::Layout::installer ? test::bootstrap_text(test::kInstallerLayout[0], test::kInstallerLayout[1])
                                           : test::bootstrap_text());
  pki::PkiPlan plan = plan_pki(cluster);
  Images images = test::bootstrap_inputs().images;
  std::vector<StaticPod> pods = make_control_plane_pods(cluster, plan, images);

  const Json& container(std::size_t i) const { return pods.at(i).pod.at("/spec/containers/0"_json_pointer); }
  std::vector<std::string> arguments(std::size_t i) const { return container(i).at("args"); }
};
std::string layout_name(const testing::TestParamInfo<pki::Layout>& info) {
  return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(Layouts, StaticPods, testing::Values(pki::Layout::hand_made, pki::Layout::installer),
                         layout_name);

TEST_P(StaticPods, GoldenAreAsReviewed) {
  std::vector<Json> documents;
  for (const StaticPod& pod : pods) documents.push_back(pod.pod);
  documents.push_back(make_version_operator_pod(cluster).pod);
  const KubeProxy proxy = make_kube_proxy(cluster, images);
  documents.push_back(proxy.pod.pod);
  documents.push_back(proxy.config);
  test::expect_golden("static-pods-" + std::string(to_string(GetParam())) + ".golden.yaml",
                      text::render_yaml_documents(documents));
}

TEST_P(StaticPods, EveryFlagNamesAFileThatThePlanHasAndNoAuthoritysKeyButTheSignersOfKubelets) {
  std::set<std::string> made;
  for (const pki::PlannedCertificate& planned : plan.certificates) {
    made.insert(planned.name + ".crt");
    made.insert(planned.name + ".key");
  }
  for (const pki::PlannedBundle& bundle : plan.bundles) made.insert(bundle.name + ".crt");
  for (const std::string& name : plan.key_pairs) {
    made.insert(name + ".key");
    made.insert(name + ".pub");
  }
  const auto mentioned = files_mentioned(pods, "/etc/kubernetes/pki");
  EXPECT_GT(mentioned.size(), 15u);
  for (const std::string& file : mentioned) {
    EXPECT_TRUE(made.contains(file)) << file;
    const auto* planned = file.ends_with(".key") ? plan.find(file.substr(0, file.size() - 4)) : nullptr;
    EXPECT_TRUE(planned == nullptr || !planned->profile.is_authority || planned->name == plan.roles.csr_signer) << file;
  }
  EXPECT_THAT(files_mentioned(pods, "/etc/kubernetes/kubeconfigs"),
              ElementsAre("kube-controller-manager.kubeconfig", "kube-scheduler.kubeconfig"));
}

TEST_P(StaticPods, NeedNothingThatIsNotThereYet) {
  for (const StaticPod& pod : pods) {
    const Json& spec = pod.pod.at("spec");
    EXPECT_EQ(spec.at("hostNetwork"), true) << pod.file;  // there is no pod network
    for (const Json& volume : spec.at("volumes"))         // nor an API server that had ConfigMaps
      EXPECT_TRUE(volume.contains("hostPath")) << pod.file;
    EXPECT_FALSE(spec.contains("serviceAccountName")) << pod.file;
    std::set<std::string> names;
    for (const Json& volume : spec.at("volumes")) names.insert(volume.at("name"));
    for (const Json& mount : spec.at("/containers/0/volumeMounts"_json_pointer))
      EXPECT_TRUE(names.erase(mount.at("name")) == 1) << pod.file;
    EXPECT_TRUE(names.empty()) << pod.file;
  }
}

TEST_P(StaticPods, SayWhatTheClusterIs) {
  EXPECT_EQ(container(0).at("image"), images.at("etcd"));
  EXPECT_THAT(arguments(0), Contains("--advertise-client-urls=https://192.168.126.100:2379"));
  EXPECT_THAT(arguments(0), Contains("--initial-cluster=etcd-bootstrap=https://192.168.126.100:2380"));
  EXPECT_THAT(arguments(0), Contains("--client-cert-auth=true"));
  EXPECT_THAT(arguments(0), Contains("--peer-client-cert-auth=true"));
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_EQ(container(i).at("image"), images.at("hyperkube"));
  EXPECT_THAT(arguments(1), Contains("--service-cluster-ip-range=172.30.0.0/16"));
  EXPECT_THAT(arguments(1), Contains("--authorization-mode=Node,RBAC"));
  const bool is_installer = GetParam() == pki::Layout::installer;
  const auto sni = [](const std::string& flag) { return flag.starts_with("--tls-sni-cert-key="); };
  const auto flags = arguments(1);
  EXPECT_EQ(std::count_if(flags.begin(), flags.end(), sni), is_installer ? 3 : 0);
  EXPECT_THAT(arguments(2),
              Contains("--cluster-signing-cert-file=/etc/kubernetes/pki/" + plan.roles.csr_signer_ca + ".crt"));
}

TEST_P(StaticPods, TheVersionOperatorRunsFromTheReleaseAndAsksThisNode) {
  const StaticPod pod = make_version_operator_pod(cluster);
  const Json& container = pod.pod.at("/spec/containers/0"_json_pointer);
  EXPECT_EQ(container.at("image"), cluster.spec.release_image);
  EXPECT_THAT(container.at("args").get<std::vector<std::string>>(), Contains("--listen="));
  EXPECT_EQ(container.at("/securityContext/privileged"_json_pointer), true);
  std::map<std::string, Json> env;
  for (const Json& variable : container.at("env")) env[variable.at("name")] = variable;
  EXPECT_EQ(env.at("CLUSTER_PROFILE").at("value"), "self-managed-high-availability");
  EXPECT_EQ(env.at("KUBERNETES_SERVICE_HOST").at("value"), "127.0.0.1");
  EXPECT_EQ(env.at("NODE_NAME").at("/valueFrom/fieldRef/fieldPath"_json_pointer), "spec.nodeName");
  EXPECT_EQ(pod.pod.at("metadata").at("namespace"), "openshift-cluster-version");
}

TEST_P(StaticPods, KubeProxyHasItsOwnImageAndOnlyComesWhenItIsWanted) {
  const KubeProxy proxy = make_kube_proxy(cluster, images);
  EXPECT_EQ(proxy.pod.pod.at("/spec/containers/0/image"_json_pointer), images.at("kube-proxy"));
  EXPECT_EQ(proxy.config.at("clusterCIDR"), "10.128.0.0/14");
  EXPECT_EQ(make_common_node(cluster, images).files.size(), 1u);
  cluster.spec.kube_proxy = true;
  const NodeContent with = make_common_node(cluster, images);
  ASSERT_EQ(with.files.size(), 3u);
  EXPECT_EQ(with.files[1].path, "/etc/kubernetes/manifests/kube-proxy.yaml");
  EXPECT_EQ(with.files[2].path, "/etc/kubernetes/kube-proxy/config.yaml");
}

TEST_P(StaticPods, GoldenNodeFilesAreAsReviewed) {
  std::vector<pki::OutputFile> files = to_output_files("bootstrap", make_bootstrap_node(cluster, plan, images));
  std::erase_if(files, [](const pki::OutputFile& f) { return f.name.find("/manifests/") != std::string::npos; });
  for (pki::OutputFile& file : to_output_files("node", make_common_node(cluster, images)))
    files.push_back(std::move(file));
  for (pki::OutputFile& file : to_output_files("master-0", make_own_node(cluster, cluster.nodes.at(1))))
    files.push_back(std::move(file));
  test::expect_golden("node-files-" + std::string(to_string(GetParam())) + ".golden.txt", test::in_one(files));
}

TEST_P(StaticPods, TheBootstrapKubeletHasNoKubeconfig) {
  const NodeContent content = make_bootstrap_node(cluster, plan, images);
  const auto unit = std::find_if(content.units.begin(), content.units.end(),
                                 [](const NodeUnit& u) { return u.name == "kubelet.service"; });
  ASSERT_NE(unit, content.units.end());
  EXPECT_THAT(unit->contents, Not(HasSubstr("kubeconfig")));
  EXPECT_THAT(unit->contents, HasSubstr("--pod-manifest-path=/etc/kubernetes/manifests"));
  EXPECT_THAT(unit->contents, HasSubstr("--anonymous-auth=false"));
}

TEST_P(StaticPods, SystemdTakesTheUnitsAndBashTheScript) {
  const test::TemporaryFolder root;
  namespace fs = std::filesystem;
  for (const pki::OutputFile& file : to_output_files("", make_bootstrap_node(cluster, plan, images))) {
    fs::create_directories(fs::path(root / file.name).parent_path());
    test::write_file(root / file.name, file.text.reveal());
    fs::permissions(root / file.name, static_cast<fs::perms>(file.mode));
  }
  // What the image of the node brings along.
  for (const char* program : {"/usr/bin/kubelet", "/usr/bin/mkdir"}) {
    fs::create_directories(fs::path(root / program).parent_path());
    test::write_file(root / program, "");
    fs::permissions(root / program, fs::perms::owner_all);
  }
  for (const char* unit : {"crio.service", "network-online.target", "multi-user.target", "sysinit.target",
                           "basic.target", "shutdown.target"})
    test::write_file(root / ("/etc/systemd/system/" + std::string(unit)),
                     std::string(unit).ends_with(".service")
                         ? "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/usr/bin/mkdir x\n"
                         : "[Unit]\nDefaultDependencies=no\n");
  const auto ran = test::run("systemd-analyze verify --man=no --root=" + root.path() +
                             " /etc/systemd/system/kubelet.service /etc/systemd/system/bootkube.service");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(test::shell_check(root / "/usr/local/bin/bootkube.sh"), "");
}

}  // namespace
}  // namespace hcpnet::bootstrap
