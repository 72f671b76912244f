// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <hcpnet/clock.hpp>

int main() {
  return hcpnet::system_clock().system_now().time_since_epoch() > std::chrono::seconds(0) ? 0 : 1;
}
