// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/text/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Zone files and hosts files that DNSPolicies name. Nothing is opened here: between load() and validate() the caller
/// reads what record_file_paths() lists.
namespace hcpnet::spec {

/// What such files may cost: what ZoneFileLimits says, and how many one list of a policy may name.
inline constexpr dns::ZoneFileLimits kZoneFileLimits{};
/// A name that no zone holds becomes a zone of its own, which costs more than a record.
inline constexpr dns::ZoneFileLimits kHostsFileLimits{
    .max_file_bytes = 16 * 1024 * 1024, .max_entry_bytes = 256 * 1024, .max_records = 100'000};
inline constexpr std::size_t kMaxRecordFiles = 64;
/// Of all files of a set that are read from disk: their texts are in memory together until the set is checked.
inline constexpr std::size_t kMaxRecordFilesBytes = 256 * 1024 * 1024;

struct RecordText {
  std::string path;  ///< as record_file_paths() has it
  std::string text;
  std::string trouble;        ///< why it could not be read; empty: it was
  bool is_too_large = false;  ///< that is why: the files of the set have more than kMaxRecordFilesBytes
};

/// How a path of a policy is opened: a relative one starts at the folder of the file that holds the policy.
[[nodiscard]] std::string record_file_path(const Origin& policy, const std::string& path);
/// Each file once, in the order of first mention.
[[nodiscard]] std::vector<std::string> record_file_paths(const SpecSet& set);

/// One file's records, ready to be served. Immutable; any thread may read it.
class RecordFile {
 public:
  /// A zone file: its zone, and the places of its RRsets.
  RecordFile(std::string path, dns::ZoneRecords records);
  /// A hosts file.
  RecordFile(std::string path, const std::vector<dns::HostsEntry>& entries, std::uint32_t ttl);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Null for a hosts file.
  [[nodiscard]] const std::shared_ptr<const dns::Zone>& zone() const noexcept { return zone_; }
  /// Of a hosts file.
  [[nodiscard]] const std::vector<dns::RRset>& rrsets() const noexcept { return rrsets_; }
  /// Where the first record of an RRset of the file stands.
  [[nodiscard]] text::Position position(const dns::Name& owner, dns::Type type) const;

 private:
  /// Names are kept as hashes: a file may have a million, and what is found here is only shown to people.
  struct Place {
    std::size_t key = 0;
    text::Position position;
  };
  void note(const dns::Name& owner, dns::Type type, text::Position position);
  void sort_places();

  std::string path_;
  std::shared_ptr<const dns::Zone> zone_;
  std::vector<dns::RRset> rrsets_;
  std::vector<Place> places_;
};

}  // namespace hcpnet::spec
