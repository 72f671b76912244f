// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

using test::Bytes;
using test::from_hex;
using test::name;

Record record(std::string_view owner, Type type, std::string rdata, std::uint32_t ttl = 60) {
  return {name(owner), type, kClassIn, ttl, std::move(rdata)};
}
std::string wire(std::string_view text) {
  return std::string(as_text(name(text).wire()));
}

/// A bit of everything that has names in it.
Message rich_message() {
  Message message = test::make_query("www.example.net", Type::any);
  message.flags |= flag::kResponse | flag::kRecursionAvailable;
  message.answers = {
      record("www.example.net", Type::cname, wire("host.example.net")),
      record("host.example.net", Type::a, std::string("\xc0\0\2\x50", 4)),
      record("example.net", Type::mx, std::string("\0\12", 2) + wire("mail.example.net")),
      record("_x._tcp.example.net", Type::srv, std::string("\0\1\0\2\0\3", 6) + wire("host.example.net")),
      record("example.net", Type::txt, "\3abc"),
      record("example.net", Type{35}, std::string("\0\1\0\2\1u\3e2u\2!!", 13) + wire("t.example.net")),
      record("example.net", Type{65280}, "opaque")};
  message.authority = {
      record("example.net", Type::soa, wire("ns.example.net") + wire("h.example.net") + std::string(20, '\1'))};
  message.additional = {record("ns.example.net", Type::aaaa, std::string(16, '\2'))};
  message.edns = Edns{4096, 0, true, std::string("\0\12\0\2xy", 6)};
  return message;
}

TEST(DnsMessage, ReadsAGoldenReply) {
  // id, flags, counts; www.example.net A; c00c A 60 192.0.2.80; OPT 1232, DO
  const Bytes bytes = from_hex(
      "1234 8180 0001 0001 0000 0001 03777777 076578616d706c65 036e6574 00 0001 0001"
      "c00c 0001 0001 0000003c 0004 c0000250 00 0029 04d0 00008000 0000");
  const Message message = parse_message(bytes).value();
  EXPECT_EQ(message.id, 0x1234);
  EXPECT_EQ(message.flags, 0x8180);
  EXPECT_EQ(message.questions, (std::vector<Question>{{name("www.example.net"), Type::a, 1}}));
  EXPECT_EQ(message.answers, (std::vector<Record>{record("www.example.net", Type::a, std::string("\xc0\0\2\x50", 4))}));
  EXPECT_EQ(message.edns, (Edns{1232, 0, true, ""}));
  EXPECT_EQ(encode_message(message).value(), bytes) << "and writes it the same way";
}

TEST(DnsMessage, ReadsBackWhatItWrites) {
  const Message message = rich_message();
  const Bytes bytes = encode_message(message).value();
  EXPECT_EQ(parse_message(bytes).value(), message);
}

TEST(DnsMessage, CompressesOwnersAndTheNamesOfRfc1035Types) {
  Message message = rich_message();
  message.answers.resize(2);
  message.authority.clear();
  message.additional.clear();
  message.edns.reset();
  // The CNAME's target is "\4host" and a pointer to "example.net" in the question; the A record's owner points to that
  // target.
  EXPECT_EQ(encode_message(message).value(),
            from_hex("1234 8180 0001 0002 0000 0000 03777777 076578616d706c65 036e6574 00 00ff 0001"
                     "c00c 0005 0001 0000003c 0007 04686f7374 c010"
                     "c02d 0001 0001 0000003c 0004 c0000250"));
}

TEST(DnsMessage, ServiceRecordsAreNotCompressedButExpanded) {
  Message message = test::make_query("example.net", Type::srv);
  message.answers = {record("example.net", Type::srv, std::string(6, '\0') + wire("a.example.net"))};
  const Bytes bytes = encode_message(message).value();
  const std::string tail(as_text(ByteView(bytes)).substr(bytes.size() - 15));
  EXPECT_EQ(tail, wire("a.example.net")) << "RFC 2782: not compressed";
  // A sender that does it all the same is understood.
  const Bytes compressed = from_hex(
      "0000 8000 0001 0001 0000 0000 076578616d706c65 036e6574 00 0021 0001"
      "c00c 0021 0001 00000000 000a 000000000000 0161 c00c");
  const auto bad_length = parse_message(compressed);
  ASSERT_TRUE(bad_length);
  EXPECT_EQ(bad_length->answers.front().rdata, std::string(6, '\0') + wire("a.example.net"));
}

TEST(DnsMessage, EveryProperPrefixIsMalformed) {
  const Bytes bytes = encode_message(rich_message()).value();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(parse_message(ByteView(bytes).first(size)).error(), Errc::malformed) << size;
}

TEST(DnsMessage, BytesAfterTheEndAreMalformed) {
  Bytes bytes = encode_message(rich_message()).value();
  bytes.push_back(0);
  EXPECT_EQ(parse_message(bytes).error(), Errc::malformed);
}

