// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "spec/fields.hpp"

namespace hcpnet::spec {

/// What the descriptions say about one field; for comparing them with the schemas of the resources.
struct FieldInfo {
  std::string path;  ///< from the object; an item of a list is "*"
  std::string type;  ///< string, integer, boolean, array, object; "any" of an ignored field
  bool is_required = false;
  std::optional<Format> format;
  std::optional<Interval> interval;
  std::vector<std::string> choices;
  std::optional<std::string> default_value;
  ListRule list;
};

/// Takes down every field that describe() visits.
class FieldLister : public Fields {
 public:
  [[nodiscard]] const std::vector<FieldInfo>& fields() const noexcept { return fields_; }
  /// Paths of fields that are known to be gone.
  [[nodiscard]] const std::vector<std::string>& removed_fields() const noexcept { return removed_; }

  void text(std::string_view name, Need need, Format format, std::optional<std::string>& value) override;
  void flag(std::string_view name, bool& value) override;
  void number(std::string_view name, Need need, Interval interval, std::optional<std::int64_t>& value) override;
  void choice(std::string_view name, Need need, std::span<const std::string_view> names,
              std::optional<std::size_t>& value) override;
  void texts(std::string_view name, ListRule rule, Format format, std::vector<std::string>& values) override;
  void numbers(std::string_view name, ListRule rule, Interval interval, std::vector<std::int64_t>& values) override;
  void string_map(std::string_view name, MapUse use, StringMap& values) override;
  void ignored(std::string_view name) override;
  void removed(std::string_view name, std::string_view successor) override;
  void others_ignored() override {}
  using Fields::choice;
  using Fields::text;

 protected:
  bool enter(std::string_view name, Need need, bool is_present) override;
  void leave() override { paths_.pop_back(); }
  std::size_t enter_list(std::string_view name, ListRule rule, std::size_t size) override;
  bool enter_item(std::size_t index) override;
  void leave_list() override { paths_.pop_back(); }

 private:
  FieldInfo& add(std::string_view name, const char* type, Need need);

  std::vector<FieldInfo> fields_;
  std::vector<std::string> removed_;
  std::vector<std::string> paths_{""};
};

}  // namespace hcpnet::spec
