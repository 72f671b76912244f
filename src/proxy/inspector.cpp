// SPDX-License-Identifier: Apache-2.0
#include "proxy/inspector.hpp"

namespace hcpnet::proxy {
namespace {

using Finding = Inspector::Finding;
using Verdict = Inspector::Verdict;

Finding failed(const error_code& ec) {
  if (ec == tls::Errc::need_more || ec == Errc::need_more) return {};
  if (ec == tls::Errc::not_tls || ec == Errc::other_protocol) return {Verdict::known, Greeting::not_tls};
  const bool is_large = ec == tls::Errc::too_large || ec == Errc::too_large;
  return {is_large ? Verdict::too_large : Verdict::malformed};
}

Finding named(std::optional<std::string> name) {
  const Greeting greeting = greeting_of(name);
  return {Verdict::known, greeting, std::move(name)};
}

}  // namespace

Inspector::Inspector(ListenerKind kind, std::size_t max_bytes) {
  if (kind == ListenerKind::tls)
    reader_.emplace<tls::ClientHelloReader>(tls::ClientHelloLimits{.max_bytes = max_bytes});
  if (kind == ListenerKind::http) reader_.emplace<HttpHostReader>(HttpHostLimits{.max_bytes = max_bytes});
}

Finding Inspector::read(ByteView received) {
  if (auto* tls = std::get_if<tls::ClientHelloReader>(&reader_)) {
    Result<tls::ClientHello> hello = tls->read(received);
    return hello ? named(std::move(hello->server_name)) : failed(hello.error());
  }
  if (auto* http = std::get_if<HttpHostReader>(&reader_)) {
    Result<HttpHost> host = http->read(received);
    return host ? named(std::move(host->name)) : failed(host.error());
  }
  return {Verdict::known, Greeting::not_tls};
}

}  // namespace hcpnet::proxy
