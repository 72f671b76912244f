// SPDX-License-Identifier: Apache-2.0
// Zone files and hosts files. What is accepted is rendered, and must be read back as the same text.
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dns/rdata.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// In a zone that has room for every name, the root's.
std::string render_hosts_file(const std::vector<hcpnet::dns::HostsEntry>& entries) {
  using namespace hcpnet::dns;
  Config config;
  config.views.push_back({"all", {}, {std::make_shared<const Zone>(Name(), to_rrsets(entries, 60))}});
  return render(config, RenderTarget::hosts).value().files.at(0).text;
}

void check_hosts_file(std::string_view text) {
  using namespace hcpnet::dns;
  const auto parsed = parse_hosts_file("input", text);
  if (!parsed) return;
  const std::string once = render_hosts_file(*parsed);
  const auto again = parse_hosts_file("rendered", once);
  if (!again || render_hosts_file(*again) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::dns;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_hosts_file(text);
  static_cast<void>(parse_rdata(Type::txt, text, parse_name("example.com").value()));
  ZoneFileLimits limits;
  limits.max_entry_bytes = 4096;
  const auto parsed = parse_zone_file("input", text, parse_name("example.com").value(), limits);
  // What needs no origin is read with one as well.
  if (parse_zone_file("input", text, std::nullopt, limits).has_value() && !parsed) std::abort();
  if (!parsed) return 0;
  const std::string once = render_zone_file(*make_zone(*parsed), parsed->serial);
  const auto again = parse_zone_file("rendered", once);
  if (!again || render_zone_file(*make_zone(*again), again->serial) != once) std::abort();
  return 0;
}
