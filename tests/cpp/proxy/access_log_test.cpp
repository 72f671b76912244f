// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <hcpnet/proxy/access_log.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::proxy {
namespace {

AccessRecord record() {
  AccessRecord r;
  r.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'042));
  r.listener = {Ipv4(192, 0, 2, 4), 443};
  r.client = {*parse_ipv6("2001:db8::9"), 50000};
  r.server_name = "a.test\n\"x";
  r.rule = "exact";
  r.backend = "blue-oauth";
  r.endpoint = Endpoint{Ipv4(10, 0, 0, 1), 6443};
  r.bytes_to_backend = 517;
  r.bytes_to_client = 12'345'678'901;
  r.duration = std::chrono::milliseconds(1500);
  r.reason = "finished";
  return r;
}

TEST(AccessLog, TextFollowsTheTemplate) {
  EXPECT_EQ(AccessLogFormat().render(record()),
            "2023-11-14T22:13:20.042Z [2001:db8::9]:50000 192.0.2.4:443 a.test\\x0a\\x22x exact blue-oauth "
            "10.0.0.1:6443 517 12345678901 1500 finished");
  EXPECT_EQ(AccessLogFormat::text("100%% %{reason}%{sni}!")->render(record()), "100% finisheda.test\\x0a\\x22x!");
  EXPECT_EQ(AccessLogFormat::text("")->render(record()), "");
}

TEST(AccessLog, TheTemplateComesBack) {
  EXPECT_EQ(AccessLogFormat().text_template(), AccessLogFormat::kDefaultTemplate);
  for (const char* given : {"", "100%% %{reason}%{sni}!", "%%%%", "%{sni}%%"})
    EXPECT_EQ(AccessLogFormat::text(given)->text_template(), given);
  EXPECT_FALSE(AccessLogFormat::json().text_template().has_value());
}

TEST(AccessLog, WhatDoesNotApplyIsADash) {
  AccessRecord r;
  r.reason = "hello_incomplete";
  EXPECT_EQ(AccessLogFormat::text("%{sni} %{rule} %{backend} %{endpoint} %{reason}")->render(r),
            "- - - - hello_incomplete");
}

TEST(AccessLog, ANameCanBeTakenForNothingElse) {
  const auto text = [](std::optional<std::string> name) {
    AccessRecord r;
    r.server_name = std::move(name);
    return AccessLogFormat::text("%{sni}")->render(r);
  };
  EXPECT_EQ(text("a exact b 10.0.0.1:443 1 1 1 finished"),
            "a\\x20exact\\x20b\\x2010.0.0.1:443\\x201\\x201\\x201\\x20finished");
  EXPECT_EQ(text("a|b\"c\\x20,d;e\t=f"), "a\\x7cb\\x22c\\x5cx20\\x2cd\\x3be\\x09\\x3df");
  EXPECT_EQ(text("*.A_b-9.test"), "*.A_b-9.test");
  EXPECT_EQ(text("[2001:db8::1]"), "[2001:db8::1]");
  EXPECT_EQ(text(std::nullopt), "-");
  EXPECT_EQ(text("-"), "\\x2d");
  EXPECT_EQ(text(""), "\"\"");
  EXPECT_EQ(text(std::string(300, 'a')), std::string(256, 'a') + "...");
  const auto json = [](std::optional<std::string> name) {
    AccessRecord r;
    r.server_name = std::move(name);
    return nlohmann::json::parse(AccessLogFormat::json().render(r)).at("sni");
  };
  EXPECT_TRUE(json(std::nullopt).is_null());
  EXPECT_EQ(json("-"), "-");
  EXPECT_EQ(json(""), "");
  EXPECT_EQ(json("a b"), "a b");
}

TEST(AccessLog, JsonIsOneObjectWithNumbers) {
  const std::string line = AccessLogFormat::json().render(record());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("bytes_to_client"), 12'345'678'901);
  EXPECT_EQ(json.at("sni"), "a.test\\x0a\"x");
  EXPECT_EQ(json.at("time"), "2023-11-14T22:13:20.042Z");
  EXPECT_EQ(json.size(), 11u);
  const auto empty = nlohmann::json::parse(AccessLogFormat::json().render({}));
  EXPECT_TRUE(empty.at("backend").is_null());
  EXPECT_EQ(empty.at("duration_ms"), 0);
}

TEST(AccessLog, ATemplateThatIsWrongSaysWhy) {
  EXPECT_EQ(AccessLogFormat::text("%{path}").error(), "there is no field \"path\"");
  for (const char* wrong : {"%", "50 %", "%sni", "%{sni", "a\nb"})
    EXPECT_TRUE(AccessLogFormat::text(wrong).has_error()) << wrong;
}

}  // namespace
}  // namespace hcpnet::proxy
