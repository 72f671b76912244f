// SPDX-License-Identifier: Apache-2.0
#include "spec/field_reader.hpp"
#include <algorithm>
#include <charconv>
#include <hcpnet/spec/codes.hpp>
#include <optional>

#include "spec/names.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;
using text::ValueType;

// A number beyond 64 bits is as far out of range as one can be: it saturates, it never wraps.
std::int64_t saturated(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool hexadecimal = digits.starts_with("0x");
  if (hexadecimal) digits.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc()) value = std::numeric_limits<std::int64_t>::max();
  return negative ? -value : value;
}

std::string joined(std::span<const std::string_view> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " or " : ", ";
    list += names[i];
  }
  return list;
}

bool is_string_like(const Value& value) {
  return value.type == ValueType::boolean || value.type == ValueType::integer || value.type == ValueType::floating ||
         value.type == ValueType::ambiguous;
}

std::string type_message(const Value& value, ValueType wanted) {
  if (value.type == ValueType::ambiguous && wanted == ValueType::boolean)
    return "YAML 1.1 and YAML 1.2 read this word differently; write true or false";
  if (value.type == ValueType::ambiguous && wanted == ValueType::integer)
    return "YAML 1.1 and YAML 1.2 read this differently; write a plain decimal number";
  if (value.type == ValueType::ambiguous)
    return "YAML 1.1 and YAML 1.2 read this word differently; put quotes around it";
  std::string message =
      std::string(text::to_string(value.type)) + " stands where " + std::string(text::to_string(wanted)) + " is needed";
  if (wanted == ValueType::string && is_string_like(value)) message += "; quotes make it a string";
  return message;
}

}  // namespace

FieldReader::FieldReader(Origin& origin, Diagnostics& problems) : origin_(origin), problems_(problems) {
  frames_.push_back({.value = origin.object.get(), .path = {}, .known = {}, .removed = {}, .may_have_others = false});
}

void FieldReader::report(std::string_view code, const std::string& path, text::Position position, std::string message,
                         std::string found, std::string expected) {
  origin_.unreadable.insert(path);
  problems_.add({.severity = Severity::error,
                 .file = origin_.file,
                 .line = position.line,
                 .column = position.column,
                 .path = origin_.path + path,
                 .code = std::string(code),
                 .message = std::move(message),
                 .found = std::move(found),
                 .expected = std::move(expected)});
}

bool FieldReader::has_type(const Value& value, ValueType type, const std::string& path, std::string_view expected) {
  if (value.type == type) return true;
  if (value.type == ValueType::invalid) {
    origin_.unreadable.insert(path);  // was reported when the text was read
    return false;
  }
  report(code::wrong_type, path, value.position, type_message(value, type),
         value.text.empty() ? "" : excerpt(value.text), std::string(expected));
  return false;
}

const Value* FieldReader::take(std::string_view name, Need need, ValueType type, std::string_view expected) {
  Frame& frame = frames_.back();
  frame.known.push_back(name);
  const Value* value = frame.value->find(name);
  const std::string path = text::child(frame.path, name);
  if (value == nullptr || value->type == ValueType::null) {
    if (need == Need::required)
      report(code::missing_field, path, value != nullptr ? value->key : frame.value->owner(),
             std::string(name) + " is needed here");
    return nullptr;
  }
  return has_type(*value, type, path, expected) ? value : nullptr;
}

void FieldReader::text(std::string_view name, Need need, Format, std::optional<std::string>& value) {
  if (const Value* found = take(name, need, ValueType::string, "")) value = found->text;
}

void FieldReader::flag(std::string_view name, bool& value) {
  if (const Value* found = take(name, Need::optional, ValueType::boolean, "true or false")) value = found->flag;
}

void FieldReader::number(std::string_view name, Need need, Interval interval, std::optional<std::int64_t>& value) {
  const Value* found = take(name, need, ValueType::integer, "a whole number");
  if (found == nullptr) return;
  if (const auto good = read_number(*found, text::child(frames_.back().path, name), interval)) value = good;
}

std::optional<std::int64_t> FieldReader::read_number(const Value& value, const std::string& path, Interval interval) {
  const std::int64_t number = saturated(value.text);
  if (number >= interval.first && number <= interval.last) return number;
  report(code::out_of_range, path, value.position, "this number is out of range", excerpt(value.text),
         std::to_string(interval.first) + " to " + std::to_string(interval.last));
  return std::nullopt;
}

void FieldReader::numbers(std::string_view name, ListRule rule, Interval interval, std::vector<std::int64_t>& values) {
  const Value* list = take_list(name, rule);
  if (list == nullptr) return;
  const std::string path = text::child(frames_.back().path, name);
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string item = text::child(path, i);
    const bool good = has_type(list->items[i], ValueType::integer, item, "a whole number");
    values.push_back(good ? read_number(list->items[i], item, interval).value_or(interval.first) : interval.first);
  }
}

