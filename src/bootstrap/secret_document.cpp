// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/secret_document.hpp"
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <utility>

namespace hcpnet::bootstrap {

SecretDocument::SecretDocument(std::string_view file, std::string_view text, const char* what, const char* code)
    : file_(file), code_(code) {
  text::Parsed parsed = text::parse_yaml(file, text);
  for (Diagnostic problem : parsed.problems) {
    problem.found.clear();  // what the parser quotes may be a key
    problems_.add(std::move(problem));
  }
  if (!problems_.has_errors() && parsed.documents.size() != 1)
    report({}, std::string("one document is needed, ") + what);
  if (problems_.has_errors()) return;
  tree_ = std::move(parsed.documents.front());
  json_ = text::to_json(tree_, file, problems_);
}

const std::string* SecretDocument::string_at(const std::string& pointer) const {
  const text::Value* value = text::find(tree_, pointer);
  return value != nullptr && value->type == text::ValueType::string ? &value->text : nullptr;
}

void SecretDocument::report(const std::string& pointer, std::string message) {
  const text::Value* value = text::find(tree_, pointer);
  Diagnostic d;
  d.file = file_;
  d.line = value != nullptr ? value->position.line : 1;
  d.column = value != nullptr ? value->position.column : 1;
  d.path = pointer;
  d.code = code_;
  d.message = std::move(message);
  problems_.add(std::move(d));
}

}  // namespace hcpnet::bootstrap
