// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dns/zone_file.hpp>

#include "bootstrap/base64.hpp"
#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::HasSubstr;
using testing::Not;

class Render : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  std::string spec = test::read_text(HCPNET_SOURCE_DIR "/examples/bootstrap/cluster.yaml");

  void SetUp() override {
    test::write_file(folder / "pull-secret.json", R"({"auths":{"r":{"auth":"c2VjcmV0"}}})");
    test::write_file(folder / "id_ed25519.pub", "ssh-ed25519 AAAA core\n");
    test::write_file(folder / "image-references.json",
                     test::read_text(HCPNET_SOURCE_DIR "/examples/bootstrap/image-references.json"));
  }
  spec::ValidBootstrapCluster cluster() {
    return spec::check({{folder / "cluster.yaml", spec}}).value().bootstrap_clusters.at(0);
  }
  std::string problem() {
    const auto inputs = read_inputs(cluster(), folder / "out", test::kNow);
    if (inputs.has_value()) return "";
    EXPECT_EQ(inputs.error().error_count(), 1u);
    return inputs.error().to_string();
  }
};

TEST_F(Render, GivesTheSetAndTheSecondTimeTheSame) {
  const Inputs inputs = read_inputs(cluster(), folder / "out", test::kNow).value();
  const Rendered first = render(cluster(), inputs, folder / "out").value();
  ASSERT_TRUE(pki::write_files(folder / "out", first.files));
  const Inputs again = read_inputs(cluster(), folder / "out", test::kNow).value();
  const Rendered second = render(cluster(), again, folder / "out").value();
  const pki::Written written = pki::write_files(folder / "out", second.files).value();
  EXPECT_THAT(written.changed, testing::IsEmpty());
  EXPECT_EQ(written.unchanged, first.files.size());
  const std::string pem = "PRIVATE KEY", encoded = base64("-----BEGIN PRIVATE KEY-----").substr(0, 32);
  for (const pki::OutputFile& file : first.files) {
    EXPECT_TRUE(file.mode == 0600 || file.mode == 0644 || file.mode == 0755) << file.name;
    if (file.name.ends_with(".key") || file.name.ends_with(".kubeconfig") || file.name.ends_with(".ign") ||
        file.name.starts_with("auth/")) {
      EXPECT_EQ(file.mode, 0600u) << file.name;
    }
    if (file.mode == 0600) continue;
    const std::string& text = file.text.reveal();
    for (const std::string& secret : {pem, encoded, inputs.kubeadmin.password.reveal(), inputs.kubeadmin.hash,
                                      base64(inputs.pull_secret.reveal()), std::string("c2VjcmV0")})
      EXPECT_EQ(text.find(secret), std::string::npos) << file.name;
  }
}

std::map<std::string, nlohmann::json> configs_of(const Rendered& rendered) {
  std::map<std::string, nlohmann::json> configs;
  for (const pki::OutputFile& file : rendered.files)
    if (file.name.starts_with("ignition/")) configs[file.name.substr(9)] = nlohmann::json::parse(file.text.reveal());
  return configs;
}
std::map<std::string, nlohmann::json> files_of(const nlohmann::json& config) {
  std::map<std::string, nlohmann::json> files;
  for (const nlohmann::json& file : config.at("storage").at("files")) files[file.at("path")] = file;
  return files;
}

