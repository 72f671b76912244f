// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <boost/assert.hpp>
#include <hcpnet/dhcp/options.hpp>

namespace hcpnet::dhcp {

bool is_protocol_option(std::uint8_t code) noexcept {
  return code == option::pad || (code >= option::requested_address && code <= option::rebinding_time) ||
         code == option::client_id || code == option::client_fqdn || code == option::relay_information ||
         code == option::subnet_selection || code == option::end;
}

void OptionSet::add(std::uint8_t code, ByteView data) {
  BOOST_ASSERT(code != option::pad && code != option::end);
  BOOST_ASSERT(data_.size() + data.size() <= 0xFFFF);
  const auto found = std::ranges::find(entries_, code, &Entry::code);
  if (found == entries_.end()) {
    entries_.push_back({code, static_cast<std::uint16_t>(data_.size()), static_cast<std::uint16_t>(data.size())});
    data_.insert(data_.end(), data.begin(), data.end());
    return;
  }
  const auto end = static_cast<std::uint16_t>(found->offset + found->size);
  const auto added = static_cast<std::uint16_t>(data.size());
  data_.insert(data_.begin() + end, data.begin(), data.end());
  for (Entry& entry : entries_) {
    if (entry.offset >= end && &entry != &*found) entry.offset = static_cast<std::uint16_t>(entry.offset + added);
  }
  found->size = static_cast<std::uint16_t>(found->size + added);
}

void OptionSet::add_u8(std::uint8_t code, std::uint8_t value) {
  add(code, std::array{value});
}

void OptionSet::add_u16(std::uint8_t code, std::uint16_t value) {
  std::array<std::uint8_t, 2> bytes{};
  ByteWriter(bytes).u16(value);
  add(code, bytes);
}

void OptionSet::add_u32(std::uint8_t code, std::uint32_t value) {
  std::array<std::uint8_t, 4> bytes{};
  ByteWriter(bytes).u32(value);
  add(code, bytes);
}

void OptionSet::add_addresses(std::uint8_t code, std::span<const Ipv4> values) {
  for (const Ipv4 value : values) add_address(code, value);
}

std::optional<ByteView> OptionSet::find(std::uint8_t code) const noexcept {
  const auto found = std::ranges::find(entries_, code, &Entry::code);
  if (found == entries_.end()) return std::nullopt;
  return view(*found);
}

std::optional<std::uint8_t> OptionSet::find_u8(std::uint8_t code) const noexcept {
  const auto data = find(code);
  if (!data || data->size() != 1) return std::nullopt;
  return data->front();
}

std::optional<std::uint16_t> OptionSet::find_u16(std::uint8_t code) const noexcept {
  const auto data = find(code);
  if (!data || data->size() != 2) return std::nullopt;
  return ByteReader(*data).u16();
}

std::optional<std::uint32_t> OptionSet::find_u32(std::uint8_t code) const noexcept {
  const auto data = find(code);
  if (!data || data->size() != 4) return std::nullopt;
  return ByteReader(*data).u32();
}

std::optional<Ipv4> OptionSet::find_address(std::uint8_t code) const noexcept {
  const auto value = find_u32(code);
  if (!value) return std::nullopt;
  return Ipv4(*value);
}

OptionSet::Item OptionSet::operator[](std::size_t index) const noexcept {
  BOOST_ASSERT(index < entries_.size());
  return {entries_[index].code, view(entries_[index])};
}

bool operator==(const OptionSet& a, const OptionSet& b) noexcept {
  return std::ranges::equal(a.entries_, b.entries_, [&](const OptionSet::Entry& x, const OptionSet::Entry& y) {
    return x.code == y.code && std::ranges::equal(a.view(x), b.view(y));
  });
}

}  // namespace hcpnet::dhcp
