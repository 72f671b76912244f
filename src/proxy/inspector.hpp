// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/bytes.hpp>
#include <hcpnet/proxy/http_host.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/tls/client_hello.hpp>
#include <optional>
#include <string>
#include <variant>

namespace hcpnet::proxy {

/// Finds out what a connection wants, in the way of its listener, while bytes arrive.
class Inspector {
 public:
  enum class Verdict : std::uint8_t { need_more, known, malformed, too_large };
  struct Finding {
    Verdict verdict = Verdict::need_more;
    Greeting greeting = Greeting::not_tls;  ///< with Verdict::known
    std::optional<std::string> server_name = {};
  };

  Inspector(ListenerKind kind, std::size_t max_bytes);
  /// `received` holds every byte so far.
  [[nodiscard]] Finding read(ByteView received);
  /// Nothing has to be read.
  [[nodiscard]] bool is_blind() const noexcept { return std::holds_alternative<std::monostate>(reader_); }

 private:
  std::variant<std::monostate, tls::ClientHelloReader, HttpHostReader> reader_;
};

}  // namespace hcpnet::proxy
