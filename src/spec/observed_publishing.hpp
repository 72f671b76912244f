// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/observed.hpp>

#include "spec/observed_objects.hpp"

namespace hcpnet::spec {

/// Fills `publishing` from Routes, Services, the Ingress configuration and the status of HostedClusters. What is no
/// host name or address is left out, with a warning.
void read_publishing(const ObservedObjects& objects, ObservedPublishing& publishing, Diagnostics& warnings);

}  // namespace hcpnet::spec
