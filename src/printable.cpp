// SPDX-License-Identifier: Apache-2.0
// Apart from the rest of log.hpp: pure code makes bytes from outside safe as well.
#include <hcpnet/log.hpp>

namespace hcpnet {

std::string printable(std::string_view text, std::size_t max_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string safe;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\')
      safe += c;
    else
      safe += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  if (text.size() > max_bytes) safe += "...";
  return safe;
}

}  // namespace hcpnet
