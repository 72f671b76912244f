// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/files.hpp>
#include <iterator>
#include <limits>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "tls/client_hello_writer.hpp"

namespace hcpnet {
namespace {

namespace asio = boost::asio;

std::string spec_text(const std::string& api_backend, int third_byte) {
  const std::string net = "127.80." + std::to_string(third_byte) + '.';
  return R"(
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: hcp}
spec:
  networkConfig: {cidr: )" +
         net + R"(0/24, gateway: )" + net + R"(1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: )" +
         net + R"(2, rangeStart: )" + net + R"(100, rangeEnd: )" + net + R"(149}
    dns: {serverIP: )" +
         net + R"(3, baseDomain: example.com, clusterName: )" + api_backend + R"(}
    proxy: {serverIP: )" +
         net + R"(4, controlPlaneNamespace: ns, internalProxyService: 198.51.100.1}
)";
}

/// A folder of its own, gone at the end.
class StackTest : public ::testing::Test {
 protected:
  StackTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hcpnet-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    write(spec_text("blue", 1));
  }
  ~StackTest() override { std::filesystem::remove_all(folder); }

  void write(const std::string& text) const {
    std::ofstream(folder / "new") << text;
    std::filesystem::rename(folder / "new", folder / "set.yaml");
  }
  [[nodiscard]] StackOptions options() const {
    StackOptions o;
    o.files = {(folder / "set.yaml").string()};
    o.state_dir = folder.string();
    o.port_map = {{67, 0}, {53, 0}, {443, 0}, {6443, 0}};
    return o;
  }
  std::filesystem::path folder;
};

Endpoint bound(const Stack& stack, const std::string& service, std::uint16_t port) {
  for (const StackListener& l : stack.listeners())
    if (l.service == service && l.configured.port == port) return l.bound;
  throw std::out_of_range(service);
}

/// A records of a plain query; RCODE in `rcode`.
std::vector<std::string> ask(const Endpoint& server, const std::string& name, unsigned& rcode) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    query += static_cast<char>(dot - at);
    query += name.substr(at, dot - at);
    at = dot + 1;
  }
  query += std::string("\0\0\1\0\1", 5);
  asio::io_context io;
  asio::ip::udp::socket socket(io, asio::ip::udp::endpoint(asio::ip::make_address("127.80.1.200"), 0));
  socket.send_to(asio::buffer(query), {asio::ip::make_address(server.address.to_string()), server.port});
  std::array<unsigned char, 512> reply;
  const std::size_t size = socket.receive(asio::buffer(reply));
  rcode = reply[3] & 15u;
  std::vector<std::string> addresses;
  for (unsigned i = 0, count = reply[7]; i < count; ++i) {
    const unsigned char* last = reply.data() + size - 4;  // the tests ask for names with one address
    addresses.push_back(Ipv4(last[0], last[1], last[2], last[3]).to_string());
  }
  return addresses;
}

std::string http(const std::string& path, const std::string& request) {
  asio::io_context io;
  asio::local::stream_protocol::socket socket(io);
  socket.connect(asio::local::stream_protocol::endpoint(path));
  asio::write(socket, asio::buffer(request + " HTTP/1.0\r\n\r\n"));
  std::string reply;
  boost::system::error_code eof;
  asio::read(socket, asio::dynamic_buffer(reply), eof);
  return reply;
}

TEST_F(StackTest, ServesWhatTheFilesSayAndShowsIt) {
  Stack stack(options());
  stack.start();
  EXPECT_TRUE(stack.is_running());
  EXPECT_TRUE(stack.troubles().empty());
  EXPECT_EQ(stack.listeners().size(), 4u);
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  EXPECT_EQ(rcode, 0u);
  ask(bound(stack, "dns", 53), "nobody.blue.example.com", rcode);
  EXPECT_EQ(rcode, 3u);
  const auto routes = stack.route("", 6443, Ipv4(127, 80, 1, 100));
  ASSERT_EQ(routes.size(), 1u);
  EXPECT_EQ(routes[0].backend, "blue-kube-apiserver");
  EXPECT_NE(stack.metrics().find("hcpnet_up 1"), std::string::npos);
  EXPECT_FALSE(stack.zones().empty());
  EXPECT_TRUE(stack.leases().empty());
  stack.stop();
  EXPECT_FALSE(stack.is_running());
  stack.stop();
}

TEST_F(StackTest, FailsBeforeServingWhenASocketIsTaken) {
  asio::io_context io;
  asio::ip::tcp::acceptor taken(io, {asio::ip::make_address("127.80.1.4"), 0});
  StackOptions o = options();
  o.port_map[443] = taken.local_endpoint().port();
  Stack stack(o);
  try {
    stack.start();
    FAIL() << "the port is taken";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), boost::system::errc::address_in_use) << e.what();
    EXPECT_NE(std::string(e.what()).find("127.80.1.4"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(stack.is_running());
}

TEST_F(StackTest, NamesEverySocketThatCannotBeOpened) {
  asio::io_context io;
  const auto take = [&](const char* address) {
    return asio::ip::tcp::acceptor(io, {asio::ip::make_address(address), 0});
  };
  const asio::ip::tcp::acceptor https = take("127.80.1.4"), api = take("127.80.1.4"), dns = take("127.80.1.3"),
                                page = take("127.0.0.1");
  StackOptions o = options();
  o.port_map[443] = https.local_endpoint().port();
  o.port_map[6443] = api.local_endpoint().port();
  o.port_map[53] = dns.local_endpoint().port();
  o.observe = Endpoint{Ipv4(127, 0, 0, 1), page.local_endpoint().port()};
  Stack stack(o);
  try {
    stack.start();
    FAIL() << "four ports are taken";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), boost::system::errc::address_in_use) << e.what();
    for (const auto* taken : {&https, &api, &dns, &page}) {
      const auto endpoint = taken->local_endpoint();
      EXPECT_NE(
          std::string(e.what()).find(endpoint.address().to_string() + ':' + std::to_string(endpoint.port()) + ": "),
          std::string::npos)
          << e.what();
    }
  }
  EXPECT_FALSE(stack.is_running());
}

TEST_F(StackTest, LogsTheWarningsThatAReloadBrings) {
  std::vector<std::string> told;
  StackOptions o = options();
  o.log = [&](const LogRecord& record) {
    if (record.message == "spec") told.push_back(record.fields.at(0).second);
  };
  Stack stack(o);
  stack.start();
  const auto count = [&] {
    return std::ranges::count_if(
        told, [](const std::string& text) { return text.find("[empty-list]") != std::string::npos; });
  };
  const auto reload_with = [&](const std::string& cluster) {
    write(spec_text(cluster, 1) + "---\n{apiVersion: v1, kind: List, items: []}\n");
    ASSERT_TRUE(stack.reload().has_value());
  };
  EXPECT_EQ(count(), 0);
  reload_with("blue");
  EXPECT_EQ(count(), 1);
  reload_with("green");
  EXPECT_EQ(count(), 1) << "it was told";
  stack.stop();
}

TEST_F(StackTest, TellsOfAPortMapThatNoListenerHas) {
  std::vector<std::string> ports;
  StackOptions o = options();
  o.port_map[8443] = 0;
  o.log = [&](const LogRecord& record) {
    if (record.message.starts_with("no listener has this port")) ports.push_back(record.fields.at(0).second);
  };
  Stack stack(o);
  stack.start();
  stack.stop();
  EXPECT_EQ(ports, std::vector<std::string>{"8443"});
}

