// SPDX-License-Identifier: Apache-2.0
// What comes from a shared store: answers of etcd and the records in it. A record that is understood must be read back
// as the same one, and so must be what is written into a request.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "dhcp/etcd_wire.hpp"
#include "dhcp/shared_lease.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hcpnet::dhcp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr hcpnet::Ipv4 kAddress(192, 0, 2, 10);
  if (const auto lease = parse_shared_lease(kAddress, text)) {
    const auto again = parse_shared_lease(kAddress, render_shared_lease(*lease));
    if (!again || *again != *lease) std::abort();
    if (!may_replace(lease->lease, again->lease, {}, lease->lease.expires) && lease->lease.state == LeaseState::bound)
      std::abort();
    if (parse_shared_lease_key("/p", shared_lease_key("/p", kAddress)) != kAddress) std::abort();
  }
  if (etcd::parse_base64(etcd::base64(text)) != text) std::abort();
  const etcd::Step step{{{std::string(text), std::string(text), 0}}, {std::string(text)}};
  for (const std::string& body : {etcd::txn_body(std::span(&step, 1)), etcd::range_body(text, etcd::end_of(text), 1, 1),
                                  etcd::watch_body(text, 1), etcd::authenticate_body(text, text)})
    if (body.find('\n') != std::string::npos) std::abort();
  if (const auto bytes = etcd::parse_base64(text); bytes && bytes->size() > text.size()) std::abort();
  const auto look_into = [](const std::vector<etcd::KeyValue>& found) {
    for (const etcd::KeyValue& one : found)
      if (const auto address = parse_shared_lease_key("/p", one.key))
        static_cast<void>(parse_shared_lease(*address, one.value));
  };
  if (const auto range = etcd::parse_range(text)) look_into(range->found);
  if (const auto txn = etcd::parse_txn(text))
    for (const etcd::StepOutcome& outcome : txn->steps) look_into(outcome.found);
  if (const auto changes = etcd::parse_changes(text)) look_into(changes->puts);
  if (const auto token = etcd::parse_token(text); token && token->find('\n') != std::string::npos) std::abort();
  static_cast<void>(etcd::parse_message(text));
  static_cast<void>(is_store_prefix(text));
  if (const auto endpoint = parse_store_endpoint(text); endpoint && endpoint->port == 0) std::abort();
  return 0;
}
