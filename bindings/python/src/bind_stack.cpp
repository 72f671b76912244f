// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <hcpnet/inherited_sockets.hpp>
#include <hcpnet/stack.hpp>
#include <hcpnet/stack/files.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "dns_arguments.hpp"
#include "errors.hpp"
#include "lease_arguments.hpp"
#include "sources.hpp"
#include "stack_owner.hpp"
#include "text.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using Paths = std::vector<std::filesystem::path>;

std::vector<std::string> strings(const Paths& paths) {
  std::vector<std::string> result;
  for (const auto& path : paths) result.push_back(path.string());
  return result;
}

CheckedFiles check(const Paths& files, const Paths& observed, const Paths& endpoints) {
  const PythonCall call;
  const WithoutGil no_gil;
  Diagnostics problems;
  const SourceFiles texts = read_source_files(strings(files), strings(observed), strings(endpoints), problems);
  if (problems.has_errors()) throw SpecError(std::move(problems));
  return check_files(texts).value();
}

void bind_check(py::module_& m) {
  py::class_<CheckedFiles>(m, "CheckedFiles", "A checked set.")
      .def_readonly("set", &CheckedFiles::set, "spec.ValidSet.")
      .def_property_readonly(
          "warnings", [](const CheckedFiles& c) { return to_list(c.warnings); },
          "list[Diagnostic]: of the set and of what was observed.");
  m.def("check_files", &check, py::arg("files"), py::kw_only(), py::arg("observed") = py::tuple(),
        py::arg("endpoints") = py::tuple(),
        R"doc(Read and check a set of spec files, as `hcpnet check` does.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files and folders of them; "-" is standard input.
    observed (Sequence[str | os.PathLike[str]]): what `kubectl get -o yaml` printed.
    endpoints (Sequence[str | os.PathLike[str]]): maps "namespace/service:port: [address:port, ...]".
Returns:
    CheckedFiles: the set, with warnings.
Raises:
    SpecError: ``diagnostics`` holds every problem at once, unreadable files too.)doc");
}

