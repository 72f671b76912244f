// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hcpnet::app {

struct AdminAnswer {
  unsigned status = 0;  ///< HTTP; 0 when nobody answered
  nlohmann::json body;
  std::string text;  ///< what is no JSON, instead of `body`
  /// Why there is no good answer, for people.
  [[nodiscard]] std::string error() const;
};

/// What to say when an answer is not the JSON that is asked for.
[[nodiscard]] std::string unexpected_answer(const std::string& socket);

/// One request to the admin socket of a running process; waits ten seconds at most for each step, and five minutes for
/// the answer to a change, such as a reload of large files. `csv`, if it is not empty, is the body.
[[nodiscard]] AdminAnswer ask_admin(const std::string& socket, const std::string& method, const std::string& target,
                                    std::string csv = {});

[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace hcpnet::app
