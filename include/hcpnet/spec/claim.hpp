// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/model.hpp>

namespace hcpnet::spec {

/// Who wins where two objects of a cluster claim one thing (an address, a MAC address, a domain): the older one by
/// creationTimestamp, then the one whose "namespace/name" sorts first. An object without a timestamp was never in a
/// cluster and is the youngest. A strict weak order, so it sorts claims. In files no claim wins: there a conflict is an
/// error.
[[nodiscard]] bool has_precedence(const ObjectMeta& a, const ObjectMeta& b) noexcept;

}  // namespace hcpnet::spec
