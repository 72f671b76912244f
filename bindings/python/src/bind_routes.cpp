// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <hcpnet/proxy/route_table.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/explain.hpp>
#include <hcpnet/stack/files.hpp>
#include <utility>

#include "bind.hpp"
#include "casters.hpp"
#include "ranges.hpp"
#include "route_table.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace proxy;

/// A Decision that owns what it says.
struct MadeDecision {
  std::optional<std::string> backend;
  std::string rule, matched;
};

Table build(std::vector<Listener> listeners, std::vector<Backend> backends, std::vector<Route> routes,
            SourceClusters clusters) {
  const py::gil_scoped_release no_gil;
  return {RouteTable::build({std::move(listeners), std::move(backends), std::move(routes)}).value(),
          std::move(clusters)};
}

MadeDecision find(const Table& table, const Endpoint& listener, const std::optional<std::string>& server_name,
                  const IpAddress& source, const std::optional<SourceClusters>& clusters, bool not_tls,
                  Protocol protocol) {
  const Greeting greeting = not_tls ? Greeting::not_tls : greeting_of(server_name);
  const Decision decision = table.routes->find(listener, greeting, server_name.value_or(""), source.unmapped(),
                                               table.clusters_or(clusters), protocol);
  return {decision.backend ? std::optional(decision.backend->name) : std::nullopt,
          std::string(to_string(decision.rule)), std::string(decision.matched)};
}

std::map<std::string, Table> tables_of(const py::dict& texts, const py::dict& observed, const py::dict& endpoints,
                                       const py::dict& record_files) {
  const SourceFiles files{to_sources(texts), to_sources(observed), to_sources(endpoints), to_records(record_files)};
  const py::gil_scoped_release no_gil;
  const CheckedFiles checked = check_files(files).value();
  const StackConfig config = make_stack_config(checked.set, checked.observed, unknown_place()).value();
  std::map<std::string, Table> tables;
  for (const ProxyServerConfig& server : config.proxies) tables[server.owner] = {server.table, server.workers};
  return tables;
}

void bind_explanation(py::module_& m) {
  py::class_<RouteExplanation>(m, "RouteExplanation", "Where a connection would go, and why.")
      .def_readonly("proxy", &RouteExplanation::proxy, "str: the Infra or ProxyServer, \"namespace/name\".")
      .def_readonly("listener", &RouteExplanation::listener, "Endpoint: as configured.")
      .def_property_readonly(
          "protocol", [](const RouteExplanation& r) { return r.protocol == Protocol::udp ? "UDP" : "TCP"; },
          "str: TCP or UDP.")
      .def_readonly("server_name", &RouteExplanation::server_name, "str: as asked; empty: none.")
      .def_readonly("source", &RouteExplanation::source, "IPv4Address | IPv6Address.")
      .def_readonly("source_cluster", &RouteExplanation::source_cluster,
                    "str: the cluster the source belongs to; empty: none known.")
      .def_readonly("rule", &RouteExplanation::rule, "str: from a closed set, such as \"exact\".")
      .def_readonly("matched", &RouteExplanation::matched, "str: the name or wildcard that matched; empty: none.")
      .def_readonly("backend", &RouteExplanation::backend, "str: empty: the connection is closed.")
      .def_readonly("targets", &RouteExplanation::targets,
                    "list[str]: \"address:port\", or one name that is resolved; empty: closed, or nothing serves it.");
}

Listener make_listener(const Endpoint& address, ListenerKind kind, std::vector<std::string> only_names,
                       std::vector<Cidr> allow, std::vector<Cidr> deny, std::int64_t max_connections,
                       std::vector<Cidr> trusted_proxies, std::string interface, std::vector<IpAddress> dial_from) {
  if (interface.size() >= IF_NAMESIZE)  // the kernel would take its beginning
    throw py::value_error("interface: a network interface has a name of 15 bytes at most");
  Listener listener{address};
  listener.kind = kind;
  listener.only_names = std::move(only_names);
  listener.allow = std::move(allow);
  listener.deny = std::move(deny);
  listener.max_connections = checked<std::size_t>("max_connections", max_connections, spec::kNoneOrConnections);
  listener.trusted_proxies = std::move(trusted_proxies);
  listener.interface = std::move(interface);
  listener.dial_from = std::move(dial_from);
  return listener;
}

