// SPDX-License-Identifier: Apache-2.0
#include "spec/field_lister.hpp"
#include <hcpnet/text/value.hpp>

namespace hcpnet::spec {

FieldInfo& FieldLister::add(std::string_view name, const char* type, Need need) {
  FieldInfo info;
  info.path = text::child(paths_.back(), name);
  info.type = type;
  info.is_required = need == Need::required;
  return fields_.emplace_back(std::move(info));
}

void FieldLister::text(std::string_view name, Need need, Format format, std::optional<std::string>& value) {
  FieldInfo& info = add(name, "string", need);
  info.format = format;
  if (need == Need::optional && value && !value->empty()) info.default_value = *value;
}

void FieldLister::flag(std::string_view name, bool& value) {
  add(name, "boolean", Need::optional).default_value = value ? "true" : "false";
}

void FieldLister::number(std::string_view name, Need need, Interval interval, std::optional<std::int64_t>& value) {
  FieldInfo& info = add(name, "integer", need);
  info.interval = interval;
  if (need == Need::optional && value) info.default_value = std::to_string(*value);
}

void FieldLister::choice(std::string_view name, Need need, std::span<const std::string_view> names,
                         std::optional<std::size_t>& value) {
  FieldInfo& info = add(name, "string", need);
  info.choices.assign(names.begin(), names.end());
  if (need == Need::optional && value) info.default_value = std::string(names[*value]);
}

void FieldLister::texts(std::string_view name, ListRule rule, Format format, std::vector<std::string>&) {
  add(name, "array", rule.need).list = rule;
  paths_.push_back(text::child(paths_.back(), name));
  add("*", "string", Need::optional).format = format;
  paths_.pop_back();
}

void FieldLister::numbers(std::string_view name, ListRule rule, Interval interval, std::vector<std::int64_t>&) {
  add(name, "array", rule.need).list = rule;
  paths_.push_back(text::child(paths_.back(), name));
  add("*", "integer", Need::optional).interval = interval;
  paths_.pop_back();
}

void FieldLister::string_map(std::string_view name, MapUse, StringMap&) {
  add(name, "object", Need::optional);
}

void FieldLister::ignored(std::string_view name) {
  add(name, "any", Need::optional);
}

void FieldLister::removed(std::string_view name, std::string_view) {
  removed_.push_back(text::child(paths_.back(), name));
}

bool FieldLister::enter(std::string_view name, Need need, bool) {
  add(name, "object", need);
  paths_.push_back(fields_.back().path);
  return true;
}

std::size_t FieldLister::enter_list(std::string_view name, ListRule rule, std::size_t) {
  add(name, "array", rule.need).list = rule;
  paths_.push_back(fields_.back().path);
  return 1;
}

bool FieldLister::enter_item(std::size_t) {
  add("*", "object", Need::optional);
  paths_.push_back(fields_.back().path);
  return true;
}

}  // namespace hcpnet::spec
