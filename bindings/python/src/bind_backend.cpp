// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <chrono>
#include <hcpnet/proxy/route_table.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "casters.hpp"
#include "durations.hpp"
#include "ranges.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace proxy;
using Milliseconds = std::chrono::milliseconds;

HealthCheck make_health_check(HealthCheck::Kind kind, Milliseconds interval, Milliseconds timeout,
                              std::int64_t failures, std::int64_t successes, std::string server_name) {
  HealthCheck check;
  check.kind = kind;
  check.interval = checked("interval", interval);
  check.timeout = checked("timeout", timeout);
  if (timeout > interval) throw py::value_error("timeout: must not be longer than the interval");
  check.failures = checked<unsigned>("failures", failures, spec::kRepetitions);
  check.successes = checked<unsigned>("successes", successes, spec::kRepetitions);
  check.server_name = std::move(server_name);
  return check;
}

void bind_health_check(py::module_& m) {
  const HealthCheck defaults{};
  py::class_<HealthCheck> check(m, "HealthCheck",
                                "Asks an endpoint at intervals whether it is there. Endpoints count as healthy until a "
                                "check says otherwise.");
  py::native_enum<HealthCheck::Kind>(check, "Kind", "enum.Enum", "What is asked.")
      .value("tcp", HealthCheck::Kind::tcp)
      .value("tls", HealthCheck::Kind::tls)
      .finalize();
  check
      .def(py::init(&make_health_check), py::kw_only(), py::arg("kind") = defaults.kind,
           py::arg("interval") = defaults.interval, py::arg("timeout") = defaults.timeout,
           py::arg("failures") = defaults.failures, py::arg("successes") = defaults.successes,
           py::arg("server_name") = "", R"doc(Describe a check.

Args:
    kind (HealthCheck.Kind): tcp: the endpoint accepts a connection; tls: it answers a ClientHello with a ServerHello.
    interval (timedelta): from one check to the next; 1 ms at least.
    timeout (timedelta): 1 ms at least, the interval at most.
    failures (int): 1 to 1000 checks in a row after which it counts as unhealthy; the first check decides alone.
    successes (int): 1 to 1000 checks in a row after which it counts as healthy again.
    server_name (str): for tls; empty: none is sent.
Raises:
    ValueError: a number or a time is out of its range.)doc")
      .def_readonly("kind", &HealthCheck::kind, "HealthCheck.Kind.")
      .def_readonly("interval", &HealthCheck::interval, "timedelta: from one check to the next.")
      .def_readonly("timeout", &HealthCheck::timeout, "timedelta.")
      .def_readonly("failures", &HealthCheck::failures, "int: in a row until it counts as unhealthy.")
      .def_readonly("successes", &HealthCheck::successes, "int: in a row until it counts as healthy again.")
      .def_readonly("server_name", &HealthCheck::server_name, "str: for tls; empty: none is sent.");
}

void bind_ejection(py::module_& m) {
  const Ejection defaults{};
  py::class_<Ejection>(m, "Ejection", "Leaves out an endpoint that refused connections, for a time.")
      .def(py::init([](std::int64_t failures, Milliseconds duration) {
             return Ejection{checked<unsigned>("failures", failures, spec::kNoneOrRepetitions),
                             checked("duration", duration)};
           }),
           py::kw_only(), py::arg("failures") = defaults.failures, py::arg("duration") = defaults.duration,
           R"doc(Say when an endpoint is left out.

Args:
    failures (int): in a row, up to 1000; 0: never.
    duration (timedelta): the first time, 1 ms at least; twice that the second, ten times at most.
Raises:
    ValueError: the number or the time is out of its range.)doc")
      .def_readonly("failures", &Ejection::failures, "int: in a row; 0: never.")
      .def_readonly("duration", &Ejection::duration, "timedelta: the first time.");
}

Backend make_backend(std::string name, std::vector<Endpoint> endpoints, std::string host, std::uint16_t port,
                     bool is_unserved, std::string cluster, std::string target, Milliseconds connect_timeout,
                     std::optional<Milliseconds> idle_timeout, Balance balance, std::int64_t max_connections,
                     std::optional<HealthCheck> health_check, const Ejection& ejection,
                     ProxyHeaderVersion proxy_header) {
  Backend backend;
  backend.name = std::move(name);
  backend.endpoints = std::move(endpoints);
  backend.host = std::move(host);
  backend.port = port;
  backend.is_unserved = is_unserved;
  backend.cluster = std::move(cluster);
  backend.target = std::move(target);
  backend.connect_timeout = checked("connect_timeout", connect_timeout);
  if (idle_timeout) backend.idle_timeout = checked("idle_timeout", *idle_timeout);
  backend.balance = balance;
  backend.max_connections = checked<std::size_t>("max_connections", max_connections, spec::kNoneOrConnections);
  backend.health_check = std::move(health_check);
  backend.ejection = ejection;
  backend.proxy_header = proxy_header;
  return backend;
}

