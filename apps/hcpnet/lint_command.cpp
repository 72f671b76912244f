// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/clock.hpp>
#include <hcpnet/lint/files.hpp>
#include <hcpnet/lint/lint.hpp>
#include <iostream>
#include <memory>

#include "command.hpp"

namespace hcpnet::app {
namespace {

struct Arguments {
  std::vector<std::string> paths, suppressions;
  std::string format = "text", fail_on = "error", rule;
};

int explain(const std::string& id) {
  const lint::Rule* rule = lint::find_rule(id);
  if (rule == nullptr && id != "all") {
    std::cerr << "hcpnet: --explain: there is no rule " << id << "; docs/lint.md lists them, and so does all\n";
    return kWrongUse;
  }
  for (const lint::Rule& known : lint::rules())
    if (rule == nullptr || rule == &known) std::cout << lint::explain(known);
  return kGood;
}

/// What the files of --suppressions hold, or nullopt when one of them is wrong, which is printed.
std::optional<std::vector<lint::Suppression>> read_suppressions(const std::vector<std::string>& paths) {
  std::vector<lint::Suppression> all;
  const auto files = lint::read_files(paths);
  if (!files) {
    print(files.error());
    return std::nullopt;
  }
  Diagnostics problems;
  for (const lint::File& file : *files) {
    const auto read = lint::parse_suppressions(file.name, file.text);
    if (read)
      all.insert(all.end(), read->begin(), read->end());
    else
      problems.append(read.error());
  }
  print(problems);
  return problems.has_errors() ? std::nullopt : std::optional(std::move(all));
}

Severity severity_of(const std::string& text) {
  if (text == "info") return Severity::info;
  return text == "warning" ? Severity::warning : Severity::error;
}

int run(const Arguments& a) {
  if (!a.rule.empty()) return explain(a.rule);
  if (a.paths.empty()) {
    std::cerr << "hcpnet: give files or folders to look at, or --explain RULE\n";
    return kWrongUse;
  }
  lint::Options options;
  options.now = system_clock().system_now();
  auto suppressions = read_suppressions(a.suppressions);
  if (!suppressions) return kProblems;
  options.suppressions = *std::move(suppressions);
  const auto files = lint::read_files(a.paths, options.limits);
  if (!files) {
    print(files.error());
    return kProblems;
  }
  const lint::Report report = lint::check(*files, options);
  std::cout << (a.format == "json"    ? lint::render_json(report)
                : a.format == "sarif" ? lint::render_sarif(report)
                                      : lint::render_text(report));
  return report.has(severity_of(a.fail_on)) ? kProblems : kGood;
}

}  // namespace

void add_lint(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "lint",
      "say what will go wrong with manifests, certificates, Ignition configs and the like, why, and how to mend it");
  command->add_option("PATH", a->paths, "files, and folders with everything below them; all together are one set")
      ->type_name("");
  command->add_option("-o", a->format, "output format")
      ->check(CLI::IsMember({"text", "json", "sarif"}))
      ->type_name("text|json|sarif");
  command->add_option("--fail-on", a->fail_on, "the severity from which on the exit status is 1; error unless given")
      ->check(CLI::IsMember({"error", "warning", "info"}))
      ->type_name("error|warning|info");
  command->add_option("--suppressions", a->suppressions, "a YAML list of {rule, file, reason} to leave out; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--explain", a->rule, "print what a rule is about, with an example; all for every rule")
      ->type_name("RULE");
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
