// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/rendered_file.hpp>
#include <hcpnet/result.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A configuration as files for other servers. Pure and stable: the same input gives the same bytes, whatever the day.
/// What each target can and can't express: docs/dns_render.md.
namespace hcpnet::dns {

enum class RenderTarget : std::uint8_t { zonefile, hosts, coredns, bind, unbound, dnsmasq };
inline constexpr RenderTarget kRenderTargets[] = {RenderTarget::zonefile, RenderTarget::hosts,   RenderTarget::coredns,
                                                  RenderTarget::bind,     RenderTarget::unbound, RenderTarget::dnsmasq};
[[nodiscard]] std::string_view to_string(RenderTarget target) noexcept;
[[nodiscard]] std::optional<RenderTarget> parse_render_target(std::string_view text) noexcept;

/// Of CoreDNS's forward plugin.
inline constexpr std::size_t kMaxCoreDnsUpstreams = 15;

struct CoreDnsOptions {
  /// Where the plugins of these names listen; nullopt leaves them out. The unspecified address means all.
  std::optional<Endpoint> health = Endpoint{Ipv4{}, 8080};
  std::optional<Endpoint> ready = Endpoint{Ipv4{}, 8181};
  std::optional<Endpoint> prometheus = Endpoint{Ipv4{}, 9153};
  std::chrono::seconds reload{5};      ///< how often the Corefile is looked at; 0 never, else 2 s or more
  std::chrono::seconds cache_ttl{30};  ///< longest time in the cache; 0 leaves the cache out
  /// A view with more names than this, or with records that a template can't hold, gets zone files beside the Corefile.
  std::size_t max_inline_names = 200;
};

struct RenderOptions {
  bool any_address = false;  ///< listen on every address instead of those of the configuration
  std::string file_prefix;  ///< in front of the name of a zone file wherever another file mentions it: "/etc/bind/"; no
                            ///< blanks, quotes, backslashes, braces and control characters
  /// What the last rendering gave, by file name. A zone file that says the same keeps its serial, a changed one gets a
  /// greater one (next_serial). Without it the serial is that of the zone.
  std::map<std::string, std::string> previous;
  std::optional<std::uint32_t> day;  ///< today as YYYYMMDD, for next_serial
  CoreDnsOptions coredns;
};

using hcpnet::RenderedFile;
struct Rendered {
  std::vector<RenderedFile> files;  ///< the main file first
  Diagnostics warnings;             ///< what the target can't express and is left out
};

/// Errors, by code: unavailable-zone (its addresses are not known), name-not-supported, name-server (of a zone, which
/// BIND would refuse), port-collides, bad-option.
[[nodiscard]] Result<Rendered, Diagnostics> render(const Config& config, RenderTarget target,
                                                   const RenderOptions& options = {});

/// One zone as a zone file, with `serial` in its SOA. A zone without NS gets "localhost.", because name servers refuse
/// to load a zone that has none.
[[nodiscard]] std::string render_zone_file(const Zone& zone, std::uint32_t serial);

/// A serial that is greater than `previous` in the arithmetic of RFC 1982, and never 0: YYYYMMDD00 of `day` where that
/// is greater, else the next number.
[[nodiscard]] std::uint32_t next_serial(std::uint32_t previous, std::optional<std::uint32_t> day = {}) noexcept;
/// The day of `time` (UTC) as YYYYMMDD, for next_serial.
[[nodiscard]] std::uint32_t serial_day(std::chrono::system_clock::time_point time) noexcept;

}  // namespace hcpnet::dns
