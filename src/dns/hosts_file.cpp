// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/zone_file.hpp>
#include <map>
#include <string>

#include "dns/found_word.hpp"
#include "dns/given_rdata.hpp"
#include "dns/host_name.hpp"
#include "text/byte_order_mark.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

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

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool is_host_label(std::string_view label) noexcept {
  const auto is_host_byte = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return std::ranges::all_of(label, is_host_byte) && !label.starts_with('-') && !label.ends_with('-');
}

/// The line that gives a name the first of these addresses.
std::uint32_t line_of(const std::vector<HostsEntry>& entries, const RRset& set) {
  const auto gives = [&](const HostsEntry& entry) {
    return entry.address.is_v4() == (set.type == Type::a) &&
           std::ranges::find(entry.names, set.owner) != entry.names.end();
  };
  const auto found = std::ranges::find_if(entries, gives);
  return found == entries.end() ? 0 : found->line;
}

}  // namespace

bool is_host_name(const Name& name) {
  const std::string text = name.to_string();
  if (name.is_root()) return false;
  std::string_view rest = text, label;
  for (; !rest.empty(); rest.remove_prefix(label.size() + 1)) {
    label = rest.substr(0, rest.find('.'));
    if (!is_host_label(label)) return false;
  }
  return name.label_count() == 1 || !std::ranges::all_of(label, is_digit);
}

Result<std::vector<HostsEntry>, Diagnostics> parse_hosts_file(const std::string& file, std::string_view text,
                                                              const ZoneFileLimits& limits) {
  std::vector<HostsEntry> entries;
  Diagnostics problems;
  std::uint32_t line = 0;
  const auto error = [&](std::uint32_t column, const char* code, std::string message, std::string_view found = {},
                         std::string expected = {}) {
    problems.add(
        {Severity::error, file, line, column, {}, code, std::move(message), found_word(found), std::move(expected)});
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
      // A backslash is no escape here.
      const bool is_plain = word.text.find('\\') == std::string_view::npos;
      if (auto name = parse_name(word.text); is_plain && name && is_host_name(*name))
        entry.names.push_back(std::move(*name));
      else
        error(word.column, "hosts-name", "not a host name", word.text,
              "letters, digits, \"-\" and \"_\" in labels, the last of several not a number");
    }
    record_count += entry.names.size();
    entries.push_back(std::move(entry));
  }
  if (record_count > limits.max_records)
    error(0, "zone-too-large", "more than " + std::to_string(limits.max_records) + " names");
  if (problems.has_errors()) return problems;
  for (const RRset& set : to_rrsets(entries, 0)) {
    if (fits_message(set)) continue;
    line = line_of(entries, set);
    error(0, "hosts-addresses", "more addresses of one name than fit into a message", set.owner.to_string());
  }
  if (problems.has_errors()) return problems;
  return entries;
}

std::vector<RRset> to_rrsets(const std::vector<HostsEntry>& entries, std::uint32_t ttl) {
  std::vector<RRset> rrsets;
  std::map<std::pair<Name, bool>, std::size_t> index;
  GivenRdata given;
  for (const HostsEntry& entry : entries) {
    for (const Name& name : entry.names) {
      RRset record =
          entry.address.is_v4() ? make_a(name, entry.address.v4(), ttl) : make_aaaa(name, entry.address.v6(), ttl);
      const auto [found, is_new] = index.try_emplace({name, entry.address.is_v4()}, rrsets.size());
      if (is_new) {
        rrsets.push_back(std::move(record));
        continue;
      }
      RRset& set = rrsets[found->second];
      if (!given.was_given(set, found->second, record.rdata.front()))
        set.rdata.push_back(std::move(record.rdata.front()));
    }
  }
  return rrsets;
}

}  // namespace hcpnet::dns
