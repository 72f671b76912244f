// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/responder.hpp>
#include <hcpnet/dns/view.hpp>
#include <hcpnet/dns/zone.hpp>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What the DNS tests share.
namespace hcpnet::test {

using Bytes = std::vector<std::uint8_t>;

inline std::string read_data(const std::string& name) {
  std::ifstream file(HCPNET_TEST_DATA "/dns/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Hexadecimal digits; everything else is skipped.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(static_cast<std::uint8_t>(high << 4 | digit));
    high = high >= 0 ? -1 : digit;
  }
  return bytes;
}

inline dns::Name name(std::string_view text) {
  return dns::parse_name(text).value();
}
inline Ipv4 ipv4(std::string_view text) {
  return *parse_ipv4(text);
}
inline Cidr cidr(std::string_view text) {
  return *parse_cidr(text);
}
inline dns::RRset a_record(std::string_view owner, std::string_view address, std::uint32_t ttl = 30) {
  return dns::make_a(name(owner), ipv4(address), ttl);
}

/// A query with RD, as stub resolvers send it.
inline dns::Message make_query(std::string_view qname, dns::Type type, std::uint16_t id = 0x1234) {
  dns::Message query;
  query.id = id;
  query.flags = dns::flag::kRecursionDesired;
  query.questions = {{name(qname), type, dns::kClassIn}};
  return query;
}

struct Answered {
  dns::Response response;
  Bytes bytes;
  dns::Message message;
};

/// What respond() says, parsed by the other, independent reader of messages.
inline Answered answer(ByteView query, const dns::QueryContext& context) {
  Answered answered;
  answered.bytes.resize(dns::kMaxMessageBytes);
  answered.response = dns::respond(query, context, answered.bytes);
  answered.bytes.resize(answered.response.bytes);
  if (answered.response.verdict != dns::Response::Verdict::reply) return answered;
  auto parsed = dns::parse_message(answered.bytes);
  EXPECT_TRUE(parsed) << "a reply that is not well-formed";
  if (parsed) answered.message = std::move(*parsed);
  return answered;
}
inline Answered answer(const dns::Message& query, const dns::QueryContext& context) {
  return answer(dns::encode_message(query).value(), context);
}

inline std::vector<std::string> addresses(const dns::Message& message) {
  std::vector<std::string> found;
  for (const dns::Record& record : message.answers) {
    if (record.type != dns::Type::a || record.rdata.size() != 4) continue;
    ByteReader reader(as_bytes(record.rdata));
    found.push_back(Ipv4(reader.u32()).to_string());
  }
  return found;
}

/// A view of everyone with these zones.
inline dns::View view_of(std::vector<std::shared_ptr<const dns::Zone>> zones, std::string_view clients = "0.0.0.0/0") {
  return {"default", {cidr(clients)}, std::move(zones)};
}

/// Reads the zone file of the field cases: one record a line, owners relative to $ORIGIN. Not a zone file parser: only
/// for this file.
std::shared_ptr<const dns::Zone> load_case_zone(const std::string& file);

}  // namespace hcpnet::test
