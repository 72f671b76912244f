// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/system/system_error.hpp>
#include <exception>
#include <string>

namespace hcpnet::runtime {

/// What an exception says, for people: Boost ends the text of an error code with its number and a line of source code.
[[nodiscard]] inline std::string error_text(const std::exception& error) {
  std::string text = error.what();
  const auto* system = dynamic_cast<const boost::system::system_error*>(&error);
  if (system == nullptr) return text;
  const std::string internals = system->code().what();
  if (!text.ends_with(internals)) return text;
  text.resize(text.size() - internals.size());
  return text + system->code().message();
}

}  // namespace hcpnet::runtime
