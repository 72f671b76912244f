// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <vector>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {

/// The zone cuts of a zone: owners of NS records below the apex (RFC 1034 section 4.2.1), with copies of the records
/// that a referral needs. What stands at or below a cut belongs to another zone.
///
/// An owner whose first label is "*" makes no cut: what it would delegate is undefined (RFC 4592 section 4.2).
class Delegations {
 public:
  /// `rrsets` are in canonical order, one for each owner and type.
  Delegations(const Name& apex, const std::vector<RRset>& rrsets);

  /// The cut nearest to the apex at or above `name`; null when there is none.
  [[nodiscard]] const Delegation* find(const FoldedName& name) const noexcept;

 private:
  struct Cut {
    std::uint32_t hash = 0;
    Delegation delegation;
  };
  std::size_t apex_labels_;
  std::size_t max_labels_ = 0;
  std::vector<Cut> cuts_;  ///< by hash
};

}  // namespace hcpnet::dns
