// SPDX-License-Identifier: Apache-2.0
#include "dns/resolv_conf.hpp"

#include <algorithm>

namespace hcpnet::dns {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::uint16_t kDnsPort = 53;

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<Endpoint> parse_resolv_conf(std::string_view text, std::vector<std::string>* left_out) {
  std::vector<Endpoint> servers;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // The keyword stands at the very beginning of its line.
    if (line.empty() || kBlanks.find(line.front()) != std::string_view::npos) continue;
    if (take_word(line) != "nameserver") continue;
    const std::string_view word = take_word(line);
    const auto address = parse_ip_address(word);
    if (address && servers.size() < kMaxNameServers)
      servers.push_back({*address, kDnsPort});
    else if (!word.empty() && left_out != nullptr && left_out->size() < kMaxNameServers)
      left_out->emplace_back(word);
  }
  return servers;
}

}  // namespace hcpnet::dns
