// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hcpnet::derive {

/// Zones of one view while they are put together.
class ZoneSet {
 public:
  explicit ZoneSet(std::chrono::seconds ttl) : ttl_(static_cast<std::uint32_t>(ttl.count())) {}

  /// From now on `domain` is a zone, with or without records.
  void add_zone(const std::string& domain) { zones_.try_emplace(dns::parse_name(domain).value()); }
  void add_zone(const dns::Name& apex) { zones_.try_emplace(apex); }
  /// A zone whose names exist, but lead where nobody knows yet.
  void add_unavailable_zone(const std::string& domain);
  /// The same for every zone that is there by now.
  void make_unavailable();
  /// A zone that is complete: what is published later, too, stands beside it. Precondition: !has_zone(apex).
  void add_complete_zone(std::shared_ptr<const dns::Zone> zone);

  /// Publishes an address for a name or a wildcard, in the zone that holds it, else as a zone of its own.
  void add_address(const std::string& name, Ipv4 address);
  /// A name that will have an address, which nobody knows yet. It is not published, but nobody else may have it:
  /// whether sources clash must not depend on what is known by now.
  void reserve(const std::string& name) { reserved_.insert(dns::parse_name(name).value()); }
  /// Adds records, in the zone that holds their owner, else as a zone of its own. False for what cannot stand there: an
  /// alias beside other records or at an apex, or another record beside an alias.
  [[nodiscard]] bool add_record(const dns::RRset& rrset);
  /// A PTR record for each address, to every name but wildcards, each in a zone of its own: the rest of the network
  /// is somebody else's.
  void add_reverse();

  [[nodiscard]] bool has_zone(const dns::Name& apex) const;
  /// Whether records of the type, or an alias, stand at `owner` or will, but for those of complete zones.
  [[nodiscard]] bool has_record(const dns::Name& owner, dns::Type type) const;
  /// What complete zones may collide with: what is there, or will be.
  struct Published {
    dns::Name apex, owner;
    dns::Type type = dns::Type::a;
  };
  [[nodiscard]] std::vector<Published> published() const;
  /// Of all zones but complete ones.
  [[nodiscard]] std::vector<dns::Name> apexes() const;

  [[nodiscard]] std::vector<std::shared_ptr<const dns::Zone>> build() const;

 private:
  struct Owner {
    std::vector<Ipv4> addresses;
    std::vector<dns::RRset> records;
    [[nodiscard]] bool has_alias() const;
  };
  using Owners = std::map<dns::Name, Owner>;
  using Zones = std::map<dns::Name, Owners>;

  /// The zone that holds a name.
  [[nodiscard]] Zones::const_iterator closest(dns::Name name) const;
  Zones::value_type& zone_for(const dns::Name& owner);

  Zones zones_;
  std::set<dns::Name> unavailable_;  ///< apexes
  std::set<dns::Name> reserved_;     ///< owners
  std::map<dns::Name, std::shared_ptr<const dns::Zone>> complete_;
  std::uint32_t ttl_;
};

}  // namespace hcpnet::derive
