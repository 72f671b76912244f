// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/dns/config.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hcpnet::dns {

/// The zones of one view, found by the names below them. Immutable; any thread may read it.
class ViewZones {
 public:
  /// Errors: Errc::duplicate_zone.
  [[nodiscard]] static Result<ViewZones> make(const View& view);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_allowed(const IpAddress& client) const noexcept { return holds(allowed_, client); }
  [[nodiscard]] bool may_forward(const IpAddress& client) const noexcept { return holds(forwarding_allowed_, client); }
  /// The zone with the longest apex at or above `name`; null when no zone owns it.
  [[nodiscard]] const Zone* find(const Name& name) const noexcept;
  [[nodiscard]] const Zone* find(const FoldedName& name) const noexcept;
  /// The zone that answers for records of `type`: as find(), but for DS records at an apex, which are the parent zone's
  /// where that is here and delegates the name (RFC 4035 section 3.1.4.1).
  [[nodiscard]] const Zone* find_for(const FoldedName& name, Type type) const noexcept;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    const Zone* zone = nullptr;
  };

  /// With an apex of at most `max_labels`, of those that the name has.
  [[nodiscard]] const Zone* find(const FoldedName& name, std::size_t max_labels) const noexcept;
  /// Whether a list, if there is one, holds the address.
  static bool holds(const std::optional<std::vector<Cidr>>& list, const IpAddress& client) noexcept;

  std::string name_;
  std::optional<std::vector<Cidr>> allowed_;
  std::optional<std::vector<Cidr>> forwarding_allowed_;
  std::vector<std::shared_ptr<const Zone>> zones_;
  std::vector<Slot> slots_;  ///< by hash of the apex, at most half full; a power of two
  std::size_t max_apex_labels_ = 0;
};

/// Which view a client belongs to: the longest prefix of all views that holds its address. Immutable; any thread may
/// read it.
class ViewSet {
 public:
  ViewSet() = default;
  /// Errors: Errc::duplicate_prefix, duplicate_zone.
  [[nodiscard]] static Result<ViewSet> make(const std::vector<View>& views);

  /// The position of the view among those given; nullopt for a client of none, or one that its view does not allow.
  [[nodiscard]] std::optional<std::size_t> find(const IpAddress& client) const noexcept;
  [[nodiscard]] const ViewZones& operator[](std::size_t position) const noexcept { return views_[position]; }
  [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }

 private:
  /// Prefixes nest or are disjoint, so they cut the addresses into ranges, each with one innermost prefix.
  struct Range {
    IpAddress first;  ///< up to the next one's
    std::optional<std::size_t> view;
  };
  std::vector<ViewZones> views_;
  std::vector<Range> ranges_;
};

}  // namespace hcpnet::dns
