// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/codes.hpp>
#include <hcpnet/spec/model.hpp>
#include <hcpnet/spec/origin.hpp>
#include <set>
#include <string>
#include <string_view>

namespace hcpnet::spec {

/// An object under examination: where it is, what of it is good, and how to say what is not.
class Subject {
 public:
  Subject(const Origin& origin, const ObjectMeta& metadata, Diagnostics& out)
      : origin_(&origin), metadata_(&metadata), out_(&out) {}

  /// Reports an error about the value at `pointer`, which takes no part in later rules.
  void error(std::string_view code, std::string_view pointer, std::string message, std::string_view expected = {});
  void error_at(text::Position position, std::string_view code, std::string_view pointer, std::string message);
  void warning(std::string_view code, std::string_view pointer, std::string message);
  /// The field is left out and should not be.
  void missing(std::string_view pointer, std::string message);

  /// Nothing was reported about the value, nor about anything that holds it.
  [[nodiscard]] bool is_good(std::string_view pointer) const;
  /// Nothing was reported about name and namespace: the object can be told from others.
  [[nodiscard]] bool has_identity() const { return is_good("/metadata/name") && is_good("/metadata/namespace"); }
  [[nodiscard]] bool has_problems() const noexcept { return !bad_.empty() || !origin_->unreadable.empty(); }
  /// True when the text has something other than null at `pointer`; `otherwise` for an object without text.
  [[nodiscard]] bool is_written(std::string_view pointer, bool otherwise) const;

  [[nodiscard]] Place place(std::string_view pointer) const {
    return {origin_->file_index, origin_->position(pointer)};
  }
  [[nodiscard]] Place key_place(std::string_view pointer) const {
    return {origin_->file_index, origin_->key_position(pointer)};
  }
  /// "FILE:LINE", for naming an earlier value in a message; the object's name when it has no place.
  [[nodiscard]] std::string where(std::string_view pointer) const;
  [[nodiscard]] const ObjectMeta& metadata() const noexcept { return *metadata_; }

 private:
  void add(Severity severity, text::Position position, std::string_view code, std::string_view pointer,
           std::string message, std::string_view expected);

  const Origin* origin_;
  const ObjectMeta* metadata_;
  Diagnostics* out_;
  std::set<std::string, std::less<>> bad_;
};

}  // namespace hcpnet::spec
