// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/net.hpp>
#include <optional>
#include <set>
#include <vector>

namespace hcpnet::dhcp {

/// Addresses that a pool may give to clients, and a cursor through them.
///
/// Nothing is kept per address: below the cursor every address has an owner somewhere else or is in `returned_`; above
/// it, an address that a client asked for by name is skipped when the cursor comes by.
class FreePool {
 public:
  FreePool() = default;
  /// Precondition: ascending, disjoint.
  explicit FreePool(std::vector<Ipv4Range> ranges);

  [[nodiscard]] bool contains(Ipv4 address) const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::vector<Ipv4Range>& ranges() const noexcept { return ranges_; }

  /// The lowest address that nobody has. `is_used` tells whether an address above the cursor has an owner.
  template <class IsUsed>
  std::optional<Ipv4> take(IsUsed is_used) {
    if (!returned_.empty()) return returned_.extract(returned_.begin()).value();
    skip(is_used);
    if (range_ == ranges_.size()) return std::nullopt;
    return Ipv4(static_cast<std::uint32_t>(ranges_[range_].first.value() + offset_++));
  }
  /// Moves the cursor past what has an owner: work that a later take() need not do.
  template <class IsUsed>
  void skip(IsUsed is_used) {
    for (; range_ < ranges_.size(); ++range_, offset_ = 0) {
      for (; offset_ < ranges_[range_].size(); ++offset_) {
        if (!is_used(Ipv4(static_cast<std::uint32_t>(ranges_[range_].first.value() + offset_)))) return;
      }
    }
  }
  /// Somebody has it from now on.
  void claim(Ipv4 address) { returned_.erase(address); }
  /// It was never bound and nobody has it any more.
  void give_back(Ipv4 address) {
    if (contains(address) && is_passed(address)) returned_.insert(address);
  }

 private:
  [[nodiscard]] bool is_passed(Ipv4 address) const noexcept;

  std::vector<Ipv4Range> ranges_;  // ascending, disjoint
  std::uint64_t size_ = 0;
  std::size_t range_ = 0;     // the cursor: everything in ranges_ before it,
  std::uint64_t offset_ = 0;  // and this many addresses of that range, are passed
  std::set<Ipv4> returned_;
};

}  // namespace hcpnet::dhcp
