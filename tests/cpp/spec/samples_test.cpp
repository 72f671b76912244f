// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

using nlohmann::json;

json expected_problems() {
  return json::parse(test::read_file(test::data_path("samples/expected.json")));
}

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const json& sample : expected_problems()) names.push_back(sample.at("file"));
  return names;
}

bool agrees(const json& expected, const Diagnostic& problem) {
  const auto is = [&](const char* field, const auto& value) {
    return expected.at(field).is_null() || expected.at(field) == value;
  };
  return is("line", problem.line) && is("column", problem.column) && is("path", problem.path) &&
         expected.at("code") == problem.code;
}

class Samples : public testing::TestWithParam<std::string> {};

TEST_P(Samples, GivesExactlyTheExpectedProblems) {
  const json samples = expected_problems();
  const auto sample = std::ranges::find_if(samples, [](const json& s) { return s.at("file") == GetParam(); });
  const auto result = check({{GetParam(), test::read_file(test::data_path("samples/" + GetParam()))}});
  EXPECT_EQ(result.has_value(), sample->at("verdict") == "accept");

  std::vector<Diagnostic> found;
  if (!result.has_value())
    for (const Diagnostic& problem : result.error())
      if (problem.severity == Severity::error) found.push_back(problem);
  for (const json& expected : sample->at("problems")) {
    const auto match =
        std::ranges::find_if(found, [&](const Diagnostic& problem) { return agrees(expected, problem); });
    EXPECT_NE(match, found.end()) << "missing: " << expected.dump();
    if (match != found.end()) found.erase(match);
  }
  for (const Diagnostic& problem : found) ADD_FAILURE() << "not expected: " << problem.to_string();
}

INSTANTIATE_TEST_SUITE_P(Shared, Samples, testing::ValuesIn(sample_names()), [](const auto& sample) {
  std::string name = sample.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(SampleFolder, IsListedWhole) {
  std::vector<std::string> files;
  for (const std::string& name : test::file_names(test::data_path("samples")))
    if (name != "expected.json") files.push_back(name);
  EXPECT_THAT(sample_names(), testing::UnorderedElementsAreArray(files));
}

}  // namespace
}  // namespace hcpnet::spec
