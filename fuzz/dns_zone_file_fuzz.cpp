// SPDX-License-Identifier: Apache-2.0
// Zone files and hosts files. What is accepted is rendered, and must be read back as the same text.
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::dns;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_hosts_file("input", text));
  ZoneFileLimits limits;
  limits.max_entry_bytes = 4096;
  const auto parsed = parse_zone_file("input", text, parse_name("example.com").value(), limits);
  if (!parsed) return 0;
  const std::string once = render_zone_file(*make_zone(*parsed), parsed->serial);
  const auto again = parse_zone_file("rendered", once);
  if (!again || render_zone_file(*make_zone(*again), again->serial) != once) std::abort();
  return 0;
}
