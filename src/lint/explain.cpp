// SPDX-License-Identifier: Apache-2.0
// Rules for people: in a terminal, and as docs/lint.md.
#include <algorithm>
#include <hcpnet/lint/rule.hpp>
#include <string>
#include <utility>

#include "lint/lines.hpp"
#include "lint/rules.hpp"

namespace hcpnet::lint {
namespace {

constexpr std::string_view kFileMark = "==> ";

std::vector<File> files_in(std::string_view text) {
  std::vector<File> files;
  if (!text.starts_with(kFileMark)) files.push_back({"example", {}});
  for (const Line& line : lines_of(text)) {
    if (line.text.starts_with(kFileMark))
      files.push_back({line.text.substr(kFileMark.size()), {}});
    else
      files.back().text += line.text + '\n';
  }
  return files;
}

std::string right_text(const Rule& rule) {
  std::string text(rule.wrong);
  const std::size_t at = rule.wrong_part.empty() ? std::string::npos : text.find(rule.wrong_part);
  return at == std::string::npos ? text : text.replace(at, rule.wrong_part.size(), rule.right_part);
}

/// The lines of both, those of the wrong one alone behind "-", those of the right one behind "+".
std::string difference(const Rule& rule) {
  const std::vector<Line> wrong = lines_of(rule.wrong), right = lines_of(right_text(rule));
  const std::size_t shorter = std::min(wrong.size(), right.size());
  std::size_t before = 0, after = 0;
  while (before < shorter && wrong[before].text == right[before].text) ++before;
  while (after < shorter - before && wrong[wrong.size() - 1 - after].text == right[right.size() - 1 - after].text)
    ++after;
  std::string text;
  const auto add = [&](char mark, const std::vector<Line>& lines, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      text += lines[i].text.empty() && mark == ' ' ? "\n" : std::string{mark, ' '} + lines[i].text + '\n';
  };
  add(' ', wrong, 0, before);
  add('-', wrong, before, wrong.size() - after);
  add('+', right, before, right.size() - after);
  add(' ', wrong, wrong.size() - after, wrong.size());
  return text;
}

/// In lines of a terminal's width.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 100;
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool fits = column == 0 || column + 1 + word.size() <= kWidth;
    if (column > 0) out += fits ? ' ' : '\n';
    column = fits && column > 0 ? column + 1 + word.size() : word.size();
    out += word;
    at = end + 1;
  }
  return out + '\n';
}

constexpr std::string_view kHead = R"(# Lint

`hcpnet lint PATH...` looks at files that somebody wrote by hand, or that another tool wrote, and says what will go wrong with them, why, and how to mend it. It
reads manifests and status patches, certificates and kubeconfigs, Ignition configs and what lies in them, MachineConfigs, haproxy.cfg, systemd units, drop-ins
of CRI-O, apiserver-url.env, shell scripts, libvirt domains and networks. What a file is shows in its content and never in its name. All paths are one set: some
rules are about what several files say together. A folder stands for every file below it.

| option | meaning |
|---|---|
| `-o text\|json\|sarif` | one line for each finding; JSON; SARIF 2.1.0, which code hosts show at the lines |
| `--fail-on error\|warning\|info` | from which severity on the exit status is 1; `error` unless given |
| `--suppressions FILE` | what to leave out, see below; repeatable |
| `--explain RULE` | prints what is below about one rule; `all` for every one |

Severities: **error**, it fails; **warning**, it works until something happens; **info**, a workaround or a choice, with its cause. Exit status: 0 good, 1
findings of `--fail-on` or worse, or a file that can't be read, 2 wrong use.

What is missing is called so only where the set is one for a whole cluster (`manifest-missing`) or where a file says that it needs the other. Objects that were
read from a cluster (they have a UID) are not taken for manifests. Nothing secret is in a finding.

## Suppressions

A comment `# hcpnet-lint: ignore RULE: REASON` suppresses the findings of one rule in the YAML document that it stands in, or in the file where that is no YAML
(PEM files may have text around their blocks). For JSON, and for what should stay as it is, a file:

```yaml
- rule: kube-proxy-workaround
  file: kube-proxy.yaml        # a name, or a pattern with *; without a slash it is about the last part; absent: every file
  reason: the lab keeps it until the network operator is replaced
```

A suppression without a reason is an error, and one that suppresses nothing a warning. SARIF has what is suppressed, with the reason.

## In code

`hcpnet::lint::check` (`hcpnet/lint/lint.hpp`) takes names and texts, `read_files` reads folders; in Python `hcpnet.lint`. Limits: 64 MiB for a file, four files
in each other, 1000 findings of each severity, 10,000 files.

## Rules

In each example the lines with `-` are wrong and those with `+` right; `==> NAME` begins another file. A certificate is written as `openssl x509 -noout -text`
names its parts.
)";

std::string escaped_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

void append_rule(std::string& page, const Rule& rule) {
  page += "\n#### " + std::string(rule.id) + "\n\n";
  page += "**" + std::string(to_string(rule.severity)) + "**: " + std::string(rule.title) + ".\n\n";
  page += "Why: " + std::string(rule.why) + "\n\nFix: " + std::string(rule.fix) +
          "\n\nSource: " + std::string(rule.source) + ".\n";
  if (!rule.wrong.empty()) page += "\n```diff\n" + difference(rule) + "```\n";
}

}  // namespace

std::vector<File> Rule::wrong_files() const {
  return files_in(wrong);
}
std::vector<File> Rule::right_files() const {
  return files_in(right_text(*this));
}

std::string explain(const Rule& rule) {
  std::string text = std::string(rule.id) + " (" + std::string(to_string(rule.severity)) + ")\n\n";
  for (const auto& [name, what] :
       {std::pair{"Finds ", rule.title}, {"Why: ", rule.why}, {"Fix: ", rule.fix}, {"Source: ", rule.source}})
    text += wrapped(name + std::string(what)) + '\n';
  if (!rule.wrong.empty()) text += difference(rule) + '\n';
  return text;
}

std::string render_documentation() {
  std::string page(kHead);
  page += "\n| rule | severity | finds |\n|---|---|---|\n";
  for (const Rule& rule : rules())
    page += "| [" + std::string(rule.id) + "](#" + std::string(rule.id) + ") | " +
            std::string(to_string(rule.severity)) + " | " + escaped_cell(rule.title) + " |\n";
  for (const Family& family : families()) {
    page += "\n### " + std::string(family.title) + "\n\n" + std::string(family.about) + '\n';
    for (const Rule& rule : family.rules) append_rule(page, rule);
  }
  return page;
}

}  // namespace hcpnet::lint
