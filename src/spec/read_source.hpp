// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/load.hpp>
#include <hcpnet/text/value.hpp>

namespace hcpnet::spec {

/// The documents of one file: JSON when its name ends in ".json" or standard input begins with a brace, YAML otherwise.
[[nodiscard]] text::Parsed read_source(const SourceText& source, const LoadLimits& limits);

}  // namespace hcpnet::spec
