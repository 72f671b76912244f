// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string>

/// Text becomes a valid set or problems that say where they are; never both, never neither.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"f.yaml", "f.json"}) {
    auto result = hcpnet::spec::check({{name, text}}, {.max_depth = 20, .max_nodes = 2000});
    if (result.has_value()) {
      if (result->warnings.has_errors()) std::abort();
      hcpnet::spec::apply_observed(*result, {});
      continue;
    }
    const auto problems = result.error();
    if (!problems.has_errors()) std::abort();
    for (const auto& problem : problems)
      if (problem.line == 0 || problem.column == 0) std::abort();
  }
  return 0;
}
