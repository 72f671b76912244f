// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/spec/observed.hpp>
#include <map>
#include <string>

#include "manifest/unit.hpp"

namespace hcpnet::manifest {

/// The unit as the file that `hcpnet up` reads in its pod; files of records that a policy names lie beside it.
[[nodiscard]] std::string network_file(const Unit& unit);
/// Those files, by name: the records that were read, whatever the files looked like.
[[nodiscard]] std::map<std::string, std::string> record_files(const Unit& unit);
/// What was observed and concerns the unit, as objects that load_observed() reads; a List, empty where there is
/// nothing.
[[nodiscard]] std::string observed_file(const Unit& unit, const spec::Observed& observed);

}  // namespace hcpnet::manifest
