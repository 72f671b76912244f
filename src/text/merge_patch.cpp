// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "text/json_patch.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

// RFC 7396 section 2, MergePatch(Target, Patch).
void merge(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (auto i = patch.begin(); i != patch.end(); ++i) {
    if (i->is_null())
      target.erase(i.key());
    else
      merge(target[i.key()], *i);
  }
}

}  // namespace

Result<Json, PatchError> apply_merge_patch(Json document, const Json& patch, const PatchLimits& limits) {
  PatchError error;
  error.code = PatchErrc::too_large;
  const Extent from = measure(document, limits.max_depth + 1);
  const Extent by = measure(patch, limits.max_depth + 1);
  if (from.bytes + by.bytes > limits.max_bytes)
    error.reason = "document and patch: more than " + std::to_string(limits.max_bytes) + " bytes";
  else if (from.depth > limits.max_depth || by.depth > limits.max_depth)
    error.reason = "document or patch: nested deeper than " + std::to_string(limits.max_depth) + " levels";
  if (!error.reason.empty()) return error;
  merge(document, patch);
  return {boost::system::in_place_value, std::move(document)};
}

}  // namespace hcpnet::text
