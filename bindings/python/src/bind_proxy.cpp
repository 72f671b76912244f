// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/proxy/engine.hpp>
#include <hcpnet/proxy/route_table.hpp>

#include "bind.hpp"

namespace py = pybind11;

namespace hcpnet::python {

void bind_proxy(py::module_& parent) {
  using namespace proxy;
  py::module_ m = parent.def_submodule("proxy", "Counters of the proxy.");
  py::class_<EngineStats::PerEndpoint>(m, "EndpointStats", "Counters and state of one endpoint.")
      .def_readonly("total", &EngineStats::PerEndpoint::total, "int: connections.")
      .def_readonly("active", &EngineStats::PerEndpoint::active, "int: gauge.")
      .def_readonly("failures", &EngineStats::PerEndpoint::failures, "int: attempts to connect.")
      .def_readonly("is_healthy", &EngineStats::PerEndpoint::is_healthy, "bool: by active checks.")
      .def_readonly("is_ejected", &EngineStats::PerEndpoint::is_ejected, "bool: left out for a time.");
  py::class_<EngineStats::PerBackend>(m, "BackendStats", "Counters of one backend.")
      .def_readonly("total", &EngineStats::PerBackend::total, "int: connections.")
      .def_readonly("active", &EngineStats::PerBackend::active, "int: gauge.")
      .def_readonly("connect_failures", &EngineStats::PerBackend::connect_failures, "int.")
      .def_readonly("connect_timeouts", &EngineStats::PerBackend::connect_timeouts, "int.")
      .def_readonly("limit_refused", &EngineStats::PerBackend::limit_refused, "int.")
      .def_readonly("bytes_to_backend", &EngineStats::PerBackend::bytes_to_backend, "int.")
      .def_readonly("bytes_to_client", &EngineStats::PerBackend::bytes_to_client, "int.")
      .def_readonly("health_checks", &EngineStats::PerBackend::health_checks, "int.")
      .def_readonly("health_check_failures", &EngineStats::PerBackend::health_check_failures, "int.")
      .def_readonly("ejections", &EngineStats::PerBackend::ejections, "int.")
      .def_readonly("endpoints", &EngineStats::PerBackend::endpoints,
                    "dict[Endpoint, EndpointStats]: used or checked.");
  py::class_<EngineStats::PerListener>(m, "ListenerStats", "Counters of one listener.")
      .def_readonly("total", &EngineStats::PerListener::total, "int: connections.")
      .def_readonly("active", &EngineStats::PerListener::active, "int: gauge.")
      .def_readonly("limit_refused", &EngineStats::PerListener::limit_refused, "int.")
      .def_readonly("no_route", &EngineStats::PerListener::no_route, "int.")
      .def_readonly("inspect_timeouts", &EngineStats::PerListener::inspect_timeouts, "int.");
  py::class_<EngineStats>(m, "EngineStats", "Counters since start, and gauges.")
      .def_readonly("accepted", &EngineStats::accepted, "int.")
      .def_readonly("active", &EngineStats::active, "int: gauge.")
      .def_readonly("limit_refused", &EngineStats::limit_refused, "int: beyond the limit of connections.")
      .def_readonly("inspect_timeouts", &EngineStats::inspect_timeouts, "int: no ClientHello in time.")
      .def_readonly("hello_too_large", &EngineStats::hello_too_large, "int.")
      .def_readonly("hello_malformed", &EngineStats::hello_malformed, "int.")
      .def_readonly("closed_before_hello", &EngineStats::closed_before_hello, "int.")
      .def_readonly("connect_failures", &EngineStats::connect_failures, "int: no endpoint could be reached.")
      .def_readonly("idle_timeouts", &EngineStats::idle_timeouts, "int.")
      .def_readonly("downstream_resets", &EngineStats::downstream_resets, "int: by the client.")
      .def_readonly("upstream_resets", &EngineStats::upstream_resets, "int: by the backend.")
      .def_readonly("bytes_to_backend", &EngineStats::bytes_to_backend, "int.")
      .def_readonly("bytes_to_client", &EngineStats::bytes_to_client, "int.")
      .def_readonly("decisions", &EngineStats::decisions, "dict[str, int]: connections by the rule that chose.")
      .def_readonly("listener_limit_refused", &EngineStats::listener_limit_refused, "int: Listener limits.")
      .def_readonly("source_limit_refused", &EngineStats::source_limit_refused, "int: of one client address.")
      .def_readonly("backend_limit_refused", &EngineStats::backend_limit_refused, "int.")
      .def_readonly("source_denied", &EngineStats::source_denied, "int: by allowed and denied sources.")
      .def_readonly("accept_backoffs", &EngineStats::accept_backoffs, "int: accepting paused for want of descriptors.")
      .def_readonly("proxy_header_refused", &EngineStats::proxy_header_refused, "int: PROXY protocol.")
      .def_readonly("endpoint_failures", &EngineStats::endpoint_failures, "int: attempts at single endpoints.")
      .def_readonly("connect_timeouts", &EngineStats::connect_timeouts, "int: of these.")
      .def_readonly("loops_refused", &EngineStats::loops_refused, "int: of these, the proxy itself.")
      .def_readonly("resolve_failures", &EngineStats::resolve_failures, "int.")
      .def_readonly("stale_answers", &EngineStats::stale_answers,
                    "int: connections that used an answer beyond its time.")
      .def_readonly("routes_removed", &EngineStats::routes_removed, "int: tunnels closed because their route was gone.")
      .def_readonly("buffers_in_use", &EngineStats::buffers_in_use, "int: gauge.")
      .def_readonly("udp_datagrams", &EngineStats::udp_datagrams, "int: forwarded.")
      .def_readonly("udp_dropped", &EngineStats::udp_dropped, "int.")
      .def_readonly("closed", &EngineStats::closed, "dict[str, int]: connections by close reason.")
      .def_readonly("listeners", &EngineStats::listeners, "dict[Endpoint, ListenerStats]: as configured.")
      .def_readonly("backends", &EngineStats::backends, "dict[str, BackendStats]: by name.");
}

}  // namespace hcpnet::python
