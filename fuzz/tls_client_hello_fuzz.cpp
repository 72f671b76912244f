// SPDX-License-Identifier: Apache-2.0
// Whatever arrives, the reader that is fed in pieces agrees with the parser that sees all, and nothing is read past the
// end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/tls/client_hello.hpp>

namespace {

using namespace hcpnet;

void require(bool ok) {
  if (!ok) std::abort();
}

bool is_same(const Result<tls::ClientHello>& a, const Result<tls::ClientHello>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return a.error() == b.error();
  return a->server_name == b->server_name && a->host_kind == b->host_kind && a->alpn == b->alpn &&
         a->consumed_bytes == b->consumed_bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  const tls::ClientHelloLimits limits{.max_bytes = 2048};
  const auto at_once = tls::parse_client_hello(bytes, limits);
  if (at_once) {
    require(at_once->consumed_bytes <= size && at_once->consumed_bytes <= limits.max_bytes);
    if (at_once->server_name) require(tls::classify_host(*at_once->server_name) == at_once->host_kind);
  } else if (at_once.error() == tls::Errc::need_more) {
    require(size < limits.max_bytes);
  }
  tls::ClientHelloReader reader(limits);
  for (std::size_t n = 0;; n += 1 + n % 7) {
    n = n < size ? n : size;
    const auto so_far = reader.read(bytes.first(n));
    if (so_far || so_far.error() != tls::Errc::need_more || n == size) {
      require(is_same(so_far, at_once));
      break;
    }
  }
  return 0;
}
