// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/proxy/render_envoy.hpp>
#include <hcpnet/proxy/render_haproxy.hpp>
#include <hcpnet/stack/render_proxy.hpp>

namespace hcpnet {

std::string_view to_string(ProxyTarget target) noexcept {
  return target == ProxyTarget::envoy ? "envoy" : "haproxy";
}

std::optional<ProxyTarget> parse_proxy_target(std::string_view text) noexcept {
  for (const ProxyTarget target : kProxyTargets)
    if (text == to_string(target)) return target;
  return std::nullopt;
}

bool may_be_file_prefix(ProxyTarget target, std::string_view prefix) noexcept {
  return target == ProxyTarget::envoy || std::ranges::none_of(prefix, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte <= 0x20 || byte == 0x7f || std::string_view("\"'\\#,()").find(c) != std::string_view::npos;
         });
}

std::vector<RenderedFile> render_proxy(const ProxyServerConfig& server, ProxyTarget target,
                                       const ProxyRenderOptions& options, Diagnostics& warnings) {
  const proxy::RouteConfig& routes = server.table->config();
  if (target == ProxyTarget::envoy) {
    proxy::EnvoyOptions envoy;
    envoy.any_address = options.any_address;
    envoy.settings = server.settings;
    return proxy::render_envoy_files(routes, server.workers, envoy, options.file_prefix, warnings);
  }
  proxy::HaproxyOptions haproxy;
  haproxy.any_address = options.any_address;
  haproxy.file_prefix = options.file_prefix;
  haproxy.settings = server.settings;
  return proxy::render_haproxy(routes, server.workers, haproxy, warnings);
}

}  // namespace hcpnet
