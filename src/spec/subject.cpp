// SPDX-License-Identifier: Apache-2.0
#include "spec/subject.hpp"
#include <utility>

namespace hcpnet::spec {

void Subject::add(Severity severity, text::Position position, std::string_view code, std::string_view pointer,
                  std::string message, std::string_view expected) {
  out_->add({.severity = severity,
             .file = origin_->file,
             .line = position.line,
             .column = position.column,
             .path = origin_->path + std::string(pointer),
             .code = std::string(code),
             .message = std::move(message),
             .found = origin_->excerpt(pointer),
             .expected = std::string(expected)});
}

void Subject::error(std::string_view code, std::string_view pointer, std::string message, std::string_view expected) {
  bad_.emplace(pointer);
  add(Severity::error, origin_->position(pointer), code, pointer, std::move(message), expected);
}

void Subject::error_at(text::Position position, std::string_view code, std::string_view pointer, std::string message) {
  bad_.emplace(pointer);
  add(Severity::error, position, code, pointer, std::move(message), "");
}

void Subject::warning(std::string_view code, std::string_view pointer, std::string message) {
  add(Severity::warning, origin_->position(pointer), code, pointer, std::move(message), "");
}

void Subject::missing(std::string_view pointer, std::string message) {
  error(code::missing_field, pointer, std::move(message));
}

bool Subject::is_good(std::string_view pointer) const {
  if (!origin_->is_readable(pointer)) return false;
  for (std::string_view rest = pointer; !bad_.empty(); rest = rest.substr(0, rest.rfind('/'))) {
    if (bad_.contains(rest)) return false;
    if (rest.empty()) break;
  }
  return true;
}

bool Subject::is_written(std::string_view pointer, bool otherwise) const {
  if (origin_->object == nullptr) return otherwise;
  const text::Value* value = text::find(*origin_->object, pointer);
  return value != nullptr && value->type != text::ValueType::null;
}

std::string Subject::where(std::string_view pointer) const {
  const text::Position position = origin_->position(pointer);
  if (position.line == 0) return metadata_->key();
  return origin_->file + ':' + std::to_string(position.line);
}

}  // namespace hcpnet::spec
