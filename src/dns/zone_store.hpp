// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/zone.hpp>
#include <limits>
#include <vector>

#include "dns/folded_name.hpp"

namespace hcpnet::dns {

/// One RRset as it stands in replies: a row of records in wire form, each with a pointer to the name asked as its
/// owner. Refers to the zone.
struct StoredRRset {
  static constexpr std::size_t kRecordHeadBytes = 12;  ///< owner, type, class, TTL, length

  Type type = Type::a;
  std::uint16_t count = 0;  ///< of records; meaningless when they don't fit into a message
  ByteView records;

  [[nodiscard]] std::uint32_t ttl() const noexcept {
    ByteReader first(records);
    first.skip(kRecordHeadBytes - 6);
    return first.u32();
  }
  /// The RDATA of the first record.
  [[nodiscard]] ByteView front() const noexcept {
    ByteReader first(records);
    first.skip(kRecordHeadBytes - 2);
    return first.bytes(first.u16());
  }
  /// Calls `use` with the RDATA of each record until it returns false; whether it never did.
  template <class Use>
  bool for_each(Use use) const {
    for (ByteReader rest(records); rest.remaining() > 0;) {
      rest.skip(kRecordHeadBytes - 2);
      if (!use(rest.bytes(rest.u16()))) return false;
    }
    return true;
  }
};

/// What Zone::find gives the responder. The same as Zone::Found, without copies.
struct ZoneMatch {
  Zone::Outcome outcome = Zone::Outcome::nxdomain;
  bool from_wildcard = false;
  std::size_t position = 0;  ///< with Outcome::answer: among the zone's RRsets
  StoredRRset rrset;         ///< with Outcome::answer
};

/// The data of a zone, packed for lookups: a hash table of 8-byte slots at most half full, and one block of bytes for
/// each name that exists, empty non-terminals included, with everything a reply needs. A hit touches one slot and one
/// block; a name that is not there costs one probe for each label up to its closest encloser (RFC 4592 section 3.3.1).
class ZoneStore {
 public:
  /// `rrsets` are in canonical order, so that the RRsets of one owner stand together.
  ZoneStore(const Name& apex, const std::vector<RRset>& rrsets);

  [[nodiscard]] ZoneMatch find(const FoldedName& name, Type type) const noexcept;
  /// Everything, in canonical order.
  [[nodiscard]] std::vector<RRset> unpack() const;
  [[nodiscard]] std::size_t size_bytes() const noexcept { return blocks_.size() + slots_.size() * sizeof(Slot); }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kAlignment = 8;  ///< of blocks, whose places are counted in such steps
  // A block: Head, the name as it was given, and for each RRset a RowHead and its records. No padding in between.
  struct Head {
    std::uint32_t wildcard;  ///< block of the "*" child
    std::uint32_t first;     ///< position of its first RRset among all
    std::uint16_t rrsets;
    std::uint16_t name_bytes;
  };
  struct RowHead {
    std::uint32_t bytes;
    std::uint16_t count;
    Type type;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t block = kNone;
  };
  struct Place {
    const std::uint8_t* rows = nullptr;  ///< null: no such name
    Head head{};
    bool from_wildcard = false;
  };

  template <class T>
  [[nodiscard]] static T load(const std::uint8_t* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  void store(const T& value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    blocks_.insert(blocks_.end(), bytes, bytes + sizeof value);
  }
  [[nodiscard]] const std::uint8_t* block(std::uint32_t place) const noexcept {
    return blocks_.data() + std::size_t{place} * kAlignment;
  }

  [[nodiscard]] ByteView name_of(std::uint32_t place) const noexcept {
    const std::uint8_t* at = block(place);
    return {at + sizeof(Head), load<Head>(at).name_bytes};
  }

  std::uint32_t add_block(ByteView name, std::uint32_t first, std::uint16_t rrsets);
  void add_names_above(const FoldedName& owner);
  void add_row(const RRset& rrset);
  void insert(std::uint32_t hash, std::uint32_t block);
  void put(Slot slot) noexcept;
  void link_wildcards();
  [[nodiscard]] std::uint32_t find_block(const FoldedName& name, std::size_t labels) const noexcept;
  [[nodiscard]] Place find_name(const FoldedName& name) const noexcept;

  std::size_t apex_labels_;
  std::size_t names_ = 0;
  std::vector<std::uint8_t> blocks_;
  std::vector<Slot> slots_;
};

}  // namespace hcpnet::dns
