// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/spec/load.hpp>
#include <string>
#include <vector>

namespace hcpnet::python {

/// A dict of names and texts, in its own order.
inline std::vector<spec::SourceText> to_sources(const pybind11::dict& texts) {
  std::vector<spec::SourceText> sources;
  for (const auto& [name, text] : texts) sources.push_back({name.cast<std::string>(), text.cast<std::string>()});
  return sources;
}

}  // namespace hcpnet::python