TEST_F(StackTest, StartsOnceThePortIsFree) {
  asio::io_context io;
  asio::ip::tcp::acceptor taken(io, {asio::ip::make_address("127.0.0.1"), 0});
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  o.observe = Endpoint{Ipv4(127, 0, 0, 1), taken.local_endpoint().port()};  // opened when all else is
  Stack stack(o);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(stack.start(), boost::system::system_error);
    EXPECT_FALSE(stack.is_running());
    EXPECT_TRUE(stack.listeners().empty());
  }
  taken.close();
  stack.start();
  EXPECT_TRUE(stack.troubles().empty());
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  EXPECT_NE(http(o.admin_socket, "GET /readyz").find("200 OK"), std::string::npos);
  EXPECT_THROW(stack.start(), std::logic_error);
  stack.stop();
  EXPECT_THROW(stack.start(), std::logic_error);
}

TEST_F(StackTest, FailsWithEveryProblemOfTheFiles) {
  write("kind: Infra\n");
  Stack stack(options());
  EXPECT_THROW(stack.start(), SpecError);
}

TEST_F(StackTest, NeedsSomethingToServe) {
  const auto refusal = [](const StackOptions& o) {
    try {
      Stack(o).start();
    } catch (const SpecError& e) {
      return e.diagnostics().to_string();
    }
    return std::string("it runs");
  };
  const std::string all = "the set has no DHCP, no DNS, no proxy";
  EXPECT_NE(refusal({}).find(all), std::string::npos) << refusal({});
  StackOptions none = options();
  none.serve = {.dhcp = false, .dns = false, .proxy = false};
  EXPECT_NE(refusal(none).find("[nothing-to-serve]"), std::string::npos) << refusal(none);

  Stack stack(options());
  stack.start();
  const std::string text = spec_text("blue", 1);
  write(text.substr(0, text.find("  infraComponents")));
  const auto refused = stack.reload();
  ASSERT_TRUE(refused.has_error());
  EXPECT_NE(Diagnostics(refused.error()).to_string().find("[nothing-to-serve]"), std::string::npos);
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  stack.stop();
  const std::string why = refusal(options());
  EXPECT_NE(why.find("[no-component]"), std::string::npos) << why;
  EXPECT_NE(why.find(all), std::string::npos) << why;
}

TEST_F(StackTest, AdvertisesNothingWhereAnotherProcessHasDhcp) {
  write(spec_text("blue", 1) + R"(---
apiVersion: hostedcluster.densityops.com/v1alpha1
kind: DHCPServer
metadata: {name: elsewhere, namespace: hcp}
spec:
  networkConfig: {cidr: 192.0.2.0/24, gateway: 192.0.2.1, serverIP: 192.0.2.2}
  leaseConfig: {rangeStart: 192.0.2.100, rangeEnd: 192.0.2.149}
---
apiVersion: hcpnet.io/v1alpha1
kind: DHCPPolicy
metadata: {name: elsewhere, namespace: hcp}
spec:
  targetRef: {kind: DHCPServer, name: elsewhere}
  ipv6: {cidr: "2001:db8::/64", rangeStart: "2001:db8::10", rangeEnd: "2001:db8::1f"}
  routerAdvertisement: {}
)");
  StackOptions o = options();
  o.serve.dhcp = false;
  Stack stack(o);
  stack.start();  // no interface here has 192.0.2.2
  EXPECT_TRUE(stack.is_running());
}

TEST_F(StackTest, KeepsTheOldStateWhenTheNewFileIsWrong) {
  std::vector<StackEvent> events;
  StackOptions o = options();
  o.on_event = [&](const StackEvent& e) { events.push_back(e); };
  Stack stack(o);
  stack.start();
  write("spec: [");
  const auto refused = stack.reload();
  ASSERT_TRUE(refused.has_error());
  EXPECT_TRUE(Diagnostics(refused.error()).has_errors());
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  write(spec_text("green", 1));
  EXPECT_TRUE(stack.reload().has_value());
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.green.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  stack.stop();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, StackEvent::Kind::reload_refused);
  EXPECT_EQ(events[1].kind, StackEvent::Kind::reloaded);
}

TEST_F(StackTest, ShowsThatTheFilesAreNotWhatIsServed) {
  std::vector<std::string> messages;
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  o.log = [&](const LogRecord& record) { messages.push_back(record.message); };
  Stack stack(o);
  stack.start();
  EXPECT_FALSE(stack.last_reload().has_value());
  write("spec: [");
  ASSERT_TRUE(stack.reload().has_error());
  ASSERT_EQ(stack.troubles().size(), 1u);
  EXPECT_NE(stack.troubles()[0].find("not what is served"), std::string::npos) << stack.troubles()[0];
  const Diagnostic why = *Diagnostics(stack.last_reload()->diagnostics).begin();
  EXPECT_TRUE(stack.troubles()[0].ends_with(", " + why.file + ':' + std::to_string(why.line) + " [" + why.code + ']'))
      << stack.troubles()[0] << ": no word of what is in the file";
  EXPECT_NE(stack.metrics().find("hcpnet_up 0"), std::string::npos);
  ASSERT_TRUE(stack.last_reload().has_value());
  EXPECT_FALSE(stack.last_reload()->was_applied);
  EXPECT_TRUE(stack.last_reload()->diagnostics.has_errors());
  const std::string status = http(o.admin_socket, "GET /status");
  EXPECT_NE(status.find("\"lastReload\""), std::string::npos);
  EXPECT_NE(status.find("\"applied\": false"), std::string::npos);
  const std::string ready = http(o.admin_socket, "GET /readyz");
  EXPECT_NE(ready.find("200 OK"), std::string::npos) << "the old configuration is served";
  EXPECT_NE(ready.find("not what is served"), std::string::npos);
  write(spec_text("blue", 1));
  ASSERT_TRUE(stack.reload().has_value());
  EXPECT_TRUE(stack.troubles().empty());
  EXPECT_TRUE(stack.last_reload()->was_applied);
  stack.stop();
  EXPECT_EQ(std::ranges::count(messages, "the files are again what is served"), 1);
  EXPECT_EQ(messages.back(), "stopped");
}

TEST_F(StackTest, DoesNotReloadUnlessItRuns) {
  Stack stack(options());
  const auto expect_refusal = [&] {
    const auto refused = stack.reload();
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(Diagnostics(refused.error()).begin()->code, "not-running");
  };
  expect_refusal();
  stack.start();
  EXPECT_TRUE(stack.reload().has_value());
  stack.stop();
  expect_refusal();
}

