// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dhcp/client_class.hpp>
#include <string>
#include <vector>

#include "dhcp/relay_information.hpp"

namespace hcpnet::dhcp {
namespace {

bool begins_with(ByteView data, ByteView start) noexcept {
  return data.size() >= start.size() && std::ranges::equal(data.first(start.size()), start);
}

/// Whether one of `wanted` is `value`; every value will do where none is wanted.
bool is_one_of(const std::vector<std::string>& wanted, std::optional<ByteView> value) noexcept {
  if (wanted.empty()) return true;
  return value && std::ranges::any_of(wanted, [&](const std::string& text) { return as_text(*value) == text; });
}

bool has_vendor_class(const std::vector<std::string>& wanted, const OptionSet& options) noexcept {
  if (wanted.empty()) return true;
  const auto value = options.find(option::vendor_class);
  return value &&
         std::ranges::any_of(wanted, [&](const std::string& text) { return begins_with(*value, as_bytes(text)); });
}

/// RFC 3004 section 4: user classes one after the other, each with its length before it. Many clients send one text
/// without a length.
bool has_user_class(const std::vector<std::string>& wanted, const OptionSet& options) noexcept {
  if (wanted.empty()) return true;
  const auto value = options.find(option::user_class);
  if (!value) return false;
  if (is_one_of(wanted, value)) return true;
  bool is_found = false;
  ByteReader list(*value);
  while (list.ok() && list.remaining() > 0) {
    const ByteView one = list.bytes(list.u8());
    is_found = is_found || (list.ok() && is_one_of(wanted, one));
  }
  return is_found && list.at_end();
}

bool has_mac_prefix(const std::vector<std::vector<std::uint8_t>>& wanted, const Message& message) noexcept {
  if (wanted.empty()) return true;
  const auto mac = message.mac();
  return mac && std::ranges::any_of(
                    wanted, [&](const std::vector<std::uint8_t>& prefix) { return begins_with(mac->bytes(), prefix); });
}

bool has_relay_id(const std::vector<std::string>& wanted, ByteView relay_information, std::uint8_t code) noexcept {
  return wanted.empty() || is_one_of(wanted, find_sub_option(relay_information, code));
}

/// RFC 4578 section 2.1: a list of 16-bit numbers.
bool has_architecture(const std::vector<std::uint16_t>& wanted, const OptionSet& options) noexcept {
  if (wanted.empty()) return true;
  const auto value = options.find(option::client_architecture);
  if (!value || value->size() % 2 != 0) return false;
  ByteReader list(*value);
  while (list.remaining() > 0)
    if (std::ranges::find(wanted, list.u16()) != wanted.end()) return true;
  return false;
}

bool fits(const ClientClass::Match& match, const Message& message, ByteView relay_information) noexcept {
  return has_mac_prefix(match.mac_prefixes, message) && has_vendor_class(match.vendor_classes, message.options) &&
         has_user_class(match.user_classes, message.options) &&
         has_relay_id(match.circuit_ids, relay_information, sub_option::circuit_id) &&
         has_relay_id(match.remote_ids, relay_information, sub_option::remote_id) &&
         has_architecture(match.architectures, message.options);
}

}  // namespace

ClassSet classify(std::span<const ClientClass> classes, const Message& message) noexcept {
  return classify(classes, message, relay_option_of(message));
}

ClassSet classify(std::span<const ClientClass> classes, const Message& message, ByteView relay_information) noexcept {
  ClassSet out;
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (fits(classes[i].match, message, relay_information)) out.set(i);
  return out;
}

std::string relay_information_of(const Message& message) {
  std::string out;
  for (const std::uint8_t code : {sub_option::circuit_id, sub_option::remote_id}) {
    const auto value = find_sub_option(relay_option_of(message), code);
    if (!value) continue;
    out += static_cast<char>(code);
    out += static_cast<char>(value->size());
    out += as_text(*value);
  }
  return out;
}

}  // namespace hcpnet::dhcp
