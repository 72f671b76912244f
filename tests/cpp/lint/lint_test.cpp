// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/ignition.hpp>
#include <hcpnet/lint/files.hpp>
#include <nlohmann/json.hpp>

#include "lint/lint_support.hpp"
#include "lint/suppressions.hpp"

namespace hcpnet::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kEndpoints =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: etcd-endpoints, namespace: openshift-etcd}\n";
const std::string kNetwork = "apiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n";

TEST(Lint, KnowsFilesByTheirContent) {
  const std::string pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  for (const std::string& text :
       {kEndpoints, std::string("{\"kind\": \"Pod\", \"apiVersion\": \"v1\"}"),
        std::string("# a comment\n\napiVersion: v1\nkind: Config\nclusters: []\n"), pem,
        std::string("{\"ignition\": {\"version\": \"3.2.0\"}}"), std::string("ignition:\n  version: 3.2.0\n"),
        std::string("frontend a\n  bind :6443\n"), std::string("[Service]\nExecStart=/usr/bin/true\n"),
        std::string("[crio.runtime]\nx = 1\n"),
        std::string("KUBERNETES_SERVICE_HOST=a\nKUBERNETES_SERVICE_PORT=6443\n"), std::string("#!/bin/sh\ntrue\n"),
        std::string("\xEF\xBB\xBF{\"kind\": \"Pod\"}"), std::string("{apiVersion: v1, kind: Pod}\n"), std::string("{"),
        std::string("<network>\n</network>\n"), std::string("{\"status\": {\"apiServerURL\": \"x\"}}"),
        std::string("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b\n")}) {
    const Report report = test::lint_text(text, "README.md");
    EXPECT_THAT(report.unrecognised, IsEmpty()) << text;
  }
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("# Words\n\nSome prose.\napiVersion: v1\nkind: Pod\n"),
        std::string("a: 1\n"), std::string("[1, 2]"), std::string("kind: Pod\0", 10),
        std::string("frontend of a house\nbackend of it\n"), std::string("{\"a\": 1}"),
        std::string("{{- if .Values.a }}\napiVersion: v1\nkind: Pod\n"),
        std::string("{% if a %}\napiVersion: v1\nkind: Pod\n{% endif %}\n"), std::string("{\n  admin off\n}\n")}) {
    const Report report = test::lint_text(text, "manifest.yaml");
    EXPECT_THAT(report.unrecognised, ElementsAre("manifest.yaml")) << text;
    EXPECT_TRUE(report.findings.empty()) << report.findings.to_string();
  }
}

TEST(Lint, TakesListsApart) {
  const Report report = test::lint_text(
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n- apiVersion: v1\n  kind: "
      "ConfigMap\n  metadata:\n    name: etcd-endpoints\n    namespace: openshift-etcd\n");
  ASSERT_EQ(report.findings.items().size(), 1u) << report.findings.to_string();
  EXPECT_EQ(report.findings.items()[0].path, "/items/1/metadata/annotations");
  EXPECT_EQ(report.findings.items()[0].line, 8u);
}

TEST(Lint, LeavesObjectsOfAClusterAlone) {
  EXPECT_TRUE(
      test::lint_text("apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version, uid: 1-2}\n"
                      "spec: {clusterID: a, desiredUpdate: {version: 4.18.1}}\n")
          .findings.empty());
}

TEST(Lint, SaysWhereInAnIgnitionConfigItIs) {
  const std::string config = R"({"ignition": {"version": "3.2.0"},
"storage": {"files": [
 {"path": "/etc/kubernetes/x.yaml", "mode": 420, "contents": {"source": ")" +
                             bootstrap::data_url("---\n" + kEndpoints) + R"("}}]}})";
  const Report report = test::lint_text(config, "a.ign");
  ASSERT_EQ(report.findings.items().size(), 1u) << report.findings.to_string();
  EXPECT_EQ(report.findings.items()[0].to_string(),
            "a.ign:3:2: error: /storage/files/0: /etc/kubernetes/x.yaml, line 4: the annotation "
            "alpha.installer.openshift.io/etcd-bootstrap is missing [etcd-endpoints]");
}

TEST(Lint, LooksIntoMachineConfigs) {
  for (const std::string& config : {std::string("  config: {ignition: {version: 2.2.0}}\n"),
                                    std::string("  config:\n    raw: '{\"ignition\": {\"version\": \"2.2.0\"}}'\n")}) {
    const Report report = test::lint_text(
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: 00-x}\nspec:\n" +
        config);
    EXPECT_THAT(test::codes_of(report), ElementsAre("ignition-version")) << config;
  }
}

