// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/assert.hpp>
#include <hcpnet/lint/rule.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/artefacts.hpp"

namespace hcpnet::lint {

/// Where findings go.
class Reporter {
 public:
  void add(std::string_view rule, const Origin& origin, text::Position position, std::string path,
           std::string message) {
    const Rule* known = find_rule(rule);
    BOOST_ASSERT(known != nullptr);
    Diagnostic d;
    d.severity = known->severity;
    d.file = origin.file;
    d.code = rule;
    if (origin.inner.empty()) {
      d.line = position.line;
      d.column = position.column;
      d.path = std::move(path);
    } else {
      d.line = origin.position.line;
      d.column = origin.position.column;
      d.path = origin.path;
      message = origin.inner + (position.line > 0 ? ", line " + std::to_string(position.line) : std::string()) + ": " +
                message;
    }
    d.message = std::move(message);
    findings_.push_back(std::move(d));
  }
  /// About what stands at `pointer` of the object; where nothing does, about what should hold it.
  void add(std::string_view rule, const Object& object, std::string_view pointer, std::string message) {
    const text::Value* value = object.find(pointer);
    std::string_view above = pointer;
    while (value == nullptr && !above.empty()) {
      above = above.substr(0, above.rfind('/'));
      value = object.find(above);
    }
    const bool is_there = above.size() == pointer.size();
    const text::Position position = value == nullptr ? text::Position{} : is_there ? value->position : value->owner();
    add(rule, *object.origin, position, object.path + std::string(pointer), std::move(message));
  }
  void add(std::string_view rule, const LineFile& file, std::uint32_t line, std::string message) {
    add(rule, *file.origin, {line, line > 0 ? 1u : 0u}, {}, std::move(message));
  }

  [[nodiscard]] std::vector<Diagnostic> take() { return std::move(findings_); }

 private:
  std::vector<Diagnostic> findings_;
};

}  // namespace hcpnet::lint
