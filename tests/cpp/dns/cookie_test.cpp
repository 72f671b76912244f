// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/cookie.hpp>

#include "dns/dns_support.hpp"
#include "dns/siphash.hpp"

namespace hcpnet::dns {
namespace {

CookieSecret secret(std::string_view hex) {
  CookieSecret made{};
  std::ranges::copy(test::from_hex(hex), made.begin());
  return made;
}

std::string hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

TEST(SipHash, GivesTheValueOfItsAuthors) {  // "SipHash: a fast short-input PRF", appendix A
  SipKey key;
  for (std::uint8_t i = 0; i < key.size(); ++i) key[i] = i;
  test::Bytes message(15);
  for (std::uint8_t i = 0; i < message.size(); ++i) message[i] = i;
  EXPECT_EQ(siphash24(key, message), 0xa129ca6149be45e5);
}

// RFC 9018 appendix A.
const CookieSecret kSecret = secret("e5e973e5a6b2a43f48e7dc849e37bfcf");
const IpAddress kClient = *parse_ip_address("198.51.100.100");

TEST(Cookie, IsThatOfTheRfcForANewClient) {
  EXPECT_EQ(hex(make_cookie(test::from_hex("2464c4abcf10c957"), kClient, 1559731985, kSecret)),
            "2464c4abcf10c957010000005cf79f111f8130c3eee29480");
}

TEST(Cookie, IsThatOfTheRfcWhenRenewed) {
  const auto old = test::from_hex("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
  EXPECT_EQ(check_cookie(old, kClient, 1559734385, {kSecret, {}}), CookieState::valid);
  EXPECT_EQ(hex(make_cookie(old, kClient, 1559734385, kSecret)), "2464c4abcf10c957010000005cf7a871d4a564a1442aca77");
}

TEST(Cookie, OfAnotherServerWithReservedBitsIsValid) {  // appendix A.3
  const auto cookie = test::from_hex("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5");
  EXPECT_EQ(check_cookie(cookie, *parse_ip_address("203.0.113.203"), 1559728000, {kSecret, {}}), CookieState::valid);
}

TEST(Cookie, OfASecretBeforeIsStillValid) {  // appendix A.4
  const IpAddress client = *parse_ip_address("2001:db8:220:1:59de:d0f4:8769:82b8");
  const CookieSecret old = secret("dd3bdf9344b678b185a6f5cb60fca715");
  const CookieSecret current = secret("445536bcd2513298075a5d379663c962");
  const auto cookie = test::from_hex("22681ab97d52c298010000005cf7c57926556bd0934c72f8");
  EXPECT_EQ(check_cookie(cookie, client, 1559741961, {current, old}), CookieState::valid);
  EXPECT_EQ(check_cookie(cookie, client, 1559741961, {current, current}), CookieState::invalid);
  EXPECT_EQ(hex(make_cookie(cookie, client, 1559741961, current)), "22681ab97d52c298010000005cf7c609a6bb79d16625507a");
}

TEST(Cookie, IsBoundToClientTimeAndEveryByte) {
  const CookieSecrets secrets{kSecret, {}};
  const Cookie cookie = make_cookie(test::from_hex("0011223344556677"), kClient, 10'000, kSecret);
  EXPECT_EQ(check_cookie(cookie, kClient, 10'000, secrets), CookieState::valid);
  EXPECT_EQ(check_cookie(cookie, kClient, 13'600, secrets), CookieState::valid);
  EXPECT_EQ(check_cookie(cookie, kClient, 13'601, secrets), CookieState::invalid);
  EXPECT_EQ(check_cookie(cookie, kClient, 9'700, secrets), CookieState::valid);
  EXPECT_EQ(check_cookie(cookie, kClient, 9'699, secrets), CookieState::invalid);
  EXPECT_EQ(check_cookie(cookie, *parse_ip_address("198.51.100.101"), 10'000, secrets), CookieState::invalid);
  EXPECT_EQ(check_cookie(ByteView(cookie).first(8), kClient, 10'000, secrets), CookieState::client_only);
  for (std::size_t i = 0; i < cookie.size(); ++i) {
    Cookie changed = cookie;
    changed[i] ^= 1;
    EXPECT_EQ(check_cookie(changed, kClient, 10'000, secrets), CookieState::invalid) << i;
  }
}

class CookieReply : public testing::Test {
 protected:
  CookieReply() {
    context.view = &views[0];
    context.client = kClient;
    context.now = 1559731985;
    context.cookies = &secrets;
  }
  static Message query_with(std::string_view cookie_hex) {
    Message query = test::make_query("api.blue.example", Type::a);
    const auto cookie = test::from_hex(cookie_hex);
    query.edns = Edns{};
    query.edns->options = std::string("\0\x0a\0", 3) + static_cast<char>(cookie.size()) + std::string(as_text(cookie));
    return query;
  }
  ViewSet views =
      ViewSet::make(
          {test::view_of({std::make_shared<const Zone>(
              test::name("blue.example"), std::vector<RRset>{test::a_record("api.blue.example", "192.0.2.4")})})})
          .value();
  CookieSecrets secrets{kSecret, {}};
  QueryContext context;
};

TEST_F(CookieReply, HoldsTheClientsCookieAndOurs) {
  const auto reply = test::answer(query_with("2464c4abcf10c957"), context);
  EXPECT_EQ(reply.response.cookie, CookieState::client_only);
  EXPECT_EQ(hex(as_bytes(reply.message.edns.value().options)),
            "000a0018"
            "2464c4abcf10c957010000005cf79f111f8130c3eee29480");
  EXPECT_EQ(test::addresses(reply.message), std::vector<std::string>{"192.0.2.4"});
}

TEST_F(CookieReply, OfLengthsThatAreNoneIsFormerr) {
  for (const std::size_t size : {0, 1, 7, 9, 15, 41, 60}) {
    const auto reply = test::answer(query_with(std::string(2 * size, 'a')), context);
    EXPECT_EQ(reply.message.rcode(), Rcode::formerr) << size;
  }
  for (const std::size_t size : {8, 16, 24, 40})
    EXPECT_EQ(test::answer(query_with(std::string(2 * size, 'a')), context).message.rcode(), Rcode::noerror) << size;
}

TEST_F(CookieReply, IsWithoutOneWhenCookiesAreOff) {
  context.cookies = nullptr;
  const auto reply = test::answer(query_with("2464c4abcf10c957"), context);
  EXPECT_EQ(reply.message.edns.value().options, "");
  EXPECT_EQ(reply.response.cookie, CookieState::none);
}

TEST_F(CookieReply, ToNoQuestionIsTheCookieAlone) {  // RFC 7873 section 5.4
  Message query = query_with("2464c4abcf10c957");
  query.questions.clear();
  const auto reply = test::answer(query, context);
  EXPECT_EQ(reply.message.rcode(), Rcode::noerror);
  EXPECT_TRUE(reply.message.questions.empty());
  EXPECT_TRUE(reply.message.answers.empty() && reply.message.authority.empty());
  EXPECT_EQ(hex(as_bytes(reply.message.edns.value().options)),
            "000a0018"
            "2464c4abcf10c957010000005cf79f111f8130c3eee29480");
  context.view = nullptr;
  EXPECT_EQ(test::answer(query, context).message.rcode(), Rcode::noerror) << "no name is asked, so nobody is refused";
  context.cookies = nullptr;
  EXPECT_EQ(test::answer(query, context).message.rcode(), Rcode::formerr) << "cookies are off";
  query.edns->options.clear();
  EXPECT_EQ(test::answer(query, context).message.rcode(), Rcode::formerr);
  query.edns.reset();
  EXPECT_EQ(test::answer(query, context).message.rcode(), Rcode::formerr);
}

TEST_F(CookieReply, InPlaceOfOneHeldBackIsBadcookieWithAGoodOne) {
  const auto query = encode_message(query_with("2464c4abcf10c957")).value();
  test::Bytes out(kMaxUdpBytes);
  out.resize(respond_with_less(query, context, out));
  const Message reply = parse_message(out).value();
  EXPECT_EQ(reply.rcode(), Rcode::badcookie);
  EXPECT_EQ(reply.flags & flag::kTruncated, 0);
  EXPECT_TRUE(reply.answers.empty());
  const std::string options = reply.edns.value().options;
  EXPECT_EQ(check_cookie(as_bytes(options).subspan(4), kClient, context.now, secrets), CookieState::valid);
}

TEST_F(CookieReply, InPlaceOfOneHeldBackIsTcWithoutCookie) {
  const auto query = encode_message(test::make_query("api.blue.example", Type::a)).value();
  test::Bytes out(kMaxUdpBytes);
  out.resize(respond_with_less(query, context, out));
  const Message reply = parse_message(out).value();
  EXPECT_EQ(reply.rcode(), Rcode::noerror);
  EXPECT_NE(reply.flags & flag::kTruncated, 0);
  EXPECT_EQ(out.size(), query.size()) << "no larger than what was asked";
}

TEST_F(CookieReply, LeavesRoomForTheOptionWhenCut) {
  std::vector<RRset> many;
  for (int i = 1; i <= 100; ++i) many.push_back(test::a_record("m.blue.example", "10.0.0." + std::to_string(i)));
  const auto big =
      ViewSet::make({test::view_of({std::make_shared<const Zone>(test::name("blue.example"), many)})}).value();
  context.view = &big[0];
  Message query = query_with("2464c4abcf10c957");
  query.questions[0].name = test::name("m.blue.example");
  const auto reply = test::answer(query, context);
  EXPECT_LE(reply.bytes.size(), 1232U);
  EXPECT_NE(reply.message.flags & flag::kTruncated, 0);
  EXPECT_EQ(reply.message.edns.value().options.size(), 28U);
}

}  // namespace
}  // namespace hcpnet::dns
