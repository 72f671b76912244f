// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/renderer.hpp>

#include "dns/found_word.hpp"
#include "dns/render_common.hpp"

namespace hcpnet::dns {
namespace {

/// Text that stands for itself in every configuration language, in quotes and without.
bool is_inert_path(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f || std::string_view("\"'\\{}").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string_view to_string(RenderTarget target) noexcept {
  switch (target) {
    case RenderTarget::zonefile:
      return "zonefile";
    case RenderTarget::hosts:
      return "hosts";
    case RenderTarget::coredns:
      return "coredns";
    case RenderTarget::bind:
      return "bind";
    case RenderTarget::unbound:
      return "unbound";
    case RenderTarget::dnsmasq:
      return "dnsmasq";
  }
  return "unknown";
}

std::optional<RenderTarget> parse_render_target(std::string_view text) noexcept {
  for (const RenderTarget target : kRenderTargets)
    if (to_string(target) == text) return target;
  return std::nullopt;
}

Result<Rendered, Diagnostics> render(const Config& config, RenderTarget target, const RenderOptions& options) {
  rendering::Job job{config, options, Rendered(), Diagnostics()};
  if (!is_inert_path(options.file_prefix)) {
    job.error("bad-option", "a file prefix has no blanks, quotes, backslashes, braces and control characters",
              found_word(options.file_prefix));
    return std::move(job.errors);
  }
  switch (target) {
    case RenderTarget::zonefile:
      rendering::zone_files(job);
      break;
    case RenderTarget::hosts:
      rendering::hosts(job);
      break;
    case RenderTarget::coredns:
      rendering::coredns(job);
      break;
    case RenderTarget::bind:
      rendering::bind(job);
      break;
    case RenderTarget::unbound:
      rendering::unbound(job);
      break;
    case RenderTarget::dnsmasq:
      rendering::dnsmasq(job);
      break;
  }
  if (job.errors.has_errors()) return std::move(job.errors);
  return std::move(job.out);
}

}  // namespace hcpnet::dns
