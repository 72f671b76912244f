// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hcpnet {

/// A file of a rendered configuration.
struct RenderedFile {
  std::string name;  ///< relative, with "/" between folders; letters, digits and ._-%* only
  std::string text;
  friend bool operator==(const RenderedFile&, const RenderedFile&) = default;
};

}  // namespace hcpnet
