// SPDX-License-Identifier: Apache-2.0
// A message from anybody: read, written again, read again; and dealt with by a server.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <hcpnet/dhcp/message.hpp>
#include <hcpnet/dhcp/responder.hpp>
#include <vector>

namespace {

using namespace hcpnet;

dhcp::Config config() {
  dhcp::Subnet subnet;
  subnet.name = "fuzz/subnet";
  subnet.cidr = Ipv4Cidr(Ipv4(192, 168, 100, 0), 24);
  subnet.server_id = Ipv4(192, 168, 100, 2);
  subnet.router = Ipv4(192, 168, 100, 1);
  subnet.dns_servers = {Ipv4(192, 168, 100, 3)};
  subnet.options = {{121, {8, 10, 192, 168, 100, 1}}, {43, std::vector<std::uint8_t>(300, 1)}};
  subnet.shared_network = subnet.name;
  dhcp::Subnet second = subnet;
  second.name = "fuzz/second";
  second.names_domain = "vms.example";
  second.cidr = Ipv4Cidr(Ipv4(192, 168, 104, 0), 22);
  second.pools = {{{Ipv4(192, 168, 104, 50), Ipv4(192, 168, 104, 59)}}};
  subnet.pools = {{{Ipv4(192, 168, 100, 50), Ipv4(192, 168, 100, 59)}},
                  {{Ipv4(192, 168, 100, 70), Ipv4(192, 168, 100, 79)}, {"all"}, {{42, {192, 168, 100, 9}}}}};
  subnet.probe_timeout = std::chrono::milliseconds(300);
  subnet.exclusions = {{Ipv4(192, 168, 100, 55), Ipv4(192, 168, 100, 57)}};
  dhcp::ClientClass all;
  all.name = "all";
  all.match = {{"PXE"}, {"iPXE"}, {{2}}, {"port"}, {"switch"}, {7}};
  all.boot = {Ipv4(192, 168, 100, 9), "boot", "file"};
  for (std::size_t i = 0; i < 6; ++i) subnet.client_classes.push_back(all);
  // Of each class another list is the only one.
  const auto keep = [](auto& list, bool is_kept) {
    if (!is_kept) list.clear();
  };
  for (std::size_t i = 0; i < 6; ++i) {
    dhcp::ClientClass::Match& match = subnet.client_classes[i].match;
    keep(match.vendor_classes, i == 0);
    keep(match.user_classes, i == 1);
    keep(match.mac_prefixes, i == 2);
    keep(match.circuit_ids, i == 3);
    keep(match.remote_ids, i == 4);
    keep(match.architectures, i == 5);
  }
  return {{subnet, second}, {}, {}};
}

void expect(bool holds) {
  if (!holds) std::abort();
}

void round_trip(ByteView input) {
  const auto message = dhcp::parse_message(input);
  if (!message) return;
  std::vector<std::uint8_t> buffer(4096);
  const auto encoded = dhcp::encode_message(*message, message->options.size(), buffer);
  expect(encoded.has_value());  // what fitted into 2,048 bytes fits into twice as many
  const auto again = dhcp::parse_message(ByteView(buffer).first(encoded->size_bytes), {.max_bytes = buffer.size()});
  expect(again.has_value() && again->xid == message->xid && again->options.size() == message->options.size());
  // With little room options go into the fields of the boot server, and the last ones may be left out.
  for (const std::size_t room : {300, 320, 400}) {
    const auto tight = dhcp::encode_message(*message, 0, std::span(buffer).first(room));
    if (tight) expect(dhcp::parse_message(ByteView(buffer).first(tight->size_bytes)).has_value());
  }
}

/// The first byte says how much time passed; the rest is a message.
void serve(ByteView input) {
  static dhcp::Responder responder(config());
  static dhcp::Responder::Time now{std::chrono::seconds(1'700'000'000)};
  if (input.empty()) return;
  now += std::chrono::seconds(input[0] * 16);
  const dhcp::Outcome out = responder.handle(input.subspan(1), 0, now);
  responder.settle(out.changes, input[0] % 8 != 0, now);
  expect(out.dropped.empty() || !out.reply);
  expect(!out.probe || (out.reply && responder.has_offer(out.subnet, *out.probe)));
  if (out.probe && input[0] % 4 == 1) expect(responder.report_conflict(out.subnet, *out.probe, now).has_value());
  if (out.reply) expect(dhcp::parse_message(out.reply->packet).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  round_trip(input);
  serve(input);
  return 0;
}
