// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <chrono>
#include <filesystem>
#include <hcpnet/pki/store.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "casters.hpp"
#include "durations.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace pki;
using Path = std::filesystem::path;
using Nodes = std::vector<std::pair<std::string, Ipv4>>;
using Imports = std::map<std::string, std::pair<py::bytes, py::bytes>>;  // certificate and key
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kRenewBefore = std::chrono::hours(24 * 30);

py::object date_of(Time time) {
  return utc(std::chrono::floor<std::chrono::seconds>(time));
}

PkiPlan plan(const std::string& layout, const std::string& domain, Ipv4 api_vip, Ipv4 service_address,
             const std::pair<std::string, Ipv4>& bootstrap, const Nodes& control_plane) {
  const auto known = parse_layout(layout);
  if (!known) throw py::value_error("'" + layout + "' is neither \"HandMade\" nor \"Installer\"");
  ClusterIdentity cluster{.domain = domain,
                          .api_vip = api_vip,
                          .service_address = service_address,
                          .bootstrap = {bootstrap.first, bootstrap.second},
                          .control_plane = {}};
  for (const auto& [name, address] : control_plane) cluster.control_plane.push_back({name, address});
  return plan_pki(*known, cluster);
}

StoredPki complete(const PkiPlan& plan, const Path& folder, const py::object& now, const std::string& algorithm,
                   std::chrono::seconds renew_before, const Imports& imports) {
  const auto known = parse_key_algorithm(algorithm);
  if (!known) throw py::value_error("'" + algorithm + "' is no kind of key such as \"ECDSAP256\" or \"RSA2048\"");
  StoreOptions options{.now = time_or_now(now), .algorithm = *known, .renew_before = renew_before};
  for (const auto& [name, pair] : imports)
    options.imports.emplace(name, ImportedAuthority{name + ".crt", name + ".key", std::string(pair.first),
                                                    Secret(std::string(pair.second))});
  const WithoutGil no_gil;
  return complete_pki(plan, read_pki(folder.string(), plan).value(), folder.string(), options).value();
}

Words write(const StoredPki& stored, const Path& folder) {
  const WithoutGil no_gil;
  return write_files(folder.string(), stored.files).value().changed;
}

std::string chain_pem(const StoredPki& stored, const std::string& name) {
  const auto found = stored.identities.find(name);
  if (found == stored.identities.end()) throw py::key_error(name);
  return found->second.chain_pem();
}

py::tuple expiry(const Path& folder, const py::object& now, std::chrono::seconds renew_before) {
  const Time at = time_or_now(now);
  Diagnostics problems;
  std::vector<ExpiryEntry> entries;
  {
    const WithoutGil no_gil;
    entries = report_expiry(folder.string(), at, renew_before, problems);
  }
  return py::make_tuple(entries, to_list(problems));
}

void bind_files(py::module_& m) {
  py::class_<OutputFile>(m, "OutputFile", "A file that is to be written. Its text shows nowhere by itself.")
      .def_readonly("name", &OutputFile::name, "str: below the output folder.")
      .def_readonly("mode", &OutputFile::mode, "int: 0o600 for what is secret.")
      .def_property_readonly(
          "content", [](const OutputFile& file) { return py::bytes(file.text.reveal()); }, "bytes.")
      .def("__repr__", [](const OutputFile& file) { return "<OutputFile " + file.name + '>'; });
  py::class_<StoreChange>(m, "StoreChange", "What became of a key or certificate.")
      .def_readonly("name", &StoreChange::name, "str.")
      .def_property_readonly(
          "action", [](const StoreChange& change) { return std::string(to_string(change.action)); },
          "str: \"kept\", \"made\", \"renewed\", \"replaced\" or \"imported\".")
      .def_readonly("reason", &StoreChange::reason, "str: why it was replaced.")
      .def_property_readonly(
          "not_after",
          [](const StoreChange& change) {
            return change.not_after == Time() ? py::object(py::none()) : date_of(change.not_after);
          },
          "datetime.datetime | None: UTC; None of a key pair without a certificate.");
}

void bind_plan(py::module_& m) {
  py::class_<PlannedCertificate>(m, "PlannedCertificate", "A certificate as it is planned.")
      .def_readonly("name", &PlannedCertificate::name, "str: its files are NAME.crt and NAME.key.")
      .def_readonly("issuer", &PlannedCertificate::issuer, "str: an authority; empty: signed by its own key.")
      .def_property_readonly(
          "common_name", [](const PlannedCertificate& planned) { return planned.profile.subject.common_name; },
          "str: the user, of a client.")
      .def_property_readonly(
          "organizations", [](const PlannedCertificate& planned) { return planned.profile.subject.organizations; },
          "list[str]: the groups, of a client.")
      .def_property_readonly(
          "dns_names", [](const PlannedCertificate& planned) { return planned.profile.dns_names; }, "list[str].")
      .def_property_readonly(
          "addresses", [](const PlannedCertificate& planned) { return planned.profile.addresses; },
          "list[IPv4Address | IPv6Address].")
      .def_property_readonly(
          "is_authority", [](const PlannedCertificate& planned) { return planned.profile.is_authority; }, "bool.")
      .def_property_readonly(
          "server_auth", [](const PlannedCertificate& planned) { return planned.profile.server_auth; },
          "bool: whether it may serve.")
      .def_property_readonly(
          "client_auth", [](const PlannedCertificate& planned) { return planned.profile.client_auth; },
          "bool: whether it may be a client.")
      .def_readonly("lifetime", &PlannedCertificate::lifetime, "datetime.timedelta.");
  py::class_<PkiPlan>(m, "PkiPlan", "Which keys and certificates a cluster has.")
      .def_readonly("certificates", &PkiPlan::certificates, "list[PlannedCertificate]: each after its issuer.")
      .def_property_readonly(
          "bundles",
          [](const PkiPlan& plan) {
            std::map<std::string, Words> bundles;
            for (const PlannedBundle& bundle : plan.bundles) bundles.emplace(bundle.name, bundle.certificates);
            return bundles;
          },
          "dict[str, list[str]]: certificates that somebody trusts, in one file NAME.crt.")
      .def_readonly("key_pairs", &PkiPlan::key_pairs, "list[str]: NAME.key and NAME.pub.");
}

