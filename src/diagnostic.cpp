// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/diagnostic.hpp>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hcpnet {

std::string_view to_string(Severity severity) noexcept {
  return severity == Severity::error ? "error" : "warning";
}

namespace {

/// A file or a key may have any name, and a terminal obeys what it is sent.
std::string without_controls(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      shown += c;
    else
      (shown += "\\x") += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return shown;
}

}  // namespace

std::string Diagnostic::to_string() const {
  std::string text = without_controls(file);
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  if (!text.empty()) text += ": ";
  text += hcpnet::to_string(severity);
  text += ": ";
  if (!path.empty()) text += without_controls(path) + ": ";
  text += message;
  if (!found.empty() && !expected.empty())
    text += " (found " + found + "; expected " + expected + ')';
  else if (!found.empty())
    text += " (found " + found + ')';
  else if (!expected.empty())
    text += " (expected " + expected + ')';
  return text + " [" + code + ']';
}

void Diagnostics::add(Diagnostic diagnostic) {
  std::size_t& count = diagnostic.severity == Severity::error ? error_count_ : warning_count_;
  if (count++ < max_errors_) items_.push_back(std::move(diagnostic));
}

void Diagnostics::append(Diagnostics other) {
  const std::size_t errors = error_count_ + other.error_count_;
  const std::size_t warnings = warning_count_ + other.warning_count_;
  for (Diagnostic& diagnostic : other.items_) add(std::move(diagnostic));
  error_count_ = errors;  // what the other had dropped stays counted
  warning_count_ = warnings;
}

void Diagnostics::clear_found() noexcept {
  for (Diagnostic& d : items_) d.found.clear();
}

void Diagnostics::sort() {
  std::unordered_map<std::string, std::size_t> files;
  for (const Diagnostic& d : items_) files.emplace(d.file, files.size());
  const auto place = [&](const Diagnostic& d) { return std::tuple(files.at(d.file), d.line, d.column); };
  std::ranges::stable_sort(items_, {}, place);
}

std::string Diagnostics::to_string() const {
  std::string text;
  for (const Diagnostic& d : items_) text += d.to_string() + '\n';
  if (dropped_count() > 0) text += "... and " + std::to_string(dropped_count()) + " more\n";
  return text;
}

SpecError::SpecError(Diagnostics diagnostics)
    : std::runtime_error(diagnostics.to_string()), diagnostics_(std::move(diagnostics)) {}

void throw_exception_from_error(const Diagnostics& diagnostics, const boost::source_location&) {
  throw SpecError(diagnostics);
}

}  // namespace hcpnet
