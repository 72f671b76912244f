// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <string>
#include <vector>

namespace hcpnet::python {

/// A dict of names and texts, in its own order.
inline std::vector<spec::SourceText> to_sources(const pybind11::dict& texts) {
  std::vector<spec::SourceText> sources;
  for (const auto& [name, text] : texts) sources.push_back({name.cast<std::string>(), text.cast<std::string>()});
  return sources;
}

/// Zone files and hosts files that the policies of a set name, by path as they are opened.
inline std::vector<spec::RecordText> to_records(const pybind11::dict& files) {
  std::vector<spec::RecordText> records;
  for (const auto& [path, text] : files) records.push_back({path.cast<std::string>(), text.cast<std::string>(), {}});
  return records;
}

}  // namespace hcpnet::python
