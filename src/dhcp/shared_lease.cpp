// SPDX-License-Identifier: Apache-2.0
#include "dhcp/shared_lease.hpp"

#include <algorithm>
#include <charconv>
#include <hcpnet/dhcp/client_class.hpp>
#include <hcpnet/dhcp/options.hpp>
#include <nlohmann/json.hpp>

#include "dhcp/lease_clock.hpp"
#include "dhcp/lease_file_reader.hpp"
#include "dhcp/lease_import.hpp"

namespace hcpnet::dhcp {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kVersion = 1;
constexpr std::uint16_t kDefaultPort = 2379;
constexpr std::size_t kMaxPrefixBytes = 256;
constexpr std::size_t kMaxHostNameBytes = 255;
constexpr LeaseState kStates[] = {LeaseState::bound, LeaseState::released, LeaseState::expired, LeaseState::declined};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool is_host(std::string_view text) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, is_good);
}

/// nullptr: it is missing, or no text.
const std::string* text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

/// nullopt: no bytes, or more than `max`.
std::optional<std::string> bytes_of(const Json& object, const char* name, std::size_t max) {
  const std::string* text = text_of(object, name);
  if (text == nullptr) return std::nullopt;
  if (text->empty()) return std::string();
  return parse_hex_bytes(*text, max);
}

std::optional<std::chrono::sys_seconds> time_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto seconds = found->get<std::int64_t>();  // of a number that is too large another one, which may be good
  const bool is_too_large = found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{kLastLeaseTime};
  if (is_too_large || seconds < 0 || seconds > kLastLeaseTime) return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

bool is_in_use(const Lease& lease) noexcept {
  return lease.state == LeaseState::bound || lease.state == LeaseState::declined;
}

}  // namespace

std::optional<StoreEndpoint> parse_store_endpoint(std::string_view text) {
  StoreEndpoint out;
  out.is_encrypted = text.starts_with("https://");
  if (!out.is_encrypted && !text.starts_with("http://")) return std::nullopt;
  text.remove_prefix(text.find("//") + 2);
  if (text.ends_with('/')) text.remove_suffix(1);
  const bool is_bracketed = text.starts_with('[');
  const std::size_t end = is_bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  out.host = is_bracketed ? text.substr(1, end - 1) : text.substr(0, end);
  text.remove_prefix(end + (is_bracketed ? 1 : 0));
  if (is_bracketed ? !parse_ipv6(out.host) : !is_host(out.host)) return std::nullopt;
  if (text.empty()) {
    out.port = kDefaultPort;
    return out;
  }
  if (text.front() != ':') return std::nullopt;
  const auto port = parse_port(text.substr(1));
  if (!port) return std::nullopt;
  out.port = *port;
  return out;
}

bool is_store_prefix(std::string_view text) noexcept {
  const auto is_good = [](char c) { return c > ' ' && c < 127; };
  return text.size() > 1 && text.size() <= kMaxPrefixBytes && text.front() == '/' && text.back() != '/' &&
         text.find("//") == std::string_view::npos && std::ranges::all_of(text, is_good);
}

std::string shared_lease_key(std::string_view prefix, Ipv4 address) {
  return std::string(prefix) + '/' + address.to_string();
}

std::optional<Ipv4> parse_shared_lease_key(std::string_view prefix, std::string_view key) {
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  if (!key.starts_with('/')) return std::nullopt;
  return parse_ipv4(key.substr(1));
}

std::string render_shared_lease(const SharedLease& shared) {
  const Lease& lease = shared.lease;
  const Json json = {{"version", kVersion},
                     {"state", to_string(lease.state)},
                     {"mac", lease.mac.to_string()},
                     {"clientID", hex_bytes(lease.client_id)},
                     {"hostName", lease.host_name},
                     {"relayInformation", hex_bytes(lease.relay_information)},
                     {"started", std::int64_t{lease.started.time_since_epoch().count()}},
                     {"expires", std::int64_t{lease.expires.time_since_epoch().count()}},
                     {"server", shared.server}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name may be no UTF-8
}

std::optional<SharedLease> parse_shared_lease(Ipv4 address, std::string_view value) {
  if (value.size() > kMaxSharedLeaseBytes) return std::nullopt;
  const Json json = Json::parse(value, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto version = json.find("version");
  if (version == json.end() || *version != kVersion) return std::nullopt;
  const std::string *state = text_of(json, "state"), *mac = text_of(json, "mac"), *name = text_of(json, "hostName"),
                    *server = text_of(json, "server");
  const auto client_id = bytes_of(json, "clientID", kMaxStoredClientIdBytes);
  const auto relay = bytes_of(json, "relayInformation", kMaxRelayInformationBytes);
  const auto started = time_of(json, "started"), expires = time_of(json, "expires");
  if (state == nullptr || mac == nullptr || name == nullptr || server == nullptr) return std::nullopt;
  if (!client_id || !relay || !started || !expires || name->size() > kMaxHostNameBytes ||
      server->size() > kMaxHostNameBytes)
    return std::nullopt;
  const auto found = std::ranges::find(kStates, *state, [](LeaseState s) { return to_string(s); });
  const auto hardware = parse_mac_address(*mac);
  if (found == std::end(kStates) || !hardware) return std::nullopt;
  SharedLease out;
  out.lease.address = address;
  out.lease.mac = *hardware;
  out.lease.client_id = *client_id;
  out.lease.host_name = *name;
  out.lease.relay_information = *relay;
  out.lease.state = *found;
  out.lease.started = *started;
  out.lease.expires = *expires;
  out.server = *server;
  return out;
}

bool is_same_client(const Lease& a, const Lease& b, Identity identity) {
  if (identity == Identity::mac) return a.mac == b.mac;
  const auto key = [](const Lease& l) { return l.client_id.empty() ? make_client_id(l.mac) : l.client_id; };
  return key(a) == key(b);
}

bool may_replace(const Lease& held, const Lease& wanted, const SharedRules& rules, std::chrono::sys_seconds now) {
  if (!is_in_use(held)) return true;
  if (held.expires + rules.max_skew + kSharedMargin < now) return true;
  if (held.state == LeaseState::bound) return is_same_client(held, wanted, rules.identity);
  return wanted.state != LeaseState::bound;  // what rests is not bound, but may rest longer or be let go
}

}  // namespace hcpnet::dhcp
