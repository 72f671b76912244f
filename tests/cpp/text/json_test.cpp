// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/text/json.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::text {
namespace {

Diagnostic only_problem(std::string_view text, const LoadLimits& limits = {}) {
  const Parsed parsed = parse_json("f.json", text, limits);
  EXPECT_FALSE(parsed.complete) << text;
  EXPECT_TRUE(parsed.documents.empty());
  EXPECT_EQ(parsed.problems.error_count(), 1u) << text;
  return parsed.problems.empty() ? Diagnostic{} : parsed.problems.items().front();
}

TEST(ParseJson, ReadsEveryTypeWithItsPlace) {
  const Parsed parsed =
      parse_json("f.json", "{\n  \"a\": [1, -0.5e3, true, false, null,\r\n\t\"x\\/\\u00e9\"],\n  \"b\": {}\n}\n");
  ASSERT_TRUE(parsed.complete) << parsed.problems.to_string();
  const Value& root = parsed.documents.front();
  const std::vector<Value>& items = root.find("a")->items;
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(items[0].type, ValueType::integer);
  EXPECT_EQ(items[1].type, ValueType::floating);
  EXPECT_TRUE(items[2].flag);
  EXPECT_FALSE(items[3].flag);
  EXPECT_EQ(items[4].type, ValueType::null);
  EXPECT_EQ(items[5].text, "x/\xC3\xA9");
  EXPECT_EQ(root.position, (Position{1, 1}));
  EXPECT_EQ(root.find("a")->key, (Position{2, 3}));
  EXPECT_EQ(root.find("a")->position, (Position{2, 8}));
  EXPECT_EQ(items[5].position, (Position{3, 2}));
  EXPECT_EQ(root.find("b")->key, (Position{4, 3}));
}

TEST(ParseJson, CountsColumnsInCharacters) {
  const Parsed parsed = parse_json("f.json", "{\"\xC3\xA9\xE2\x82\xAC\": 1}");
  EXPECT_EQ(parsed.documents.front().members.front().value.position, (Position{1, 8}));
}

TEST(ParseJson, JoinsSurrogatePairs) {
  EXPECT_EQ(parse_json("f", R"(["\ud83d\ude00"])").documents.front().items.front().text, "\xF0\x9F\x98\x80");
}

TEST(ParseJson, RefusesWhatIsNoJson) {
  for (const char* text : {"{",
                           "[1,]",
                           "[1 2]",
                           "{\"a\" 1}",
                           "{a: 1}",
                           "{\"a\": 1,}",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "1e",
                           "+1",
                           "tru",
                           "nul",
                           "'a'",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           R"(["\ud800"])",
                           R"(["\udc00"])",
                           R"(["\ud800\u0041"])",
                           "\"a\nb\"",
                           "\"a",
                           "{} {}",
                           "[1]]",
                           "{\"a\": // c\n1}",
                           "NaN"}) {
    EXPECT_EQ(only_problem(text).code, "json-syntax") << text;
    EXPECT_FALSE(nlohmann::json::accept(text)) << text;
  }
}

TEST(ParseJson, NamesTheQuoteThatIsNeverClosed) {
  const Diagnostic problem = only_problem("{\n\"a\": \"b\n");
  EXPECT_EQ(problem.line, 2u);
}

TEST(ParseJson, HoldsItsLimits) {
  EXPECT_EQ(only_problem("[[[[1]]]]", {.max_depth = 3}).code, "depth-limit");
  EXPECT_TRUE(parse_json("f", "[[[1]]]", {.max_depth = 3}).complete);
  EXPECT_EQ(only_problem("[1,2,3]", {.max_nodes = 3}).code, "alias-limit");
  EXPECT_EQ(only_problem("[1,2,3]", {.max_file_bytes = 6}).code, "file-limit");
  EXPECT_EQ(only_problem(std::string(1'000'000, '[')).code, "depth-limit");
}

TEST(ParseJson, HasNoDocumentWhereThereIsOnlySpace) {
  const Parsed parsed = parse_json("f", " \n");
  EXPECT_TRUE(parsed.complete);
  EXPECT_TRUE(parsed.documents.empty());
}

TEST(ParseJson, RefusesEveryProperPrefixOfADocument) {
  const std::string text = R"({"a": [1, "b\n", null], "c": {"d": true}})";
  for (std::size_t n = 1; n < text.size(); ++n) EXPECT_FALSE(parse_json("f", text.substr(0, n)).complete) << n;
}

TEST(ParseJson, AgreesWithAnotherParserOnEverySingleByteChange) {
  const std::string text = R"({"a": [1, -2.5e+1, "b\u00e9\n"], "c": {"d": true, "e": null}})";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int c = 1; c < 256; ++c) {
      std::string changed = text;
      changed[i] = static_cast<char>(c);
      const Parsed parsed = parse_json("f", changed);
      const bool is_control = !parsed.complete && parsed.problems.items().front().code == "bad-character";
      if (is_control) continue;
      EXPECT_EQ(parsed.complete, nlohmann::json::accept(changed)) << changed;
    }
  }
}

}  // namespace
}  // namespace hcpnet::text
