// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <hcpnet/bytes.hpp>

namespace hcpnet {
namespace {

TEST(ByteReader, ReadsNetworkByteOrder) {
  const std::array<std::uint8_t, 10> bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8(), 0x01);
  EXPECT_EQ(reader.u16(), 0x0203);
  EXPECT_EQ(reader.u24(), 0x040506u);
  EXPECT_EQ(reader.u32(), 0x0708090au);
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, StaysFailedAfterAReadPastTheEnd) {
  const std::array<std::uint8_t, 3> bytes{1, 2, 3};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u32(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0) << "nothing is left after a failure";
  EXPECT_FALSE(reader.at_end());
  EXPECT_FALSE(ByteReader(bytes).sub(4).ok());
}

TEST(ByteWriter, WritesWhollyOrNotAtAll) {
  std::array<std::uint8_t, 6> buffer{};
  ByteWriter writer(buffer);
  writer.u16(0x0102);
  writer.u16(0);
  writer.put_u16(2, 0x0304);
  const std::size_t before = writer.size();
  writer.u32(0xffffffff);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.size(), before);
  writer.rewind(before);
  writer.u16(0x0506);
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(buffer, (std::array<std::uint8_t, 6>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace hcpnet
