// SPDX-License-Identifier: Apache-2.0
#include "dns/rdata_layout.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "dns/folded_name.hpp"
#include "dns/wire_name.hpp"

namespace hcpnet::dns {
namespace {

// RFC 1035 section 3.3, and the later types that receivers must expand (RFC 3597 section 4), by number.
constexpr RdataLayout kLayouts[] = {
    {Type::a, 4, 0, 0, 0, false},     {Type::ns, 0, 0, 1, 0, true},     {Type{3}, 0, 0, 1, 0, true},  // MD
    {Type{4}, 0, 0, 1, 0, true},                                                                      // MF
    {Type::cname, 0, 0, 1, 0, true},  {Type::soa, 0, 0, 2, 20, true},   {Type{7}, 0, 0, 1, 0, true},  // MB
    {Type{8}, 0, 0, 1, 0, true},                                                                      // MG
    {Type{9}, 0, 0, 1, 0, true},                                                                      // MR
    {Type::ptr, 0, 0, 1, 0, true},    {Type{14}, 0, 0, 2, 0, true},                                   // MINFO
    {Type::mx, 2, 0, 1, 0, true},     {Type::rp, 0, 0, 2, 0, false},    {Type::afsdb, 2, 0, 1, 0, false},
    {Type{21}, 2, 0, 1, 0, false},  // RT
    {Type{26}, 2, 0, 2, 0, false},  // PX
    {Type::aaaa, 16, 0, 0, 0, false}, {Type::srv, 6, 0, 1, 0, false},   {Type::naptr, 4, 3, 1, 0, false},
    {Type::kx, 2, 0, 1, 0, false},    {Type::dname, 0, 0, 1, 0, false},
};

void append(std::string& to, ByteView bytes) {
  to += as_text(bytes);
}

/// One that is not compressed.
void skip_full_name(ByteReader& reader) noexcept {
  FoldedName name;
  const std::size_t bytes = name.read(reader.rest());
  reader.skip(bytes == 0 ? reader.remaining() + 1 : bytes);
}

/// To the end: windows of 1 to 32 bytes, in their order (RFC 4034 section 4.1.2).
bool are_type_bitmaps(ByteReader& reader) noexcept {
  for (int last = -1; reader.remaining() > 0;) {
    const int window = reader.u8();
    const std::size_t bytes = reader.u8();
    if (window <= last || bytes == 0 || bytes > 32) return false;
    last = window;
    reader.skip(bytes);
  }
  return reader.ok();
}

/// `known`: the lengths of kinds 1, 2, ...; a digest of another kind has any, from `least` on.
bool is_digest(std::uint8_t kind, std::initializer_list<std::size_t> known, const ByteReader& reader,
               std::size_t least = 1) noexcept {
  if (kind == 0 || kind > known.size()) return reader.remaining() >= least;
  return reader.remaining() == known.begin()[kind - 1];
}

/// RFC 4025 section 2: precedence, kind of gateway, algorithm, gateway, key.
bool is_ipsec_key(ByteReader reader) noexcept {
  reader.skip(1);
  const std::uint8_t gateway = reader.u8();
  reader.skip(1);
  if (gateway == 1) reader.skip(4);
  if (gateway == 2) reader.skip(16);
  if (gateway == 3) skip_full_name(reader);
  return reader.ok() && gateway <= 3;
}

}  // namespace

const RdataLayout* find_rdata_layout(Type type) noexcept {
  const auto* found = std::ranges::lower_bound(kLayouts, type, {}, &RdataLayout::type);
  return found != std::end(kLayouts) && found->type == type ? found : nullptr;
}

bool has_all_fields(Type type, ByteView rdata) noexcept {
  ByteReader reader(rdata);
  switch (static_cast<std::uint16_t>(type)) {
    case 29:  // LOC of version 0 (RFC 1876 section 2)
      return rdata.size() == 16 && rdata.front() == 0;
    case 37:  // CERT (RFC 4398 section 2)
      return rdata.size() > 5;
    case 42:  // APL (RFC 3123 section 4)
      while (reader.remaining() > 0) {
        reader.skip(3);
        reader.skip(std::size_t{reader.u8()} & 0x7f);
      }
      return reader.ok();
    case 43:  // DS and CDS (RFC 4034 section 5.1)
    case 59:
      reader.skip(3);
      return is_digest(reader.u8(), {20, 32, 32, 48}, reader);
    case 44:  // SSHFP (RFC 4255 section 3.1, RFC 6594)
      reader.skip(1);
      return is_digest(reader.u8(), {20, 32}, reader);
    case 45:
      return is_ipsec_key(reader);
    case 46:  // RRSIG (RFC 4034 section 3.1)
      reader.skip(18);
      skip_full_name(reader);
      return reader.remaining() > 0;
    case 47:  // NSEC (RFC 4034 section 4.1)
      skip_full_name(reader);
      return reader.remaining() > 0 && are_type_bitmaps(reader);
    case 48:  // DNSKEY and CDNSKEY (RFC 4034 section 2.1)
    case 60:
      return rdata.size() > 4;
    case 49:  // DHCID (RFC 4701 section 3.1)
      return rdata.size() > 3;
    case 50: {  // NSEC3 (RFC 5155 section 3.2)
      reader.skip(4);
      reader.skip(reader.u8());
      const std::uint8_t hash_bytes = reader.u8();
      reader.skip(hash_bytes);
      return hash_bytes > 0 && are_type_bitmaps(reader);
    }
    case 51:  // NSEC3PARAM (RFC 5155 section 4.2)
      reader.skip(4);
      reader.skip(reader.u8());
      return reader.at_end();
    case 52:  // TLSA and SMIMEA (RFC 6698 section 2.1)
    case 53:
      reader.skip(2);
      return is_digest(reader.u8(), {32, 64}, reader);
    case 61:  // OPENPGPKEY
      return !rdata.empty();
    case 62:  // CSYNC (RFC 7477 section 2.1)
      reader.skip(6);
      return are_type_bitmaps(reader);
    case 63:  // ZONEMD (RFC 8976 section 2.2)
      reader.skip(5);
      return is_digest(reader.u8(), {48, 64}, reader, 12);
    case 104:  // NID and L64 (RFC 6742 section 2)
    case 106:
      return rdata.size() == 10;
    case 105:  // L32
      return rdata.size() == 6;
    case 107:  // LP
      reader.skip(2);
      skip_full_name(reader);
      return reader.at_end();
    case 108:  // EUI48 and EUI64 (RFC 7043)
      return rdata.size() == 6;
    case 109:
      return rdata.size() == 8;
    default:
      return true;
  }
}

std::optional<std::string> expand_rdata(ByteView message, ByteReader rdata, Type type) {
  const RdataLayout* layout = find_rdata_layout(type);
  if (layout == nullptr) return std::string(as_text(rdata.rest()));
  std::string expanded;
  append(expanded, rdata.bytes(layout->bytes_before));
  for (int i = 0; i < layout->strings; ++i) {
    const std::uint8_t length = rdata.u8();
    expanded += static_cast<char>(length);
    append(expanded, rdata.bytes(length));
  }
  for (int i = 0; i < layout->names; ++i)
    if (!rdata.ok() || !append_name(message, rdata, expanded)) return std::nullopt;
  append(expanded, rdata.bytes(layout->bytes_after));
  if (!rdata.at_end()) return std::nullopt;
  return expanded;
}

}  // namespace hcpnet::dns
