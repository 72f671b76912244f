// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hcpnet::dhcp {
namespace {

TEST(LeaseTexts, GiveBackWhatWasSet) {
  LeaseTexts texts;
  EXPECT_EQ(texts.client_id(), "");
  EXPECT_EQ(texts.relay_information(), "");
  const std::string id("\xff\x00\x01", 3);
  texts.set(id, "", std::string(514, 'r'));
  EXPECT_EQ(texts.client_id(), id);
  EXPECT_EQ(texts.host_name(), "");
  EXPECT_EQ(texts.relay_information(), std::string(514, 'r'));
  texts.set("", "", "");
  EXPECT_EQ(texts.client_id(), "");
  EXPECT_EQ(texts.relay_information(), "");
}

TEST(LeaseTexts, AreSetFromTheirOwn) {
  LeaseTexts texts;
  texts.set("identifier", "name", "relay");
  texts.set("other", texts.host_name(), texts.relay_information());
  EXPECT_EQ(texts.client_id(), "other");
  EXPECT_EQ(texts.host_name(), "name");
  EXPECT_EQ(texts.relay_information(), "relay");
  const char* before = texts.host_name().data();
  texts.set(texts.client_id(), "name", texts.relay_information());
  EXPECT_EQ(texts.host_name().data(), before) << "a renewal says the same again";
}

}  // namespace
}  // namespace hcpnet::dhcp
