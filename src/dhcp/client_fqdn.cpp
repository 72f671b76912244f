// SPDX-License-Identifier: Apache-2.0
#include "dhcp/client_fqdn.hpp"

#include <string_view>

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kHeaderBytes = 3;
constexpr std::uint8_t kNoRcode = 255;  // section 2.2: what servers write; nobody reads it

/// Section 2.3.1: labels with their lengths, never compressed. A name without an empty label at its end is not
/// complete, and is one all the same.
std::optional<std::string> parse_encoded(ByteReader labels) {
  std::string name;
  while (labels.ok() && labels.remaining() > 0) {
    const std::size_t size = labels.u8();
    if (size == 0) break;
    if (size > kMaxLabelBytes) return std::nullopt;
    if (!name.empty()) name += '.';
    name += as_text(labels.bytes(size));
  }
  if (!labels.at_end()) return std::nullopt;
  return name;
}

/// Section 2.3.2, of old clients. Some write a final NUL.
std::string parse_text(ByteView data) {
  std::string_view text = as_text(data);
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

void append_encoded(std::string_view name, std::vector<std::uint8_t>& out) {
  if (name.empty()) return;
  while (true) {
    const std::string_view label = name.substr(0, name.find('.'));
    out.push_back(static_cast<std::uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
    if (label.size() == name.size()) break;
    name.remove_prefix(label.size() + 1);
  }
  out.push_back(0);
}

/// What comes before the name, with room for a name of so many bytes.
std::vector<std::uint8_t> begin_option(std::uint8_t flags, std::size_t room) {
  std::vector<std::uint8_t> out;
  out.reserve(kHeaderBytes + room);
  out.push_back(flags);
  out.resize(kHeaderBytes, kNoRcode);
  return out;
}

}  // namespace

// Section 2: flags, two bytes that were RCODEs once, the name.
std::optional<ClientFqdn> parse_client_fqdn(ByteView data) {
  ByteReader in(data);
  ClientFqdn out;
  out.flags = in.u8();
  in.skip(2);
  if (!in.ok()) return std::nullopt;
  auto name = (out.flags & fqdn_flag::encoded) != 0 ? parse_encoded(in) : std::optional(parse_text(in.rest()));
  if (!name || name->size() > kMaxNameBytes) return std::nullopt;
  out.name = *std::move(name);
  return out;
}

std::vector<std::uint8_t> encode_client_fqdn(const ClientFqdn& fqdn) {
  std::vector<std::uint8_t> out = begin_option(fqdn.flags, fqdn.name.size() + 2);
  if ((fqdn.flags & fqdn_flag::encoded) != 0) {
    append_encoded(fqdn.name, out);
  } else {
    out.insert(out.end(), fqdn.name.begin(), fqdn.name.end());
  }
  return out;
}

std::vector<std::uint8_t> echo_client_fqdn(ByteView data, std::uint8_t flags) {
  const ByteView name = data.subspan(kHeaderBytes);
  std::vector<std::uint8_t> out = begin_option(flags, name.size());
  out.insert(out.end(), name.begin(), name.end());
  return out;
}

}  // namespace hcpnet::dhcp
