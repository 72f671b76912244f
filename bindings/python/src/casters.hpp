// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

#include <hcpnet/net.hpp>
#include <optional>
#include <string>

#include "text.hpp"

/// Addresses and networks are those of Python's own `ipaddress`; where one is an argument, its text will do as well. A
/// MAC address is a str. Every file that passes one to or from Python includes this header, or the classes would look
/// unknown there (one definition rule).
namespace pybind11::detail {

/// `value` as text when it is a str or an object of one of the two classes of `ipaddress`.
inline std::optional<std::string> address_text(handle value, const char* class_v4, const char* class_v6) {
  if (isinstance<str>(value)) return hcpnet::python::utf8_text(reinterpret_borrow<str>(value));
  const module_ ipaddress = module_::import("ipaddress");
  if (!isinstance(value, ipaddress.attr(class_v4)) && !isinstance(value, ipaddress.attr(class_v6))) return std::nullopt;
  return str(value).cast<std::string>();
}

template <class T>
T require(const std::optional<T>& parsed, const std::string& text, const char* what) {
  if (!parsed) throw value_error("'" + text + "' is not " + what);
  return *parsed;
}

template <>
struct type_caster<hcpnet::IpAddress> {
  PYBIND11_TYPE_CASTER(hcpnet::IpAddress, const_name("ipaddress.IPv4Address | ipaddress.IPv6Address"));
  bool load(handle source, bool) {
    const auto text = address_text(source, "IPv4Address", "IPv6Address");
    if (text) value = require(hcpnet::parse_ip_address(*text), *text, "an IP address");
    return text.has_value();
  }
  static handle cast(const hcpnet::IpAddress& address, return_value_policy, handle) {
    return module_::import("ipaddress").attr("ip_address")(address.to_string()).release();
  }
};

template <>
struct type_caster<hcpnet::Ipv4> {
  PYBIND11_TYPE_CASTER(hcpnet::Ipv4, const_name("ipaddress.IPv4Address"));
  bool load(handle source, bool) {
    const auto text = address_text(source, "IPv4Address", "IPv4Address");
    if (text) value = require(hcpnet::parse_ipv4(*text), *text, "an IPv4 address");
    return text.has_value();
  }
  static handle cast(const hcpnet::Ipv4& address, return_value_policy, handle) {
    return module_::import("ipaddress").attr("IPv4Address")(address.to_string()).release();
  }
};

template <>
struct type_caster<hcpnet::Cidr> {
  PYBIND11_TYPE_CASTER(hcpnet::Cidr, const_name("ipaddress.IPv4Network | ipaddress.IPv6Network"));
  bool load(handle source, bool) {
    const auto text = address_text(source, "IPv4Network", "IPv6Network");
    if (text) value = require(hcpnet::parse_cidr(*text), *text, "a network such as 192.0.2.0/24");
    return text.has_value();
  }
  static handle cast(const hcpnet::Cidr& cidr, return_value_policy, handle) {
    return module_::import("ipaddress").attr("ip_network")(cidr.to_string()).release();
  }
};

template <>
struct type_caster<hcpnet::Ipv4Cidr> {
  PYBIND11_TYPE_CASTER(hcpnet::Ipv4Cidr, const_name("ipaddress.IPv4Network"));
  bool load(handle source, bool) {
    const auto text = address_text(source, "IPv4Network", "IPv4Network");
    if (text) value = require(hcpnet::parse_ipv4_cidr(*text), *text, "an IPv4 network such as 192.0.2.0/24");
    return text.has_value();
  }
  static handle cast(const hcpnet::Ipv4Cidr& cidr, return_value_policy, handle) {
    return module_::import("ipaddress").attr("IPv4Network")(cidr.to_string()).release();
  }
};

template <>
struct type_caster<hcpnet::MacAddress> {
  PYBIND11_TYPE_CASTER(hcpnet::MacAddress, const_name("str"));
  bool load(handle source, bool) {
    if (!isinstance<str>(source)) return false;
    const auto text = hcpnet::python::utf8_text(reinterpret_borrow<str>(source));
    value = require(hcpnet::parse_mac_address(text), text, "a MAC address");
    return true;
  }
  static handle cast(const hcpnet::MacAddress& mac, return_value_policy, handle) {
    return str(mac.to_string()).release();
  }
};

}  // namespace pybind11::detail
