// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <string>
#include <string_view>
#include <vector>

/// What goes wrong with artefacts that are written by hand, found before it does. Pure: texts in, findings out.
namespace hcpnet::lint {

/// A file under the name that a finding shows. What it is shows in its content and never in its name.
struct File {
  std::string name;
  std::string text;
};

/// One thing that the lint looks for. All texts are Markdown of a sentence or a few.
struct Rule {
  std::string_view id;     ///< stable; the code of its findings
  Severity severity;       ///< info: a workaround or a choice, with its cause; warning: works, until; error: fails
  std::string_view title;  ///< what is found
  std::string_view why;    ///< what it comes to in practice
  std::string_view fix;
  std::string_view source;  ///< the code, the manual or the specification that says so
  /// An artefact with this fault and no other. Several files stand one after another, each below a line "==> NAME". A
  /// certificate is written as `openssl x509 -noout -text` names its parts; "<NAME in base64>" is what another of the
  /// files holds.
  std::string_view wrong;
  std::string_view wrong_part, right_part;  ///< the right artefact has the one where the wrong one has the other

  [[nodiscard]] std::vector<File> wrong_files() const;
  [[nodiscard]] std::vector<File> right_files() const;
};

/// Every rule, family by family.
[[nodiscard]] const std::vector<Rule>& rules();
[[nodiscard]] const Rule* find_rule(std::string_view id) noexcept;

/// All about a rule, for a terminal.
[[nodiscard]] std::string explain(const Rule& rule);
/// All about every rule: docs/lint.md.
[[nodiscard]] std::string render_documentation();

}  // namespace hcpnet::lint
