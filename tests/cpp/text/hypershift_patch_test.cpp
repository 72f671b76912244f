// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace hcpnet::text {
namespace {

using Json = nlohmann::json;

Result<HypershiftPatched, PatchError> as_hypershift(const Json& document, const Json& patch,
                                                    std::optional<Release> release = {}) {
  return apply_hypershift_patches(document, std::span(&patch, 1), release);
}
Json data(const char* file) {
  return Json::parse(test::read_file(test::data_path(std::string("text/") + file)));
}

/// HyperShift's own words for nothing: a field that is null, empty or zero is not written.
bool is_nothing(const std::string& key, const Json& value) {
  if (value.is_object()) return value.empty() && key != "bridge" && key != "pod";
  return value.is_null() || (value.is_array() && value.empty());
}
void drop_nothing(Json& value) {
  if (value.is_array()) std::ranges::for_each(value, drop_nothing);
  if (!value.is_object()) return;
  for (auto i = value.begin(); i != value.end();) {
    drop_nothing(*i);
    i = is_nothing(i.key(), *i) ? value.erase(i) : std::next(i);
  }
}

TEST(HypershiftPatch, OperationsDoWhatItsLibraryDoes) {
  const Json vectors = data("hypershift_operations.json").at("vectors");
  ASSERT_GT(vectors.size(), 100u);
  for (const Json& v : vectors) {
    SCOPED_TRACE(v);
    const auto result = as_hypershift(v["doc"], v["patch"]);
    ASSERT_EQ(result.has_error(), v.contains("error"));
    if (result.has_value()) {
      EXPECT_EQ(result->patched, v["expect"]);
    }
  }
}

TEST(HypershiftPatch, ReadsTheResultOverTheOldTemplateAsGoDoes) {
  const Json file = data("hypershift_templates.json");
  ASSERT_GT(file["vectors"].size(), 50u);
  for (const Json& v : file["vectors"]) {
    SCOPED_TRACE(v["patch"]);
    auto result = as_hypershift(file["template"], v["patch"], parse_release(v["release"].get<std::string>()));
    ASSERT_TRUE(result.has_value()) << result.error().to_string();
    drop_nothing(result->object);
    EXPECT_EQ(result->object, v["object"]);
  }
}

// HCP-08
TEST(HypershiftPatch, MakesTheDefaultInterfaceL2Bridge) {
  const Parsed parsed = parse_yaml("HCP-08.yaml", test::read_file(test::data_path("text/HCP-08.yaml")));
  Diagnostics problems;
  const Json c = to_json(parsed.documents.at(0), "HCP-08.yaml", problems);
  ASSERT_TRUE(problems.empty());
  const Json::json_pointer interface("/spec/template/spec/domain/devices/interfaces/0");
  const auto result = as_hypershift(c["doc"], c["patch"]).value();
  EXPECT_EQ(result.patched[interface], c["expect_raw_interface"]);
  EXPECT_EQ(result.object[interface], c["expect_pruned_interface"]);
  EXPECT_EQ(apply_json_patch(c["doc"], c["patch"]).value()[interface], c["expect_raw_interface"]);
  EXPECT_FALSE(result.object.dump().find("live-migration") != std::string::npos);

  EXPECT_EQ(as_hypershift(result.patched, c["patch"]).error().operation, c["second_run_on_raw_result"]["error_at_op"]);
  EXPECT_EQ(as_hypershift(result.object, c["patch"]).error().operation,
            c["second_run_on_pruned_result"]["error_at_op"]);
  EXPECT_EQ(as_hypershift(result.patched, c["patch"]).error().pointer, c["patch"][2]["path"].get<std::string>());
}

TEST(HypershiftPatch, RemovingAnAnnotationHasNoEffectBefore419) {
  const Json vm = Json::parse(
      R"({"spec": {"template": {"metadata": {"annotations": {"a/b": "", "c": "1"}, "labels": {"l": "1"}}, "spec": {}}}})");
  const Json patch = Json::parse(R"([{"op": "remove", "path": "/spec/template/metadata/annotations/a~1b"},
                                     {"op": "remove", "path": "/spec/template/metadata/labels/l"}])");
  const Json::json_pointer annotation("/spec/template/metadata/annotations/a~1b");
  const Json::json_pointer label("/spec/template/metadata/labels/l");
  const std::string label_path = label.to_string();

  const auto old = as_hypershift(vm, patch, Release{4, 18}).value();
  EXPECT_FALSE(old.patched.contains(annotation));
  EXPECT_TRUE(old.object.contains(annotation));
  EXPECT_EQ(old.kept, (std::vector<std::string>{annotation.to_string(), label_path}));
  for (const std::optional<Release> release :
       {std::optional(Release{4, 19}), std::optional(Release{5, 0}), std::optional<Release>()}) {
    const auto recent = as_hypershift(vm, patch, release).value();
    EXPECT_FALSE(recent.object.contains(annotation));
    EXPECT_TRUE(recent.object.contains(label)) << "no release empties labels";
    EXPECT_EQ(recent.kept, std::vector<std::string>{label_path});
  }
}

TEST(HypershiftPatch, AppliesThePatchOfTheHostedClusterFirst) {
  const std::vector<Json> patches{
      Json::parse(R"([{"op": "add", "path": "/spec/template/metadata/annotations/a", "value": "cluster"}])"),
      Json::parse(R"([{"op": "test", "path": "/spec/template/metadata/annotations/a", "value": "cluster"},
                                                  {"op": "replace", "path": "/spec/template/metadata/annotations/a", "value": "pool"}])")};
  const auto result = apply_hypershift_patches(Json::object(), patches);
  EXPECT_EQ(result.value().object,
            Json::parse(R"({"spec": {"template": {"metadata": {"annotations": {"a": "pool"}}}}})"));
  const std::vector<Json> reversed{patches[1], patches[0]};
  EXPECT_EQ(apply_hypershift_patches(Json::object(), reversed).error().patch, 0u);
  const std::vector<Json> twice{patches[0], Json::array({1})};
  EXPECT_EQ(apply_hypershift_patches(Json::object(), twice).error().patch, 1u);
}

TEST(HypershiftPatch, WantsAValueWhereItsWebhookDoes) {
  const Json document = Json::parse(R"({"a": 1})");
  EXPECT_EQ(as_hypershift(document, Json::parse(R"([{"op": "move", "from": "/a", "path": "/b"}])")).error().code,
            PatchErrc::malformed);
  EXPECT_EQ(as_hypershift(document, Json::parse(R"([{"op": "move", "from": "/a", "path": "/b", "value": 0}])"))
                .value()
                .patched,
            Json::parse(R"({"b": 1})"));
}

TEST(HypershiftPatch, IsBounded) {
  EXPECT_EQ(as_hypershift(Json::object(), Json::parse(R"([{"op": "add", "path": "/l/999999999/x", "value": 1}])"))
                .error()
                .code,
            PatchErrc::too_large);
  EXPECT_EQ(
      as_hypershift(
          Json::object(),
          Json::parse(
              R"([{"op": "add", "path": "/l/900000/x", "value": 1}, {"op": "add", "path": "/m/900000/x", "value": 1}])"))
          .error()
          .code,
      PatchErrc::too_large);
}

TEST(ParseRelease, TakesTwoNumbers) {
  EXPECT_EQ(parse_release("4.19"), (Release{4, 19}));
  EXPECT_LT(*parse_release("4.9"), *parse_release("4.18"));
  for (const char* wrong : {"", "4", "4.", ".19", "4.19.1", "v4.19", "4.x", "-4.1", "4.99999999999"})
    EXPECT_EQ(parse_release(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace hcpnet::text
