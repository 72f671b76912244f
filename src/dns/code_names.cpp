// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/dns/message.hpp>

namespace hcpnet::dns {

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
  switch (type) {
    case Type::a:
      return "A";
    case Type::ns:
      return "NS";
    case Type::cname:
      return "CNAME";
    case Type::soa:
      return "SOA";
    case Type::ptr:
      return "PTR";
    case Type::hinfo:
      return "HINFO";
    case Type::mx:
      return "MX";
    case Type::txt:
      return "TXT";
    case Type::aaaa:
      return "AAAA";
    case Type::srv:
      return "SRV";
    case Type::opt:
      return "OPT";
    case Type::ds:
      return "DS";
    case Type::svcb:
      return "SVCB";
    case Type::https:
      return "HTTPS";
    case Type::ixfr:
      return "IXFR";
    case Type::axfr:
      return "AXFR";
    case Type::any:
      return "ANY";
    case Type::caa:
      return "CAA";
  }
  return "TYPE" + std::to_string(static_cast<unsigned>(type));
}

}  // namespace hcpnet::dns
