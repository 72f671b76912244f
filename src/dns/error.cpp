// SPDX-License-Identifier: Apache-2.0
#include <boost/system/error_category.hpp>
#include <hcpnet/dns/error.hpp>
#include <string>

namespace hcpnet::dns {
namespace {

// Boost's base has a public destructor that is not virtual. The one object is static and never destroyed through it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "hcpnet.dns"; }
  std::string message(int code) const override {
    switch (static_cast<Errc>(code)) {
      case Errc::bad_name:
        return "not a domain name (write names outside ASCII in their xn-- form)";
      case Errc::malformed:
        return "malformed DNS message";
      case Errc::too_large:
        return "DNS message too large";
      case Errc::duplicate_prefix:
        return "two views have the same client prefix";
      case Errc::duplicate_zone:
        return "two zones of one view have the same apex";
      case Errc::upstream_is_self:
        return "the upstream is a listener of this server itself";
      case Errc::bad_rdata:
        return "not data of the record's type";
    }
    return "unknown DNS error";
  }
};
#pragma GCC diagnostic pop

}  // namespace

boost::system::error_code make_error_code(Errc code) noexcept {
  static const Category category;
  return {static_cast<int>(code), category};
}

}  // namespace hcpnet::dns