TEST_F(Render, TheBootstrapConfigHasWhatItsPodsAndItsScriptName) {
  Inputs inputs = test::bootstrap_inputs();
  inputs.crds = {{"things.yaml", "kind: CustomResourceDefinition\n"}};
  const Rendered rendered = render(cluster(), inputs, "out").value();
  const auto files = files_of(configs_of(rendered).at("bootstrap.ign"));
  for (const char* path :
       {"/etc/kubernetes/manifests/etcd.yaml", "/etc/kubernetes/manifests/kube-apiserver.yaml",
        "/etc/kubernetes/manifests/kube-controller-manager.yaml", "/etc/kubernetes/manifests/kube-scheduler.yaml",
        "/opt/openshift/static-pods/cluster-version-operator.yaml", "/opt/openshift/manifests/apply.sh",
        "/opt/openshift/manifests/crds/things.yaml", "/opt/openshift/manifests/10-namespaces.yaml",
        "/usr/local/bin/bootkube.sh", "/etc/crio/crio.conf.d/00-default", "/etc/hostname",
        "/etc/NetworkManager/system-connections/ens3.nmconnection", "/etc/kubernetes/kubeconfig",
        "/etc/kubernetes/kubeconfigs/kube-scheduler.kubeconfig", "/etc/kubernetes/pki/etcd-server.key",
        "/var/lib/kubelet/config.json"})
    EXPECT_TRUE(files.contains(path)) << path;
  EXPECT_FALSE(files.contains("/etc/kubernetes/manifests/cluster-version-operator.yaml"));
  for (const auto& [path, file] : files) {
    const bool is_key = path.ends_with(".key") || path.find("kubeconfig") != std::string::npos ||
                        path.ends_with("config.json") || path.ends_with(".nmconnection");
    if (is_key) {
      EXPECT_EQ(file.at("mode"), 0600) << path;
    }
    for (const char* authority : {"root-ca.key", "etcd-ca.key", "kubernetes-ca.key", "front-proxy-ca.key"})
      EXPECT_FALSE(path.ends_with(authority)) << path;
  }
  EXPECT_EQ(files.at("/usr/local/bin/bootkube.sh").at("mode"), 0755);
}

TEST_F(Render, NodesAreTheirMachineConfigWithWhatIsTheirOwn) {
  Inputs inputs = test::bootstrap_inputs();
  for (const char* pool : {"master", "worker"})
    inputs.machine_configs[pool] = nlohmann::json::parse(R"({"ignition": {"version": "3.4.0"},
        "storage": {"files": [{"path": "/pool", "contents": {"source": "data:,POOL"}}]}})");
  const Rendered rendered = render(cluster(), inputs, "out").value();
  const auto configs = configs_of(rendered);
  EXPECT_EQ(configs.size(), 7u);
  EXPECT_EQ(rendered.ignition.size(), 7u);
  for (const char* node : {"master-0", "master-2", "worker-1"}) {
    const auto& config = configs.at(std::string(node) + ".ign");
    const auto files = files_of(config);
    EXPECT_EQ(config.at("ignition").at("version"), "3.4.0");
    for (const char* path : {"/pool", "/etc/kubernetes/kubeconfig", "/etc/kubernetes/apiserver-url.env"})
      EXPECT_TRUE(files.contains(path)) << path;
    EXPECT_EQ(files.at("/etc/hostname").at("contents").at("source"), data_url(std::string(node) + '\n'));
    EXPECT_EQ(files.size(), 5u);
  }
  inputs.machine_configs["worker"] = nlohmann::json::parse(R"({"ignition": {"version": "2.2.0"}})");
  const auto failed = render(cluster(), inputs, "out");
  ASSERT_TRUE(failed.has_error());
  EXPECT_EQ(failed.error().error_count(), 1u) << failed.error().to_string();
}

TEST_F(Render, ABootstrapNodeOfAnotherNameHasItsConfigWhereTheStagesLook) {
  const auto named =
      test::bootstrap_cluster(test::bootstrap_text("name: bootstrap, role: Bootstrap", "name: boot, role: Bootstrap"));
  const Rendered rendered = render(named, test::bootstrap_inputs(), "out").value();
  EXPECT_TRUE(configs_of(rendered).contains("boot.ign"));
  const auto stage = std::ranges::find(rendered.files, std::string("stages/09-install.sh"), &pki::OutputFile::name);
  ASSERT_TRUE(stage != rendered.files.end());
  EXPECT_THAT(stage->text.reveal(), HasSubstr("install_by_hand boot "));
}

