// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <utility>

namespace hcpnet::manifest {

constexpr std::size_t kMaxFileNameBytes = 255;  // of every file system in use

std::vector<RenderedFile> render_kustomize(const std::vector<nlohmann::json>& objects) {
  std::vector<RenderedFile> files;
  nlohmann::json resources = nlohmann::json::array();
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(objects.size()).size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::string kind = objects[i]["kind"].get<std::string>();
    for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::string number = std::to_string(i + 1);
    std::string name = cut_name(std::string(digits - number.size(), '0') + number + '-' + kind + '-' +
                                    objects[i]["metadata"]["name"].get<std::string>(),
                                ".yaml", kMaxFileNameBytes);
    resources.push_back(name);
    files.push_back({std::move(name), text::render_yaml(objects[i])});
  }
  const nlohmann::json kustomization = {{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                                        {"kind", "Kustomization"},
                                        {"resources", std::move(resources)},
                                        {"sortOptions", {{"order", "fifo"}}}};
  files.push_back({"kustomization.yaml", text::render_yaml(kustomization)});
  return files;
}

nlohmann::json make_list(const std::vector<nlohmann::json>& objects) {
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}};
}

}  // namespace hcpnet::manifest
