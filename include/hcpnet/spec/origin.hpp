// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/text/value.hpp>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace hcpnet::spec {

/// Where an object came from: enough to find the line and column of each of its fields later. Copies are cheap; the
/// text's tree is shared. A default-made Origin belongs to an object that was built in memory: it knows no place and
/// every field is readable.
struct Origin {
  std::string file;
  std::size_t file_index = 0;  ///< in the order in which the files were given
  std::string path;            ///< of the object in its document: "" or, in a List, "/items/2"
  std::shared_ptr<const text::Value> object;
  std::set<std::string, std::less<>> unreadable;  ///< fields reported while loading, as pointers from the object

  /// Of the value at `pointer` (from the object); of a field that is left out: where its absence is reported.
  [[nodiscard]] text::Position position(std::string_view pointer) const;
  /// Of the key at `pointer`; of a list item its value.
  [[nodiscard]] text::Position key_position(std::string_view pointer) const;
  /// True unless the field, or something that holds it, was reported while loading.
  [[nodiscard]] bool is_readable(std::string_view pointer) const;
  /// What stands there as a scalar, cut to a few words; empty when it is none.
  [[nodiscard]] std::string excerpt(std::string_view pointer) const;
};

/// A place that orders: files as given, then lines, then columns.
struct Place {
  std::size_t file_index = 0;
  text::Position position;
  friend auto operator<=>(const Place&, const Place&) noexcept = default;
};

/// At most a few words of `text` in quotes, control characters replaced: for Diagnostic::found.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace hcpnet::spec
