// SPDX-License-Identifier: Apache-2.0
#include "spec/format.hpp"
#include <algorithm>
#include <charconv>
#include <hcpnet/dhcp6/duid.hpp>
#include <hcpnet/spec/codes.hpp>
#include <utility>

#include "dhcp/option_value.hpp"
#include "dhcp/shared_lease.hpp"
#include "spec/names.hpp"

namespace hcpnet::spec {
namespace {

constexpr std::string_view kIpv4Example = "an IPv4 address such as 192.0.2.4";
constexpr std::string_view kIpv6Example = "an IPv6 address such as 2001:db8::4";
constexpr std::string_view kCidr6Example = "a network such as 2001:db8::/64";
constexpr std::string_view kCidrExample = "a network such as 192.0.2.0/24";

Complaint bad_address(std::string_view text) {
  const auto address = parse_ip_address(text);
  if (address && address->is_v6()) return {code::bad_address, "this field takes an IPv4 address", kIpv4Example};
  if (parse_endpoint(text)) return {code::bad_address, "an address without a port is needed", kIpv4Example};
  return {code::bad_address, "this is no IPv4 address (four decimal parts up to 255, without leading zeros)",
          kIpv4Example};
}

Complaint bad_address_with_length(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !parse_ipv4(text.substr(0, slash))) return bad_address(text);
  return {code::bad_address, "the prefix length is a number from 1 to 32, without leading zeros",
          "an IPv4 address such as 192.0.2.4 or 192.0.2.4/24"};
}

Complaint bad_cidr(std::string_view text, bool ipv4_only) {
  const std::size_t slash = text.find('/');
  if (parse_cidr(text)) return {code::bad_cidr, "this field takes an IPv4 network", kCidrExample};
  const auto address = parse_ip_address(text.substr(0, slash));
  if (!address) return {code::bad_cidr, "this is no network", kCidrExample};
  if (slash == std::string_view::npos) return {code::bad_cidr, "the prefix length is missing", kCidrExample};
  // The same prefix with the host bits cleared tells a user what he may have meant.
  const std::string_view length = text.substr(slash + 1);
  const auto network = parse_cidr((address->is_v4() ? "0.0.0.0/" : "::/") + std::string(length));
  if (network)
    return {code::bad_cidr, "host bits are set; the network is " + Cidr(*address, network->prefix_length()).to_string(),
            kCidrExample};
  return {code::bad_cidr,
          ipv4_only || address->is_v4() ? "the prefix length is a number from 0 to 32, without leading zeros"
                                        : "the prefix length is a number from 0 to 128, without leading zeros",
          kCidrExample};
}

constexpr Ipv4 kFirstMulticast(224, 0, 0, 0), kLastMulticast(239, 255, 255, 255), kBroadcast(255, 255, 255, 255);

Complaint no_host(std::string_view expected) {
  return {code::bad_address, "no host has this address: it is unspecified, multicast or broadcast", expected};
}

std::optional<Complaint> check_host(const IpAddress& address, std::string_view expected = kIpv4Example) {
  return is_host_address(address) ? std::nullopt : std::optional(no_host(expected));
}

// Clients and servers are told apart by what IpAddress::unmapped() makes of them: an IPv4-mapped form would match
// nobody.

std::optional<Complaint> check_unmapped(const IpAddress& address, std::string_view expected) {
  const IpAddress plain = address.unmapped();
  if (plain == address) return {};
  return Complaint{code::bad_address,
                   "an IPv4 address is not written in the form of an IPv6 one here; this is " + plain.to_string(),
                   expected};
}

std::optional<Complaint> check_unmapped(const Cidr& cidr, std::string_view expected) {
  const IpAddress plain = cidr.network().unmapped();
  if (plain == cidr.network()) return {};
  constexpr unsigned kMappedBits = 96;  // the last of them is set, so the prefix has all
  return Complaint{code::bad_cidr,
                   "an IPv4 network is not written in the form of an IPv6 one here; this is " +
                       Cidr(plain, cidr.prefix_length() - kMappedBits).to_string(),
                   expected};
}

std::optional<Complaint> check_ipv6_host(const Ipv6& address) {
  if (auto mapped = check_unmapped(IpAddress(address), kIpv6Example)) return mapped;
  return check_host(address, kIpv6Example);
}

std::optional<Complaint> check_endpoint(std::string_view text, const char* message, std::string_view expected) {
  if (const auto endpoint = parse_endpoint(text, 53)) {
    if (auto mapped = check_unmapped(endpoint->address, expected)) return mapped;
    return check_host(endpoint->address, expected);
  }
  if (text.find('%') != std::string_view::npos)
    return Complaint{code::bad_address, "an address with a zone means something on one host only", expected};
  return Complaint{code::bad_address, message, expected};
}

std::optional<Complaint> check_ipv4_cidr(std::string_view text) {
  const auto cidr = parse_ipv4_cidr(text);
  if (!cidr) return bad_cidr(text, true);
  // What ends in the broadcast address is a network of hosts all the same, if it is not that address alone.
  if (cidr->broadcast() == kBroadcast && cidr->network() != kBroadcast) return {};
  return check_host(cidr->broadcast(), kCidrExample);
}

std::optional<Complaint> check_pool(std::string_view text) {
  const auto pool = parse_pool(text);
  constexpr std::string_view kExample = "first-last or network/prefix; one address is written twice";
  if (!pool) return Complaint{code::bad_range, "this is no range of IPv4 addresses", kExample};
  if (!is_host_address(pool->first) || !is_host_address(pool->last)) return no_host(kExample);
  return {};
}

bool is_host_mac(const MacAddress& mac) {
  const bool is_group = (mac.bytes()[0] & 1) != 0;  // broadcast is one of them (IEEE 802, individual/group bit)
  return !is_group && mac != MacAddress();
}

std::optional<Complaint> named(std::optional<std::string> problem, std::string_view code) {
  if (!problem) return {};
  return Complaint{code, std::move(*problem)};
}

std::optional<Complaint> check_service_reference(std::string_view text) {
  if (const auto address = parse_ipv4(text)) return check_host(*address);
  const std::size_t first = text.find('.');
  if (first == std::string_view::npos)
    return Complaint{code::bad_name, "the namespace is missing", "an IPv4 address, or service.namespace"};
  const std::string_view rest = text.substr(first + 1);
  if (auto problem = label_problem(text.substr(0, first))) return Complaint{code::bad_name, std::move(*problem)};
  return named(object_name_problem(rest), code::bad_name);
}

std::optional<Complaint> check_option_bytes(std::string_view text) {
  constexpr std::size_t kMaxBytes = 255;
  const auto bytes = dhcp::encode_option_bytes(text);
  if (!bytes) return Complaint{code::bad_option_value, "no option holds this", "text, or hex: and pairs of digits"};
  if (bytes->size() > kMaxBytes) return Complaint{code::out_of_range, "an option holds at most 255 bytes"};
  return {};
}

std::optional<Complaint> check_boot_text(std::string_view text, std::size_t max_bytes) {
  if (!text.empty() && text.size() <= max_bytes && text.find('\0') == std::string_view::npos) return {};
  return Complaint{code::out_of_range, "this takes 1 to " + std::to_string(max_bytes) + " bytes"};
}

std::optional<Complaint> check_attachment_reference(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos)
    if (auto problem = label_problem(text.substr(0, slash)))
      return Complaint{code::bad_name, "of the namespace: " + *problem};
  return named(object_name_problem(text.substr(slash == std::string_view::npos ? 0 : slash + 1)), code::bad_name);
}

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

