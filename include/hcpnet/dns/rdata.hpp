// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/dns/error.hpp>
#include <hcpnet/dns/name.hpp>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/result.hpp>
#include <optional>
#include <string>
#include <string_view>

/// RDATA as text and back. Types written in their own form: A, AAAA, NS, CNAME, SOA, PTR, HINFO, MX, TXT, RP, AFSDB,
/// SRV, NAPTR, KX, CAA, SVCB, HTTPS, DS, CDS, SSHFP, TLSA, SMIMEA, SPF, URI. Every other type has the generic form
/// "\# LENGTH HEX" (RFC 3597 section 5), also where it has a name.
namespace hcpnet::dns {

/// RDATA in presentation form. RDATA that is not what its type asks for is written in the generic form.
[[nodiscard]] std::string rdata_to_string(Type type, std::string_view rdata);

/// RDATA in wire form from presentation form: the type's own or the generic one. A name without a dot at its end is
/// below `origin`, and "@" is the origin itself. Errors: Errc::bad_rdata.
[[nodiscard]] Result<std::string> parse_rdata(Type type, std::string_view text, const Name& origin = {});

/// In any case of letters: a mnemonic that to_string(Type) gives, or "TYPE" and a number of 16 bits (RFC 3597 section
/// 5). nullopt for everything else.
[[nodiscard]] std::optional<Type> parse_type(std::string_view text);
/// A type that records of a zone can have, and not OPT or one for questions alone (RFC 6895 section 3.1).
[[nodiscard]] bool is_data_type(Type type) noexcept;

/// `bytes` in double quotes, as a character string of a zone file: \" and \\ escaped, what is not printable ASCII as
/// \DDD (RFC 1035 section 5.1).
[[nodiscard]] std::string quote_string(std::string_view bytes);

}  // namespace hcpnet::dns