TEST(DnsMessage, EverySingleByteChangeIsReadOrRefused) {
  const Bytes original = encode_message(rich_message()).value();
  for (std::size_t at = 0; at < original.size(); ++at) {
    Bytes changed = original;
    for (int value = 0; value < 256; ++value) {
      changed[at] = static_cast<std::uint8_t>(value);
      const auto message = parse_message(changed);
      if (!message || value % 64 != 1) continue;  // writing takes longer than reading
      // What is understood can be said again, and then means the same.
      const auto again = encode_message(*message);
      ASSERT_TRUE(again);
      ASSERT_EQ(parse_message(*again).value(), *message) << at << " " << value;
    }
  }
}

// RFC 9267: counts and pointers that lie. Field case DNS-19 holds more.
TEST(DnsMessage, PointersOnlyLeadBack) {
  for (const char* hex : {"c00c", "0161c00c", "c0ff", "c00e0161", "c000", "400161", "80", "c0"})
    EXPECT_EQ(parse_message(from_hex(std::string("0000 0100 0001 0000 0000 0000") + hex + "0001 0001")).error(),
              Errc::malformed)
        << hex;
}

TEST(DnsMessage, RdataMustBeWhatItsTypeAsksFor) {
  const std::string head = "0000 8000 0000 0001 0000 0000 00";
  EXPECT_TRUE(parse_message(from_hex(head + "0001 0001 00000000 0004 c0000201")));
  EXPECT_FALSE(parse_message(from_hex(head + "0001 0001 00000000 0003 c00002")));
  EXPECT_FALSE(parse_message(from_hex(head + "0001 0001 00000000 0005 c000020101")));
  EXPECT_FALSE(parse_message(from_hex(head + "001c 0001 00000000 0004 c0000201")));
  EXPECT_FALSE(parse_message(from_hex(head + "0005 0001 00000000 0003 000000"))) << "bytes after the name";
  EXPECT_FALSE(parse_message(from_hex(head + "0006 0001 00000000 0004 00000000")));
  EXPECT_TRUE(parse_message(from_hex(head + "0001 00ff 00000000 0000"))) << "RFC 2136 deletes so";
}

// In another class a type may mean something else: its RDATA is bytes, which a reader does not expand and a writer must
// not compress.
TEST(DnsMessage, RdataOfOtherClassesIsCarriedAsItIs) {
  Message message = test::make_query("hcp1.example.com", Type::soa);
  message.answers = {{name("hcp1.example.com"), Type::cname, 3, 60, wire("hcp1.example.com")}};
  const Bytes bytes = encode_message(message).value();
  const std::string tail(as_text(ByteView(bytes)).substr(bytes.size() - 18));
  EXPECT_EQ(tail, wire("hcp1.example.com"));
  EXPECT_EQ(parse_message(bytes).value(), message);
}

TEST(DnsMessage, TtlWithTheTopBitIsZero) {
  const Message message =
      parse_message(from_hex("0000 8000 0000 0001 0000 0000 00 0001 0001 80000001 0004 c0000201")).value();
  EXPECT_EQ(message.answers.front().ttl, 0U);
}

TEST(DnsMessage, EdnsRules) {
  const std::string opt = "00 0029 1000 01 02 8000 0000";
  const Message message = parse_message(from_hex("0000 8003 0000 0000 0000 0001" + opt)).value();
  EXPECT_EQ(message.edns, (Edns{4096, 2, true, ""}));
  EXPECT_EQ(static_cast<int>(message.rcode()), 16 + 3);
  EXPECT_FALSE(parse_message(from_hex("0000 8000 0000 0000 0000 0002" + opt + opt))) << "two";
  EXPECT_FALSE(parse_message(from_hex("0000 8000 0000 0001 0000 0000" + opt))) << "in the answer section";
  EXPECT_FALSE(parse_message(from_hex("0000 8000 0000 0000 0000 0001 0161" + opt))) << "owner not the root";
  EXPECT_FALSE(parse_message(from_hex("0000 8000 0000 0000 0000 0001 00 0029 1000 00000000 0003 000100")))
      << "option cut";
}

TEST(DnsMessage, TooLargeIsSaid) {
  Message message = test::make_query("example.net", Type::txt);
  for (int i = 0; i < 300; ++i) message.answers.push_back(record("example.net", Type::txt, std::string(250, 'x')));
  EXPECT_EQ(encode_message(message).error(), Errc::too_large);
}

TEST(DnsMessage, ManyDifferentNamesReadBackToo) {
  Message message = test::make_query("example.net", Type::ns);
  for (int i = 0; i < 2'000; ++i)
    message.answers.push_back(
        record("n" + std::to_string(i) + ".example.net", Type::ns, wire("n" + std::to_string(i / 2) + ".example.net")));
  const auto bytes = encode_message(message);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(parse_message(*bytes).value(), message);
}

}  // namespace
}  // namespace hcpnet::dns
