// SPDX-License-Identifier: Apache-2.0
#include "spec/format_checker.hpp"
#include <utility>

#include "spec/names.hpp"

namespace hcpnet::spec {

void FormatChecker::check(const std::string& path, Format format, const std::string& value) {
  if (!subject_.is_good(path)) return;
  if (const auto complaint = check_format(format, value))
    subject_.error(complaint->code, path, complaint->message, complaint->expected);
}

void FormatChecker::check_size(const std::string& path, ListRule rule, std::size_t size) {
  if (!subject_.is_good(path)) return;
  if (size == 0 && rule.need == Need::optional) return;  // not given: one that is given empty is refused as it is read
  if (size < rule.min_items)
    subject_.error(code::too_few_items, path, "at least " + std::to_string(rule.min_items) + " is needed");
  else if (size > rule.max_items)
    subject_.error(code::too_many_items, path, "at most " + std::to_string(rule.max_items) + " are allowed");
}

void FormatChecker::text(std::string_view name, Need, Format format, std::optional<std::string>& value) {
  if (value) check(text::child(paths_.back(), name), format, *value);
}

void FormatChecker::number(std::string_view name, Need, Interval interval, std::optional<std::int64_t>& value) {
  if (value) check_number(text::child(paths_.back(), name), interval, *value);
}

void FormatChecker::check_number(const std::string& path, Interval interval, std::int64_t value) {
  if ((value >= interval.first && value <= interval.last) || !subject_.is_good(path)) return;
  subject_.error(code::out_of_range, path,
                 "this number runs from " + std::to_string(interval.first) + " to " + std::to_string(interval.last));
}

void FormatChecker::numbers(std::string_view name, ListRule rule, Interval interval,
                            std::vector<std::int64_t>& values) {
  const std::string path = text::child(paths_.back(), name);
  check_size(path, rule, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) check_number(text::child(path, i), interval, values[i]);
}

void FormatChecker::texts(std::string_view name, ListRule rule, Format format, std::vector<std::string>& values) {
  const std::string path = text::child(paths_.back(), name);
  check_size(path, rule, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) check(text::child(path, i), format, values[i]);
}

void FormatChecker::string_map(std::string_view name, MapUse use, StringMap& values) {
  if (use == MapUse::any) return;
  const std::string path = text::child(paths_.back(), name);
  for (const auto& [key, value] : values) {
    auto problem = label_key_problem(use == MapUse::annotations ? lower(key) : key);  // as the API server does
    if (!problem && use == MapUse::labels) problem = label_value_problem(value);
    const std::string member = text::child(path, key);
    if (problem && subject_.is_good(member)) subject_.error(code::bad_name, member, std::move(*problem));
  }
}

bool FormatChecker::enter(std::string_view name, Need, bool is_present) {
  if (is_present) paths_.push_back(text::child(paths_.back(), name));
  return is_present;
}

std::size_t FormatChecker::enter_list(std::string_view name, ListRule rule, std::size_t size) {
  paths_.push_back(text::child(paths_.back(), name));
  check_size(paths_.back(), rule, size);
  return size;
}

bool FormatChecker::enter_item(std::size_t index) {
  paths_.push_back(text::child(paths_.back(), index));
  return true;
}

}  // namespace hcpnet::spec
