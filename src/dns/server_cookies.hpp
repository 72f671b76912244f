// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/clock.hpp>
#include <hcpnet/dns/cookie.hpp>

#include "dns/random_source.hpp"

namespace hcpnet::dns {

/// The secrets behind a server's cookies: random, new once a day, the one before still taken. One thread.
class ServerCookies {
 public:
  static constexpr std::uint32_t kSecretSeconds = 86'400;

  explicit ServerCookies(RandomSource& random) : random_(random), secrets_{fresh(), fresh()} {}

  /// Those of `now`, in seconds since 1970.
  [[nodiscard]] const CookieSecrets& at(std::uint32_t now);

 private:
  [[nodiscard]] CookieSecret fresh();

  RandomSource& random_;
  CookieSecrets secrets_;
  std::uint32_t since_ = 0;
};

}  // namespace hcpnet::dns
