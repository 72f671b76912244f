// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <utility>

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

class Retargeter {
 public:
  Retargeter(std::string_view file, std::string_view text) : file_(file) {
    text::Parsed parsed = text::parse_yaml(file, text);
    // What the parser quotes of a kubeconfig may be a key.
    for (Diagnostic problem : parsed.problems) {
      problem.found.clear();
      problems_.add(std::move(problem));
    }
    if (!problems_.has_errors() && parsed.documents.size() != 1) report({}, "one document is needed, a kubeconfig");
    if (problems_.has_errors()) return;
    tree_ = std::move(parsed.documents.front());
    document_ = text::to_json(tree_, file, problems_);
  }

  Result<pki::Secret, Diagnostics> run(const Endpoint& proxy) {
    if (!problems_.has_errors()) change(proxy);
    if (problems_.has_errors()) return problems_;
    return pki::Secret(text::render_yaml(document_));
  }

 private:
  void change(const Endpoint& proxy) {
    const text::Value* clusters = tree_.find("clusters");
    if (clusters == nullptr || clusters->type != text::ValueType::list || clusters->items.empty())
      return report("/clusters", "this is no kubeconfig: it names no cluster");
    for (std::size_t i = 0; i < clusters->items.size(); ++i) {
      const std::string pointer = text::child(std::string_view("/clusters"), i) + "/cluster";
      const text::Value* server = text::find(tree_, pointer + "/server");
      const auto url = server != nullptr && server->type == text::ValueType::string ? parse_server(server->text)
                                                                                    : std::optional<ServerUrl>{};
      if (!url) {
        report(pointer + "/server", "an https URL is needed here");
        continue;
      }
      Json& cluster = document_.at(Json::json_pointer(pointer));
      cluster["server"] = "https://" + proxy.to_string() + url->rest;
      // An address can't be a name in SNI (RFC 6066 section 3); there is nothing to keep then.
      if (!cluster.contains("tls-server-name") && !parse_ip_address(url->host)) cluster["tls-server-name"] = url->host;
    }
  }

  void report(const std::string& pointer, std::string message) {
    const text::Value* value = text::find(tree_, pointer);
    Diagnostic d;
    d.file = file_;
    d.line = value != nullptr ? value->position.line : 1;
    d.column = value != nullptr ? value->position.column : 1;
    d.path = pointer;
    d.code = "bad-kubeconfig";
    d.message = std::move(message);
    problems_.add(std::move(d));
  }

  std::string file_;
  text::Value tree_;
  Json document_;
  Diagnostics problems_;
};

}  // namespace

Result<pki::Secret, Diagnostics> retarget_kubeconfig(std::string_view file, std::string_view text,
                                                     const Endpoint& proxy) {
  return Retargeter(file, text).run(proxy);
}

}  // namespace hcpnet::bootstrap
