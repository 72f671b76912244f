// SPDX-License-Identifier: Apache-2.0
#include "text/pointer.hpp"

#include <algorithm>
#include <charconv>

namespace hcpnet::text {
namespace {

std::optional<Token> parse_token(std::string_view text) {
  Token token;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') {
      token.name += text[i];
      continue;
    }
    const char escape = ++i < text.size() ? text[i] : '\0';
    if (escape != '0' && escape != '1') return std::nullopt;
    token.name += escape == '0' ? '~' : '/';
    token.escaped = true;
  }
  return token;
}

}  // namespace

std::optional<std::vector<Token>> parse_pointer(std::string_view pointer) {
  std::vector<Token> tokens;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    auto token = parse_token(pointer.substr(0, end));
    if (!token) return std::nullopt;
    tokens.push_back(std::move(*token));
    pointer.remove_prefix(end);
  }
  return tokens;
}

std::optional<std::size_t> parse_index(std::string_view token) noexcept {
  if (token.empty() || token.front() < '0' || token.front() > '9' || (token.size() > 1 && token.front() == '0'))
    return std::nullopt;
  std::size_t index = 0;
  const char* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  return error == std::errc() && stop == end ? std::optional(index) : std::nullopt;
}

}  // namespace hcpnet::text
