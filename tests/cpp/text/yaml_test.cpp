// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <hcpnet/text/yaml.hpp>

namespace hcpnet::text {
namespace {

Value only_document(std::string_view text) {
  Parsed parsed = parse_yaml("f.yaml", text);
  EXPECT_TRUE(parsed.complete) << text << parsed.problems.to_string();
  EXPECT_TRUE(parsed.problems.empty()) << parsed.problems.to_string();
  EXPECT_EQ(parsed.documents.size(), 1u) << text;
  return parsed.documents.empty() ? Value{} : std::move(parsed.documents.front());
}

Diagnostic only_problem(std::string_view text, const LoadLimits& limits = {}) {
  const Parsed parsed = parse_yaml("f.yaml", text, limits);
  EXPECT_EQ(parsed.problems.error_count(), 1u) << text << parsed.problems.to_string();
  return parsed.problems.empty() ? Diagnostic{} : parsed.problems.items().front();
}

TEST(ParseYaml, GivesEachValueItsPlace) {
  const Value root = only_document("# comment\na: 1\nb:\n  - x: y\n    \"z\": &q !!str 7\n  - [p, *q]\n");
  EXPECT_EQ(root.position, (Position{2, 1}));
  EXPECT_EQ(root.find("b")->key, (Position{3, 1}));
  EXPECT_EQ(root.find("b")->position, (Position{4, 3}));
  EXPECT_EQ(find(root, "/b/0")->position, (Position{4, 5}));
  EXPECT_EQ(find(root, "/b/0/z")->key, (Position{5, 5}));
  EXPECT_EQ(find(root, "/b/0/z")->position, (Position{5, 10}));
  EXPECT_EQ(find(root, "/b/0/z")->type, ValueType::string);
  EXPECT_EQ(find(root, "/b/1/1")->position, (Position{6, 9}));  // where the alias stands
  EXPECT_EQ(find(root, "/b/1/1")->text, "7");
}

TEST(ParseYaml, CountsLinesOverAllDocumentsAndColumnsInCharacters) {
  const Parsed parsed = parse_yaml("f.yaml",
                                   "\xEF\xBB\xBF"
                                   "a: b\r\n---\r\n\"\xC3\xA9\xE2\x82\xAC\": c\r\n");
  ASSERT_EQ(parsed.documents.size(), 2u);
  EXPECT_EQ(parsed.documents[0].find("a")->position, (Position{1, 4}));
  EXPECT_EQ(parsed.documents[1].members.front().value.position, (Position{3, 7}));
}

TEST(ParseYaml, MergesWhatTheMappingDoesNotSet) {
  const Value root = only_document("base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\nmade:\n  x: 9\n  <<: [*b, *o]\n");
  const Value& made = *root.find("made");
  EXPECT_EQ(made.find("x")->text, "9");
  EXPECT_EQ(made.find("y")->text, "2");
  EXPECT_EQ(made.find("z")->text, "4");
  EXPECT_EQ(made.find("z")->key, (Position{5, 3}));  // where the merge stands
  EXPECT_EQ(made.find("<<"), nullptr);
}

TEST(ParseYaml, KeepsAQuotedMergeKeyAsAKey) {
  EXPECT_EQ(only_document("\"<<\": {a: 1}\n").members.front().key, "<<");
}

TEST(ParseYaml, RefusesAMergeOfSomethingElse) {
  EXPECT_EQ(only_problem("a: {<<: 5}\n").code, "wrong-type");
  EXPECT_EQ(only_problem("a: {<<: }\n").code, "wrong-type");
  EXPECT_EQ(only_problem("x: &x {a: 1}\ny: {<<: *x, <<: *x}\n").code, "duplicate-key");
}

TEST(ParseYaml, ReadsOnPastDuplicateKeysAndUnknownTags) {
  const Parsed parsed =
      parse_yaml("f.yaml", "a: 1\n\"a\": {b: 2}\nc: !env {d: 3}\ne: !!python/name:os\nf: !!binary aGk=\n\ng: 4\n");
  EXPECT_TRUE(parsed.complete);
  ASSERT_EQ(parsed.problems.error_count(), 4u) << parsed.problems.to_string();
  EXPECT_EQ(parsed.problems.items()[0].code, "duplicate-key");
  EXPECT_EQ(parsed.problems.items()[0].line, 2u);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(parsed.problems.items()[static_cast<std::size_t>(i)].code, "unsupported-tag");
  const Value& root = parsed.documents.front();
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("c")->type, ValueType::invalid);
  EXPECT_EQ(root.find("e")->type, ValueType::invalid);
  EXPECT_EQ(root.find("g")->text, "4");
}

TEST(ParseYaml, TakesCoreTagsWhereTheyFit) {
  const Value root = only_document(
      "a: !!str no\nb: !!int 7\nc: !!bool true\nd: !!null ~\ne: !!seq [x]\nf: !!map {x: y}\nh: !!float 1\n");
  EXPECT_EQ(root.find("a")->type, ValueType::string);
  EXPECT_EQ(root.find("b")->type, ValueType::integer);
  EXPECT_EQ(root.find("c")->type, ValueType::boolean);
  EXPECT_EQ(root.find("d")->type, ValueType::null);
  EXPECT_EQ(root.find("h")->type, ValueType::floating);
  for (const char* text :
       {"a: !!int x\n", "a: !!bool 1\n", "a: !!map [x]\n", "a: !!seq {x: y}\n", "a: !!int\n", "a: !other\nb: 1\n",
        "a: ! 010\n", "a: ! 'b'\n", "a: ! |\n  b\n", "a: ! [b]\n", "a: ! {b: c}\n"})
    EXPECT_EQ(only_problem(text).code, "unsupported-tag") << text;
}

struct SyntaxCase {
  const char* text;
  unsigned line;
};
class YamlSyntax : public testing::TestWithParam<SyntaxCase> {};

TEST_P(YamlSyntax, IsReportedAtItsLineOnce) {
  const Parsed parsed = parse_yaml("f.yaml", GetParam().text);
  EXPECT_FALSE(parsed.complete);
  EXPECT_TRUE(parsed.documents.empty());
  ASSERT_EQ(parsed.problems.error_count(), 1u);
  EXPECT_EQ(parsed.problems.items().front().code, "yaml-syntax");
  EXPECT_EQ(parsed.problems.items().front().line, GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, YamlSyntax,
    testing::Values(
        SyntaxCase{"a: \"b\nc: d\n", 1}, SyntaxCase{"a: 'b\n", 1}, SyntaxCase{"x: 1\na: 'b\nc: \"d'\ne: f\n", 2},
        SyntaxCase{"a:\n  b: \"c\n d: e\"\n", 2}, SyntaxCase{"a: &x !!str \"b\nc: d\n", 1},
        SyntaxCase{"a:\n\tb: c\n", 2}, SyntaxCase{"a: b\n\tc: d\n", 2}, SyntaxCase{"a: *x\n", 1},
        SyntaxCase{"a: b: c\n", 1}, SyntaxCase{"a: [b\nc: d\n", 2}, SyntaxCase{"a: {b: c\n", 2},
        SyntaxCase{"a: b]\n]\n", 2}, SyntaxCase{"[a]\n[b]\n", 2}, SyntaxCase{"\"a\" b\n", 1},
        SyntaxCase{"- a\n-b\n- c\n", 2}, SyntaxCase{"  a: b\n c: d\n", 2}, SyntaxCase{": a\n", 1},
        SyntaxCase{"{a: b, , c: d}\n", 1}, SyntaxCase{"[x]: y\n", 1}, SyntaxCase{"{x: y}: z\n", 1},
        SyntaxCase{"a: b\nc\n", 2}, SyntaxCase{"a:\n  b: c\n  d e\n  f: g\n", 4},
        SyntaxCase{"a:\n  \"b\"\nc: d\n  e\nf\n", 5}, SyntaxCase{"a: @b\n", 1}, SyntaxCase{"a: `b`\n", 1},
        SyntaxCase{"a: %b\n", 1}, SyntaxCase{"a: \"\\q\"\n", 1}, SyntaxCase{"%YAML 3.0\n---\na: b\n", 1},
        SyntaxCase{"a: \"x\n--- \ny\"\n", 2}, SyntaxCase{"a: b\nc: {d: -}\n", 2}, SyntaxCase{"a: [b,\n -, c]\n", 2},
        SyntaxCase{"{a: -, b: c}\n", 1}, SyntaxCase{"[-]\n", 1}, SyntaxCase{"{-: a}\n", 1},
        SyntaxCase{"{a: !!str -}\n", 1}, SyntaxCase{"{a: - }\n", 1}, SyntaxCase{"a: b\n...\nc: d\n", 3},
        SyntaxCase{"a: b\n...\n# c\n\nd: e\n", 5}, SyntaxCase{"a: {b:, c: d}\n", 1},
        SyntaxCase{"a:\n- [b,\n  fd00::]\n", 3}, SyntaxCase{"{a: b:}\n", 1}, SyntaxCase{"[a:[b]]\n", 1},
        SyntaxCase{"{a:{b: c}}\n", 1}, SyntaxCase{"a: [::/0]\n", 1}, SyntaxCase{"a: {b: :c}\n", 1},
        SyntaxCase{"{a: !!str b:}\n", 1}, SyntaxCase{"[[b], c d:]\n", 1}, SyntaxCase{"a: b\n%c: d\n", 2},
        SyntaxCase{"a: b\n---\n%YAML 1.2\n---\nc: d\n", 3}, SyntaxCase{"a: b\n...\n%YAML 1.2\n---\nc: d\n", 3},
        SyntaxCase{"--- {a: b}\n", 1}, SyntaxCase{"a: b\n--- &x\nc: d\n", 2}));

TEST(ParseYaml, TakesColonsWithinWordsAndBehindQuotes) {
  const Value root = only_document("a: [fd00::1, b:c, 'd:', \"::\", e:f]\ng: {'h':i, j: ' k:', l: fd00::/8 }\n");
  EXPECT_EQ(find(root, "/a/0")->text, "fd00::1");
  EXPECT_EQ(find(root, "/a/1")->text, "b:c");
  EXPECT_EQ(find(root, "/a/2")->text, "d:");
  EXPECT_EQ(find(root, "/a/3")->text, "::");
  EXPECT_EQ(find(root, "/g/h")->text, "i");
  EXPECT_EQ(find(root, "/g/l")->text, "fd00::/8");
}

TEST(ParseYaml, TakesDirectivesAndCommentsBeforeTheFirstDocument) {
  EXPECT_EQ(only_document("# c\n\n%YAML 1.2\n--- # d\na: '%'\nb: |\n  %c\n").find("b")->text, "%c\n");
}

TEST(ParseYaml, TakesADashInQuotesOrWithMoreBehind) {
  const Value root = only_document("a: {b: '-', c: -d, e: [\"-\", --]}\nf: -1\n");
  EXPECT_EQ(root.find("a")->find("b")->text, "-");
  EXPECT_EQ(root.find("a")->find("c")->text, "-d");
  EXPECT_EQ(root.find("a")->find("e")->items.at(0).text, "-");
  EXPECT_EQ(root.find("a")->find("e")->items.at(1).text, "--");
}

TEST(ParseYaml, TakesNullForAValueOnlyBehindAColon) {
  const Value root = only_document("a:\n\"b\" :\n'c':\n&x d: # comment\ne: {f, g: }\n");
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(root.find(key)->type, ValueType::null) << key;
  EXPECT_EQ(find(root, "/e/f")->type, ValueType::null);
}

TEST(ParseYaml, TakesQuotedTextOverSeveralLines) {
  const Value root = only_document("a: &x\n  b: \"c\n   d\n\n   e\"\n  f:\n  - 'g\n   h'\ni: {j: \"k\n   l\"}\n");
  EXPECT_EQ(find(root, "/a/b")->text, "c d\ne");
  EXPECT_EQ(find(root, "/a/f/0")->text, "g h");
  EXPECT_EQ(find(root, "/i/j")->text, "k l");
  EXPECT_EQ(only_document("\"a\nb\"\n").text, "a b");
}

TEST(ParseYaml, RefusesWhatIsNoText) {
  EXPECT_EQ(only_problem(std::string_view("a: b\nc: d\0e\n", 12)).code, "bad-character");
  EXPECT_EQ(only_problem("a: \x1B[0m\n").code, "bad-character");
  EXPECT_EQ(only_problem("a: b\rc: d\n").code, "bad-character");  // yaml-cpp would join the lines
  EXPECT_EQ(only_problem("a: \"b\xE2\x80\xA8"
                         "c\"\n")
                .code,
            "bad-character");  // ends a line in YAML 1.1 only
  EXPECT_EQ(only_problem("a: \xC2\x85\n").code, "bad-character");
  for (const char* text : {"a: \xF6\n",
                           "\xFF\xFE"
                           "a",
                           "a: \xC0\x80\n", "a: \xED\xA0\x80\n", "a: \xF4\x90\x80\x80\n", "a: \xE2\x82"})
    EXPECT_EQ(only_problem(text).code, "bad-encoding") << text;
  EXPECT_EQ(only_problem("a: b\nc: \xF6\n").line, 2u);
}

TEST(ParseYaml, HoldsItsLimits) {
  EXPECT_EQ(only_problem("a: {b: {c: [d]}}\n", {.max_depth = 3}).code, "depth-limit");
  EXPECT_TRUE(parse_yaml("f", "a: {b: [c]}\n", {.max_depth = 3}).complete);
  EXPECT_EQ(only_problem("a: &x {b: {c: d}}\ne: {f: *x}\n", {.max_depth = 3}).code, "depth-limit");
  EXPECT_EQ(only_problem("[a, b, c]\n", {.max_nodes = 3}).code, "alias-limit");
  EXPECT_EQ(only_problem("a: b\n", {.max_file_bytes = 4}).code, "file-limit");
}

TEST(ParseYaml, FindsCyclesAndForwardAliases) {
  EXPECT_EQ(only_problem("a: &x [b, *x]\n").code, "alias-cycle");
  EXPECT_EQ(only_problem("&x a: {b: *y}\n").code, "yaml-syntax");
  EXPECT_EQ(only_problem("a: &x b\n---\nc: *x\n").line, 3u);  // anchors end with their document
}

TEST(ParseYaml, ReadsABombAsQuicklyAsAnyOtherFile) {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) laughs += std::string(i > 0 ? ", " : "") + '*' + static_cast<char>(c - 1);
    laughs += "]\n";
  }
  std::string anchors, flows(200'000, '['), dashes, questions;
  for (int i = 0; i < 60; ++i) anchors += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 20'000; ++i) anchors += "x, ";
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  for (int i = 0; i < 100'000; ++i) questions += "? ";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(only_problem(laughs).code, "alias-limit");
  EXPECT_FALSE(parse_yaml("f", anchors).complete);
  EXPECT_EQ(only_problem(flows).code, "depth-limit");
  EXPECT_EQ(only_problem(dashes).code, "depth-limit");
  EXPECT_EQ(only_problem(questions).code, "depth-limit");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ParseYaml, CostsTimeInProportionOnOneLongLine) {
  std::string text = "[";
  for (int i = 0; i < 60'000; ++i) text += "abcdefgh, ";
  text += "]\n";
  const auto begin = std::chrono::steady_clock::now();
  const Parsed parsed = parse_yaml("f", text);
  EXPECT_TRUE(parsed.complete) << parsed.problems.to_string();
  EXPECT_EQ(parsed.documents.front().items.back().position, (Position{1, 599'992}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ClassifyPlainScalar, KnowsWhatBothVersionsAgreeOn) {
  for (const char* text : {"", "~", "null", "Null", "NULL"})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::null) << text;
  for (const char* text : {"true", "True", "TRUE", "false"})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::boolean) << text;
  for (const char* text : {"0", "7", "-12", "+3", "0x1F", "18446744073709552059"})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::integer) << text;
  for (const char* text : {"1.5", ".5", "1.", "-2.5e+3", ".inf", "-.INF", ".nan"})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::floating) << text;
  for (const char* text : {"a",
                           "nope",
                           "192.0.2.1",
                           "192.0.2.0/24",
                           "2001:db8::1",
                           "fd00:120::3",
                           "1h",
                           "1.2.3",
                           "02:00:00:00:00:01",
                           "-",
                           "+",
                           ".",
                           "0x",
                           "1-2",
                           "yes.example.com",
                           "8472.example.com",
                           "TRue",
                           "nULL",
                           "e3",
                           "1e",
                           "0Xg",
                           "0B2",
                           "-0O8",
                           "-x",
                           "_1",
                           "2026-01",
                           "v1.36.4"})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::string) << text;
}

TEST(ClassifyPlainScalar, KnowsWhatTheyReadDifferently) {
  for (const char* text : {"y",
                           "N",
                           "yes",
                           "No",
                           "ON",
                           "off",
                           "010",
                           "0123",
                           "08443",
                           "1e3",
                           "1.5e3",
                           "1_000",
                           "0b11",
                           "0o17",
                           "22:22",
                           "1:47:23",
                           "190:20:30.15",
                           "52:54:00:12:34:56",
                           "-0x1F",
                           "0x_f",
                           "0X1F",
                           "0B1",
                           "0O7",
                           "-0X1F",
                           "+0B1",
                           "-0o7",
                           "+0O17",
                           "0_X1f",
                           "-_1",
                           "1_0e3",
                           "1_0.5",
                           "2026-02-11",
                           "2026-02-11T07:42:09Z",
                           "<<",
                           "="})
    EXPECT_EQ(classify_plain_scalar(text), ValueType::ambiguous) << text;
}

}  // namespace
}  // namespace hcpnet::text
