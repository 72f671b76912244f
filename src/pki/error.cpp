// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/pki/error.hpp>
#include <string>

namespace hcpnet::pki {
namespace {

// Never deleted through its base, whose destructor Boost made protected instead of virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "hcpnet.pki"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::not_pem:
        return "holds no PEM block of the kind that is wanted";
      case Errc::malformed:
        return "the PEM block can't be read";
      case Errc::too_large:
        return "larger than a file of keys or certificates may be";
      case Errc::too_many:
        return "more certificates than a bundle may hold";
      case Errc::encrypted:
        return "the key is behind a passphrase";
      case Errc::unsupported_key:
        return "a key of a kind that is not supported";
      case Errc::failed:
        return "OpenSSL could not do it";
    }
    return "unknown";
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

}  // namespace hcpnet::pki
