// SPDX-License-Identifier: Apache-2.0
// Lease files, and the leases of a server that does not run.
#include <pybind11/native_enum.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/stopped_server.hpp>
#include <hcpnet/stack/config.hpp>
#include <hcpnet/stack/files.hpp>
#include <mutex>

#include "bind.hpp"
#include "casters.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "lease_arguments.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace dhcp;
using Paths = std::vector<std::filesystem::path>;

std::vector<std::string> strings(const Paths& paths) {
  std::vector<std::string> result;
  for (const auto& path : paths) result.push_back(path.string());
  return result;
}

Config config_of(const Paths& files, const Paths& observed) {
  Diagnostics problems;
  const SourceFiles texts = read_source_files(strings(files), strings(observed), {}, problems);
  if (problems.has_errors()) throw SpecError(std::move(problems));
  const auto checked = check_files(texts).value();
  return make_stack_config(checked.set, checked.observed, unknown_place()).value().dhcp;
}

/// Lets go of the database at close(), and not only when Python collects the object.
class StoppedServerOwner {
 public:
  StoppedServerOwner(const std::filesystem::path& database, const Paths& files, const Paths& observed) {
    const PythonCall call;
    const WithoutGil no_gil;
    if (files.empty())
      server_ = std::make_unique<StoppedServer>(database.string());
    else
      server_ = std::make_unique<StoppedServer>(database.string(), config_of(files, observed));
  }
  template <class Work>
  auto with(Work work) {
    const PythonCall call;
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    if (!server_) throw UseError("the lease database is closed");
    return work(*server_);
  }
  void close() {
    const PythonCall call;
    const WithoutGil no_gil;
    const std::lock_guard lock(mutex_);
    server_.reset();
  }

 private:
  std::mutex mutex_;  ///< never waited for with the GIL held
  std::unique_ptr<StoppedServer> server_;
};

void bind_list(py::module_& m) {
  py::native_enum<LeaseFileFormat>(m, "LeaseFileFormat", "enum.Enum", "Whose form a lease file has.")
      .value("hcpnet", LeaseFileFormat::hcpnet)
      .value("isc", LeaseFileFormat::isc)
      .value("dnsmasq", LeaseFileFormat::dnsmasq)
      .value("kea", LeaseFileFormat::kea)
      .finalize();
  py::class_<ListedLease>(m, "ListedLease", "An IPv4 lease of a file.")
      .def_readonly("lease", &ListedLease::lease, "Lease.")
      .def_readonly("line", &ListedLease::line, "int: where it stands.");
  py::class_<ListedLease6>(m, "ListedLease6", "An IPv6 lease of a file.")
      .def_readonly("lease", &ListedLease6::lease, "dhcp6.Lease.")
      .def_readonly("line", &ListedLease6::line, "int: where it stands.");
  // Copies: keep_only() destroys and moves what references would lead to.
  py::class_<LeaseList>(m, "LeaseList", "What a lease file says, one lease per address.")
      .def_readonly("file", &LeaseList::file, "str: names it in diagnostics.")
      .def_property_readonly(
          "leases", [](const LeaseList& l) { return std::vector<ListedLease>(l.leases); }, "list[ListedLease].")
      .def_property_readonly(
          "leases6", [](const LeaseList& l) { return std::vector<ListedLease6>(l.leases6); }, "list[ListedLease6].")
      .def_property_readonly(
          "warnings", [](const LeaseList& l) { return to_list(l.warnings); }, "list[Diagnostic].")
      .def("__len__", &LeaseList::size)
      .def(
          "keep_only", [](LeaseList& l, const std::vector<Cidr>& networks) { return l.keep_only(networks); },
          py::arg("networks"), R"doc(Leave out what lies in none of the networks.

Args:
    networks (Sequence[str | IPv4Network | IPv6Network]): those whose leases stay.
Returns:
    int: how many leases were left out.)doc");
  py::class_<KeptAddress>(m, "KeptAddress", "An address that is kept for one client.")
      .def_readonly("address", &KeptAddress::address, "IPv4Address | IPv6Address.")
      .def_readonly("mac", &KeptAddress::mac, "str | None: of the client.")
      .def_property_readonly(
          "duid", [](const KeptAddress& k) { return k.duid ? std::optional(k.duid->to_string()) : std::nullopt; },
          "str | None: of the client, for an IPv6 address.")
      .def_property_readonly(
          "client_id", [](const KeptAddress& k) { return raw_bytes(k.client_id); },
          "bytes: option 61 of the client, for an IPv4 address; empty where it is known otherwise.")
      .def_readonly("host_name", &KeptAddress::host_name, "str: may be empty.")
      .def_readonly("subnet", &KeptAddress::subnet, "str: the Infra or DHCPServer, \"namespace/name\".")
      .def_readonly("is_by_hand", &KeptAddress::is_by_hand, "bool: not of the files.");
  py::class_<LeaseImport>(m, "LeaseImport", "What came of leases that were taken over.")
      .def_readonly("imported", &LeaseImport::imported, "int: ours from now on.")
      .def_readonly("unchanged", &LeaseImport::unchanged, "int: known already, for as long or longer.")
      .def_readonly("left_out", &LeaseImport::left_out, "int: ended, and of no use.")
      .def_property_readonly(
          "warnings", [](const LeaseImport& i) { return to_list(i.warnings); },
          "list[Diagnostic]: addresses that rest because their client has another one.");
}

