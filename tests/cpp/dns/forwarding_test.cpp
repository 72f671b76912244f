// SPDX-License-Identifier: Apache-2.0
// The pure parts of forwarding: what is believed of an upstream, what is kept, and for how long.
#include <gtest/gtest.h>

#include <hcpnet/dns/message.hpp>

#include "dns/alias_query.hpp"
#include "dns/dns_support.hpp"
#include "dns/query.hpp"
#include "dns/reply_cache.hpp"
#include "dns/resolv_conf.hpp"
#include "dns/stored_reply.hpp"
#include "dns/upstream_reply.hpp"

namespace hcpnet::dns {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::from_hex;
using test::make_query;
using test::name;
using Verdict = JudgedReply::Verdict;

std::string wire(std::string_view text) {
  return std::string(as_text(name(text).wire()));
}

UpstreamQuestion question_for(std::string_view qname, std::uint16_t id) {
  const Bytes query = encode_message(make_query(qname, Type::a)).value();
  return {id, {query.begin() + kHeaderBytes, query.end()}, false, false, true};
}

Record a_record(std::string_view owner, std::uint32_t ttl, std::uint8_t last = 80) {
  return {name(owner), Type::a, kClassIn, ttl, {'\xc0', '\0', '\2', static_cast<char>(last)}};
}
Record soa(std::string_view owner, std::uint32_t ttl, std::uint8_t minimum) {
  return {name(owner), Type::soa, kClassIn, ttl,
          wire("ns.test") + wire("h.test") + std::string(19, '\0') + static_cast<char>(minimum)};
}

Message reply_to(const Message& query) {
  Message reply = query;
  reply.flags |= flag::kResponse | flag::kRecursionAvailable;
  return reply;
}

/// The client's bytes must outlive the Query.
struct ReadQuery {
  explicit ReadQuery(const Message& message) : bytes(encode_message(message).value()) {
    EXPECT_EQ(read_query(bytes, query), std::nullopt);
  }
  Bytes bytes;
  Query query;
};

Message render(const StoredReply& stored, const Message& query, Transport transport, std::uint32_t age = 0) {
  const ReadQuery read(query);
  Bytes out(transport == Transport::udp ? kMaxUdpBytes : kMaxMessageBytes);
  out.resize(stored.render(read.query, transport, age, out));
  return parse_message(out).value();
}

TEST(DnsUpstreamQuery, IsPlainAndAsksForRecursion) {
  UpstreamQuestion question = question_for("Www.example", 0xabcd);
  question.checking_disabled = true;
  question.dnssec_ok = true;
  EXPECT_EQ(encode_query(question), from_hex("abcd 0110 0001 0000 0000 0001 03577777 076578616d706c65 00 0001 0001"
                                             "00 0029 04d0 00008000 0000"));
  question.has_edns = false;
  EXPECT_EQ(parse_message(encode_query(question)).value().edns, std::nullopt);
}

// Field case DNS-15; "b", the wrong source, is the socket's to refuse.
TEST(DnsJudgeReply, OnlyTheReplyToOurQuestionIsBelieved) {
  const UpstreamQuestion asked = question_for("good.example.net", 0x1234);
  for (const char* file :
       {"DNS-15-a-wrong-id.hex", "DNS-15-c-other-question.hex", "DNS-15-d-qr0.hex", "DNS-15-e-junk.hex"})
    EXPECT_EQ(judge_reply(from_hex(test::read_dns_data(file)), asked).verdict, Verdict::foreign) << file;
  const JudgedReply good = judge_reply(from_hex(test::read_dns_data("DNS-15-good.hex")), asked);
  ASSERT_EQ(good.verdict, Verdict::accepted);
  EXPECT_EQ(test::addresses(good.message), std::vector<std::string>{"192.0.2.80"});
}

TEST(DnsJudgeReply, TypeAndClassMustBeOursToo) {
  UpstreamQuestion asked = question_for("x.example", 1);
  Message reply = reply_to(make_query("X.example", Type::a, 1));
  EXPECT_EQ(judge_reply(encode_message(reply).value(), asked).verdict, Verdict::accepted) << "case may change";
  reply.questions[0].type = Type::aaaa;
  EXPECT_EQ(judge_reply(encode_message(reply).value(), asked).verdict, Verdict::foreign);
  // HTTPS is 65, 'A'; type 97 is 'a': these are numbers, not letters.
  asked.question[asked.question.size() - 3] = 65;
  reply.questions[0].type = Type{97};
  EXPECT_EQ(judge_reply(encode_message(reply).value(), asked).verdict, Verdict::foreign);
}

TEST(DnsJudgeReply, AnErrorWithoutAQuestionIsBelieved) {
  const UpstreamQuestion asked = question_for("x.example", 1);
  EXPECT_EQ(judge_reply(from_hex("0001 8001 0000 0000 0000 0000"), asked).verdict, Verdict::accepted);
  EXPECT_EQ(judge_reply(from_hex("0001 8000 0000 0000 0000 0000"), asked).verdict, Verdict::foreign);
  EXPECT_EQ(judge_reply(from_hex("0001 8003 0000 0000 0000 0000"), asked).verdict, Verdict::foreign);
}

// Field case DNS-14.
TEST(DnsJudgeReply, CutRepliesAreToBeAskedForAgain) {
  const UpstreamQuestion asked = question_for("big.example.net", 0x1234);
  EXPECT_EQ(judge_reply(from_hex(test::read_dns_data("DNS-14-udp-tc-empty.hex")), asked).verdict, Verdict::truncated);
  EXPECT_EQ(judge_reply(from_hex(test::read_dns_data("DNS-14-udp-cut-512-mid-rr-no-tc.hex")), asked).verdict,
            Verdict::truncated);
  EXPECT_EQ(judge_reply(from_hex(test::read_dns_data("DNS-14-udp-oversize-no-edns.hex")), asked).verdict,
            Verdict::accepted);
  const JudgedReply full = judge_reply(from_hex(test::read_dns_data("DNS-14-tcp-full-60.hex")), asked);
  ASSERT_EQ(full.verdict, Verdict::accepted);
  EXPECT_EQ(full.message.answers.size(), 60U);
}

TEST(DnsJudgeReply, MoreAliasesThanAnyAnswerHasAreNone) {
  const UpstreamQuestion asked = question_for("x.example", 1);
  Message reply = reply_to(make_query("x.example", Type::a, 1));
  const auto judged = [&] { return judge_reply(encode_message(reply).value(), asked).verdict; };
  for (int i = 0; i < 64; ++i)
    reply.answers.push_back({name("x.example"), Type::cname, kClassIn, 9, wire("y" + std::to_string(i) + ".example")});
  EXPECT_EQ(judged(), Verdict::accepted);
  reply.answers.push_back({name("x.example"), Type::cname, kClassIn, 9, wire("z.example")});
  EXPECT_EQ(judged(), Verdict::truncated);
}

TEST(DnsJudgeReply, EveryPrefixAndByteChangeIsJudged) {
  const UpstreamQuestion asked = question_for("good.example.net", 0x1234);
  const Bytes original = from_hex(test::read_dns_data("DNS-15-good.hex"));
  const std::size_t question_end = kHeaderBytes + asked.question.size();
  for (std::size_t size = 0; size < original.size(); ++size)
    EXPECT_EQ(judge_reply(ByteView(original).first(size), asked).verdict,
              size < question_end ? Verdict::foreign : Verdict::truncated);
  for (std::size_t at = 0; at < original.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      Bytes changed = original;
      changed[at] = static_cast<std::uint8_t>(value);
      static_cast<void>(judge_reply(changed, asked));
    }
}

struct Kept {
  bool is_answer;
  std::vector<Record> answers;
};

Kept keep(std::string_view qname, Type asked, std::vector<Record> answers, std::vector<Record> authority = {}) {
  Message reply = reply_to(make_query(qname, asked));
  reply.answers = std::move(answers);
  reply.authority = std::move(authority);
  const bool is_answer = keep_what_was_asked(reply);
  return {is_answer, std::move(reply.answers)};
}

Record make_record(std::string_view owner, Type type, std::string rdata = {}) {
  return {name(owner), type, kClassIn, 60, std::move(rdata)};
}
Record make_alias(std::string_view owner, std::string_view target) {
  return make_record(owner, Type::cname, wire(target));
}
Record signature(std::string_view owner, Type covered) {
  const auto number = static_cast<std::uint16_t>(covered);
  return make_record(owner, Type::rrsig, {static_cast<char>(number >> 8), static_cast<char>(number)});
}

TEST(DnsKeepWhatWasAsked, IsNoReplyWhereAllOfItIsAboutSomethingElse) {
  const Record other_type = make_record("www.example.net", Type::aaaa, std::string(16, '\0'));
  const Record other_name = a_record("victim.test", 60);
  Record other_class = a_record("www.example.net", 60);
  other_class.rclass = 3;
  for (const Record& other : {other_type, other_name, other_class, signature("www.example.net", Type::txt)}) {
    const Kept kept = keep("www.example.net", Type::a, {other});
    EXPECT_FALSE(kept.is_answer) << to_string(other.type);
    EXPECT_TRUE(kept.answers.empty()) << to_string(other.type);
    EXPECT_FALSE(keep("www.example.net", Type::a, {other}, {soa("victim.test", 60, 60)}).is_answer);
    const Kept nodata = keep("www.example.net", Type::a, {other}, {soa("example.net", 60, 60)});
    EXPECT_TRUE(nodata.is_answer) << "the SOA says that there is none";
    EXPECT_TRUE(nodata.answers.empty());
    EXPECT_EQ(keep("www.example.net", Type::a, {other, a_record("www.example.net", 60)}).answers,
              std::vector<Record>{a_record("www.example.net", 60)});
  }
  EXPECT_TRUE(keep("www.example.net", Type::a, {}).is_answer) << "nothing at all is NODATA, also without a SOA";
}

TEST(DnsKeepWhatWasAsked, AnAliasIsAloneAtItsName) {  // RFC 2181 section 10.1
  const std::vector<Record> chain{make_alias("www.example.net", "x.test"), make_alias("X.test", "y.test"),
                                  a_record("y.test", 60)};
  std::vector<Record> answers{a_record("www.example.net", 60), a_record("x.test", 60),
                              make_record("y.test", Type::aaaa, std::string(16, '\0'))};
  answers.insert(answers.begin() + 1, chain.begin(), chain.end());
  const Kept kept = keep("www.example.net", Type::a, answers);
  EXPECT_TRUE(kept.is_answer);
  EXPECT_EQ(kept.answers, chain);
  const Kept unfinished = keep("www.example.net", Type::a, {chain[0], a_record("www.example.net", 60)});
  EXPECT_TRUE(unfinished.is_answer);
  EXPECT_EQ(unfinished.answers, std::vector<Record>{chain[0]});
}

TEST(DnsKeepWhatWasAsked, OfSeveralAliasesAtOneNameTheFirstIsBelieved) {
  const std::vector<Record> first{make_alias("www.example.net", "mid.test"), a_record("mid.test", 60)};
  std::vector<Record> answers{first[0], make_alias("WWW.example.net", "api.blue.example"), first[1],
                              a_record("api.blue.example", 60, 66)};
  EXPECT_EQ(keep("www.example.net", Type::a, answers).answers, first);
  EXPECT_EQ(keep("www.example.net", Type::cname, answers).answers, std::vector<Record>{first[0]});
  EXPECT_EQ(keep("www.example.net", Type::any, answers).answers, std::vector<Record>{first[0]});
  answers[0] = make_alias("www.example.net", "www.example.net");
  EXPECT_EQ(keep("www.example.net", Type::a, answers).answers, std::vector<Record>{answers[0]}) << "a circle";
}

TEST(DnsKeepWhatWasAsked, DataOfANameThatDoesNotExistIsNoAnswer) {
  Message reply = reply_to(make_query("www.example.net", Type::a));
  reply.flags = static_cast<std::uint16_t>(reply.flags | static_cast<std::uint16_t>(Rcode::nxdomain));
  reply.answers = {make_alias("www.example.net", "mid.test")};
  EXPECT_TRUE(keep_what_was_asked(reply)) << "the code is that of the last name (RFC 6604)";
  reply.answers.push_back(a_record("mid.test", 60));
  EXPECT_FALSE(keep_what_was_asked(reply));
  reply.answers = {a_record("www.example.net", 60)};
  EXPECT_FALSE(keep_what_was_asked(reply));
}

TEST(DnsKeepWhatWasAsked, TheLongestChainKeepsItsEnd) {
  std::vector<Record> chain;
  for (int i = 0; i < 64; ++i)
    chain.push_back(make_alias('n' + std::to_string(i) + ".example", 'n' + std::to_string(i + 1) + ".example"));
  chain.push_back(a_record("n64.example", 60));
  EXPECT_EQ(keep("n0.example", Type::a, chain).answers, chain);
}

TEST(DnsKeepWhatWasAsked, SignaturesAndAliasesOfSubtreesStay) {  // RFC 4035, RFC 6672
  const std::vector<Record> chain{make_record("a.test", Type::dname, wire("b.test")),
                                  signature("a.test", Type::dname),
                                  make_alias("www.a.test", "www.b.test"),
                                  signature("www.a.test", Type::cname),
                                  a_record("www.b.test", 60),
                                  signature("www.b.test", Type::a)};
  EXPECT_EQ(keep("www.a.test", Type::a, chain).answers, chain);
  EXPECT_FALSE(keep("www.a.test", Type::a, {make_record("www.a.test", Type::dname, wire("b.test"))}).is_answer)
      << "of what is below the name, not of the name";
  EXPECT_EQ(keep("a.test", Type::dname, {chain[0], chain[1]}).answers.size(), 2U);
}

TEST(DnsKeepWhatWasAsked, ATypeThatAnAliasAnswersIsNotFollowed) {
  const std::vector<Record> at_the_name{make_alias("www.example.net", "x.test"),
                                        signature("www.example.net", Type::cname)};
  std::vector<Record> answers = at_the_name;
  answers.push_back(a_record("x.test", 60));
  EXPECT_EQ(keep("www.example.net", Type::cname, answers).answers, at_the_name);
  EXPECT_EQ(keep("www.example.net", Type::any, answers).answers, at_the_name);
  EXPECT_EQ(keep("www.example.net", Type::rrsig, at_the_name).answers, at_the_name) << "RFC 4035 section 2.5";
  const std::vector<Record> any{a_record("www.example.net", 60), make_record("www.example.net", Type::txt, "\1x"),
                                signature("www.example.net", Type::txt)};
  EXPECT_EQ(keep("www.example.net", Type::any, any).answers, any);
  EXPECT_FALSE(keep("www.example.net", Type::any, {a_record("victim.test", 60)}).is_answer);
}

TEST(DnsStoredReply, GivesAClientItsOwnIdFlagsAndCase) {
  Message reply = reply_to(make_query("www.example.net", Type::a, 7));
  reply.flags |= flag::kAuthoritative | flag::kAuthenticData | flag::kCheckingDisabled;
  reply.answers = {a_record("www.example.net", 60)};
  reply.edns = Edns{4096, 0, true, std::string("\0\12\0\1x", 5)};
  const auto stored = StoredReply::make(reply).value();
  const Message query = make_query("wWw.eXample.net", Type::a, 0xbeef);
  const Message out = render(stored, query, Transport::udp, 13);
  EXPECT_EQ(out.id, 0xbeef);
  EXPECT_EQ(out.flags, flag::kResponse | flag::kRecursionDesired | flag::kRecursionAvailable) << "no AA, no AD";
  EXPECT_EQ(out.questions[0].name.to_string(), "wWw.eXample.net.");
  EXPECT_EQ(out.answers.at(0).ttl, 47U);
  EXPECT_EQ(out.edns, std::nullopt);
  EXPECT_EQ(stored.lifetime_seconds(), 60U);
}

TEST(DnsStoredReply, TtlsAreBoundedAndNeverWrap) {
  Message reply = reply_to(make_query("www.example.net", Type::a));
  reply.answers = {a_record("www.example.net", 0x7fffffff), a_record("www.example.net", 5, 81)};
  const auto stored = StoredReply::make(reply).value();
  EXPECT_EQ(stored.lifetime_seconds(), 5U);
  const Message out = render(stored, make_query("www.example.net", Type::a), Transport::udp, 6);
  EXPECT_EQ(out.answers.at(0).ttl, StoredReply::kMaxTtl - 6);
  EXPECT_EQ(out.answers.at(1).ttl, 0U);
}

TEST(DnsStoredReply, NegativeAnswersLiveAsTheirSoaSays) {
  Message reply = reply_to(make_query("www.example.net", Type::a));
  EXPECT_EQ(StoredReply::make(reply)->lifetime_seconds(), 0U) << "no SOA: not kept";
  reply.authority = {soa("example.net", 300, 40)};
  EXPECT_EQ(StoredReply::make(reply)->lifetime_seconds(), 40U);
  reply.authority = {soa("example.net", 20, 40)};
  EXPECT_EQ(StoredReply::make(reply)->lifetime_seconds(), 20U);
  reply.flags |= static_cast<std::uint16_t>(Rcode::nxdomain);
  EXPECT_EQ(StoredReply::make(reply)->lifetime_seconds(), 20U);
  reply.answers = {{name("www.example.net"), Type::cname, kClassIn, 9, wire("gone.example.net")}};
  EXPECT_EQ(StoredReply::make(reply)->lifetime_seconds(), 9U);
}

TEST(DnsStoredReply, IsCutForAClientThatTakesLess) {
  const Message full = parse_message(from_hex(test::read_dns_data("DNS-14-tcp-full-60.hex"))).value();
  const auto stored = StoredReply::make(full).value();
  Message query = make_query("big.example.net", Type::a);
  const Message over_udp = render(stored, query, Transport::udp);
  EXPECT_EQ(over_udp.answers.size(), (512U - 33) / 16) << "12 header, 21 question, 16 for each record";
  EXPECT_NE(over_udp.flags & flag::kTruncated, 0);
  query.edns = Edns{1232, 0, false, ""};
  EXPECT_EQ(render(stored, query, Transport::udp).answers.size(), 60U);
  query.edns.reset();
  const Message over_tcp = render(stored, query, Transport::tcp);
  EXPECT_EQ(over_tcp.answers, full.answers);
  EXPECT_EQ(over_tcp.flags & flag::kTruncated, 0);
}

TEST(DnsStoredReply, MissingAdditionalRecordsAreNoTruncation) {
  Message reply = reply_to(make_query("www.example.net", Type::a));
  reply.answers = {a_record("www.example.net", 60)};
  for (int i = 0; i < 40; ++i) reply.additional.push_back(a_record("ns.example.net", 60, static_cast<std::uint8_t>(i)));
  const Message out = render(StoredReply::make(reply).value(), make_query("www.example.net", Type::a), Transport::udp);
  EXPECT_LT(out.additional.size(), 40U);
  EXPECT_EQ(out.flags & flag::kTruncated, 0) << "RFC 2181 section 9";
}

/// What an upstream says in an order that compresses well, and the names up to ours in an order that does not.
Message reply_with_junk_first_in_the_chain() {
  const std::string shared = std::string(60, 's') + ".example";
  Message reply = reply_to(make_query("q.test", Type::a));
  std::string owner = "q.test";
  std::vector<Record> junk, rest;
  const auto link = [&](std::vector<Record>& records, const std::string& target) {
    records.push_back({name(owner), Type::cname, kClassIn, 60, wire(target)});
    owner = target;
  };
  for (const char letter : {'a', 'b', 'c', 'd'}) {  // 400 labels, of which no more than 384 are remembered
    std::string target;
    for (int i = 0; i < 100; ++i) target += std::string(1, letter) + '.';
    link(junk, target + "test");
  }
  for (int i = 0; i < 8; ++i) link(rest, std::string(1, static_cast<char>('e' + i)) + '.' + shared);
  link(rest, "api.blue.example");
  reply.answers = std::move(rest);
  reply.answers.insert(reply.answers.end(), junk.begin(), junk.end());
  return reply;
}

TEST(DnsAliasQuery, WritesNoMoreThanThereIsRoomFor) {
  const Message reply = reply_with_junk_first_in_the_chain();
  Message query = make_query("q.test", Type::a);
  query.edns = Edns{};
  const Message told = render(StoredReply::make(reply).value(), query, Transport::udp);
  ASSERT_EQ(told.flags & flag::kTruncated, 0) << "it fits as it came";
  const auto views =
      ViewSet::make({test::view_of({std::make_shared<const Zone>(
                        name("blue.example"), std::vector<RRset>{test::a_record("api.blue.example", "192.0.2.4")})})})
          .value();
  const Bytes begun = up_to_others_name(encode_message(told).value(), views[0], {}).value().bytes;
  ASSERT_GT(begun.size(), kMaxUdpBytes);
  const AliasQuery alias(encode_message(query).value(), begun, Transport::udp);
  Bytes out(kMaxMessageBytes, 0xee);
  const std::size_t size = alias.complete({}, std::span(out).first(kMaxUdpBytes));
  EXPECT_LE(size, kMaxUdpBytes);
  EXPECT_EQ(out[kMaxUdpBytes], 0xee);
  const Message cut = parse_message(ByteView(out).first(size)).value();
  EXPECT_NE(cut.flags & flag::kTruncated, 0);
  EXPECT_TRUE(cut.answers.empty());
}

ReplyCache::Time at(std::chrono::milliseconds time) {
  return ReplyCache::Time(time);
}

std::shared_ptr<const StoredReply> some_reply() {
  Message reply = reply_to(make_query("www.example.net", Type::a));
  reply.answers = {a_record("www.example.net", 60)};
  return std::make_shared<const StoredReply>(StoredReply::make(reply).value());
}

TEST(DnsReplyCache, KeepsUntilTheTimeIsOver) {
  ReplyCache cache(100'000, 1);
  cache.put("a", {some_reply(), at(0s), at(60s)});
  ASSERT_NE(cache.find("a", at(59'999ms)), nullptr);
  EXPECT_EQ(cache.find("a", at(59'999ms))->age_seconds(at(59'999ms)), 59U);
  EXPECT_EQ(cache.find("a", at(60s)), nullptr);
  EXPECT_EQ(cache.entries(), 0U);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(DnsReplyCache, ForgetsTheLeastRecentlyUsedWhenFull) {
  ReplyCache measured(100'000, 1);
  measured.put("a", {some_reply(), at(0s), at(60s)});
  ReplyCache cache(3 * measured.bytes(), 1);
  for (const char* key : {"a", "b", "c"}) cache.put(key, {some_reply(), at(0s), at(60s)});
  ASSERT_EQ(cache.entries(), 3U);
  ASSERT_NE(cache.find("a", at(1s)), nullptr);
  cache.put("d", {some_reply(), at(0s), at(60s)});
  EXPECT_EQ(cache.entries(), 3U);
  EXPECT_EQ(cache.find("b", at(1s)), nullptr);
  EXPECT_NE(cache.find("a", at(1s)), nullptr);
  EXPECT_EQ(cache.evictions(), 1U);
}

TEST(DnsReplyCache, StaysWithinItsBytesWhateverComes) {
  ReplyCache cache(5'000, 1);
  for (int i = 0; i < 1'000; ++i) {
    cache.put(std::to_string(i % 77) + std::string(static_cast<std::size_t>(i % 200), 'x'),
              {i % 3 == 0 ? nullptr : some_reply(), at(0s), at(60s)});
    ASSERT_LE(cache.bytes(), 5'000U);
  }
  ReplyCache none(0, 1);
  none.put("a", {some_reply(), at(0s), at(60s)});
  EXPECT_EQ(none.find("a", at(1s)), nullptr);
}

TEST(DnsReplyCache, KeysIgnoreCaseButNotTypeOrFlags) {
  const auto key = [](Message query) { return make_cache_key(ReadQuery(query).query); };
  Message query = make_query("www.example.net", Type::a);
  const std::string plain = key(query);
  EXPECT_EQ(key(make_query("WWW.example.NET", Type::a, 9)), plain);
  EXPECT_NE(key(make_query("www.example.net", Type::aaaa)), plain);
  query.flags |= flag::kCheckingDisabled;
  EXPECT_NE(key(query), plain);
  query = make_query("www.example.net", Type::a);
  query.edns = Edns{1232, 0, true, ""};
  EXPECT_NE(key(query), plain);
}

TEST(DnsResolvConf, TakesTheNameServers) {
  std::vector<std::string> left_out;
  const auto servers = parse_resolv_conf(
      "# nameserver 192.0.2.99\n;nameserver 192.0.2.98\nsearch example.com\nnameserver 192.0.2.1\n"
      "nameserver\t2001:db8::1  # trailing words are ignored\n nameserver 192.0.2.97\nnameserver fe80::1%eth0\n"
      "nameserver\nnameserver name.example\nnameserverx 192.0.2.96\noptions edns0\nnameserver 192.0.2.2",
      &left_out);
  std::vector<std::string> found;
  for (const Endpoint& server : servers) found.push_back(server.to_string());
  EXPECT_EQ(found, (std::vector<std::string>{"192.0.2.1:53", "[2001:db8::1]:53", "192.0.2.2:53"}));
  EXPECT_EQ(left_out, (std::vector<std::string>{"fe80::1%eth0", "name.example"})) << "field case ZON-11";
}

TEST(DnsResolvConf, TakesNoMoreThanItsLimit) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "nameserver 192.0.2." + std::to_string(i) + "\r\n";
  std::vector<std::string> left_out;
  EXPECT_EQ(parse_resolv_conf(text, &left_out).size(), kMaxNameServers);
  EXPECT_EQ(left_out.size(), kMaxNameServers);
  EXPECT_EQ(left_out.front(), "192.0.2.8");
  EXPECT_TRUE(parse_resolv_conf("").empty());
}

}  // namespace
}  // namespace hcpnet::dns
