// SPDX-License-Identifier: Apache-2.0
// Every beginning of a header needs more, and what was read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/proxy/proxy_header.hpp>

namespace {

using namespace hcpnet::proxy;

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hcpnet::ByteView input(data, size);
  const auto header = parse_proxy_header(input);
  if (!header) return 0;
  require(header->consumed_bytes > 0 && header->consumed_bytes <= size);
  for (std::size_t n = 0; n < header->consumed_bytes; ++n)
    require(parse_proxy_header(input.first(n)).error() == make_error_code(Errc::need_more));
  if (!header->addresses) return 0;
  for (const ProxyHeaderVersion version : {ProxyHeaderVersion::v1, ProxyHeaderVersion::v2}) {
    const auto again = encode_proxy_header(version, *header->addresses);
    const auto parsed = parse_proxy_header(again);
    require(parsed.has_value() && parsed->addresses == header->addresses && parsed->consumed_bytes == again.size());
  }
  return 0;
}
