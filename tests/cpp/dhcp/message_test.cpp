// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dhcp/error.hpp>
#include <hcpnet/dhcp/message.hpp>

#include "dhcp/packets.hpp"

namespace hcpnet::dhcp {
namespace {

using test::Bytes;

const MacAddress kMac({2, 0, 0, 0, 1, 1});

Bytes full_request() {
  test::DhcpPacket packet = test::dhcp_packet(3, kMac);
  packet.flags = 0x8000;
  packet.secs = 4;
  packet.giaddr = Ipv4(192, 0, 2, 1);
  packet.with_address(50, Ipv4(192, 0, 2, 50)).with(61, {1, 2, 0, 0, 0, 1, 1}).with(55, {1, 3, 6}).with(224, {9, 8, 7});
  packet.with(82, {1, 2, 'a', 'b'});
  return packet.bytes();
}

/// The message as this library writes it.
Bytes encode(const Message& message, std::size_t mandatory = 0, std::size_t room = 1472) {
  Bytes buffer(room, 0xAA);
  const auto encoded = encode_message(message, mandatory, buffer);
  EXPECT_TRUE(encoded);
  buffer.resize(encoded ? encoded->size_bytes : 0);
  return buffer;
}

Message reply_with(std::initializer_list<std::pair<std::uint8_t, std::size_t>> options) {
  Message message;
  message.op = kBootReply;
  for (const auto& [code, size] : options) message.options.add(code, Bytes(size, code));
  return message;
}

TEST(ParseDhcpMessage, ReadsEveryField) {
  const auto message = parse_message(full_request());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->op, kBootRequest);
  EXPECT_EQ(message->xid, 0x3903F326U);
  EXPECT_EQ(message->secs, 4);
  EXPECT_EQ(message->flags, kBroadcastFlag);
  EXPECT_EQ(message->giaddr, Ipv4(192, 0, 2, 1));
  EXPECT_EQ(message->mac(), kMac);
  EXPECT_EQ(message->type(), MessageType::request);
  EXPECT_EQ(message->options.find_address(50), Ipv4(192, 0, 2, 50));
  EXPECT_TRUE(std::ranges::equal(message->options.find(224).value(), Bytes{9, 8, 7})) << "unknown options are kept";
}

TEST(ParseDhcpMessage, EveryProperPrefixIsTooShortOrMalformedOrHasFewerOptions) {
  const Bytes all = full_request();
  const auto whole = parse_message(all);
  for (std::size_t n = 0; n < all.size() - 1; ++n) {  // the last byte is the end option, which may be missing
    SCOPED_TRACE(n);
    const auto message = parse_message(ByteView(all).first(n));
    if (n < 240) {
      EXPECT_EQ(message.error(), Errc::too_short);
    } else if (message) {
      EXPECT_LT(message->options.size(), whole->options.size());
    } else {
      EXPECT_EQ(message.error(), Errc::malformed);
    }
  }
}

TEST(ParseDhcpMessage, SurvivesEverySingleByteChange) {
  Bytes all = full_request();
  std::size_t read = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::uint8_t before = all[at];
    for (int value = 0; value < 256; ++value) {
      all[at] = static_cast<std::uint8_t>(value);
      if (const auto message = parse_message(all)) read += message->options.size();
    }
    all[at] = before;
  }
  EXPECT_GT(read, 0U);
}

TEST(ParseDhcpMessage, RefusesWhatIsTooLarge) {
  Bytes all = full_request();
  all.resize(2049);
  EXPECT_EQ(parse_message(all).error(), Errc::too_large);
  all.resize(2048);
  EXPECT_TRUE(parse_message(all));
}

TEST(ParseDhcpMessage, WithoutCookieIsNoDhcp) {
  Bytes all = full_request();
  all[236] ^= 1;
  EXPECT_EQ(parse_message(all).error(), Errc::no_cookie);
}

TEST(ParseDhcpMessage, LooksAtNoByteOfTheHardwareAddressBeyondItsLength) {
  Bytes all = full_request();
  all[34] = 0xFF;
  EXPECT_EQ(parse_message(all)->mac(), kMac);
  all[2] = 7;
  EXPECT_EQ(parse_message(all)->mac(), std::nullopt);
}

TEST(EncodeDhcpMessage, RoundTripsWhatWasRead) {
  const auto message = parse_message(full_request());
  ASSERT_TRUE(message);
  const auto again = parse_message(encode(*message));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *message);
}

