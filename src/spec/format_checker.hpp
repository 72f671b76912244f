// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "spec/fields.hpp"
#include "spec/subject.hpp"

namespace hcpnet::spec {

/// Checks every value of an object by itself: formats and intervals. Looks at the model, so that objects made in memory
/// are checked too.
class FormatChecker : public Fields {
 public:
  explicit FormatChecker(Subject& subject) : subject_(subject) {}

  void text(std::string_view name, Need need, Format format, std::optional<std::string>& value) override;
  void flag(std::string_view, bool&) override {}
  void number(std::string_view name, Need need, Interval interval, std::optional<std::int64_t>& value) override;
  void choice(std::string_view, Need, std::span<const std::string_view>, std::optional<std::size_t>&) override {}
  void texts(std::string_view name, ListRule rule, Format format, std::vector<std::string>& values) override;
  void numbers(std::string_view name, ListRule rule, Interval interval, std::vector<std::int64_t>& values) override;
  void string_map(std::string_view name, MapUse use, StringMap& values) override;
  void ignored(std::string_view) override {}
  void removed(std::string_view, std::string_view) override {}
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
  void check(const std::string& path, Format format, const std::string& value);
  void check_number(const std::string& path, Interval interval, std::int64_t value);
  void check_size(const std::string& path, ListRule rule, std::size_t size);

  Subject& subject_;
  std::vector<std::string> paths_{""};
};

}  // namespace hcpnet::spec
