// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <chrono>
#include <hcpnet/proxy/engine.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "casters.hpp"
#include "durations.hpp"
#include "engine_owner.hpp"
#include "ranges.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kNoTime{0};

std::chrono::seconds keepalive_time(const char* argument, std::chrono::seconds value) {
  return std::chrono::seconds(checked<std::int64_t>(argument, value.count(), spec::kKeepaliveSeconds));
}

void bind_keepalive(py::module_& m) {
  const proxy::TcpKeepalive defaults{};
  py::class_<proxy::TcpKeepalive>(m, "TcpKeepalive",
                                  "Probes of a silent connection, on both sides of a tunnel (RFC 9293 section 3.8.4).")
      .def(py::init([](std::chrono::seconds idle, std::chrono::seconds interval, std::int64_t probes) {
             return proxy::TcpKeepalive{keepalive_time("idle", idle), keepalive_time("interval", interval),
                                        checked<int>("probes", probes, spec::kKeepaliveProbes)};
           }),
           py::kw_only(), py::arg("idle") = defaults.idle, py::arg("interval") = defaults.interval,
           py::arg("probes") = defaults.probes, R"doc(Say when a connection is lost.

Args:
    idle (timedelta): silence before the first probe: 1 to 32,767 whole seconds.
    interval (timedelta): between probes, the same.
    probes (int): 1 to 127 unanswered ones, after which the connection is lost.
Raises:
    ValueError: a number or a time is out of its range.)doc")
      .def_readonly("idle", &proxy::TcpKeepalive::idle, "timedelta: silence before the first probe.")
      .def_readonly("interval", &proxy::TcpKeepalive::interval, "timedelta: between probes.")
      .def_readonly("probes", &proxy::TcpKeepalive::probes, "int: unanswered, after which the connection is lost.");
}

std::optional<std::size_t> buffer_bytes(const char* argument, std::optional<std::int64_t> value) {
  if (!value) return {};
  constexpr spec::Interval kBounded{static_cast<std::int64_t>(proxy::kLeastSocketBufferBytes),
                                    static_cast<std::int64_t>(proxy::kLargestSocketBufferBytes)};
  return *value == 0 ? std::size_t{0} : checked<std::size_t>(argument, *value, kBounded);
}

void bind_socket_buffers(py::module_& m) {
  py::class_<proxy::SocketBuffers>(m, "SocketBuffers", "Kernel memory of one socket of a tunnel (docs/proxy.md).")
      .def(py::init([](std::optional<std::int64_t> receive_bytes, std::optional<std::int64_t> send_bytes) {
             return proxy::SocketBuffers{buffer_bytes("receive_bytes", receive_bytes),
                                         buffer_bytes("send_bytes", send_bytes)};
           }),
           py::kw_only(), py::arg("receive_bytes") = py::none(), py::arg("send_bytes") = py::none(),
           R"doc(Bound the kernel's memory.

Args:
    receive_bytes (int | None): 262,144 to 1,073,741,824; 0: no bound; None: 2.5 MiB where the kernel allows it in full,
        otherwise no bound.
    send_bytes (int | None): likewise.
Raises:
    ValueError: a number is out of its range.)doc")
      .def_readonly("receive_bytes", &proxy::SocketBuffers::receive_bytes, "int | None: 0: no bound.")
      .def_readonly("send_bytes", &proxy::SocketBuffers::send_bytes, "int | None: 0: no bound.");
}

proxy::AccessLogFormat access_log_format_of(const std::string& text) {
  if (text.empty()) return {};
  if (text == "json") return proxy::AccessLogFormat::json();
  auto made = proxy::AccessLogFormat::text(text);
  if (!made) throw py::value_error("access_log_format: " + made.error());
  return *std::move(made);
}

