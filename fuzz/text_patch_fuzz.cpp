// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/text/patch.hpp>
#include <span>
#include <string_view>

namespace {

using Json = nlohmann::json;

/// What another implementation does, where it has no opinion of its own: it takes a patch in one piece.
bool disagrees(const Json& document, const Json& patch, const Json& patched) {
  try {
    return document.patch(patch) != patched;
  } catch (const Json::exception&) {
    return false;  // it refuses more
  }
}

}  // namespace

/// [document, patch]: applied in every way; as RFC 6902 the result is that of another implementation.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::text;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Json input = Json::parse(text, nullptr, false);
  if (!input.is_array() || input.size() != 2) return 0;
  const Json &document = input[0], &patch = input[1];
  const PatchLimits limits{.max_operations = 50, .max_bytes = 1U << 20U, .max_depth = 64};
  const auto patched = apply_json_patch(document, patch, limits);
  if (patched.has_value() && disagrees(document, patch, *patched)) std::abort();
  static_cast<void>(apply_merge_patch(document, patch, limits));
  static_cast<void>(apply_hypershift_patches(document, std::span(&patch, 1), Release{4, 18}, limits));
  static_cast<void>(apply_hypershift_patches(document, std::span(&patch, 1), {}, limits));
  return 0;
}