constexpr const char* kBackendDoc = R"doc(Describe a backend.

Args:
    name (str): unique in a table.
    endpoints (Sequence[Endpoint]): where it is served.
    host (str): instead of `endpoints`, a name that is resolved.
    port (int): with `host`.
    is_unserved (bool): known to have no endpoint: its connections end at once; without `endpoints` and `host`.
    cluster (str): the hosted cluster it belongs to, "namespace/name"; empty when it belongs to none.
    target (str): what it stands for, wherever that is served now; with the name it says whether a backend is the same
        one after Engine.replace(). Empty: `host` and `port`, where given.
    connect_timeout (timedelta): of one attempt; 1 ms at least.
    idle_timeout (timedelta | None): of an established tunnel, 1 ms at least; None: none.
    balance (Balance): in which order endpoints are tried.
    max_connections (int): open at once, up to 1,000,000; 0: no limit.
    health_check (HealthCheck | None): None: endpoints are not checked.
    ejection (Ejection): when an endpoint that refuses connections is left out.
    proxy_header (ProxyHeaderVersion): of the PROXY protocol, sent first on each connection.
Raises:
    ValueError: a number or a time is out of its range.)doc";

}  // namespace

void bind_backend(py::module_& m) {
  const Backend defaults{};
  bind_health_check(m);
  bind_ejection(m);
  py::native_enum<Balance>(m, "Balance", "enum.Enum", "In which order the endpoints of a backend are tried.")
      .value("round_robin", Balance::round_robin)
      .value("least_connections", Balance::least_connections, "The one with the fewest open connections.")
      .value("random_of_two", Balance::random_of_two, "Of two drawn at random the one with fewer.")
      .finalize();
  py::class_<Backend>(m, "Backend", "Where a route leads.")
      .def(py::init(&make_backend), py::arg("name"), py::kw_only(), py::arg("endpoints") = py::tuple(),
           py::arg("host") = "", py::arg("port") = 0, py::arg("is_unserved") = false, py::arg("cluster") = "",
           py::arg("target") = "", py::arg("connect_timeout") = defaults.connect_timeout,
           py::arg("idle_timeout") = py::none(), py::arg("balance") = defaults.balance,
           py::arg("max_connections") = defaults.max_connections, py::arg("health_check") = py::none(),
           py::arg_v("ejection", defaults.ejection, "Ejection()"), py::arg("proxy_header") = defaults.proxy_header,
           kBackendDoc)
      .def_readonly("name", &Backend::name, "str: unique in a table.")
      .def_readonly("endpoints", &Backend::endpoints, "list[Endpoint]: where it is served, as far as that is known.")
      .def_readonly("host", &Backend::host, "str: a name that is resolved, where there are no `endpoints`.")
      .def_readonly("port", &Backend::port, "int: with `host`.")
      .def_readonly("is_unserved", &Backend::is_unserved, "bool: known to have no endpoint.")
      .def_readonly("cluster", &Backend::cluster, "str: the hosted cluster it belongs to; empty: none.")
      .def_readonly("target", &Backend::target, "str: what it stands for; empty: `host` and `port`.")
      .def_readonly("connect_timeout", &Backend::connect_timeout, "timedelta: of one attempt.")
      .def_readonly("idle_timeout", &Backend::idle_timeout, "timedelta | None: of an established tunnel.")
      .def_readonly("balance", &Backend::balance, "Balance: in which order endpoints are tried.")
      .def_readonly("max_connections", &Backend::max_connections, "int: open at once; 0: no limit.")
      .def_readonly("health_check", &Backend::health_check, "HealthCheck | None.")
      .def_readonly("ejection", &Backend::ejection, "Ejection.")
      .def_readonly("proxy_header", &Backend::proxy_header, "ProxyHeaderVersion: sent first on each connection.");
}

}  // namespace hcpnet::python
