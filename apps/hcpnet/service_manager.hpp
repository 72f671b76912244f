// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hcpnet::app {

/// Tells the service manager, where one asked for it by $NOTIFY_SOCKET (sd_notify(3)); else does nothing. `state` as
/// documented there: "READY=1", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=...".
void notify_service_manager(const std::string& state);

/// "RELOADING=1" with the time that Type=notify-reload wants.
void notify_reloading();

}  // namespace hcpnet::app
