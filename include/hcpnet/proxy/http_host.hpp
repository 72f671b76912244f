// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/bytes.hpp>
#include <hcpnet/proxy/error.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hcpnet::proxy {

struct HttpHostLimits {
  std::size_t max_bytes = 16 * 1024;  ///< request line and header fields together
  std::size_t max_fields = 100;
};

/// What routing needs from the first request of a connection.
struct HttpHost {
  /// Without port and brackets, otherwise as sent. nullopt: the request names no host (HTTP/1.0, an empty Host).
  std::optional<std::string> name;
};

/// Reads the head of the first HTTP/1 request of a connection while its bytes arrive.
///
/// `read` takes every byte received so far, which must begin with those of the call before: the work over all calls is
/// linear in the bytes. The host is that of the request target where it has one, otherwise of the Host field (RFC 9112
/// section 3.2.2). Stricter than it must be, because a server behind may understand a doubtful request otherwise: a
/// line that ends without CR, a folded line, a blank before a colon, two Host fields, or none in HTTP/1.1 are
/// malformed, and so is a target that is neither a path nor "*" nor names a host. HTTP/2 without TLS is other_protocol.
/// Errors: any Errc. One thread per reader. Specification: RFC 9112 sections 2 to 5.
class HttpHostReader {
 public:
  explicit HttpHostReader(const HttpHostLimits& limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] Result<HttpHost> read(ByteView received);

 private:
  [[nodiscard]] error_code read_line(std::string_view line);
  [[nodiscard]] error_code read_request_line(std::string_view line);
  [[nodiscard]] error_code read_field(std::string_view line);
  [[nodiscard]] Result<HttpHost> finish() const;

  HttpHostLimits limits_;
  std::size_t line_ = 0;     ///< where the current line begins
  std::size_t scanned_ = 0;  ///< no line feed before this
  std::size_t fields_ = 0;
  bool has_request_line_ = false;
  bool is_http_10_ = false;
  bool has_end_ = false;
  std::optional<std::string> target_host_;
  std::optional<std::string> host_field_;
};

/// The same for bytes that are there all at once. Thread-safe.
[[nodiscard]] Result<HttpHost> parse_http_host(ByteView received, const HttpHostLimits& limits = {});

}  // namespace hcpnet::proxy
