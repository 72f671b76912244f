// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/text/patch.hpp>
#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

PatchError failure(const Json& document, const Json& patch, const PatchLimits& limits = {}) {
  const auto result = apply_json_patch(document, patch, limits);
  EXPECT_TRUE(result.has_error()) << patch;
  return result.has_error() ? result.error() : PatchError{};
}
Json patched(const char* document, const char* patch) {
  return apply_json_patch(Json::parse(document), Json::parse(patch)).value();
}

// RFC 6902 appendix A: document, patch, result; null where it must fail.
TEST(JsonPatch, ExamplesOfTheRfc) {
  const Json examples = Json::parse(R"([
    ["A.1",  {"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}],
    ["A.2",  {"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}],
    ["A.3",  {"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}],
    ["A.4",  {"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}],
    ["A.5",  {"baz": "qux", "foo": "bar"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo", "foo": "bar"}],
    ["A.6",  {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
             [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}], {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}],
    ["A.7",  {"foo": ["all", "grass", "cows", "eat"]}, [{"op": "move", "from": "/foo/1", "path": "/foo/3"}], {"foo": ["all", "cows", "eat", "grass"]}],
    ["A.8",  {"baz": "qux", "foo": ["a", 2, "c"]}, [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
             {"baz": "qux", "foo": ["a", 2, "c"]}],
    ["A.9",  {"baz": "qux"}, [{"op": "test", "path": "/baz", "value": "bar"}], null],
    ["A.10", {"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"grandchild": {}}}], {"foo": "bar", "child": {"grandchild": {}}}],
    ["A.11", {"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}],
    ["A.12", {"foo": "bar"}, [{"op": "add", "path": "/baz/bat", "value": "qux"}], null],
    ["A.14", {"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}],
    ["A.15", {"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": "10"}], null],
    ["A.16", {"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}], {"foo": ["bar", ["abc", "def"]]}]])");
  for (const Json& example : examples) {
    SCOPED_TRACE(example[0]);
    const auto result = apply_json_patch(example[1], example[2]);
    EXPECT_EQ(result.has_error(), example[3].is_null());
    if (result.has_value()) {
      EXPECT_EQ(*result, example[3]);
    }
  }
}

// MAN-08
TEST(JsonPatch, CasesOfTheField) {
  const Json vectors = Json::parse(test::read_file(test::data_path("text/MAN-08.json"))).at("vectors");
  ASSERT_EQ(vectors.size(), 13u);
  for (const Json& vector : vectors) {
    SCOPED_TRACE(vector["name"]);
    const auto result = apply_json_patch(vector["doc"], vector["patch"]);
    ASSERT_EQ(result.has_error(), vector["error"].is_string());
    if (result.has_value()) {
      EXPECT_EQ(*result, vector["expect"]);
    } else {
      EXPECT_NE(result.error().reason.find(vector["error"].get<std::string>()), std::string::npos)
          << result.error().reason;
    }
  }
}

TEST(JsonPatch, WorksOnTheWholeDocument) {
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "add", "path": "", "value": [1]}])"), Json::array({1}));
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "copy", "from": "", "path": "/b"}])"),
            Json::parse(R"({"a": 1, "b": {"a": 1}})"));
  EXPECT_EQ(patched(R"({"a": {"b": 2}})", R"([{"op": "move", "from": "/a", "path": ""}])"), Json::parse(R"({"b": 2})"));
  EXPECT_EQ(failure(Json::object(), Json::parse(R"([{"op": "remove", "path": ""}])")).code, PatchErrc::not_allowed);
}

TEST(JsonPatch, NamesTheOperationThatFailed) {
  const PatchError error =
      failure(Json::parse(R"({"a": [1]})"), Json::parse(R"([{"op": "test", "path": "/a/0", "value": 1.0},
      {"op": "copy", "from": "/a/1", "path": "/b"}])"));
  EXPECT_EQ(error.code, PatchErrc::bad_index);
  EXPECT_EQ(error.operation, 1u);
  EXPECT_EQ(error.op, "copy");
  EXPECT_EQ(error.pointer, "/a/1");
  EXPECT_EQ(error.to_string(), "operation 1 (copy /a/1): index 1 is beyond the end of the list");
  EXPECT_THROW(static_cast<void>(apply_json_patch(Json::object(), Json(1)).value()), PatchFailure);
}

TEST(JsonPatch, RefusesWhatTheRfcRefuses) {
  struct Case {
    const char* operation;
    PatchErrc code;
  };
  const Json document = Json::parse(R"({"l": [1, 2], "o": {"x": {}}, "s": "text", "n": null})");
  for (const Case& c : {Case{R"(1)", PatchErrc::malformed},
                        {R"({"path": "/l"})", PatchErrc::malformed},
                        {R"({"op": 1, "path": "/l"})", PatchErrc::malformed},
                        {R"({"op": "delete", "path": "/l"})", PatchErrc::malformed},
                        {R"({"op": "remove"})", PatchErrc::malformed},
                        {R"({"op": "remove", "path": "l"})", PatchErrc::malformed},
                        {R"({"op": "remove", "path": "/l~2"})", PatchErrc::malformed},
                        {R"({"op": "remove", "path": "/l~"})", PatchErrc::malformed},
                        {R"({"op": "move", "path": "/l"})", PatchErrc::malformed},
                        {R"({"op": "test", "path": "/l"})", PatchErrc::malformed},
                        {R"({"op": "remove", "path": "/l/-"})", PatchErrc::bad_index},
                        {R"({"op": "remove", "path": "/l/2"})", PatchErrc::bad_index},
                        {R"({"op": "remove", "path": "/l/01"})", PatchErrc::bad_index},
                        {R"({"op": "remove", "path": "/l/-1"})", PatchErrc::bad_index},
                        {R"({"op": "remove", "path": "/l/1e0"})", PatchErrc::bad_index},
                        {R"({"op": "remove", "path": "/l/99999999999999999999"})", PatchErrc::bad_index},
                        {R"({"op": "add", "path": "/l/3", "value": 1})", PatchErrc::bad_index},
                        {R"({"op": "add", "path": "/s/a", "value": 1})", PatchErrc::missing},
                        {R"({"op": "add", "path": "/n/a", "value": 1})", PatchErrc::missing},
                        {R"({"op": "add", "path": "/new/a", "value": 1})", PatchErrc::missing},
                        {R"({"op": "test", "path": "/new", "value": null})", PatchErrc::missing},
                        {R"({"op": "move", "from": "/o", "path": "/o/x/y"})", PatchErrc::not_allowed},
                        {R"({"op": "move", "from": "", "path": "/o"})", PatchErrc::not_allowed}}) {
    SCOPED_TRACE(c.operation);
    const PatchError error = failure(document, Json::array({Json::parse(c.operation)}));
    EXPECT_EQ(error.code, c.code) << error.reason;
    EXPECT_EQ(error.operation, 0u);
  }
  EXPECT_EQ(failure(document, Json::object()).operation, std::nullopt);
}

TEST(JsonPatch, IsBounded) {
  Json patch = Json::array();
  for (int i = 0; i < 60; ++i) patch.push_back({{"op", "copy"}, {"from", ""}, {"path", "/a" + std::to_string(i)}});
  EXPECT_EQ(failure(Json{{"x", "y"}}, patch, {.max_depth = 1'000}).code, PatchErrc::too_large);
  EXPECT_EQ(failure(Json{{"x", "y"}}, patch, {.max_depth = 10}).code, PatchErrc::too_large);
  EXPECT_EQ(failure(Json::object(), Json(1'001, patch[0])).code, PatchErrc::too_large);
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "/a";
  EXPECT_EQ(failure(Json::object(), Json::array({{{"op", "add"}, {"path", deep}, {"value", 1}}})).code,
            PatchErrc::too_large);
  EXPECT_EQ(failure(Json::object(), Json::array({{{"op", "add"}, {"path", "/a"}, {"value", std::string(1'000, 'x')}}}),
                    {.max_bytes = 900})
                .code,
            PatchErrc::too_large);
  // Deeper than a stack: what copies it level by level does not come back.
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');
  for (const char* op : {"add", "replace"}) {
    const Json bottomless =
        Json::parse(R"([{"op": ")" + std::string(op) + R"(", "path": "/a", "value": )" + lists + "}]");
    EXPECT_EQ(failure(Json{{"a", 1}}, bottomless).code, PatchErrc::too_large) << op;
  }
}

// MAN-10 and RFC 7396 appendix A.
TEST(MergePatch, ExamplesOfTheRfcAndCasesOfTheField) {
  Json vectors = Json::parse(test::read_file(test::data_path("text/MAN-10.json"))).at("vectors");
  ASSERT_EQ(vectors.size(), 5u);
  for (const Json& v : Json::parse(
           R"([[{"a":"b"},{"a":"c"},{"a":"c"}], [{"a":"b"},{"b":"c"},{"a":"b","b":"c"}], [{"a":"b"},{"a":null},{}],
      [{"a":"b","b":"c"},{"a":null},{"b":"c"}], [{"a":["b"]},{"a":"c"},{"a":"c"}], [{"a":"c"},{"a":["b"]},{"a":["b"]}],
      [{"a":{"b":"c"}},{"a":{"b":"d","c":null}},{"a":{"b":"d"}}], [{"a":[{"b":"c"}]},{"a":[1]},{"a":[1]}], [["a","b"],["c","d"],["c","d"]],
      [{"a":"b"},["c"],["c"]], [{"a":"foo"},null,null], [{"a":"foo"},"bar","bar"], [{"e":null},{"a":1},{"e":null,"a":1}],
      [[1,2],{"a":"b","c":null},{"a":"b"}], [{},{"a":{"bb":{"ccc":null}}},{"a":{"bb":{}}}]])"))
    vectors.push_back({{"doc", v[0]}, {"merge", v[1]}, {"expect", v[2]}});
  for (const Json& v : vectors) EXPECT_EQ(apply_merge_patch(v["doc"], v["merge"]).value(), v["expect"]) << v;
}

TEST(MergePatch, IsBounded) {
  Json deep = 1;
  for (int i = 0; i < 200; ++i) deep = Json{{"a", std::move(deep)}};
  EXPECT_EQ(apply_merge_patch(Json::object(), deep).error().code, PatchErrc::too_large);
  EXPECT_EQ(apply_merge_patch(Json("x"), Json("y"), {.max_bytes = 10}).error().code, PatchErrc::too_large);
}

}  // namespace
}  // namespace hcpnet::text
