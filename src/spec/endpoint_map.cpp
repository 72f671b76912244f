// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <hcpnet/spec/codes.hpp>
#include <hcpnet/text/codes.hpp>
#include <map>
#include <utility>

#include "spec/format.hpp"
#include "spec/names.hpp"
#include "spec/observed_objects.hpp"
#include "spec/read_source.hpp"

namespace hcpnet::spec {
namespace {

using text::Value;
using text::ValueType;

/// What is wrong with "namespace/service:port"; nullopt when nothing is.
std::optional<std::string> key_problem(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::size_t colon = key.rfind(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos || colon < slash)
    return "a key is namespace/service:port";
  if (auto problem = label_problem(key.substr(0, slash))) return "the namespace: " + *problem;
  if (auto problem = label_problem(key.substr(slash + 1, colon - slash - 1))) return "the Service: " + *problem;
  const std::string_view digits = key.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 || port > 65535 ||
      digits.front() == '0')
    return "the port is a number from 1 to 65535";
  return {};
}

void normalize(std::vector<Endpoint>& addresses) {
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

constexpr const char* kNoHost = "no host has this address: it is unspecified, multicast or broadcast";

class EndpointMapReader {
 public:
  EndpointMapReader(Observed& observed, Diagnostics& errors) : observed_(observed), errors_(errors) {}

  void read(const std::string& file, const Value& root) {
    file_ = &file;
    if (root.type == ValueType::null || root.type == ValueType::invalid) return;
    if (root.type != ValueType::map)
      return report(code::wrong_type, "", root.position,
                    "an endpoint map is a mapping of namespace/service:port to lists of address:port");
    for (const text::Member& member : root.members) {
      const std::string path = text::child("", member.key);
      const auto problem = member.key_type == ValueType::string
                               ? key_problem(member.key)
                               : std::optional<std::string>("a key is namespace/service:port");
      if (problem) {
        report(code::bad_endpoint, path, member.value.key, *problem);
        continue;
      }
      const auto [first, is_new] = files_.emplace(member.key, file);
      if (!is_new) {
        report(text::code::duplicate_key, path, member.value.key, "this is given in " + first->second + " already");
        continue;
      }
      read_addresses(member.key, member.value, path);
    }
  }

 private:
  void read_addresses(const std::string& key, const Value& list, const std::string& path) {
    std::vector<Endpoint>& addresses = observed_.endpoints[key];
    addresses.clear();  // what is given here replaces what slices say
    if (list.type != ValueType::list)
      return report(code::wrong_type, path, list.position,
                    "a list of address:port is needed; [] says that nothing serves this port");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const Value& item = list.items[i];
      const auto endpoint = item.type == ValueType::string ? parse_endpoint(item.text) : std::nullopt;
      if (endpoint && is_host_address(endpoint->address))
        addresses.push_back(*endpoint);
      else if (endpoint)
        report(code::bad_endpoint, text::child(path, i), item.position, kNoHost);
      else
        report(code::bad_endpoint, text::child(path, i), item.position,
               "this is no address:port; an IPv6 address stands in brackets");
    }
    normalize(addresses);
  }

  void report(std::string_view code, const std::string& path, text::Position position, std::string message) {
    errors_.add({.severity = Severity::error,
                 .file = *file_,
                 .line = position.line,
                 .column = position.column,
                 .path = path,
                 .code = std::string(code),
                 .message = std::move(message),
                 .found = {},
                 .expected = {}});
  }

  Observed& observed_;
  Diagnostics& errors_;
  const std::string* file_ = nullptr;
  std::map<std::string, std::string> files_;  ///< key -> the file that gave it
};

}  // namespace

bool is_endpoint_key(std::string_view key) {
  return !key_problem(key);
}

Result<EndpointMap, Diagnostics> check_endpoints(EndpointMap endpoints) {
  Diagnostics problems;
  const auto report = [&](std::string path, std::string message, std::string found) {
    Diagnostic d;
    d.path = std::move(path);
    d.code = code::bad_endpoint;
    d.message = std::move(message);
    d.found = std::move(found);
    problems.add(std::move(d));
  };
  for (auto& [key, addresses] : endpoints) {
    const std::string path = text::child("", key);
    if (const auto problem = key_problem(key)) report(path, *problem, key);
    for (std::size_t i = 0; i < addresses.size(); ++i)
      if (!is_host_address(addresses[i].address) || addresses[i].port == 0)
        report(text::child(path, i), addresses[i].port == 0 ? "there is no port 0" : kNoHost, addresses[i].to_string());
    normalize(addresses);
  }
  if (problems.has_errors()) return problems;
  return endpoints;
}

void read_endpoint_maps(const std::vector<SourceText>& sources, const LoadLimits& limits, Observed& observed,
                        Diagnostics& errors) {
  EndpointMapReader reader(observed, errors);
  for (const SourceText& source : sources) {
    text::Parsed parsed = read_source(source, limits);
    errors.append(std::move(parsed.problems));
    for (const Value& document : parsed.documents) reader.read(source.name, document);
  }
}

}  // namespace hcpnet::spec
