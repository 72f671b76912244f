// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <hcpnet/text/value.hpp>
#include <utility>

#include "text/json_patch.hpp"

// HyperShift writes its VM template as JSON, applies the patches, and reads the result into the same Go structs again
// (openshift/hypershift, hypershift-operator/controllers/nodepool/kubevirt/kubevirt.go, applyJsonPatches). Go's
// encoding/json leaves alone what the JSON does not mention, takes up list items where they are, and clears by null
// only what can be nil. Not so below /spec/template/spec: VirtualMachineInstanceSpec has an UnmarshalJSON of its own,
// which starts from nothing (kubevirt.io/api/core/v1/types.go).
namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFresh = "/spec/template/spec";
// OCPBUGS-58299: since then the annotations of the template are emptied before they are read.
constexpr Release kAnnotationsAreEmptied{4, 19};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view last_token(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? pointer : pointer.substr(slash + 1);
}
std::string_view parent_of(std::string_view pointer) {
  return pointer.substr(0, std::min(pointer.rfind('/'), pointer.size()));
}

// Outside kFresh: the Go fields that are neither pointer, map nor list, so that null leaves them as they are.
bool is_plain_field(std::string_view pointer) {
  constexpr std::array<std::string_view, 24> kPlain{"metadata",
                                                    "spec",
                                                    "resources",
                                                    "name",
                                                    "generateName",
                                                    "namespace",
                                                    "uid",
                                                    "resourceVersion",
                                                    "selfLink",
                                                    "generation",
                                                    "kind",
                                                    "apiVersion",
                                                    "revisionName",
                                                    "url",
                                                    "secretRef",
                                                    "certConfigMap",
                                                    "diskId",
                                                    "uuid",
                                                    "inferFromVolume",
                                                    "contentType",
                                                    "priorityClassName",
                                                    "current",
                                                    "previous",
                                                    "finalCheckpoint"};
  const std::string_view name = last_token(pointer);
  const std::string_view above = last_token(parent_of(pointer));
  if (above == "registry" || (above == "sourceRef" && name == "namespace")) return false;
  return pointer.empty() || is_one_of(name, kPlain);
}
bool is_map_of_text(std::string_view pointer) {
  return is_one_of<4>(last_token(pointer), {"labels", "annotations", "matchLabels", "nodeSelector"});
}

/// What Go makes of null where it starts from nothing: no field, an empty text in a map of texts, an empty item in a
/// list.
void drop_nulls(Json& value, bool is_map) {
  if (value.is_object()) {
    for (auto i = value.begin(); i != value.end();) {
      if (i->is_null() && is_map) *i = "";
      drop_nulls(*i, is_map_of_text(i.key()));
      i = i->is_null() ? value.erase(i) : std::next(i);
    }
  } else if (value.is_array()) {
    const bool holds_text = std::ranges::any_of(value, [](const Json& item) { return item.is_string(); });
    for (Json& item : value) {
      if (item.is_null()) item = holds_text ? Json("") : Json::object();
      drop_nulls(item, false);
    }
  }
}

class Decoder {
 public:
  explicit Decoder(std::vector<std::string>& kept) : kept_(kept) {}

  /// Reads `json` over `value`, which is at `pointer`.
  void decode(Json& value, const Json& json, const std::string& pointer) {
    if (pointer == kFresh) {
      value = json;
      drop_nulls(value, false);
    } else if (json.is_null()) {
      null(value, pointer);
    } else if (json.is_object()) {
      object(value, json, pointer);
    } else if (json.is_array()) {
      list(value, json, pointer);
    } else {
      value = json;
    }
  }

 private:
  void null(Json& value, const std::string& pointer) {
    const bool in_map = is_map_of_text(parent_of(pointer));
    if (!in_map && is_plain_field(pointer)) {
      if (!value.is_null()) kept_.push_back(pointer);
    } else {
      value = in_map ? Json("") : Json(nullptr);
    }
  }
  void object(Json& value, const Json& json, const std::string& pointer) {
    if (!value.is_object()) value = Json::object();
    for (auto i = value.begin(); i != value.end(); ++i)
      if (!json.contains(i.key())) kept_.push_back(child(pointer, i.key()));
    for (auto i = json.begin(); i != json.end(); ++i) decode(value[i.key()], *i, child(pointer, i.key()));
    for (auto i = value.begin(); i != value.end();) i = i->is_null() ? value.erase(i) : std::next(i);
  }
  void list(Json& value, const Json& json, const std::string& pointer) {
    if (!value.is_array()) value = Json::array();
    value.get_ref<Json::array_t&>().resize(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      // An item is a struct or a text: null leaves it as it is.
      if (!json[i].is_null()) decode(value[i], json[i], child(pointer, i));
    }
  }

  std::vector<std::string>& kept_;
};

}  // namespace

std::optional<Release> parse_release(std::string_view text) noexcept {
  Release release;
  const char* const end = text.data() + text.size();
  const auto number = [end](const char* from, std::uint32_t& out) {
    const auto [stop, error] = std::from_chars(from, end, out);
    return error == std::errc() ? stop : nullptr;
  };
  const char* at = number(text.data(), release.major);
  if (at == nullptr || at == end || *at != '.') return std::nullopt;
  at = number(at + 1, release.minor);
  return at == end ? std::optional(release) : std::nullopt;
}

Result<HypershiftPatched, PatchError> apply_hypershift_patches(const Json& vm_template, std::span<const Json> patches,
                                                               std::optional<Release> release,
                                                               const PatchLimits& limits) {
  HypershiftPatched result;
  result.patched = vm_template;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    auto patched = apply_operations(std::move(result.patched), patches[i], Dialect::hypershift, limits);
    if (patched.has_error()) {
      PatchError error = patched.error();
      error.patch = i;
      return error;
    }
    result.patched = std::move(*patched);
  }
  result.object = vm_template;
  // The template that was given may hold nulls of its own; Go would have read them as absent.
  drop_nulls(result.object, false);
  const Json::json_pointer annotations("/spec/template/metadata/annotations");
  if ((!release || *release >= kAnnotationsAreEmptied) && result.object.contains(annotations))
    result.object[annotations.parent_pointer()].erase("annotations");
  Decoder(result.kept).decode(result.object, result.patched, "");
  return result;
}

}  // namespace hcpnet::text
