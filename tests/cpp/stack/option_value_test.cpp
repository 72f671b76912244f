// SPDX-License-Identifier: Apache-2.0
#include "dhcp/option_value.hpp"

#include <gtest/gtest.h>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encoded(std::uint8_t code, std::string_view text) {
  const auto result = encode_option_value(code, text);
  return result ? *result : Bytes{};
}

TEST(EncodeOptionValue, FollowsTheTypeOfTheCode) {
  EXPECT_EQ(encoded(26, "9000"), (Bytes{0x23, 0x28}));
  EXPECT_EQ(encoded(25, "68, 1492"), (Bytes{0, 68, 5, 0xD4}));
  EXPECT_EQ(encoded(42, "192.0.2.1, 192.0.2.2"), (Bytes{192, 0, 2, 1, 192, 0, 2, 2}));
  EXPECT_EQ(encoded(19, "true"), Bytes{1});
  EXPECT_EQ(encoded(15, "ab"), (Bytes{'a', 'b'}));
  EXPECT_EQ(encoded(119, "a.b,c"), (Bytes{1, 'a', 1, 'b', 0, 1, 'c', 0}));
  EXPECT_EQ(encoded(121, "10.0.0.0/8 via 192.0.2.1, 0.0.0.0/0 via 192.0.2.2"),
            (Bytes{8, 10, 192, 0, 2, 1, 0, 192, 0, 2, 2}));
  EXPECT_EQ(encoded(121, "192.0.2.128/25 via 192.0.2.1"), (Bytes{25, 192, 0, 2, 128, 192, 0, 2, 1}));
  EXPECT_EQ(encoded(43, "hex:0a0B"), (Bytes{10, 11}));
}

TEST(EncodeOptionValue, SaysWhatWasExpected) {
  EXPECT_EQ(encode_option_value(13, "70000").error(), "a number from 0 to 65535");
  for (const auto& [code, text] : std::vector<std::pair<std::uint8_t, const char*>>{{26, "-1"},
                                                                                    {26, ""},
                                                                                    {1, "192.0.2.1,192.0.2.2"},
                                                                                    {3, "192.0.2"},
                                                                                    {33, "192.0.2.1"},
                                                                                    {119, "a..b"},
                                                                                    {121, "192.0.2.1/24 via 192.0.2.1"},
                                                                                    {121, "192.0.2.0/24"},
                                                                                    {43, "hex:0"},
                                                                                    {43, "hex:"},
                                                                                    {19, "yes"},
                                                                                    {15, ""},
                                                                                    {6, "192.0.2.1,"}})
    EXPECT_TRUE(encode_option_value(code, text).has_error()) << int(code) << ' ' << text;
}

// Case DHC-38: an MTU that no link has is refused with the spec, and so is what else RFC 2132 does not allow.
TEST(EncodeOptionValue, NumbersHaveTheLeastOfTheRfc) {
  EXPECT_EQ(encode_option_value(26, "67").error(), "a number from 68 to 65535");
  EXPECT_EQ(encoded(26, "68"), (Bytes{0, 68}));
  EXPECT_EQ(encode_option_value(25, "1492,67").error(), "a number from 68 to 65535, or several, separated by commas");
  EXPECT_EQ(encode_option_value(22, "575").error(), "a number from 576 to 65535");
  EXPECT_EQ(encode_option_value(23, "0").error(), "a number from 1 to 255");
  EXPECT_EQ(encode_option_value(37, "0").error(), "a number from 1 to 255");
}

}  // namespace
}  // namespace hcpnet::dhcp
