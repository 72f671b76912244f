// SPDX-License-Identifier: Apache-2.0
#include "dhcp/etcd_wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace hcpnet::dhcp::etcd {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kMaxMessageBytes = 200;

Json number(std::int64_t value) {
  return std::to_string(value);
}

/// As etcd writes it, or as a plain number; 0 where it is left out. nullopt: something else.
std::optional<std::int64_t> number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  const auto* text = found->get_ptr<const std::string*>();
  if (text == nullptr) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

bool flag_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// nullptr: it is left out, or no list.
const Json* list_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

/// nullptr: it is left out, or no object.
const Json* object_of(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

/// For people; empty where there are none.
std::string words_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>().substr(0, kMaxMessageBytes);
}

std::optional<std::string> bytes_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::string();
  const auto* text = found->get_ptr<const std::string*>();
  return text == nullptr ? std::nullopt : parse_base64(*text);
}

std::optional<std::int64_t> revision_of(const Json& answer) {
  const Json* header = object_of(answer, "header");
  return header == nullptr ? std::nullopt : number_of(*header, "revision");
}

std::optional<KeyValue> key_value_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  auto key = bytes_of(json, "key"), value = bytes_of(json, "value");
  const auto revision = number_of(json, "mod_revision");
  if (!key || !value || !revision || *revision <= 0) return std::nullopt;
  return KeyValue{*std::move(key), *std::move(value), *revision};
}

/// Of a range's answer. False: it is none.
bool read_found(const Json& range, std::vector<KeyValue>& out) {
  const Json* list = list_of(range, "kvs");
  if (list == nullptr) return true;
  for (const Json& item : *list) {
    auto one = key_value_of(item);
    if (!one) return false;
    out.push_back(*std::move(one));
  }
  return true;
}

Json read(const std::string& key) {
  return {{"request_range", {{"key", base64(key)}}}};
}

Json write(const Put& put) {
  return {{"request_put", {{"key", base64(put.key)}, {"value", base64(put.value)}}}};
}

Json to_json(const Step& step) {
  Json txn = Json::object();
  for (const Put& put : step.puts) {
    txn["compare"].push_back({{"target", "MOD"}, {"key", base64(put.key)}, {"mod_revision", number(put.over)}});
    txn["success"].push_back(write(put));
    txn["failure"].push_back(read(put.key));
  }
  for (const std::string& key : step.reads) txn["success"].push_back(read(key));
  return {{"request_txn", std::move(txn)}};
}

std::optional<StepOutcome> step_of(const Json& response) {
  const Json* txn = object_of(response, "response_txn");
  if (txn == nullptr) return std::nullopt;
  StepOutcome out;
  out.is_written = flag_of(*txn, "succeeded");
  const Json* responses = list_of(*txn, "responses");
  if (responses == nullptr) return out;
  for (const Json& one : *responses) {
    const Json* range = object_of(one, "response_range");
    if (range != nullptr && !read_found(*range, out.found)) return std::nullopt;
  }
  return out;
}

/// A JSON object, or a value that is none.
Json parse(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : std::uint32_t{0});
    for (std::size_t j = 0; j < 4; ++j) out += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<std::uint8_t>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<std::uint8_t>(end.back()) + 1);
  return end;
}

std::string range_body(std::string_view first, std::string_view end, std::int64_t limit, std::int64_t revision) {
  Json json = {{"key", base64(first)}, {"range_end", base64(end)}, {"limit", number(limit)}};
  if (revision != 0) json["revision"] = number(revision);
  return json.dump();
}

std::optional<Range> parse_range(std::string_view text) {
  const Json json = parse(text);
  const auto revision = revision_of(json);
  if (!revision) return std::nullopt;
  Range out;
  out.revision = *revision;
  out.has_more = flag_of(json, "more");
  if (!read_found(json, out.found)) return std::nullopt;
  return out;
}

std::string txn_body(std::span<const Step> steps) {
  Json json = {{"success", Json::array()}};
  for (const Step& step : steps) json["success"].push_back(to_json(step));
  return json.dump();
}

std::optional<Txn> parse_txn(std::string_view text) {
  const Json json = parse(text);
  const auto revision = revision_of(json);
  if (!revision) return std::nullopt;
  Txn out;
  out.revision = *revision;
  const Json* responses = list_of(json, "responses");
  if (responses == nullptr) return out;
  for (const Json& response : *responses) {
    auto step = step_of(response);
    if (!step) return std::nullopt;
    out.steps.push_back(*std::move(step));
  }
  return out;
}

std::string watch_body(std::string_view prefix, std::int64_t first_revision) {
  const Json json = {{"create_request",
                      {{"key", base64(prefix)},
                       {"range_end", base64(end_of(prefix))},
                       {"start_revision", number(first_revision)},
                       {"fragment", true}}}};
  return json.dump();
}

std::optional<Changes> parse_changes(std::string_view line) {
  const Json json = parse(line);
  if (!json.is_object()) return std::nullopt;
  Changes out;
  if (json.contains("error")) {
    out.is_over = true;
    if (const Json* error = object_of(json, "error")) out.reason = words_of(*error, "message");
    return out;
  }
  const Json* result = object_of(json, "result");
  if (result == nullptr) return std::nullopt;
  const auto revision = revision_of(*result);
  if (!revision) return std::nullopt;
  out.revision = *revision;
  out.is_created = flag_of(*result, "created");
  out.has_more = flag_of(*result, "fragment");
  out.is_over = flag_of(*result, "canceled");
  out.reason = words_of(*result, "cancel_reason");
  const Json* events = list_of(*result, "events");
  if (events == nullptr) return out;
  for (const Json& event : *events) {
    const Json* kv = object_of(event, "kv");
    auto one = kv == nullptr ? std::nullopt : key_value_of(*kv);
    if (!one) return std::nullopt;
    const auto type = event.find("type");
    const bool is_deletion = type != event.end() && *type == "DELETE";
    (is_deletion ? out.deletions : out.puts).push_back(*std::move(one));
  }
  return out;
}

std::string authenticate_body(std::string_view name, std::string_view password) {
  const Json json = {{"name", name}, {"password", password}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> parse_token(std::string_view text) {
  const Json json = parse(text);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("token");
  if (found == json.end() || !found->is_string()) return std::nullopt;
  const auto& token = found->get_ref<const std::string&>();
  // It becomes a line of a header.
  const auto is_good = [](char c) { return c > ' ' && c < 127; };
  return !token.empty() && std::ranges::all_of(token, is_good) ? std::optional(token) : std::nullopt;
}

std::string parse_message(std::string_view text) {
  const Json json = parse(text);
  if (!json.is_object()) return {};
  return words_of(json, "message");
}

}  // namespace hcpnet::dhcp::etcd
