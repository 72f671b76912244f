// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/dns/message.hpp>
#include <hcpnet/dns/rdata.hpp>
#include <iterator>

#include "dns/rdata_text.hpp"

namespace hcpnet::dns {
namespace {

constexpr std::string_view kGenericType = "TYPE";

struct NamedType {
  Type type;
  std::string_view name;
};
/// By number: what is in use today, and has its name in BIND, Knot, unbound and CoreDNS too, so that they read what we
/// write. A type that is not here has a name as well, that with its number.
constexpr NamedType kTypes[] = {
    {Type::a, "A"},           {Type::ns, "NS"},         {Type::cname, "CNAME"}, {Type::soa, "SOA"},
    {Type::ptr, "PTR"},       {Type::hinfo, "HINFO"},   {Type::mx, "MX"},       {Type::txt, "TXT"},
    {Type::rp, "RP"},         {Type::afsdb, "AFSDB"},   {Type::aaaa, "AAAA"},   {Type{29}, "LOC"},
    {Type::srv, "SRV"},       {Type::naptr, "NAPTR"},   {Type::kx, "KX"},       {Type{37}, "CERT"},
    {Type::dname, "DNAME"},   {Type::opt, "OPT"},       {Type{42}, "APL"},      {Type::ds, "DS"},
    {Type::sshfp, "SSHFP"},   {Type{45}, "IPSECKEY"},   {Type::rrsig, "RRSIG"}, {Type::nsec, "NSEC"},
    {Type{48}, "DNSKEY"},     {Type{49}, "DHCID"},      {Type::nsec3, "NSEC3"}, {Type{51}, "NSEC3PARAM"},
    {Type::tlsa, "TLSA"},     {Type::smimea, "SMIMEA"}, {Type::cds, "CDS"},     {Type{60}, "CDNSKEY"},
    {Type{61}, "OPENPGPKEY"}, {Type{62}, "CSYNC"},      {Type{63}, "ZONEMD"},   {Type::svcb, "SVCB"},
    {Type::https, "HTTPS"},   {Type::spf, "SPF"},       {Type{104}, "NID"},     {Type{105}, "L32"},
    {Type{106}, "L64"},       {Type{107}, "LP"},        {Type{108}, "EUI48"},   {Type{109}, "EUI64"},
    {Type::ixfr, "IXFR"},     {Type::axfr, "AXFR"},     {Type::any, "ANY"},     {Type::uri, "URI"},
    {Type::caa, "CAA"}};
static_assert(std::ranges::is_sorted(kTypes, {}, &NamedType::type));

char upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, upper, upper);
}

}  // namespace

std::string to_string(Rcode rcode) {
  switch (rcode) {
    case Rcode::noerror:
      return "NOERROR";
    case Rcode::formerr:
      return "FORMERR";
    case Rcode::servfail:
      return "SERVFAIL";
    case Rcode::nxdomain:
      return "NXDOMAIN";
    case Rcode::notimp:
      return "NOTIMP";
    case Rcode::refused:
      return "REFUSED";
    case Rcode::notauth:
      return "NOTAUTH";
    case Rcode::badvers:
      return "BADVERS";
    case Rcode::badcookie:
      return "BADCOOKIE";
  }
  return "RCODE" + std::to_string(static_cast<unsigned>(rcode));
}

std::string to_string(Type type) {
  const auto* found = std::ranges::lower_bound(kTypes, type, {}, &NamedType::type);
  if (found != std::end(kTypes) && found->type == type) return std::string(found->name);
  return std::string(kGenericType) + std::to_string(static_cast<unsigned>(type));
}

std::optional<Type> parse_type(std::string_view text) {
  for (const NamedType& type : kTypes)
    if (equals_ignoring_case(text, type.name)) return type.type;
  if (text.size() <= kGenericType.size() || !equals_ignoring_case(text.substr(0, kGenericType.size()), kGenericType))
    return std::nullopt;
  const auto number = parse_number(text.substr(kGenericType.size()), 0xffff);
  return number ? std::optional(static_cast<Type>(*number)) : std::nullopt;
}

}  // namespace hcpnet::dns
