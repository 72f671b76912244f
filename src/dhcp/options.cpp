// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/options.hpp>
#include <map>

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kMaxPointer = 0x3FFF;  // RFC 1035 section 4.1.4: fourteen bits

char to_label_character(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  const bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  return is_kept ? c : '-';
}

bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= kMaxLabelBytes;
}

/// Writes one name, pointing back where a tail of it was written before. False when it is no name.
bool append_name(std::string_view name, std::map<std::string, std::size_t>& tails, std::vector<std::uint8_t>& out) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  while (!name.empty()) {
    if (const auto known = tails.find(std::string(name)); known != tails.end()) {
      out.push_back(static_cast<std::uint8_t>(0xC0 | known->second >> 8));
      out.push_back(static_cast<std::uint8_t>(known->second));
      return true;
    }
    const std::string_view label = name.substr(0, name.find('.'));
    if (!is_label(label)) return false;
    if (out.size() <= kMaxPointer) tails.emplace(name, out.size());
    out.push_back(static_cast<std::uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
    if (label.size() == name.size()) break;
    name.remove_prefix(label.size() + 1);
    if (name.empty()) return false;  // "a..": the part after the dot is missing
  }
  out.push_back(0);
  return true;
}

}  // namespace

std::string make_client_id(const MacAddress& mac) {
  std::string id(1, '\x01');
  id += as_text(mac.bytes());
  return id;
}

std::vector<std::uint8_t> encode_classless_routes(std::span<const ClasslessRoute> routes) {
  std::vector<std::uint8_t> out;
  for (const ClasslessRoute& route : routes) {
    const unsigned length = route.destination.prefix_length();
    const auto destination = route.destination.network().bytes();
    const auto router = route.router.bytes();
    out.push_back(static_cast<std::uint8_t>(length));
    out.insert(out.end(), destination.begin(), destination.begin() + (length + 7) / 8);
    out.insert(out.end(), router.begin(), router.end());
  }
  return out;
}

Result<std::vector<ClasslessRoute>> parse_classless_routes(ByteView data) {
  std::vector<ClasslessRoute> routes;
  ByteReader reader(data);
  while (reader.remaining() > 0) {
    const unsigned length = reader.u8();
    if (length > 32) return Errc::malformed;
    std::uint32_t destination = 0;
    for (unsigned shift = 32; shift > 32 - (length + 7) / 8 * 8; shift -= 8)
      destination |= std::uint32_t{reader.u8()} << (shift - 8);
    const Ipv4 router(reader.u32());
    if (!reader.ok()) return Errc::malformed;
    routes.push_back({Ipv4Cidr(Ipv4(destination), length), router});
  }
  if (!reader.ok() || routes.empty()) return Errc::malformed;
  return routes;
}

Result<std::vector<std::uint8_t>> encode_domain_search(std::span<const std::string> names) {
  std::vector<std::uint8_t> out;
  std::map<std::string, std::size_t> tails;
  for (const std::string& name : names) {
    if (!append_name(name, tails, out)) return Errc::malformed;
  }
  return out;
}

std::string make_host_label(ByteView name) {
  std::string_view text = as_text(name);
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  text = text.substr(0, text.find('.'));
  std::string label(text);
  std::ranges::transform(label, label.begin(), to_label_character);
  const std::size_t first = label.find_first_not_of('-');
  if (first == std::string::npos) return {};
  label = label.substr(first, kMaxLabelBytes);
  label.resize(label.find_last_not_of('-') + 1);
  const bool is_number = label.find_first_not_of("0123456789") == std::string::npos;
  return is_number || label == "localhost" ? std::string() : label;
}

}  // namespace hcpnet::dhcp
