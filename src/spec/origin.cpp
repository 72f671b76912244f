// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/spec/origin.hpp>

namespace hcpnet::spec {
namespace {
constexpr std::size_t kExcerptBytes = 48;

std::string_view parent_of(std::string_view pointer) {
  return pointer.substr(0, pointer.rfind('/'));
}
}  // namespace

text::Position Origin::position(std::string_view pointer) const {
  if (object == nullptr) return {};
  if (const text::Value* value = text::find(*object, pointer)) {
    return value->type == text::ValueType::null && value->key.line > 0 ? value->key : value->position;
  }
  // A field that is left out: the nearest mapping around it that exists.
  for (std::string_view rest = pointer; !rest.empty();) {
    rest = parent_of(rest);
    if (const text::Value* value = text::find(*object, rest)) return value->owner();
  }
  return object->owner();
}

text::Position Origin::key_position(std::string_view pointer) const {
  if (object == nullptr) return {};
  const text::Value* value = text::find(*object, pointer);
  return value != nullptr ? value->owner() : position(pointer);
}

bool Origin::is_readable(std::string_view pointer) const {
  if (unreadable.empty()) return true;
  for (std::string_view rest = pointer;; rest = parent_of(rest)) {
    if (unreadable.contains(rest)) return false;
    if (rest.empty()) return true;
  }
}

std::string Origin::excerpt(std::string_view pointer) const {
  const text::Value* value = object != nullptr ? text::find(*object, pointer) : nullptr;
  const bool is_scalar = value != nullptr && value->type != text::ValueType::null &&
                         value->type != text::ValueType::list && value->type != text::ValueType::map;
  return is_scalar ? spec::excerpt(value->text) : std::string();
}

std::string excerpt(std::string_view text) {
  std::string words = "\"";
  std::size_t end = text.size();
  if (end > kExcerptBytes) {
    end = kExcerptBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // never half a character
  }
  for (const char c : text.substr(0, end)) words += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return words + (end < text.size() ? "...\"" : "\"");
}

}  // namespace hcpnet::spec
