// SPDX-License-Identifier: Apache-2.0
// Records of a DNSPolicy: each name, type and value is looked at with the spec, at its own line.
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/zone.hpp>
#include <map>
#include <utility>

#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

/// But for types that a zone's own machinery makes, or that are no data (RFC 6895 section 3.1); and for DNAME: answers
/// for the names below it would have to be made up (RFC 6672), which we do not.
bool is_publishable(dns::Type type) noexcept {
  return type != dns::Type::soa && type != dns::Type::dname && dns::is_data_type(type);
}

void check_name(Subject& subject, const std::string& pointer, const std::string& text) {
  if (!subject.is_good(pointer)) return;
  const auto name = dns::parse_name(text);
  if (!name) return subject.error(code::bad_name, pointer, "this is no domain name");
  if (name->is_root() || (name->is_wildcard() && name->label_count() == 1))
    return subject.error(code::bad_name, pointer,
                         "nobody owns the root: it would be a zone of ours, and no name be forwarded any more");
  if (name->label_count() == 1 && !text.ends_with('.'))
    subject.warning(code::bad_name, pointer,
                    "names are complete here: this is " + name->to_string() +
                        ", a name of one label; a dot at its end says that it is meant");
}

void check_record(Subject& subject, const std::string& pointer, const DNSPolicy::Record& record) {
  check_name(subject, pointer + "/name", record.name);
  if (!subject.is_good(pointer + "/type")) return;
  const auto type = dns::parse_type(record.type);
  if (!type || !is_publishable(*type))
    return subject.error(code::bad_choice, pointer + "/type", "records of this type are not published",
                         "a type of data, such as TXT or TYPE65280");
  for (std::size_t i = 0; i < record.data.size(); ++i) {
    const std::string at = pointer + "/data/" + std::to_string(i);
    if (subject.is_good(at) && !dns::parse_rdata(*type, record.data[i]))
      subject.error(code::bad_record, at, "this is no data of type " + dns::to_string(*type));
  }
}

/// Of an RRset that fits into no message nobody would get more than a part. The error is at its first item.
void check_sizes(Subject& subject, const std::string& list, const std::vector<DNSPolicy::Record>& records) {
  std::map<std::pair<dns::Name, dns::Type>, std::pair<std::size_t, dns::RRset>> sets;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto owner = dns::parse_name(records[i].name);
    const auto type = dns::parse_type(records[i].type);
    if (!owner || !type) continue;
    dns::RRset& set = sets.try_emplace({*owner, *type}, i, dns::RRset{*owner, *type, 0, {}}).first->second.second;
    for (const std::string& text : records[i].data)
      if (auto data = dns::parse_rdata(*type, text)) set.rdata.push_back(std::move(*data));
  }
  for (auto& [key, set] : sets) {
    std::vector<std::string>& data = set.second.rdata;
    std::ranges::sort(data);  // what is given twice is published once
    data.erase(std::ranges::unique(data).begin(), data.end());
    if (!dns::fits_message(set.second))
      subject.error(code::too_many_items, list + '/' + std::to_string(set.first) + "/data",
                    "what this name has of this type fits into no message",
                    std::to_string(dns::kMaxRRsetBytes) + " bytes at most, with 12 for each record");
  }
}

}  // namespace

void check_records(Subject& subject, const std::string& list, const std::vector<DNSPolicy::Record>& records,
                   std::chrono::seconds default_ttl) {
  check_sizes(subject, list, records);
  std::map<dns::Name, std::pair<bool, std::size_t>> owners;
  std::map<std::pair<dns::Name, dns::Type>, std::chrono::seconds> ttls;
  const bool is_default_good = subject.is_good("/spec/recordTTLSeconds");
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string pointer = list + '/' + std::to_string(i);
    check_record(subject, pointer, records[i]);
    const auto owner = dns::parse_name(records[i].name);
    if (!owner || !subject.is_good(pointer + "/name") || !subject.is_good(pointer + "/type")) continue;
    const dns::Type type = dns::parse_type(records[i].type).value();
    if (type == dns::Type::ns && owner->is_wildcard())
      subject.error(code::bad_combination, pointer + "/name",
                    "a wildcard has no name servers: what they would mean is undefined (RFC 4592 section 4.2)");
    const bool is_alias = type == dns::Type::cname;
    if (is_alias && records[i].data.size() > 1)
      subject.error(code::too_many_items, pointer + "/data", "an alias has one target");
    const auto [first, is_new] = owners.emplace(*owner, std::pair{is_alias, i});
    if (!is_new && (is_alias || first->second.first))
      subject.error(code::bad_combination, pointer + "/name",
                    "an alias is alone at its name, and item " + std::to_string(first->second.second) + " has it too");
    const std::string ttl_pointer = pointer + "/ttlSeconds";
    if (!subject.is_good(ttl_pointer) || (!records[i].ttl && !is_default_good)) continue;
    const std::chrono::seconds ttl = records[i].ttl.value_or(default_ttl);
    const auto [set, is_first] = ttls.emplace(std::pair(*owner, type), ttl);
    if (!is_first && set->second != ttl)
      subject.warning(code::ttl_differs, ttl_pointer,
                      "records of one owner and type have one TTL (RFC 2181 section 5.2); the smallest is taken");
  }
}

}  // namespace hcpnet::spec
