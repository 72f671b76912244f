// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/ignition.hpp>

#include "bootstrap/base64.hpp"
#include "bootstrap/bootstrap_support.hpp"

namespace hcpnet::bootstrap {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

NodeContent example() {
  NodeContent content;
  content.files = {{"/etc/hostname", pki::Secret("master-0\n"), 0644}, {"/etc/secret", pki::Secret("s"), 0600}};
  content.units = {{"a.service", "[Service]\n"}};
  content.ssh_key = "ssh-ed25519 AAAA core";
  return content;
}

TEST(Ignition, HasFilesUnitsAndTheKeyOfCore) {
  const Json config = make_ignition(example(), IgnitionVersion::v3_4_0);
  EXPECT_EQ(config, Json::parse(R"({
    "ignition": {"version": "3.4.0"},
    "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA core"]}]},
    "storage": {"files": [
      {"path": "/etc/hostname", "mode": 420, "overwrite": true,
       "contents": {"source": "data:text/plain;charset=utf-8;base64,bWFzdGVyLTAK"}},
      {"path": "/etc/secret", "mode": 384, "overwrite": true,
       "contents": {"source": "data:text/plain;charset=utf-8;base64,cw=="}}]},
    "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\n"}]}})"));
  EXPECT_EQ(make_ignition({}, IgnitionVersion::v3_2_0), Json::parse(R"({"ignition": {"version": "3.2.0"}})"));
  EXPECT_EQ(data_url(""), "data:,");
}

TEST(Ignition, EachReleaseHasItsVersion) {
  for (const unsigned minor : {14u, 15u, 16u, 17u, 18u}) EXPECT_EQ(to_string(ignition_version(minor)), "3.4.0");
  for (const unsigned minor : {19u, 20u, 21u}) EXPECT_EQ(to_string(ignition_version(minor)), "3.5.0");
  EXPECT_EQ(to_string(kPointerVersion), "3.2.0");
}

TEST(MergeIgnition, ReplacesWhatHasTheSamePlaceAndKeepsTheRest) {
  const Json base = Json::parse(R"({
    "ignition": {"version": "3.2.0", "timeouts": {"httpTotal": 3}},
    "kernelArguments": {"shouldExist": ["a"]},
    "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["other"], "uid": 1000}]},
    "storage": {"directories": [{"path": "/d"}],
                "files": [{"path": "/kept", "mode": 1}, {"path": "/etc/hostname", "append": [{"source": "data:,x"}]}]},
    "systemd": {"units": [{"name": "a.service", "mask": true}, {"name": "kept.service"}]}})");
  const Json merged = merge_ignition(base, "b", example(), IgnitionVersion::v3_4_0).value();
  EXPECT_EQ(merged["ignition"], base["ignition"]);
  EXPECT_EQ(merged["kernelArguments"], base["kernelArguments"]);
  EXPECT_EQ(merged["storage"]["directories"], base["storage"]["directories"]);
  EXPECT_EQ(merged["storage"]["files"].size(), 3u);
  EXPECT_EQ(merged["storage"]["files"][0], base["storage"]["files"][0]);
  EXPECT_FALSE(merged["storage"]["files"][1].contains("append"));
  EXPECT_EQ(merged["systemd"]["units"].size(), 2u);
  EXPECT_FALSE(merged["systemd"]["units"][0].contains("mask"));
  EXPECT_EQ(merged["passwd"]["users"][0],
            Json::parse(R"({"name": "core", "uid": 1000, "sshAuthorizedKeys": ["other", "ssh-ed25519 AAAA core"]})"));
  // Merged once more it is the same.
  EXPECT_EQ(merge_ignition(merged, "b", example(), IgnitionVersion::v3_4_0).value(), merged);
}

TEST(MergeIgnition, RefusesWhatIsNoBase) {
  const auto error = [](const char* base) {
    const auto merged = merge_ignition(Json::parse(base), "base", example(), IgnitionVersion::v3_4_0);
    return merged.has_value() ? std::string() : merged.error().to_string();
  };
  EXPECT_EQ(error(R"({"ignition": {"version": "3.4.0"}})"), "");
  EXPECT_THAT(error(R"({"ignition": {"version": "3.5.0"}})"), HasSubstr("nodes of this release read 3.4.0"));
  for (const char* base :
       {"{}", "7", R"({"ignition": {"version": "2.2.0"}})", R"({"ignition": {"version": 3}})",
        R"({"ignition": {"version": "3.6.0-experimental"}})", R"({"ignition": {"version": "3.4.0"}, "storage": 7})",
        R"({"ignition": {"version": "3.4.0"}, "storage": {"files": {}}})",
        R"({"ignition": {"version": "3.4.0"}, "systemd": {"units": [1]}})",
        R"({"ignition": {"version": "3.4.0"}, "passwd": {"users": "x"}})",
        R"({"ignition": {"version": "3.4.0"},
                               "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": 1}]}})"})
    EXPECT_THAT(error(base), HasSubstr("[bad-ignition]")) << base;
}

TEST(HypershiftPointer, HasTheAuthorityInlineAndTheTokenInAHeader) {
  const Json config = make_hypershift_pointer("ignition.hc1.example.com:443", "PEM", pki::Secret("token"));
  EXPECT_EQ(config, Json::parse(R"({"ignition": {
    "version": "3.2.0",
    "config": {"merge": [{"source": "https://ignition.hc1.example.com:443/ignition",
                          "httpHeaders": [{"name": "Authorization", "value": "Bearer dG9rZW4="}]}]},
    "security": {"tls": {"certificateAuthorities": [
      {"source": "data:text/plain;charset=utf-8;base64,UEVN"}]}}}})"));
}

TEST(ReportIgnition, CountsWhatIsThere) {
  const IgnitionReport report = report_ignition("a.ign", make_ignition(example(), IgnitionVersion::v3_5_0), 17);
  EXPECT_EQ(report.version, "3.5.0");
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.units, 1u);
  EXPECT_EQ(report.bytes, 17u);
}

}  // namespace
}  // namespace hcpnet::bootstrap
