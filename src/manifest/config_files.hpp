// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/observed.hpp>
#include <string>

#include "manifest/unit.hpp"

namespace hcpnet::manifest {

/// The unit as the files that `hcpnet up` reads in its pod.
[[nodiscard]] std::string network_file(const Unit& unit);
/// What was observed and concerns the unit, as objects that load_observed() reads; a List, empty where there is
/// nothing.
[[nodiscard]] std::string observed_file(const Unit& unit, const spec::Observed& observed);

}  // namespace hcpnet::manifest
