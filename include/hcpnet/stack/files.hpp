// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/load.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/spec/record_files.hpp>
#include <hcpnet/spec/validate.hpp>
#include <string>
#include <vector>

namespace hcpnet {

/// Whether what a path leads to can be read once only: standard input ("-"), and descriptors that the caller gave, as a
/// shell writes them for <(command).
[[nodiscard]] bool is_read_once(const std::string& path);

/// Reads files for spec::load() and spec::load_observed(). "-" is standard input; a folder stands for the *.yaml, *.yml
/// and *.json files in it, by name, those that begin with a dot left out. Reads one byte more than
/// `limits.max_file_bytes` at most, so that load() sees the excess. Every file that can't be read is an error with code
/// "unreadable-file", and so is what is no file, such as a FIFO, but for /dev/stdin and descriptors in /dev/fd.
[[nodiscard]] Result<std::vector<spec::SourceText>, Diagnostics> read_sources(const std::vector<std::string>& paths,
                                                                              const spec::LoadLimits& limits = {});

/// A validated set together with what was observed; the front door of every command.
struct CheckedFiles {
  spec::ValidSet set;
  spec::Observed observed;
  Diagnostics warnings;  ///< of both
};

/// Texts as they were read, before anything is understood.
struct SourceFiles {
  std::vector<spec::SourceText> specs, observed, endpoints;
  /// Zone files and hosts files that the specs name.
  std::vector<spec::RecordText> records = {};
  bool are_on_disk = false;  ///< what the specs name, and is not in `records`, may be read from there
};
/// Reads the three kinds of files, the latter two up to spec::kObservedLimits. What can't be read goes to `problems`,
/// the rest is in the result. "-" more than once in all of them is an error with code "stdin-twice", and nothing is
/// read. Texts of what is_read_once() are taken from `before` if it is not null.
[[nodiscard]] SourceFiles read_source_files(const std::vector<std::string>& specs,
                                            const std::vector<std::string>& observed,
                                            const std::vector<std::string>& endpoints, Diagnostics& problems,
                                            const SourceFiles* before = nullptr);
/// Reads files of records, up to spec::kZoneFileLimits and spec::kMaxRecordFilesBytes; nothing but regular files. Waits
/// 100 ms, and a second at most for all, where one was written a moment ago: it may not be whole yet.
[[nodiscard]] std::vector<spec::RecordText> read_record_files(const std::vector<std::string>& paths);
/// `records`, unless null, gets the text of each file of records that the specs name, also when there are problems.
[[nodiscard]] Result<CheckedFiles, Diagnostics> check_files(const SourceFiles& files,
                                                            const spec::LoadLimits& limits = {},
                                                            spec::KindSet kinds = spec::KindSet::network,
                                                            std::vector<spec::RecordText>* records = nullptr);

}  // namespace hcpnet
