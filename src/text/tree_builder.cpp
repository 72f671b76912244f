// SPDX-License-Identifier: Apache-2.0
#include "text/tree_builder.hpp"
#include <algorithm>
#include <utility>

namespace hcpnet::text {
namespace {

std::size_t size_of(const Value& value) {
  std::size_t nodes = 1;
  for (const Value& item : value.items) nodes += size_of(item);
  for (const Member& member : value.members) nodes += size_of(member.value);
  return nodes;
}

std::size_t depth_of(const Value& value) {
  std::size_t depth = 0;
  for (const Value& item : value.items) depth = std::max(depth, depth_of(item));
  for (const Member& member : value.members) depth = std::max(depth, depth_of(member.value));
  return depth + (value.type == ValueType::list || value.type == ValueType::map ? 1 : 0);
}

}  // namespace

void TreeBuilder::count_nodes(std::size_t nodes, std::size_t offset) {
  nodes_ += nodes;
  if (nodes_ > limits_.max_nodes)
    source_.stop(code::alias_limit, offset,
                 "more than " + std::to_string(limits_.max_nodes) + " values, aliases counted as what they stand for");
}

void TreeBuilder::scalar(Value value, std::size_t offset, Anchor anchor, bool merges) {
  count_nodes(1, offset);
  value.position = source_.position(offset);
  remember(anchor, value, offset);
  attach(std::move(value), offset, merges);
}

void TreeBuilder::begin(ValueType type, std::size_t offset, Anchor anchor, bool readable) {
  count_nodes(1, offset);
  if (open_.size() >= limits_.max_depth)
    source_.stop(code::depth_limit, offset, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  Frame frame;
  frame.value.type = type;
  frame.value.position = source_.position(offset);
  frame.anchor = anchor;
  frame.readable = readable;
  open_.push_back(std::move(frame));
  last_offset_ = offset;
}

void TreeBuilder::end() {
  Frame frame = std::move(open_.back());
  open_.pop_back();
  apply_merges(frame);
  if (!frame.readable) {
    Value dropped;
    dropped.type = ValueType::invalid;
    dropped.position = frame.value.position;
    frame.value = std::move(dropped);
  }
  remember(frame.anchor, frame.value, last_offset_);
  attach(std::move(frame.value), last_offset_, false);
}

void TreeBuilder::alias(Anchor anchor, std::size_t offset) {
  if (std::ranges::find(open_, anchor, &Frame::anchor) != open_.end())
    source_.stop(code::alias_cycle, offset,
                 "this alias stands inside the value that it names, which would contain itself");
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) source_.stop(code::yaml_syntax, offset, "this alias names nothing");
  count_nodes(size_of(found->second), offset);
  if (open_.size() + depth_of(found->second) > limits_.max_depth)
    source_.stop(code::depth_limit, offset, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  Value value = found->second;
  value.position = source_.position(offset);  // where this use of it stands
  attach(std::move(value), offset, false);
}

// A copy counts like an alias: anchors inside anchors would otherwise cost the square of their number.
void TreeBuilder::remember(Anchor anchor, const Value& value, std::size_t offset) {
  if (anchor == 0) return;
  count_nodes(size_of(value), offset);
  anchors_.insert_or_assign(anchor, value);
}

void TreeBuilder::attach(Value value, std::size_t offset, bool merges) {
  last_offset_ = offset;
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Frame& frame = open_.back();
  if (frame.value.type == ValueType::list) {
    frame.value.items.push_back(std::move(value));
  } else if (!frame.key) {
    set_key(frame, std::move(value), offset, merges);
  } else {
    Key key = *std::exchange(frame.key, std::nullopt);
    value.key = key.position;
    if (key.duplicate) return;  // the first value counts
    if (key.merges) return add_merge(frame, std::move(value));
    frame.value.members.push_back({std::move(key.text), key.type, std::move(value)});
  }
}

void TreeBuilder::set_key(Frame& frame, Value value, std::size_t offset, bool merges) {
  if (value.type == ValueType::list || value.type == ValueType::map)
    source_.stop(code::yaml_syntax, offset, "a key is a word; a list or a mapping cannot be one");
  if (value.type == ValueType::null)
    source_.stop(code::yaml_syntax, offset, "a key is missing here, or is a null that needs quotes");
  Key key{std::move(value.text), value.type, value.position, merges, false};
  const bool is_new = merges ? !std::exchange(frame.has_merge_key, true) : frame.keys.insert(key.text).second;
  if (!is_new) {
    key.duplicate = true;
    problems_.add(
        source_.problem(code::duplicate_key, key.position, child(path(), key.text),
                        '"' + key.text.substr(0, 60) + "\" is already set here; only the first value is looked at"));
  }
  frame.key = std::move(key);
}

void TreeBuilder::add_merge(Frame& frame, Value value) {
  const auto is_map = [](const Value& v) { return v.type == ValueType::map; };
  if (is_map(value)) {
    frame.merges.push_back(std::move(value));
  } else if (value.type == ValueType::list && std::ranges::all_of(value.items, is_map)) {
    for (Value& item : value.items) {
      item.key = value.key;
      item.position = value.position;
      frame.merges.push_back(std::move(item));
    }
  } else if (value.type != ValueType::invalid) {
    problems_.add(source_.problem(code::wrong_type, value.position, child(path(), "<<"),
                                  "a merge key takes a mapping or a list of mappings"));
  }
}

// Keys of the map itself win, then those of the earlier source. What is merged stands where the merge key stands.
void TreeBuilder::apply_merges(Frame& frame) {
  for (Value& source : frame.merges) {
    for (Member& member : source.members) {
      if (!frame.keys.insert(member.key).second) continue;
      member.value.key = source.key;
      member.value.position = source.position;
      frame.value.members.push_back(std::move(member));
    }
  }
}

Value TreeBuilder::take() {
  anchors_.clear();
  Value value = root_ ? *std::move(root_) : Value{};
  root_.reset();
  return value;
}

std::string TreeBuilder::path() const {
  std::string pointer;
  for (const Frame& frame : open_) {
    if (frame.value.type == ValueType::list)
      pointer = child(pointer, frame.value.items.size());
    else if (frame.key)
      pointer = child(pointer, frame.key->text);
  }
  return pointer;
}

}  // namespace hcpnet::text
