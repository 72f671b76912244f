// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/text/limits.hpp>
#include <hcpnet/text/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/source.hpp"

namespace hcpnet::text {

/// Makes the tree of one document out of what a parser meets, in order. In a map a key is added like any other scalar,
/// before its value. Reports duplicate keys; throws Stop at a limit, at a key that is no scalar, and at an alias that
/// has no end.
class TreeBuilder {
 public:
  using Anchor = std::size_t;  ///< 0: none
  TreeBuilder(const Source& source, const LoadLimits& limits, Diagnostics& problems)
      : source_(source), limits_(limits), problems_(problems) {}

  /// `merges` is true for the plain key "<<" of YAML.
  void scalar(Value value, std::size_t offset, Anchor anchor = 0, bool merges = false);
  /// `readable` is false for a collection whose tag was refused: it is built, so that the text is followed, and then
  /// dropped.
  void begin(ValueType type, std::size_t offset, Anchor anchor = 0, bool readable = true);
  void end();
  void alias(Anchor anchor, std::size_t offset);

  /// The document that is complete now; null when it was empty. The next one may begin.
  [[nodiscard]] Value take();
  /// JSON pointer of the value that comes next.
  [[nodiscard]] std::string path() const;

 private:
  struct Key {
    std::string text;
    ValueType type = ValueType::string;
    Position position;
    bool merges = false;
    bool duplicate = false;
  };
  struct Frame {
    Value value;
    Anchor anchor = 0;
    bool readable = true;
    std::optional<Key> key;  ///< read, its value is still to come
    std::unordered_set<std::string> keys;
    std::vector<Value> merges;
    bool has_merge_key = false;
  };

  void count_nodes(std::size_t nodes, std::size_t offset);
  void remember(Anchor anchor, const Value& value, std::size_t offset);
  void attach(Value value, std::size_t offset, bool merges);
  void set_key(Frame& frame, Value value, std::size_t offset, bool merges);
  void add_merge(Frame& frame, Value value);
  void apply_merges(Frame& frame);

  const Source& source_;
  const LoadLimits& limits_;
  Diagnostics& problems_;
  std::vector<Frame> open_;
  std::unordered_map<Anchor, Value> anchors_;
  std::optional<Value> root_;
  std::size_t nodes_ = 0;  ///< of the whole file, aliases expanded
  std::size_t last_offset_ = 0;
};

}  // namespace hcpnet::text
