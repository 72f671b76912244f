// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/version.hpp>

namespace hcpnet {

std::string_view version() noexcept {
  return HCPNET_VERSION;
}

}  // namespace hcpnet
