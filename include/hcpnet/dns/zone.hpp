// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/net.hpp>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dns {

enum class Type : std::uint16_t { a = 1, ns = 2, cname = 5, soa = 6, ptr = 12, mx = 15, txt = 16, aaaa = 28, srv = 33, opt = 41, any = 255 };

/// Same owner, class IN, type and TTL (RFC 2181 section 5). RDATA in wire form, names in it uncompressed.
struct RRset {
  Name owner;
  Type type = Type::a;
  std::uint32_t ttl = 30;  ///< seconds
  std::vector<std::string> rdata;
};

/// Authoritative data under one apex. Immutable once built.
///
/// Has a SOA always: primary name server and mailbox below the apex, serial as given. `find` follows RFC 1034 section 4.3.2 and
/// RFC 4592: exact owner, else NODATA for an empty non-terminal, else the closest encloser's wildcard, else NXDOMAIN.
class Zone {
 public:
  /// Records outside the apex are a precondition violation.
  Zone(Name apex, std::vector<RRset> rrsets, std::uint32_t serial = 1);
  ~Zone();

  [[nodiscard]] const Name& apex() const noexcept;
  [[nodiscard]] const RRset& soa() const noexcept;
  [[nodiscard]] const std::vector<RRset>& rrsets() const noexcept;  ///< in canonical order, SOA first

  enum class Outcome : std::uint8_t { answer, nodata, nxdomain };
  struct Found {
    Outcome outcome = Outcome::nxdomain;
    const RRset* rrset = nullptr;  ///< with Outcome::answer: of the asked type, or a CNAME; owned by the zone
    bool from_wildcard = false;    ///< the owner in the reply is then the queried name
  };
  [[nodiscard]] Found find(const Name& name, Type type) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

[[nodiscard]] RRset make_a(Name owner, Ipv4 address, std::uint32_t ttl);

}  // namespace hcpnet::dns
