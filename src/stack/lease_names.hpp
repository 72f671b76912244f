// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dhcp/lease.hpp>
#include <hcpnet/dhcp6/lease.hpp>
#include <hcpnet/stack/config.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hcpnet {

/// The names that leases have in the DNS of one server. Pure.
///
/// A name belongs to the first client that has a lease under it, for as long as it has one; who comes later is refused
/// until it renews after that. A client is known by its hardware address, which its IPv4 and IPv6 leases share; an IPv6
/// client whose hardware address is not known, by its DUID. A host name that the configuration gives to a client is
/// nobody else's, and records of the configuration keep their owner.
class LeaseNames {
 public:
  /// `base`: what is served without leases.
  LeaseNames(LeaseZone zone, const dns::Config& base);

  /// These leases and no others: those that `before`, if it is not null, had under their names keep them, then the
  /// older binding comes first.
  void note_all(const std::vector<dhcp::Lease>& leases, const std::vector<dhcp6::Lease>& leases6,
                const LeaseNames* before);
  /// True when what is published changes. A lease that is not bound ends its name.
  bool note(const dhcp::Lease& lease);
  bool note(const dhcp6::Lease& lease);

  /// Puts the names into the zones of `config`, which are `base`'s or what an earlier call made of them.
  void publish(dns::Config& config) const;

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// Leases whose name was refused because it is another client's, or a record's of the configuration.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

 private:
  struct Claim {
    IpAddress address;
    std::string client;      ///< by its hardware address where that is known
    std::string identifier;  ///< DUID, or client identifier (one that sends none has that of its hardware address)
    std::string host_name, subnet;
    std::chrono::sys_seconds started;
    bool is_bound = false;
  };
  struct Holder {
    std::string client;
    std::vector<IpAddress> addresses;  ///< ordered
  };
  /// Records of the configuration.
  struct Fixed {
    std::vector<dns::RRset> rrsets;
    std::set<dns::Name> owners;
  };
  static Claim claim_of(const dhcp::Lease& lease);
  static Claim claim_of(const dhcp6::Lease& lease);
  bool note(const Claim& claim);
  [[nodiscard]] bool is_free_for(const std::string& label, const Claim& claim) const;
  bool give_up(const IpAddress& address);
  [[nodiscard]] bool is_held(const Claim& claim) const;
  [[nodiscard]] std::vector<dns::RRset> addresses() const;
  [[nodiscard]] std::vector<dns::RRset> pointers() const;

  LeaseZone zone_;
  std::map<dns::Name, Fixed> fixed_;     ///< by apex
  std::map<std::string, Holder> names_;  ///< by label
  std::unordered_map<IpAddress, std::string> labels_;
  std::uint64_t refused_ = 0;
};

/// Who a client without a hardware address is, in LeaseZone::reserved.
[[nodiscard]] std::string owner_by_duid(const dhcp6::Duid& duid);
[[nodiscard]] std::string owner_by_client_id(std::string_view client_id);

/// The zones of reverse names that make up a network: as many as it takes to end at a whole label, 128 at most for IPv4
/// and 8 for IPv6.
[[nodiscard]] std::vector<dns::Name> reverse_zones(const Cidr& network);
/// "4.2.0.192.in-addr.arpa.", or the same below ip6.arpa (RFC 3596 section 2.5).
[[nodiscard]] dns::Name reverse_name(const IpAddress& address);
/// What a host name is as one label: its first one in lower case; empty unless that is of letters, digits and hyphens
/// (RFC 1123 section 2.1).
[[nodiscard]] std::string lease_label(std::string_view host_name);

}  // namespace hcpnet