TEST_F(StackTest, SaysThatAListenAddressNeedsARestart) {
  Stack stack(options());
  stack.start();
  write(spec_text("blue", 2));
  const auto refused = stack.reload();
  ASSERT_TRUE(refused.has_error());
  for (const Diagnostic& d : Diagnostics(refused.error())) EXPECT_EQ(d.code, "needs-restart");
  EXPECT_EQ(stack.stats().reloads_refused, 1u);
  EXPECT_EQ(stack.stats().reload_errors.at("needs-restart"), Diagnostics(refused.error()).error_count());
  EXPECT_NE(stack.metrics().find("hcpnet_reload_errors_total{code=\"needs-restart\"}"), std::string::npos);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// Edits that are right for themselves, and that a server can't take while it runs.
struct RefusedEdit {
  const char* name;
  std::string (*text)(const Stack& stack);
  const char* code;
};
void PrintTo(const RefusedEdit& edit, std::ostream* out) {
  *out << edit.name;
}

const RefusedEdit kRefusedEdits[] = {
    {"OwnDnsServerAsUpstream",
     [](const Stack& stack) {
       for (const StackListener& l : stack.listeners())
         if (l.service == "dns")
           return replaced(spec_text("green", 1), "networkAttachmentDefinition: vlan",
                           "networkAttachmentDefinition: vlan, dnsServers: ['" + l.bound.to_string() + "']");
       return std::string();
     },
     "refused-by-server"},
    {"SmallerNetwork",
     [](const Stack&) { return replaced(replaced(spec_text("green", 1), "0/24", "0/25"), "149", "120"); },
     "needs-restart"},
};

class RefusedEditTest : public StackTest, public ::testing::WithParamInterface<RefusedEdit> {
 protected:
  /// A name, and a route, of before.
  static void expect_old_state(const Stack& stack) {
    unsigned rcode = 99;
    EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
    const auto routes = stack.route("", 6443, Ipv4(127, 80, 1, 100));
    ASSERT_EQ(routes.size(), 1u);
    EXPECT_EQ(routes[0].backend, "blue-kube-apiserver");
    EXPECT_EQ(stack.stats().reloads, 0u);
    EXPECT_EQ(stack.stats().reloads_refused, 1u);
  }
  static void expect_reason(const Diagnostics& why) {
    ASSERT_TRUE(why.has_errors());
    for (const Diagnostic& d : why) {
      EXPECT_EQ(d.code, GetParam().code) << d.to_string();
      EXPECT_EQ(d.message.find("boost"), std::string::npos) << d.message;
    }
  }
};

TEST_P(RefusedEditTest, ChangesNothing) {
  Stack stack(options());
  stack.start();
  write(GetParam().text(stack));
  EXPECT_TRUE(check_files({{{"set.yaml", GetParam().text(stack)}}, {}, {}}).has_value());
  const auto refused = stack.reload();
  ASSERT_TRUE(refused.has_error());
  expect_reason(refused.error());
  expect_old_state(stack);
  write(spec_text("green", 1));
  EXPECT_TRUE(stack.reload().has_value());
  EXPECT_EQ(stack.route("", 6443, Ipv4(127, 80, 1, 100)).at(0).backend, "green-kube-apiserver");
}

TEST_P(RefusedEditTest, ChangesNothingWhenTheFileIsWatched) {
  std::promise<StackEvent> seen;
  StackOptions o = options();
  o.watch = true;
  o.on_event = [&](const StackEvent& e) { seen.set_value(e); };
  Stack stack(o);
  stack.start();
  write(GetParam().text(stack));
  const StackEvent event = seen.get_future().get();
  EXPECT_EQ(event.kind, StackEvent::Kind::reload_refused);
  expect_reason(event.diagnostics);
  expect_old_state(stack);
  EXPECT_TRUE(stack.is_running());
}

INSTANTIATE_TEST_SUITE_P(Edits, RefusedEditTest, ::testing::ValuesIn(kRefusedEdits),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(StackTest, NoProxyConnectsToAnotherOneOfItsOwn) {
  const auto proxy_server = [](const std::string& name, const std::string& address, const std::string& target) {
    return "apiVersion: hostedcluster.densityops.com/v1alpha1\nkind: ProxyServer\nmetadata: {name: " + name +
           ", namespace: ns}\nspec:\n  networkConfig: {serverIP: " + address +
           "}\n  backends:\n  - {name: b, hostname: b.example.com, port: 443, targetService: " + target +
           ", targetPort: 443, targetNamespace: ns}\n";
  };
  write(proxy_server("first", "127.80.1.5", "svc") + "---\n" + proxy_server("second", "127.80.1.6", "other"));
  std::atomic<std::uint16_t> port{0};
  StackOptions o = options();
  o.resolve = [&](const std::string& host, std::uint16_t, const proxy::Resolved& resolved) {
    resolved(proxy::Resolution({{Ipv4(127, 80, 1, host.starts_with("svc") ? 6 : 5), port}}));
  };
  Stack stack(o);
  stack.start();
  const std::map<std::string, Endpoint> listeners = [&] {
    std::map<std::string, Endpoint> all;
    for (const StackListener& l : stack.listeners()) all.emplace(l.owner, l.bound);
    return all;
  }();
  const auto hello = tls::make_client_hello("b.example.com", std::array<std::uint8_t, 64>{});
  const auto visit = [&](const char* from, const char* to) {
    port = listeners.at(to).port;
    asio::io_context io;
    asio::ip::tcp::socket client(io);
    client.connect({asio::ip::make_address(listeners.at(from).address.to_string()), listeners.at(from).port});
    asio::write(client, asio::buffer(hello));
    std::array<char, 1> byte{};
    boost::system::error_code ec;
    client.read_some(asio::buffer(byte), ec);
    EXPECT_TRUE(ec) << "closed";
    const StackStats stats = stack.stats();
    EXPECT_EQ(stats.proxies.at(from).loops_refused, 1u);
  };
  visit("ns/first", "ns/second");
  EXPECT_EQ(stack.stats().proxies.at("ns/second").accepted, 0u);
  ASSERT_TRUE(stack.reload().has_value());
  visit("ns/second", "ns/first");
}

TEST_F(StackTest, DoesNotCareInWhichOrderTheObjectsStand) {
  const std::string one = replaced(spec_text("blue", 1), "name: vlan,", "name: first,");
  const std::string two =
      replaced(replaced(spec_text("red", 2), "name: vlan,", "name: second,"), "Namespace: ns", "Namespace: ns2");
  write(one + "---" + two);
  Stack stack(options());
  stack.start();
  write(two + "---" + replaced(one, "blue", "green"));
  EXPECT_TRUE(stack.reload().has_value());
  EXPECT_EQ(stack.zones().at(0).server, "hcp/first");
  EXPECT_EQ(stack.zones().at(0).zone->apex().to_string(), "green.example.com.");
}

TEST_F(StackTest, ReloadsWhenAConfigMapIsSwapped) {
  // the way kubelet updates a volume: ..data is a link that is replaced by rename
  std::filesystem::create_directories(folder / "volume" / "v1");
  std::filesystem::create_directories(folder / "volume" / "v2");
  std::ofstream(folder / "volume" / "v1" / "set.yaml") << spec_text("blue", 1);
  std::ofstream(folder / "volume" / "v2" / "set.yaml") << spec_text("green", 1);
  std::filesystem::create_directory_symlink("v1", folder / "volume" / "..data");
  std::filesystem::create_symlink("..data/set.yaml", folder / "volume" / "set.yaml");
  std::promise<StackEvent::Kind> seen;
  StackOptions o = options();
  o.files = {(folder / "volume" / "set.yaml").string()};
  o.watch = true;
  o.on_event = [&](const StackEvent& e) { seen.set_value(e.kind); };
  Stack stack(o);
  stack.start();
  std::filesystem::create_directory_symlink("v2", folder / "volume" / "..data_tmp");
  std::filesystem::rename(folder / "volume" / "..data_tmp", folder / "volume" / "..data");
  EXPECT_EQ(seen.get_future().get(), StackEvent::Kind::reloaded);
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.green.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
}

TEST_F(StackTest, AZoneFileIsWatchedLikeASpecAndServedUntilANewOneIsGood) {
  std::filesystem::create_directories(folder / "zones");
  const auto zone = [&](const std::string& records) {
    std::ofstream(folder / "zones" / "new") << "$TTL 9\n@ SOA ns h 1 1 1 1 1\n" << records;
    std::filesystem::rename(folder / "zones" / "new", folder / "zones" / "corp.zone");
  };
  const auto policy = [](const std::string& files) {
    return spec_text("blue", 1) +
           "---\n{apiVersion: hcpnet.io/v1alpha1, kind: DNSPolicy, metadata: {name: p, namespace: hcp}, spec: "
           "{targetRef: {kind: Infra, name: vlan}, " +
           files + "}}\n";
  };
  const std::string one = "zoneFiles: [{path: zones/corp.zone, zone: corp.example.com}]";
  zone("www A 198.51.100.1\n");
  write(policy(one));
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<StackEvent> events;
  StackOptions o = options();
  o.watch = true;
  o.on_event = [&](const StackEvent& e) {
    const std::lock_guard lock(mutex);
    events.push_back(e);
    changed.notify_all();
  };
  Stack stack(o);
  stack.start();
  const auto wait_for = [&](std::size_t count, StackEvent::Kind kind) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return events.size() >= count; }));
    EXPECT_EQ(events[count - 1].kind, kind) << events[count - 1].diagnostics.to_string();
  };
  const auto www = [&](const std::string& name) {
    unsigned rcode = 99;
    return ask(bound(stack, "dns", 53), name, rcode);
  };
  EXPECT_EQ(www("www.corp.example.com"), std::vector<std::string>{"198.51.100.1"});
  zone("www A 198.51.100.2\n");
  wait_for(1, StackEvent::Kind::reloaded);
  EXPECT_EQ(www("www.corp.example.com"), std::vector<std::string>{"198.51.100.2"});

  zone("www A 198.51.100\n");
  wait_for(2, StackEvent::Kind::reload_refused);
  const Diagnostics& refused = events[1].diagnostics;
  const auto error = std::ranges::find(refused, Severity::error, &Diagnostic::severity);
  ASSERT_NE(error, refused.end());
  EXPECT_EQ(error->file, (folder / "zones/corp.zone").string());
  EXPECT_EQ(error->line, 3u);
  EXPECT_EQ(www("www.corp.example.com"), std::vector<std::string>{"198.51.100.2"});

  // A folder that nothing served is in: the file that was missing there mends what was refused.
  std::filesystem::create_directories(folder / "more");
  write(policy(one + ", hostsFiles: [{path: more/hosts}]"));
  wait_for(3, StackEvent::Kind::reload_refused);
  wait_for(4, StackEvent::Kind::reload_refused);  // what may have changed before its folder was watched is read again
  zone("www A 198.51.100.3\n");
  wait_for(5, StackEvent::Kind::reload_refused);
  std::ofstream(folder / "more" / "new") << "198.51.100.4 host.corp.example.org\n";
  std::filesystem::rename(folder / "more" / "new", folder / "more" / "hosts");
  wait_for(6, StackEvent::Kind::reloaded);
  EXPECT_EQ(www("www.corp.example.com"), std::vector<std::string>{"198.51.100.3"});
  EXPECT_EQ(www("host.corp.example.org"), std::vector<std::string>{"198.51.100.4"});
}

