// SPDX-License-Identifier: Apache-2.0
#include "dhcp/client_fqdn.hpp"

#include <gtest/gtest.h>

namespace hcpnet::dhcp {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes packed(std::uint8_t flags, std::string_view name) {
  Bytes out = {flags, 0, 0};
  out.insert(out.end(), name.begin(), name.end());
  return out;
}
std::string name(std::uint8_t flags, std::string_view bytes) {
  const auto parsed = parse_client_fqdn(packed(flags, bytes));
  return parsed ? parsed->name : "none";
}

using namespace std::string_view_literals;

TEST(DhcpClientFqdn, ReadsNamesInTheFormOfDns) {  // RFC 4702 section 2.3.1
  EXPECT_EQ(name(4, "\4vm-7\3vms\7example\0"sv), "vm-7.vms.example");
  EXPECT_EQ(name(5, "\4vm-7"sv), "vm-7") << "no complete name";
  EXPECT_EQ(name(4, "\0"sv), "");
  EXPECT_EQ(name(4, ""sv), "") << "the client leaves its name to the server";
  EXPECT_EQ(parse_client_fqdn(packed(13, "\1a\0"sv))->flags, 13);
}

TEST(DhcpClientFqdn, ReadsNamesAsText) {  // section 2.3.2
  EXPECT_EQ(name(0, "vm-7.vms.example"sv), "vm-7.vms.example");
  EXPECT_EQ(name(1, "vm-7."sv), "vm-7");
  EXPECT_EQ(name(1, "vm-7\0\0"sv), "vm-7");
  EXPECT_EQ(name(0, ""sv), "");
}

TEST(DhcpClientFqdn, ReadsNothingElse) {
  for (std::size_t size = 0; size < 3; ++size) EXPECT_FALSE(parse_client_fqdn(Bytes(size))) << size;
  EXPECT_EQ(name(4, "\4vm"sv), "none") << "a label beyond its end";
  EXPECT_EQ(name(4, "\xC0\x0C"sv), "none") << "a pointer";
  EXPECT_EQ(name(4, std::string(1, '\x40') + std::string(64, 'a')), "none") << "a label of 64 bytes";
  EXPECT_EQ(name(4, "\1a\0\1b\0"sv), "none") << "something after the name";
  EXPECT_EQ(name(0, std::string(254, 'a')), "none");
  std::string labels;
  for (int n = 0; n < 128; ++n) labels += "\1a"sv;
  EXPECT_EQ(name(4, labels), "none") << "255 bytes";
}

TEST(DhcpClientFqdn, WritesBothForms) {
  EXPECT_EQ(encode_client_fqdn({5, "vm-7.vms"}), (Bytes{5, 255, 255, 4, 'v', 'm', '-', '7', 3, 'v', 'm', 's', 0}));
  EXPECT_EQ(encode_client_fqdn({1, "vm-7.vms"}), (Bytes{1, 255, 255, 'v', 'm', '-', '7', '.', 'v', 'm', 's'}));
  EXPECT_EQ(encode_client_fqdn({12, ""}), (Bytes{12, 255, 255}));
  EXPECT_EQ(parse_client_fqdn(encode_client_fqdn({4, "a.b.c"}))->name, "a.b.c");
}

}  // namespace
}  // namespace hcpnet::dhcp
