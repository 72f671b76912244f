// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>

#include "bootstrap/bootstrap_support.hpp"
#include "lint/lint_support.hpp"

namespace hcpnet::lint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Report look_at(const std::vector<File>& example) {
  const std::vector<File> files = test::ExampleFiles(std::chrono::system_clock::now()).make(example);
  Options options;
  options.now = std::chrono::system_clock::now();  // not before: what openssl has made begins in this very second
  return check(files, options);
}
std::string found_in(const std::vector<File>& example) {
  return look_at(example).findings.to_string();
}

TEST(Rules, AreComplete) {
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    SCOPED_TRACE(rule.id);
    EXPECT_TRUE(ids.insert(rule.id).second);
    EXPECT_EQ(rule.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
    for (const std::string_view text : {rule.title, rule.why, rule.fix, rule.source})
      EXPECT_THAT(text, testing::Not(IsEmpty()));
    EXPECT_FALSE(rule.title.ends_with('.'));
    EXPECT_TRUE(rule.why.ends_with('.') || rule.why.ends_with('`')) << rule.why;
    EXPECT_EQ(find_rule(rule.id), &rule);
    if (rule.wrong.empty()) {
      EXPECT_THAT(rule.id, HasSubstr("-limit"));
      continue;
    }
    const std::size_t at = rule.wrong.find(rule.wrong_part);
    ASSERT_NE(at, std::string_view::npos);
    EXPECT_EQ(rule.wrong.find(rule.wrong_part, at + 1), std::string_view::npos) << "twice";
  }
  EXPECT_EQ(find_rule("none"), nullptr);
}

class RuleExample : public testing::TestWithParam<std::string> {};

// A suppression that is none leaves what it was meant for.
bool may_show(const std::string& rule, const std::string& code) {
  return code == rule || (rule.starts_with("suppression-") && code == "operator-network");
}

TEST_P(RuleExample, IsFoundByItsRuleAndByNoOther) {
  const Rule& rule = *find_rule(GetParam());
  const Report report = look_at(rule.wrong_files());
  const std::string all = report.findings.to_string();
  EXPECT_TRUE(test::codes_of(report).contains(GetParam())) << all;
  for (const Diagnostic& finding : report.findings) {
    EXPECT_TRUE(may_show(GetParam(), finding.code)) << all;
    EXPECT_GT(finding.line, 0u) << all;
    EXPECT_FALSE(finding.message.empty());
    if (finding.code == GetParam()) {
      EXPECT_EQ(finding.severity, rule.severity);
    }
  }
  EXPECT_THAT(report.unrecognised, IsEmpty());
}

TEST_P(RuleExample, IsRightWithTheOtherPart) {
  EXPECT_EQ(found_in(find_rule(GetParam())->right_files()), "");
}

std::vector<std::string> rules_with_example() {
  std::vector<std::string> ids;
  for (const Rule& rule : rules())
    if (!rule.wrong.empty()) ids.emplace_back(rule.id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(Every, RuleExample, testing::ValuesIn(rules_with_example()), [](const auto& example) {
  std::string name = example.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Rules, AreDocumentedAsTheyAre) {
  const std::string path = HCPNET_SOURCE_DIR "/docs/lint.md";
  const std::string text = render_documentation();
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) test::write_file(path, text);
  EXPECT_EQ(text, test::read_text(path)) << "HCPNET_UPDATE_GOLDEN=1 writes it anew";
}

TEST(Rules, ExplainThemselves) {
  for (const Rule& rule : rules()) {
    const std::string text = explain(rule);
    EXPECT_THAT(text, testing::AllOf(HasSubstr("Why: "), HasSubstr("Fix: "), HasSubstr("Source: ")));
  }
}

TEST(Rules, EachManifestThatIsMissingIsNamed) {
  for (const char* object : {"kind: FeatureGate\nmetadata: {name: cluster}", "kind: Network\nmetadata: {name: cluster}",
                             "kind: DNS\nmetadata: {name: cluster}", "kind: Ingress\nmetadata: {name: cluster}",
                             "kind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}",
                             "kind: Secret\nmetadata: {name: pull-secret, namespace: openshift-config}",
                             "name: system:node-bootstrapper}"}) {
    SCOPED_TRACE(object);
    std::vector<File> files = find_rule("manifest-missing")->right_files();
    const std::size_t at = files[0].text.find(object);
    ASSERT_NE(at, std::string::npos);
    files[0].text.replace(at, 5, "xxxx:");
    EXPECT_THAT(found_in(files), HasSubstr("[manifest-missing]"));
  }
}

// --- What `hcpnet bootstrap render` writes passes.

std::vector<File> rendered(const std::string& text, const bootstrap::Inputs& inputs) {
  std::vector<File> files;
  const bootstrap::Rendered all = bootstrap::render(test::bootstrap_cluster(text), inputs, "out").value();
  for (const pki::OutputFile& file : all.files) files.push_back({file.name, file.text.reveal()});
  return files;
}
std::string errors_and_warnings(const std::vector<File>& files) {
  Options options;
  options.now = test::kNow;
  const Report report = check(files, options);
  std::string text;
  for (const Diagnostic& finding : report.findings)
    if (finding.severity != Severity::info) text += finding.to_string() + '\n';
  return text;
}

TEST(Rendering, PassesInBothLayouts) {
  for (const std::string& layout : {test::kInstallerLayout[0], test::kInstallerLayout[1]}) {
    const std::string text = test::bootstrap_text(test::kInstallerLayout[0], layout);
    bootstrap::Inputs inputs = test::bootstrap_inputs();
    EXPECT_EQ(errors_and_warnings(rendered(text, inputs)), "") << layout;
    for (const char* pool : {"master", "worker"})
      inputs.machine_configs[pool] = nlohmann::json::parse(R"({"ignition": {"version": "3.4.0"}})");
    EXPECT_EQ(errors_and_warnings(rendered(text, inputs)), "") << layout;
  }
}

TEST(Rendering, OfHostedClustersNetworksPasses) {
  for (const char* form : {"one", "split", "coredns-envoy"}) {
    const std::string path = HCPNET_TEST_DATA "/manifest/two-clusters-" + std::string(form) + ".golden.yaml";
    EXPECT_EQ(errors_and_warnings({{path, test::read_text(path)}}), "");
  }
}

TEST(Rendering, WithKubeProxyIsToldOfIt) {
  const std::string text = errors_and_warnings(
      rendered(test::bootstrap_text("  pki:\n", "  kubeProxy: true\n  pki:\n"), test::bootstrap_inputs()));
  EXPECT_THAT(text, HasSubstr("[kube-proxy-beside-ovn]"));
  EXPECT_THAT(text, testing::Not(HasSubstr("error")));
}

TEST(Rendering, BreaksWhereItIsChanged) {
  std::vector<File> files = rendered(test::bootstrap_text(), test::bootstrap_inputs());
  for (File& file : files)
    if (file.name == "bootstrap-node/etc/systemd/system/kubelet.service")
      file.text.replace(file.text.find("--cgroup-driver=systemd"), 23, "--v=4");
  EXPECT_THAT(
      errors_and_warnings(files),
      HasSubstr("bootstrap-node/etc/systemd/system/kubelet.service:10:1: error: this kubelet has not the cgroup "
                "driver systemd [kubelet-cgroup-driver]\n"));
}

}  // namespace
}  // namespace hcpnet::lint