void bind_store(py::module_& m) {
  py::class_<StoredPki>(m, "StoredPki", "The whole of a PKI in memory.")
      .def_readonly("changes", &StoredPki::changes, "list[StoreChange]: in the order of the plan, key pairs last.")
      .def_readonly("files", &StoredPki::files, "list[OutputFile]: keys before their certificates.")
      .def_readonly("bundles", &StoredPki::bundles, "dict[str, str]: PEM.")
      .def("chain_pem", &chain_pem, py::arg("name"), R"doc(A certificate and the authorities between it and its root.

Args:
    name (str): in the plan.
Returns:
    str: PEM.
Raises:
    KeyError: the plan has no certificate of this name.)doc")
      .def("write", &write, py::arg("folder"), R"doc(Write every file, or none.

Args:
    folder (str | os.PathLike[str]): made if need be.
Returns:
    list[str]: the files that are new or have other content.
Raises:
    SpecError: the folder can't be written to; nothing has changed.)doc");
  py::class_<ExpiryEntry>(m, "ExpiryEntry", "When a certificate ends.")
      .def_readonly("file", &ExpiryEntry::file, "str: below the folder.")
      .def_property_readonly(
          "common_name", [](const ExpiryEntry& entry) { return entry.subject.common_name; }, "str.")
      .def_readonly("is_authority", &ExpiryEntry::is_authority, "bool.")
      .def_property_readonly(
          "not_before", [](const ExpiryEntry& entry) { return date_of(entry.not_before); }, "datetime.datetime: UTC.")
      .def_property_readonly(
          "not_after", [](const ExpiryEntry& entry) { return date_of(entry.not_after); }, "datetime.datetime: UTC.")
      .def_property_readonly(
          "state", [](const ExpiryEntry& entry) { return std::string(to_string(entry.state)); },
          "str: \"valid\", \"due\", \"expired\" or \"not yet valid\".");
}

void bind_functions(py::module_& m) {
  m.def("plan_pki", &plan, py::arg("layout"), py::arg("domain"), py::kw_only(), py::arg("api_vip"),
        py::arg("service_address"), py::arg("bootstrap"), py::arg("control_plane"),
        R"doc(Say which certificates a cluster has. ``bootstrap.plan_pki`` takes all of it from a spec.

Args:
    layout (str): "HandMade": one root and authorities below it; "Installer": separate signers.
    domain (str): of the cluster; the API is api.DOMAIN.
    api_vip (str | IPv4Address): the API's virtual address.
    service_address (str | IPv4Address): the first address of the service network.
    bootstrap (tuple[str, str | IPv4Address]): name, without the domain, and address of the bootstrap node.
    control_plane (Sequence[tuple[str, str | IPv4Address]]): the same of each control-plane node.
Returns:
    PkiPlan: certificates, bundles and key pairs.
Raises:
    ValueError: no such layout, or no address.)doc");
  m.def("complete_pki", &complete, py::arg("plan"), py::arg("folder"), py::kw_only(), py::arg("now") = py::none(),
        py::arg("algorithm") = "ECDSAP256", py::arg("renew_before") = kRenewBefore, py::arg("imports") = Imports{},
        R"doc(Keep of a folder what is there and still right, and make the rest. Nothing is written.

Args:
    plan (PkiPlan): which certificates there are to be.
    folder (str | os.PathLike[str]): where they lie.
    now (datetime.datetime | None): None for the system's clock.
    algorithm (str): of new keys, "ECDSAP256", "ECDSAP384", "ECDSAP521", "RSA2048", "RSA3072" or "RSA4096".
    renew_before (datetime.timedelta): how long before its end a certificate is renewed; a third of its lifetime at
        most.
    imports (Mapping[str, tuple[bytes, bytes]]): name of an authority in the plan to PEM of its certificate, with those
        above it, and of its key: they are used in place of new ones.
Returns:
    StoredPki: what to write, and what became of each.
Raises:
    SpecError: an authority is there that can't be used, or a file can't be read. Nothing secret is quoted.
    ValueError: no such kind of key; the time is none of the years 1679 to 2260.)doc");
  m.def("report_expiry", &expiry, py::arg("folder"), py::kw_only(), py::arg("now") = py::none(),
        py::arg("renew_before") = kRenewBefore,
        R"doc(Say when the certificates of a folder end.

Args:
    folder (str | os.PathLike[str]): its *.crt and *.pem files are read.
    now (datetime.datetime | None): None for the system's clock.
    renew_before (datetime.timedelta): how long before its end one is due; a third of its lifetime at most.
Returns:
    tuple[list[ExpiryEntry], list[Diagnostic]]: each certificate, the one that ends first in front; and what could not
        be read.
Raises:
    ValueError: the time is none of the years 1679 to 2260.)doc");
}

}  // namespace

void bind_pki(py::module_& parent) {
  py::module_ m = parent.def_submodule("pki", "Keys and certificates of a cluster, in a folder that follows a plan.");
  bind_files(m);
  bind_plan(m);
  bind_store(m);
  bind_functions(m);
}

}  // namespace hcpnet::python
