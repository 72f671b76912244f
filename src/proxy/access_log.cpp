// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <hcpnet/proxy/access_log.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace hcpnet::proxy {
namespace {

struct Field {
  std::string_view name;
  bool is_number = false;
};
constexpr std::array<Field, 11> kFields{{{"time"},
                                         {"listener"},
                                         {"client"},
                                         {"sni"},
                                         {"rule"},
                                         {"backend"},
                                         {"endpoint"},
                                         {"bytes_to_backend", true},
                                         {"bytes_to_client", true},
                                         {"duration_ms", true},
                                         {"reason"}}};
constexpr std::size_t kNoField = kFields.size();

/// RFC 3339, UTC, milliseconds.
std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  std::string out(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts));
  const std::string fraction = std::to_string(milliseconds % 1000);
  return out + std::string(3 - std::min<std::size_t>(3, fraction.size()), '0') + fraction + 'Z';
}

/// Absent: the field does not apply.
using Value = std::optional<std::string>;
using Values = std::array<Value, kFields.size()>;
constexpr std::size_t kServerName = 3;
static_assert(kFields[kServerName].name == "sni");

Value unless_empty(std::string_view text) {
  return text.empty() ? Value() : Value(text);
}

/// The server name is left out.
Values values_of(const AccessRecord& r) {
  return {timestamp(r.time),
          r.listener.to_string(),
          r.client.to_string(),
          std::nullopt,
          unless_empty(r.rule),
          unless_empty(r.backend),
          r.endpoint ? Value(r.endpoint->to_string()) : Value(),
          std::to_string(r.bytes_to_backend),
          std::to_string(r.bytes_to_client),
          std::to_string(r.duration.count()),
          unless_empty(r.reason)};
}

bool may_stand_in_a_host(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._*:[]").find(c) != std::string_view::npos;
}

/// As a text line shows it: cut like printable() does.
std::string bounded_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 256;
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (name == "-") return "\\x2d";
  if (name.empty()) return "\"\"";
  std::string safe;
  for (const char c : name.substr(0, kMostBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (may_stand_in_a_host(c))
      safe += c;
    else
      safe += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  if (name.size() > kMostBytes) safe += "...";
  return safe;
}

std::string render_json(const AccessRecord& record) {
  // Built by hand, because every number is one and the order of fields is part of the contract.
  std::string line = "{";
  Values values = values_of(record);
  if (record.server_name) values[kServerName] = printable(*record.server_name);
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    line += (i == 0 ? "\"" : ",\"") + std::string(kFields[i].name) + "\":";
    if (kFields[i].is_number)
      line += values[i].value_or("0");
    else
      line += values[i] ? nlohmann::json(*values[i]).dump() : "null";
  }
  return line + '}';
}

}  // namespace

Logger::Fields fields_of(const AccessRecord& record) {
  Logger::Fields fields;
  Values values = values_of(record);
  if (record.server_name) values[kServerName] = *record.server_name == "-" ? "\\x2d" : printable(*record.server_name);
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    fields.emplace_back(kFields[i].name, values[i].value_or("-"));
    fields.back().second.is_number = kFields[i].is_number;
  }
  return fields;
}

AccessLogFormat::AccessLogFormat() {
  if (auto made = text(kDefaultTemplate)) pieces_ = std::move(made->pieces_);
}

AccessLogFormat AccessLogFormat::json() {
  AccessLogFormat format;
  format.is_json_ = true;
  return format;
}

Result<AccessLogFormat, std::string> AccessLogFormat::text(std::string_view text_template) {
  AccessLogFormat format((std::vector<Piece>()));
  if (text_template.find_first_of("\r\n") != std::string_view::npos)
    return std::string("a line of the access log is one line");
  std::string literal;
  while (!text_template.empty()) {
    const std::size_t percent = text_template.find('%');
    literal += text_template.substr(0, percent);
    if (percent == std::string_view::npos) break;
    text_template.remove_prefix(percent + 1);
    if (text_template.starts_with('%')) {
      literal += '%';
      text_template.remove_prefix(1);
      continue;
    }
    const std::size_t end = text_template.find('}');
    if (!text_template.starts_with('{') || end == std::string_view::npos)
      return std::string("\"%\" begins a field, such as %{sni}; \"%%\" is a percent sign");
    const std::string_view name = text_template.substr(1, end - 1);
    const auto field = std::ranges::find(kFields, name, &Field::name);
    if (field == kFields.end()) return "there is no field \"" + printable(name) + '"';
    format.pieces_.push_back({std::exchange(literal, {}), static_cast<std::size_t>(field - kFields.begin())});
    text_template.remove_prefix(end + 1);
  }
  if (!literal.empty()) format.pieces_.push_back({std::move(literal), kNoField});
  return format;
}

std::optional<std::string> AccessLogFormat::text_template() const {
  if (is_json_) return std::nullopt;
  std::string text;
  for (const Piece& piece : pieces_) {
    for (const char c : piece.literal) text += c == '%' ? "%%" : std::string(1, c);
    if (piece.field != kNoField) text += "%{" + std::string(kFields[piece.field].name) + '}';
  }
  return text;
}

std::string AccessLogFormat::render(const AccessRecord& record) const {
  if (is_json_) return render_json(record);
  Values values = values_of(record);
  if (record.server_name) values[kServerName] = bounded_name(*record.server_name);
  std::string line;
  for (const Piece& piece : pieces_) {
    line += piece.literal;
    if (piece.field != kNoField) line += values[piece.field].value_or("-");
  }
  return line;
}

}  // namespace hcpnet::proxy
