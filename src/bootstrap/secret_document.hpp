// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/text/value.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hcpnet::bootstrap {

/// One YAML or JSON document that may hold keys: problems name places and never what stands there.
class SecretDocument {
 public:
  /// `what`: "a kubeconfig"; `code`: of every problem but those of the text itself.
  SecretDocument(std::string_view file, std::string_view text, const char* what, const char* code);

  [[nodiscard]] const text::Value& tree() const noexcept { return tree_; }
  [[nodiscard]] nlohmann::json& json() noexcept { return json_; }
  [[nodiscard]] const Diagnostics& problems() const noexcept { return problems_; }
  /// The string at `pointer`, or nullptr.
  [[nodiscard]] const std::string* string_at(const std::string& pointer) const;
  void report(const std::string& pointer, std::string message);

 private:
  std::string file_;
  const char* code_;
  text::Value tree_;
  nlohmann::json json_;
  Diagnostics problems_;
};

}  // namespace hcpnet::bootstrap
