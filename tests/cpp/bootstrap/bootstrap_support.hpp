// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <hcpnet/bootstrap/render.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "pki/pki_support.hpp"

namespace hcpnet::test {

/// The example's text with one piece exchanged for another, wherever it stands.
inline std::string bootstrap_text(const std::string& old_text = {}, const std::string& new_text = {}) {
  std::string text = read_text(HCPNET_SOURCE_DIR "/examples/bootstrap/cluster.yaml");
  EXPECT_TRUE(old_text.empty() || text.find(old_text) != std::string::npos) << old_text;
  for (std::size_t at = 0; !old_text.empty() && (at = text.find(old_text, at)) != std::string::npos;
       at += new_text.size())
    text.replace(at, old_text.size(), new_text);
  return text;
}
inline spec::ValidBootstrapCluster bootstrap_cluster(const std::string& text,
                                                     const std::string& file = "cluster.yaml") {
  return spec::check({{file, text}}).value().bootstrap_clusters.at(0);
}
inline const std::string kInstallerLayout[2] = {"layout: HandMade", "layout: Installer"};

inline bootstrap::Inputs bootstrap_inputs() {
  bootstrap::Inputs inputs;
  inputs.now = kNow;
  inputs.pull_secret = pki::Secret(R"({"auths":{"r":{"auth":"c2VjcmV0"}}})");
  inputs.ssh_key = "ssh-ed25519 AAAA core";
  for (const char* name : {"etcd", "hyperkube", "kube-proxy", "pod"})
    inputs.images[name] = "quay.io/release@sha256:" + std::string(name);
  inputs.ids = {"3f7f4a2e-8d2b-4c56-9a57-0c9a3b1e6d10", "ocp4-x7k2m"};
  inputs.kubeadmin = {pki::Secret("aaaaa-bbbbb-ccccc-ddddd"), "$2b$10$aHash"};
  inputs.feature_gates = bootstrap::FeatureGates{{"On"}, {"Off", "OffToo"}};
  return inputs;
}

inline nlohmann::json parsed_yaml(const std::string& text) {
  const text::Parsed tree = text::parse_yaml("t", text);
  EXPECT_FALSE(tree.problems.has_errors()) << tree.problems.to_string();
  Diagnostics problems;
  return text::to_json(tree.documents.at(0), "t", problems);
}

/// Compares with a file of tests/cpp/data/bootstrap; HCPNET_UPDATE_GOLDEN=1 writes it anew.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(HCPNET_TEST_DATA) + "/bootstrap/" + name;
  if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, text);
  }
  EXPECT_EQ(text, read_text(path)) << path;
}

/// Files as one text: name, mode, content.
inline std::string in_one(const std::vector<pki::OutputFile>& files) {
  std::string text;
  for (const pki::OutputFile& file : files) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%04o", file.mode);
    text += "==> " + file.name + ' ' + mode + '\n' + file.text.reveal();
  }
  return text;
}

inline std::string shell_check(const std::string& path) {
  return run("shellcheck --shell=bash " + path).output;
}

}  // namespace hcpnet::test
