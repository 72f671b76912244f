// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <hcpnet/bootstrap/ignition.hpp>
#include <optional>

#include "bootstrap/base64.hpp"
#include "bootstrap/problem.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

Json file_entry(const NodeFile& file) {
  return {{"path", file.path},
          {"mode", file.mode},
          {"overwrite", true},
          {"contents", {{"source", data_url(file.contents.reveal())}}}};
}
Json unit_entry(const NodeUnit& unit) {
  return {{"name", unit.name}, {"enabled", true}, {"contents", unit.contents}};
}

/// The list at `pointer`, made where there is none; nullptr when something else is there.
Json* list_at(Json& config, const char* outer, const char* inner) {
  Json& section = config[outer];
  if (section.is_null()) section = Json::object();
  if (!section.is_object()) return nullptr;
  Json& list = section[inner];
  if (list.is_null()) list = Json::array();
  const bool is_good = list.is_array() && std::ranges::all_of(list, [](const Json& e) { return e.is_object(); });
  return is_good ? &list : nullptr;
}

/// Puts `entry` in the place of the one that has the same `key`, or at the end.
void put(Json& list, const char* key, Json entry) {
  const auto found = std::ranges::find_if(list, [&](const Json& e) { return e.value(key, Json()) == entry[key]; });
  if (found != list.end())
    *found = std::move(entry);
  else
    list.push_back(std::move(entry));
}

bool add_ssh_key(Json& users, const std::string& ssh_key) {
  auto core = std::ranges::find_if(users, [](const Json& user) { return user.value("name", Json()) == "core"; });
  if (core == users.end()) {
    users.push_back({{"name", "core"}});
    core = std::prev(users.end());
  }
  Json& keys = (*core)["sshAuthorizedKeys"];
  if (keys.is_null()) keys = Json::array();
  if (!keys.is_array()) return false;
  if (std::ranges::find(keys, Json(ssh_key)) == keys.end()) keys.push_back(ssh_key);
  return true;
}

/// False when the config has something else where a list should be.
bool add(Json& config, const NodeContent& content) {
  if (!content.files.empty()) {
    Json* files = list_at(config, "storage", "files");
    if (files == nullptr) return false;
    for (const NodeFile& file : content.files) put(*files, "path", file_entry(file));
  }
  if (!content.units.empty()) {
    Json* units = list_at(config, "systemd", "units");
    if (units == nullptr) return false;
    for (const NodeUnit& unit : content.units) put(*units, "name", unit_entry(unit));
  }
  if (content.ssh_key.empty()) return true;
  Json* users = list_at(config, "passwd", "users");
  return users != nullptr && add_ssh_key(*users, content.ssh_key);
}

/// The middle number of "3.4.0"; nullopt for what is no stable version of Ignition 3.
std::optional<unsigned> minor_of(const Json& config) {
  const Json::json_pointer pointer("/ignition/version");
  if (!config.is_object() || !config.contains(pointer) || !config.at(pointer).is_string()) return {};
  const std::string text = config.at(pointer);
  if (text.size() != 5 || !text.starts_with("3.") || !text.ends_with(".0") || text[2] < '0' || text[2] > '9') return {};
  return static_cast<unsigned>(text[2] - '0');
}

std::size_t size_of(const Json& config, const char* pointer) {
  const Json::json_pointer at(pointer);
  return config.contains(at) ? config.at(at).size() : 0;
}

}  // namespace

std::string_view to_string(IgnitionVersion version) noexcept {
  return kIgnitionVersions.at(static_cast<std::size_t>(version));
}

IgnitionVersion ignition_version(unsigned minor) noexcept {
  constexpr unsigned kFirstWith35 = 19;
  return minor >= kFirstWith35 ? IgnitionVersion::v3_5_0 : IgnitionVersion::v3_4_0;
}

std::string data_url(std::string_view bytes) {
  return bytes.empty() ? "data:," : "data:text/plain;charset=utf-8;base64," + base64(bytes);
}

// RFC 2397: dataurl = "data:" [ mediatype ] [ ";base64" ] "," data
std::optional<std::string> parse_data_url(std::string_view url) {
  constexpr std::string_view kScheme = "data:";
  const std::size_t comma = url.find(',');
  if (!url.starts_with(kScheme) || comma == std::string_view::npos) return std::nullopt;
  const std::string_view type = url.substr(kScheme.size(), comma - kScheme.size());
  const std::string_view data = url.substr(comma + 1);
  if (type.ends_with(";base64")) return parse_base64(data);
  std::string bytes;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] != '%') {
      bytes += data[i];
      continue;
    }
    unsigned value = 0;
    const char* const end = data.data() + std::min(i + 3, data.size());
    if (const auto [last, error] = std::from_chars(data.data() + i + 1, end, value, 16);
        error != std::errc() || last != data.data() + i + 3)
      return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

Json make_ignition(const NodeContent& content, IgnitionVersion version) {
  Json config = {{"ignition", {{"version", to_string(version)}}}};
  static_cast<void>(add(config, content));  // there is nothing in the way
  return config;
}

Result<Json, Diagnostics> merge_ignition(Json base, std::string_view file, const NodeContent& content,
                                         IgnitionVersion newest) {
  const std::optional<unsigned> minor = minor_of(base);
  const unsigned last = static_cast<unsigned>(to_string(newest)[2] - '0');
  std::string message;
  if (!minor)
    message = "this is no Ignition config of a version 3";
  else if (*minor > last)
    message = "this Ignition config is of the version 3." + std::to_string(*minor) +
              ".0; nodes of this release read 3." + std::to_string(last) + ".0 and older ones";
  else if (!add(base, content))
    message = "storage.files, systemd.units and passwd.users have to be lists";
  if (message.empty()) return {boost::system::in_place_value, std::move(base)};  // a Json converts to both
  Diagnostics problems;
  problems.add(problem(file, "bad-ignition", std::move(message)));
  return problems;
}

Json make_pointer(const IgnitionPointer& pointer, const NodeContent& content) {
  Json source = {{"source", pointer.source}};
  for (const auto& [name, value] : pointer.headers)
    source["httpHeaders"].push_back({{"name", name}, {"value", value.reveal()}});
  Json config = make_ignition(content, kPointerVersion);
  config["ignition"]["config"]["merge"] = Json::array({std::move(source)});
  config["ignition"]["security"]["tls"]["certificateAuthorities"] =
      Json::array({{{"source", data_url(pointer.authority)}}});
  return config;
}

Json make_hypershift_pointer(std::string_view endpoint, const std::string& authority, const pki::Secret& token) {
  return make_pointer({"https://" + std::string(endpoint) + "/ignition",
                       authority,
                       {{"Authorization", pki::Secret("Bearer " + base64(token.reveal()))}}});
}

IgnitionReport report_ignition(std::string name, const Json& config, std::size_t bytes) {
  return {std::move(name), config.at("ignition").at("version"), size_of(config, "/storage/files"),
          size_of(config, "/systemd/units"), bytes};
}

}  // namespace hcpnet::bootstrap
