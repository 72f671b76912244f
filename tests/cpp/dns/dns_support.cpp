// SPDX-License-Identifier: Apache-2.0
#include "dns/dns_support.hpp"

#include <sstream>

namespace hcpnet::test {
namespace {

std::string number(std::uint64_t value, int bytes) {
  std::string wire;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) wire += static_cast<char>(value >> shift);
  return wire;
}

std::string wire(std::string_view text) {
  return std::string(as_text(name(text).wire()));
}

/// The one TXT string, with \" and \\ resolved.
std::string text_rdata(std::string rest) {
  rest = rest.substr(rest.find('"') + 1);
  std::string value;
  for (std::size_t i = 0; rest.at(i) != '"'; ++i) value += rest[i] == '\\' ? rest.at(++i) : rest[i];
  return static_cast<char>(value.size()) + value;
}

std::string rdata_of(const std::string& type, std::istream& rest) {
  std::string word;
  std::uint64_t value = 0;
  if (type == "TXT") {
    std::getline(rest, word);
    return text_rdata(word);
  }
  if (type == "SOA") {
    std::string rdata;
    for (int i = 0; i < 2 && rest >> word; ++i) rdata += wire(word);
    while (rest >> value) rdata += number(value, 4);
    return rdata;
  }
  if (type == "SRV") {
    std::string rdata;
    for (int i = 0; i < 3 && rest >> value; ++i) rdata += number(value, 2);
    rest >> word;
    return rdata + wire(word);
  }
  rest >> word;
  if (type == "A") return number(ipv4(word).value(), 4);
  if (type == "AAAA") return std::string(as_text(parse_ipv6(word)->bytes()));
  return wire(word);
}

dns::Type type_of(const std::string& text) {
  using dns::Type;
  for (const Type type : {Type::a, Type::ns, Type::cname, Type::soa, Type::txt, Type::aaaa, Type::srv})
    if (dns::to_string(type) == text) return type;
  ADD_FAILURE() << "type " << text;
  return Type::a;
}

}  // namespace

std::shared_ptr<const dns::Zone> load_case_zone(const std::string& file) {
  std::istringstream lines(read_data(file));
  std::string line;
  std::string origin;
  std::uint32_t ttl = 0;
  std::vector<dns::RRset> rrsets;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string owner;
    std::string in;
    std::string type;
    words >> owner;
    if (owner == "$ORIGIN") {
      words >> origin;
    } else if (owner == "$TTL") {
      words >> ttl;
    } else {
      words >> in >> type;
      const std::string full = owner == "@" ? origin : owner + '.' + origin;
      rrsets.push_back({name(full), type_of(type), ttl, {rdata_of(type, words)}});
    }
  }
  return std::make_shared<const dns::Zone>(name(origin), std::move(rrsets));
}

}  // namespace hcpnet::test
