// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <hcpnet/net.hpp>
#include <hcpnet/version.hpp>

int main() {
  const auto network = hcpnet::parse_ipv4_cidr("192.0.2.0/24");
  std::printf("hcpnet %s\n", hcpnet::version().data());
  return network && network->contains(hcpnet::Ipv4(192, 0, 2, 7)) ? 0 : 1;
}
