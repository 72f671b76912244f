// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/lint/lint.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Any text is a set of files, "==> NAME" in front of each. Whatever is found has a rule and can be written in every
/// form.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::lint;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<File> files{{"first", {}}};
  for (std::size_t mark = text.find("==> "); mark != std::string_view::npos; mark = text.find("==> ")) {
    files.back().text = text.substr(0, mark);
    text.remove_prefix(mark + 4);
    const std::size_t end = std::min(text.find('\n'), text.size());
    files.push_back({std::string(text.substr(0, end)), {}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  files.back().text = text;
  Options options;
  options.limits = {.max_file_bytes = 64 * 1024, .max_values = 2000, .max_findings = 20};
  const Report report = check(files, options);
  for (const hcpnet::Diagnostic& finding : report.findings)
    if (find_rule(finding.code) == nullptr) std::abort();
  if (render_text(report).empty() || render_json(report).empty() || render_sarif(report).empty()) std::abort();
  static_cast<void>(parse_suppressions("suppressions", files.front().text));
  return 0;
}
