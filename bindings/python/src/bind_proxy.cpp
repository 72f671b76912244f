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
  py::class_<EngineStats::PerBackend>(m, "BackendStats", "Counters of one backend.")
      .def_readonly("total", &EngineStats::PerBackend::total, "int: connections.")
      .def_readonly("active", &EngineStats::PerBackend::active, "int: gauge.")
      .def_readonly("connect_failures", &EngineStats::PerBackend::connect_failures, "int.");
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
      .def_readonly("backends", &EngineStats::backends, "dict[str, BackendStats]: by name.");
}

}  // namespace hcpnet::python
