// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/origin.hpp>
#include <string>
#include <vector>

#include "spec/fields.hpp"

namespace hcpnet::spec {

/// Fills an object from the tree of a file; reports what cannot be read and marks it in the object's Origin.
class FieldReader : public Fields {
 public:
  FieldReader(Origin& origin, Diagnostics& problems);
  /// Reports what nothing asked for; to be called after the whole object was visited.
  void finish() { leave(); }

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
  void others_ignored() override;
  using Fields::choice;
  using Fields::text;

 protected:
  bool enter(std::string_view name, Need need, bool is_present) override;
  void leave() override;
  std::size_t enter_list(std::string_view name, ListRule rule, std::size_t size) override;
  bool enter_item(std::size_t index) override;
  void leave_list() override;

 private:
  struct Frame {
    const text::Value* value = nullptr;
    std::string path;  ///< from the object
    std::vector<std::string_view> known;
    std::vector<std::pair<std::string_view, std::string_view>> removed;
    bool may_have_others = false;
  };

  /// The value of a field if it is there, is not null and has the type; reports what is wrong otherwise.
  const text::Value* take(std::string_view name, Need need, text::ValueType type, std::string_view expected);
  const text::Value* take_list(std::string_view name, ListRule rule);
  [[nodiscard]] bool has_type(const text::Value& value, text::ValueType type, const std::string& path,
                              std::string_view expected);
  /// A number in the interval, or what is wrong with it.
  std::optional<std::int64_t> read_number(const text::Value& value, const std::string& path, Interval interval);
  void report(std::string_view code, const std::string& path, text::Position position, std::string message,
              std::string found = {}, std::string expected = {});

  Origin& origin_;
  Diagnostics& problems_;
  std::vector<Frame> frames_;
};

}  // namespace hcpnet::spec
