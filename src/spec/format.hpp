// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <hcpnet/net.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::spec {

/// What the text of a field has to be. An address is one that a host can have, see is_host_address(), and so is a MAC
/// address; a network has such addresses. An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is none of the formats
/// cidr, resolver, endpoint, ipv6 and ipv6_cidr.
enum class Format : std::uint8_t {
  any,                ///< any text
  image,              ///< a container image: not empty, no blanks
  object_name,        ///< RFC 1123 subdomain: labels of lower-case letters, digits and hyphens, 253 characters
  label,              ///< one such label, 63 characters: namespaces, Services, backends, clusters
  target,             ///< a Service (label) or an IPv4 address
  service_reference,  ///< an IPv4 address, or a Service as "name.namespace" with anything behind it
  host_name,
  host_or_wildcard,  ///< a host name, or "*." and one
  lower_domain,      ///< a host name in lower case of two labels at least
  published_host,    ///< a host name of two labels at least, the last of two letters at least and nothing else
  node_address,      ///< such a host name, or an address of either family
  domain_or_empty,   ///< a host name, or no text
  ipv4,
  ipv4_with_length,  ///< an IPv4 address, with or without "/" and a prefix length of 1 to 32
  ipv4_cidr,
  cidr,             ///< a network of either family
  pool,             ///< "first-last" or "network/prefix", IPv4
  ip_address,       ///< of either family
  resolver,         ///< an address of either family, "resolv.conf" or "node"
  endpoint,         ///< an address of either family, with or without a port
  nsid,             ///< 1 to 128 bytes
  version_text,     ///< 1 to 255 bytes
  go_duration,      ///< Go's time.ParseDuration, a lease time: whole seconds from 1 to 2^32 - 2
  simple_duration,  ///< digits and one of s, m, h: at most 2^32 - 2 seconds
  mac,
  release,         ///< an OpenShift release that is known here: 4.18 or 4.18.3
  file_name,       ///< not empty, no control characters
  interface_name,  ///< of Linux, with what a file name and a profile can hold: 1 to 15 letters, digits and "-._"
  volume_name,     ///< of storage: 1 to 128 such characters
  ipv6,
  ipv6_cidr,
  duid,                  ///< a DHCPv6 unique identifier: 3 to 130 bytes in hexadecimal
  mac_prefix,            ///< one to six pairs of hexadecimal digits
  option_bytes,          ///< what an option holds: text, or "hex:" and pairs of digits; 1 to 255 bytes
  boot_file,             ///< 1 to 127 bytes, none of them NUL
  boot_server,           ///< 1 to 63 bytes, none of them NUL
  attachment_reference,  ///< of a network attachment: "name", or "namespace/name"
  route_target,    ///< of BGP: "*", an autonomous system or an IPv4 address, ":" and a number (RFC 4360, RFC 5668)
  vrf_name,        ///< of Linux: 1 to 15 bytes
  store_endpoint,  ///< of etcd: http or https, a host, a port or none, and no path
  store_prefix,    ///< of keys of etcd: "/" and a word, once or more; 256 characters
};

/// What is wrong with a text, without its place.
struct Complaint {
  std::string_view code;
  std::string message;
  std::string_view expected = {};
};
[[nodiscard]] std::optional<Complaint> check_format(Format format, std::string_view text);

[[nodiscard]] bool is_multicast(const IpAddress& address);
/// Whether one host can have the address: it is neither of "this network" (0.0.0.0/8, RFC 1122 section 3.2.1.3; ::),
/// nor multicast, nor broadcast.
[[nodiscard]] bool is_host_address(const IpAddress& address);

struct Ipv4WithLength {
  Ipv4 address;
  std::optional<unsigned> prefix_length;
};
[[nodiscard]] std::optional<Ipv4WithLength> parse_ipv4_with_length(std::string_view text);
/// The ends as written: `first` may lie behind `last`, which is for the caller to report.
[[nodiscard]] std::optional<Ipv4Range> parse_pool(std::string_view text);
/// "52:54:00" or "52-54-00".
[[nodiscard]] std::optional<std::vector<std::uint8_t>> parse_mac_prefix(std::string_view text);
/// Whole seconds, 1 to 2^32 - 2; nullopt for all else.
[[nodiscard]] std::optional<std::chrono::seconds> parse_lease_time(std::string_view text);
/// 0 to 2^32 - 2 seconds; nullopt for all else.
[[nodiscard]] std::optional<std::chrono::seconds> parse_simple_duration(std::string_view text);
/// The minor number of an OpenShift release from 4.14 on.
[[nodiscard]] std::optional<unsigned> parse_release_minor(std::string_view text);
/// Each ASCII letter in lower case.
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace hcpnet::spec
