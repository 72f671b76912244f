// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <chrono>
#include <filesystem>
#include <hcpnet/bootstrap/kubeconfig.hpp>
#include <hcpnet/bootstrap/load_balancer.hpp>
#include <hcpnet/bootstrap/machine_network.hpp>
#include <hcpnet/bootstrap/render.hpp>
#include <hcpnet/bootstrap/stages.hpp>
#include <hcpnet/dns/renderer.hpp>
#include <hcpnet/stack/files.hpp>
#include <hcpnet/text/patch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace bootstrap;
using Json = nlohmann::json;
using Paths = std::vector<std::filesystem::path>;

py::object to_python(const Json& value) {
  return py::module_::import("json").attr("loads")(value.dump());
}
Json from_python(const py::dict& value) {
  return Json::parse(py::module_::import("json").attr("dumps")(value).cast<std::string>());
}

struct Described {
  spec::ValidBootstrapCluster cluster;
  Diagnostics warnings;  ///< of the files
};

/// The one cluster that the files describe, or the one of that name.
Described read_described(const Paths& files, const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.string());
  Diagnostics problems;
  const SourceFiles sources = read_source_files(paths, {}, {}, problems);
  if (problems.has_errors()) throw SpecError(std::move(problems));
  CheckedFiles checked = check_files(sources).value();
  std::vector<spec::ValidBootstrapCluster> clusters = std::move(checked.set.bootstrap_clusters);
  if (!name.empty()) std::erase_if(clusters, [&](const auto& cluster) { return cluster.metadata.name != name; });
  if (clusters.size() != 1)
    throw py::value_error("the files describe " + std::to_string(clusters.size()) + " such objects of the kind " +
                          "BootstrapCluster; one is needed");
  return {std::move(clusters.front()), std::move(checked.warnings)};
}
spec::ValidBootstrapCluster read_cluster(const Paths& files, const std::string& name) {
  return read_described(files, name).cluster;
}

Rendered render_files(const Paths& files, const std::filesystem::path& output_dir, const std::string& name) {
  const WithoutGil no_gil;
  auto [cluster, warnings] = read_described(files, name);
  const Inputs inputs = read_inputs(cluster, output_dir.string(), std::chrono::system_clock::now()).value();
  Rendered rendered = render(cluster, inputs, output_dir.string()).value();
  warnings.append(std::move(rendered.warnings));
  rendered.warnings = std::move(warnings);
  return rendered;
}

std::vector<std::string> write(const Rendered& rendered, const std::filesystem::path& output_dir) {
  const WithoutGil no_gil;
  return pki::write_files(output_dir.string(), rendered.files).value().changed;
}

std::vector<Stage> stages_of(const Paths& files, const std::string& name) {
  const WithoutGil no_gil;
  const spec::ValidBootstrapCluster cluster = read_cluster(files, name);
  return make_stages(cluster, plan_pki(cluster));
}

std::string graph(const Paths& files, const std::string& format, const std::string& name) {
  const auto form = parse_graph_format(format);
  if (!form) throw py::value_error("'" + format + "' is neither \"dot\" nor \"mermaid\"");
  return render_graph(stages_of(files, name), *form);
}

std::vector<pki::OutputFile> load_balancer_of(const Paths& files, const std::string& name) {
  const WithoutGil no_gil;
  return render_load_balancer(read_cluster(files, name));
}

std::vector<pki::OutputFile> machine_network_of(const Paths& files, const PreviousZones& previous,
                                                const std::string& name) {
  const WithoutGil no_gil;
  return render_machine_network(read_cluster(files, name), previous, dns::serial_day(std::chrono::system_clock::now()));
}

py::object merge(const py::dict& base, const std::map<std::string, std::pair<py::bytes, unsigned>>& files,
                 const std::map<std::string, std::string>& units, const std::string& ssh_key,
                 const std::string& release) {
  constexpr unsigned kFirstMinor = 14;
  const auto parsed = text::parse_release(release);
  if (!parsed || parsed->major != 4 || parsed->minor < kFirstMinor)
    throw py::value_error("'" + release + "' is no release such as 4.18");
  NodeContent content;
  for (const auto& [path, file] : files)
    content.files.push_back({path, pki::Secret(std::string(file.first)), file.second});
  for (const auto& [unit, text] : units) content.units.push_back({unit, text});
  content.ssh_key = ssh_key;
  return to_python(merge_ignition(from_python(base), "base", content, ignition_version(parsed->minor)).value());
}

std::string retarget(const std::string& text, const std::string& server) {
  constexpr std::uint16_t kApiPort = 6443;
  const auto endpoint = parse_endpoint(server, kApiPort);
  if (!endpoint) throw py::value_error("'" + server + "' is no address, with a port or without");
  return retarget_kubeconfig("kubeconfig", text, *endpoint).value().reveal();
}

pki::PkiPlan plan_of(const Paths& files, const std::string& name) {
  const WithoutGil no_gil;
  return plan_pki(read_cluster(files, name));
}