TEST(Lint, ShowsNothingSecret) {
  for (const std::string& text :
       {std::string("apiVersion: v1\nkind: Config\nusers: [{user: {token: c2VjcmV0}}]\nclusters: [{a: \"c2VjcmV0\n"),
        std::string(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {tls.crt: c2VjcmV0, tls.key: c2VjcmV0}\n"),
        std::string("apiVersion: v1\nkind: Secret\ndata: {a: c2VjcmV0, a: c2VjcmV0}\n"),
        std::string(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}\ndata: "
            "{install-config: 'pullSecret: c2VjcmV0'}\n"),
        std::string(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}\ndata: "
            "{install-config: \"controlPlane: {replicas: 3}\\npullSecret: c2VjcmV0\"}\n"),
        std::string("{\"ignition\": {\"version\": \"3.2.0\", \"config\": {\"replace\": {\"source\": "
                    "\"http://a:c2VjcmV0@b/c?d=c2VjcmV0\"}}}}"),
        std::string(
            "{\"ignition\": {\"version\": \"3.2.0\"}, \"storage\": {\"files\": [{\"path\": \"/a\", \"contents\": "
            "{\"source\": \"data:;base64,c2VjcmV0c\"}}]}}")}) {
    const Report report = test::lint_text(text);
    EXPECT_FALSE(report.findings.empty()) << text;
    for (const std::string& output : {render_text(report), render_json(report), render_sarif(report)})
      EXPECT_THAT(output, Not(HasSubstr("c2VjcmV0")));
  }
}

TEST(Lint, SendsNoControlsToATerminal) {
  const Report report =
      test::lint_text("apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: \"\\e[31m\"}\n");
  EXPECT_THAT(report.findings.to_string(), HasSubstr("no DNS \\x1b[31m ["));
}

TEST(Lint, HasLimits) {
  Options options;
  options.limits.max_file_bytes = 10;
  EXPECT_THAT(test::codes_of(check({{"a", kNetwork}}, options)), ElementsAre("file-limit"));
  options = {};
  options.limits.max_values = 3;
  EXPECT_THAT(check({{"a", kNetwork}}, options).findings.to_string(), HasSubstr("[alias-limit] [unreadable-text]"));
  options = {};
  options.limits.max_findings = 2;
  const Report many = check({{"a", kEndpoints}, {"b", kEndpoints}, {"c", kEndpoints}}, options);
  EXPECT_EQ(many.findings.items().size(), 2u);
  EXPECT_EQ(many.findings.error_count(), 3u);
  std::string nested = R"({"ignition": {"version": "3.2.0"}})";
  for (int i = 0; i < 5; ++i)
    nested =
        nlohmann::json{{"ignition", {{"version", "3.2.0"}}},
                       {"storage",
                        {{"files", nlohmann::json::array(
                                       {{{"path", "/a"}, {"contents", {{"source", bootstrap::data_url(nested)}}}}})}}}}
            .dump();
  EXPECT_THAT(test::codes_of(test::lint_text(nested)), ElementsAre("nesting-limit"));
}

TEST(Lint, SortsByFileAndLine) {
  const Report report = check({{"b", kEndpoints + "---\n" + kNetwork}, {"a", kNetwork}});
  std::vector<std::string> places;
  for (const Diagnostic& finding : report.findings) places.push_back(finding.file + std::to_string(finding.line));
  EXPECT_THAT(places, ElementsAre("b3", "b5", "a1"));
  EXPECT_TRUE(report.has(Severity::error));
  const Report mild = check({{"a", kNetwork}});
  EXPECT_FALSE(mild.has(Severity::warning));
  EXPECT_TRUE(mild.has(Severity::info));
  EXPECT_FALSE(check({}).has(Severity::info));
}

TEST(Suppressions, AreForTheirDocument) {
  const std::string comment = "# hcpnet-lint: ignore operator-network: why\n";
  const auto found = [](const std::string& text) { return test::codes_of(test::lint_text(text)); };
  EXPECT_THAT(found(comment + kNetwork), IsEmpty());
  EXPECT_THAT(found("# first\n" + comment + "---\n" + kNetwork), IsEmpty());
  EXPECT_THAT(found(kNetwork + comment), IsEmpty());
  EXPECT_THAT(found(comment + kNetwork + "---\n" + kNetwork), ElementsAre("operator-network"));
  EXPECT_THAT(found(kNetwork + "---\n" + comment + kNetwork), ElementsAre("operator-network"));
  EXPECT_THAT(found(comment + kEndpoints + "---\n" + kNetwork),
              ElementsAre("etcd-endpoints", "operator-network", "suppression-unused"));
  EXPECT_THAT(found("# hcpnet-lint: ignore operator-network\n" + kNetwork),
              ElementsAre("operator-network", "suppression-malformed"));
  EXPECT_THAT(found("# hcpnet-lint: off\n"), ElementsAre("suppression-malformed"));
}

