// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dhcp/lease.hpp>

namespace hcpnet::dhcp {

std::string_view to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::bound:
      return "bound";
    case LeaseState::released:
      return "released";
    case LeaseState::expired:
      return "expired";
    case LeaseState::declined:
      return "declined";
  }
  return "unknown";
}

std::string_view to_string(LeaseEventKind kind) noexcept {
  switch (kind) {
    case LeaseEventKind::bound:
      return "bound";
    case LeaseEventKind::renewed:
      return "renewed";
    case LeaseEventKind::released:
      return "released";
    case LeaseEventKind::expired:
      return "expired";
    case LeaseEventKind::declined:
      return "declined";
    case LeaseEventKind::conflict:
      return "conflict";
  }
  return "unknown";
}

}  // namespace hcpnet::dhcp
