// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/spec/record_files.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace hcpnet::spec {
namespace {

std::size_t key_of(const dns::Name& owner, dns::Type type) {
  return std::hash<dns::Name>{}(owner) * 65'537 + static_cast<std::size_t>(type);
}

}  // namespace

std::string record_file_path(const Origin& policy, const std::string& path) {
  const std::size_t slash = policy.file.rfind('/');
  return path.starts_with('/') || slash == std::string::npos ? path : policy.file.substr(0, slash + 1) + path;
}

std::vector<std::string> record_file_paths(const SpecSet& set) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for (const auto& [policy, origin] : set.dns_policies)
    for (const auto* files : {&policy.zone_files, &policy.hosts_files})
      for (const DNSPolicy::RecordFile& file : *files) {
        std::string path = record_file_path(origin, file.path);
        if (!file.path.empty() && seen.insert(path).second) paths.push_back(std::move(path));
      }
  return paths;
}

RecordFile::RecordFile(std::string path, dns::ZoneRecords records) : path_(std::move(path)) {
  places_.reserve(records.rrsets.size());
  for (std::size_t i = 0; i < records.rrsets.size(); ++i)
    note(records.rrsets[i].owner, records.rrsets[i].type, records.places[i]);
  sort_places();
  zone_ = dns::make_zone(std::move(records));
}

RecordFile::RecordFile(std::string path, const std::vector<dns::HostsEntry>& entries, std::uint32_t ttl)
    : path_(std::move(path)), rrsets_(dns::to_rrsets(entries, ttl)) {
  for (const dns::HostsEntry& entry : entries)
    for (const dns::Name& name : entry.names)
      note(name, entry.address.is_v4() ? dns::Type::a : dns::Type::aaaa, {entry.line, 0});
  sort_places();
}

text::Position RecordFile::position(const dns::Name& owner, dns::Type type) const {
  const auto place = std::ranges::lower_bound(places_, key_of(owner, type), {}, &Place::key);
  return place != places_.end() && place->key == key_of(owner, type) ? place->position : text::Position{};
}

void RecordFile::note(const dns::Name& owner, dns::Type type, text::Position position) {
  places_.push_back({key_of(owner, type), position});
}

void RecordFile::sort_places() {
  std::ranges::stable_sort(places_, {}, &Place::key);
}

}  // namespace hcpnet::spec
