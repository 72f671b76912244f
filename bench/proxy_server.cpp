// SPDX-License-Identifier: Apache-2.0
// The proxy as a program that embeds hcpnet would have it: proxy_server PORT BACKEND_PORT NAMES WORKERS [FILE]. Listens
// on 127.0.0.1 to .4; every name leads to four addresses of the backend's port. On SIGHUP the routes are made anew,
// with "marker.bench.example" leading to the port that FILE has (0: nowhere).
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <hcpnet/proxy/engine.hpp>
#include <string>

namespace {

using namespace hcpnet;

struct Options {
  std::uint16_t port, backend_port;
  int names;
  std::size_t workers;
  std::string marker_file;
};

std::uint16_t marker_of(const Options& options) {
  std::uint16_t port = 0;
  std::ifstream(options.marker_file) >> port;
  return port;
}

std::shared_ptr<const proxy::RouteTable> make_table(const Options& options) {
  proxy::RouteConfig config;
  for (std::uint8_t i = 1; i <= 4; ++i) config.listeners.push_back({{Ipv4(127, 0, 0, i), options.port}, {}});
  proxy::Backend& backend = config.backends.emplace_back();
  backend.name = "backend";
  for (std::uint8_t i = 1; i <= 4; ++i) backend.endpoints.push_back({Ipv4(127, 0, 1, i), options.backend_port});
  proxy::Route& route = config.routes.emplace_back();
  route.port = options.port;
  route.backend = "backend";
  for (int i = 0; i < options.names; ++i) route.names.push_back("host" + std::to_string(i) + ".bench.example");
  if (const std::uint16_t port = marker_of(options); port != 0) {
    proxy::Backend& marker = config.backends.emplace_back();
    marker.name = "marker";
    marker.endpoints = {{Ipv4(127, 0, 1, 1), port}};
    proxy::Route& marked = config.routes.emplace_back();
    marked.port = options.port;
    marked.names = {"marker.bench.example"};
    marked.backend = marker.name;
  }
  return proxy::RouteTable::build(std::move(config)).value();
}

void reload_on_signal(boost::asio::signal_set& signals, proxy::Engine& engine, const Options& options) {
  signals.async_wait([&](const boost::system::error_code& ec, int) {
    if (ec) return;
    engine.replace(make_table(options));
    reload_on_signal(signals, engine, options);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const Options options{static_cast<std::uint16_t>(std::atoi(argv[1])),
                          static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[3]),
                          static_cast<std::size_t>(std::atoi(argv[4])), argc == 6 ? argv[5] : ""};
    boost::asio::io_context io{1};
    boost::asio::signal_set reloads(io, SIGHUP);
    boost::asio::signal_set ends(io, SIGTERM, SIGINT);
    proxy::EngineOptions engine_options;
    engine_options.max_connections = 100'000;
    engine_options.workers = options.workers;
    proxy::Engine engine(io.get_executor(), std::move(engine_options));
    engine.start(make_table(options));
    reload_on_signal(reloads, engine, options);
    ends.async_wait([&](boost::system::error_code, int) { io.stop(); });
    io.run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "proxy_server: %s\n", e.what());
    return 1;
  }
}
