// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace hcpnet::dns {

/// Numbers that nobody outside can guess, from the kernel, some hundred bytes at a time. One thread.
class RandomSource {
 public:
  [[nodiscard]] std::uint16_t u16();
  [[nodiscard]] std::uint64_t u64();

 private:
  std::array<std::uint8_t, 256> pool_;
  std::size_t left_ = 0;
};

}  // namespace hcpnet::dns
