// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/bytes.hpp>

#include "dhcp/option_value.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static_cast<void>(hcpnet::dhcp::encode_option_value(data[0], hcpnet::as_text({data + 1, size - 1})));
  return 0;
}
