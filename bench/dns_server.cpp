// SPDX-License-Identifier: Apache-2.0
// A server of one zone file on 127.0.0.1, as a program that embeds hcpnet would have it: dns_server PORT FILE
// [WORKERS].
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hcpnet/dns/server.hpp>
#include <hcpnet/dns/zone_file.hpp>
#include <string>

namespace {

hcpnet::dns::Config read_config(std::uint16_t port, const std::string& path) {
  using namespace hcpnet;
  std::string text(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
  auto records = dns::parse_zone_file(path, text).value();
  dns::Config config;
  config.listeners = {{Ipv4(127, 0, 0, 1), port}};
  config.views = {{"all", {Cidr(Ipv4(), 0)}, {dns::make_zone(std::move(records))}}};
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    boost::asio::io_context io{1};
    hcpnet::dns::ServerOptions options;
    if (argc > 3) options.workers = static_cast<std::size_t>(std::atoi(argv[3]));
    hcpnet::dns::Server server(io.get_executor(), std::move(options));
    server.start(read_config(static_cast<std::uint16_t>(std::atoi(argv[1])), argv[2]));
    boost::asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](boost::system::error_code, int) { server.stop([&] { io.stop(); }); });
    io.run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "dns_server: %s\n", e.what());
    return 1;
  }
}
