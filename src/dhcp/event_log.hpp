// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/log.hpp>
#include <utility>

namespace hcpnet::dhcp {

/// One line for what happened to a lease. A renewal is news only to who looks closely; of a conflict whoever finds it
/// tells more.
inline void log_event(const Logger& log, LeaseEventKind kind, Logger::Fields fields) {
  switch (kind) {
    case LeaseEventKind::bound:
      return log.info("lease bound", std::move(fields));
    case LeaseEventKind::renewed:
      return log.debug("lease renewed", std::move(fields));
    case LeaseEventKind::released:
      return log.info("lease released", std::move(fields));
    case LeaseEventKind::expired:
      return log.info("lease expired", std::move(fields));
    case LeaseEventKind::declined:
      return log.warning("address declined: somebody else uses it", std::move(fields));
    case LeaseEventKind::conflict:
      return;
  }
}

}  // namespace hcpnet::dhcp
