// SPDX-License-Identifier: Apache-2.0
// Values of options: what is read is written back the same; what is made of a client's name is a label.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dhcp/options.hpp>
#include <string>
#include <vector>

namespace {

using namespace hcpnet;

void expect(bool holds) {
  if (!holds) std::abort();
}

void routes(ByteView input) {
  const auto routes = dhcp::parse_classless_routes(input);
  if (!routes) return;
  const auto encoded = dhcp::encode_classless_routes(*routes);
  expect(encoded.size() == input.size());
  const auto again = dhcp::parse_classless_routes(encoded);
  expect(again.has_value() && *again == *routes);
}

void host_label(ByteView input) {
  const std::string label = dhcp::make_host_label(input);
  expect(label.size() <= 63);
  expect(label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
  expect(label.empty() || (label.front() != '-' && label.back() != '-'));
  expect(dhcp::make_host_label(as_bytes(label)) == label);
}

void domain_search(ByteView input) {
  std::vector<std::string> names(1);
  for (const char c : as_text(input)) {
    if (c == '\n') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  const auto encoded = dhcp::encode_domain_search(names);
  if (encoded) expect(encoded->size() <= input.size() + 2 * names.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  routes(input);
  host_label(input);
  domain_search(input);
  return 0;
}
