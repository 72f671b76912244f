// SPDX-License-Identifier: Apache-2.0
// What etcd 3.7 answered, word for word, and what it must not make of us.
#include "dhcp/etcd_wire.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace hcpnet::dhcp::etcd {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(EtcdBase64, IsThatOfRfc4648) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : kVectors) {
    EXPECT_EQ(base64(plain), coded);
    EXPECT_EQ(parse_base64(coded), plain);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(parse_base64(base64(all)), all);
}

TEST(EtcdBase64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg", "Zg=", "Z===", "====", "Zm9v!A==", "Zm 9", "Zg==Zg=="})
    EXPECT_FALSE(parse_base64(text)) << text;
}

TEST(EtcdWire, EndOfAPrefixIsTheNextKey) {
  EXPECT_EQ(end_of("/a/"), "/a0");
  EXPECT_EQ(end_of("a\xFF"), "b");
}

TEST(EtcdWire, RangeIsReadWithItsPages) {
  const json asked = json::parse(range_body("/p/", "/p0", 100, 7));
  EXPECT_EQ(asked, json({{"key", "L3Av"}, {"range_end", "L3Aw"}, {"limit", "100"}, {"revision", "7"}}));
  EXPECT_FALSE(json::parse(range_body("/p/", "/p0", 100, 0)).contains("revision"));
  const auto page = parse_range(
      R"({"header":{"cluster_id":"324952591200643719", "member_id":"3319814642761637952", "revision":"2", "raft_term":"2"},
          "kvs":[{"key":"L3AvMTkyLjAuMi4x", "create_revision":"2", "mod_revision":"2", "version":"1", "value":"djE="}],
          "more":true, "count":"2"})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->revision, 2);
  EXPECT_TRUE(page->has_more);
  EXPECT_THAT(page->found, ElementsAre(KeyValue{"/p/192.0.2.1", "v1", 2}));
  const auto nothing = parse_range(R"({"header":{"revision":"9"}})");
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->found.empty());
  EXPECT_FALSE(nothing->has_more);
}

TEST(EtcdWire, EachStepOfATransactionComparesAndWritesByItself) {
  const Step steps[] = {{{{"/p/1", "v1", 0}, {"/p/2", "v2", 5}}, {}}, {{}, {"/p/3"}}};
  const json asked = json::parse(txn_body(steps));
  ASSERT_EQ(asked["success"].size(), 2U);
  const json& first = asked["success"][0]["request_txn"];
  EXPECT_EQ(first["compare"][1], json({{"target", "MOD"}, {"key", base64("/p/2")}, {"mod_revision", "5"}}));
  EXPECT_EQ(first["success"][0]["request_put"]["value"], base64("v1"));
  EXPECT_EQ(first["failure"][1]["request_range"]["key"], base64("/p/2"));
  const json& second = asked["success"][1]["request_txn"];
  EXPECT_FALSE(second.contains("compare"));
  EXPECT_EQ(second["success"][0]["request_range"]["key"], base64("/p/3"));
}

TEST(EtcdWire, OutcomesOfStepsAreToldApart) {
  const auto txn = parse_txn(
      R"({"header":{"revision":"7", "raft_term":"2"}, "succeeded":true, "responses":[
          {"response_txn":{"header":{}, "succeeded":true, "responses":[{"response_put":{"header":{"revision":"7"}}}]}},
          {"response_txn":{"header":{}, "responses":[{"response_range":{"header":{"revision":"2"},
            "kvs":[{"key":"L3AvMTkyLjAuMi4x", "mod_revision":"2", "version":"1", "value":"djE="}], "count":"1"}}]}},
          {"response_txn":{"header":{}, "succeeded":true, "responses":[{"response_range":{"header":{"revision":"2"}}}]}}]})");
  ASSERT_TRUE(txn);
  EXPECT_EQ(txn->revision, 7);
  ASSERT_EQ(txn->steps.size(), 3U);
  EXPECT_TRUE(txn->steps[0].is_written);
  EXPECT_FALSE(txn->steps[1].is_written);
  EXPECT_THAT(txn->steps[1].found, ElementsAre(KeyValue{"/p/192.0.2.1", "v1", 2}));
  EXPECT_TRUE(txn->steps[2].is_written);
  EXPECT_TRUE(txn->steps[2].found.empty());
}

