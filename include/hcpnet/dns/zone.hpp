// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <hcpnet/bytes.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dns {

class FoldedName;
struct ZoneMatch;

/// The types that are named in the code; a variable may hold any other number (RFC 3597).
enum class Type : std::uint16_t {
  a = 1,
  ns = 2,
  cname = 5,
  soa = 6,
  ptr = 12,
  hinfo = 13,
  mx = 15,
  txt = 16,
  rp = 17,
  afsdb = 18,
  aaaa = 28,
  srv = 33,
  naptr = 35,
  kx = 36,
  dname = 39,
  opt = 41,
  ds = 43,
  sshfp = 44,
  rrsig = 46,
  nsec = 47,
  nsec3 = 50,
  tlsa = 52,
  smimea = 53,
  cds = 59,
  svcb = 64,
  https = 65,
  spf = 99,
  ixfr = 251,
  axfr = 252,
  any = 255,
  uri = 256,
  caa = 257,
};

/// Same owner, class IN, type and TTL (RFC 2181 section 5). RDATA in wire form, names in it uncompressed.
struct RRset {
  Name owner;
  Type type = Type::a;
  std::uint32_t ttl = 30;  ///< seconds
  std::vector<std::string> rdata;
};

/// A zone cut, as a referral tells of it.
struct Delegation {
  RRset name_servers;
  std::vector<RRset> required_glue;  ///< addresses of name servers below the cut
  std::vector<RRset> other_glue;     ///< addresses that the zone has of others
};

enum class Availability : std::uint8_t {
  available,
  unavailable,  ///< the zone exists, but what its names should point to is not known now: every query is answered
                ///< SERVFAIL
};

/// Authoritative data under one apex. Immutable once built; any thread may read it.
///
/// Has a SOA always: the one among the records, or one made here with a primary name server and mailbox below the apex,
/// the serial as given and a negative TTL of 30 s. RRsets of the same owner and type become one with the smallest TTL.
/// Where zones nest, the longest apex owns a name. `find` follows RFC 1034 section 4.3.2 and RFC 4592: exact owner,
/// else NODATA for an empty non-terminal, else the closest encloser's wildcard, else NXDOMAIN. NS records below the
/// apex delegate: what is asked at or below their owner is a referral, whatever else stands there, except DS records,
/// which belong to this side of the cut (RFC 4035 section 3.1.4.1). NS records of a wildcard delegate nothing.
class Zone {
 public:
  static constexpr std::uint32_t kNegativeTtl = 30;  ///< seconds, of a SOA made here

  /// Preconditions: every owner is at or below the apex; a CNAME is alone at its owner, and never at the apex; at most
  /// one SOA.
  Zone(Name apex, std::vector<RRset> rrsets, std::uint32_t serial = 1,
       Availability availability = Availability::available);
  ~Zone();
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

  [[nodiscard]] const Name& apex() const noexcept;
  [[nodiscard]] const RRset& soa() const;  ///< the first of rrsets()
  [[nodiscard]] ByteView soa_rdata() const noexcept;
  /// In canonical order (RFC 4034 section 6), SOA first. A zone keeps its data packed for lookups; the first call makes
  /// this list, which takes twice the memory of that and stays as long as the zone.
  [[nodiscard]] const std::vector<RRset>& rrsets() const;
  [[nodiscard]] bool is_available() const noexcept;
  [[nodiscard]] std::size_t size_bytes() const noexcept;  ///< what lookups need, but for copies made for referrals
  /// Of the SOA in a negative answer: the smaller of its TTL and its last field (RFC 2308 section 3). Seconds.
  [[nodiscard]] std::uint32_t negative_ttl() const noexcept;

  enum class Outcome : std::uint8_t { answer, nodata, nxdomain, referral };
  struct Found {
    Outcome outcome = Outcome::nxdomain;
    /// With Outcome::answer: of the asked type, or a CNAME. With Outcome::referral: the NS records of the cut. Owned by
    /// the zone.
    const RRset* rrset = nullptr;
    bool from_wildcard = false;  ///< the owner in the reply is then the queried name
  };
  /// With Type::any the first RRset of the owner. Precondition: `name` is at or below the apex. An answer calls
  /// rrsets().
  [[nodiscard]] Found find(const Name& name, Type type) const;
  /// The same for a name that is already folded, out of the packed data: the responder's way, which never allocates. It
  /// does not look at cuts: ask find_delegation() first.
  [[nodiscard]] ZoneMatch find(const FoldedName& name, Type type) const noexcept;
  /// The zone cut at or above a name, unless DS records at the cut are asked for; null when there is none.
  [[nodiscard]] const Delegation* find_delegation(const FoldedName& name, Type type) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

[[nodiscard]] RRset make_a(Name owner, Ipv4 address, std::uint32_t ttl);
[[nodiscard]] RRset make_aaaa(Name owner, const Ipv6& address, std::uint32_t ttl);

}  // namespace hcpnet::dns
