// SPDX-License-Identifier: Apache-2.0
#include "dns/random_source.hpp"

#include <sys/random.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <hcpnet/result.hpp>

namespace hcpnet::dns {

std::uint16_t RandomSource::u16() {
  if (left_ < 2) {
    // Reads of at most 256 bytes are never short (getrandom(2)).
    while (getrandom(pool_.data(), pool_.size(), 0) != static_cast<ssize_t>(pool_.size()))
      if (errno != EINTR) throw boost::system::system_error(errno, boost::system::system_category(), "getrandom");
    left_ = pool_.size();
  }
  left_ -= 2;
  return static_cast<std::uint16_t>(pool_[left_] << 8 | pool_[left_ + 1]);
}

std::uint64_t RandomSource::u64() {
  std::uint64_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 16 | u16();
  return value;
}

}  // namespace hcpnet::dns
