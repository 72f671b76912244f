// SPDX-License-Identifier: Apache-2.0
// Reports as text, JSON and SARIF.
#include <algorithm>
#include <hcpnet/lint/lint.hpp>
#include <hcpnet/version.hpp>
#include <nlohmann/json.hpp>

namespace hcpnet::lint {
namespace {

using Json = nlohmann::json;

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

/// File names may be any bytes.
std::string dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json finding_to_json(const Diagnostic& finding) {
  return {{"rule", finding.code},      {"severity", to_string(finding.severity)},
          {"file", finding.file},      {"line", finding.line},
          {"column", finding.column},  {"path", finding.path},
          {"message", finding.message}};
}

std::string_view sarif_level(Severity severity) {
  return severity == Severity::info ? "note" : to_string(severity);
}

/// RFC 3986: what is no unreserved character, and no slash, is written as %XX.
std::string to_uri(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                          c == '.' || c == '-' || c == '_' || c == '~';
    if (is_plain)
      uri += c;
    else
      (uri += '%') += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri;
}

Json sarif_rule(const Rule& rule) {
  return {{"id", rule.id},
          {"shortDescription", {{"text", rule.title}}},
          {"fullDescription", {{"text", rule.why}}},
          {"help", {{"text", rule.fix}, {"markdown", rule.fix}}},
          {"defaultConfiguration", {{"level", sarif_level(rule.severity)}}}};
}

Json sarif_result(const Diagnostic& finding) {
  const auto index = std::ranges::find(rules(), finding.code, &Rule::id) - rules().begin();
  Json location = {{"physicalLocation", {{"artifactLocation", {{"uri", to_uri(finding.file)}}}}}};
  if (finding.line > 0)
    location["physicalLocation"]["region"] = {{"startLine", finding.line},
                                              {"startColumn", std::max<std::uint32_t>(finding.column, 1)}};
  if (!finding.path.empty()) location["logicalLocations"] = Json::array({{{"fullyQualifiedName", finding.path}}});
  return {{"ruleId", finding.code},
          {"ruleIndex", index},
          {"level", sarif_level(finding.severity)},
          {"message", {{"text", finding.message}}},
          {"locations", Json::array({std::move(location)})}};
}

}  // namespace

std::string render_text(const Report& report) {
  std::string text = report.findings.to_string();
  text += counted(report.findings.error_count(), "error") + ", " + counted(report.findings.warning_count(), "warning") +
          ", " + counted(report.findings.info_count(), "info") + "; " + counted(report.files, "file") + " looked at";
  if (!report.unrecognised.empty())
    text += ", " + std::to_string(report.unrecognised.size()) + " of them nothing that a rule is about";
  if (!report.suppressed.empty()) text += "; " + counted(report.suppressed.size(), "finding") + " suppressed";
  return text + '\n';
}

std::string render_json(const Report& report) {
  Json findings = Json::array(), suppressed = Json::array();
  for (const Diagnostic& finding : report.findings) findings.push_back(finding_to_json(finding));
  for (const SuppressedFinding& entry : report.suppressed) {
    Json finding = finding_to_json(entry.finding);
    finding["reason"] = entry.reason;
    suppressed.push_back(std::move(finding));
  }
  return dump({{"errors", report.findings.error_count()},
               {"warnings", report.findings.warning_count()},
               {"infos", report.findings.info_count()},
               {"dropped", report.findings.dropped_count()},
               {"files", report.files},
               {"unrecognised", report.unrecognised},
               {"findings", std::move(findings)},
               {"suppressed", std::move(suppressed)}});
}

std::string render_sarif(const Report& report) {
  Json known = Json::array(), results = Json::array();
  for (const Rule& rule : rules()) known.push_back(sarif_rule(rule));
  for (const Diagnostic& finding : report.findings) results.push_back(sarif_result(finding));
  for (const SuppressedFinding& entry : report.suppressed) {
    Json result = sarif_result(entry.finding);
    result["suppressions"] =
        Json::array({{{"kind", entry.in_source ? "inSource" : "external"}, {"justification", entry.reason}}});
    results.push_back(std::move(result));
  }
  const Json driver = {{"name", "hcpnet lint"}, {"version", version()}, {"rules", std::move(known)}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({run})}});
}

}  // namespace hcpnet::lint
