// SPDX-License-Identifier: Apache-2.0
// DHCPv6: what is read is written back to the same meaning; a server that gets it neither crashes nor grows.
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dhcp6/responder.hpp>

namespace {

using namespace hcpnet;

void expect(bool holds) {
  if (!holds) std::abort();
}

void packet(ByteView input) {
  const auto packet = dhcp6::parse_packet(input);
  if (!packet) return;
  const auto bytes = dhcp6::encode_packet(*packet);
  const auto again = dhcp6::parse_packet(bytes);
  expect(again.has_value() && *again == *packet);
  for (const auto& [code, data] : packet->message.options.items()) {
    if (code == dhcp6::option::ia_na) static_cast<void>(dhcp6::parse_ia_na(data));
  }
}

void domain_list(ByteView input) {
  const auto names = dhcp6::parse_domain_list(input);
  if (!names) return;
  const auto bytes = dhcp6::encode_domain_list(*names);
  if (bytes) expect(dhcp6::parse_domain_list(*bytes).has_value());
}

void duid(ByteView input) {
  const auto from_bytes = dhcp6::make_duid(input);
  if (from_bytes) expect(dhcp6::parse_duid(from_bytes->to_string()) == from_bytes);
  static_cast<void>(dhcp6::parse_duid(as_text(input)));
}

void serve(ByteView input) {
  dhcp6::Subnet subnet;
  subnet.cidr = parse_cidr("2001:db8::/64").value();
  subnet.pool = {parse_ipv6("2001:db8::10").value(), parse_ipv6("2001:db8::13").value()};
  subnet.dns_servers = {parse_ipv6("2001:db8::53").value()};
  subnet.domain_search = {"example.com"};
  subnet.rapid_commit = true;
  dhcp6::Responder responder({{subnet}, {}, dhcp6::parse_duid("000400").value()});
  const dhcp6::Origin origin{0, parse_ipv6("fe80::ff:fe00:101").value(), true};
  dhcp6::Responder::Time now{std::chrono::seconds(1'700'000'000)};
  for (int i = 0; i < 3; ++i, now += std::chrono::seconds(1000)) {
    const auto outcome = responder.handle(input, origin, now);
    expect(outcome.reply.has_value() || !outcome.dropped.empty());
    responder.settle(outcome.changes, i != 1, now);
  }
  expect(responder.leases().size() <= 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  packet(input);
  domain_list(input);
  duid(input);
  serve(input);
  return 0;
}
