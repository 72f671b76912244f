// SPDX-License-Identifier: Apache-2.0
#include "lint/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hcpnet::lint {
namespace {

using testing::ElementsAre;

TEST(Lines, AreCountedAndJoined) {
  const auto lines = lines_of("a\r\nb \\\n c\n\nd", true);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].text, "a");
  EXPECT_EQ(lines[1].text, "b   c");
  EXPECT_EQ(lines[1].number, 2u);
  EXPECT_EQ(lines[3].number, 5u);
  EXPECT_THAT(lines_of(""), testing::IsEmpty());
}

TEST(Words, KeepWhatIsQuotedTogether) {
  EXPECT_THAT(words_of(" a 'b c'\t\"d\"e \n"), ElementsAre("a", "b c", "de"));
  EXPECT_THAT(words_of("\"never closed"), ElementsAre("never closed"));
}

TEST(Flag, HasItsValueBehindASignOrABlank) {
  const std::vector<std::string> words{"--a=1", "--b", "2", "--c", "--listen-urls=x", "--listen="};
  EXPECT_EQ(flag(words, "--a"), "1");
  EXPECT_EQ(flag(words, "--b"), "2");
  EXPECT_EQ(flag(words, "--c"), "");
  EXPECT_EQ(flag(words, "--listen"), "");
  EXPECT_EQ(flag(words, "--d"), std::nullopt);
}

TEST(Settings, HaveSectionsAndQuotes) {
  const auto settings = settings_of("# no\nKEY='a b'\n[crio.image]\npause_image = \"q@sha256:1\"\n;no\nodd\n");
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0].value, "a b");
  const Setting* image = find(settings, "crio.image", "pause_image");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->value, "q@sha256:1");
  EXPECT_EQ(image->line, 4u);
  EXPECT_EQ(find(settings, "", "pause_image"), nullptr);
}

TEST(Haproxy, HasSectionsOfDirectives) {
  const auto sections =
      haproxy_sections("global\n  maxconn 9 # few\n\nbackend api\n  server a 1.2.3.4:5 check\n# no\n");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_THAT(sections[0].directives[0].words, ElementsAre("maxconn", "9"));
  EXPECT_EQ(sections[1].name, "api");
  EXPECT_NE(sections[1].find("server", "a"), nullptr);
  EXPECT_EQ(sections[1].find("server", "b"), nullptr);
}

TEST(Tags, HaveAttributesAndLines) {
  const auto tags = tags_of("<?xml version='1.0'?>\n<!-- <boot dev='x'/> -->\n<a  b=\"1\"\n c='2'/><d>t</d>");
  ASSERT_EQ(tags.size(), 4u);
  EXPECT_EQ(tags[1].name, "a");
  EXPECT_EQ(tags[1].line, 3u);
  EXPECT_EQ(tags[1].attribute("b"), "1");
  EXPECT_EQ(tags[1].attribute("c"), "2");
  EXPECT_EQ(tags[1].attribute("e"), "");
  EXPECT_EQ(tags[3].name, "/d");
}

TEST(Tags, EndWhateverIsCutOff) {
  const std::string text = "<domain type='kvm'><!-- x --><boot dev=\"hd\"/></domain>";
  for (std::size_t n = 0; n <= text.size(); ++n) static_cast<void>(tags_of(text.substr(0, n)));
  for (const char* odd : {"<", "<>", "< a", "<a b", "<a b=", "<a b='", "<a =", "<!--", "<a b=c d='e'>"})
    static_cast<void>(tags_of(odd));
}

}  // namespace
}  // namespace hcpnet::lint
