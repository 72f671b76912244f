// SPDX-License-Identifier: Apache-2.0
#include "admin_output.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

namespace hcpnet::app {

std::string text_of(const nlohmann::json& object, const char* key) {
  return object.value(key, std::string{});
}

void print_diagnostics(const nlohmann::json& diagnostics, std::ostream& out) {
  for (const nlohmann::json& d : diagnostics) {
    Diagnostic one;
    one.severity = text_of(d, "severity") == "error" ? Severity::error : Severity::warning;
    one.file = text_of(d, "file");
    one.line = d.value("line", 0u);
    one.column = d.value("column", 0u);
    one.path = text_of(d, "path");
    one.code = text_of(d, "code");
    one.message = text_of(d, "message");
    one.found = text_of(d, "found");
    one.expected = text_of(d, "expected");
    out << one.to_string() << '\n';
  }
}

}  // namespace hcpnet::app