void bind_listener(py::module_& m) {
  py::native_enum<ListenerKind>(m, "ListenerKind", "enum.Enum", "How a listener finds out what a connection wants.")
      .value("tls", ListenerKind::tls)
      .value("http", ListenerKind::http)
      .value("tcp", ListenerKind::tcp)
      .value("udp", ListenerKind::udp)
      .finalize();
  py::class_<Listener>(m, "Listener", "An address and port that accepts connections.")
      .def(py::init(&make_listener), py::arg("address"), py::kw_only(), py::arg("kind") = ListenerKind::tls,
           py::arg("only_names") = py::tuple(), py::arg("allow") = py::tuple(), py::arg("deny") = py::tuple(),
           py::arg("max_connections") = 0, py::arg("trusted_proxies") = py::tuple(), py::arg("interface") = "",
           py::arg("dial_from") = py::tuple(), R"doc(Describe a listener.

Args:
    address (Endpoint): as configured.
    kind (ListenerKind): what is read of a connection.
    only_names (Sequence[str]): names and wildcards; when not empty: no other name, and nothing nameless, is served.
    allow (Sequence[str | IPv4Network | IPv6Network]): clients; empty: all.
    deny (Sequence[str | IPv4Network | IPv6Network]): clients that are refused although `allow` has them.
    max_connections (int): open at once, up to 1,000,000; 0: only the engine's limit.
    trusted_proxies (Sequence[str | IPv4Network | IPv6Network]): load balancers that begin each connection with a header
        of the PROXY protocol: it is demanded of these, and of nobody else is it believed.
    interface (str): accepts on this network interface only; empty: all.
    dial_from (Sequence[str | IPv4Address | IPv6Address]): our own address towards backends, one of a family; the
        system's otherwise.
Raises:
    ValueError: an address or network is none, a number is out of its range, or the name of the interface is too long.)doc")
      .def_readonly("address", &Listener::address, "Endpoint: as configured.")
      .def_readonly("kind", &Listener::kind, "ListenerKind: what is read of a connection.")
      .def_readonly("only_names", &Listener::only_names,
                    "list[str]: names and wildcards, in a table in lower case; empty: no restriction.")
      .def_readonly("allow", &Listener::allow, "list[IPv4Network | IPv6Network]: clients; empty: all.")
      .def_readonly("deny", &Listener::deny, "list[IPv4Network | IPv6Network]: clients that are refused.")
      .def_readonly("max_connections", &Listener::max_connections, "int: open at once; 0: only the engine's limit.")
      .def_readonly("trusted_proxies", &Listener::trusted_proxies,
                    "list[IPv4Network | IPv6Network]: who sends a header of the PROXY protocol.")
      .def_readonly("interface", &Listener::interface, "str: accepts on it only; empty: all.")
      .def_readonly("dial_from", &Listener::dial_from,
                    "list[IPv4Address | IPv6Address]: our own address towards backends.");
}

void bind_route(py::module_& m) {
  py::native_enum<Protocol>(m, "Protocol", "enum.Enum", "Which listeners of a port a route is for.")
      .value("tcp", Protocol::tcp)
      .value("udp", Protocol::udp)
      .finalize();
  py::class_<Route>(m, "Route", "One claim on one port.")
      .def(py::init([](std::uint16_t port, std::string backend, std::vector<std::string> names, bool no_sni,
                       bool other_sni, bool not_tls, std::vector<Cidr> source_prefixes, std::string source_cluster,
                       Protocol protocol) {
             Route route;
             route.port = port;
             route.backend = std::move(backend);
             route.names = std::move(names);
             route.no_sni = no_sni;
             route.other_sni = other_sni;
             route.not_tls = not_tls;
             route.source = {std::move(source_prefixes), std::move(source_cluster)};
             route.protocol = protocol;
             return route;
           }),
           py::arg("port"), py::arg("backend"), py::kw_only(), py::arg("names") = py::tuple(),
           py::arg("no_sni") = false, py::arg("other_sni") = false, py::arg("not_tls") = false,
           py::arg("source_prefixes") = py::tuple(), py::arg("source_cluster") = "",
           py::arg("protocol") = Protocol::tcp, R"doc(Describe a route.

Args:
    port (int): of the listeners that it belongs to.
    backend (str): name of the backend.
    names (Sequence[str]): host names, or "*.x" for every name below x at any depth.
    no_sni (bool): takes connections without a server name, or with an address as the name.
    other_sni (bool): takes connections whose name matches no route of this port.
    not_tls (bool): takes connections that do not begin with a TLS handshake.
    source_prefixes (Sequence[str | IPv4Network | IPv6Network]): clients it is for; empty, like source_cluster: everyone.
    source_cluster (str): clients whose address belongs to this cluster.
    protocol (Protocol): of the listeners.)doc")
      .def_readonly("port", &Route::port, "int: of the listeners that it belongs to.")
      .def_readonly("backend", &Route::backend, "str: name of the backend.")
      .def_readonly("names", &Route::names, "list[str]: host names and wildcards, in a table in lower case.")
      .def_readonly("no_sni", &Route::no_sni, "bool: takes connections without a server name.")
      .def_readonly("other_sni", &Route::other_sni, "bool: takes connections whose name matches no route.")
      .def_readonly("not_tls", &Route::not_tls, "bool: takes connections that do not begin with a TLS handshake.")
      .def_property_readonly(
          "source_prefixes", [](const Route& r) { return r.source.prefixes; },
          "list[IPv4Network | IPv6Network]: clients it is for.")
      .def_property_readonly(
          "source_cluster", [](const Route& r) { return r.source.cluster; },
          "str: the cluster whose clients it is for; empty: none.")
      .def_readonly("protocol", &Route::protocol, "Protocol: of the listeners.");
  py::class_<MadeDecision>(m, "Decision", "Where a connection goes.")
      .def_readonly("backend", &MadeDecision::backend, "str | None: None: the connection is closed.")
      .def_readonly("rule", &MadeDecision::rule, "str: from a closed set, such as \"exact\" (docs/proxy.md).")
      .def_readonly("matched", &MadeDecision::matched, "str: the name or wildcard that matched; empty: none.");
}

}  // namespace

