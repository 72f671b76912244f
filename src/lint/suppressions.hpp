// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/lint/lint.hpp>
#include <string>
#include <vector>

#include "lint/reporter.hpp"

namespace hcpnet::lint {

/// A suppression in a comment. It is for the lines from `first` to `last`.
struct CommentSuppression {
  std::string file;
  std::uint32_t line = 0, first = 0, last = 0;
  std::string rule, reason;
  bool is_used = false;
};

/// Those in the comments of a file. One that is malformed, or of an unknown rule, is reported and left out.
[[nodiscard]] std::vector<CommentSuppression> comment_suppressions(const File& file, Reporter& reporter);

/// Whether `name` is what the pattern says: * stands for any characters. Without a slash it is about the last part.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace hcpnet::lint
