// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/dns/responder.hpp>

#include "dns/dns_support.hpp"

namespace hcpnet::dns {
namespace {

using test::a_record;
using test::answer;
using test::Bytes;
using test::from_hex;
using test::make_query;
using test::name;
using Verdict = Response::Verdict;

std::string wire(std::string_view text) {
  return std::string(as_text(name(text).wire()));
}

RRset cname(std::string_view owner, std::string_view target) {
  return {name(owner), Type::cname, 30, {wire(target)}};
}

std::shared_ptr<const Zone> make_zone(std::string_view apex, std::vector<RRset> rrsets,
                                      Availability availability = Availability::available) {
  return std::make_shared<const Zone>(name(apex), std::move(rrsets), 1, availability);
}

class DnsResponder : public testing::Test {
 protected:
  static ViewSet make_views() {
    std::vector<RRset> many;
    for (std::uint8_t i = 0; i < 40; ++i) many.push_back(make_a(name("many.blue.example"), Ipv4(10, 0, 0, i), 30));
    many.push_back(a_record("api.blue.example", "192.0.2.4"));
    many.push_back(cname("www.blue.example", "Web.red.example"));
    many.push_back(cname("out.blue.example", "www.example.net"));
    many.push_back(cname("gone.blue.example", "nothing.red.example"));
    many.push_back(cname("down.blue.example", "x.down.example"));
    many.push_back(cname("a.blue.example", "b.blue.example"));
    many.push_back(cname("b.blue.example", "a.blue.example"));
    many.push_back(cname("*.star.blue.example", "x.star.blue.example"));
    for (int i = 0; i < 20; ++i)
      many.push_back(
          cname("hop" + std::to_string(i) + ".blue.example", "hop" + std::to_string(i + 1) + ".blue.example"));
    return ViewSet::make({test::view_of({make_zone("blue.example", std::move(many)),
                                         make_zone("red.example", {a_record("web.red.example", "192.0.2.7")}),
                                         make_zone("down.example", {}, Availability::unavailable)})})
        .value();
  }

