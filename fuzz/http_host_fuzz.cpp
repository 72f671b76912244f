// SPDX-License-Identifier: Apache-2.0
// Reading at once and reading byte by byte come to the same result.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/proxy/http_host.hpp>

namespace {

using namespace hcpnet;
using namespace hcpnet::proxy;

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  const HttpHostLimits limits{.max_bytes = 512, .max_fields = 8};
  const auto whole = parse_http_host(input, limits);
  HttpHostReader reader(limits);
  for (std::size_t n = 1; n <= size; ++n) {
    const auto part = reader.read(input.first(n));
    if (!part && part.error() == make_error_code(Errc::need_more)) continue;
    require(part.has_value() == whole.has_value());
    if (part)
      require(part->name == whole->name && (!part->name || !part->name->empty()));
    else
      require(part.error() == whole.error());
    return 0;
  }
  require(size == 0 || whole.error() == make_error_code(Errc::need_more));
  return 0;
}
