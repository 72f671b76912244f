// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

/// Any JSON comes back from our own reader, which refuses whatever YAML 1.1 and 1.2 read differently.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) return 0;
  try {
    const std::string yaml = text::render_yaml(document);
    const text::Parsed parsed =
        text::parse_yaml("f.yaml", yaml, {.max_file_bytes = 64U << 20U, .max_depth = 1'000, .max_nodes = 1U << 20U});
    if (!parsed.complete || parsed.documents.size() != 1) std::abort();
    Diagnostics problems = parsed.problems;
    if (text::to_json(parsed.documents.front(), "f.yaml", problems) != document || !problems.empty()) std::abort();
  } catch (const std::invalid_argument&) {  // nested too deep
  }
  return 0;
}
