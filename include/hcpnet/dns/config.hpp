// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <hcpnet/dns/zone.hpp>
#include <hcpnet/net.hpp>
#include <hcpnet/result.hpp>
#include <memory>
#include <string>
#include <vector>

namespace hcpnet::dns {

/// The zones that one set of clients sees.
struct View {
  std::string name;
  std::vector<Cidr> clients;  ///< the longest prefix of all views that holds the client's address decides
  std::vector<std::shared_ptr<const Zone>> zones;
};

/// Where names go that no zone of the client's view owns.
struct Forwarding {
  std::vector<Endpoint> upstreams;  ///< asked in this order
  bool resolv_conf = false;         ///< also, after them, the name servers of /etc/resolv.conf, re-read when it changes
  [[nodiscard]] bool is_enabled() const noexcept { return resolv_conf || !upstreams.empty(); }
  friend bool operator==(const Forwarding&, const Forwarding&) = default;
};

struct Config {
  std::vector<Endpoint> listeners;  ///< UDP and TCP
  std::vector<View> views;          ///< two equal prefixes are an error; a client in none is REFUSED
  Forwarding forwarding;            ///< empty: names outside the zones are REFUSED
};

/// What can be known without binding anything. Errors: Errc::duplicate_prefix, duplicate_zone, upstream_is_self.
[[nodiscard]] Result<void> check_config(const Config& config);

}  // namespace hcpnet::dns