/// Six bytes hold both numbers: what a longer left one takes, the right one lacks.
bool is_route_target(std::string_view text) {
  constexpr std::uint64_t kTwoBytes = 0xFFFF, kFourBytes = 0xFFFF'FFFF;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view left = text.substr(0, colon);
  const auto number = parse_digits(text.substr(colon + 1));
  if (!number) return false;
  if (left == "*") return *number <= kFourBytes;
  if (parse_ipv4(left)) return *number <= kTwoBytes;
  const auto system = parse_digits(left);
  return system && *system <= kFourBytes && *number <= (*system <= kTwoBytes ? kFourBytes : kTwoBytes);
}

constexpr std::size_t kMaxInterfaceBytes = 15;  // IFNAMSIZ counts the final NUL

bool is_device_name(std::string_view text) {
  const auto is_fine = [](char c) { return c > ' ' && c < 127 && c != '/' && c != ':'; };
  return !text.empty() && text.size() <= kMaxInterfaceBytes && text != "." && text != ".." &&
         std::ranges::all_of(text, is_fine);
}

std::optional<Complaint> check_image(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  if (text.empty()) return Complaint{code::bad_name, "an image is not empty; leave the field out for the default"};
  if (std::ranges::any_of(text, is_blank))
    return Complaint{code::bad_name, "a blank has no place in the name of an image"};
  return {};
}

constexpr std::size_t kMaxVolumeBytes = 128;

/// What a file name, a script, XML and a profile can hold as it is.
bool is_plain_name(std::string_view text, std::size_t max_bytes) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return !text.empty() && text.size() <= max_bytes && text != "." && text != ".." && std::ranges::all_of(text, is_good);
}

/// Digits and one of s, m, h, however long.
bool has_simple_form(std::string_view duration) {
  return duration.size() >= 2 && duration.find_first_not_of("0123456789") == duration.size() - 1 &&
         std::string_view("smh").find(duration.back()) != std::string_view::npos;
}

}  // namespace

