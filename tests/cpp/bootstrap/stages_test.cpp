// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/stages.hpp>
#include <set>

#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::HasSubstr;
using testing::Not;

spec::ValidBootstrapCluster cluster_with(pki::Layout layout) {
  return test::bootstrap_cluster(layout == pki::Layout::installer
                                     ? test::bootstrap_text(test::kInstallerLayout[0], test::kInstallerLayout[1])
                                     : test::bootstrap_text());
}

TEST(Stages, EachFindsWhatItNeeds) {
  for (const pki::Layout layout : {pki::Layout::hand_made, pki::Layout::installer}) {
    const auto cluster = cluster_with(layout);
    std::set<std::string, std::less<>> there(kStageInputs.begin(), kStageInputs.end());
    for (const Stage& stage : make_stages(cluster, plan_pki(cluster))) {
      for (const std::string& need : stage.needs) EXPECT_TRUE(there.contains(need)) << stage.name << ": " << need;
      for (const std::string& made : stage.makes) EXPECT_TRUE(there.insert(made).second) << stage.name << ": " << made;
      EXPECT_FALSE(stage.run.empty() || stage.verify.empty()) << stage.name;
      EXPECT_THAT(stage.run + stage.verify, Not(testing::ContainsRegex("@[a-z_]+@"))) << stage.name;
    }
  }
}

TEST(Stages, GoldenAreAsReviewed) {
  const auto cluster = cluster_with(pki::Layout::hand_made);
  test::expect_golden("stages-HandMade.golden.txt", test::in_one(render_stages(cluster, plan_pki(cluster))));
  const auto stages = make_stages(cluster, plan_pki(cluster));
  test::expect_golden("stages.golden.dot", render_graph(stages, GraphFormat::dot));
  test::expect_golden("stages.golden.mmd", render_graph(stages, GraphFormat::mermaid));
}

TEST(Stages, ScriptsAreSoundShellPrintTheirCommandsAndRunNothingUnasked) {
  const auto cluster = cluster_with(pki::Layout::installer);
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "stages");
  const auto files = render_stages(cluster, plan_pki(cluster));
  for (const pki::OutputFile& file : files) test::write_file(folder / ("stages/" + file.name), file.text.reveal());
  std::string paths;
  for (const pki::OutputFile& file : files) {
    const std::string path = folder / ("stages/" + file.name);
    paths += ' ' + path;
    if (file.name == "common.sh") continue;
    EXPECT_EQ(file.mode, 0755u);
    const auto printed = test::run("env -i PATH=/usr/bin:/bin bash " + path);
    EXPECT_EQ(printed.status, 0) << file.name << printed.output;
    EXPECT_THAT(printed.output, HasSubstr("run() {"));
    EXPECT_THAT(printed.output, HasSubstr("verify() {"));
    EXPECT_THAT(test::run("bash " + path + " nonsense").output, HasSubstr("usage:"));
  }
  EXPECT_EQ(test::run("shellcheck --shell=bash" + paths).output, "");
}

TEST(Stages, WithoutWorkersNothingWaitsForThem) {
  std::string text = test::bootstrap_text();
  for (std::size_t at = text.find("    - {name: worker"); at != std::string::npos;
       at = text.find("    - {name: worker"))
    text.erase(at, text.find('\n', at) + 1 - at);
  const auto cluster = test::bootstrap_cluster(text);
  for (const Stage& stage : make_stages(cluster, plan_pki(cluster)))
    EXPECT_THAT(stage.name, Not(HasSubstr("worker"))) << stage.name;
}

TEST(Stages, FollowWhatTheSpecSaysOfAddressesAndNetworks) {
  const auto infrastructure = [](const std::string& text) {
    const auto cluster = test::bootstrap_cluster(text);
    return make_stages(cluster, plan_pki(cluster)).at(1).run;
  };
  EXPECT_THAT(infrastructure(test::bootstrap_text()),
              testing::AllOf(HasSubstr("virsh net-define network/libvirt/network.xml"),
                             HasSubstr("restart hcpnet-ocp4.service"), Not(HasSubstr("keepalived"))));
  EXPECT_THAT(infrastructure(test::bootstrap_text("  pki:\n", "  keepalived: {interface: eth1}\n  pki:\n")),
              testing::AllOf(HasSubstr("/etc/keepalived/keepalived.conf"), Not(HasSubstr("hcpnet-ocp4.service"))));
  EXPECT_THAT(infrastructure(test::bootstrap_text("    gateway: 192.168.126.1\n", "")),
              testing::AllOf(HasSubstr("virbr-ocp4"), Not(HasSubstr("net-define"))));
}

TEST(Graph, HasBothForms) {
  for (const GraphFormat format : kGraphFormats) EXPECT_EQ(parse_graph_format(to_string(format)), format);
  EXPECT_FALSE(parse_graph_format("svg"));
}

}  // namespace
}  // namespace hcpnet::bootstrap
