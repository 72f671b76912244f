// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/text/yaml.hpp>
#include <string_view>

/// What is read stays within the limits, and reading ends with an error exactly when it is incomplete.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = hcpnet::text::parse_yaml("f.yaml", text, {.max_depth = 20, .max_nodes = 2000});
  if (!parsed.complete && (parsed.problems.error_count() != 1 || !parsed.documents.empty())) std::abort();
  for (const auto& problem : parsed.problems)
    if (problem.line == 0 || problem.column == 0) std::abort();
  return 0;
}
