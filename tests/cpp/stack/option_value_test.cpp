// SPDX-License-Identifier: Apache-2.0
#include "dhcp/option_value.hpp"

#include <gtest/gtest.h>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(EncodeOptionValue, FollowsTheTypeOfTheCode) {
  EXPECT_EQ(encode_option_value(26, "9000").value(), (Bytes{0x23, 0x28}));
  EXPECT_EQ(encode_option_value(42, "192.0.2.1, 192.0.2.2").value(), (Bytes{192, 0, 2, 1, 192, 0, 2, 2}));
  EXPECT_EQ(encode_option_value(19, "true").value(), Bytes{1});
  EXPECT_EQ(encode_option_value(15, "ab").value(), (Bytes{'a', 'b'}));
  EXPECT_EQ(encode_option_value(119, "a.b,c").value(), (Bytes{1, 'a', 1, 'b', 0, 1, 'c', 0}));
  EXPECT_EQ(encode_option_value(121, "10.0.0.0/8 via 192.0.2.1, 0.0.0.0/0 via 192.0.2.2").value(), (Bytes{8, 10, 192, 0, 2, 1, 0, 192, 0, 2, 2}));
  EXPECT_EQ(encode_option_value(121, "192.0.2.128/25 via 192.0.2.1").value(), (Bytes{25, 192, 0, 2, 128, 192, 0, 2, 1}));
  EXPECT_EQ(encode_option_value(43, "hex:0a0B").value(), (Bytes{10, 11}));
}

TEST(EncodeOptionValue, SaysWhatWasExpected) {
  EXPECT_EQ(encode_option_value(26, "70000").error(), "a number from 0 to 65535");
  for (const auto& [code, text] : std::vector<std::pair<std::uint8_t, const char*>>{
           {26, "-1"}, {26, ""}, {1, "192.0.2.1,192.0.2.2"}, {3, "192.0.2"}, {33, "192.0.2.1"}, {119, "a..b"}, {121, "192.0.2.1/24 via 192.0.2.1"}, {121, "192.0.2.0/24"},
           {43, "hex:0"}, {43, "hex:"}, {19, "yes"}, {15, ""}, {6, "192.0.2.1,"}})
    EXPECT_TRUE(encode_option_value(code, text).has_error()) << int(code) << ' ' << text;
}

}  // namespace
}  // namespace hcpnet::dhcp
