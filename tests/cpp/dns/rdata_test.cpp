// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/rdata.hpp>

namespace hcpnet::dns {
namespace {

TEST(RdataToString, WritesWhatZoneFilesWrite) {
  EXPECT_EQ(rdata_to_string(Type::a, std::string("\xc0\x00\x02\x01", 4)), "192.0.2.1");
  EXPECT_EQ(rdata_to_string(Type::aaaa, std::string(15, '\0') + '\1'), "::1");
  EXPECT_EQ(rdata_to_string(Type::cname, std::string("\1a\1b\0", 5)), "a.b.");
  EXPECT_EQ(rdata_to_string(Type::soa, std::string("\1a\0\1b\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5", 26)),
            "a. b. 1 2 3 4 5");
}

TEST(RdataToString, WritesTheGenericFormForTheRest) {
  EXPECT_EQ(rdata_to_string(Type::txt, "\3abc"), "\\# 4 03616263");
  EXPECT_EQ(rdata_to_string(Type::a, "abc"), "\\# 3 616263");
  EXPECT_EQ(rdata_to_string(Type::cname, "\5ab"), "\\# 3 056162");
  EXPECT_EQ(rdata_to_string(Type::a, ""), "\\# 0");
}

}  // namespace
}  // namespace hcpnet::dns
