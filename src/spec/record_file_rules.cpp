// SPDX-License-Identifier: Apache-2.0
#include "spec/record_file_rules.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hcpnet::spec {
namespace {

const std::string kZoneFiles = "/spec/zoneFiles/";
const std::string kHostsFiles = "/spec/hostsFiles/";
/// As of one file, see dns::parse_zone_file().
constexpr std::string_view kTooLarge = "zone-too-large";

void check_view(Subject& subject, const DNSPolicy& policy, const std::string& pointer, const std::string& view) {
  const bool is_known = view == "vlan" || view == "pod" ||
                        std::ranges::find(policy.views, view, &DNSPolicy::ExtraView::name) != policy.views.end();
  if (subject.is_good(pointer) && !is_known)
    subject.error(code::bad_reference, pointer, "the policy has no such view", "vlan, pod, or a name in views");
}

std::optional<dns::Name> zone_of(const DNSPolicy::RecordFile& file) {
  if (!file.zone) return {};
  const auto name = dns::parse_name(*file.zone);
  return name && !name->is_wildcard() ? std::optional(*name) : std::nullopt;
}

/// A policy may name any file that this process can read, a key too, and its problems reach logs and pages: they say
/// where, and never what stands there.
Diagnostics without_content(Diagnostics problems) {
  problems.clear_found();
  return problems;
}

/// The file as parsed says of which zone it is, and the policy may say it too.
Diagnostic other_apex(const std::string& path, const dns::ZoneRecords& records, const Subject& subject,
                      const std::string& pointer) {
  const auto soa = std::ranges::find(records.rrsets, dns::Type::soa, &dns::RRset::type);
  const text::Position place = records.places[static_cast<std::size_t>(soa - records.rrsets.begin())];
  Diagnostic d;
  d.file = path;
  d.line = place.line;
  d.column = place.column;
  d.code = code::zone_apex;
  d.message = "this SOA is of another zone than " + subject.where(pointer) + " says";
  return d;
}

}  // namespace

RecordFiles::Key RecordFiles::zone_key(const Policy& policy, const DNSPolicy::RecordFile& file) {
  return {record_file_path(policy.origin, file.path), file.zone.value_or(""), 0};
}

RecordFiles::Key RecordFiles::hosts_key(const Policy& policy, const DNSPolicy::RecordFile& file) {
  return {record_file_path(policy.origin, file.path), "", static_cast<std::uint32_t>(policy.value.record_ttl.count())};
}

const RecordText* RecordFiles::find_text(const std::string& path, Subject& subject, const std::string& pointer) const {
  const auto text = std::ranges::find(texts_, path, &RecordText::path);
  const bool is_there = text != texts_.end();
  if (is_there && text->trouble.empty()) return &*text;
  subject.error(is_there && text->is_too_large ? kTooLarge : code::unreadable_file, pointer,
                path + (is_there ? " can't be read: " + text->trouble : " was not given beside the specs"));
  return nullptr;
}

void RecordFiles::read_zone_file(const Policy& policy, Subject& subject, std::size_t index) {
  const DNSPolicy::RecordFile& file = policy.value.zone_files[index];
  const std::string base = kZoneFiles + std::to_string(index);
  check_view(subject, policy.value, base + "/view", file.view);
  const std::optional<dns::Name> zone = zone_of(file);
  if (file.zone && !zone && subject.is_good(base + "/zone"))
    subject.error(code::bad_name, base + "/zone", "this is no domain name", "a domain, such as corp.example.com");
  if (!subject.is_good(base + "/path") || !subject.is_good(base + "/zone")) return;
  const Key key = zone_key(policy, file);
  const auto [read, is_new] = files_.try_emplace(key);
  if (!is_new) return;
  const std::string& path = std::get<0>(key);
  const RecordText* text = find_text(path, subject, base + "/path");
  if (text == nullptr) return;
  auto records = dns::parse_zone_file(path, text->text, zone, kZoneFileLimits);
  if (records.has_error()) return out_.append(without_content(records.error()));
  if (zone && records->apex != *zone) return out_.add(other_apex(path, *records, subject, base + "/zone"));
  out_.append(without_content(records->warnings));
  read->second = std::make_shared<const RecordFile>(path, std::move(*records));
}

void RecordFiles::read_hosts_file(const Policy& policy, Subject& subject, std::size_t index) {
  const DNSPolicy::RecordFile& file = policy.value.hosts_files[index];
  const std::string base = kHostsFiles + std::to_string(index);
  check_view(subject, policy.value, base + "/view", file.view);
  if (!subject.is_good(base + "/path") || !subject.is_good("/spec/recordTTLSeconds")) return;
  const Key key = hosts_key(policy, file);
  const auto [read, is_new] = files_.try_emplace(key);
  if (!is_new) return;
  const std::string& path = std::get<0>(key);
  const RecordText* text = find_text(path, subject, base + "/path");
  if (text == nullptr) return;
  const auto entries = dns::parse_hosts_file(path, text->text, kHostsFileLimits);
  if (entries.has_error()) return out_.append(without_content(entries.error()));
  read->second = std::make_shared<const RecordFile>(path, *entries, std::get<2>(key));
}

void RecordFiles::check(const Policy& policy, Subject& subject) {
  for (std::size_t i = 0; i < policy.value.zone_files.size(); ++i) read_zone_file(policy, subject, i);
  for (std::size_t i = 0; i < policy.value.hosts_files.size(); ++i) read_hosts_file(policy, subject, i);
}

std::vector<ValidDnsPolicy::FileRecords> RecordFiles::zone_files(const Policy& policy) const {
  std::vector<ValidDnsPolicy::FileRecords> found;
  for (std::size_t i = 0; i < policy.value.zone_files.size(); ++i) {
    const DNSPolicy::RecordFile& file = policy.value.zone_files[i];
    found.push_back({file.view, kZoneFiles + std::to_string(i), files_.at(zone_key(policy, file))});
  }
  return found;
}

std::vector<ValidDnsPolicy::FileRecords> RecordFiles::hosts_files(const Policy& policy) const {
  std::vector<ValidDnsPolicy::FileRecords> found;
  for (std::size_t i = 0; i < policy.value.hosts_files.size(); ++i) {
    const DNSPolicy::RecordFile& file = policy.value.hosts_files[i];
    found.push_back({file.view, kHostsFiles + std::to_string(i), files_.at(hosts_key(policy, file))});
  }
  return found;
}

}  // namespace hcpnet::spec
