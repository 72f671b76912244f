// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <hcpnet/net.hpp>

using namespace hcpnet;

/// What is printed must read back as the same value.
template <class T, class Parse>
static void check(const std::optional<T>& value, Parse parse) {
  if (value && parse(value->to_string()) != value) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text({data, size});
  check(parse_ip_address(text), [](const std::string& t) { return parse_ip_address(t); });
  check(parse_cidr(text), [](const std::string& t) { return parse_cidr(t); });
  check(parse_ipv4_cidr(text), [](const std::string& t) { return parse_ipv4_cidr(t); });
  check(parse_mac_address(text), [](const std::string& t) { return parse_mac_address(t); });
  check(parse_endpoint(text), [](const std::string& t) { return parse_endpoint(t); });
  check(parse_endpoint(text, 53), [](const std::string& t) { return parse_endpoint(t, 53); });
  return 0;
}