void bind_routes(py::module_& parent, py::module_& m) {
  bind_explanation(parent);
  bind_listener(m);
  bind_route(m);
  py::class_<Table>(m, "RouteTable", "Compiled routes, as a proxy asks them. Immutable; may be used from any thread.")
      .def(py::init(&build), py::arg("listeners"), py::arg("backends"), py::arg("routes"), py::kw_only(),
           py::arg("clusters") = py::dict(), R"doc(Compile routes.

Args:
    listeners (Sequence[Listener]): addresses that connections come in by.
    backends (Sequence[Backend]): where routes lead.
    routes (Sequence[Route]): in any order.
    clusters (Mapping[str | IPv4Address | IPv6Address, str]): which cluster a client address belongs to.
Raises:
    SpecError: two routes claim the same connections, a name is none, and so on; paths lead into the arguments.)doc")
      .def_property_readonly(
          "listeners", [](const Table& t) { return t.routes->config().listeners; },
          "list[Listener]: addresses that connections come in by.")
      .def_property_readonly(
          "backends", [](const Table& t) { return t.routes->config().backends; }, "list[Backend]: where routes lead.")
      .def_property_readonly(
          "routes", [](const Table& t) { return t.routes->config().routes; }, "list[Route]: as given.")
      .def_readonly("clusters", &Table::clusters,
                    "dict[IPv4Address | IPv6Address, str]: which cluster a client address belongs to.")
      .def("find", &find, py::arg("listener"), py::arg("server_name"), py::arg("source"), py::kw_only(),
           py::arg("clusters") = py::none(), py::arg("not_tls") = false, py::arg("protocol") = Protocol::tcp,
           R"doc(Decide for one connection.

Args:
    listener (Endpoint): as configured; one that is not in the table is judged by its port alone.
    server_name (str | None): as in the ClientHello; None: none was sent.
    source (str | IPv4Address | IPv6Address): the client.
    clusters (Mapping[str | IPv4Address | IPv6Address, str] | None): instead of those of the table.
    not_tls (bool): the connection does not begin with a TLS handshake; server_name does not matter then.
    protocol (Protocol): of the listener.
Returns:
    Decision: the backend, and by which rule.)doc")
      .def(
          "explain",
          [](const Table& table, const std::string& server_name, std::uint16_t port, const IpAddress& source,
             const std::optional<SourceClusters>& clusters) {
            return explain_routes("", *table.routes, table.clusters_or(clusters), server_name, port, source);
          },
          py::arg("server_name"), py::arg("port"), py::arg("source"), py::kw_only(), py::arg("clusters") = py::none(),
          R"doc(Say where a connection would go, by each listener on a port that decides in a way of its own.

Args:
    server_name (str): as in the ClientHello; empty: none was sent.
    port (int): as configured, 1 to 65535.
    source (str | IPv4Address | IPv6Address): the client.
    clusters (Mapping[str | IPv4Address | IPv6Address, str] | None): instead of those of the table.
Returns:
    list[RouteExplanation]: rules, matches and targets; `proxy` is empty.)doc");
  m.def("route_tables", &tables_of, py::arg("texts"), py::kw_only(), py::arg("observed") = py::dict(),
        py::arg("endpoints") = py::dict(), py::arg("record_files") = py::dict(),
        R"doc(Compile the routes of a set, without serving it.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    observed (dict[str, str]): objects as read from a cluster, in the same form; they say which clients are known.
    endpoints (dict[str, str]): endpoint maps, in the same form.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    dict[str, RouteTable]: by server ("namespace/name").
Raises:
    SpecError: the set is wrong.)doc");
}

}  // namespace hcpnet::python
