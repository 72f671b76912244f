// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <string>
#include <vector>

#include "text.hpp"

namespace hcpnet::python {

/// A dict of names and texts, in its own order. Raises TypeError where one is no str, UnicodeEncodeError where it has
/// no form in UTF-8.
inline std::vector<spec::SourceText> to_sources(const pybind11::dict& texts) {
  const auto utf8 = [](pybind11::handle value) {
    if (!pybind11::isinstance<pybind11::str>(value))
      throw pybind11::type_error(std::string("names and texts are str, not ") + Py_TYPE(value.ptr())->tp_name);
    return utf8_text(pybind11::reinterpret_borrow<pybind11::str>(value));
  };
  std::vector<spec::SourceText> sources;
  for (const auto& [name, text] : texts) sources.push_back({utf8(name), utf8(text)});
  return sources;
}

/// Zone files and hosts files that the policies of a set name, by path as they are opened.
inline std::vector<spec::RecordText> to_records(const pybind11::dict& files) {
  std::vector<spec::RecordText> records;
  for (const auto& [path, text] : files) records.push_back({path.cast<std::string>(), text.cast<std::string>(), {}});
  return records;
}

}  // namespace hcpnet::python
