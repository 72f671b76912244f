// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "spec/subject.hpp"

namespace hcpnet::spec {

/// The files of records of a set's DNSPolicies, each parsed once for all who want the same of it.
class RecordFiles {
 public:
  RecordFiles(std::span<const RecordText> texts, Diagnostics& out) : texts_(texts), out_(out) {}

  /// What is wrong with the lists of a policy, and with the files that they name.
  void check(const SpecSet::Object<DNSPolicy>& policy, Subject& subject);
  /// Precondition for both: check() found nothing.
  [[nodiscard]] std::vector<ValidDnsPolicy::FileRecords> zone_files(const SpecSet::Object<DNSPolicy>& policy) const;
  [[nodiscard]] std::vector<ValidDnsPolicy::FileRecords> hosts_files(const SpecSet::Object<DNSPolicy>& policy) const;

 private:
  /// Path; of a zone file the zone, if one is said; of a hosts file the TTL, which no zone file has.
  using Key = std::tuple<std::string, std::string, std::uint32_t>;
  using Policy = SpecSet::Object<DNSPolicy>;

  static Key zone_key(const Policy& policy, const DNSPolicy::RecordFile& file);
  static Key hosts_key(const Policy& policy, const DNSPolicy::RecordFile& file);
  /// Null after having said why.
  const RecordText* find_text(const std::string& path, Subject& subject, const std::string& pointer) const;
  void read_zone_file(const Policy& policy, Subject& subject, std::size_t index);
  void read_hosts_file(const Policy& policy, Subject& subject, std::size_t index);

  std::span<const RecordText> texts_;
  Diagnostics& out_;
  std::map<Key, std::shared_ptr<const RecordFile>> files_;  ///< null: there was a problem, which was reported
};

}  // namespace hcpnet::spec
