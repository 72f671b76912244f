// SPDX-License-Identifier: Apache-2.0
#include "dns/siphash.hpp"

#include <bit>

namespace hcpnet::dns {
namespace {

std::uint64_t little_endian(ByteView bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash24(const SipKey& key, ByteView message) noexcept {
  const std::uint64_t k0 = little_endian(ByteView(key).first(8));
  const std::uint64_t k1 = little_endian(ByteView(key).last(8));
  // "somepseudorandomlygeneratedbytes", the constants of the algorithm.
  State state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  const std::uint64_t size = message.size();
  for (; message.size() >= 8; message = message.subspan(8)) state.take(little_endian(message.first(8)));
  state.take(size << 56 | little_endian(message));
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace hcpnet::dns