bool is_multicast(const IpAddress& address) {
  if (address.is_v6()) return address.v6().bytes()[0] == 0xFF;
  return kFirstMulticast <= address.v4() && address.v4() <= kLastMulticast;
}

bool is_host_address(const IpAddress& address) {
  if (address.is_unspecified() || is_multicast(address)) return false;
  return address.is_v6() || (address.v4().value() >> 24 != 0 && address.v4() != kBroadcast);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::optional<Ipv4WithLength> parse_ipv4_with_length(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_ipv4(text.substr(0, slash));
  if (!address) return {};
  if (slash == std::string_view::npos) return Ipv4WithLength{*address, {}};
  const auto length = parse_ipv4_cidr("0.0.0.0" + std::string(text.substr(slash)));
  if (!length) return {};
  return Ipv4WithLength{*address, length->prefix_length()};
}

std::optional<Ipv4Range> parse_pool(std::string_view text) {
  if (const auto cidr = parse_ipv4_cidr(text)) return Ipv4Range{cidr->network(), cidr->broadcast()};
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = parse_ipv4(text.substr(0, dash));
  const auto last = parse_ipv4(text.substr(dash + 1));
  if (!first || !last) return {};
  return Ipv4Range{*first, *last};
}

std::optional<std::vector<std::uint8_t>> parse_mac_prefix(std::string_view text) {
  constexpr std::string_view kRest = "00:00:00:00:00:00";
  constexpr std::size_t kPairAndColon = 3;
  if (text.empty() || text.size() % kPairAndColon != 2 || text.size() > kRest.size()) return {};
  std::string rest(kRest.substr(text.size()));
  if (text.find('-') != std::string_view::npos) std::ranges::replace(rest, ':', '-');
  const auto mac = parse_mac_address(std::string(text) + rest);
  if (!mac) return {};
  const auto count = static_cast<std::ptrdiff_t>((text.size() + 1) / kPairAndColon);
  return std::vector<std::uint8_t>(mac->bytes().begin(), mac->bytes().begin() + count);
}

std::optional<unsigned> parse_release_minor(std::string_view text) {
  constexpr unsigned kFirstMinor = 14, kLastMinor = 21;
  const auto number = [&](unsigned& value) {
    const bool has_leading_zero = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc() && !has_leading_zero;
  };
  unsigned minor = 0, patch = 0;
  if (!text.starts_with("4.")) return {};
  text.remove_prefix(2);
  if (!number(minor) || minor < kFirstMinor || minor > kLastMinor) return {};
  if (text.empty()) return minor;
  if (text[0] != '.') return {};
  text.remove_prefix(1);
  if (!number(patch) || !text.empty()) return {};
  return minor;
}

std::optional<Complaint> check_format(Format format, std::string_view text) {
  switch (format) {
    case Format::any:
      return {};
    case Format::image:
      return check_image(text);
    case Format::object_name:
      return named(object_name_problem(text), code::bad_name);
    case Format::label:
      return named(label_problem(text), code::bad_name);
    case Format::target:
      if (const auto address = parse_ipv4(text)) return check_host(*address);
      return named(label_problem(text), code::bad_name);
    case Format::service_reference:
      return check_service_reference(text);
    case Format::host_name:
      return named(host_name_problem(text, HostForm::exact), code::bad_hostname);
    case Format::host_or_wildcard:
      return named(host_name_problem(text, HostForm::wildcard_too), code::bad_hostname);
    case Format::lower_domain:
      return named(host_name_problem(text, HostForm::lower_domain), code::bad_hostname);
    case Format::published_host:
      return named(published_host_problem(text), code::bad_hostname);
    case Format::node_address:
      if (const auto address = parse_ip_address(text)) return check_host(*address, "an address such as 192.0.2.4");
      return named(published_host_problem(text), code::bad_hostname);
    case Format::domain_or_empty:
      return text.empty() ? std::nullopt : named(host_name_problem(text, HostForm::exact), code::bad_hostname);
    case Format::ipv4:
      if (const auto address = parse_ipv4(text)) return check_host(*address);
      return bad_address(text);
    case Format::ipv4_with_length:
      if (const auto parsed = parse_ipv4_with_length(text); parsed && parsed->prefix_length != 0U)
        return check_host(parsed->address);
      return bad_address_with_length(text);
    case Format::ipv4_cidr:
      return check_ipv4_cidr(text);
    case Format::cidr:
      if (const auto cidr = parse_cidr(text)) return check_unmapped(*cidr, kCidrExample);
      return bad_cidr(text, false);
    case Format::pool:
      return check_pool(text);
    case Format::ip_address:
      if (const auto address = parse_ip_address(text)) return check_host(*address, "an address such as 192.0.2.4");
      return Complaint{code::bad_address, "this is no IPv4 or IPv6 address", "an address such as 192.0.2.4"};
    case Format::resolver:
      if (text == "resolv.conf" || text == "node") return {};
      return check_endpoint(text, "this is no address of a resolver", "an IPv4 or IPv6 address, resolv.conf or node");
    case Format::endpoint:
      return check_endpoint(text, "this is no address of a server", "an IPv4 or IPv6 address, with or without a port");
    case Format::nsid:
      if (!text.empty() && text.size() <= 128) return {};
      return Complaint{code::out_of_range, "this takes 1 to 128 bytes"};
    case Format::version_text:
      if (!text.empty() && text.size() <= 255) return {};
      return Complaint{code::out_of_range, "this takes 1 to 255 bytes"};
    case Format::go_duration:
      if (parse_lease_time(text)) return {};
      return Complaint{code::bad_duration, "a lease time is whole seconds, from 1 second to less than 4294967295",
                       "a duration such as 1h, 90s or 1h30m"};
    case Format::simple_duration:
      if (parse_simple_duration(text)) return {};
      if (has_simple_form(text))
        return Complaint{code::bad_duration, "this is too long; at most 4294967294 seconds are allowed",
                         "up to 4294967294s, 71582788m or 1193046h"};
      return Complaint{code::bad_duration, "this takes one number and one unit of s, m, h",
                       "a duration such as 30s or 5m"};
    case Format::mac:
      if (const auto mac = parse_mac_address(text))
        return is_host_mac(*mac)
                   ? std::nullopt
                   : std::optional(Complaint{code::bad_address, "this is no MAC address of one interface"});
      return Complaint{code::bad_address, "this is no MAC address",
                       "six pairs of hexadecimal digits such as 02:00:00:00:00:0a"};
    case Format::release:
      if (parse_release_minor(text)) return {};
      return Complaint{code::bad_version, "this is no OpenShift release that is known here",
                       "a release from 4.14 to 4.21, such as 4.18 or 4.18.3"};
    case Format::file_name:
      if (!text.empty() && std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
        return {};
      return Complaint{code::bad_name, "this is no name of a file"};
    case Format::interface_name:
      if (is_plain_name(text, kMaxInterfaceBytes)) return {};
      return Complaint{code::bad_name, "this is no name of a network interface",
                       "1 to 15 letters, digits, hyphens, dots and underscores such as ens3"};
    case Format::volume_name:
      if (is_plain_name(text, kMaxVolumeBytes) && !text.starts_with('-')) return {};
      return Complaint{code::bad_name, "this is no name of a pool or a volume",
                       "1 to 128 letters, digits, hyphens, dots and underscores such as rhcos-live.iso"};
    case Format::ipv6:
      if (const auto address = parse_ipv6(text)) return check_ipv6_host(*address);
      return Complaint{code::bad_address, "this is no IPv6 address", kIpv6Example};
    case Format::ipv6_cidr: {
      const auto cidr = parse_cidr(text);
      if (cidr && cidr->network().is_v6()) return check_unmapped(*cidr, kCidr6Example);
      if (cidr) return Complaint{code::bad_cidr, "this field takes an IPv6 network", kCidr6Example};
      Complaint complaint = bad_cidr(text, false);
      complaint.expected = kCidr6Example;
      return complaint;
    }
    case Format::duid:
      if (dhcp6::parse_duid(text)) return {};
      return Complaint{code::bad_address, "this is no DUID",
                       "3 to 130 pairs of hexadecimal digits such as 00:03:00:01:02:00:00:00:00:0a"};
    case Format::mac_prefix:
      if (parse_mac_prefix(text)) return {};
      return Complaint{code::bad_address, "this is no beginning of a MAC address",
                       "one to six pairs of hexadecimal digits such as 52:54:00"};
    case Format::option_bytes:
      return check_option_bytes(text);
    case Format::boot_file:
      return check_boot_text(text, 127);
    case Format::boot_server:
      return check_boot_text(text, 63);
    case Format::attachment_reference:
      return check_attachment_reference(text);
    case Format::route_target:
      if (is_route_target(text)) return {};
      return Complaint{code::bad_name, "this is no route target", "such as 64512:100, 192.0.2.1:100 or *:100"};
    case Format::vrf_name:
      if (is_device_name(text)) return {};
      return Complaint{code::bad_name, "this is no name of a VRF", "1 to 15 characters without blanks, / and :"};
    case Format::store_endpoint:
      if (dhcp::parse_store_endpoint(text)) return {};
      return Complaint{code::bad_address, "this is no endpoint of etcd",
                       "http or https, a host and a port, such as https://192.0.2.9:2379"};
    case Format::store_prefix:
      if (dhcp::is_store_prefix(text)) return {};
      return Complaint{code::bad_name, "keys can't begin with this",
                       "slashes with a word after each, such as /hcpnet/vlan7"};
  }
  return {};
}

}  // namespace hcpnet::spec
