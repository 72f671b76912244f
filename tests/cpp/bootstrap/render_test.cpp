// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/bootstrap/render.hpp>

#include "pki/pki_support.hpp"

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
  for (const pki::OutputFile& file : first.files) {
    const bool is_secret = file.name.ends_with(".key") || file.name.ends_with(".kubeconfig");
    EXPECT_EQ(file.mode, is_secret ? 0600u : 0644u) << file.name;
    EXPECT_TRUE(is_secret || file.text.reveal().find("PRIVATE KEY") == std::string::npos) << file.name;
  }
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

TEST_F(Render, HaproxyTakesBothConfigurations) {
  for (const Phase phase : {Phase::bootstrap, Phase::pivoted}) {
    const std::string text = render_haproxy(cluster(), phase);
    test::write_file(folder / "haproxy.cfg", text);
    const auto ran = test::run("haproxy -c -f " + (folder / "haproxy.cfg"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output, Not(HasSubstr("WARNING")));
    EXPECT_EQ(text.find("server bootstrap ") != std::string::npos, phase == Phase::bootstrap);
    // Workers serve the applications and never the API.
    const std::string api = text.substr(0, text.find("backend ingress-https"));
    EXPECT_THAT(api, Not(HasSubstr("worker-0")));
    EXPECT_THAT(api, HasSubstr("check-ssl"));
    EXPECT_THAT(api, HasSubstr("uri /readyz"));
    EXPECT_THAT(text.substr(api.size()), Not(HasSubstr("master-0")));
  }
}

TEST_F(Render, WithoutWorkersTheControlPlaneServesTheApplications) {
  for (std::size_t at = spec.find("role: Worker"); at != std::string::npos; at = spec.find("role: Worker"))
    spec.replace(at, 12, "role: ControlPlane");
  const std::string text = render_haproxy(cluster(), Phase::pivoted);
  EXPECT_THAT(text.substr(text.find("backend ingress-https")), HasSubstr("server master-0 192.168.126.101:443"));
}

}  // namespace
}  // namespace hcpnet::bootstrap
