// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <chrono>
#include <hcpnet/proxy/engine.hpp>
#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/stack/files.hpp>
#include <hcpnet/stack/render_proxy.hpp>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "casters.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {

namespace {

py::dict render_servers(const py::dict& texts, const std::string& target_name, const py::dict& observed,
                        const py::dict& endpoints, const py::dict& record_files, std::vector<IpAddress> pod_addresses,
                        const ProxyRenderOptions& options) {
  const auto target = parse_proxy_target(target_name);
  if (!target) throw py::value_error("'" + target_name + "' is not a target");
  if (!may_be_file_prefix(*target, options.file_prefix))
    throw py::value_error("'" + options.file_prefix + "' can't begin a file name in such a configuration");
  const SourceFiles files{to_sources(texts), to_sources(observed), to_sources(endpoints), to_records(record_files)};
  const auto config = [&] {
    const py::gil_scoped_release no_gil;
    const auto checked = check_files(files).value();
    Surroundings surroundings;
    surroundings.pod_addresses = std::move(pod_addresses);
    surroundings.has_any_address = options.any_address;
    return make_stack_config(checked.set, checked.observed, surroundings).value();
  }();
  py::dict all;
  for (const ProxyServerConfig& server : config.proxies) {
    Diagnostics warnings;
    py::dict rendered;
    for (const RenderedFile& file : render_proxy(server, *target, options, warnings))
      rendered[py::str(file.name)] = file.text;
    all[py::str(server.owner)] = rendered;
  }
  return all;
}

}  // namespace

void bind_proxy(py::module_& parent) {
  using namespace proxy;
  py::module_ m = parent.def_submodule(
      "proxy", "The proxy: routes, beginnings of connections, counters, and configurations of other programs.");
  bind_connection_head(m);
  bind_backend(m);
  bind_routes(parent, m);
  py::class_<Resolution>(m, "Resolution", "What a host name stands for.")
      .def(py::init([](std::vector<Endpoint> endpoints, std::optional<std::uint32_t> ttl) {
             Resolution made(std::move(endpoints));
             if (ttl) made.ttl = std::chrono::seconds(*ttl);
             return made;
           }),
           py::arg("endpoints"), py::arg("ttl") = py::none(), R"doc(Answer a look-up.

Args:
    endpoints (Sequence[Endpoint]): in the order in which to try them; none: the name stands for nothing.
    ttl (int | None): seconds for which it may be used, up to 4,294,967,295; None: 30.)doc");
  m.def(
      "render",
      [](const py::dict& texts, const std::string& target, const py::dict& observed, const py::dict& endpoints,
         const py::dict& record_files, std::vector<IpAddress> pod_addresses, bool any_address,
         const std::string& file_prefix) {
        return render_servers(texts, target, observed, endpoints, record_files, std::move(pod_addresses),
                              {any_address, file_prefix});
      },
      py::arg("texts"), py::arg("target"), py::kw_only(), py::arg("observed") = py::dict(),
      py::arg("endpoints") = py::dict(), py::arg("record_files") = py::dict(), py::arg("pod_addresses") = py::tuple(),
      py::arg("any_address") = false, py::arg("file_prefix") = "",
      R"doc(Write the routes of a set as the configuration of another proxy.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    target (str): "envoy" or "haproxy".
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    endpoints (dict[str, str]): endpoint maps, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
    pod_addresses (Sequence[str | IPv4Address | IPv6Address]): listen here as well: on the management side.
    any_address (bool): listen on every IPv4 address instead of those of the set.
    file_prefix (str): in front of file names inside the configuration.
Returns:
    dict[str, dict[str, str]]: text by file name, by server ("namespace/name").
Raises:
    SpecError: the set is wrong.
    ValueError: no such target, or for HAProxy a prefix with blanks, quotes, backslashes, commas, parentheses or
        number signs.)doc");
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
      .def_readonly("health_checks_left_out", &EngineStats::PerBackend::health_checks_left_out,
                    "int: not made; the one before still waited, or a descriptor was missing.")
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
      .def_readonly("pipes_refused", &EngineStats::pipes_refused,
                    "int: reads that were copied because there was no pipe to splice through.")
      .def_readonly("udp_datagrams", &EngineStats::udp_datagrams, "int: forwarded.")
      .def_readonly("udp_dropped", &EngineStats::udp_dropped, "int.")
      .def_readonly("closed", &EngineStats::closed, "dict[str, int]: connections by close reason.")
      .def_readonly("listeners", &EngineStats::listeners, "dict[Endpoint, ListenerStats]: as configured.")
      .def_readonly("backends", &EngineStats::backends, "dict[str, BackendStats]: by name.");
  bind_engine(m);
}

}  // namespace hcpnet::python