TEST_F(StackTest, WatchesTheFolderThatTakesThePlaceOfAnother) {
  // the last one replaces a folder further up, which makes no event in the folder that is watched
  const std::filesystem::path place = folder / "etc" / "conf";
  const auto make = [&](const std::filesystem::path& at, const std::string& name) {
    std::filesystem::create_directories(at);
    std::ofstream(at / "new") << spec_text(name, 1);
    std::filesystem::rename(at / "new", at / "set.yaml");
  };
  make(place, "blue");
  std::mutex mutex;
  std::condition_variable changed;
  unsigned reloads = 0;
  StackOptions o = options();
  o.files = {(place / "set.yaml").string()};
  o.watch = true;
  o.on_event = [&](const StackEvent& e) {
    const std::lock_guard lock(mutex);
    if (e.kind == StackEvent::Kind::reloaded) ++reloads;
    changed.notify_all();
  };
  Stack stack(o);
  stack.start();
  const auto expect_reload = [&](unsigned count, const std::string& name) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return reloads >= count; })) << name;
    lock.unlock();
    EXPECT_EQ(stack.route("", 6443, Ipv4(127, 80, 1, 100)).at(0).backend, name + "-kube-apiserver");
  };
  std::filesystem::rename(place, folder / "etc" / "old");
  make(place, "green");
  expect_reload(1, "green");
  make(place, "red");
  expect_reload(2, "red");
  std::filesystem::remove_all(place);
  make(place, "white");
  expect_reload(3, "white");
  std::filesystem::rename(folder / "etc", folder / "etc.old");
  make(place, "black");
  expect_reload(4, "black");
  make(place, "grey");
  expect_reload(5, "grey");
}

/// A file that is read no further than the test wants: its descriptor becomes the end of a pipe, and a regular file
/// again. Readers of a pipe wait for what is not written yet.
class SlowFile {
 public:
  SlowFile() : regular_(::memfd_create("slow", MFD_CLOEXEC)), file_(::dup(regular_)) { fill(regular_); }
  ~SlowFile() {
    go_on();
    ::close(file_);
    ::close(regular_);
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }
  /// From now on a reader waits.
  void hold() {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    ::dup2(pipe[0], file_);
    ::close(pipe[0]);
    writer_ = pipe[1];
  }
  void go_on() {
    if (writer_ < 0) return;
    fill(writer_);
    ::dup2(regular_, file_);
    ::close(std::exchange(writer_, -1));
  }

 private:
  static void fill(int to) {
    constexpr std::string_view kNothing = "{apiVersion: v1, kind: List, items: []}\n";
    ASSERT_EQ(::write(to, kNothing.data(), kNothing.size()), static_cast<ssize_t>(kNothing.size()));
  }

  int regular_, file_, writer_ = -1;
};

/// Counts the ends of reloads and keeps their outcomes.
struct Outcomes {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Result<void, Diagnostics>> results;

  [[nodiscard]] auto take() {
    return [this](const Result<void, Diagnostics>& result) {
      const std::lock_guard lock(mutex);
      results.push_back(result);
      changed.notify_all();
    };
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return results.size() >= count; });
  }
};

class SlowReloadTest : public StackTest {
 protected:
  [[nodiscard]] StackOptions slow_options() const {
    StackOptions o = options();
    o.observed = {slow.path()};
    return o;
  }
  SlowFile slow;
};

TEST_F(SlowReloadTest, ServesWhileFilesAreRead) {
  Outcomes outcomes;
  Stack stack(slow_options());
  stack.start();
  slow.hold();
  write(spec_text("green", 1));
  for (int i = 0; i < 5; ++i) stack.reload(outcomes.take());
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
  EXPECT_EQ(stack.stats().reloads, 0u);
  slow.go_on();
  outcomes.wait_for(5);
  EXPECT_EQ(stack.stats().reloads, 2u) << "the first, and one for the four that came meanwhile";
  for (const auto& result : outcomes.results) EXPECT_TRUE(result.has_value());
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.green.example.com", rcode), std::vector<std::string>{"127.80.1.4"});
}

