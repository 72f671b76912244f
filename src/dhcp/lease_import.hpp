// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/lease_import.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// What taking over a list of leases has in common for both families.
namespace hcpnet::dhcp {

constexpr std::size_t kMaxStoredHostNameBytes = 255;  // as the lease database takes it
constexpr std::size_t kMaxStoredClientIdBytes = 4096;

/// Why a change that was asked for is not made.
[[nodiscard]] Diagnostics one_problem(const char* code, std::string message, std::string found = {});
/// Why a lease can't be taken over, for people. Precondition: there is an obstacle.
[[nodiscard]] Diagnostic describe_obstacle(AdoptObstacle obstacle, const std::string& file, std::uint32_t line,
                                           const std::string& address);
[[nodiscard]] Diagnostic foreign_network(const std::string& file, std::uint32_t line, const std::string& address,
                                         const std::string& served);
[[nodiscard]] Diagnostic no_room(const std::string& file, const std::string& subnet, std::size_t room);
[[nodiscard]] Diagnostic import_warning(const std::string& file, std::uint32_t line, const char* code,
                                        std::string message, const std::string& address);

/// The order that adopt() asks for: running leases from the newest to the oldest, then those that ended the other way
/// round.
template <class Listed>
[[nodiscard]] std::vector<const Listed*> adoption_order(const std::vector<Listed>& list, std::chrono::sys_seconds now) {
  std::vector<const Listed*> order;
  order.reserve(list.size());
  for (const Listed& listed : list) order.push_back(&listed);
  const auto is_running = [now](const Listed* l) {
    return (l->lease.state == LeaseState::bound || l->lease.state == LeaseState::declined) && l->lease.expires > now;
  };
  const auto rank = [](const Listed* l) { return std::tuple(l->lease.started, l->lease.expires, l->lease.address); };
  const auto ended = std::stable_partition(order.begin(), order.end(), is_running);
  std::sort(order.begin(), ended, [&](const Listed* a, const Listed* b) { return rank(b) < rank(a); });
  std::sort(ended, order.end(), [](const Listed* a, const Listed* b) {
    return std::tuple(a->lease.expires, a->lease.address) < std::tuple(b->lease.expires, b->lease.address);
  });
  return order;
}

/// Everything that stands against taking over `list`. `find_subnet(address)` gives the index of a subnet or nullopt,
/// `allocator(index)` and `name(index)` what belongs to it; `served` names all networks.
template <class Listed, class FindSubnet, class AllocatorOf, class NameOf>
void check_adoption(const std::string& file, const std::vector<Listed>& list, std::chrono::sys_seconds now,
                    std::size_t subnets, FindSubnet find_subnet, AllocatorOf allocator, NameOf name,
                    const std::string& served, Diagnostics& problems) {
  std::vector<std::size_t> counts(subnets);
  for (const Listed& listed : list) {
    const auto subnet = find_subnet(listed.lease.address);
    if (!subnet) {
      problems.add(foreign_network(file, listed.line, listed.lease.address.to_string(), served));
      continue;
    }
    ++counts[*subnet];
    const AdoptObstacle obstacle = listed.lease.host_name.size() > kMaxStoredHostNameBytes
                                       ? AdoptObstacle::no_client
                                       : allocator(*subnet).obstacle(listed.lease, now);
    if (obstacle != AdoptObstacle::none)
      problems.add(describe_obstacle(obstacle, file, listed.line, listed.lease.address.to_string()));
  }
  for (std::size_t i = 0; i < subnets; ++i)
    if (counts[i] > allocator(i).room()) problems.add(no_room(file, name(i), allocator(i).room()));
}

/// Takes over `list`, which check_adoption() has nothing against. `add(index, event)` notes a change.
template <class Listed, class FindSubnet, class AllocatorOf, class Add>
void adopt_all(const std::string& file, const std::vector<Listed>& list, std::chrono::sys_seconds now,
               FindSubnet find_subnet, AllocatorOf allocator, Add add, LeaseImport& outcome) {
  for (const Listed* listed : adoption_order(list, now)) {
    const std::size_t subnet = *find_subnet(listed->lease.address);
    auto adopted = allocator(subnet).adopt(listed->lease, now);
    if (adopted.event) add(subnet, *std::move(adopted.event));
    switch (adopted.how) {
      case Adoption::unchanged:
        ++outcome.unchanged;
        break;
      case Adoption::left_out:
        ++outcome.left_out;
        break;
      case Adoption::rests:
        if (listed->lease.state == LeaseState::bound)
          outcome.warnings.add(import_warning(file, listed->line, "lease-rests",
                                              "its client has another lease: this address rests until the lease ends",
                                              listed->lease.address.to_string()));
        [[fallthrough]];
      case Adoption::bound:
      case Adoption::remembered:
        ++outcome.imported;
        break;
    }
  }
  outcome.warnings.sort();
}

}  // namespace hcpnet::dhcp
