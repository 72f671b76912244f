// SPDX-License-Identifier: Apache-2.0
#include "dhcp/lease_import.hpp"

namespace hcpnet::dhcp {
namespace {

Diagnostic make(Severity severity, const std::string& file, std::uint32_t line, const char* code, std::string message,
                const std::string& found) {
  return {severity, file, line, 0, {}, code, std::move(message), found, {}};
}

}  // namespace

Diagnostics one_problem(const char* code, std::string message, std::string found) {
  Diagnostics out;
  out.add({Severity::error, {}, 0, 0, {}, code, std::move(message), std::move(found), {}});
  return out;
}

Diagnostic describe_obstacle(AdoptObstacle obstacle, const std::string& file, std::uint32_t line,
                             const std::string& address) {
  const auto error = [&](const char* code, std::string message) {
    return make(Severity::error, file, line, code, std::move(message), address);
  };
  switch (obstacle) {
    case AdoptObstacle::own_address:
      return error("lease-own-address",
                   "a client can't have the address: it is that of the network, a server or the router");
    case AdoptObstacle::held:
      return error("lease-held", "another client has a lease on the address here; release one of the two");
    case AdoptObstacle::resting:
      return error("lease-held", "the address rests here, because somebody else uses it; release it first");
    case AdoptObstacle::no_client:
    case AdoptObstacle::none:
      break;
  }
  return error("lease-bad-value", "the lease is in use, but its client can't be known again");
}

Diagnostic foreign_network(const std::string& file, std::uint32_t line, const std::string& address,
                           const std::string& served) {
  Diagnostic d = make(Severity::error, file, line, "lease-foreign-network",
                      "the address lies in no network that is served; name those whose leases to take, and the others "
                      "are left out",
                      address);
  d.expected = served.empty() ? "none of this family is" : served;
  return d;
}

Diagnostic no_room(const std::string& file, const std::string& subnet, std::size_t room) {
  return make(Severity::error, file, 0, "lease-no-room",
              subnet + " has room for " + std::to_string(room) + " more leases", {});
}

Diagnostic import_warning(const std::string& file, std::uint32_t line, const char* code, std::string message,
                          const std::string& address) {
  return make(Severity::warning, file, line, code, std::move(message), address);
}

}  // namespace hcpnet::dhcp