void bind_results(py::module_& m) {
  py::class_<LogRecord>(m, "LogRecord", "One thing that happened.")
      .def_property_readonly(
          "level", [](const LogRecord& r) { return to_string(r.level); }, "str: debug, info, warning or error.")
      .def_readonly("component", &LogRecord::component, "str: stack, dhcp, dns, proxy or admin.")
      .def_readonly("message", &LogRecord::message, "str: a fixed sentence.")
      .def_property_readonly(
          "fields",
          [](const LogRecord& r) {
            py::dict fields;
            for (const auto& [name, value] : r.fields) fields[printed_text(name)] = printed_text(value);
            return fields;
          },
          "dict[str, str]: what varies.");
  py::class_<StackEvent> event(m, "StackEvent", "Something that happened in a running stack.");
  py::native_enum<StackEvent::Kind>(event, "Kind", "enum.Enum", "What happened.")
      .value("lease", StackEvent::Kind::lease)
      .value("reloaded", StackEvent::Kind::reloaded)
      .value("reload_refused", StackEvent::Kind::reload_refused)
      .value("handed_over", StackEvent::Kind::handed_over)
      .value("stopped", StackEvent::Kind::stopped)
      .value("lease6", StackEvent::Kind::lease6)
      .finalize();
  event.def_readonly("kind", &StackEvent::kind, "StackEvent.Kind.")
      .def_readonly("lease", &StackEvent::lease, "dhcp.LeaseEvent | None: with Kind.lease.")
      .def_readonly("lease6", &StackEvent::lease6, "dhcp6.LeaseEvent | None: with Kind.lease6.")
      .def_property_readonly(
          "diagnostics", [](const StackEvent& e) { return to_list(e.diagnostics); },
          "list[Diagnostic]: why a reload was refused, or its warnings.");
  py::class_<StackListener>(m, "StackListener", "A socket that a stack listens on.")
      .def_readonly("service", &StackListener::service, "str: dhcp, dns, proxy, admin or observe.")
      .def_readonly("owner", &StackListener::owner,
                    "str: the object that asked for it, \"namespace/name\"; may be empty.")
      .def_readonly("configured", &StackListener::configured, "Endpoint.")
      .def_readonly("bound", &StackListener::bound, "Endpoint: with the port that is really used.");
  py::class_<StackZone>(m, "StackZone", "A zone as one set of clients sees it.")
      .def_readonly("server", &StackZone::server, "str: the Infra or DNSServer, \"namespace/name\".")
      .def_readonly("view", &StackZone::view, "str.")
      .def_readonly("clients", &StackZone::clients, "list[IPv4Network | IPv6Network].")
      .def_property_readonly(
          "zone", [](const StackZone& z) { return std::const_pointer_cast<dns::Zone>(z.zone); }, "dns.Zone.");
  py::class_<StackStats>(m, "StackStats", "Counters since start.")
      .def_readonly("dhcp", &StackStats::dhcp, "dhcp.ServerStats.")
      .def_readonly("dns", &StackStats::dns, "dict[str, dns.ServerStats]: by owner.")
      .def_readonly("proxies", &StackStats::proxies, "dict[str, proxy.EngineStats]: by owner.")
      .def_readonly("reloads", &StackStats::reloads, "int.")
      .def_readonly("reloads_refused", &StackStats::reloads_refused, "int.")
      .def_readonly("reload_errors", &StackStats::reload_errors, "dict[str, int]: of refused reloads, by code.");
  py::class_<StackReload>(m, "StackReload", "The outcome of a reload.")
      .def_property_readonly(
          "time", [](const StackReload& r) { return utc(std::chrono::floor<std::chrono::seconds>(r.time)); },
          "datetime.datetime: UTC.")
      .def_readonly("was_applied", &StackReload::was_applied, "bool.")
      .def_property_readonly(
          "diagnostics", [](const StackReload& r) { return to_list(r.diagnostics); },
          "list[Diagnostic]: why it was refused, or its warnings.");
}

ServedParts parts_of(const std::vector<std::string>& only) {
  for (const std::string& part : only)
    if (part != "dhcp" && part != "dns" && part != "proxy")
      throw py::value_error("'" + part + "' is none of dhcp, dns, proxy");
  const auto is_served = [&](const char* part) { return only.empty() || std::ranges::count(only, part) > 0; };
  return {.dhcp = is_served("dhcp"), .dns = is_served("dns"), .proxy = is_served("proxy")};
}

std::unique_ptr<StackOwner> make_stack(const Paths& files, const py::dict& texts, const Paths& observed,
                                       const Paths& endpoints, const std::filesystem::path& state_dir,
                                       std::vector<IpAddress> pod_addresses,
                                       std::map<std::uint16_t, std::uint16_t> port_map,
                                       const std::filesystem::path& admin_socket, std::optional<Endpoint> admin_tcp,
                                       std::optional<Endpoint> observe, const std::filesystem::path& handover_socket,
                                       bool takes_over, bool service_manager_sockets, bool watch,
                                       const std::vector<std::string>& only, py::object on_event, py::object log,
                                       py::object access_log, py::object resolve) {
  StackOptions options;
  options.files = strings(files);
  options.texts = to_sources(texts);
  options.observed = strings(observed);
  options.endpoints = strings(endpoints);
  options.state_dir = state_dir.string();
  options.pod_addresses = std::move(pod_addresses);
  options.port_map = std::move(port_map);
  options.admin_socket = admin_socket.string();
  options.admin_tcp = admin_tcp;
  options.observe = observe;
  options.handover_socket = handover_socket.string();
  options.takes_over = takes_over;
  options.watch = watch;
  options.serve = parts_of(only);
  if (service_manager_sockets) {
    options.inherited = std::make_shared<InheritedSockets>();
    options.inherited->add_from_service_manager();
  }
  return std::make_unique<StackOwner>(
      std::move(options),
      StackOwner::Functions{std::move(on_event), std::move(log), std::move(access_log), std::move(resolve)});
}

