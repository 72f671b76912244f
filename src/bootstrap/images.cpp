// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/images.hpp>
#include <hcpnet/text/yaml.hpp>
#include <utility>

#include "bootstrap/problem.hpp"

namespace hcpnet::bootstrap {
namespace {

std::string text_at(const text::Value& root, std::string_view pointer) {
  const text::Value* value = text::find(root, pointer);
  return value != nullptr && value->type == text::ValueType::string ? value->text : std::string();
}

constexpr char kNoPullSpec[] = "this is no image: letters, digits and ./:@-_ only";

}  // namespace

Result<ImageReferences, Diagnostics> parse_image_references(std::string_view file, std::string_view text) {
  // The release has it as JSON; YAML is what `oc -o yaml` would make of it, and JSON is YAML too.
  text::Parsed parsed = text::parse_yaml(file, text);
  if (parsed.problems.has_errors()) return parsed.problems;
  ImageReferences references;
  const text::Value* tags = nullptr;
  if (parsed.documents.size() == 1 && text_at(parsed.documents.front(), "/kind") == "ImageStream")
    tags = text::find(parsed.documents.front(), "/spec/tags");
  if (tags != nullptr && tags->type == text::ValueType::list) {
    references.release = text_at(parsed.documents.front(), "/metadata/name");
    for (const text::Value& tag : tags->items) {
      const std::string name = text_at(tag, "/name"), image = text_at(tag, "/from/name");
      if (!name.empty() && !image.empty()) references.images.emplace(name, image);
    }
  }
  if (!references.images.empty()) return references;
  Diagnostics problems;
  problems.add(problem(file, "bad-image-references", "this is no list of images: an ImageStream with spec.tags"));
  return problems;
}

std::vector<std::string> needed_components(const spec::ValidBootstrapCluster& cluster) {
  std::vector<std::string> components{"etcd", "hyperkube"};
  if (cluster.spec.kube_proxy) components.emplace_back("kube-proxy");
  components.emplace_back("pod");
  return components;
}

namespace {

/// What a pull spec consists of: nothing that a shell, TOML or YAML takes for something else.
bool is_pull_spec(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("./:@-_").find(c) != std::string_view::npos;
  });
}

Diagnostic problem_at(const spec::ValidBootstrapCluster& cluster, const std::string& pointer, std::string_view code,
                      std::string message) {
  Diagnostic d = problem(cluster.origin.file, code, std::move(message));
  const text::Position place = cluster.origin.position(pointer);
  d.line = place.line;
  d.column = place.column;
  d.path = cluster.origin.path + pointer;
  return d;
}

}  // namespace

Result<Images, Diagnostics> resolve_images(const spec::ValidBootstrapCluster& cluster, const Images& references) {
  Diagnostics problems;
  Images images;
  if (!is_pull_spec(cluster.spec.release_image))
    problems.add(problem_at(cluster, "/spec/releaseImage", "bad-image", kNoPullSpec));
  for (const std::string& component : needed_components(cluster)) {
    const auto own = cluster.spec.images.find(component);
    const auto referred = references.find(component);
    const bool is_own = own != cluster.spec.images.end();
    if (!is_own && referred == references.end()) {
      problems.add(problem_at(cluster, "/spec/images", "no-image",
                              "the image " + component +
                                  " is needed, and neither images nor imageReferencesFile names it; `oc adm release "
                                  "extract --file=image-references " +
                                  cluster.spec.release_image + "` prints such a file"));
    } else if (const std::string& image = is_own ? own->second : referred->second; is_pull_spec(image)) {
      images.emplace(component, image);
    } else {
      problems.add(problem_at(cluster, is_own ? "/spec/images/" + component : "/spec/imageReferencesFile", "bad-image",
                              "of " + component + ": " + kNoPullSpec));
    }
  }
  if (problems.has_errors()) return problems;
  return images;
}

}  // namespace hcpnet::bootstrap
