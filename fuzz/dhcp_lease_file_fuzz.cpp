// SPDX-License-Identifier: Apache-2.0
// Lease files of every format. What is accepted, written as a file of ours, must be read back as the same leases; what
// is refused names a line.
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dhcp/lease_file.hpp>
#include <string_view>
#include <vector>

namespace {

using namespace hcpnet::dhcp;

void check_round_trip(const LeaseList& list) {
  std::vector<Lease> leases;
  std::vector<hcpnet::dhcp6::Lease> leases6;
  std::vector<std::uint32_t> lines;
  for (const ListedLease& listed : list.leases) {
    leases.push_back(listed.lease);
    lines.push_back(listed.line);
  }
  for (const ListedLease6& listed : list.leases6) {
    leases6.push_back(listed.lease);
    lines.push_back(listed.line);
  }
  const auto again = parse_lease_file(LeaseFileFormat::hcpnet, "rendered", render_lease_file(leases, leases6, lines));
  if (!again || again->leases.size() != leases.size() || again->leases6.size() != leases6.size()) std::abort();
  for (std::size_t i = 0; i < leases.size(); ++i)
    if (again->leases[i].lease != leases[i] || again->leases[i].line != lines[i]) std::abort();
  for (std::size_t i = 0; i < leases6.size(); ++i)
    if (again->leases6[i].lease != leases6[i]) std::abort();
  for (const auto format : {LeaseFileFormat::isc, LeaseFileFormat::dnsmasq, LeaseFileFormat::kea})
    if (!parse_lease_file(format, "rendered", render_lease_file(format, leases))) std::abort();
  if (!parse_lease_file(LeaseFileFormat::kea, "rendered", render_kea_leases6(leases6))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LeaseFileLimits limits;
  limits.max_leases = 100;
  for (const auto format :
       {LeaseFileFormat::hcpnet, LeaseFileFormat::isc, LeaseFileFormat::dnsmasq, LeaseFileFormat::kea}) {
    const auto list = parse_lease_file(format, "input", text, limits);
    if (list)
      check_round_trip(*list);
    else if (list.error().items().empty())
      std::abort();
  }
  return 0;
}