void FieldReader::choice(std::string_view name, Need need, std::span<const std::string_view> names,
                         std::optional<std::size_t>& value) {
  const Value* found = take(name, need, ValueType::string, joined(names));
  if (found == nullptr) return;
  const auto choice = std::ranges::find(names, found->text);
  if (choice == names.end()) {
    report(code::bad_choice, text::child(frames_.back().path, name), found->position,
           std::string(name) + " has no such value", excerpt(found->text), joined(names));
    return;
  }
  value = static_cast<std::size_t>(choice - names.begin());
}

const Value* FieldReader::take_list(std::string_view name, ListRule rule) {
  const Value* list = take(name, rule.need, ValueType::list, "");
  if (list == nullptr) return nullptr;
  const std::string path = text::child(frames_.back().path, name);
  const std::size_t size = list->items.size();
  if (size >= rule.min_items && size <= rule.max_items) return list;
  const bool few = size < rule.min_items;
  report(few ? code::too_few_items : code::too_many_items, path, list->position,
         std::to_string(size) + (size == 1 ? " item" : " items") + (few ? " are too few" : " are too many"), "",
         (few ? "at least " : "at most ") + std::to_string(few ? rule.min_items : rule.max_items));
  return nullptr;
}

void FieldReader::texts(std::string_view name, ListRule rule, Format, std::vector<std::string>& values) {
  const Value* list = take_list(name, rule);
  if (list == nullptr) return;
  const std::string path = text::child(frames_.back().path, name);
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    // An item that cannot be read keeps its place, so that the indices of the others stay true.
    const bool good = has_type(list->items[i], ValueType::string, text::child(path, i), "");
    values.push_back(good ? list->items[i].text : std::string());
  }
}

void FieldReader::string_map(std::string_view name, MapUse, StringMap& values) {
  const Value* map = take(name, Need::optional, ValueType::map, "");
  if (map == nullptr) return;
  const std::string path = text::child(frames_.back().path, name);
  for (const text::Member& member : map->members) {
    const std::string member_path = text::child(path, member.key);
    if (member.key_type != ValueType::string) {
      report(code::wrong_type, member_path, member.value.key,
             "this key is no string to every reader of YAML; put quotes around it");
    } else if (has_type(member.value, ValueType::string, member_path, "")) {
      values.insert_or_assign(member.key, member.value.text);
    }
  }
}

void FieldReader::ignored(std::string_view name) {
  frames_.back().known.push_back(name);
}

void FieldReader::removed(std::string_view name, std::string_view successor) {
  frames_.back().removed.emplace_back(name, successor);
}

void FieldReader::others_ignored() {
  frames_.back().may_have_others = true;
}

bool FieldReader::enter(std::string_view name, Need need, bool) {
  const Value* value = take(name, need, ValueType::map, "");
  if (value == nullptr) return false;
  frames_.push_back({.value = value,
                     .path = text::child(frames_.back().path, name),
                     .known = {},
                     .removed = {},
                     .may_have_others = false});
  return true;
}

void FieldReader::leave() {
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.may_have_others) return;
  for (const text::Member& member : frame.value->members) {
    if (std::ranges::find(frame.known, member.key) != frame.known.end()) continue;
    const auto removed =
        std::ranges::find(frame.removed, member.key, &std::pair<std::string_view, std::string_view>::first);
    std::string message = "there is no field " + excerpt(member.key) + " here";
    std::string expected;
    if (removed != frame.removed.end())
      message += " any more; its successor is " + std::string(removed->second);
    else
      expected = nearest(member.key, frame.known);
    report(code::unknown_field, text::child(frame.path, member.key), member.value.key, std::move(message), "",
           std::move(expected));
  }
}

std::size_t FieldReader::enter_list(std::string_view name, ListRule rule, std::size_t) {
  const Value* list = take_list(name, rule);
  frames_.push_back({.value = list,
                     .path = text::child(frames_.back().path, name),
                     .known = {},
                     .removed = {},
                     .may_have_others = false});
  return list == nullptr ? 0 : list->items.size();
}

bool FieldReader::enter_item(std::size_t index) {
  const Value& item = frames_.back().value->items[index];
  std::string path = text::child(frames_.back().path, index);
  if (!has_type(item, ValueType::map, path, "")) return false;
  frames_.push_back({.value = &item, .path = std::move(path), .known = {}, .removed = {}, .may_have_others = false});
  return true;
}

void FieldReader::leave_list() {
  frames_.pop_back();
}

}  // namespace hcpnet::spec
