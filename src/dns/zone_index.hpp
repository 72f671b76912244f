// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <limits>
#include <vector>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {

/// Finds the RRsets of a name among those of a zone, which it refers to by number and must not outlive.
///
/// Holds every name that exists: owners and the empty non-terminals above them, 12 bytes each, and a hash table of
/// 8-byte slots at most half full. A name that is not there costs one probe for each label up to its closest encloser
/// (RFC 4592 section 3.3.1).
class ZoneIndex {
 public:
  /// `rrsets` are in canonical order, so that the RRsets of one owner stand together.
  ZoneIndex(const Name& apex, const std::vector<RRset>& rrsets);

  struct Owner {
    bool exists = false;
    bool is_wildcard = false;  ///< the closest encloser's wildcard answers
    std::size_t first = 0;     ///< of the owner's RRsets
    std::size_t count = 0;     ///< none: an empty non-terminal
  };
  [[nodiscard]] Owner find(const FoldedName& name) const noexcept;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Node {
    std::uint32_t first = 0;         ///< RRset whose owner ends in this name
    std::uint32_t wildcard = kNone;  ///< node of the "*" child
    std::uint16_t count = 0;
    std::uint8_t offset = 0;  ///< of this name inside that owner
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t node = kNone;
  };

  void add_owner(const FoldedName& owner, std::uint32_t first);
  void insert(std::uint32_t hash, std::uint32_t node);
  void grow();
  void link_wildcards();
  [[nodiscard]] std::uint32_t find_node(const FoldedName& name, std::size_t labels) const noexcept;

  const RRset* rrsets_;
  std::size_t apex_labels_;
  std::vector<Node> nodes_;
  std::vector<Slot> slots_;
};

}  // namespace hcpnet::dns
