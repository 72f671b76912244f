// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/zone_file.hpp>
#include <map>

#include "text/byte_order_mark.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";
constexpr std::size_t kMaxFoundBytes = 60;

struct Word {
  std::string_view text;
  std::uint32_t column = 0;
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  line = line.substr(0, line.find('#'));
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;
       at = line.find_first_not_of(kBlank, at)) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back({line.substr(at, end - at), static_cast<std::uint32_t>(at + 1)});
    at = end;
  }
  return words;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kMaxFoundBytes)) shown += c >= 0x20 && c < 0x7f ? c : '?';
  return shown;
}

}  // namespace

Result<std::vector<HostsEntry>, Diagnostics> parse_hosts_file(const std::string& file, std::string_view text,
                                                              const ZoneFileLimits& limits) {
  std::vector<HostsEntry> entries;
  Diagnostics problems;
  std::uint32_t line = 0;
  const auto error = [&](std::uint32_t column, const char* code, std::string message, std::string_view found = {},
                         std::string expected = {}) {
    problems.add(
        {Severity::error, file, line, column, {}, code, std::move(message), printable(found), std::move(expected)});
  };
  if (text.size() > limits.max_file_bytes) {
    error(0, "zone-too-large", "the file has more than " + std::to_string(limits.max_file_bytes) + " bytes");
    return problems;
  }
  text = text::without_byte_order_mark(text);
  std::size_t record_count = 0;
  while (!text.empty() && record_count <= limits.max_records) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<Word> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    const auto address = parse_ip_address(words[0].text);
    if (!address)
      error(words[0].column, "hosts-address", "not an address", words[0].text, "an IPv4 or IPv6 address without zone");
    if (words.size() == 1) error(words[0].column, "hosts-name", "the address has no name", words[0].text);
    HostsEntry entry{address.value_or(IpAddress{}), {}, line};
    for (const Word& word : std::span(words).subspan(1)) {
      if (auto name = parse_name(word.text); name && !name->is_root() && !name->is_wildcard())
        entry.names.push_back(std::move(*name));
      else
        error(word.column, "hosts-name", "not a host name", word.text);
    }
    record_count += entry.names.size();
    entries.push_back(std::move(entry));
  }
  if (record_count > limits.max_records)
    error(0, "zone-too-large", "more than " + std::to_string(limits.max_records) + " names");
  if (problems.has_errors()) return problems;
  return entries;
}

std::vector<RRset> to_rrsets(const std::vector<HostsEntry>& entries, std::uint32_t ttl) {
  std::vector<RRset> rrsets;
  std::map<std::pair<Name, bool>, std::size_t> index;
  for (const HostsEntry& entry : entries) {
    for (const Name& name : entry.names) {
      RRset record =
          entry.address.is_v4() ? make_a(name, entry.address.v4(), ttl) : make_aaaa(name, entry.address.v6(), ttl);
      const auto [found, is_new] = index.try_emplace({name, entry.address.is_v4()}, rrsets.size());
      if (is_new) {
        rrsets.push_back(std::move(record));
        continue;
      }
      std::vector<std::string>& known = rrsets[found->second].rdata;
      if (std::ranges::find(known, record.rdata.front()) == known.end())
        known.push_back(std::move(record.rdata.front()));
    }
  }
  return rrsets;
}

}  // namespace hcpnet::dns