TEST_F(Render, WithoutMachineConfigsOnlyTheInstallersLayoutHasPointers) {
  const auto warned = [](const Rendered& rendered, const std::string& code) {
    return std::ranges::any_of(rendered.warnings, [&](const Diagnostic& d) { return d.code == code; });
  };
  const Rendered hand_made = render(cluster(), test::bootstrap_inputs(), "out").value();
  EXPECT_EQ(configs_of(hand_made).size(), 1u);
  EXPECT_TRUE(warned(hand_made, "no-machine-configs"));
  EXPECT_TRUE(warned(hand_made, "no-crds"));
  EXPECT_FALSE(warned(hand_made, "no-feature-gates"));
  spec = test::bootstrap_text(test::kInstallerLayout[0], test::kInstallerLayout[1]);
  const Rendered installer = render(cluster(), test::bootstrap_inputs(), "out").value();
  EXPECT_FALSE(warned(installer, "no-machine-configs"));
  const auto configs = configs_of(installer);
  EXPECT_EQ(configs.size(), 7u);
  const auto& ignition = configs.at("worker-0.ign").at("ignition");
  EXPECT_EQ(ignition.at("version"), "3.2.0");
  EXPECT_EQ(ignition.at("/config/merge/0/source"_json_pointer), "https://api-int.ocp4.example.com:22623/config/worker");
  EXPECT_FALSE(files_of(configs.at("worker-0.ign")).contains("/etc/kubernetes/kubeconfig"));
}

TEST_F(Render, WhatWasMadeAtRandomIsKept) {
  const Inputs inputs = read_inputs(cluster(), folder / "out", test::kNow).value();
  ASSERT_TRUE(pki::write_files(folder / "out", render(cluster(), inputs, folder / "out").value().files));
  const Inputs again = read_inputs(cluster(), folder / "out", test::kNow).value();
  EXPECT_EQ(again.ids, inputs.ids);
  EXPECT_TRUE(again.kubeadmin.password == inputs.kubeadmin.password);
  EXPECT_EQ(again.kubeadmin.hash, inputs.kubeadmin.hash);
  // A password of one's own gets a hash of its own; one that OpenShift refuses is an error, and not shown.
  test::write_file(folder / "out/auth/kubeadmin-password", "correct-horse-battery-staple");
  const Inputs changed = read_inputs(cluster(), folder / "out", test::kNow).value();
  EXPECT_NE(changed.kubeadmin.hash, inputs.kubeadmin.hash);
  EXPECT_EQ(problem(), "");
  test::write_file(folder / "out/auth/kubeadmin-password", "tooshortone");
  EXPECT_THAT(problem(), testing::AllOf(HasSubstr("[bad-password]"), Not(HasSubstr("tooshortone"))));
  test::write_file(folder / "out/auth/kubeadmin-password", inputs.kubeadmin.password.reveal());
  test::write_file(folder / "out/metadata.json", "{}");
  EXPECT_THAT(problem(), HasSubstr("[bad-metadata]"));
}

