// SPDX-License-Identifier: Apache-2.0
#include "dns/server_cookies.hpp"

namespace hcpnet::dns {

CookieSecret ServerCookies::fresh() {
  CookieSecret secret;
  for (std::size_t i = 0; i < secret.size(); i += 2) {
    const std::uint16_t random = random_.u16();
    secret[i] = static_cast<std::uint8_t>(random >> 8);
    secret[i + 1] = static_cast<std::uint8_t>(random);
  }
  return secret;
}

const CookieSecrets& ServerCookies::at(std::uint32_t now) {
  if (since_ == 0) since_ = now;
  if (now - since_ >= kSecretSeconds) {  // also when the clock has gone back: a secret more does no harm
    secrets_.previous = secrets_.current;
    secrets_.current = fresh();
    since_ = now;
  }
  return secrets_;
}

}  // namespace hcpnet::dns
