// SPDX-License-Identifier: Apache-2.0
#include <boost/system/error_category.hpp>
#include <hcpnet/dhcp/error.hpp>
#include <string>

namespace hcpnet::dhcp {
namespace {

// Boost's base has a public destructor that is not virtual. The one object is static and never destroyed through it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "hcpnet.dhcp"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::too_short:
        return "message too short";
      case Errc::too_large:
        return "message too large";
      case Errc::no_cookie:
        return "no DHCP magic cookie";
      case Errc::malformed:
        return "malformed option";
      case Errc::no_room:
        return "options do not fit";
      case Errc::too_many_relays:
        return "too many relays";
    }
    return "unknown DHCP error";
  }
};
#pragma GCC diagnostic pop

}  // namespace

boost::system::error_code make_error_code(Errc code) noexcept {
  static const Category category;
  return {static_cast<int>(code), category};
}

}  // namespace hcpnet::dhcp
