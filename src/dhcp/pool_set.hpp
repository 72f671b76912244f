// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dhcp/client_class.hpp>
#include <hcpnet/dhcp/config.hpp>
#include <hcpnet/net.hpp>
#include <optional>
#include <span>
#include <vector>

#include "dhcp/free_pool.hpp"

namespace hcpnet::dhcp {

/// The pools of all subnets of one link: which addresses each may give, and to whom.
///
/// An address belongs to the first pool that has it. Those of network, broadcast, servers, routers and reservations,
/// and exclusions, belong to none.
class PoolSet {
 public:
  struct Entry {
    Ipv4Range range;  ///< as configured
    std::size_t subnet = 0;
    bool is_guarded = false;
    ClassSet guard;  ///< who gets an address, where it is guarded
    FreePool free;

    [[nodiscard]] bool is_open_to(const ClassSet& classes) const noexcept {
      return !is_guarded || (guard & classes).any();
    }
  };

  PoolSet() = default;
  explicit PoolSet(std::span<const Subnet> subnets);

  [[nodiscard]] std::size_t size() const noexcept { return pools_.size(); }
  [[nodiscard]] const Entry& operator[](std::size_t index) const noexcept { return pools_[index]; }
  [[nodiscard]] Entry& operator[](std::size_t index) noexcept { return pools_[index]; }
  /// The pool that an address belongs to; takes time logarithmic in the number of pools and holes.
  [[nodiscard]] std::optional<std::size_t> find(Ipv4 address) const noexcept;
  /// Whether the same addresses belong to the same pools.
  [[nodiscard]] bool has_layout_of(const PoolSet& other) const noexcept;

  void claim(Ipv4 address);
  void give_back(Ipv4 address);

 private:
  struct Piece {
    Ipv4Range range;
    std::uint16_t pool;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  std::vector<Entry> pools_;
  std::vector<Piece> pieces_;  // ascending, disjoint
};

}  // namespace hcpnet::dhcp
