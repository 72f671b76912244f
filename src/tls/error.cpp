// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/tls/error.hpp>
#include <string>

namespace hcpnet::tls {
namespace {

// Never deleted through its base, whose destructor Boost made protected instead of virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "hcpnet.tls"; }
  std::string message(int code) const override {
    switch (static_cast<Errc>(code)) {
      case Errc::need_more:
        return "ClientHello is not complete yet";
      case Errc::not_tls:
        return "not a TLS handshake record";
      case Errc::malformed:
        return "malformed ClientHello";
      case Errc::too_large:
        return "ClientHello is larger than allowed";
    }
    return "unknown error";
  }
};
#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

boost::system::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

}  // namespace hcpnet::tls
