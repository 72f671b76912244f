// SPDX-License-Identifier: Apache-2.0
#include "spec/fields.hpp"

namespace hcpnet::spec {

void Fields::text(std::string_view name, Need need, Format format, std::string& value) {
  std::optional<std::string> slot = std::move(value);
  text(name, need, format, slot);
  value = std::move(slot).value_or("");
}

void Fields::seconds(std::string_view name, Interval interval, std::chrono::seconds& value) {
  std::optional<std::int64_t> slot = value.count();
  number(name, Need::optional, interval, slot);
  value = std::chrono::seconds(*slot);
}

void Fields::seconds(std::string_view name, Interval interval, std::optional<std::chrono::seconds>& value) {
  std::optional<std::int64_t> slot;
  if (value) slot = value->count();
  number(name, Need::optional, interval, slot);
  if (slot) value = std::chrono::seconds(*slot);
}

}  // namespace hcpnet::spec
