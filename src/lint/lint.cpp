// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/lint/lint.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lint/rules.hpp"
#include "lint/suppressions.hpp"

namespace hcpnet::lint {
namespace {

/// The comment that suppresses a finding, or nullptr.
CommentSuppression* find_comment(std::vector<CommentSuppression>& comments, const Diagnostic& finding) {
  const auto found = std::ranges::find_if(comments, [&](const CommentSuppression& comment) {
    return comment.rule == finding.code && comment.file == finding.file && comment.first <= finding.line &&
           finding.line <= comment.last;
  });
  return found == comments.end() ? nullptr : &*found;
}
/// A finding about a whole file stands at no line.
bool is_about(const Suppression& suppression, const Diagnostic& finding) {
  return suppression.rule == finding.code && matches(suppression.file, finding.file);
}

class Checker {
 public:
  Checker(const std::vector<File>& files, const Options& options)
      : files_(files), options_(options), report_{Diagnostics(options.limits.max_findings), {}, files.size(), {}} {}

  Report run() {
    Reporter reporter;
    for (const File& file : files_)
      for (CommentSuppression& comment : comment_suppressions(file, reporter)) comments_.push_back(std::move(comment));
    Set set = collect(files_, options_.limits, reporter);
    for (const Family& family : families())
      if (family.check != nullptr) family.check(set, options_, reporter);
    report_.unrecognised = std::move(set.unrecognised);
    take(reporter.take());
    return std::move(report_);
  }

 private:
  void take(std::vector<Diagnostic> findings) {
    std::vector<Diagnostic> kept;
    std::vector<bool> is_used(options_.suppressions.size());
    for (Diagnostic& finding : findings) {
      if (CommentSuppression* comment = find_comment(comments_, finding)) {
        comment->is_used = true;
        report_.suppressed.push_back({std::move(finding), comment->reason, true});
        continue;
      }
      const auto given = std::ranges::find_if(
          options_.suppressions, [&](const Suppression& suppression) { return is_about(suppression, finding); });
      if (given == options_.suppressions.end()) {
        kept.push_back(std::move(finding));
        continue;
      }
      is_used[static_cast<std::size_t>(given - options_.suppressions.begin())] = true;
      report_.suppressed.push_back({std::move(finding), given->reason, false});
    }
    report_unused(is_used, kept);
    sort(kept);
    for (Diagnostic& finding : kept) report_.findings.add(std::move(finding));
  }

  void report_unused(const std::vector<bool>& is_used, std::vector<Diagnostic>& kept) {
    Reporter reporter;
    for (const CommentSuppression& comment : comments_)
      if (!comment.is_used)
        reporter.add("suppression-unused", Origin{comment.file, {}, {}, {}, {}}, {comment.line, 1}, {},
                     "nothing here is found by " + comment.rule);
    for (std::size_t i = 0; i < is_used.size(); ++i) {
      const Suppression& suppression = options_.suppressions[i];
      if (is_used[i]) continue;
      reporter.add("suppression-unused", Origin{suppression.origin, {}, {}, {}, {}}, {}, {},
                   "nothing is found by " + suppression.rule +
                       (suppression.file.empty() ? std::string() : " in " + suppression.file));
    }
    for (Diagnostic& finding : reporter.take()) kept.push_back(std::move(finding));
  }

  /// In the order in which the files were given; what is about none of them comes last.
  void sort(std::vector<Diagnostic>& findings) const {
    std::unordered_map<std::string_view, std::size_t> places;
    for (const File& file : files_) places.emplace(file.name, places.size());
    const auto place = [&](const Diagnostic& d) {
      const auto found = places.find(d.file);
      return std::tuple(found == places.end() ? places.size() : found->second, d.line, d.column);
    };
    std::ranges::stable_sort(findings, {}, place);
  }

  const std::vector<File>& files_;
  const Options& options_;
  std::vector<CommentSuppression> comments_;
  Report report_;
};

}  // namespace

bool Report::has(Severity least) const noexcept {
  return findings.error_count() > 0 || (least != Severity::error && findings.warning_count() > 0) ||
         (least == Severity::info && findings.info_count() > 0);
}

Report check(const std::vector<File>& files, const Options& options) {
  return Checker(files, options).run();
}

}  // namespace hcpnet::lint
