// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hcpnet/diagnostic.hpp>

namespace hcpnet {
namespace {

Diagnostic at(std::string file, std::uint32_t line, Severity severity = Severity::error) {
  Diagnostic d;
  d.severity = severity;
  d.file = std::move(file);
  d.line = line;
  d.code = "unknown-field";
  d.message = "there is no such field";
  return d;
}

TEST(Diagnostic, PrintsWhatItKnows) {
  Diagnostic d = at("net.yaml", 3);
  d.column = 5;
  d.path = "/spec/cidr";
  d.found = "\"x\"";
  d.expected = "an IPv4 network";
  EXPECT_EQ(d.to_string(),
            "net.yaml:3:5: error: /spec/cidr: there is no such field (found \"x\"; expected an IPv4 network) "
            "[unknown-field]");
  d.path = "/spec/x\n\x1b[31m";
  EXPECT_THAT(d.to_string(), testing::StartsWith("net.yaml:3:5: error: /spec/x\\x0a\\x1b[31m: there is"));
  EXPECT_EQ(at("", 0, Severity::warning).to_string(), "warning: there is no such field [unknown-field]");
}

TEST(Diagnostics, CountsBeyondItsLimit) {
  Diagnostics list(2);
  for (std::uint32_t line = 5; line > 0; --line) list.add(at("a", line));
  list.add(at("a", 9, Severity::warning));
  list.add(at("a", 9, Severity::info));
  EXPECT_EQ(list.error_count(), 5u);
  EXPECT_EQ(list.warning_count(), 1u);
  EXPECT_EQ(list.info_count(), 1u);
  EXPECT_EQ(list.items().size(), 4u);
  EXPECT_EQ(list.dropped_count(), 3u);
  EXPECT_NE(list.to_string().find("3 more"), std::string::npos);
}

TEST(Diagnostics, SortsByFileThenLine) {
  Diagnostics list;
  list.add(at("b", 9));
  list.add(at("a", 4));
  list.add(at("b", 2));
  list.sort();
  EXPECT_EQ(list.items()[0].line, 2u);
  EXPECT_EQ(list.items()[1].line, 9u);
  EXPECT_EQ(list.items()[2].file, "a");
}

}  // namespace
}  // namespace hcpnet
