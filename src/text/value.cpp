// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <hcpnet/text/value.hpp>

namespace hcpnet::text {
namespace {

// RFC 6901 section 4: "~1" is '/', "~0" is '~'.
std::string unescape(std::string_view token) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
      name += token[++i] == '0' ? '~' : '/';
    else
      name += token[i];
  }
  return name;
}

const Value* step(const Value& from, std::string_view token) {
  if (from.type == ValueType::map) return from.find(unescape(token));
  if (from.type != ValueType::list) return nullptr;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = error == std::errc() && end == token.data() + token.size();
  return whole && index < from.items.size() ? &from.items[index] : nullptr;
}

}  // namespace

std::string_view to_string(ValueType type) noexcept {
  switch (type) {
    case ValueType::null:
      return "null";
    case ValueType::boolean:
      return "a boolean";
    case ValueType::integer:
      return "a number";
    case ValueType::floating:
      return "a fraction";
    case ValueType::string:
      return "a string";
    case ValueType::ambiguous:
      return "an ambiguous word";
    case ValueType::list:
      return "a list";
    case ValueType::map:
      return "a mapping";
    case ValueType::invalid:
      break;
  }
  return "an unreadable value";
}

const Value* Value::find(std::string_view name) const noexcept {
  const auto member = std::ranges::find(members, name, &Member::key);
  return member == members.end() ? nullptr : &member->value;
}

const Value* find(const Value& root, std::string_view pointer) noexcept {
  const Value* value = &root;
  while (value != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    value = step(*value, pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return value;
}

std::string child(std::string_view pointer, std::string_view token) {
  std::string path(pointer);
  path += '/';
  for (const char c : token) {
    if (c == '~')
      path += "~0";
    else if (c == '/')
      path += "~1";
    else
      path += c;
  }
  return path;
}

std::string child(std::string_view pointer, std::size_t index) {
  return std::string(pointer) + '/' + std::to_string(index);
}

}  // namespace hcpnet::text