TEST_F(SlowReloadTest, AnswersAtTheAdminSocketWhenItIsDone) {
  StackOptions o = slow_options();
  o.admin_socket = (folder / "admin.sock").string();
  Stack stack(o);
  stack.start();
  slow.hold();
  asio::io_context io;
  asio::local::stream_protocol::socket client(io);
  client.connect(asio::local::stream_protocol::endpoint(o.admin_socket));
  asio::write(client, asio::buffer(std::string("POST /reload HTTP/1.0\r\n\r\n")));
  EXPECT_NE(http(o.admin_socket, "GET /status").find("\"reloads\": 0"), std::string::npos);
  slow.go_on();
  std::string reply;
  boost::system::error_code eof;
  asio::read(client, asio::dynamic_buffer(reply), eof);
  EXPECT_NE(reply.find("\"applied\": true"), std::string::npos) << reply;
}

TEST_F(SlowReloadTest, StopsWhileFilesAreRead) {
  Outcomes outcomes;
  Stack stack(slow_options());
  stack.start();
  slow.hold();
  for (int i = 0; i < 2; ++i) stack.reload(outcomes.take());
  std::thread stopping([&] { stack.stop(); });
  slow.go_on();
  stopping.join();
  ASSERT_EQ(outcomes.results.size(), 2u);
  EXPECT_FALSE(stack.is_running());
  stack.reload(outcomes.take());
  EXPECT_EQ(Diagnostics(outcomes.results.back().error()).begin()->code, "not-running");
}

TEST_F(SlowReloadTest, AWaitingCallerIsAnsweredWhenTheStackStops) {
  Stack stack(slow_options());
  stack.start();
  slow.hold();
  std::thread caller([&] { static_cast<void>(stack.reload()); });
  std::thread stopping([&] { stack.stop(); });
  slow.go_on();
  caller.join();
  stopping.join();
  EXPECT_FALSE(stack.is_running());
}

TEST_F(SlowReloadTest, ADestroyedStackWaitsForItsReader) {
  Outcomes outcomes;
  auto stack = std::make_unique<Stack>(slow_options());
  stack->start();
  slow.hold();
  stack->reload(outcomes.take());
  EXPECT_TRUE(stack->is_running());
  std::thread ending([&] { stack.reset(); });
  slow.go_on();
  ending.join();
  EXPECT_EQ(outcomes.results.size(), 1u);
}

TEST_F(SlowReloadTest, RunsBesideTheEmbeddersContext) {
  asio::io_context io;
  Stack stack(io, slow_options());
  stack.start();
  write(spec_text("green", 1));
  slow.hold();
  bool was_applied = false;
  const auto caller = std::this_thread::get_id();
  stack.reload([&](const Result<void, Diagnostics>& result) {
    was_applied = result.has_value();
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(stack.route("", 6443, Ipv4(127, 80, 1, 100)).at(0).backend, "green-kube-apiserver");
    stack.stop();
  });
  asio::post(io, [&] { slow.go_on(); });
  io.run();
  EXPECT_TRUE(was_applied);
}

TEST_F(SlowReloadTest, WhatWasReadBeforeAnotherReloadIsReadAgain) {
  asio::io_context io;
  Stack stack(io, slow_options());
  stack.start();
  slow.hold();
  bool is_done = false;
  stack.reload([&](const Result<void, Diagnostics>& result) {
    is_done = result.has_value();
    EXPECT_EQ(stack.route("", 6443, Ipv4(127, 80, 1, 100)).at(0).backend, "green-kube-apiserver");
    stack.stop();
  });
  slow.go_on();
  write(spec_text("green", 1));
  EXPECT_TRUE(stack.reload().has_value());
  io.run();
  EXPECT_TRUE(is_done);
}

TEST_F(StackTest, RunsOnTheEmbeddersContext) {
  asio::io_context io;
  Stack stack(io, options());
  stack.start();
  bool stopped = false;
  asio::post(io, [&] { stack.stop([&] { stopped = true; }); });
  io.run();
  EXPECT_TRUE(stopped);
}

TEST_F(StackTest, FollowsTheAddressOfTheInternalProxy) {
  std::string text = spec_text("blue", 1);
  text.replace(text.find("198.51.100.1"), std::string("198.51.100.1").size(), "proxy.hcp.svc");
  write(text);
  asio::io_context io;
  ManualClock clock;
  std::vector<Endpoint> answer;
  int asked = 0;
  StackOptions o = options();
  o.clock = &clock;
  o.resolve = [&](const std::string& host, std::uint16_t, auto resolved) {
    EXPECT_EQ(host, "proxy.hcp.svc");
    ++asked;
    if (answer.empty()) return resolved(make_error_code(boost::system::errc::no_such_device_or_address));
    resolved(answer);
  };
  Stack stack(io, o);
  stack.start();
  const auto pod_zone = [&] {
    for (const StackZone& z : stack.zones())
      if (z.view == "pod") return z.zone;
    throw std::out_of_range("pod");
  };
  EXPECT_FALSE(pod_zone()->is_available());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stack.reload().has_value());
  EXPECT_EQ(asked, 4) << "at start and at each reload";
  for (const Ipv4 address : {Ipv4(198, 51, 100, 1), Ipv4(198, 51, 100, 2)}) {
    answer = {{address, 443}};
    clock.advance(std::chrono::seconds(30));
    EXPECT_TRUE(pod_zone()->is_available());
    const auto found = pod_zone()->find(dns::parse_name("api.blue.example.com").value(), dns::Type::a);
    ASSERT_EQ(found.outcome, dns::Zone::Outcome::answer);
    EXPECT_EQ(found.rrset->rdata.at(0).back(), address.bytes().back());
  }
  EXPECT_EQ(asked, 6) << "once in 30 s, however many reloads there were";
  stack.stop();
  io.run();  // ends: no timer is left behind
}

