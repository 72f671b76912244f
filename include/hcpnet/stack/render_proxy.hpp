// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/rendered_file.hpp>
#include <hcpnet/stack/config.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet {

/// Programs that can serve a proxy's routes instead of hcpnet.
enum class ProxyTarget : std::uint8_t { envoy, haproxy };
inline constexpr std::array kProxyTargets{ProxyTarget::envoy, ProxyTarget::haproxy};
/// "envoy", "haproxy"
[[nodiscard]] std::string_view to_string(ProxyTarget target) noexcept;
[[nodiscard]] std::optional<ProxyTarget> parse_proxy_target(std::string_view text) noexcept;

struct ProxyRenderOptions {
  bool any_address = false;  ///< listens on every IPv4 address instead of those of the configuration
  std::string file_prefix;   ///< in front of file names inside the configuration: "/etc/haproxy/"
};

/// Whether file names in a configuration for this program can begin so. HAProxy has no way to write some characters.
[[nodiscard]] bool may_be_file_prefix(ProxyTarget target, std::string_view prefix) noexcept;

/// The files of one server, the main file first; its limits are those of its policy. Precondition:
/// may_be_file_prefix(target, options.file_prefix). Warnings, by code: "no-sources",
/// "not-expressible" (docs/proxy.md).
[[nodiscard]] std::vector<RenderedFile> render_proxy(const ProxyServerConfig& server, ProxyTarget target,
                                                     const ProxyRenderOptions& options, Diagnostics& warnings);

}  // namespace hcpnet
