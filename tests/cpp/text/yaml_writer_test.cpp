// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/text/yaml_writer.hpp>

#include <gtest/gtest.h>

#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "support/files.hpp"
#include "text/yaml_string.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

/// What our own reader, which refuses whatever YAML 1.1 and 1.2 read differently, makes of it.
Json read_back(const std::string& yaml) {
  const Parsed parsed = parse_yaml("f.yaml", yaml);
  Diagnostics problems = parsed.problems;
  Json json;
  if (parsed.documents.size() == 1) json = to_json(parsed.documents.front(), "f.yaml", problems);
  EXPECT_TRUE(parsed.complete && problems.empty() && parsed.documents.size() == 1) << problems.to_string() << yaml;
  return json;
}
void expect_round_trip(const Json& document) {
  const std::string yaml = render_yaml(document);
  EXPECT_EQ(read_back(yaml), document) << yaml;
  EXPECT_EQ(yaml.find(" \n"), std::string::npos) << yaml;
  EXPECT_EQ(yaml.find("\t\n"), std::string::npos) << yaml;
}
Json cases(const char* file) {
  return Json::parse(test::read_file(test::data_path(std::string("text/") + file))).at("vectors").at(0).at("strings");
}
/// `text` in every place where a string can stand.
Json everywhere(const Json& text) {
  Json document = {{"before", text},
                   {"list", Json::array({text, Json::array({text, Json{{"k", text}}}), "end"})},
                   {"z", {{"y", text}}}};
  document[text.get<std::string>()] = {{text.get<std::string>(), text}};
  return document;
}

TEST(RenderYaml, OrdersMembersForPeople) {
  const Json document =
      Json::parse(R"({"status": {}, "spec": {"b": 1, "a": [{"z": 1, "name": "x"}]}, "kind": "K", "data": {}, "abc": 1,
      "metadata": {"labels": {}, "namespace": "ns", "name": "m"}, "apiVersion": "v1"})");
  EXPECT_EQ(render_yaml(document), R"(apiVersion: v1
kind: K
metadata:
  name: m
  namespace: ns
  labels: {}
spec:
  a:
  - name: x
    z: 1
  b: 1
data: {}
abc: 1
status: {}
)");
}

TEST(RenderYaml, WritesTextOfSeveralLinesAsALiteral) {
  EXPECT_EQ(
      render_yaml(Json{
          {"data",
           {{"Corefile", ".:53 {\n  errors\n\n  forward . 192.0.2.53\n}\n"}, {"cut", "a\nb"}, {"more", "a\n\n\n"}}}}),
      R"(data:
  Corefile: |
    .:53 {
      errors

      forward . 192.0.2.53
    }
  cut: |-
    a
    b
  more: |+
    a


)");
  EXPECT_EQ(render_yaml(Json{{"l", Json::array({"  first\nsecond", "\nblank"})}}),
            "l:\n- |2-\n    first\n  second\n- |2-\n\n  blank\n");
}

TEST(RenderYaml, NestsListsAndEmptyCollections) {
  EXPECT_EQ(render_yaml(Json::parse(R"([[1, [2, {"a": []}]], {}, [], {"b": {"c": [3]}}])")), R"(- - 1
  - - 2
    - a: []
- {}
- []
- b:
    c:
    - 3
)");
}

TEST(RenderYaml, QuotesNoMoreThanNeeded) {
  for (const char* plain :
       {"v1.2", "192.0.2.1", "2001:db8::1", "10.0.0.0/24", "8Gi", "100m", "kubevirt.io/x", "--flag=2", "-f", "a:b",
        "a#b", "Always", "443-tcp", "123e4567-e89b", "x y", "~x", "\xC3\xA9"})
    EXPECT_EQ(render_yaml(Json(plain)), std::string(plain) + '\n');
  EXPECT_EQ(render_yaml(Json(R"([{"op":"add"}])")), "'[{\"op\":\"add\"}]'\n");
  EXPECT_EQ(render_yaml(Json("it's: \"x\"")), "'it''s: \"x\"'\n");
  EXPECT_EQ(render_yaml(Json("on")), "\"on\"\n");
}

TEST(RenderYaml, EscapesWhatAReaderWouldRefuseOrFold) {
  EXPECT_EQ(render_yaml(Json("a\tb\r\n\x01\x7F\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\xEF\xBF\xBF\"\\")),
            "\"a\\tb\\r\\n\\x01\\x7f\\x85\\u2028\\ufeff\\uffff\\\"\\\\\"\n");
  EXPECT_EQ(render_yaml(Json(std::string("\0", 1))), "\"\\x00\"\n");
}

