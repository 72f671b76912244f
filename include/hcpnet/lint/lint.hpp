// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/lint/rule.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::lint {

/// Bounds of what is looked at. Passing one is a finding (`file-limit`, `nesting-limit`), but for the last, beyond
/// which findings are only counted.
struct Limits {
  std::size_t max_file_bytes = 64 * 1024 * 1024;
  std::size_t max_values = 4'000'000;  ///< in one file, as text::LoadLimits::max_nodes
  std::size_t max_nesting = 4;         ///< a file in an Ignition config in a MachineConfig is the third
  std::size_t max_findings = 1000;     ///< of each severity
};

/// What somebody has looked at and leaves as it is.
struct Suppression {
  std::string rule;
  std::string file;    ///< the name of a file, or a pattern with * for any characters; empty: every file
  std::string reason;  ///< why; never empty
  std::string origin;  ///< where it is written: "lint.yaml:3"
};

struct Options {
  /// Of the certificates' validity; without it that is not looked at.
  std::optional<std::chrono::system_clock::time_point> now;
  std::vector<Suppression> suppressions;  ///< beside those in comments
  Limits limits;
};

struct SuppressedFinding {
  Diagnostic finding;
  std::string reason;
  bool in_source = false;  ///< by a comment
};

struct Report {
  Diagnostics findings;  ///< `code` is the rule; in the order of files and lines
  std::vector<SuppressedFinding> suppressed;
  std::size_t files = 0;                  ///< that were looked at
  std::vector<std::string> unrecognised;  ///< names of those that are nothing that a rule is about

  /// Whether there is a finding of `least` or worse.
  [[nodiscard]] bool has(Severity least) const noexcept;
};

/// Looks at the files as one set: some rules are about what several of them say together, or none of them.
///
/// A comment `# hcpnet-lint: ignore RULE: REASON` suppresses the findings of a rule in the YAML document that it stands
/// in, or in the file where that is no YAML. Nothing secret is in a finding. Throws std::bad_alloc only. Thread-safe.
[[nodiscard]] Report check(const std::vector<File>& files, const Options& options = {});

/// A YAML list of {rule, file, reason}, of which `file` may be absent. Errors, one for each problem:
/// "bad-suppression" and those of text::parse_yaml().
[[nodiscard]] Result<std::vector<Suppression>, Diagnostics> parse_suppressions(std::string_view file,
                                                                               std::string_view text);

/// The report as one line for each finding and a last one with the counts.
[[nodiscard]] std::string render_text(const Report& report);
/// {"errors", "warnings", "infos", "dropped", "files", "unrecognised", "findings", "suppressed"}
[[nodiscard]] std::string render_json(const Report& report);
/// Static Analysis Results Interchange Format 2.1.0 (OASIS), with every rule and with what is suppressed.
[[nodiscard]] std::string render_sarif(const Report& report);

}  // namespace hcpnet::lint
