// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>

#include "spec/observed_objects.hpp"

namespace hcpnet::spec {

/// Observed Infras and attachments against each other: server addresses, domains, hosted clusters, pools of apps
/// addresses. The older object keeps what two claim; `warnings` tell the other, at its line. Returns the attachments
/// ("namespace/name") that lost something: they get no apps address.
[[nodiscard]] std::set<std::string> settle_networks(const ObservedObjects& objects, Diagnostics& warnings);

}  // namespace hcpnet::spec
