// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dhcp6/message.hpp>
#include <hcpnet/ra/advertisement.hpp>

namespace hcpnet::ra {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kSolicitation = 133;
constexpr std::uint8_t kAdvertisement = 134;
constexpr int kHopLimit = 255;  // nothing from beyond the link has it
constexpr std::size_t kUnit = 8;

enum Option : std::uint8_t { source_link_layer = 1, prefix_information = 3, mtu = 5, rdnss = 25, dnssl = 31 };

void put_u16(Bytes& out, std::int64_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_u32(Bytes& out, std::int64_t value) {
  put_u16(out, value >> 16);
  put_u16(out, value);
}

void put_lifetime(Bytes& out, std::chrono::seconds time) {
  put_u32(out, std::clamp<std::int64_t>(time.count(), 0, 0xFFFFFFFF));
}

/// type u8, length u8 in units of eight bytes, filled up with zeros.
void put_option(Bytes& out, Option type, const Bytes& body) {
  const std::size_t units = (body.size() + 2 + kUnit - 1) / kUnit;
  if (units > 0xFF) return;
  const std::size_t end = out.size() + units * kUnit;
  out.push_back(type);
  out.push_back(static_cast<std::uint8_t>(units));
  out.insert(out.end(), body.begin(), body.end());
  out.resize(end);
}

Bytes prefix_body(const Advertisement& a) {
  Bytes body = {static_cast<std::uint8_t>(a.prefix.prefix_length()),
                static_cast<std::uint8_t>((a.on_link ? 0x80 : 0) | (a.autonomous ? 0x40 : 0))};
  put_lifetime(body, a.valid_lifetime);
  put_lifetime(body, a.preferred_lifetime);
  put_u32(body, 0);
  const auto& address = a.prefix.network().v6().bytes();
  body.insert(body.end(), address.begin(), address.end());
  return body;
}

Bytes lifetime_body(std::chrono::seconds lifetime) {
  Bytes body = {0, 0};
  put_lifetime(body, lifetime);
  return body;
}

}  // namespace

std::vector<std::uint8_t> encode_advertisement(const Advertisement& a) {
  // Current hop limit, reachable and retransmission time 0: unspecified by us.
  Bytes out = {
      kAdvertisement, 0, 0, 0, 0, static_cast<std::uint8_t>((a.managed ? 0x80 : 0) | (a.other_config ? 0x40 : 0))};
  put_u16(out, std::clamp<std::int64_t>(a.router_lifetime.count(), 0, 9000));
  put_u32(out, 0);
  put_u32(out, 0);
  put_option(out, prefix_information, prefix_body(a));
  if (a.mtu) {
    Bytes body = {0, 0};
    put_u32(body, *a.mtu);
    put_option(out, mtu, body);
  }
  if (!a.dns_servers.empty()) {
    Bytes body = lifetime_body(a.dns_lifetime);
    for (const Ipv6& server : a.dns_servers) body.insert(body.end(), server.bytes().begin(), server.bytes().end());
    put_option(out, rdnss, body);
  }
  const auto names = dhcp6::encode_domain_list(a.domain_search);
  if (names && !names->empty()) {
    Bytes body = lifetime_body(a.dns_lifetime);
    body.insert(body.end(), names->begin(), names->end());
    put_option(out, dnssl, body);
  }
  return out;
}

bool is_valid_solicitation(ByteView message, int hop_limit, const Ipv6& source) noexcept {
  ByteReader reader(message);
  const std::uint8_t type = reader.u8();
  const std::uint8_t code = reader.u8();
  reader.skip(6);  // checksum, reserved
  if (!reader.ok() || type != kSolicitation || code != 0 || hop_limit != kHopLimit) return false;
  while (reader.remaining() > 0) {
    const std::uint8_t option = reader.u8();
    const std::size_t units = reader.u8();
    if (units == 0 || (option == source_link_layer && source == Ipv6())) return false;
    reader.skip(units * kUnit - 2);
    if (!reader.ok()) return false;
  }
  return true;
}

}  // namespace hcpnet::ra