/// What a stack answers on its own thread, here.
template <class Value, class Start>
Result<Value, Diagnostics> wait_for(Start start) {
  const auto promise = std::make_shared<std::promise<Result<Value, Diagnostics>>>();
  auto answer = promise->get_future();
  start([promise](Result<Value, Diagnostics> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

constexpr const char* kStackDoc = R"doc(DHCP, DNS and proxy of one set of specs, in a thread of their own.

A context manager: serves inside the `with` block. Methods may be called from any thread, but not from its own callbacks.)doc";

constexpr const char* kInitDoc = R"doc(Describe a stack; nothing is read or bound before start().

Args:
    files (Sequence[str | os.PathLike[str]]): one set, YAML or JSON; "-" is standard input; read again at each reload.
    texts (dict[str, str]): the same from memory, by name; zone files and hosts files that they name are read from disk.
    observed (Sequence[str | os.PathLike[str]]): what `kubectl get -o yaml` printed.
    endpoints (Sequence[str | os.PathLike[str]]): maps "namespace/service:port: [address:port, ...]".
    state_dir (str | os.PathLike[str]): holds the leases; needed when the set has DHCP; must exist.
    pod_addresses (Sequence[str | IPv4Address | IPv6Address]): DNS and proxy listen here as well.
    port_map (Mapping[int, int]): binds another port than the configured one; 0 lets the system choose.
    admin_socket (str | os.PathLike[str]): path of the admin unix socket; empty: none.
    admin_tcp (Endpoint | None): admin over TCP, on a loopback address.
    observe (Endpoint | None): read-only /healthz, /readyz, /metrics.
    handover_socket (str | os.PathLike[str]): path of the unix socket where a later process may take over; empty: none.
    takes_over (bool): take the sockets over from the process that answers on handover_socket, if one does.
    service_manager_sockets (bool): take what the service manager handed to this process ($LISTEN_FDS), now; listeners
        of DNS and proxy that find their address among these sockets bind none of their own.
    watch (bool): reload when a file changes.
    only (Sequence[str]): serve these of "dhcp", "dns" and "proxy", where other processes serve the others; empty: all.
    on_event (Callable[[StackEvent], object] | None): called on the stack's thread; what it raises goes to sys.unraisablehook.
    log (Callable[[LogRecord], object] | None): likewise, for each log record.
    access_log (Callable[[str], object] | None): likewise, for each connection of the proxies that ended; None: a log record instead.
    resolve (Callable[[str, int], Sequence[Endpoint] | proxy.Resolution] | None): the endpoints of a backend's host name
        and port; None: the system's resolver. Nothing is served while it runs, so it must not wait for anything. What it
        returns is used for the Resolution's time to live, or for 30 seconds; without endpoints it says that the name stands for
        nothing. An exception is a failed look-up: what it returned before is used on, for a day at most.
Raises:
    ValueError: an address is none, a text has no form in UTF-8, or `only` names no part.
    RuntimeError: a descriptor of the service manager is no listening or datagram socket of IPv4 or IPv6.)doc";

void bind_stack_class(py::module_& m) {
  py::class_<StackOwner> made(m, "Stack", kStackDoc);
  def_with_block(made);
  made.def(py::init(&make_stack), py::arg("files") = py::tuple(), py::kw_only(), py::arg("texts") = py::dict(),
           py::arg("observed") = py::tuple(), py::arg("endpoints") = py::tuple(), py::arg("state_dir") = "",
           py::arg("pod_addresses") = py::tuple(), py::arg("port_map") = py::dict(), py::arg("admin_socket") = "",
           py::arg("admin_tcp") = py::none(), py::arg("observe") = py::none(), py::arg("handover_socket") = "",
           py::arg("takes_over") = false, py::arg("service_manager_sockets") = false, py::arg("watch") = false,
           py::arg("only") = py::tuple(), py::arg("on_event") = py::none(), py::arg("log") = py::none(),
           py::arg("access_log") = py::none(), py::arg("resolve") = py::none(), kInitDoc)
      .def("start", &StackOwner::start, R"doc(Read, check and bind everything, then serve; all or nothing.

After a SpecError or an OSError nothing is left open, and it may be called again.

Raises:
    SpecError: the set is wrong or has nothing to serve.
    OSError: a socket can't be bound or the state folder can't be used.
    Error: it runs already, or was stopped.)doc")
      .def("stop", &StackOwner::stop,
           "Take no more clients, let tunnels and disk writes finish (five seconds at most), close everything. "
           "Idempotent.")
      .def(
          "reload",
          [](StackOwner& s) {
            const PythonCall call;
            s.reload().value();
          },
          R"doc(Read the files again and serve what they say; warnings() tells what is worth a look.

Raises:
    SpecError: the new set is wrong; the old one is served on, unchanged.)doc")
      .def(
          "set_endpoints",
          [](StackOwner& s, const spec::EndpointMap& endpoints) {
            const PythonCall call;
            s.with([&](Stack& stack) { return stack.set_endpoints(endpoints); }).value();
          },
          py::arg("endpoints"), R"doc(Say where Services are served, from a watch of EndpointSlices for example.

Goes before what was observed and what endpoint maps say, and replaces what was set before; tunnels are not touched,
but UDP flows whose endpoint is gone end.

Args:
    endpoints (Mapping[str, Sequence[Endpoint]]): by "namespace/service:port", the port as in the Service; an empty list:
        nothing serves it.
Raises:
    SpecError: a key or an address that is none; nothing has changed.)doc")
      .def(
          "drain",
          [](StackOwner& s) {
            const PythonCall call;
            s.with([](Stack& stack) { stack.drain(); });
          },
          "The proxies take no more clients from now on, and /readyz says so; all else goes on. Idempotent.")
      .def_property_readonly(
          "is_draining", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.is_draining(); }); },
          "bool.")
      .def_property_readonly(
          "is_running", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.is_running(); }); },
          "bool.")
      .def(
          "troubles", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.troubles(); }); },
          "list[str]: one sentence per trouble; empty when all is well.")
      .def(
          "listeners", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.listeners(); }); },
          "list[StackListener]: bound sockets.")
      .def(
          "leases", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.leases(); }); },
          "list[dhcp.Lease]: ordered by address.")
      .def(
          "leases6", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.leases6(); }); },
          "list[dhcp6.Lease]: ordered by address.")
      .def(
          "import_leases",
          // Its own list: without the GIL another thread may change that of Python.
          [](StackOwner& s, dhcp::LeaseList list) {
            const PythonCall call;
            return s
                .with([&](Stack& stack) {
                  return wait_for<dhcp::LeaseImport>(
                      [&](auto done) { stack.import_leases(std::move(list), std::move(done)); });
                })
                .value();
          },
          py::arg("leases"), R"doc(Take over leases, all of them or none; they are on disk when it returns.

Args:
    leases (dhcp.LeaseList): of a lease file.
Returns:
    dhcp.LeaseImport: how many there were of which kind.
Raises:
    SpecError: ``diagnostics`` holds everything that stands against it, with lines.)doc")
      .def(
          "release_lease",
          [](StackOwner& s, const IpAddress& address) {
            const PythonCall call;
            return ended_lease(s.with([&](Stack& stack) {
                                  return wait_for<dhcp::EndedLease>(
                                      [&](auto done) { stack.release_lease(address, std::move(done)); });
                                }).value());
          },
          py::arg("address"), R"doc(End the lease on an address, or let a declined address rest no longer.

Its client goes on using the address until it asks again: see to it that it doesn't.

Args:
    address (str | IPv4Address | IPv6Address): the address.
Returns:
    dhcp.Lease | dhcp6.Lease: as it ended, on disk.
Raises:
    SpecError: there is none.)doc")
      .def(
          "reserve_address",
          [](StackOwner& s, const IpAddress& address, std::optional<MacAddress> mac,
             const std::optional<py::bytes>& client_id, const std::optional<std::string>& duid, std::string host_name) {
            const PythonCall call;
            const dhcp::KeptAddress wanted = kept_address(address, mac, client_id, duid, std::move(host_name));
            return s
                .with([&](Stack& stack) {
                  return wait_for<dhcp::KeptAddress>(
                      [&](auto done) { stack.reserve_address(wanted, std::move(done)); });
                })
                .value();
          },
          py::arg("address"), py::kw_only(), py::arg("mac") = py::none(), py::arg("client_id") = py::none(),
          py::arg("duid") = py::none(), py::arg("host_name") = "", kReserveDoc)
      .def(
          "unreserve_address",
          [](StackOwner& s, const IpAddress& address) {
            const PythonCall call;
            return s
                .with([&](Stack& stack) {
                  return wait_for<dhcp::KeptAddress>(
                      [&](auto done) { stack.unreserve_address(address, std::move(done)); });
                })
                .value();
          },
          py::arg("address"), kUnreserveDoc)
      .def(
          "reservations", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.reservations(); }); },
          "list[dhcp.KeptAddress]: of the files and by hand, ordered by address.")
      .def(
          "zones", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.zones(); }); },
          "list[StackZone]: one per view and zone.")
      .def(
          "stats", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.stats(); }); },
          "StackStats: counters now.")
      .def(
          "route",
          [](StackOwner& s, const std::string& name, std::uint16_t port, const IpAddress& source) {
            return s.answer([&](Stack& stack) { return stack.route(name, port, source); });
          },
          py::arg("server_name"), py::arg("port"), py::arg("source"), R"doc(Ask where a connection would go.

Args:
    server_name (str): as in the ClientHello; empty: none was sent.
    port (int): as configured, 1 to 65535.
    source (str | IPv4Address | IPv6Address): the client.
Returns:
    list[RouteExplanation]: for each listener on the port, but those of one proxy that decide as one before them.)doc")
      .def(
          "explain",
          [](StackOwner& s, const std::string& name, const IpAddress& client, const std::string& type) {
            const dns::Name asked = name_of(name);
            const dns::Type record_type = data_type_of(type);
            return s.answer([&](Stack& stack) { return stack.explain(asked, record_type, client); });
          },
          py::arg("name"), py::arg("client"), py::arg("type") = "A",
          R"doc(Say which view, zone and rule answer a client.

Args:
    name (str): domain name, with or without the dot at its end.
    client (str | IPv4Address | IPv6Address): address of the client.
    type (str): type of record, such as "AAAA" or "TYPE65".
Returns:
    dict[str, dns.Explanation]: by DNS server, "namespace/name".
Raises:
    ValueError: no name, or no type that records have.)doc")
      .def(
          "last_reload", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.last_reload(); }); },
          "StackReload | None: the latest one, also where a changed file brought it; None: none since start.")
      .def(
          "warnings",
          [](StackOwner& s) {
            const PythonCall call;
            return to_list(s.with([](Stack& stack) { return stack.warnings(); }));
          },
          "list[Diagnostic]: warnings of the set that is served.")
      .def(
          "metrics", [](StackOwner& s) { return s.answer([](Stack& stack) { return stack.metrics(); }); },
          "str: Prometheus text exposition format 0.0.4.");
}

}  // namespace

void bind_stack(py::module_& m) {
  bind_check(m);
  bind_results(m);
  bind_stack_class(m);
}

}  // namespace hcpnet::python
