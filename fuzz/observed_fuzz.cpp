// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <hcpnet/spec/observed.hpp>
#include <string>

/// Objects of a cluster and endpoint maps: any text is one or the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  hcpnet::Diagnostics warnings;
  static_cast<void>(
      hcpnet::spec::load_observed({{"o.yaml", text}}, {}, warnings, {.max_depth = 20, .max_nodes = 2000}));
  static_cast<void>(
      hcpnet::spec::load_observed({}, {{"e.yaml", text}}, warnings, {.max_depth = 20, .max_nodes = 2000}));
  return 0;
}
