// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <hcpnet/proxy/proxy_header.hpp>
#include <string>
#include <string_view>

#include "proxy/mapped_address.hpp"

namespace hcpnet::proxy {
namespace {

void unmap(ProxyHeader::Addresses& addresses) noexcept {
  addresses.source.address = addresses.source.address.unmapped();
  addresses.destination.address = addresses.destination.address.unmapped();
}

constexpr std::string_view kV1Prefix = "PROXY ";
constexpr std::string_view kV2Signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kV2HeadBytes = 16;
constexpr std::uint8_t kLocal = 0x20;
constexpr std::uint8_t kProxy = 0x21;
constexpr std::uint8_t kTcpOverIpv4 = 0x11;
constexpr std::uint8_t kTcpOverIpv6 = 0x21;

bool is_beginning(std::string_view text, std::string_view whole) noexcept {
  return whole.substr(0, text.size()) == text.substr(0, whole.size());
}

/// The text up to the next blank, or all that is left.
std::string_view take_word(std::string_view& line) noexcept {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return port;
}

// "PROXY" SP ("TCP4" | "TCP6") SP source SP destination SP source port SP destination port CRLF
std::optional<ProxyHeader::Addresses> parse_v1_addresses(std::string_view line, bool is_v4) {
  const std::string_view blanks = line;
  const auto source = parse_ip_address(take_word(line)), destination = parse_ip_address(take_word(line));
  const auto source_port = parse_port(take_word(line)), destination_port = parse_port(take_word(line));
  if (!source || !destination || !source_port || !destination_port || !line.empty()) return std::nullopt;
  if (std::ranges::count(blanks, ' ') != 3) return std::nullopt;
  if (source->is_v4() != is_v4 || destination->is_v4() != is_v4) return std::nullopt;
  return ProxyHeader::Addresses{{*source, *source_port}, {*destination, *destination_port}};
}

Result<ProxyHeader> parse_v1(std::string_view text) {
  const std::size_t end = text.substr(0, kMaxProxyHeaderV1Bytes).find('\n');
  if (end == std::string_view::npos)
    return make_error_code(text.size() < kMaxProxyHeaderV1Bytes ? Errc::need_more : Errc::too_large);
  if (text[end - 1] != '\r') return make_error_code(Errc::malformed);
  std::string_view line = text.substr(kV1Prefix.size(), end - 1 - kV1Prefix.size());
  ProxyHeader header{{}, end + 1};
  const std::string_view family = take_word(line);
  if (family == "UNKNOWN") return header;  // what follows is to be ignored
  if (family != "TCP4" && family != "TCP6") return make_error_code(Errc::malformed);
  header.addresses = parse_v1_addresses(line, family == "TCP4");
  if (!header.addresses) return make_error_code(Errc::malformed);
  unmap(*header.addresses);
  return header;
}

IpAddress read_address(ByteReader& in, bool is_v4) noexcept {
  if (is_v4) return Ipv4(in.u32());
  std::array<std::uint8_t, 16> bytes{};
  const ByteView read = in.bytes(bytes.size());
  std::ranges::copy(read, bytes.begin());
  return Ipv6(bytes);
}

// signature (12), version and command u8, family and protocol u8, length u16, addresses, attributes
Result<ProxyHeader> parse_v2(ByteView received) noexcept {
  ByteReader in(received);
  in.skip(kV2Signature.size());
  if (in.remaining() == 0) return make_error_code(Errc::need_more);
  const std::uint8_t command = in.u8();
  if (command != kLocal && command != kProxy) return make_error_code(Errc::malformed);
  const std::uint8_t family = in.u8();
  const std::size_t length = in.u16();
  if (!in.ok()) return make_error_code(Errc::need_more);
  if (kV2HeadBytes + length > kMaxProxyHeaderBytes) return make_error_code(Errc::too_large);
  ProxyHeader header{{}, kV2HeadBytes + length};
  ByteReader body = in.sub(length);
  if (!in.ok()) return make_error_code(Errc::need_more);
  if (command == kLocal || (family != kTcpOverIpv4 && family != kTcpOverIpv6)) return header;
  const bool is_v4 = family == kTcpOverIpv4;
  ProxyHeader::Addresses& addresses = header.addresses.emplace();
  addresses.source.address = read_address(body, is_v4);
  addresses.destination.address = read_address(body, is_v4);
  addresses.source.port = body.u16();
  addresses.destination.port = body.u16();
  if (!body.ok()) return make_error_code(Errc::malformed);
  unmap(addresses);
  return header;
}

std::vector<std::uint8_t> encode_v1(const ProxyHeader::Addresses& a) {
  const std::string line = std::string("PROXY ") + (a.source.address.is_v4() ? "TCP4 " : "TCP6 ") +
                           a.source.address.to_string() + ' ' + a.destination.address.to_string() + ' ' +
                           std::to_string(a.source.port) + ' ' + std::to_string(a.destination.port) + "\r\n";
  return {line.begin(), line.end()};
}

void write_address(ByteWriter& out, const IpAddress& address) {
  if (address.is_v4())
    out.u32(address.v4().value());
  else
    out.bytes(address.v6().bytes());
}

std::vector<std::uint8_t> encode_v2(const ProxyHeader::Addresses& a) {
  constexpr std::uint16_t kV4Bytes = 12, kV6Bytes = 36;
  const bool is_v4 = a.source.address.is_v4();
  std::array<std::uint8_t, kV2HeadBytes + kV6Bytes> buffer;
  ByteWriter out(buffer);
  out.bytes(as_bytes(kV2Signature));
  out.u8(kProxy);
  out.u8(is_v4 ? kTcpOverIpv4 : kTcpOverIpv6);
  out.u16(is_v4 ? kV4Bytes : kV6Bytes);
  write_address(out, a.source.address);
  write_address(out, a.destination.address);
  out.u16(a.source.port);
  out.u16(a.destination.port);
  return {out.written().begin(), out.written().end()};
}

}  // namespace

Result<ProxyHeader> parse_proxy_header(ByteView received) noexcept {
  const std::string_view text = as_text(received);
  if (is_beginning(text, kV1Prefix)) {
    if (text.size() < kV1Prefix.size()) return make_error_code(Errc::need_more);
    return parse_v1(text);
  }
  if (!is_beginning(text, kV2Signature)) return make_error_code(Errc::other_protocol);
  if (text.size() < kV2Signature.size()) return make_error_code(Errc::need_more);
  return parse_v2(received);
}

std::vector<std::uint8_t> encode_own_proxy_header(ProxyHeaderVersion version) {
  constexpr std::string_view kUnknown = "PROXY UNKNOWN\r\n";
  if (version == ProxyHeaderVersion::v1) return {kUnknown.begin(), kUnknown.end()};
  if (version != ProxyHeaderVersion::v2) return {};
  std::vector<std::uint8_t> header(kV2Signature.begin(), kV2Signature.end());
  header.insert(header.end(), {kLocal, 0, 0, 0});  // of no family, without addresses
  return header;
}

std::vector<std::uint8_t> encode_proxy_header(ProxyHeaderVersion version, const ProxyHeader::Addresses& addresses) {
  ProxyHeader::Addresses same = addresses;
  if (same.source.address.is_v4() != same.destination.address.is_v4()) {
    same.source.address = mapped(same.source.address);
    same.destination.address = mapped(same.destination.address);
  }
  if (version == ProxyHeaderVersion::v1) return encode_v1(same);
  if (version == ProxyHeaderVersion::v2) return encode_v2(same);
  return {};
}

}  // namespace hcpnet::proxy
