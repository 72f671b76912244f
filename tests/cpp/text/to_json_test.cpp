// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/text/to_json.hpp>

#include <gtest/gtest.h>

#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

TEST(ToJson, KeepsEveryTypeOfValue) {
  Diagnostics problems;
  const Parsed parsed = parse_yaml("f.yaml",
                                   "{s: text, i: -5, h: 0x1F, u: 18446744073709551615, f: 1.5, e: -2.0e+3, b: true, "
                                   "'n': null, l: [1, {}], '1': key}");
  ASSERT_TRUE(parsed.complete);
  EXPECT_EQ(
      to_json(parsed.documents.at(0), "f.yaml", problems),
      Json::parse(
          R"({"s": "text", "i": -5, "h": 31, "u": 18446744073709551615, "f": 1.5, "e": -2000.0, "b": true, "n": null, "l": [1, {}], "1": "key"})"));
  EXPECT_TRUE(problems.empty()) << problems.to_string();
}

TEST(ToJson, ReportsWhatJsonCannotHold) {
  Diagnostics problems;
  const Parsed parsed = parse_yaml("f.yaml", "a: yes\nb:\n- 99999999999999999999\n- .inf\n- 1.0e+999\n");
  EXPECT_EQ(to_json(parsed.documents.at(0), "f.yaml", problems),
            Json::parse(R"({"a": null, "b": [null, null, null]})"));
  ASSERT_EQ(problems.error_count(), 4u);
  EXPECT_EQ(problems.items()[0].path, "/a");
  EXPECT_EQ(problems.items()[0].found, "yes");
  EXPECT_EQ(problems.items()[1].path, "/b/0");
  EXPECT_EQ(problems.items()[1].line, 3u);
}

TEST(ToJson, ReportsKeysThatAreNoStringToEveryReader) {
  Diagnostics problems;
  const Parsed parsed = parse_yaml("f.yaml", "a:\n  010: b\nyes: c\n1e3: d\n'no': e\n");
  static_cast<void>(to_json(parsed.documents.at(0), "f.yaml", problems));
  ASSERT_EQ(problems.error_count(), 3u) << problems.to_string();
  EXPECT_EQ(problems.items()[0].path, "/a/010");
  EXPECT_EQ(problems.items()[0].line, 2u);
  EXPECT_EQ(problems.items()[1].found, "yes");
  EXPECT_EQ(problems.items()[2].path, "/1e3");
}

}  // namespace
}  // namespace hcpnet::text
