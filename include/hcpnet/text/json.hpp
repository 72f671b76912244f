// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/text/limits.hpp>
#include <hcpnet/text/value.hpp>
#include <string_view>

namespace hcpnet::text {

/// Reads a JSON file (RFC 8259): one document in UTF-8, a byte order mark is passed over.
///
/// Problems name `file`. Duplicate keys are reported and read past; anything else ends the reading with one problem.
/// Never throws but std::bad_alloc. Thread-safe.
[[nodiscard]] Parsed parse_json(std::string_view file, std::string_view text, const LoadLimits& limits = {});

}  // namespace hcpnet::text