std::unique_ptr<EngineOwner> make_engine(const Table& table, std::int64_t workers,
                                         std::map<std::uint16_t, std::uint16_t> port_map, Milliseconds inspect_timeout,
                                         std::int64_t max_hello_bytes, std::int64_t max_connections,
                                         std::int64_t max_connections_per_source, std::int64_t max_connect_attempts,
                                         Milliseconds connect_race_delay, Milliseconds drain_timeout,
                                         Milliseconds removed_route_timeout, Milliseconds accept_backoff,
                                         std::int64_t reserved_descriptors, Milliseconds udp_idle_timeout,
                                         const proxy::TcpKeepalive& keepalive, const proxy::SocketBuffers& buffers,
                                         const std::string& access_log_format, py::object resolve,
                                         py::object access_log, py::object log) {
  proxy::EngineOptions options;
  options.workers = checked<std::size_t>("workers", workers, spec::kWorkers);
  options.port_map = std::move(port_map);
  options.inspect_timeout = checked("inspect_timeout", inspect_timeout);
  options.max_hello_bytes = checked<std::size_t>("max_hello_bytes", max_hello_bytes, spec::kHelloBytes);
  options.max_connections = checked<std::size_t>("max_connections", max_connections, spec::kMaxConnections);
  options.max_connections_per_source =
      checked<std::size_t>("max_connections_per_source", max_connections_per_source, spec::kNoneOrConnections);
  options.max_connect_attempts =
      checked<std::size_t>("max_connect_attempts", max_connect_attempts, spec::kConnectAttempts);
  options.connect_race_delay = checked("connect_race_delay", connect_race_delay);
  options.drain_timeout = checked("drain_timeout", drain_timeout, kNoTime);
  options.removed_route_timeout = checked("removed_route_timeout", removed_route_timeout, kNoTime);
  options.accept_backoff = checked("accept_backoff", accept_backoff);
  options.reserved_descriptors =
      checked<std::size_t>("reserved_descriptors", reserved_descriptors, spec::kNoneOrConnections);
  options.udp_idle_timeout = checked("udp_idle_timeout", udp_idle_timeout);
  options.keepalive = keepalive;
  options.buffers = buffers;
  options.access_log_format = access_log_format_of(access_log_format);
  return std::make_unique<EngineOwner>(
      table, std::move(options), EngineOwner::Functions{std::move(resolve), std::move(access_log), std::move(log)});
}

constexpr const char* kEngineDoc = R"doc(A proxy that follows a RouteTable, in a thread of its own.

Accepts connections, reads what names the server, chooses a backend and copies bytes both ways, never changing one. A
context manager: serves inside the `with` block. Methods may be called from any thread, but not from its own callbacks;
callbacks of two engines that call each other's wait for ever.)doc";

constexpr const char* kInitDoc = R"doc(Describe an engine; nothing is bound before start().

Args:
    table (RouteTable): listeners, routes, backends, and which clients are known.
    workers (int): threads, 1 to 64, each with a share of the connections.
    port_map (Mapping[int, int]): binds another port than the configured one; 0 lets the system choose. Routing still
        goes by the configured port.
    inspect_timeout (timedelta): from accept to a complete ClientHello.
    max_hello_bytes (int): of a ClientHello or the head of a first HTTP request, 1,024 to 32,768.
    max_connections (int): accepted and not yet closed, all listeners: 1 to 1,000,000.
    max_connections_per_source (int): of one client address, up to 1,000,000; 0: no limit.
    max_connect_attempts (int): endpoints tried for one connection, 1 to 100, each with the backend's connect_timeout.
    connect_race_delay (timedelta): where a backend has addresses of both families: how long one is tried alone before
        the next is tried beside it (RFC 8305 section 5).
    drain_timeout (timedelta): how long stop() lets tunnels finish; may be 0.
    removed_route_timeout (timedelta): how long a tunnel lasts whose route is gone from the table; may be 0.
    accept_backoff (timedelta): pause after accepting failed, for want of descriptors for example.
    reserved_descriptors (int): the last ones that the process may have, at most a quarter of them: connections leave
        these to everything else. Up to 1,000,000.
    udp_idle_timeout (timedelta): after which a UDP client's socket is closed.
    keepalive (TcpKeepalive): of both sides of a tunnel.
    buffers (SocketBuffers): kernel memory of each socket.
    access_log_format (str): "json", or a template in which "%{sni}" stands for that field (docs/proxy.md, "Access
        log"); empty: the usual one.
    resolve (Callable[[str, int], Sequence[Endpoint] | Resolution] | None): the endpoints of a backend's host name and
        port; None: the system's resolver. Called on the engine's thread: with one worker nothing is served while it runs,
        so it must not wait for anything. What it returns is used for the Resolution's time to live, or for 30 seconds;
        without endpoints it says that the name stands for nothing. An exception is a failed look-up: what it returned
        before is used on, for a day at most. What any of these three raises goes to sys.unraisablehook.
    access_log (Callable[[str], object] | None): called on the engine's thread for each connection that ended, with its
        line; None: a log record instead.
    log (Callable[[LogRecord], object] | None): likewise, for each log record; also within start().
Raises:
    ValueError: a number or a time is out of its range (times, unless it says otherwise: 1 ms to 68 years), or the
        template is wrong.)doc";