TEST(EtcdWire, ChangesAreReadLineByLine) {
  const json asked = json::parse(watch_body("/p/", 8));
  EXPECT_EQ(asked["create_request"],
            json({{"key", "L3Av"}, {"range_end", "L3Aw"}, {"start_revision", "8"}, {"fragment", true}}));
  const auto created = parse_changes(R"({"result":{"header":{"revision":"2","raft_term":"2"},"created":true}})");
  ASSERT_TRUE(created);
  EXPECT_TRUE(created->is_created);
  EXPECT_FALSE(created->is_over);
  const auto changes = parse_changes(
      R"({"result":{"header":{"revision":"4"},"events":[
          {"kv":{"key":"L3AvMTkyLjAuMi4x","create_revision":"2","mod_revision":"3","version":"1","value":"djE="}},
          {"type":"DELETE","kv":{"key":"L3AvMTkyLjAuMi4y","mod_revision":"4"}}]}})");
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->revision, 4);
  EXPECT_THAT(changes->puts, ElementsAre(KeyValue{"/p/192.0.2.1", "v1", 3}));
  EXPECT_FALSE(changes->has_more);
  EXPECT_TRUE(parse_changes(R"({"result":{"header":{"revision":"4"},"fragment":true}})")->has_more);
  EXPECT_EQ(
      parse_changes(R"({"result":{"header":{"revision":"2"},"created":true,"canceled":true,"cancel_reason":"no"}})")
          ->reason,
      "no");
  EXPECT_THAT(changes->deletions, ElementsAre(KeyValue{"/p/192.0.2.2", "", 4}));
  EXPECT_TRUE(
      parse_changes(R"({"result":{"header":{"revision":"9"},"canceled":true,"compact_revision":"5"}})")->is_over);
  EXPECT_TRUE(parse_changes(R"({"error":{"code":14,"message":"etcdserver: no leader"}})")->is_over);
}

TEST(EtcdWire, WhatIsNoAnswerIsNone) {
  for (const char* text :
       {"", "[]", "{", "7", R"({"header":7})", R"({"header":{"revision":"x"}})", R"({"header":{"revision":1.5}})",
        R"({"header":{"revision":"1"},"kvs":[7]})", R"({"header":{"revision":"1"},"kvs":[{"key":"?"}]})",
        R"({"header":{"revision":"1"},"kvs":[{"key":"L3Av","mod_revision":"-1"}]})"})
    EXPECT_FALSE(parse_range(text)) << text;
  EXPECT_FALSE(parse_txn(R"({"header":{"revision":"1"},"responses":[{"response_put":{}}]})"));
  EXPECT_FALSE(parse_txn(
      R"({"header":{"revision":"1"},"responses":[{"response_txn":{"responses":[{"response_range":{"kvs":[0]}}]}}]})"));
  for (const char* line : {"", "{}", R"({"result":{}})", R"({"result":{"header":{"revision":"1"},"events":[{}]}})"})
    EXPECT_FALSE(parse_changes(line)) << line;
}

TEST(EtcdWire, ATokenIsOneWord) {
  EXPECT_EQ(json::parse(authenticate_body("hcpnet", "s3\"cret")), json({{"name", "hcpnet"}, {"password", "s3\"cret"}}));
  EXPECT_EQ(parse_token(R"({"header":{}, "token":"abc.12"})"), "abc.12");
  EXPECT_FALSE(parse_token(R"({"token":""})"));
  EXPECT_FALSE(parse_token(R"({"token":"a\r\nHost: b"})"));
  EXPECT_FALSE(parse_token("[]"));
}

TEST(EtcdWire, MessagesAreForPeople) {
  EXPECT_EQ(parse_message(R"({"code":9, "message":"etcdserver: authentication is not enabled"})"),
            "etcdserver: authentication is not enabled");
  EXPECT_EQ(parse_message("<html>"), "");
  EXPECT_EQ(parse_message(R"({"message":")" + std::string(1000, 'x') + "\"}").size(), 200U);
}

}  // namespace
}  // namespace hcpnet::dhcp::etcd
