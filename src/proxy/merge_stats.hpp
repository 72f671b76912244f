// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/proxy/engine.hpp>

namespace hcpnet::proxy {

/// Adds what one worker counted. What workers share (active, listeners, backends) is not looked at.
void merge(EngineStats& into, const EngineStats& from);

}  // namespace hcpnet::proxy
