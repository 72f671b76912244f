// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "bootstrap/base64.hpp"
#include "bootstrap/secret_document.hpp"

namespace hcpnet::bootstrap {
namespace {

using Json = nlohmann::json;

/// The host of "https://host[:port][/path]" and what follows its authority part.
struct ServerUrl {
  std::string host, rest;
};
std::optional<ServerUrl> parse_server(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return {};
  url.remove_prefix(kScheme.size());
  const std::size_t slash = url.find('/');
  std::string_view authority = url.substr(0, slash);
  ServerUrl parsed;
  if (slash != std::string_view::npos) parsed.rest = url.substr(slash);
  if (authority.starts_with('[')) {  // RFC 3986 section 3.2.2
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return {};
    parsed.host = authority.substr(1, bracket - 1);
  } else {
    parsed.host = authority.substr(0, authority.find(':'));
  }
  if (parsed.host.empty() || authority.find('@') != std::string_view::npos) return {};
  return parsed;
}

/// The entries of a list that has to be there, as pointers.
std::vector<std::string> entries(SecretDocument& config, const std::string& list, const char* none) {
  const text::Value* found = text::find(config.tree(), list);
  std::vector<std::string> pointers;
  if (found != nullptr && found->type == text::ValueType::list)
    for (std::size_t i = 0; i < found->items.size(); ++i) pointers.push_back(text::child(std::string_view(list), i));
  if (pointers.empty()) config.report(list, none);
  return pointers;
}

void retarget(SecretDocument& config, const Endpoint& proxy) {
  for (const std::string& entry : entries(config, "/clusters", "this is no kubeconfig: it names no cluster")) {
    const std::string* server = config.string_at(entry + "/cluster/server");
    const auto url = server != nullptr ? parse_server(*server) : std::optional<ServerUrl>{};
    if (!url) {
      config.report(entry + "/cluster/server", "an https URL is needed here");
      continue;
    }
    Json& cluster = config.json().at(Json::json_pointer(entry + "/cluster"));
    cluster["server"] = "https://" + proxy.to_string() + url->rest;
    // An address can't be a name in SNI (RFC 6066 section 3); there is nothing to keep then.
    if (!cluster.contains("tls-server-name") && !parse_ip_address(url->host)) cluster["tls-server-name"] = url->host;
  }
}

void replace_users(SecretDocument& config, const pki::Secret& token) {
  for (const std::string& entry : entries(config, "/users", "this is no kubeconfig: it names no user")) {
    Json& user = config.json().at(Json::json_pointer(entry));
    if (user.is_object())
      user["user"] = {{"token", token.reveal()}};
    else
      config.report(entry, "a user is a mapping");
  }
}

SecretDocument read_kubeconfig(std::string_view file, std::string_view text) {
  return {file, text, "a kubeconfig", "bad-kubeconfig"};
}

Result<pki::Secret, Diagnostics> written(SecretDocument& config) {
  if (config.problems().has_errors()) return config.problems();
  return pki::Secret(text::render_yaml(config.json()));
}

}  // namespace

Result<pki::Secret, Diagnostics> retarget_kubeconfig(std::string_view file, std::string_view text,
                                                     const Endpoint& proxy) {
  SecretDocument config = read_kubeconfig(file, text);
  if (!config.problems().has_errors()) retarget(config, proxy);
  return written(config);
}

Result<pki::Secret, Diagnostics> replace_kubeconfig_users(std::string_view file, std::string_view text,
                                                          const pki::Secret& token) {
  SecretDocument config = read_kubeconfig(file, text);
  if (!config.problems().has_errors()) replace_users(config, token);
  return written(config);
}

Result<pki::Secret, Diagnostics> read_account_token(std::string_view file, std::string_view text) {
  SecretDocument secret(file, text, "a Secret", "bad-token-secret");
  if (secret.problems().has_errors()) return secret.problems();
  const std::string* kind = secret.string_at("/kind");
  const std::string* type = secret.string_at("/type");
  const std::string* token = secret.string_at("/data/token");
  std::optional<std::string> decoded;
  if (kind == nullptr || *kind != "Secret" || type == nullptr || *type != "kubernetes.io/service-account-token")
    secret.report("/type", "this is no Secret of the type kubernetes.io/service-account-token");
  else if (token == nullptr)
    secret.report("/data", "it has no token yet; the cluster itself puts it in");
  else if (!(decoded = parse_base64(*token)) || decoded->empty())
    secret.report("/data/token", "this is no base64");
  if (secret.problems().has_errors()) return secret.problems();
  return pki::Secret(std::move(*decoded));
}

}  // namespace hcpnet::bootstrap
