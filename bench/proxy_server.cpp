// SPDX-License-Identifier: Apache-2.0
// The proxy as a program that embeds hcpnet would have it: proxy_server PORT BACKEND_PORT NAMES WORKERS. Listens on
// 127.0.0.1 to .4; every name leads to four addresses of the backend's port.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <hcpnet/proxy/engine.hpp>
#include <string>

namespace {

using namespace hcpnet;

std::shared_ptr<const proxy::RouteTable> make_table(std::uint16_t port, std::uint16_t backend_port, int names) {
  proxy::RouteConfig config;
  for (std::uint8_t i = 1; i <= 4; ++i) config.listeners.push_back({{Ipv4(127, 0, 0, i), port}});
  proxy::Backend& backend = config.backends.emplace_back();
  backend.name = "backend";
  for (std::uint8_t i = 1; i <= 4; ++i) backend.endpoints.push_back({Ipv4(127, 0, 1, i), backend_port});
  proxy::Route& route = config.routes.emplace_back();
  route.port = port;
  route.backend = "backend";
  for (int i = 0; i < names; ++i) route.names.push_back("host" + std::to_string(i) + ".bench.example");
  return proxy::RouteTable::build(std::move(config)).value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    boost::asio::io_context io{1};
    proxy::EngineOptions options;
    options.max_connections = 100'000;
    options.workers = static_cast<std::size_t>(std::atoi(argv[4]));
    proxy::Engine engine(io.get_executor(), std::move(options));
    engine.start(make_table(static_cast<std::uint16_t>(std::atoi(argv[1])),
                            static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3])));
    boost::asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](boost::system::error_code, int) { io.stop(); });
    io.run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "proxy_server: %s\n", e.what());
    return 1;
  }
}