TEST_F(Render, TheReleasesFilesAreRead) {
  namespace fs = std::filesystem;
  spec = test::bootstrap_text(
      "  pki:\n", "  crdsFolder: crds\n  featureGateFile: gate.yaml\n  machineConfigsFolder: configs\n  pki:\n");
  fs::create_directories(folder / "crds");
  fs::create_directories(folder / "configs");
  const std::string crd = "kind: CustomResourceDefinition\nmetadata:\n  name: a.example.com\n";
  test::write_file(folder / "crds/a.yaml", crd);
  test::write_file(folder / "crds/b.yaml",
                   "kind: CustomResourceDefinition\nmetadata:\n  annotations:\n"
                   "    release.openshift.io/feature-set: TechPreviewNoUpgrade\n  name: a.example.com\n");
  test::write_file(folder / "crds/notes.txt", "x");
  test::write_file(folder / "gate.yaml",
                   "kind: FeatureGate\nstatus: {featureGates: [{version: '', enabled: [{name: Feature}]}]}\n");
  for (const char* pool : {"master", "worker"})
    test::write_file(folder / ("configs/rendered-" + std::string(pool) + "-0a.yaml"),
                     "kind: MachineConfig\nspec: {config: {ignition: {version: 3.4.0}}}\n");
  const Inputs inputs = read_inputs(cluster(), folder / "out", test::kNow).value();
  ASSERT_EQ(inputs.crds.size(), 1u);
  EXPECT_EQ(inputs.crds[0].name, "a.yaml");
  EXPECT_EQ(inputs.warnings.warning_count(), 1u) << inputs.warnings.to_string();
  EXPECT_THAT(inputs.feature_gates->enabled, testing::ElementsAre("Feature"));
  EXPECT_EQ(inputs.machine_configs.size(), 2u);
  const auto warnings = render(cluster(), inputs, folder / "out").value().warnings;
  EXPECT_EQ(warnings.warning_count(), 1u) << warnings.to_string();

  test::write_file(folder / "crds/c.yaml", crd);
  EXPECT_THAT(problem(), HasSubstr("[duplicate-crd]"));
  test::write_file(folder / "crds/c.yaml", "kind: Pod\nmetadata:\n  name: a\n");
  EXPECT_THAT(problem(), HasSubstr("[bad-crd]"));
  fs::remove(folder / "crds/c.yaml");
  test::write_file(folder / "configs/rendered-worker-0b.yaml", "");
  EXPECT_THAT(problem(), HasSubstr("[bad-machine-config]"));
  fs::remove_all(folder / "configs");
  EXPECT_THAT(problem(), HasSubstr("[unreadable-file]"));
}

TEST_F(Render, ImagesOfAnotherReleaseAreAWarning) {
  spec = test::bootstrap_text("openshiftVersion: 4.18.0", "openshiftVersion: 4.18.1");
  EXPECT_THAT(read_inputs(cluster(), folder / "out", test::kNow).value().warnings.to_string(),
              HasSubstr("[other-release]"));
  spec = test::bootstrap_text("openshiftVersion: 4.18.0", "openshiftVersion: \"4.18\"");
  EXPECT_TRUE(read_inputs(cluster(), folder / "out", test::kNow).value().warnings.empty());
  test::write_file(folder / "image-references.json", "{}");
  EXPECT_THAT(problem(), HasSubstr("[bad-image-references]"));
}

TEST_F(Render, InputsThatAreNotWhatTheyShouldBeAreOneErrorEachAndNotShown) {
  EXPECT_EQ(problem(), "");
  for (const char* text :
       {"c2VjcmV0", "{\"auths\":{}}", "{\"auths\":{\"r\":{\"auth\":7}}}", "{\"auths\":[\"c2VjcmV0\"]}", ""}) {
    test::write_file(folder / "pull-secret.json", text);
    EXPECT_THAT(problem(), HasSubstr("[bad-pull-secret]")) << text;
    EXPECT_THAT(problem(), Not(HasSubstr("c2VjcmV0")));
  }
  std::filesystem::remove(folder / "pull-secret.json");
  EXPECT_THAT(problem(), HasSubstr("[unreadable-file]"));
  SetUp();
  // The private key in place of the public one.
  test::write_file(folder / "id_ed25519.pub", "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n");
  EXPECT_THAT(problem(), testing::AllOf(HasSubstr("[bad-ssh-key]"), Not(HasSubstr("c2VjcmV0"))));
}

TEST_F(Render, ThePullSecretGoesOnWithoutItsByteOrderMark) {
  test::write_file(folder / "pull-secret.json", "\xEF\xBB\xBF{\"auths\":{\"r\":{\"auth\":\"c2VjcmV0\"}}}");
  const Inputs inputs = read_inputs(cluster(), folder / "out", test::kNow).value();
  EXPECT_TRUE(inputs.pull_secret.reveal().starts_with('{'));
}

