// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hcpnet/manifest/crds.hpp>
#include <hcpnet/text/yaml_writer.hpp>

#include "support/files.hpp"

namespace hcpnet::manifest {
namespace {

/// HCPNET_UPDATE_GOLDEN=1 writes the files anew.
TEST(Crds, FilesInDeployAreWhatTheModelSays) {
  const std::filesystem::path folder = std::filesystem::path(HCPNET_SOURCE_DIR) / "deploy/crds";
  const auto all = custom_resource_definitions();
  for (const nlohmann::json& crd : all) {
    const std::string name =
        crd["spec"]["group"].get<std::string>() + '_' + crd["spec"]["names"]["plural"].get<std::string>() + ".yaml";
    const std::string text = "# SPDX-License-Identifier: Apache-2.0\n" + text::render_yaml(crd);
    if (std::getenv("HCPNET_UPDATE_GOLDEN") != nullptr) std::ofstream(folder / name, std::ios::binary) << text;
    EXPECT_EQ(text, test::read_file(folder / name));
  }
  EXPECT_EQ(test::file_names(folder).size(), all.size());
}

TEST(Crds, SchemasSayWhatTheFieldsAre) {
  const nlohmann::json infra = custom_resource_definitions().front();
  const nlohmann::json spec =
      infra["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
  EXPECT_EQ(spec["networkConfig"]["properties"]["gateway"]["format"], "ipv4");
  EXPECT_EQ(spec["networkConfig"]["required"], nlohmann::json::array({"cidr"}));
  EXPECT_EQ(spec["networkConfig"]["properties"]["role"]["enum"], nlohmann::json::array({"Secondary", "Primary"}));
  EXPECT_EQ(spec["infraComponents"]["properties"]["dhcp"]["properties"]["enabled"]["default"], true);
  EXPECT_EQ(spec["networkConfig"]["properties"]["dnsServers"]["items"]["type"], "string");
}

}  // namespace
}  // namespace hcpnet::manifest