TEST(RenderYaml, KeepsNumbersNumbersInBothVersions) {
  EXPECT_EQ(render_yaml(Json::parse("[0, -5, 18446744073709551615, 1.5, 1e100, 1e-7, -0.0, 100000.0, true, null]")),
            "- 0\n- -5\n- 18446744073709551615\n- 1.5\n- 1.0e+100\n- 1.0e-07\n- -0.0\n- 1.0e+05\n- true\n- null\n");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(render_yaml(Json::array({infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})),
            "- .inf\n- -.inf\n- .nan\n");
}

// MAN-01, MAN-03: strings that some reader takes for something else, and files whose content must not change.
TEST(RenderYaml, StringsOfTheFieldComeBack) {
  for (const char* file : {"MAN-01.json", "MAN-03.json"}) {
    const Json strings = cases(file);
    ASSERT_GT(strings.size(), 10u);
    for (const Json& text : strings) {
      SCOPED_TRACE(text.dump());
      expect_round_trip(everywhere(text));
      EXPECT_EQ(read_back(render_yaml(text)), text);
    }
  }
}

TEST(RenderYaml, PlainStringsAreStringsInBothVersions) {
  const Json strings = cases("MAN-01.json");
  std::mt19937 random(1);
  constexpr std::string_view kAlphabet = "0123456789aefnoxybEOT_.:+-~<=,/ #";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(1 + random() % 8, ' ');
    for (char& c : text) c = kAlphabet[random() % kAlphabet.size()];
    if (choose_yaml_style(text, true) == YamlStyle::plain) {
      EXPECT_EQ(classify_plain_scalar(text), ValueType::string) << text;
    }
  }
  for (const Json& text : strings)
    if (choose_yaml_style(text.get<std::string>(), true) == YamlStyle::plain) {
      EXPECT_EQ(classify_plain_scalar(text.get<std::string>()), ValueType::string) << text;
    }
}

TEST(RenderYaml, AnyStringComesBack) {
  const std::vector<std::string> pieces{" ", "\n", "\t", "-",        ":",        "#",   "'",   "\"", "\\", "a",
                                        "0", ".",  "\r", "{",        "|",        ">",   "&",   "*",  "!",  "%",
                                        "@", "y",  "\n", "\xC2\x85", "\xC3\xA9", "---", "...", ": ", " #", "\x01"};
  std::mt19937 random(2);
  for (int i = 0; i < 1'500; ++i) {
    std::string text;
    for (std::size_t n = random() % 7; n > 0; --n) text += pieces[random() % pieces.size()];
    SCOPED_TRACE(Json(text).dump());
    expect_round_trip(everywhere(text));
    if (HasFailure()) return;
  }
}

TEST(RenderYaml, LongKeysAreAnnounced) {
  const std::string key(1'500, 'k');
  const Json document = {{key, {{"a", 1}}}, {key + "2", Json::array({1})}, {key + "3", "x"}};
  EXPECT_TRUE(render_yaml(document).starts_with("? kkk"));
  EXPECT_EQ(read_back(render_yaml(document)), document);
}

TEST(RenderYaml, SeparatesDocuments) {
  const std::vector<Json> documents{Json{{"a", "x\n\n"}}, Json(1), Json(nullptr)};
  const std::string yaml = render_yaml_documents(documents);
  EXPECT_EQ(yaml, "a: |+\n  x\n\n---\n1\n---\nnull\n");
  EXPECT_EQ(parse_yaml("f.yaml", yaml).documents.size(), 3u);
  EXPECT_EQ(render_yaml_documents({}), "");
}

TEST(RenderYaml, RefusesBytesThatAreNoText) {
  for (const char* text : {"\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\xE2\x82"}) {
    std::string out = "kept";
    EXPECT_THROW(append_yaml(out, Json{{"a", 1}, {"b", text}}), std::invalid_argument);
    EXPECT_EQ(out, "kept");
  }
}

TEST(RenderYaml, RefusesNestingWithoutEnd) {
  Json deep = Json::array();
  for (std::size_t i = 1; i < kMaxYamlDepth; ++i) deep = Json::array({std::move(deep)});
  EXPECT_NO_THROW(static_cast<void>(render_yaml(deep)));
  deep = Json::array({Json::array({std::move(deep)})});
  EXPECT_THROW(static_cast<void>(render_yaml(deep)), std::invalid_argument);
}

}  // namespace
}  // namespace hcpnet::text