TEST_F(StackTest, HasEveryMetricInTheDocs) {
  Stack stack(options());
  stack.start();
  std::ifstream file(HCPNET_SOURCE_DIR "/docs/metrics.md");
  const std::string docs(std::istreambuf_iterator<char>(file), {});
  std::istringstream page(stack.metrics());
  int families = 0;
  for (std::string hash, keyword, name, type; page >> hash;) {
    if (hash == "#" && page >> keyword >> name >> type && keyword == "TYPE") {
      ++families;
      EXPECT_NE(docs.find("| " + name + " | " + type + " |"), std::string::npos) << name;
    }
    page.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  EXPECT_GE(families, 15);
}

TEST_F(StackTest, TellsWhatForwardingCosts) {
  Stack stack(options());
  stack.start();
  const std::string page = stack.metrics();
  for (const char* name :
       {"coalesced_total", "upstream_probes_total", "upstream_case_changed_total", "tcp_connections", "cache_bytes"})
    EXPECT_NE(page.find(std::string("\nhcpnet_dns_") + name + "{server="), std::string::npos) << name;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(HCPNET_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> all_matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

/// The reasons of a metric as docs/metrics.md has them, in its last table.
std::set<std::string> documented_reasons(const std::string& metric) {
  const std::string docs = text_of_file("docs/metrics.md");
  const std::size_t row = docs.rfind("\n| " + metric + " |") + 1;
  return all_matches(docs.substr(row, docs.find('\n', row) - row), "`([a-z_]+)`");
}

TEST_F(StackTest, HasEveryReasonInTheDocs) {
  Stack stack(options());
  stack.start();
  const std::string page = stack.metrics();
  for (const char* metric :
       {"hcpnet_dns_dropped_total", "hcpnet_proxy_closes_total", "hcpnet_proxy_abnormal_closes_total"})
    EXPECT_EQ(all_matches(page, (std::string(metric) + R"(\{[^}]*reason="([a-z_]+)\")").c_str()),
              documented_reasons(metric))
        << metric;
}

TEST(Docs, HaveEveryReasonOfDhcp) {
  for (const std::string module : {"dhcp", "dhcp6"}) {
    std::string source;
    for (const auto& file : std::filesystem::directory_iterator(HCPNET_SOURCE_DIR "/src/" + module))
      if (file.path().extension() == ".cpp")
        source += text_of_file("src/" + module + '/' + file.path().filename().string());
    const std::set<std::string> documented = documented_reasons("hcpnet_" + module + "_dropped_total");
    EXPECT_GT(documented.size(), 10u);
    for (const std::string& reason : all_matches(source, R"re((?:dropped = |drop\(|dropped\[)"([a-z_]+)")re"))
      EXPECT_TRUE(documented.contains(reason)) << module << ' ' << reason;
    for (const std::string& reason : documented)
      EXPECT_NE(source.find('"' + reason + '"'), std::string::npos) << module << ' ' << reason;
  }
}

TEST_F(StackTest, KeepsWebPagesOffTheAdminPort) {
  StackOptions o = options();
  o.admin_tcp = Endpoint{Ipv4(127, 0, 0, 1), 0};
  Stack stack(o);
  stack.start();
  std::uint16_t port = 0;
  for (const StackListener& l : stack.listeners())
    if (l.service == "admin") port = l.bound.port;
  const auto status = [&](const std::string& request, const std::string& fields) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    asio::write(socket, asio::buffer(request + " HTTP/1.1\r\nConnection: close\r\n" + fields + "\r\n"));
    std::string reply;
    boost::system::error_code eof;
    asio::read(socket, asio::dynamic_buffer(reply), eof);
    return reply.substr(9, 3);
  };
  for (const char* host :
       {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.2:80", "[::1]:80", "[::1]", "a.localhost"})
    EXPECT_EQ(status("GET /status", std::string("Host: ") + host + "\r\n"), "200") << host;
  for (const char* host : {"", "evil.example.com", "192.0.2.1:80", "[2001:db8::1]", "127.0.0.1.evil.example.com",
                           "localhost.evil.example.com", "[", "[]", ":80"})
    EXPECT_EQ(status("GET /status", std::string("Host: ") + host + "\r\n"), "403") << host;
  EXPECT_EQ(status("GET /status", ""), "403");
  const std::string host = "Host: localhost\r\n";
  EXPECT_EQ(status("POST /reload", host), "200");
  EXPECT_EQ(status("POST /reload", host + "Content-Type: application/json\r\n"), "200");
  EXPECT_EQ(status("POST /reload", host + "Origin: http://localhost\r\n"), "403");
  EXPECT_EQ(status("POST /drain", host + "Origin: null\r\n"), "403");
  for (const char* type : {"text/plain", "Text/Plain; charset=utf-8", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=a"})
    EXPECT_EQ(status("POST /drain", host + "Content-Type: " + type + "\r\n"), "403") << type;
  EXPECT_FALSE(stack.is_draining());
  EXPECT_EQ(stack.stats().reloads, 2u);
}

std::string proxy_policy(const std::string& fields) {
  return "---\napiVersion: hcpnet.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: p, namespace: hcp}\nspec: "
         "{targetRef: {kind: Infra, name: vlan}, " +
         fields + "}\n";
}

TEST_F(StackTest, AReloadChangesTheLimitsOfAnEngine) {
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  Stack stack(o);
  stack.start();
  const auto refused = [&] { return stack.stats().proxies.at("hcp/vlan").limit_refused; };
  const auto connect = [&](asio::io_context& io) {
    asio::ip::tcp::socket client(io);
    const Endpoint to = bound(stack, "proxy", 6443);
    client.connect({asio::ip::make_address(to.address.to_string()), to.port});
    return client;
  };
  asio::io_context io;
  const auto first = connect(io);
  write(spec_text("blue", 1) + proxy_policy("maxConnections: 1, maxHelloBytes: 2048"));
  ASSERT_TRUE(stack.reload().has_value());
  EXPECT_FALSE(std::ranges::any_of(stack.warnings(), [](const Diagnostic& d) { return d.code == "needs-restart"; }));
  auto second = connect(io);
  std::array<char, 1> byte{};
  boost::system::error_code ec;
  second.read_some(asio::buffer(byte), ec);
  EXPECT_TRUE(ec) << "closed";
  EXPECT_EQ(refused(), 1u);
  EXPECT_NE(http(o.admin_socket, "GET /config_dump").find("\"maxHelloBytes\": 2048"), std::string::npos);
  write(spec_text("blue", 1));
  ASSERT_TRUE(stack.reload().has_value());
  const auto third = connect(io);
  while (stack.stats().proxies.at("hcp/vlan").active < 2) std::this_thread::yield();
  EXPECT_EQ(refused(), 1u);
}

TEST_F(StackTest, AnEmbedderSaysWhereServicesAreServed) {
  Stack stack(options());
  const auto targets = [&] { return stack.route("api.blue.example.com", 6443, Ipv4(127, 80, 1, 100)).at(0).targets; };
  ASSERT_TRUE(stack.set_endpoints({{"ns/kube-apiserver:6443", {{Ipv4(192, 0, 2, 1), 6443}}}}).has_value());
  stack.start();
  EXPECT_EQ(targets(), std::vector<std::string>{"192.0.2.1:6443"});
  ASSERT_TRUE(stack.set_endpoints({{"ns/kube-apiserver:6443", {{Ipv4(192, 0, 2, 2), 6443}}}}).has_value());
  EXPECT_EQ(targets(), std::vector<std::string>{"192.0.2.2:6443"});
  ASSERT_TRUE(stack.reload().has_value());
  EXPECT_EQ(targets(), std::vector<std::string>{"192.0.2.2:6443"}) << "a reload keeps them";
  const auto refused = stack.set_endpoints({{"nonsense", {}}});
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(Diagnostics(refused.error()).begin()->code, "bad-endpoint");
  EXPECT_EQ(targets(), std::vector<std::string>{"192.0.2.2:6443"});
  ASSERT_TRUE(stack.set_endpoints({{"ns/kube-apiserver:6443", {}}}).has_value());
  EXPECT_TRUE(targets().empty()) << "nothing serves it";
  ASSERT_TRUE(stack.set_endpoints({}).has_value());
  EXPECT_EQ(targets(), std::vector<std::string>{"kube-apiserver.ns.svc.cluster.local:6443"});
}

TEST_F(SlowReloadTest, EndpointsThatComeWhileFilesAreReadAreNotLost) {
  Outcomes outcomes;
  Stack stack(slow_options());
  stack.start();
  slow.hold();
  write(spec_text("green", 1));
  stack.reload(outcomes.take());
  ASSERT_TRUE(stack.set_endpoints({{"ns/kube-apiserver:6443", {{Ipv4(192, 0, 2, 1), 6443}}}}).has_value());
  slow.go_on();
  outcomes.wait_for(1);
  EXPECT_EQ(stack.route("api.green.example.com", 6443, Ipv4(127, 80, 1, 100)).at(0).targets,
            std::vector<std::string>{"192.0.2.1:6443"});
}

TEST_F(StackTest, WarnsThatThreadsAreStartedOnce) {
  Stack stack(options());
  stack.start();
  write(spec_text("blue", 1) + R"(---
apiVersion: hcpnet.io/v1alpha1
kind: ProxyPolicy
metadata: {name: p, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan}, workers: 2}
---
apiVersion: hcpnet.io/v1alpha1
kind: DNSPolicy
metadata: {name: p, namespace: hcp}
spec: {targetRef: {kind: Infra, name: vlan}, workers: 2}
)");
  ASSERT_TRUE(stack.reload().has_value());
  const Diagnostics warnings = stack.warnings();
  EXPECT_EQ(std::ranges::count_if(warnings, [](const Diagnostic& d) { return d.code == "needs-restart"; }), 2);
}

TEST_F(StackTest, AnswersOnItsAdminSocket) {
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  {
    Stack stack(o);
    stack.start();
    struct stat info{};
    ASSERT_EQ(::stat(o.admin_socket.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
    EXPECT_NE(http(o.admin_socket, "GET /readyz").find("200 OK"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /status").find("\"listeners\""), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /routes?port=6443&sni=api.blue.example.com").find("blue-kube-apiserver"),
              std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /routes?port=0").find("400"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /reload").find("405"), std::string::npos) << "a change is a POST";
    EXPECT_NE(http(o.admin_socket, "POST /reload").find("\"applied\": true"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /nothing").find("404"), std::string::npos);
    Stack second(o);
    EXPECT_ANY_THROW(second.start()) << "the first answers on the socket";
  }
  EXPECT_FALSE(std::filesystem::exists(o.admin_socket));
}

std::string lease_file(const std::string& lines) {
  return "address,mac,duid,iaid,state,expires,line\n" + lines;
}

/// A request with a body; the whole answer.
std::string post(const std::string& path, const std::string& target, const std::string& body) {
  asio::io_context io;
  asio::local::stream_protocol::socket socket(io);
  socket.connect(asio::local::stream_protocol::endpoint(path));
  boost::system::error_code ec;  // it may close before it has read all
  asio::write(socket,
              asio::buffer("POST " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + body),
              ec);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), ec);
  return answer;
}

TEST_F(StackTest, LeasesAreImportedAndEndedOnTheAdminSocket) {
  std::vector<std::string> events;  // written on the stack's thread, read after stop()
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  o.on_event = [&](const StackEvent& e) {
    if (e.lease) events.push_back(std::string(to_string(e.lease->kind)) + ' ' + e.lease->lease.address.to_string());
  };
  {
    Stack stack(o);
    stack.start();
    const std::string good = lease_file("127.80.1.101,02:00:00:00:00:01,,,bound,2100-01-01T00:00:00Z,7\n");
    std::string answer = post(o.admin_socket, "/leases/import?file=old", good);
    EXPECT_NE(answer.find("200 OK"), std::string::npos) << answer;
    EXPECT_NE(answer.find("\"imported\": 1"), std::string::npos) << answer;
    EXPECT_NE(http(o.admin_socket, "GET /leases?of=02:00:00:00:00:01").find("127.80.1.101"), std::string::npos);
    EXPECT_EQ(http(o.admin_socket, "GET /leases?of=02:00:00:00:00:02").find("127.80.1.101"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /leases/export").find("127.80.1.101,02:00:00:00:00:01,"), std::string::npos);

    const std::string bad = lease_file(
        "127.80.1.101,02:00:00:00:00:02,,,bound,2100-01-01T00:00:00Z,8\n"
        "127.80.1.2,02:00:00:00:00:03,,,bound,2100-01-01T00:00:00Z,9\n"
        "2001:db8::1,,00:04:aa,1,bound,2100-01-01T00:00:00Z,10\n");
    answer = post(o.admin_socket, "/leases/import?file=old", bad);
    EXPECT_NE(answer.find("409"), std::string::npos) << answer;
    for (const char* part : {"\"line\": 8", "\"line\": 9", "\"line\": 10", "lease-held", "lease-own-address",
                             "lease-foreign-network", "\"file\": \"old\""})
      EXPECT_NE(answer.find(part), std::string::npos) << part << answer;
    EXPECT_EQ(stack.leases().size(), 1U);
    EXPECT_NE(post(o.admin_socket, "/leases/import", "no such file").find("lease-syntax"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /leases/import").find("405"), std::string::npos);

    EXPECT_NE(post(o.admin_socket, "/leases/release?address=nowhere", "").find("400"), std::string::npos);
    EXPECT_NE(http(o.admin_socket, "GET /leases/release?address=127.80.1.101").find("405"), std::string::npos);
    EXPECT_NE(post(o.admin_socket, "/leases/release?address=127.80.1.101", "").find("\"released\""), std::string::npos);
    EXPECT_NE(post(o.admin_socket, "/leases/release?address=127.80.1.101", "").find("lease-not-found"),
              std::string::npos);
    stack.stop();
  }
  EXPECT_EQ(events, (std::vector<std::string>{"bound 127.80.1.101", "released 127.80.1.101"}));
}

TEST_F(StackTest, OnlyTheImportTakesALargeBody) {
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  Stack stack(o);
  stack.start();
  std::string rows;
  for (int i = 0; i < 4000; ++i) rows += "127.80.1.101,,,,declined,2100-01-01T00:00:00Z,\n";
  const std::string large = lease_file(rows);
  ASSERT_GT(large.size(), 64U * 1024);
  EXPECT_NE(post(o.admin_socket, "/leases/import", large).find("lease-twice"), std::string::npos);
  EXPECT_EQ(post(o.admin_socket, "/drain", large), "") << "closed without an answer";
  EXPECT_FALSE(stack.is_draining());
}

TEST_F(StackTest, LeasesAreImportedAndEndedByTheEmbedder) {
  asio::io_context io;
  Stack stack(io, options());
  stack.start();
  auto list = dhcp::parse_lease_file(dhcp::LeaseFileFormat::hcpnet, "f",
                                     lease_file("127.80.1.101,02:00:00:00:00:01,,,bound,2100-01-01T00:00:00Z,7\n"))
                  .value();
  std::vector<std::string> outcomes;
  stack.import_leases(list, [&](const Result<dhcp::LeaseImport, Diagnostics>& imported) {
    outcomes.push_back("imported " + std::to_string(imported.value().imported));
    stack.release_lease(Ipv4(127, 80, 1, 101), [&](const Result<dhcp::EndedLease, Diagnostics>& ended) {
      outcomes.push_back("ended " + ended.value().lease.value().mac.to_string());
      stack.import_leases({}, [&](const Result<dhcp::LeaseImport, Diagnostics>& none) {
        outcomes.push_back("imported " + std::to_string(none.value().imported));
        stack.stop();
      });
    });
  });
  io.run();
  EXPECT_EQ(outcomes, (std::vector<std::string>{"imported 1", "ended 02:00:00:00:00:01", "imported 0"}));
  stack.import_leases({}, [&](const Result<dhcp::LeaseImport, Diagnostics>& refused) {
    outcomes.push_back(refused.error().items().at(0).code);
  });
  EXPECT_EQ(outcomes.back(), "no-dhcp");
}

TEST_F(StackTest, ALeaseTellsWhichClusterItsHolderBelongsTo) {
  const auto attachment = [](const std::string& name) {
    return "---\napiVersion: hostedcluster.densityops.com/v1alpha1\nkind: InfraClusterAttachment\nmetadata: {name: " +
           name + ", namespace: hcp}\nspec:\n  infraRef: {name: vlan}\n  hostedClusterRef: {name: " + name +
           ", namespace: hcp}\n  dns: {clusterName: " + name + ", baseDomain: hc.example.com}\n";
  };
  write(R"(apiVersion: hostedcluster.densityops.com/v1alpha1
kind: Infra
metadata: {name: vlan, namespace: hcp}
spec:
  networkConfig: {cidr: 127.80.1.0/24, gateway: 127.80.1.1, networkAttachmentDefinition: vlan}
  infraComponents:
    dhcp: {serverIP: 127.80.1.2, rangeStart: 127.80.1.100, rangeEnd: 127.80.1.149}
    dns: {serverIP: 127.80.1.3}
    proxy: {serverIP: 127.80.1.4, internalProxyService: 198.51.100.1}
)" + attachment("blue") +
        attachment("red"));
  StackOptions o = options();
  o.observed = {(folder / "observed.yaml").string()};
  std::ofstream(o.observed[0]) << R"(apiVersion: v1
kind: List
items:
- {apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: b0, namespace: hcp-blue}, status: {interfaces: [{mac: "02:00:00:00:00:01"}]}}
- {apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: r0, namespace: hcp-red}, status: {interfaces: [{mac: "02:00:00:00:00:02"}]}}
)";
  Stack stack(o);
  stack.start();
  const Ipv4 blue(127, 80, 1, 101), red(127, 80, 1, 102);
  // What a lease says reaches the proxy a turn of the stack's thread later.
  const auto becomes = [&](const std::string& backend, Ipv4 client) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (stack.route("", 6443, client).at(0).backend != backend) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  };
  EXPECT_EQ(stack.route("", 6443, blue).at(0).rule, "source_not_allowed");
  auto list = dhcp::parse_lease_file(dhcp::LeaseFileFormat::hcpnet, "f",
                                     lease_file("127.80.1.101,02:00:00:00:00:01,,,bound,2100-01-01T00:00:00Z,2\n"
                                                "127.80.1.102,02:00:00:00:00:02,,,bound,2100-01-01T00:00:00Z,3\n"))
                  .value();
  std::promise<bool> is_imported;
  stack.import_leases(list, [&](const Result<dhcp::LeaseImport, Diagnostics>& imported) {
    is_imported.set_value(imported.has_value());
  });
  ASSERT_TRUE(is_imported.get_future().get());
  EXPECT_TRUE(becomes("blue-kube-apiserver", blue));
  EXPECT_TRUE(becomes("red-kube-apiserver", red));
  EXPECT_EQ(stack.route("kubernetes.default.svc", 443, red).at(0).backend, "red-kube-apiserver");
  EXPECT_EQ(stack.route("", 6443, red).at(0).source_cluster, "hcp/red");
  stack.release_lease(blue, [](const Result<dhcp::EndedLease, Diagnostics>&) {});
  EXPECT_TRUE(becomes("", blue)) << "an address without a lease is nobody's";
  ASSERT_TRUE(stack.reload().has_value());
  EXPECT_EQ(stack.route("", 6443, red).at(0).backend, "red-kube-apiserver");
  EXPECT_EQ(stack.route("", 6443, blue).at(0).rule, "source_not_allowed");
}

TEST_F(StackTest, ShowsItsProxiesToTheAdministrator) {
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  o.pod_addresses = {*parse_ip_address("::1")};
  Stack stack(o);
  stack.start();
  const auto shows = [&](const char* page, const char* what) {
    return http(o.admin_socket, std::string("GET ") + page).find(what) != std::string::npos;
  };
  EXPECT_TRUE(shows("/stats", "\"accepted\": 0"));
  EXPECT_TRUE(shows("/clusters", "\"name\": \"blue-kube-apiserver\""));
  EXPECT_TRUE(shows("/listeners", "\"address\": \"127.80.1.4:6443\""));
  EXPECT_TRUE(shows("/config_dump", "\"api-int.blue.example.com\""));
  EXPECT_TRUE(shows("/config_dump", "\"grantedReceiveBytes\": "));
  EXPECT_TRUE(shows("/config_dump", "\"workers\": 1"));
  EXPECT_TRUE(shows("/config_dump", "\"template\": \"%{time} %{client} "));
  EXPECT_NE(stack.metrics().find("envoy_cluster_upstream_cx_active{proxy=\"hcp/vlan\",envoy_cluster_name=\"blue-"),
            std::string::npos);
  EXPECT_NE(stack.metrics().find("envoy_listener_downstream_cx_active{proxy=\"hcp/vlan\",envoy_listener_address="
                                 "\"127.80.1.4_443\"} 0"),
            std::string::npos);
  EXPECT_NE(stack.metrics().find("envoy_listener_address=\"[__1]_443\"} 0"), std::string::npos);
}

TEST_F(StackTest, DrainsItsProxiesAndGoesOnServingTheRest) {
  StackOptions o = options();
  o.admin_socket = (folder / "admin.sock").string();
  Stack stack(o);
  stack.start();
  const Endpoint proxy = bound(stack, "proxy", 443);
  EXPECT_NE(http(o.admin_socket, "GET /drain").find("405"), std::string::npos);
  EXPECT_NE(http(o.admin_socket, "POST /drain").find("\"draining\": true"), std::string::npos);
  EXPECT_TRUE(stack.is_draining());
  EXPECT_NE(http(o.admin_socket, "GET /readyz").find("503"), std::string::npos);
  asio::io_context io;
  asio::ip::tcp::socket late(io);
  boost::system::error_code ec;
  late.connect({asio::ip::make_address(proxy.address.to_string()), proxy.port}, ec);
  EXPECT_EQ(ec, asio::error::connection_refused);
  unsigned rcode = 99;
  EXPECT_EQ(ask(bound(stack, "dns", 53), "api.blue.example.com", rcode).size(), 1u);
  EXPECT_TRUE(stack.reload().has_value());
}

TEST_F(StackTest, KeepsChangesOffTheObserveListener) {
  StackOptions o = options();
  o.observe = Endpoint{Ipv4(127, 0, 0, 1), 0};
  Stack stack(o);
  stack.start();
  Endpoint address;
  for (const StackListener& l : stack.listeners())
    if (l.service == "observe") address = l.bound;
  ASSERT_NE(address.port, 0);
  const auto get = [&](const std::string& request) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), address.port});
    asio::write(socket, asio::buffer(request + " HTTP/1.0\r\n\r\n"));
    std::string reply;
    boost::system::error_code eof;
    asio::read(socket, asio::dynamic_buffer(reply), eof);
    return reply;
  };
  EXPECT_NE(get("GET /healthz").find("200 OK"), std::string::npos);
  EXPECT_NE(get("GET /metrics").find("# TYPE hcpnet_up gauge"), std::string::npos);
  asio::io_context io;
  std::vector<asio::ip::tcp::socket> silent;  // as many as there may be
  for (int i = 0; i < 64; ++i) silent.emplace_back(io).connect({asio::ip::make_address("127.0.0.1"), address.port});
  const std::string page = get("GET /metrics");
  EXPECT_NE(page.find("hcpnet_http_closed_for_room_total{page=\"observe\"} 1"), std::string::npos) << page;
  EXPECT_EQ(get("POST /reload").find("200 OK"), std::string::npos);
  EXPECT_EQ(get("GET /leases").find("200 OK"), std::string::npos);
}

TEST_F(StackTest, RefusesAdminOnAnAddressThatOthersReach) {
  StackOptions o = options();
  o.admin_tcp = Endpoint{Ipv4(0, 0, 0, 0), 0};
  Stack stack(o);
  EXPECT_THROW(stack.start(), std::invalid_argument);
}

}  // namespace
}  // namespace hcpnet