TEST(EncodeDhcpMessage, IsAtLeastThreeHundredBytesWithZerosAfterTheEnd) {
  const Bytes bytes = encode(reply_with({{53, 1}}));
  ASSERT_EQ(bytes.size(), 300U);
  EXPECT_EQ(bytes[243], 255);
  EXPECT_TRUE(std::all_of(bytes.begin() + 244, bytes.end(), [](auto byte) { return byte == 0; }));
}

TEST(EncodeDhcpMessage, PutsTheRelaysOptionLast) {
  const auto answer = test::read_answer(encode(reply_with({{53, 1}, {82, 9}, {54, 4}})));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->codes(), (std::vector{53, 54, 82}));
}

TEST(EncodeDhcpMessage, SplitsLongOptions) {  // RFC 3396
  const auto answer = test::read_answer(encode(reply_with({{53, 1}, {43, 600}})));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->codes(), (std::vector{53, 43, 43, 43}));
  EXPECT_EQ(answer->options[1].second.size(), 255U);
  EXPECT_EQ(answer->options[3].second.size(), 90U);
}

TEST(EncodeDhcpMessage, UsesFileAndThenSnameWhenTheOptionsFieldIsFull) {
  const Message message = reply_with({{53, 1}, {43, 240}, {66, 100}, {67, 50}});
  const Bytes bytes = encode(message, 4, 548);
  const auto answer = test::read_answer(bytes);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->codes(), (std::vector{53, 43, 67, 52}));
  EXPECT_EQ(answer->find(52), Bytes{1});
  EXPECT_EQ(answer->file[0], 66);
  EXPECT_EQ(answer->file[102], 255);
  const auto again = parse_message(bytes);
  ASSERT_TRUE(again);
  for (const std::uint8_t code : Bytes{53, 43, 66, 67}) {
    EXPECT_TRUE(std::ranges::equal(again->options.find(code).value(), message.options.find(code).value())) << int{code};
  }
}

TEST(EncodeDhcpMessage, LeavesOutWhatFitsNowhereUnlessItIsMandatory) {
  const Message message = reply_with({{53, 1}, {43, 240}, {66, 126}, {67, 62}, {60, 200}});
  Bytes buffer(548);
  const auto encoded = encode_message(message, 2, buffer);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->omitted_options, 2U);  // 126 + 2 + end is one more than file holds; option 60 fits nowhere
  EXPECT_EQ(encode_message(message, 3, buffer).error(), Errc::no_room);
}

TEST(EncodeDhcpMessage, LeavesTextInSnameAndFileAlone) {
  Message message = reply_with({{53, 1}, {43, 290}, {66, 100}});
  message.file[0] = 'x';
  message.sname[0] = 'y';
  Bytes buffer(548);
  const auto encoded = encode_message(message, 2, buffer);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->omitted_options, 1U);
  EXPECT_EQ(buffer[108], 'x');
  EXPECT_EQ(buffer[44], 'y');
}

TEST(EncodeDhcpMessage, NeedsRoomForTheRelaysOption) {
  Bytes buffer(300);
  EXPECT_EQ(encode_message(reply_with({{53, 1}, {82, 255}}), 1, buffer).error(), Errc::no_room);
  Bytes tiny(299);
  EXPECT_EQ(encode_message(reply_with({{53, 1}}), 1, tiny).error(), Errc::no_room);
}

TEST(EncodeDhcpMessage, NeverWritesPastAnyRoom) {
  const Message message = reply_with({{53, 1}, {54, 4}, {43, 300}, {66, 60}, {67, 60}, {82, 20}});
  for (std::size_t room = 300; room <= 800; ++room) {
    Bytes buffer(room);
    const auto encoded = encode_message(message, 2, buffer);
    ASSERT_TRUE(encoded) << room;
    ASSERT_LE(encoded->size_bytes, room);
    const auto again = parse_message(ByteView(buffer).first(encoded->size_bytes));
    ASSERT_TRUE(again) << room;
    EXPECT_EQ(again->options.size() + encoded->omitted_options, message.options.size());
    EXPECT_TRUE(again->options.contains(82));
  }
}

TEST(DhcpErrc, SaysWhatIsWrong) {
  for (const Errc code : {Errc::too_short, Errc::too_large, Errc::no_cookie, Errc::malformed, Errc::no_room}) {
    EXPECT_NE(make_error_code(code).message(), "unknown DHCP error");
    EXPECT_STREQ(make_error_code(code).category().name(), "hcpnet.dhcp");
  }
}

}  // namespace
}  // namespace hcpnet::dhcp
