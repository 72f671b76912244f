// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/spec/observed.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "manifest/unit.hpp"

namespace hcpnet::manifest {

/// The unit as the file that `hcpnet up` reads in its pod; files of records that a policy names lie beside it.
[[nodiscard]] std::string network_file(const Unit& unit);
/// Those files, by name: the records that were read, whatever the files looked like.
[[nodiscard]] std::map<std::string, std::string> record_files(const Unit& unit);
/// Files of a DHCPPolicy's sharedStore come from a Secret of the user's, with the keys that Secrets of
/// kubernetes.io/tls have, and `password`. Where it is mounted, and those of its keys that the unit needs; none: no
/// Secret.
inline constexpr const char* kStorePath = "/etc/hcpnet-store";
[[nodiscard]] std::vector<std::string> store_keys(const Unit& unit);
/// About the one of them that takes the most room, at its place in the policy; nullopt where all of them together are
/// less than half of the `whole` bytes: something else is too large then.
[[nodiscard]] std::optional<Diagnostic> problem_of_largest_record_file(const Unit& unit, std::size_t whole,
                                                                       const std::string& code,
                                                                       const std::string& message);
/// What was observed and concerns the unit, as objects that load_observed() reads; a List, empty where there is
/// nothing.
[[nodiscard]] std::string observed_file(const Unit& unit, const spec::Observed& observed);

}  // namespace hcpnet::manifest
