// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/assert.hpp>
#include <hcpnet/dhcp6/message.hpp>

namespace hcpnet::dhcp6 {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMaxNameBytes = 253;
constexpr std::uint8_t kPointer = 0xC0;

/// RFC 8415 section 21.6: address, preferred-lifetime u32, valid-lifetime u32, options (a status, of no use here).
Result<IaAddress> parse_ia_address(ByteView data) {
  ByteReader reader(data);
  std::array<std::uint8_t, 16> bytes{};
  std::ranges::copy(reader.bytes(bytes.size()), bytes.begin());
  IaAddress out{Ipv6(bytes), reader.u32(), reader.u32()};
  if (!reader.ok()) return Errc::malformed;
  if (const auto options = parse_options(reader.rest()); !options) return options.error();
  return out;
}

/// One name, from wherever `at` stands. Each pointer leads to before the place where the part that holds it began, so
/// that the way ends. `next` becomes the place behind the name.
Result<std::string> parse_name(ByteView data, std::size_t at, std::size_t& next) {
  std::string out;
  std::size_t part = at;  // where the labels in sequence began
  bool has_jumped = false;
  while (true) {
    ByteReader reader(data.subspan(at));
    const std::uint8_t length = reader.u8();
    if (!reader.ok()) return Errc::malformed;
    if (length >= kPointer) {
      const std::size_t target = std::size_t{length & 0x3Fu} << 8 | reader.u8();
      if (!reader.ok() || target >= part) return Errc::malformed;
      if (!has_jumped) next = at + 2;
      has_jumped = true;
      at = part = target;
      continue;
    }
    const ByteView label = reader.bytes(length);
    if (!reader.ok() || length > kMaxLabelBytes) return Errc::malformed;
    at += 1 + std::size_t{length};
    if (length == 0) break;
    if (!out.empty()) out += '.';
    out += as_text(label);
    if (out.size() > kMaxNameBytes) return Errc::malformed;
  }
  if (!has_jumped) next = at;
  return out;
}

bool append_name(std::string_view name, std::vector<std::uint8_t>& out) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kMaxLabelBytes) return false;
    out.push_back(static_cast<std::uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
    name.remove_prefix(label.size());
    if (name == ".") return false;
    if (!name.empty()) name.remove_prefix(1);
  }
  out.push_back(0);
  return true;
}

}  // namespace

void OptionWriter::u16(std::uint16_t value) {
  out_.push_back(static_cast<std::uint8_t>(value >> 8));
  out_.push_back(static_cast<std::uint8_t>(value));
}

void OptionWriter::u32(std::uint32_t value) {
  u16(static_cast<std::uint16_t>(value >> 16));
  u16(static_cast<std::uint16_t>(value));
}

void OptionWriter::add(std::uint16_t code, ByteView data) {
  nest(code, [&] { bytes(data); });
}

void OptionWriter::add_u32(std::uint16_t code, std::uint32_t value) {
  nest(code, [&] { u32(value); });
}

void OptionWriter::add_addresses(std::uint16_t code, std::span<const Ipv6> addresses) {
  nest(code, [&] {
    for (const Ipv6& one : addresses) address(one);
  });
}

void OptionWriter::add_status(Status status, std::string_view text) {
  nest(option::status_code, [&] {
    u16(static_cast<std::uint16_t>(status));
    bytes(as_bytes(text));
  });
}

std::size_t OptionWriter::open(std::uint16_t code) {
  u16(code);
  u16(0);
  return out_.size();
}

void OptionWriter::close(std::size_t start) {
  const std::size_t size = out_.size() - start;
  BOOST_ASSERT(size <= 0xFFFF);
  out_[start - 2] = static_cast<std::uint8_t>(size >> 8);
  out_[start - 1] = static_cast<std::uint8_t>(size);
}

Result<IaNa> parse_ia_na(ByteView data, std::size_t max_options) {
  ByteReader reader(data);
  IaNa out;
  out.iaid = reader.u32();
  out.t1 = reader.u32();
  out.t2 = reader.u32();
  if (!reader.ok()) return Errc::malformed;
  const auto options = parse_options(reader.rest(), max_options);
  if (!options) return options.error();
  for (const auto& [code, value] : options->items()) {
    if (code == option::ia_address) {
      const auto address = parse_ia_address(value);
      if (!address) return address.error();
      out.addresses.push_back(*address);
    } else if (code == option::status_code) {
      ByteReader status(value);
      out.status = static_cast<Status>(status.u16());
      if (!status.ok()) return Errc::malformed;
    }
  }
  return out;
}

Result<std::vector<std::uint8_t>> encode_domain_list(std::span<const std::string> names) {
  std::vector<std::uint8_t> out;
  for (const std::string& name : names) {
    if (!append_name(name, out)) return Errc::malformed;
  }
  return out;
}

Result<std::vector<std::string>> parse_domain_list(ByteView data) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < data.size();) {
    auto name = parse_name(data, at, at);
    if (!name) return name.error();
    out.push_back(*std::move(name));
  }
  return out;
}

}  // namespace hcpnet::dhcp6