void bind_engine_class(py::module_& m) {
  const proxy::EngineSettings defaults{};
  py::class_<EngineOwner> engine_class(m, "Engine", kEngineDoc);
  engine_class.def(
      py::init(&make_engine), py::arg("table"), py::kw_only(), py::arg("workers") = 1, py::arg("port_map") = py::dict(),
      py::arg("inspect_timeout") = defaults.inspect_timeout, py::arg("max_hello_bytes") = defaults.max_hello_bytes,
      py::arg("max_connections") = defaults.max_connections,
      py::arg("max_connections_per_source") = defaults.max_connections_per_source,
      py::arg("max_connect_attempts") = defaults.max_connect_attempts,
      py::arg("connect_race_delay") = defaults.connect_race_delay, py::arg("drain_timeout") = defaults.drain_timeout,
      py::arg("removed_route_timeout") = defaults.removed_route_timeout,
      py::arg("accept_backoff") = defaults.accept_backoff,
      py::arg("reserved_descriptors") = defaults.reserved_descriptors,
      py::arg("udp_idle_timeout") = defaults.udp_idle_timeout,
      py::arg_v("keepalive", defaults.keepalive, "TcpKeepalive()"),
      py::arg_v("buffers", defaults.buffers, "SocketBuffers()"), py::arg("access_log_format") = "",
      py::arg("resolve") = py::none(), py::arg("access_log") = py::none(), py::arg("log") = py::none(), kInitDoc);
  def_with_block(engine_class);
  engine_class
      .def("start", &EngineOwner::start, R"doc(Bind every listener of the table, then serve; all or nothing.

After an OSError nothing is left open, and it may be called again.

Raises:
    OSError: an address can't be bound; it says of all of them which and why.
    Error: it runs already, or was stopped.)doc")
      .def(
          "stop",
          [](EngineOwner& e, std::optional<Milliseconds> patience) {
            if (patience) patience = checked("patience", *patience, kNoTime);
            e.stop_within(patience);
          },
          py::arg("patience") = py::none(),
          R"doc(Take no more clients, let tunnels finish, close what is left; returns when nothing is open any more.

Idempotent. May be called while another thread waits in it: the earliest end counts. Counters can still be read.
Handlers of signals, and KeyboardInterrupt with them, wait until it returns. An engine that is there when the
interpreter ends is stopped then.

Args:
    patience (timedelta | None): for tunnels; None: drain_timeout.
Raises:
    ValueError: less than 0, or more than 68 years.)doc")
      .def("replace", &EngineOwner::replace, py::arg("table"), R"doc(Follow another table from now on; all or nothing.

Tunnels are not touched, but those whose client would not get this backend any more end after removed_route_timeout,
unless a later table brings the route back. Flows of datagrams end at once where their endpoint is gone. Listeners that
are new are opened, those that are gone are closed. Before start() it is for the start.

Args:
    table (RouteTable): with the clients that it knows.
Raises:
    OSError: a new address can't be bound; the old table is followed on, unchanged.
    Error: the engine was stopped.)doc")
      .def("set_source_clusters", &EngineOwner::set_source_clusters, py::arg("clusters"),
           R"doc(Say which cluster a client address belongs to, from now on. Ends no tunnel.

Args:
    clusters (Mapping[str | IPv4Address | IPv6Address, str]): instead of all that was known.)doc")
      .def(
          "set_other_listeners",
          [](EngineOwner& e, const std::vector<Endpoint>& listeners) {
            e.tell([&](proxy::Engine& engine) { engine.set_other_listeners(listeners); });
          },
          py::arg("listeners"),
          R"doc(Name listeners of other engines, which are never dialled, like the engine's own.

Args:
    listeners (Sequence[Endpoint]): as bound.)doc")
      .def(
          "drain", [](EngineOwner& e) { e.tell([](proxy::Engine& engine) { engine.drain(); }); },
          "Accept nobody from now on, for good; tunnels go on. For the time before stop(). Idempotent.")
      .def_property_readonly(
          "is_draining",
          [](EngineOwner& e) { return e.ask([](proxy::Engine& engine) { return engine.is_draining(); }); }, "bool.")
      .def_property_readonly("table", &EngineOwner::table, "RouteTable: that new connections follow.")
      .def(
          "listeners", [](EngineOwner& e) { return e.ask([](proxy::Engine& engine) { return engine.listeners(); }); },
          "list[BoundListener]: empty before start(), and once it drains.")
      .def(
          "stats", [](EngineOwner& e) { return e.ask([](proxy::Engine& engine) { return engine.stats(); }); },
          "EngineStats: counters now, after stop() those of the end.");
}

}  // namespace

void bind_engine(py::module_& m) {
  bind_keepalive(m);
  bind_socket_buffers(m);
  py::class_<proxy::BoundListener>(m, "BoundListener", "An address that an engine listens on.")
      .def_readonly("configured", &proxy::BoundListener::configured, "Endpoint: as in the table.")
      .def_readonly("bound", &proxy::BoundListener::bound, "Endpoint: with the port that the system gave.")
      .def_readonly("kind", &proxy::BoundListener::kind, "ListenerKind.");
  bind_engine_class(m);
}

}  // namespace hcpnet::python
