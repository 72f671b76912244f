// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <string>
#include <variant>

/// Names and types as Python gives them; ValueError where they are none.
namespace hcpnet::python {

inline dns::Name name_of(const std::string& text) {
  const auto name = dns::parse_name(text);
  if (!name) throw pybind11::value_error("'" + text + "': " + name.error().message());
  return *name;
}

inline dns::Type type_of(const std::string& text) {
  const auto type = dns::parse_type(text);
  if (!type) throw pybind11::value_error("'" + text + "' is not a type of record");
  return *type;
}

/// As text, or as the number that an RRset has.
using TypeArgument = std::variant<unsigned, std::string>;
inline dns::Type type_of(const TypeArgument& type) {
  if (const std::string* text = std::get_if<std::string>(&type)) return type_of(*text);
  const unsigned number = std::get<unsigned>(type);
  if (number > 0xffff) throw pybind11::value_error(std::to_string(number) + " is not a type of record");
  return static_cast<dns::Type>(number);
}

/// Not one for questions alone.
inline dns::Type data_type_of(const std::string& text) {
  const dns::Type type = type_of(text);
  if (!dns::is_data_type(type)) throw pybind11::value_error("no record has the type '" + text + "'");
  return type;
}

}  // namespace hcpnet::python
