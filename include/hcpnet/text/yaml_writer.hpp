// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace hcpnet::text {

/// Deeper documents are refused: the writer recurses.
inline constexpr std::size_t kMaxYamlDepth = 512;

/// Writes `document` as YAML that readers of YAML 1.1 and of YAML 1.2 read back to the same values.
///
/// Block style, two spaces, lists at the column of their key, text of several lines as a block literal, quotes only
/// where a reader needs them, no line is folded and none ends in a blank. Members are ordered for people: apiVersion,
/// kind, metadata, name, namespace, spec, data, then the rest by name, status last. The same document always gives the
/// same text. Infinity and NaN, which JSON lacks, are written as .inf and .nan.
/// Precondition: no binary values. Throws std::invalid_argument for text that is not UTF-8 and for nesting beyond
/// kMaxYamlDepth. Thread-safe. Specification: YAML 1.2.2 chapters 5 to 8, YAML 1.1 types (https://yaml.org/type).
[[nodiscard]] std::string render_yaml(const nlohmann::json& document);
/// Several documents, "---" between them; nothing for none.
[[nodiscard]] std::string render_yaml_documents(std::span<const nlohmann::json> documents);
/// Appends one document to `out`, without a separator. On an exception `out` is as it was before.
void append_yaml(std::string& out, const nlohmann::json& document);

}  // namespace hcpnet::text
