// SPDX-License-Identifier: Apache-2.0
#include "dns/svcb_text.hpp"

#include <algorithm>
#include <array>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <vector>

#include "dns/rdata_text.hpp"

namespace hcpnet::dns {
namespace {

enum Key : std::uint16_t { mandatory, alpn, no_default_alpn, port, ipv4hint, ech, ipv6hint };
constexpr std::string_view kKeys[] = {"mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint"};

using Params = std::map<std::uint16_t, std::string>;

std::string u16_bytes(std::size_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// Words between commas. A backslash takes the meaning of the character after it (RFC 9460 appendix A.1).
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',')
      words.emplace_back();
    else if (list[i] == '\\' && i + 1 < list.size())
      words.back() += list[++i];
    else
      words.back() += list[i];
  }
  return words;
}

bool is_sound_alpn(ByteReader value) {
  if (value.remaining() == 0) return false;
  while (value.remaining() > 0)
    if (value.bytes(value.u8()).empty()) return false;
  return true;
}

/// RFC 9460 section 8: in order, each once, not the list itself, and all of them there.
bool is_sound_mandatory(ByteReader value, const Params& params) {
  std::uint32_t before = mandatory;
  if (value.remaining() == 0) return false;
  while (value.remaining() > 0) {
    const std::uint16_t key = value.u16();
    if (!value.ok() || key <= before || !params.contains(key)) return false;
    before = key;
  }
  return true;
}

bool is_sound(const Params& params) {
  for (const auto& [key, value] : params) {
    const bool is_good = key == mandatory         ? is_sound_mandatory(ByteReader(as_bytes(value)), params)
                         : key == alpn            ? is_sound_alpn(ByteReader(as_bytes(value)))
                         : key == no_default_alpn ? value.empty() && params.contains(alpn)
                         : key == port            ? value.size() == 2
                         : key == ipv4hint        ? !value.empty() && value.size() % 4 == 0
                         : key == ipv6hint        ? !value.empty() && value.size() % 16 == 0
                                                  : true;
    if (!is_good) return false;
  }
  return true;
}

std::string key_name(std::uint16_t key) {
  return key < std::size(kKeys) && key != ech ? std::string(kKeys[key]) : "key" + std::to_string(key);
}

std::optional<std::uint16_t> parse_key(std::string_view text) {
  const auto* known = std::ranges::find(kKeys, text);
  if (known != std::end(kKeys) && *known != kKeys[ech]) return static_cast<std::uint16_t>(known - std::begin(kKeys));
  if (!text.starts_with("key")) return std::nullopt;
  text.remove_prefix(3);
  const auto number = parse_number(text, 0xffff);
  if (!number || std::to_string(*number) != text) return std::nullopt;  // no zeros in front
  return static_cast<std::uint16_t>(*number);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string value_to_string(std::uint16_t key, ByteReader value) {
  std::vector<std::string> words;
  switch (key) {
    case mandatory:
      while (value.remaining() > 0) words.push_back(key_name(value.u16()));
      return join(words);
    case alpn:
      while (value.remaining() > 0) {
        std::string word;
        for (const char c : as_text(value.bytes(value.u8())))
          word += (c == ',' || c == '\\' ? "\\" : "") + std::string(1, c);
        words.push_back(std::move(word));
      }
      return quote_string(join(words));
    case port:
      return std::to_string(value.u16());
    case ipv4hint:
      while (value.remaining() > 0) words.push_back(Ipv4(value.u32()).to_string());
      return join(words);
    case ipv6hint:
      while (value.remaining() > 0) {
        std::array<std::uint8_t, 16> bytes{};
        std::ranges::copy(value.bytes(bytes.size()), bytes.begin());
        words.push_back(Ipv6(bytes).to_string());
      }
      return join(words);
    default:
      return quote_string(as_text(value.rest()));
  }
}

std::optional<std::string> parse_value(std::uint16_t key, const std::string& text) {
  std::string wire;
  switch (key) {
    case mandatory: {
      std::vector<std::uint16_t> keys;
      for (const std::string& word : split(text)) {
        const auto one = parse_key(word);
        if (!one) return std::nullopt;
        keys.push_back(*one);
      }
      std::ranges::sort(keys);
      for (const std::uint16_t one : keys) wire += u16_bytes(one);
      return wire;
    }
    case alpn:
      for (const std::string& word : split(text)) {
        if (word.size() > 255) return std::nullopt;
        wire += static_cast<char>(word.size()) + word;
      }
      return wire;
    case port: {
      const auto number = parse_number(text, 0xffff);
      return number ? std::optional(u16_bytes(*number)) : std::nullopt;
    }
    case ipv4hint:
      for (const std::string& word : split(text)) {
        const auto address = parse_ipv4(word);
        if (!address) return std::nullopt;
        wire += as_text(address->bytes());
      }
      return wire;
    case ipv6hint:
      for (const std::string& word : split(text)) {
        const auto address = parse_ipv6(word);
        if (!address) return std::nullopt;
        wire += as_text(address->bytes());
      }
      return wire;
    default:
      return text;
  }
}

}  // namespace

std::optional<std::string> svc_params_to_string(ByteView wire) {
  Params params;
  for (ByteReader reader(wire); reader.remaining() > 0;) {
    const std::uint16_t key = reader.u16();
    const ByteView value = reader.bytes(reader.u16());
    const bool is_in_order = params.empty() || params.rbegin()->first < key;
    if (!reader.ok() || !is_in_order) return std::nullopt;
    params.emplace(key, as_text(value));
  }
  if (!is_sound(params)) return std::nullopt;
  std::string text;
  for (const auto& [key, value] : params) {
    text += ' ' + key_name(key);
    if (!value.empty()) text += '=' + value_to_string(key, ByteReader(as_bytes(value)));
  }
  return text;
}

std::optional<std::string> parse_svc_params(std::span<const ZoneToken> tokens) {
  Params params;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string_view text = tokens[i].text;
    if (tokens[i].is_quoted) return std::nullopt;
    const auto key = parse_key(text.substr(0, text.find('=')));
    if (!key) return std::nullopt;
    text.remove_prefix(std::min(text.find('='), text.size()));
    const bool has_value = !text.empty();
    // The words of key="a value" are two.
    const bool is_quoted = text == "=" && i + 1 < tokens.size() && tokens[i + 1].is_quoted;
    if (is_quoted)
      text = tokens[++i].text;
    else if (has_value)
      text.remove_prefix(1);
    const auto bytes = unescaped(text);
    if (!bytes) return std::nullopt;
    auto value = has_value ? parse_value(*key, *bytes) : std::string{};
    if (!value || value->size() > 0xffff || !params.emplace(*key, std::move(*value)).second) return std::nullopt;
  }
  if (!is_sound(params)) return std::nullopt;
  std::string wire;
  for (const auto& [key, value] : params) wire += u16_bytes(key) + u16_bytes(value.size()) + value;
  return wire;
}

}  // namespace hcpnet::dns
