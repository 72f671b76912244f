// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/text/json.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

/// Accepts what another strict parser accepts, but for what only one of them has: limits and refused control
/// characters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = hcpnet::text::parse_json("f.json", text, {.max_depth = 200});
  const bool other = nlohmann::json::accept(text);
  if (parsed.complete && !parsed.documents.empty() && !other) std::abort();
  for (const auto& problem : parsed.problems)
    if (other && problem.code == "json-syntax") std::abort();
  return 0;
}
