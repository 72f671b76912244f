// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/log.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hcpnet::proxy {

/// What an access log tells of one connection that ended.
struct AccessRecord {
  std::chrono::system_clock::time_point time;  ///< of its end
  Endpoint listener;                           ///< as configured
  Endpoint client;
  std::optional<std::string> server_name;  ///< as sent
  std::string_view rule;                   ///< to_string(Rule); empty before a decision
  std::string_view backend;                ///< empty: none was chosen
  std::optional<Endpoint> endpoint;        ///< connected, or the last that was tried
  std::uint64_t bytes_to_backend = 0;
  std::uint64_t bytes_to_client = 0;
  std::chrono::milliseconds duration{};
  std::string_view reason;  ///< of the closed set in docs/proxy.md
};

/// Name and value of every field, in the order of docs/proxy.md. What does not apply is "-"; bytes of a server name
/// other than printable ASCII, and "\", are \xHH. A name "-" is "\x2d".
[[nodiscard]] Logger::Fields fields_of(const AccessRecord& record);

/// How a record becomes a line: JSON, or text with a field wherever the template has "%{name}", and "%" for "%%".
class AccessLogFormat {
 public:
  static constexpr std::string_view kDefaultTemplate =
      "%{time} %{client} %{listener} %{sni} %{rule} %{backend} %{endpoint} %{bytes_to_backend} %{bytes_to_client} "
      "%{duration_ms} %{reason}";

  /// Text by kDefaultTemplate.
  AccessLogFormat();
  /// One JSON object: numbers are numbers, what does not apply is null.
  [[nodiscard]] static AccessLogFormat json();
  /// The error is a sentence that says what is wrong with the template: an unknown field, a "%" alone.
  [[nodiscard]] static Result<AccessLogFormat, std::string> text(std::string_view text_template);

  /// Absent: JSON.
  [[nodiscard]] std::optional<std::string> text_template() const;
  /// Without line end; a line never holds one. In text no byte of a server name can be taken for what bounds a field:
  /// those that stand in no host name or address are \xHH, and an empty name is "" (two quotes).
  [[nodiscard]] std::string render(const AccessRecord& record) const;

 private:
  struct Piece {
    std::string literal;
    std::size_t field = 0;  ///< after it; beyond the last one: none
  };
  explicit AccessLogFormat(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  bool is_json_ = false;
  std::vector<Piece> pieces_;
};

}  // namespace hcpnet::proxy
