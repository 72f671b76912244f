// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hcpnet::app {

struct AdminAnswer {
  unsigned status = 0;  ///< HTTP; 0 when nobody answered
  nlohmann::json body;
  /// Why there is no good answer, for people.
  [[nodiscard]] std::string error() const;
};

/// One request to the admin socket of a running process; waits ten seconds at most for each step.
[[nodiscard]] AdminAnswer ask_admin(const std::string& socket, const std::string& method, const std::string& target);

[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace hcpnet::app