TEST(Suppressions, OfAFileArePatterns) {
  EXPECT_TRUE(matches("", "any/thing"));
  EXPECT_TRUE(matches("a.yaml", "deep/a.yaml"));
  EXPECT_TRUE(matches("*.yaml", "deep/a.yaml"));
  EXPECT_TRUE(matches("deep/*", "deep/er/a.yaml"));
  EXPECT_TRUE(matches("*a*b*", "xaxbx"));
  EXPECT_FALSE(matches("a.yaml", "deep/b.yaml"));
  EXPECT_FALSE(matches("deep/*.yaml", "a.yaml"));
  EXPECT_FALSE(matches("*ab", "abx"));
  Options options;
  options.suppressions = parse_suppressions("s", "- {rule: operator-network, file: a*, reason: why}\n").value();
  EXPECT_EQ(options.suppressions[0].origin, "s:1");
  const Report report = check({{"a", kNetwork}, {"b", kNetwork}}, options);
  ASSERT_EQ(report.suppressed.size(), 1u);
  EXPECT_EQ(report.suppressed[0].reason, "why");
  EXPECT_FALSE(report.suppressed[0].in_source);
  ASSERT_EQ(report.findings.items().size(), 1u);
  EXPECT_EQ(report.findings.items()[0].file, "b");
  options.suppressions[0].file = "c";
  EXPECT_THAT(check({{"a", kNetwork}}, options).findings.to_string(),
              HasSubstr("s:1: warning: nothing is found by operator-network in c"));
}

TEST(Suppressions, OfAFileAreChecked) {
  for (const char* text :
       {"a: 1\n", "- 1\n", "- {rule: none, reason: x}\n", "- {rule: operator-network}\n", "- {reason: x}\n",
        "- {rule: operator-network, reason: ''}\n", "- {rule: operator-network, reason: '  '}\n",
        "- {rule: operator-network, reason: 3}\n", "- {rule: operator-network, reason: x, line: 4}\n",
        "- {rule: operator-network, reason: x}\n---\n- {}\n"}) {
    const auto read = parse_suppressions("s", text);
    ASSERT_TRUE(read.has_error()) << text;
    EXPECT_EQ(read.error().error_count(), 1u) << text;
    EXPECT_THAT(read.error().to_string(), HasSubstr("[bad-suppression]"));
  }
  EXPECT_TRUE(parse_suppressions("s", "[").has_error());
  EXPECT_THAT(parse_suppressions("s", "# none\n").value(), IsEmpty());
}

TEST(Output, IsJsonAndSarif) {
  Report report = check({{"a b.yaml", kEndpoints}, {"\xff", "x"}});
  const auto json = nlohmann::json::parse(render_json(report));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["findings"][0]["rule"], "etcd-endpoints");
  EXPECT_EQ(json["unrecognised"].size(), 1u);
  const auto sarif = nlohmann::json::parse(render_sarif(report));
  const auto& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.yaml");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
            "etcd-endpoints");
  EXPECT_THAT(render_text(report), HasSubstr("1 error, 0 warnings, 0 infos; 2 files looked at, 1 of them nothing"));
}

TEST(ReadFiles, StopsAtItsLimit) {
  const test::TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", ".d"}) test::write_file(folder / name, name);
  const auto files = read_files({folder.path()});
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].text, "a");
  const auto refused = read_files({folder.path()}, {}, {.max_files = 2});
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("[too-many-files]"));
  EXPECT_EQ(read_files({folder / "a", folder / "e", ""}).error().error_count(), 2u);
}

TEST(DataUrl, IsReadAsItIsWritten) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("ab"), std::string("abc"), std::string("\0\xff", 2)})
    EXPECT_EQ(bootstrap::parse_data_url(bootstrap::data_url(bytes)), bytes);
  EXPECT_EQ(bootstrap::parse_data_url("data:,a%20b%0A"), "a b\n");
  EXPECT_EQ(bootstrap::parse_data_url("data:text/plain;base64,YQ=="), "a");
  for (const char* wrong :
       {"", "data:", "http://a,b", "data:,%", "data:,%2", "data:,%zz", "data:,%-1", "data:;base64,YQ",
        "data:;base64,YQ=", "data:;base64,Y", "data:;base64,Y=Q=", "data:;base64,=", "data:;base64,Y!=="})
    EXPECT_EQ(bootstrap::parse_data_url(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace hcpnet::lint
