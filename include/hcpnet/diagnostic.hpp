// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/assert/source_location.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet {

enum class Severity : std::uint8_t { warning, error };
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// One finding about what a user wrote, complete enough to mend it without looking anything up.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string file;          ///< as the user named it; "-" for standard input; empty for a value built in memory
  std::uint32_t line = 0;    ///< from 1, over the whole file; 0 when unknown
  std::uint32_t column = 0;  ///< from 1, in characters; 0 when unknown
  std::string path;          ///< JSON pointer (RFC 6901) from the root of the document; "" is the document itself
  std::string code;          ///< the kind of problem, stable: "unknown-field"; docs/commands.md lists them all
  std::string message;       ///< one sentence for people, with the reason and, where there is one, the remedy
  std::string found;         ///< the offending text, cut to a few words; empty when it says nothing or may be secret
  std::string expected;      ///< what would have been right; empty when the message says it all

  /// "FILE:LINE:COLUMN: error: PATH: MESSAGE (found X; expected Y) [CODE]", without the parts that are empty.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// Every finding of one run, in the order of files and lines. Bounded: beyond `max_errors` errors, or as many warnings,
/// findings are only counted.
class Diagnostics {
 public:
  static constexpr std::size_t kDefaultMaxErrors = 200;
  Diagnostics() : Diagnostics(kDefaultMaxErrors) {}
  explicit Diagnostics(std::size_t max_errors) : max_errors_(max_errors) {}

  void add(Diagnostic diagnostic);
  void append(Diagnostics other);
  /// Forgets the offending texts, where they may be secret.
  void clear_found() noexcept;
  /// Orders by file, in the order in which files were first mentioned, then by line and column; stable.
  void sort();

  [[nodiscard]] bool has_errors() const noexcept { return error_count_ > 0; }
  [[nodiscard]] std::size_t error_count() const noexcept { return error_count_; }
  [[nodiscard]] std::size_t warning_count() const noexcept { return warning_count_; }
  /// How many findings were counted but not kept.
  [[nodiscard]] std::size_t dropped_count() const noexcept { return error_count_ + warning_count_ - items_.size(); }
  [[nodiscard]] const std::vector<Diagnostic>& items() const noexcept { return items_; }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return items_.begin(); }
  [[nodiscard]] auto end() const noexcept { return items_.end(); }
  /// One line each, and a last line when some were dropped.
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<Diagnostic> items_;
  std::size_t max_errors_;
  std::size_t error_count_ = 0;
  std::size_t warning_count_ = 0;
};

/// Thrown by the convenience forms (`.value()` of a Result<T, Diagnostics>); what() holds every diagnostic.
class SpecError : public std::runtime_error {
 public:
  explicit SpecError(Diagnostics diagnostics);
  [[nodiscard]] const Diagnostics& diagnostics() const noexcept { return diagnostics_; }

 private:
  Diagnostics diagnostics_;
};
[[noreturn]] void throw_exception_from_error(const Diagnostics& diagnostics, const boost::source_location& where);

}  // namespace hcpnet