TEST_F(Render, TheNodeTrustsAnImportedAuthorityAndNoneAboveIt) {
  pki::CertificateProfile profile;
  profile.subject.common_name = "corp root";
  profile.is_authority = true;
  const auto root_key = pki::PrivateKey::generate(pki::KeyAlgorithm::ecdsa_p256);
  const pki::Identity root{pki::issue(profile, root_key, nullptr, {test::kNow, std::chrono::hours(9600)}), root_key};
  profile.subject.common_name = "corp etcd";
  const auto key = pki::PrivateKey::generate(pki::KeyAlgorithm::ecdsa_p256);
  const std::string issuing = pki::issue(profile, key, &root, {test::kNow, std::chrono::hours(9600)}).to_pem();
  Inputs inputs = test::bootstrap_inputs();
  inputs.authorities.emplace(
      "etcd-ca", pki::ImportedAuthority{"corp.crt", "corp.key", issuing + root.certificate.to_pem(), key.to_pem()});
  const Rendered rendered = render(cluster(), inputs, "out").value();
  const auto files = files_of(configs_of(rendered).at("bootstrap.ign"));
  EXPECT_EQ(files.at("/etc/kubernetes/pki/etcd-ca.crt").at("contents").at("source"), data_url(issuing));
}

TEST_F(Render, ThePkiByItselfIsMadeAsTheSpecSays) {
  spec +=
      "    key: ECDSAP384\n    renewBeforeDays: 7\n"
      "    authorities: [{name: etcd-ca, certificateFile: etcd.crt, keyFile: etcd.key}]\n";
  const auto missing = read_authorities(cluster());
  ASSERT_TRUE(missing.has_error());
  EXPECT_EQ(missing.error().error_count(), 2u);
  test::write_file(folder / "etcd.crt", "certificate");
  test::write_file(folder / "etcd.key", "key");
  const pki::StoreOptions options = make_store_options(cluster(), read_authorities(cluster()).value(), test::kNow);
  EXPECT_EQ(options.now, test::kNow);
  EXPECT_EQ(options.algorithm, pki::KeyAlgorithm::ecdsa_p384);
  EXPECT_EQ(options.renew_before, std::chrono::hours(24 * 7));
  ASSERT_EQ(options.imports.size(), 1u);
  const pki::ImportedAuthority& imported = options.imports.at("etcd-ca");
  EXPECT_EQ(imported.certificate_file, folder / "etcd.crt");
  EXPECT_EQ(imported.certificate, "certificate");
  EXPECT_EQ(imported.key.reveal(), "key");
}

TEST_F(Render, AZoneThatChangesGetsALaterSerialAndOneThatDoesNotKeepsIt) {
  const auto serial_of = [](const Rendered& rendered, const std::string& zone) {
    for (const pki::OutputFile& file : rendered.files)
      if (file.name == "network/zones/" + zone + ".zone") return dns::parse_zone_file(zone, file.text.reveal())->serial;
    return 0u;
  };
  const std::string forward = "ocp4.example.com", reverse = "126.168.192.in-addr.arpa";
  const Inputs inputs = read_inputs(cluster(), folder / "out", test::kNow).value();
  EXPECT_TRUE(inputs.zones.empty());
  const Rendered first = render(cluster(), inputs, folder / "out").value();
  EXPECT_EQ(serial_of(first, forward), 1u);
  ASSERT_TRUE(pki::write_files(folder / "out", first.files));
  spec = test::bootstrap_text("ingressVIP: 192.168.126.11", "ingressVIP: 192.168.126.12");
  const Inputs again = read_inputs(cluster(), folder / "out", test::kNow).value();
  EXPECT_EQ(again.zones.size(), 2u);
  const Rendered second = render(cluster(), again, folder / "out").value();
  EXPECT_EQ(serial_of(second, forward), 2027011500u);  // of the day that kNow is in
  EXPECT_EQ(serial_of(second, reverse), 1u) << "it has no name for the ingress address";
}

}  // namespace
}  // namespace hcpnet::bootstrap