void bind_files(py::module_& m) {
  m.def(
      "parse_lease_file",
      [](LeaseFileFormat format, const std::string& text, const std::string& file) {
        const PythonCall call;
        const WithoutGil no_gil;
        return parse_lease_file(format, file, text).value();
      },
      py::arg("format"), py::arg("text"), py::kw_only(), py::arg("file") = "-",
      R"doc(Read a lease file: all of it, or every error.

Args:
    format (LeaseFileFormat): whose file it is.
    text (str | bytes): the whole file, 256 MiB at most.
    file (str): its name in diagnostics.
Returns:
    LeaseList: one lease per address.
Raises:
    SpecError: ``diagnostics`` holds every problem with its line.)doc");
  m.def(
      "read_oooi_leases",
      [](const std::filesystem::path& path) {
        const PythonCall call;
        const WithoutGil no_gil;
        return read_oooi_leases(path.string()).value();
      },
      py::arg("path"), R"doc(Read the table leases4 of oooi, or of coredhcp's plugin range, from SQLite.

Args:
    path (str | os.PathLike[str]): the SQLite file, which is only read.
Returns:
    LeaseList: a row is a line.
Raises:
    SpecError: ``diagnostics`` holds every problem with its row.)doc");
  m.def(
      "render_lease_file",
      [](const std::vector<Lease>& leases, const std::vector<dhcp6::Lease>& leases6, LeaseFileFormat format) {
        if (format == LeaseFileFormat::hcpnet) return render_lease_file(leases, leases6);
        if (!leases6.empty()) throw py::value_error("IPv6 leases are written as hcpnet, or by render_kea_leases6()");
        return render_lease_file(format, leases);
      },
      py::arg("leases"), py::arg("leases6") = py::tuple(), py::kw_only(), py::arg("format") = LeaseFileFormat::hcpnet,
      R"doc(Write leases as a lease file.

Args:
    leases (Sequence[Lease]): IPv4.
    leases6 (Sequence[dhcp6.Lease]): IPv6; with LeaseFileFormat.hcpnet alone.
    format (LeaseFileFormat): for whom.
Returns:
    str: the file.
Raises:
    ValueError: IPv6 leases in another format.)doc");
  m.def(
      "render_kea_leases6", [](const std::vector<dhcp6::Lease>& leases6) { return render_kea_leases6(leases6); },
      py::arg("leases6"), R"doc(Write IPv6 leases as Kea's kea-leases6.csv.

Args:
    leases6 (Sequence[dhcp6.Lease]): IPv6.
Returns:
    str: the file.)doc");
}