pki::StoredPki complete(const Paths& files, const std::filesystem::path& folder, const py::object& now,
                        const std::string& name) {
  const pki::Time at = time_or_now(now);
  const WithoutGil no_gil;
  const spec::ValidBootstrapCluster cluster = read_cluster(files, name);
  const pki::PkiPlan plan = plan_pki(cluster);
  const pki::StoreOptions options = make_store_options(cluster, read_authorities(cluster).value(), at);
  return pki::complete_pki(plan, pki::read_pki(folder.string(), plan).value(), folder.string(), options).value();
}

std::vector<pki::OutputFile> kubeconfigs(const std::string& domain, const pki::PkiPlan& plan,
                                         const pki::StoredPki& stored, const std::optional<std::string>& folder) {
  for (const KubeconfigRow& row : kubeconfig_rows())
    if (!stored.identities.contains(plan.roles.*row.role) || !stored.bundles.contains(plan.roles.server_ca))
      throw py::value_error("the keys and certificates are not those of the plan");
  return render_kubeconfigs(domain, plan, stored, folder);
}

void bind_classes(py::module_& m) {
  py::class_<IgnitionReport>(m, "IgnitionReport", "What is in an Ignition config.")
      .def_readonly("name", &IgnitionReport::name, "str: \"master-0.ign\".")
      .def_readonly("version", &IgnitionReport::version, "str: of the specification.")
      .def_readonly("files", &IgnitionReport::files, "int.")
      .def_readonly("units", &IgnitionReport::units, "int.")
      .def_readonly("bytes", &IgnitionReport::bytes, "int: of the config as it is written.");
  py::class_<Stage>(m, "Stage", "A part of the way from a spec to a cluster.")
      .def_readonly("name", &Stage::name, "str: \"04-release\".")
      .def_readonly("title", &Stage::title, "str: one sentence.")
      .def_readonly("needs", &Stage::needs, "list[str]: artefacts.")
      .def_readonly("makes", &Stage::makes, "list[str]: artefacts.")
      .def_readonly("run", &Stage::run, "str: shell.")
      .def_readonly("verify", &Stage::verify, "str: shell.");
  py::class_<Rendered>(m, "Rendering", "What a cluster boots from, not written yet.")
      .def_readonly("files", &Rendered::files, "list[pki.OutputFile].")
      .def_readonly("changes", &Rendered::changes, "list[pki.StoreChange]: of each key and certificate.")
      .def_readonly("ignition", &Rendered::ignition, "list[IgnitionReport]: of each config.")
      .def_property_readonly(
          "warnings", [](const Rendered& rendered) { return to_list(rendered.warnings); },
          "list[Diagnostic]: accepted and yet worth a look, of the specs too.")
      .def("write", &write, py::arg("output_dir"), R"doc(Write every file, or none.

Args:
    output_dir (str | os.PathLike[str]): the folder; made if need be.
Returns:
    list[str]: the files that are new or have other content.
Raises:
    SpecError: the folder can't be written to; nothing has changed.)doc");
}

void bind_functions(py::module_& m) {
  m.def("render", &render_files, py::arg("files"), py::arg("output_dir"), py::kw_only(), py::arg("name") = "",
        R"doc(Make what a cluster boots from, as `hcpnet bootstrap render` does; nothing is written.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    output_dir (str | os.PathLike[str]): where an earlier rendering lies, whose keys and ids are kept.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    Rendering: files, and what became of each key.
Raises:
    SpecError: the set is wrong, or a file that it names is.
    ValueError: none, or several, of that name.)doc");
  m.def("stages", &stages_of, py::arg("files"), py::kw_only(), py::arg("name") = "",
        R"doc(Say how a cluster is brought up, step by step.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    list[Stage]: in an order in which each finds what it needs.
Raises:
    SpecError: the set is wrong.
    ValueError: none, or several, of that name.)doc");
  m.def("graph", &graph, py::arg("files"), py::kw_only(), py::arg("format") = "mermaid", py::arg("name") = "",
        R"doc(Draw the stages, and what each needs.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    format (str): "dot" or "mermaid".
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    str: for Graphviz, or a Mermaid flowchart.
Raises:
    SpecError: the set is wrong.
    ValueError: no such format; none, or several, of that name.)doc");
  m.def("load_balancer", &load_balancer_of, py::arg("files"), py::kw_only(), py::arg("name") = "",
        R"doc(Make what stands between clients and the nodes.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    list[pki.OutputFile]: haproxy-bootstrap.cfg, haproxy.cfg, keepalived.conf where the spec has it; proxy.yaml,
        endpoints-bootstrap.yaml and endpoints.yaml for hcpnet's own proxy.
Raises:
    SpecError: the set is wrong.
    ValueError: none, or several, of that name.)doc");
  m.def("machine_network", &machine_network_of, py::arg("files"), py::kw_only(), py::arg("previous") = PreviousZones{},
        py::arg("name") = "",
        R"doc(Make names, network, machines and packet filter of a cluster's host.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    previous (dict[str, str]): zone files of an earlier call, by name ("zones/ocp4.example.com.zone"): a zone that has
        not changed keeps its serial, another one gets a greater one.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    list[pki.OutputFile]: zone files, XML for libvirt, rules for nft and for firewalld, a systemd unit.
Raises:
    SpecError: the set is wrong.
    ValueError: none, or several, of that name.
Spec:
    RFC 1035 section 5; https://libvirt.org/format.html)doc");
  m.def("merge_ignition", &merge, py::arg("base"), py::kw_only(),
        py::arg("files") = std::map<std::string, std::pair<py::bytes, unsigned>>{},
        py::arg("units") = std::map<std::string, std::string>{}, py::arg("ssh_key") = "", py::arg("release") = "4.18",
        R"doc(Put files and units into an Ignition config.

Args:
    base (dict[str, object]): a config of a version 3, such as a rendered MachineConfig has.
    files (dict[str, tuple[bytes, int]]): path to content and mode; one that is there already is replaced.
    units (dict[str, str]): name to text; enabled.
    ssh_key (str): of the user core; empty for none.
    release (str): of OpenShift, which decides the newest version that may be.
Returns:
    dict[str, object]: the config.
Raises:
    SpecError: this is no such config.
    ValueError: no such release.
Spec:
    https://coreos.github.io/ignition/specs/)doc");
  m.def(
      "hypershift_pointer",
      [](const std::string& endpoint, const std::string& authority, const py::bytes& token) {
        return to_python(make_hypershift_pointer(endpoint, authority, pki::Secret(std::string(token))));
      },
      py::arg("endpoint"), py::arg("authority"), py::arg("token"),
      R"doc(Make the Ignition config with which a hosted cluster's node fetches its own.

Args:
    endpoint (str): host of the ignition server, with a port or without.
    authority (str): PEM of who vouches for it.
    token (bytes): of the node pool, as it is.
Returns:
    dict[str, object]: the config; it holds the token.
Spec:
    https://coreos.github.io/ignition/configuration-v3_2/)doc");
  m.def("plan_pki", &plan_of, py::arg("files"), py::kw_only(), py::arg("name") = "",
        R"doc(Say which keys and certificates a cluster has.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    pki.PkiPlan: for ``pki.complete_pki``.
Raises:
    SpecError: the set is wrong.
    ValueError: none, or several, of that name.)doc");
  m.def("complete_pki", &complete, py::arg("files"), py::arg("folder"), py::kw_only(), py::arg("now") = py::none(),
        py::arg("name") = "",
        R"doc(Keep of a folder what is there and still right, and make the rest, as a spec says. Nothing is written.

``pki.complete_pki`` with the plan, the kind of keys, the time of renewal and the authorities of the BootstrapCluster.

Args:
    files (Sequence[str | os.PathLike[str]]): YAML or JSON files with a BootstrapCluster.
    folder (str | os.PathLike[str]): where keys and certificates lie; of a rendering its folder "pki".
    now (datetime.datetime | None): None for the system's clock.
    name (str): of the BootstrapCluster, where the files hold several.
Returns:
    pki.StoredPki: what to write, and what became of each.
Raises:
    SpecError: the set is wrong; an authority can't be used, or a file can't be read. Nothing secret is quoted.
    ValueError: none, or several, of that name; the time is none of the years 1679 to 2260.)doc");
  m.def("render_kubeconfigs", &kubeconfigs, py::arg("domain"), py::arg("plan"), py::arg("stored"), py::kw_only(),
        py::arg("reference_folder") = py::none(),
        R"doc(Make the eight kubeconfigs of a cluster.

Args:
    domain (str): of the cluster.
    plan (pki.PkiPlan): which certificate is whose.
    stored (pki.StoredPki): made for this plan.
    reference_folder (str | None): where nodes have the keys and certificates: the kubeconfigs name files there instead
        of holding what is in them.
Returns:
    list[pki.OutputFile]: "admin.kubeconfig" and so on.
Raises:
    ValueError: the keys and certificates are not those of the plan.)doc");
  m.def("retarget_kubeconfig", &retarget, py::arg("text"), py::arg("server"),
        R"doc(Make a hosted cluster's kubeconfig go through a proxy, its server name kept.

Args:
    text (str): the kubeconfig.
    server (str): address of the proxy, with a port or without.
Returns:
    str: the kubeconfig with the server replaced and tls-server-name set.
Raises:
    SpecError: this is no kubeconfig; nothing of it is quoted.
    ValueError: the server is no address.)doc");
}

}  // namespace

void bind_bootstrap(py::module_& parent) {
  py::module_ m = parent.def_submodule("bootstrap", "What a self-managed cluster boots from.");
  bind_classes(m);
  bind_functions(m);
}

}  // namespace hcpnet::python
