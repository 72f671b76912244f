// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <hcpnet/spec/codes.hpp>
#include <hcpnet/text/codes.hpp>
#include <regex>
#include <set>

#include "support/files.hpp"

namespace hcpnet::spec {
namespace {

namespace fs = std::filesystem;

std::set<std::string> declared_codes() {
  std::set<std::string> codes(code::all.begin(), code::all.end());
  codes.insert(text::code::all.begin(), text::code::all.end());
  return codes;
}

/// Everything that a pattern's first group matches in a text.
std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

std::string module_text(const std::string& folder) {
  std::string text;
  for (const std::string& name : test::file_names(fs::path(HCPNET_SOURCE_DIR) / folder))
    text += test::read_file(fs::path(HCPNET_SOURCE_DIR) / folder / name);
  return text;
}

TEST(Codes, AreExplainedOneByOneInTheDocumentation) {
  const std::string docs = test::read_file(fs::path(HCPNET_SOURCE_DIR) / "docs/spec.md");
  const std::size_t begin = docs.find("## Codes");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = docs.substr(begin, docs.find("\n## ", begin + 1) - begin);
  EXPECT_THAT(matches(section, std::regex(R"(\n\| `([a-z0-9-]+)` \|)")), testing::ContainerEq(declared_codes()));
}

// Codes reach a Diagnostic through their names only, so a name that the sources use is a code that is reported.
TEST(Codes, AreEachReportedSomewhere) {
  std::set<std::string> used;
  for (std::string name :
       matches(module_text("src/text") + module_text("src/spec"), std::regex(R"(code::([a-z_0-9]+))"))) {
    std::ranges::replace(name, '_', '-');
    used.insert(name);
  }
  EXPECT_THAT(used, testing::ContainerEq(declared_codes()));
}

TEST(Codes, AreNeverWrittenOut) {
  const std::string sources = module_text("src/text") + module_text("src/spec");
  for (const std::string& code : declared_codes()) EXPECT_EQ(sources.find('"' + code + '"'), std::string::npos) << code;
}

}  // namespace
}  // namespace hcpnet::spec
