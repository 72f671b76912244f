// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "proxy/engine_fixture.hpp"
#include "support/openssl.hpp"

namespace hcpnet::test {

/// Backends by name, each reached by its name as SNI on port 443.
using Backends = std::vector<std::pair<std::string, std::vector<Endpoint>>>;

inline proxy::RouteConfig config_for(const Backends& backends) {
  proxy::RouteConfig config;
  config.listeners = {{{Ipv4(127, 0, 0, 1), 443}, {}}};
  for (const auto& [name, endpoints] : backends) {
    proxy::Backend& backend = config.backends.emplace_back();
    backend.name = name;
    backend.endpoints = endpoints;
    proxy::Route& route = config.routes.emplace_back();
    route.port = 443;
    route.names = {name};
    route.backend = name;
  }
  return config;
}

class ProxyTest : public EngineFixture {
 protected:
  void start(const proxy::RouteConfig& config, std::optional<proxy::EngineOptions> with = {}) {
    engine = std::make_unique<proxy::Engine>(io.get_executor(), with.value_or(options()));
    engine->start(proxy::RouteTable::build(config).value());
    listener = engine->listeners().at(0).bound;
  }
  void start(const Backends& backends) { start(config_for(backends)); }
  Peer client() { return Peer::connect(*this, listener); }
  static std::string hello(const std::string& name) {
    const auto bytes = openssl_client_hello({.server_name = name, .alpn = {"h2"}});
    return {bytes.begin(), bytes.end()};
  }
  /// A tunnel to `server` with the hello gone through.
  std::pair<Peer, Peer> tunnel(const std::string& name, Server& server) {
    Peer from = client();
    const std::string first = hello(name);
    from.send(first);
    Peer to = server.accept();
    EXPECT_EQ(to.receive(first.size()), first);
    return {std::move(from), std::move(to)};
  }
  /// Both directions carry bytes.
  static void expect_works(Peer& a, Peer& b) {
    a.send(std::string("ping"));
    EXPECT_EQ(b.receive(4), "ping");
    b.send(std::string("pong"));
    EXPECT_EQ(a.receive(4), "pong");
  }
  void expect_all_closed() {
    EXPECT_TRUE(run_until([&] { return engine->stats().active == 0; }));
  }
  std::uint64_t closed_for(const std::string& reason) const { return engine->stats().closed.at(reason); }

  std::unique_ptr<proxy::Engine> engine;
  Endpoint listener;
};

}  // namespace hcpnet::test