  ViewSet views = make_views();
  QueryContext context{&views[0], Transport::udp, false};
};

TEST_F(DnsResponder, AnswersWithGoldenBytes) {
  // api.blue.example A with RD: AA and RD are set, the owner is a pointer to the question, TTL 30.
  const Bytes query = from_hex("abcd 0100 0001 0000 0000 0000 03617069 04626c7565 076578616d706c65 00 0001 0001");
  EXPECT_EQ(answer(query, context).bytes,
            from_hex("abcd 8500 0001 0001 0000 0000 03617069 04626c7565 076578616d706c65 00 0001 0001"
                     "c00c 0001 0001 0000001e 0004 c0000204"));
}

TEST_F(DnsResponder, NegativeAnswersCarryTheSoaWithTtl30) {
  for (const auto& [text, rcode] :
       {std::pair("nope.blue.example", Rcode::nxdomain), std::pair("blue.example", Rcode::noerror)}) {
    const auto reply = answer(make_query(text, Type::a), context);
    EXPECT_EQ(reply.response.rcode, rcode);
    EXPECT_EQ(reply.message.rcode(), rcode);
    EXPECT_TRUE(reply.message.answers.empty());
    ASSERT_EQ(reply.message.authority.size(), 1U);
    EXPECT_EQ(reply.message.authority[0].type, Type::soa);
    EXPECT_EQ(reply.message.authority[0].owner, name("blue.example"));
    EXPECT_EQ(reply.message.authority[0].ttl, 30U);
    EXPECT_NE(reply.message.flags & flag::kAuthoritative, 0);
  }
}

TEST_F(DnsResponder, FollowsCnamesThroughTheZonesOfTheView) {
  const auto reply = answer(make_query("www.blue.example", Type::a), context);
  ASSERT_EQ(reply.message.answers.size(), 2U);
  EXPECT_EQ(reply.message.answers[0].type, Type::cname);
  EXPECT_EQ(reply.message.answers[1].owner.to_string(), "Web.red.example.");
  EXPECT_EQ(test::addresses(reply.message), std::vector<std::string>{"192.0.2.7"});
}

TEST_F(DnsResponder, ACnameItselfCanBeAsked) {
  const auto reply = answer(make_query("www.blue.example", Type::cname), context);
  ASSERT_EQ(reply.message.answers.size(), 1U);
}

TEST_F(DnsResponder, TheRcodeIsThatOfTheLastNameOfAChain) {  // RFC 6604
  const auto gone = answer(make_query("gone.blue.example", Type::a), context);
  EXPECT_EQ(gone.message.rcode(), Rcode::nxdomain);
  EXPECT_EQ(gone.message.answers.size(), 1U);
  ASSERT_EQ(gone.message.authority.size(), 1U);
  EXPECT_EQ(gone.message.authority[0].owner, name("red.example"));
  const auto nodata = answer(make_query("www.blue.example", Type::aaaa), context);
  EXPECT_EQ(nodata.message.rcode(), Rcode::noerror);
  EXPECT_EQ(nodata.message.answers.size(), 1U);
  EXPECT_EQ(nodata.message.authority.at(0).owner, name("red.example"));
}

TEST_F(DnsResponder, AChainThatLeavesTheZonesEndsThere) {
  const auto reply = answer(make_query("out.blue.example", Type::a), context);
  EXPECT_EQ(reply.message.rcode(), Rcode::noerror);
  EXPECT_EQ(reply.message.answers.size(), 1U);
  EXPECT_TRUE(reply.message.authority.empty());
}

TEST_F(DnsResponder, LoopsAndLongChainsEnd) {
  EXPECT_EQ(answer(make_query("a.blue.example", Type::a), context).message.answers.size(), 2U);
  EXPECT_EQ(answer(make_query("y.star.blue.example", Type::a), context).message.answers.size(), 1U);
  const auto longest = answer(make_query("hop0.blue.example", Type::a), context);
  EXPECT_EQ(longest.message.answers.size(), kMaxCnameHops + 1);
  EXPECT_EQ(longest.message.rcode(), Rcode::noerror);
  EXPECT_TRUE(longest.response.is_chain_cut);
  EXPECT_FALSE(answer(make_query("a.blue.example", Type::a), context).response.is_chain_cut) << "a loop ends by itself";
}

TEST_F(DnsResponder, AnUnavailableZoneFailsEveryName) {
  for (const char* text : {"down.example", "x.down.example", "down.blue.example"}) {
    const auto reply = answer(make_query(text, Type::a), context);
    EXPECT_EQ(reply.message.rcode(), Rcode::servfail) << text;
    EXPECT_TRUE(reply.message.answers.empty());
    EXPECT_EQ(reply.message.flags & flag::kAuthoritative, 0);
  }
}

TEST_F(DnsResponder, NamesOutsideAreForwardedOnlyForThoseWhoAskForRecursion) {
  Message query = make_query("www.example.net", Type::a);
  EXPECT_EQ(answer(query, context).message.rcode(), Rcode::refused);
  context.can_forward = true;
  EXPECT_EQ(answer(query, context).response.verdict, Verdict::forward);
  query.flags = 0;
  const auto refused = answer(query, context);
  EXPECT_EQ(refused.message.rcode(), Rcode::refused);
  EXPECT_NE(refused.message.flags & flag::kRecursionAvailable, 0);
}

TEST_F(DnsResponder, NothingBelowAZoneIsForwarded) {
  context.can_forward = true;
  for (const char* text : {"nope.blue.example", "blue.example", "a.b.c.red.example", "x.down.example"})
    for (const Type type : {Type::a, Type::aaaa, Type::txt, Type{65}})
      EXPECT_EQ(answer(make_query(text, type), context).response.verdict, Verdict::reply) << text;
}

TEST_F(DnsResponder, AClientOfNoViewIsRefused) {
  context.view = nullptr;
  context.can_forward = true;
  EXPECT_EQ(answer(make_query("api.blue.example", Type::a), context).message.rcode(), Rcode::refused);
}

TEST_F(DnsResponder, FlagsAreOurs) {
  Message query = make_query("api.blue.example", Type::a);
  query.flags = 0x0679;  // AA, TC, Z, AD, CD, RCODE 9
  EXPECT_EQ(answer(query, context).message.flags, flag::kResponse | flag::kAuthoritative | flag::kCheckingDisabled);
  context.can_forward = true;
  query.flags = flag::kRecursionDesired;
  EXPECT_EQ(answer(query, context).message.flags,
            flag::kResponse | flag::kAuthoritative | flag::kRecursionDesired | flag::kRecursionAvailable);
}

TEST_F(DnsResponder, OtherOpcodesAreNotImplemented) {
  for (std::uint16_t opcode = 1; opcode < 16; ++opcode) {
    Message query = make_query("api.blue.example", Type::a);
    query.flags = static_cast<std::uint16_t>(opcode << 11);
    const auto reply = answer(query, context);
    EXPECT_EQ(reply.message.rcode(), Rcode::notimp);
    EXPECT_EQ(reply.message.flags & flag::kOpcode, opcode << 11);
    EXPECT_EQ(reply.bytes.size(), kHeaderBytes);
  }
}

TEST_F(DnsResponder, ResponsesAndFragmentsAreDropped) {
  Bytes query = encode_message(make_query("api.blue.example", Type::a)).value();
  query[2] |= 0x80;
  const auto response = answer(query, context);
  EXPECT_EQ(response.response.verdict, Verdict::drop);
  EXPECT_EQ(response.response.drop_reason, DropReason::is_response);
  for (std::size_t size = 0; size < kHeaderBytes; ++size) {
    const auto fragment = answer(ByteView(query).first(size), context);
    EXPECT_EQ(fragment.response.verdict, Verdict::drop);
    EXPECT_EQ(fragment.response.drop_reason, DropReason::too_short);
  }
}

TEST_F(DnsResponder, MetaTypesHaveNoData) {
  for (const auto& [type, rcode] :
       {std::pair(0, Rcode::formerr), std::pair(41, Rcode::formerr), std::pair(252, Rcode::refused),
        std::pair(251, Rcode::refused), std::pair(250, Rcode::notimp), std::pair(128, Rcode::notimp),
        std::pair(254, Rcode::notimp), std::pair(256, Rcode::noerror), std::pair(127, Rcode::noerror)})
    EXPECT_EQ(answer(make_query("api.blue.example", static_cast<Type>(type)), context).message.rcode(), rcode) << type;
}

TEST_F(DnsResponder, AnyIsAnsweredWithHinfo) {  // RFC 8482
  const auto reply = answer(make_query("many.blue.example", Type::any), context);
  ASSERT_EQ(reply.message.answers.size(), 1U);
  EXPECT_EQ(reply.message.answers[0].type, Type::hinfo);
  EXPECT_EQ(reply.message.answers[0].rdata, std::string("\7RFC8482\0", 9));
  EXPECT_EQ(answer(make_query("www.blue.example", Type::any), context).message.answers.at(0).type, Type::cname);
  EXPECT_EQ(answer(make_query("nope.blue.example", Type::any), context).message.rcode(), Rcode::nxdomain);
}

TEST_F(DnsResponder, TruncatesOnWholeRecordsAndKeepsOpt) {
  Message query = make_query("many.blue.example", Type::a);
  for (const unsigned asked : {0U, 100U, 511U, 512U, 513U, 600U, 674U, 675U, 685U, 1232U, 65535U}) {
    query.edns = asked == 0 ? std::nullopt : std::optional(Edns{static_cast<std::uint16_t>(asked), 0, false, ""});
    const auto reply = answer(query, context);
    const std::size_t limit = std::clamp<std::size_t>(asked, 512, 1232);
    // 12 header + 23 question + 16 for each record + 11 for OPT
    const std::size_t fit = std::min<std::size_t>(40, (limit - 35 - (asked == 0 ? 0 : 11)) / 16);
    EXPECT_EQ(reply.message.answers.size(), fit) << asked;
    EXPECT_EQ((reply.message.flags & flag::kTruncated) != 0, fit < 40) << asked;
    EXPECT_EQ(reply.message.edns.has_value(), asked != 0);
    EXPECT_LE(reply.bytes.size(), limit);
  }
  context.transport = Transport::tcp;
  query.edns = Edns{512, 0, false, ""};
  EXPECT_EQ(answer(query, context).message.answers.size(), 40U) << "the size is about UDP only";
}

TEST_F(DnsResponder, EdnsIsAnsweredWithEdnsAndNothingIsEchoed) {
  Message query = make_query("api.blue.example", Type::a);
  query.edns = Edns{4096, 0, true, std::string("\0\12\0\10abcdefgh\0\3\0\0", 16)};
  EXPECT_EQ(answer(query, context).message.edns, (Edns{kMaxUdpBytes, 0, true, ""})) << "DO is copied (RFC 3225)";
  query.edns->version = 1;
  const auto bad_version = answer(query, context);
  EXPECT_EQ(bad_version.message.rcode(), Rcode::badvers);
  EXPECT_EQ(bad_version.response.rcode, Rcode::badvers);
  EXPECT_EQ(bad_version.message.edns->version, 0);
  EXPECT_EQ(bad_version.message.questions.size(), 1U);
  EXPECT_TRUE(bad_version.message.answers.empty());
}

TEST_F(DnsResponder, ABrokenMessageIsAFormatError) {
  const std::string question = "03617069 04626c7565 076578616d706c65 00 0001 0001";
  const std::string opt = "00 0029 1000 00000000 0000";
  for (const std::string& hex :
       {"0000 0000 0001 0000 0000 0000" + question + "00", "0000 0000 0001 0000 0000 0001" + question,
        "0000 0000 0001 0000 0000 0002" + question + opt + opt, "0000 0000 0001 0001 0000 0000" + question + opt,
        "0000 0000 0001 0000 0000 0001" + question + "00 0029 1000 00000000 0001 00",
        "0000 0000 0001 0000 0000 0001" + question + "00 0029 1000 00000000 0003 000a05"}) {
    const auto reply = answer(from_hex(hex), context);
    EXPECT_EQ(reply.message.rcode(), Rcode::formerr) << hex;
    EXPECT_TRUE(reply.message.questions.empty());
    // RFC 6891 section 6.1.1: who speaks EDNS is answered in it, as far as it could be read.
    const bool has_opt =
        hex.find("0029") != std::string::npos && hex.find("0001 0000 0000" + question) == std::string::npos;
    EXPECT_EQ(reply.message.edns.has_value(), has_opt) << hex;
  }
}

TEST_F(DnsResponder, OtherOpcodesAreNotImplementedInEdnsToo) {
  Message query = make_query("api.blue.example", Type::a);
  query.edns = Edns{};
  for (const int opcode : {1, 2, 4, 5, 15}) {
    query.flags = static_cast<std::uint16_t>(opcode << 11);
    const auto reply = answer(query, context);
    EXPECT_EQ(reply.message.rcode(), Rcode::notimp) << opcode;
    EXPECT_TRUE(reply.message.edns.has_value()) << opcode;
  }
}

TEST_F(DnsResponder, AnAliasOfANameOfNoZoneGoesOnWithAnUpstream) {
  Message query = make_query("out.blue.example", Type::a);
  EXPECT_EQ(answer(query, context).response.verdict, Verdict::reply) << "nothing is forwarded";
  context.can_forward = true;
  const auto begun = answer(query, context);
  EXPECT_EQ(begun.response.verdict, Verdict::forward);
  EXPECT_EQ(parse_message(begun.bytes).value().answers.at(0).rdata, wire("www.example.net"));
  EXPECT_EQ(answer(make_query("out.blue.example", Type::cname), context).response.verdict, Verdict::reply);
  EXPECT_EQ(answer(make_query("www.blue.example", Type::a), context).response.verdict, Verdict::reply);
  query.flags = 0;
  EXPECT_EQ(answer(query, context).response.verdict, Verdict::reply) << "recursion is not wanted";
}

TEST_F(DnsResponder, EveryPrefixAndByteChangeIsAnsweredWellOrDropped) {
  Message query = make_query("www.blue.example", Type::a);
  query.edns = Edns{1232, 0, true, std::string("\0\12\0\10abcdefgh", 12)};
  const Bytes original = encode_message(query).value();
  const auto check = [&](ByteView bytes) {
    const auto reply = answer(bytes, context);  // parses every reply
    if (reply.response.verdict != Verdict::reply) return;
    ASSERT_LE(reply.bytes.size(), kMaxUdpBytes);
    ASSERT_EQ(reply.bytes[0], bytes[0]);
    ASSERT_EQ(reply.bytes[1], bytes[1]);
    ASSERT_NE(reply.message.flags & flag::kResponse, 0);
  };
  for (std::size_t size = 0; size < original.size(); ++size) check(ByteView(original).first(size));
  for (std::size_t at = 0; at < original.size(); ++at) {
    Bytes changed = original;
    for (int value = 0; value < 256; ++value) {
      changed[at] = static_cast<std::uint8_t>(value);
      check(changed);
    }
  }
}

TEST_F(DnsResponder, TheLongestNamesFit) {
  const std::string label(63, 'x');
  const std::string apex = label + '.' + label + '.' + label + ".example";
  const auto longest =
      ViewSet::make({test::view_of({make_zone(apex, {a_record(std::string(52, 'y') + '.' + apex, "192.0.2.1")})})})
          .value();
  context.view = &longest[0];
  EXPECT_EQ(answer(make_query(std::string(52, 'y') + '.' + apex, Type::a), context).message.answers.size(), 1U);
  const auto negative = answer(make_query(std::string(52, 'z') + '.' + apex, Type::a), context);
  EXPECT_EQ(negative.message.rcode(), Rcode::nxdomain);
  EXPECT_NE(negative.message.flags & flag::kTruncated, 0) << "a SOA with two such names needs more than 512 bytes";
}

TEST_F(DnsResponder, AnErrorReplyRepeatsTheQuestion) {
  const Message query = make_query("www.example.net", Type::a);
  Bytes out(kMaxUdpBytes);
  context.can_forward = true;
  out.resize(respond_with_error(encode_message(query).value(), Rcode::servfail, context, out));
  const Message reply = parse_message(out).value();
  EXPECT_EQ(reply.rcode(), Rcode::servfail);
  EXPECT_EQ(reply.questions, query.questions);
  EXPECT_EQ(reply.id, query.id);
}

}  // namespace
}  // namespace hcpnet::dns
