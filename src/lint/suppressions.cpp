// SPDX-License-Identifier: Apache-2.0
#include "lint/suppressions.hpp"

#include <algorithm>
#include <array>
#include <hcpnet/text/yaml.hpp>
#include <limits>
#include <utility>

#include "lint/lines.hpp"

namespace hcpnet::lint {
namespace {

using text::Value;

constexpr std::string_view kMark = "# hcpnet-lint:";

bool matches_whole(std::string_view pattern, std::string_view name) {
  // Two places to come back to are enough: an earlier star could only take more than the last one.
  std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// What stands behind the mark: "ignore RULE: REASON".
bool read_comment(std::string_view text, CommentSuppression& suppression) {
  constexpr std::string_view kVerb = "ignore ";
  text = trimmed(text);
  const std::size_t colon = text.find(':');
  if (!text.starts_with(kVerb) || colon == std::string_view::npos) return false;
  suppression.rule = trimmed(text.substr(kVerb.size(), colon - kVerb.size()));
  suppression.reason = trimmed(text.substr(colon + 1));
  return !suppression.rule.empty() && !suppression.reason.empty();
}

class SuppressionReader {
 public:
  SuppressionReader(std::string_view file, std::string_view text) : file_(file), parsed_(text::parse_yaml(file, text)) {
    problems_.append(parsed_.problems);
  }

  Result<std::vector<Suppression>, Diagnostics> run() {
    if (!problems_.has_errors()) read();
    if (problems_.has_errors()) return problems_;
    return std::move(suppressions_);
  }

 private:
  void read() {
    if (parsed_.documents.empty()) return;  // a file of comments
    const Value& root = parsed_.documents.front();
    if (parsed_.documents.size() != 1 || root.type != text::ValueType::list)
      return report(root, "", "a list of {rule, file, reason} is needed");
    for (std::size_t i = 0; i < root.items.size(); ++i) read(root.items[i], text::child(std::string_view(), i));
  }

  void read(const Value& entry, const std::string& path) {
    if (entry.type != text::ValueType::map) return report(entry, path, "a mapping with rule and reason is needed");
    Suppression suppression;
    suppression.origin = file_ + ':' + std::to_string(entry.position.line);
    bool is_good = true;
    for (const text::Member& member : entry.members) {
      std::string* const field = member.key == "rule"     ? &suppression.rule
                                 : member.key == "file"   ? &suppression.file
                                 : member.key == "reason" ? &suppression.reason
                                                          : nullptr;
      const std::string at = text::child(path, member.key);
      if (field == nullptr)
        report(member.value, at, "there is no such field; rule, file and reason are known");
      else if (member.value.type != text::ValueType::string || trimmed(member.value.text).empty())
        report(member.value, at, "a text is needed here");
      else
        *field = member.value.text;
      is_good = is_good && field != nullptr && !field->empty();
    }
    if (!is_good) return;
    if (suppression.rule.empty() || suppression.reason.empty())
      return report(entry, path, "rule and reason are needed: who reads it later has to know why it is there");
    if (find_rule(suppression.rule) == nullptr) return report(entry, path, "there is no rule " + suppression.rule);
    suppressions_.push_back(std::move(suppression));
  }

  void report(const Value& value, std::string path, std::string message) {
    Diagnostic d;
    d.file = file_;
    d.line = value.position.line;
    d.column = value.position.column;
    d.path = std::move(path);
    d.code = "bad-suppression";
    d.message = std::move(message);
    problems_.add(std::move(d));
  }

  std::string file_;
  text::Parsed parsed_;
  Diagnostics problems_;
  std::vector<Suppression> suppressions_;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  if (pattern.find('/') == std::string_view::npos) name = name.substr(name.rfind('/') + 1);
  return matches_whole(pattern, name);
}

std::vector<CommentSuppression> comment_suppressions(const File& file, Reporter& reporter) {
  std::vector<CommentSuppression> found;
  if (file.text.find(kMark) == std::string::npos) return found;
  const Origin origin{file.name, {}, {}, {}, {}};
  std::uint32_t first = 1;
  std::size_t open = 0;      // the first of `found` whose document has not ended yet
  bool has_content = false;  // comments above the first "---" are about what is below it
  for (const Line& line : lines_of(file.text)) {
    if (line.text.starts_with("---") && line.text.find_first_not_of("- \t") == std::string::npos) {
      if (!std::exchange(has_content, false)) continue;
      for (; open < found.size(); ++open) found[open].last = line.number;
      first = line.number;
      continue;
    }
    const std::string_view content = trimmed(line.text);
    has_content = has_content || (!content.empty() && content.front() != '#');
    const std::size_t mark = line.text.find(kMark);
    if (mark == std::string::npos) continue;
    CommentSuppression suppression{file.name, line.number, first, std::numeric_limits<std::uint32_t>::max(), {}, {}};
    const text::Position position{line.number, static_cast<std::uint32_t>(mark + 1)};
    if (!read_comment(std::string_view(line.text).substr(mark + kMark.size()), suppression))
      reporter.add("suppression-malformed", origin, position, {}, "this is not: ignore RULE: REASON");
    else if (find_rule(suppression.rule) == nullptr)
      reporter.add("suppression-unknown", origin, position, {}, "there is no rule " + suppression.rule);
    else
      found.push_back(std::move(suppression));
  }
  return found;
}

Result<std::vector<Suppression>, Diagnostics> parse_suppressions(std::string_view file, std::string_view text) {
  return SuppressionReader(file, text).run();
}

}  // namespace hcpnet::lint
