// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/text/json.hpp>
#include <hcpnet/text/value.hpp>

namespace hcpnet::text {
namespace {

TEST(Pointer, FindsEveryValueOfRfc6901Section5) {
  const Parsed parsed = parse_json("f.json", R"({"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, " ": 7})");
  ASSERT_TRUE(parsed.complete);
  const Value& root = parsed.documents.front();
  EXPECT_EQ(find(root, ""), &root);
  EXPECT_EQ(find(root, "/foo/0")->text, "bar");
  EXPECT_EQ(find(root, "/")->text, "0");
  EXPECT_EQ(find(root, "/a~1b")->text, "1");
  EXPECT_EQ(find(root, "/m~0n")->text, "8");
  EXPECT_EQ(find(root, "/ ")->text, "7");
}

TEST(Pointer, FindsNothingWhereNothingIs) {
  const Parsed parsed = parse_json("f.json", R"({"foo": ["bar"], "n": null})");
  const Value& root = parsed.documents.front();
  for (const char* pointer : {"/bar", "/foo/1", "/foo/-", "/foo/0x", "/foo/", "/foo/0/1", "/n/x"})
    EXPECT_EQ(find(root, pointer), nullptr) << pointer;
}

TEST(Pointer, EscapesWhatItIsMadeOf) {
  EXPECT_EQ(child("/metadata/labels", "example.com/a~b"), "/metadata/labels/example.com~1a~0b");
  EXPECT_EQ(child("/items", std::size_t{12}), "/items/12");
}

}  // namespace
}  // namespace hcpnet::text
