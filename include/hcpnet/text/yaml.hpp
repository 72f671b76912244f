// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/text/limits.hpp>
#include <hcpnet/text/value.hpp>
#include <string_view>

namespace hcpnet::text {

/// Reads a YAML file: UTF-8, any number of documents, anchors, aliases and merge keys, core tags only.
///
/// Problems name `file`. Duplicate keys and unsupported tags are reported and read past; encoding, syntax and limits
/// end the reading with one problem. Never throws but std::bad_alloc. Thread-safe.
[[nodiscard]] Parsed parse_yaml(std::string_view file, std::string_view text, const LoadLimits& limits = {});

/// What a plain scalar is: YAML 1.2 core schema (section 10.3.2), and `ambiguous` where YAML 1.1
/// (https://yaml.org/type) differs.
[[nodiscard]] ValueType classify_plain_scalar(std::string_view text) noexcept;

}  // namespace hcpnet::text
