// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dhcp/client_class.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using test::Bytes;
using test::DhcpPacket;

Bytes bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

/// Whether a client that sends `packet` fits.
bool fits(const ClientClass::Match& match, const DhcpPacket& packet) {
  ClientClass one;
  one.match = match;
  const auto message = parse_message(packet.bytes());
  return message && classify(std::span(&one, 1), *message).test(0);
}
DhcpPacket client() {
  return test::discover(MacAddress({0x52, 0x54, 0, 1, 2, 3}));
}

TEST(DhcpClientClass, VendorClassBeginsAsAskedFor) {
  const DhcpPacket pxe = client().with(60, bytes("PXEClient:Arch:00007:UNDI:003016"));
  EXPECT_TRUE(fits({.vendor_classes = {"PXEClient"}}, pxe));
  EXPECT_TRUE(fits({.vendor_classes = {"MSFT 5.0", "PXEClient:Arch:00007"}}, pxe));
  EXPECT_FALSE(fits({.vendor_classes = {"pxeclient"}}, pxe));
  EXPECT_FALSE(fits({.vendor_classes = {"PXEClient:Arch:00007:UNDI:003016 and more"}}, pxe));
  EXPECT_FALSE(fits({.vendor_classes = {"PXEClient"}}, client()));
}

TEST(DhcpClientClass, UserClassIsOneOfTheListOrTheWholeOption) {  // RFC 3004
  EXPECT_TRUE(fits({.user_classes = {"iPXE"}}, client().with(77, bytes("iPXE")))) << "as iPXE sends it";
  Bytes list = bytes("\x04lab1\x04iPXE");
  EXPECT_TRUE(fits({.user_classes = {"iPXE"}}, client().with(77, list)));
  EXPECT_TRUE(fits({.user_classes = {"lab1"}}, client().with(77, list)));
  EXPECT_FALSE(fits({.user_classes = {"lab"}}, client().with(77, list)));
  list.push_back(9);
  EXPECT_FALSE(fits({.user_classes = {"iPXE"}}, client().with(77, list))) << "a length without bytes";
}

TEST(DhcpClientClass, MacPrefixIsAnyNumberOfBytes) {
  EXPECT_TRUE(fits({.mac_prefixes = {{0x52, 0x54, 0}}}, client()));
  EXPECT_TRUE(fits({.mac_prefixes = {{1}, {0x52, 0x54, 0, 1, 2, 3}}}, client()));
  EXPECT_FALSE(fits({.mac_prefixes = {{0x52, 0x54, 1}}}, client()));
}

TEST(DhcpClientClass, RelayIdsAreSubOptions) {  // RFC 3046
  const DhcpPacket relayed = client().with(82, bytes("\x01\x04"
                                                     "eth7"
                                                     "\x02\x06"
                                                     "switch"));
  EXPECT_TRUE(fits({.circuit_ids = {"eth7"}}, relayed));
  EXPECT_TRUE(fits({.circuit_ids = {"eth7"}, .remote_ids = {"router", "switch"}}, relayed));
  EXPECT_FALSE(fits({.circuit_ids = {"eth"}}, relayed)) << "the whole of it";
  EXPECT_FALSE(fits({.circuit_ids = {"switch"}}, relayed));
  EXPECT_FALSE(fits({.circuit_ids = {"eth7"}}, client()));
  EXPECT_FALSE(fits({.circuit_ids = {"eth7"}}, client().with(82, bytes("\x01\x04"
                                                                       "eth7"
                                                                       "\x02\x09"
                                                                       "x"))))
      << "a broken option fits nothing";
}

TEST(DhcpClientClass, ArchitectureIsOneOfTheList) {  // RFC 4578
  EXPECT_TRUE(fits({.architectures = {7, 9}}, client().with(93, {0, 9})));
  EXPECT_TRUE(fits({.architectures = {7}}, client().with(93, {0, 0, 0, 7})));
  EXPECT_FALSE(fits({.architectures = {7}}, client().with(93, {0, 0})));
  EXPECT_FALSE(fits({.architectures = {7}}, client().with(93, {0, 7, 0}))) << "not whole numbers";
  EXPECT_FALSE(fits({.architectures = {7}}, client()));
}

TEST(DhcpClientClass, EveryListHasToFit) {
  const DhcpPacket packet = client().with(60, bytes("PXEClient")).with(93, {0, 7});
  EXPECT_TRUE(fits({.vendor_classes = {"PXE"}, .mac_prefixes = {{0x52}}, .architectures = {7}}, packet));
  EXPECT_FALSE(fits({.vendor_classes = {"PXE"}, .mac_prefixes = {{0x53}}, .architectures = {7}}, packet));
  EXPECT_FALSE(fits({.vendor_classes = {"PXE"}, .user_classes = {"iPXE"}}, packet));
}

TEST(DhcpClientClass, ClientIsInEachClassThatFits) {
  std::vector<ClientClass> classes(3);
  classes[0].match.vendor_classes = {"PXE"};
  classes[1].match.vendor_classes = {"MSFT"};
  classes[2].match.mac_prefixes = {{0x52}};
  const auto message = parse_message(client().with(60, bytes("PXEClient")).bytes());
  ASSERT_TRUE(message);
  EXPECT_EQ(classify(classes, *message), ClassSet(0b101));
}

}  // namespace
}  // namespace hcpnet::dhcp
