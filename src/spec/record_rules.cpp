// SPDX-License-Identifier: Apache-2.0
// Records of a DNSPolicy: each name, type and value is looked at with the spec, at its own line.
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <map>

#include "spec/rules.hpp"

namespace hcpnet::spec {
namespace {

/// But for types that a zone's own machinery makes, or that are no data (RFC 6895 section 3.1); and for DNAME: answers
/// for the names below it would have to be made up (RFC 6672), which we do not.
bool is_publishable(dns::Type type) noexcept {
  return type != dns::Type::soa && type != dns::Type::dname && dns::is_data_type(type);
}

void check_record(Subject& subject, const std::string& pointer, const DNSPolicy::Record& record) {
  if (subject.is_good(pointer + "/name") && !dns::parse_name(record.name))
    subject.error(code::bad_name, pointer + "/name", "this is no domain name");
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

}  // namespace

void check_records(Subject& subject, const std::string& list, const std::vector<DNSPolicy::Record>& records) {
  std::map<dns::Name, std::pair<bool, std::size_t>> owners;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string pointer = list + '/' + std::to_string(i);
    check_record(subject, pointer, records[i]);
    const auto owner = dns::parse_name(records[i].name);
    if (!owner || !subject.is_good(pointer + "/name") || !subject.is_good(pointer + "/type")) continue;
    const bool is_alias = dns::parse_type(records[i].type) == dns::Type::cname;
    if (is_alias && records[i].data.size() > 1)
      subject.error(code::too_many_items, pointer + "/data", "an alias has one target");
    const auto [first, is_new] = owners.emplace(*owner, std::pair{is_alias, i});
    if (!is_new && (is_alias || first->second.first))
      subject.error(code::bad_combination, pointer + "/name",
                    "an alias is alone at its name, and item " + std::to_string(first->second.second) + " has it too");
  }
}

}  // namespace hcpnet::spec
