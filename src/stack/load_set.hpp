// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/files.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet {

namespace dns {
struct Snapshot;
}  // namespace dns

/// What is kept of a file of records, to see whether it changes: its text may be as large as all that it says.
struct RecordStamp {
  std::string path;
  std::optional<std::uint64_t> digest;  ///< of its text, good in this process only; nullopt: it could not be read
  friend bool operator==(const RecordStamp&, const RecordStamp&) = default;
};

/// Everything about a set, up to what the servers are told.
struct LoadedSet {
  std::shared_ptr<const SourceFiles> files;  ///< without SourceFiles::records
  std::vector<RecordStamp> records;
  bool is_served = false;  ///< the same texts as of LoadRequest::served; what follows is empty then
  CheckedFiles checked;
  StackConfig config;
};

/// What a set is read and built from, all of it by value: that may happen on any thread.
struct LoadRequest {
  std::vector<std::string> files, observed, endpoints;
  std::vector<spec::SourceText> texts;
  ServedParts serve;
  Surroundings surroundings;
  std::shared_ptr<const SourceFiles> read_once;  ///< has what can be read once only (is_read_once()); null at the start
  std::shared_ptr<const LoadedSet> served;       ///< texts equal to its own are not looked into; null: always
  /// What each DNS server answers from, by owner: with many zones to be transferred it takes seconds to see which are
  /// the same, and to give the others their serials.
  std::map<std::string, std::shared_ptr<const dns::Snapshot>> dns_served{};
  std::uint32_t now = 0;  ///< seconds since 1970
};

struct LoadOutcome {
  Result<std::shared_ptr<LoadedSet>, Diagnostics> set;
  std::vector<std::string> record_files;  ///< that the specs name: a change of one may mend what is wrong with the set
};

/// Reads, parses, checks and builds; takes seconds where much was observed. A set that has nothing to serve is an
/// error: it would stay so, because no reload adds a server. Throws nothing but std::bad_alloc.
[[nodiscard]] LoadOutcome load_set(const LoadRequest& request);

/// The configuration of what this process serves.
[[nodiscard]] Result<StackConfig, Diagnostics> make_served_config(const CheckedFiles& checked, const ServedParts& serve,
                                                                  const Surroundings& surroundings);
/// The proxies of it alone, in the same order, where nothing but the endpoints of `surroundings` has changed since.
[[nodiscard]] Result<std::vector<ProxyServerConfig>, Diagnostics> make_served_proxies(const CheckedFiles& checked,
                                                                                      const ServedParts& serve,
                                                                                      const Surroundings& surroundings);

}  // namespace hcpnet
