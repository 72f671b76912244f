// SPDX-License-Identifier: Apache-2.0
// What was taken out of a release image.
#include <algorithm>
#include <hcpnet/bootstrap/inputs.hpp>
#include <hcpnet/text/json.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <utility>

#include "bootstrap/problem.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

Diagnostics failure(std::string_view file, std::string_view code, std::string message) {
  Diagnostics problems;
  problems.add(problem(file, code, std::move(message)));
  return problems;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\''; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// One document of a file with CRDs, as far as its lines say what it is.
struct CrdHead {
  bool is_crd = false, is_metadata = false, is_empty = true;
  std::string name;
  bool has_feature_set = false, is_default = false;
  bool has_profile = false, is_self_managed = false;

  void read(std::string_view line) {
    if (trimmed(line).empty() || line.starts_with('#')) return;
    is_empty = false;
    const std::size_t colon = line.find(": ");
    if (line.front() != ' ') {
      is_metadata = line.starts_with("metadata:");
      is_crd = is_crd || (line.starts_with("kind:") && trimmed(line.substr(5)) == "CustomResourceDefinition");
    } else if (is_metadata && colon != std::string_view::npos) {
      read_metadata(line.substr(0, colon), trimmed(line.substr(colon + 2)));
    }
  }

  [[nodiscard]] bool is_wanted() const { return (!has_feature_set || is_default) && (!has_profile || is_self_managed); }

 private:
  void read_metadata(std::string_view indented, std::string_view value) {
    const std::string_view key = trimmed(indented);
    if (indented == "  name") name = value;
    if (key == "release.openshift.io/feature-set") {
      has_feature_set = true;
      is_default = (',' + std::string(value) + ',').find(",Default,") != std::string::npos || value.empty();
    } else if (key.starts_with("include.release.openshift.io/")) {
      has_profile = true;
      is_self_managed = is_self_managed || (key.ends_with("/self-managed-high-availability") && value == "true");
    }
  }
};

bool add_names(const Json& list, std::vector<std::string>& names) {
  if (list.is_null()) return true;
  if (!list.is_array()) return false;
  for (const Json& gate : list) {
    if (!gate.is_object() || !gate.contains("name") || !gate["name"].is_string()) return false;
    names.push_back(gate["name"]);
  }
  return true;
}

/// The text at `pointer`, or nothing.
std::string text_at(const Json& root, const char* pointer) {
  const Json::json_pointer at(pointer);
  return root.is_object() && root.contains(at) && root.at(at).is_string() ? root.at(at).get<std::string>() : "";
}

/// The one document of a file as JSON, null when there is none such.
Json single_document(std::string_view file, std::string_view text, std::string_view kind, Diagnostics& problems) {
  text::Parsed parsed = text::parse_yaml(file, text);
  problems.append(std::move(parsed.problems));
  if (problems.has_errors() || parsed.documents.size() != 1) return {};
  Json document = text::to_json(parsed.documents.front(), file, problems);
  return text_at(document, "/kind") == kind ? document : Json();
}

/// The JSON in a text, null where it is none or lies deeper than any config: what reads it on goes level by level on
/// the stack. Its problems would quote it, and there are keys in it.
Json ignition_in(std::string_view text) {
  const text::Parsed parsed = text::parse_json({}, text);
  Diagnostics ignored;
  if (parsed.problems.has_errors() || parsed.documents.size() != 1) return {};
  return text::to_json(parsed.documents.front(), {}, ignored);
}

}  // namespace

Result<std::optional<std::vector<std::string>>, Diagnostics> read_crd_names(std::string_view file,
                                                                            std::string_view text) {
  std::vector<std::string> names;
  bool is_wanted = true;
  CrdHead head;
  const auto close = [&]() -> bool {
    const CrdHead ended = std::exchange(head, CrdHead());
    if (ended.is_empty) return true;
    is_wanted = is_wanted && ended.is_wanted();
    names.push_back(ended.name);
    return ended.is_crd && !ended.name.empty();
  };
  bool is_good = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("---"))
      is_good = close() && is_good;
    else
      head.read(line);
  }
  is_good = close() && is_good;
  if (!is_good || names.empty())
    return failure(file, "bad-crd", "each document has to be a CustomResourceDefinition with a name");
  if (!is_wanted) return std::optional<std::vector<std::string>>();
  return std::optional(std::move(names));
}

Result<FeatureGates, Diagnostics> parse_feature_gate(std::string_view file, std::string_view text,
                                                     std::string_view release) {
  Diagnostics problems;
  const Json document = single_document(file, text, "FeatureGate", problems);
  if (problems.has_errors()) return problems;
  const Json::json_pointer pointer("/status/featureGates");
  if (!document.is_object() || !document.contains(pointer) || !document.at(pointer).is_array())
    return failure(file, "bad-feature-gate", "this is no FeatureGate with status.featureGates, as a release has it");
  const std::string set = text_at(document, "/spec/featureSet");
  if (!set.empty() && set != "Default")
    return failure(file, "bad-feature-gate", "this is the feature set " + set + "; the default one is needed");
  const Json* found = nullptr;
  for (const Json& entry : document.at(pointer)) {
    const std::string version = entry.is_object() ? text_at(entry, "/version") : "?";
    if (version == release || (found == nullptr && version.empty())) found = &entry;
  }
  FeatureGates gates;
  if (found == nullptr || !add_names(found->value("enabled", Json()), gates.enabled) ||
      !add_names(found->value("disabled", Json()), gates.disabled))
    return failure(file, "bad-feature-gate",
                   "status.featureGates has no entry for the release " + std::string(release) +
                       ", or for none in particular, with lists of names");
  return gates;
}

Result<Json, Diagnostics> parse_machine_config(std::string_view file, std::string_view text) {
  Diagnostics problems;
  const Json document = single_document(file, text, "MachineConfig", problems);
  if (problems.has_errors()) return problems;
  const Json::json_pointer pointer("/spec/config");
  Json config = document.is_object() && document.contains(pointer) ? document.at(pointer) : Json();
  if (config.is_object() && config.contains("raw")) {
    const Json raw = config.at("raw");
    config = raw.is_string() ? ignition_in(raw.get_ref<const std::string&>()) : raw;
  }
  if (!config.is_object() || !config.contains("ignition"))
    return failure(file, "bad-machine-config", "this is no MachineConfig with an Ignition config in spec.config");
  return {boost::system::in_place_value, std::move(config)};  // a Json converts to both
}

}  // namespace hcpnet::bootstrap