void bind_stopped_server(py::module_& m) {
  py::class_<StoppedServerOwner>(m, "StoppedServer", R"doc(The leases of a server that does not run, in its database.

A context manager. As long as it is open no server can start on the database; while one runs it can't be opened.)doc")
      .def(py::init<const std::filesystem::path&, const Paths&, const Paths&>(), py::arg("database"), py::kw_only(),
           py::arg("files") = py::tuple(), py::arg("observed") = py::tuple(), R"doc(Open the database.

Args:
    database (str | os.PathLike[str]): leases.db in the state folder.
    files (Sequence[str | os.PathLike[str]]): the set that is to be served, which names the networks: then a database
        that is not there is made. Without it the networks are those of the database, and no IPv6 lease can be added.
    observed (Sequence[str | os.PathLike[str]]): what `kubectl get -o yaml` printed.
Raises:
    SpecError: the set is wrong.
    RuntimeError: the database is missing, damaged, of another network or version, or in use.)doc")
      .def("__enter__", [](py::object self) { return self; })
      .def(
          "__exit__", [](StoppedServerOwner& s, const py::object&, const py::object&, const py::object&) { s.close(); },
          py::arg("kind"), py::arg("error"), py::arg("traceback"))
      .def("close", &StoppedServerOwner::close, "Let go of the database. Idempotent.")
      .def(
          "leases", [](StoppedServerOwner& s) { return s.with([](StoppedServer& server) { return server.leases(); }); },
          "list[Lease]: ordered by address.")
      .def(
          "leases6",
          [](StoppedServerOwner& s) {
            return s.with([](StoppedServer& server) { return std::vector<dhcp6::Lease>(server.leases6()); });
          },
          "list[dhcp6.Lease]: ordered by address.")
      .def(
          "problems",
          [](StoppedServerOwner& s) {
            return s.with([](StoppedServer& server) { return std::vector<std::string>(server.problems()); });
          },
          "list[str]: rows of the database that are no leases.")
      .def(
          "import_leases",
          // Its own list: without the GIL another thread may change that of Python.
          [](StoppedServerOwner& s, LeaseList list) {
            return s.with([&](StoppedServer& server) { return server.import_leases(list).value(); });
          },
          py::arg("leases"), R"doc(Take over leases, all of them or none; they are on disk when it returns.

Args:
    leases (LeaseList): of a lease file.
Returns:
    LeaseImport: how many there were of which kind.
Raises:
    SpecError: ``diagnostics`` holds everything that stands against it, with lines.)doc")
      .def(
          "release",
          [](StoppedServerOwner& s, const IpAddress& address) {
            const EndedLease ended = s.with([&](StoppedServer& server) { return server.release(address).value(); });
            return ended_lease(ended);
          },
          py::arg("address"), R"doc(End the lease on an address, or let a declined address rest no longer.

Args:
    address (str | IPv4Address | IPv6Address): the address.
Returns:
    Lease | dhcp6.Lease: as it ended.
Raises:
    SpecError: there is none.)doc")
      .def(
          "reserve",
          [](StoppedServerOwner& s, const IpAddress& address, std::optional<MacAddress> mac,
             const std::optional<py::bytes>& client_id, const std::optional<std::string>& duid, std::string host_name) {
            const KeptAddress wanted = kept_address(address, mac, client_id, duid, std::move(host_name));
            return s.with([&](StoppedServer& server) { return server.reserve(wanted).value(); });
          },
          py::arg("address"), py::kw_only(), py::arg("mac") = py::none(), py::arg("client_id") = py::none(),
          py::arg("duid") = py::none(), py::arg("host_name") = "", kReserveDoc)
      .def(
          "unreserve",
          [](StoppedServerOwner& s, const IpAddress& address) {
            return s.with([&](StoppedServer& server) { return server.unreserve(address).value(); });
          },
          py::arg("address"), kUnreserveDoc)
      .def(
          "reservations",
          [](StoppedServerOwner& s) { return s.with([](StoppedServer& server) { return server.reservations(); }); },
          "list[KeptAddress]: of the files and by hand, ordered by address.");
}

}  // namespace

void bind_dhcp_leases(py::module_& parent) {
  py::module_ m = parent.attr("dhcp").cast<py::module_>();
  bind_list(m);
  bind_files(m);
  bind_stopped_server(m);
}

}  // namespace hcpnet::python
