// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/zone.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stack/derive.hpp"
#include "stack/zone_set.hpp"

namespace hcpnet::derive {

/// The zones of a view together with those that files of the policy bring. `zones` holds everything else by now, and
/// gets the names of hosts files. A name and type, or an apex, of two sources is an error at its place in the file.
/// `leases`: what is published of them in this view.
[[nodiscard]] std::vector<std::shared_ptr<const dns::Zone>> build_with_files(
    ZoneSet& zones, const spec::ValidDnsPolicy& policy, const std::string& view, const std::optional<LeaseZone>& leases,
    const spec::ObjectMeta& owner, Diagnostics& problems);
/// Files for a view that no client is left for.
void warn_of_unseen_files(const dns::Config& config, const spec::ValidDnsPolicy& policy, const spec::ObjectMeta& owner,
                          Diagnostics& problems);
/// Zones of `forwarding` at or below what a file makes a zone.
void warn_of_dead_forwarding(const spec::ValidDnsPolicy& policy, const spec::ObjectMeta& owner, Diagnostics& problems);

}  // namespace hcpnet::derive
