// SPDX-License-Identifier: Apache-2.0
// A DHCP server and nothing else, for tests that need it as a process: to be killed, or inside a network namespace.
//   dhcp_test_server --database FILE --server ADDRESS --cidr CIDR --pool FIRST-LAST [--router A] [--dns A] [--domain
//   NAME]
//                    [--lease SECONDS] [--port N]
//                    [--store URL --prefix PREFIX [--max-skew SECONDS] [--ca FILE] [--certificate FILE] [--key FILE]]
//                    [--clock-ahead MILLISECONDS]
// Prints "ready PORT" when it serves, then one line per lease event.
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <hcpnet/clock.hpp>
#include <hcpnet/dhcp/server.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace hcpnet;

template <class T>
T required(const std::optional<T>& value, const std::string& text) {
  if (!value) throw std::invalid_argument("not understood: " + text);
  return *value;
}

/// The system's clocks, with a calendar that is wrong. Timers ask it only when tick() is called.
class WrongClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady_now() const override { return system_clock().steady_now(); }
  [[nodiscard]] SystemTime system_now() const override { return system_clock().system_now() + ahead_; }
  void on_jump(std::function<void()> changed) override { listeners_.push_back(std::move(changed)); }
  void set(std::chrono::milliseconds ahead) { ahead_ = ahead; }
  [[nodiscard]] bool is_wrong() const { return ahead_.count() != 0; }
  void tick() const {
    for (const auto& listener : listeners_) listener();
  }

 private:
  std::chrono::milliseconds ahead_{0};
  std::vector<std::function<void()>> listeners_;
};

struct Settings {
  dhcp::Config config;
  dhcp::ServerOptions options;
  WrongClock clock;
};

/// Its fields follow one another on the command line.
dhcp::SharedStore& store_of(dhcp::Subnet& subnet) {
  if (!subnet.shared_store) subnet.shared_store.emplace();
  return *subnet.shared_store;
}

/// False: it is none of a shared store.
bool set_store(dhcp::Subnet& subnet, const std::string& name, const std::string& value) {
  if (name == "--store")
    store_of(subnet).endpoints.push_back(value);
  else if (name == "--prefix")
    store_of(subnet).prefix = value;
  else if (name == "--max-skew")
    store_of(subnet).max_skew = std::chrono::seconds(std::stoi(value));
  else if (name == "--ca")
    store_of(subnet).ca_file = value;
  else if (name == "--certificate")
    store_of(subnet).certificate_file = value;
  else if (name == "--key")
    store_of(subnet).key_file = value;
  else
    return false;
  return true;
}

Ipv4 to_address(const std::string& text) {
  return required(parse_ipv4(text), text);
}

Ipv4Range to_range(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) throw std::invalid_argument("not a range: " + text);
  return {to_address(text.substr(0, dash)), to_address(text.substr(dash + 1))};
}

dhcp6::Ipv6Range to_range6(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) throw std::invalid_argument("not a range: " + text);
  return {required(parse_ipv6(text.substr(0, dash)), text), required(parse_ipv6(text.substr(dash + 1)), text)};
}

/// Beside the IPv4 subnet, whose options come first on the command line.
dhcp6::Subnet& add_v6(dhcp::Config& config) {
  dhcp6::Subnet& subnet = config.subnets6.emplace_back();
  subnet.name = config.subnets.front().name;
  subnet.interface_address = config.subnets.front().server_id;
  subnet.lease_time = config.subnets.front().lease_time;
  return subnet;
}

void set(Settings& settings, const std::string& name, const std::string& value) {
  dhcp::Subnet& subnet = settings.config.subnets.front();
  if (set_store(subnet, name, value)) return;
  if (name == "--clock-ahead")
    settings.clock.set(std::chrono::milliseconds(std::stoi(value)));
  else if (name == "--database")
    settings.options.database = value;
  else if (name == "--server")
    subnet.server_id = to_address(value);
  else if (name == "--cidr")
    subnet.cidr = required(parse_ipv4_cidr(value), value);
  else if (name == "--pool")
    subnet.pools.push_back({to_range(value)});
  else if (name == "--router")
    subnet.router = to_address(value);
  else if (name == "--dns")
    subnet.dns_servers.push_back(to_address(value));
  else if (name == "--domain")
    subnet.domain_name = value;
  else if (name == "--lease")
    subnet.lease_time = std::chrono::seconds(std::stoi(value));
  else if (name == "--cidr6")
    add_v6(settings.config).cidr = required(parse_cidr(value), value);
  else if (name == "--pool6")
    settings.config.subnets6.front().pool = to_range6(value);
  else if (name == "--dns6")
    settings.config.subnets6.front().dns_servers.push_back(required(parse_ipv6(value), value));
  else if (name == "--search6")
    settings.config.subnets6.front().domain_search.push_back(value);
  else if (name == "--identity6")
    settings.config.subnets6.front().identity = value == "duid" ? dhcp6::Identity::duid : dhcp6::Identity::mac;
  else if (name == "--rapid6")
    settings.config.subnets6.front().rapid_commit = value == "yes";
  else if (name == "--port")
    settings.options.port_map = {{67, static_cast<std::uint16_t>(std::stoi(value))}};
  else
    throw std::invalid_argument("unknown option " + name);
}

void print_event(const dhcp::LeaseEvent& event) {
  std::printf("%s %s %s\n", std::string(to_string(event.kind)).c_str(), event.lease.address.to_string().c_str(),
              event.lease.mac.to_string().c_str());
  std::fflush(stdout);
}

void print_event6(const dhcp6::LeaseEvent& event) {
  std::printf("%s %s %s\n", std::string(to_string(event.kind)).c_str(), event.lease.address.to_string().c_str(),
              event.lease.client.duid.to_string().c_str());
  std::fflush(stdout);
}

void print_record(const LogRecord& record) {
  std::fprintf(stderr, "%s", record.message.c_str());
  for (const auto& [name, value] : record.fields) std::fprintf(stderr, " %s=%s", name.c_str(), value.c_str());
  std::fputc('\n', stderr);
}

}  // namespace

int main(int argc, char** argv) try {
  Settings settings;
  settings.config.subnets.emplace_back().name = "test/subnet";
  for (int i = 1; i + 1 < argc; i += 2) set(settings, argv[i], argv[i + 1]);
  settings.options.on_event = print_event;
  settings.options.on_event6 = print_event6;
  settings.options.log = Logger(print_record, "dhcp");
  if (settings.clock.is_wrong()) settings.options.clock = &settings.clock;

  boost::asio::io_context io(1);
  dhcp::Server server(io.get_executor(), settings.options);
  server.start(settings.config);
  boost::asio::steady_timer ticks(io);
  bool has_stopped = !settings.clock.is_wrong();
  const std::function<void()> tick = [&] {
    settings.clock.tick();
    if (has_stopped) return;
    ticks.expires_after(std::chrono::milliseconds(20));
    ticks.async_wait([&](auto) { tick(); });
  };
  tick();
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](auto, int) { server.stop([&] { has_stopped = true; }); });
  std::printf("ready %u\n", server.bound().front().bound.port);
  std::fflush(stdout);
  io.run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
