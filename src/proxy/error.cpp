// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/proxy/error.hpp>
#include <string>

namespace hcpnet::proxy {
namespace {

// Never deleted through its base, whose destructor Boost made protected instead of virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "hcpnet.proxy"; }
  std::string message(int code) const override {
    switch (static_cast<Errc>(code)) {
      case Errc::need_more:
        return "the header is not complete yet";
      case Errc::other_protocol:
        return "another protocol";
      case Errc::malformed:
        return "malformed header";
      case Errc::too_large:
        return "the header is larger than allowed";
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

}  // namespace hcpnet::proxy
