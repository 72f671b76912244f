// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/cookie.hpp>

#include "dns/siphash.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMinOptionBytes = 16;
constexpr std::size_t kMaxOptionBytes = 40;
constexpr std::int32_t kMaxAge = 3600;
constexpr std::int32_t kMaxAhead = 300;
constexpr std::size_t kHashedBytes = kClientCookieBytes + 8;  // with version, reserved bytes and time

/// RFC 9018 section 4.4: the client's cookie, all of ours before the hash, and the client's address.
std::uint64_t hash(ByteView cookie, const IpAddress& client, const CookieSecret& secret) noexcept {
  std::array<std::uint8_t, kHashedBytes + 16> input;
  ByteWriter writer(input);
  writer.bytes(cookie.first(kHashedBytes));
  if (client.is_v4())
    writer.bytes(client.v4().bytes());
  else
    writer.bytes(client.v6().bytes());
  return siphash24(secret, writer.written());
}

/// The hash is written as the algorithm's reference code does: least significant byte first.
std::array<std::uint8_t, 8> hash_bytes(std::uint64_t value) noexcept {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
  return bytes;
}

/// Takes the same time wherever they differ.
bool is_hash(ByteView found, const std::array<std::uint8_t, 8>& expected) noexcept {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    difference = static_cast<std::uint8_t>(difference | (found[i] ^ expected[i]));
  return difference == 0;
}

}  // namespace

bool is_cookie_length(std::size_t bytes) noexcept {
  return bytes == kClientCookieBytes || (bytes >= kMinOptionBytes && bytes <= kMaxOptionBytes);
}

Cookie make_cookie(ByteView client_cookie, const IpAddress& client, std::uint32_t now,
                   const CookieSecret& secret) noexcept {
  Cookie cookie{};
  ByteWriter writer(cookie);
  writer.bytes(client_cookie.first(kClientCookieBytes));
  writer.u8(kVersion);
  writer.zeros(3);
  writer.u32(now);
  writer.bytes(hash_bytes(hash(writer.written(), client, secret)));
  return cookie;
}

CookieState check_cookie(ByteView option, const IpAddress& client, std::uint32_t now,
                         const CookieSecrets& secrets) noexcept {
  if (option.size() == kClientCookieBytes) return CookieState::client_only;
  if (option.size() != kClientCookieBytes + kServerCookieBytes || option[kClientCookieBytes] != kVersion)
    return CookieState::invalid;
  // Serial arithmetic, so that it goes on after 2106 (RFC 9018 section 4.3).
  const auto age = static_cast<std::int32_t>(now - ByteReader(option.subspan(kClientCookieBytes + 4)).u32());
  if (age > kMaxAge || age < -kMaxAhead) return CookieState::invalid;
  const ByteView found = option.subspan(kHashedBytes);
  const bool is_ours = is_hash(found, hash_bytes(hash(option, client, secrets.current))) ||
                       is_hash(found, hash_bytes(hash(option, client, secrets.previous)));
  return is_ours ? CookieState::valid : CookieState::invalid;
}

}  // namespace hcpnet::dns
