// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/guest.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/manifest/published_names.hpp>
#include <hcpnet/stack/files.hpp>

#include "bind.hpp"
#include "build_options.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace manifest;

void bind_name_classes(py::module_& m) {
  py::class_<ServiceTarget>(m, "ServiceTarget", "A Service of a control plane.")
      .def_readonly("namespace", &ServiceTarget::namespace_, "str.")
      .def_readonly("service", &ServiceTarget::service, "str.")
      .def_readonly("port", &ServiceTarget::port, "int: of the Service.")
      .def("__str__", &ServiceTarget::to_string);
  py::class_<PublishedName>(m, "PublishedName", "A name under which clients reach a part of a hosted cluster.")
      .def_readonly("service", &PublishedName::service, "str: as in spec.services; \"Ingress\": the guest's router.")
      .def_readonly("strategy", &PublishedName::strategy,
                    "str: type of the publishing strategy; empty where it is left to the guest.")
      .def_readonly("host", &PublishedName::host,
                    "str: name, wildcard or address in lower case; empty: only the cluster will know.")
      .def_readonly("port", &PublishedName::port, "int: that clients connect to; 0: only the cluster will know.")
      .def_readonly("target", &PublishedName::target, "ServiceTarget | None: None for the guest's router.")
      .def_property_readonly(
          "source", [](const PublishedName& name) { return std::string(to_string(name.source)); },
          "str: \"spec\", \"router\", \"shortened\", \"observed\" or \"fixed\".")
      .def_readonly("needs_record", &PublishedName::needs_record, "bool: clients ask DNS for it.");
  py::class_<PortFallback>(m, "PortFallback", "What a connection without a server name, or with an unknown one, gets.")
      .def_readonly("port", &PortFallback::port, "int.")
      .def_readonly("target", &PortFallback::target, "ServiceTarget | None: None: it is closed.");
  py::class_<ClusterNames>(m, "ClusterNames", "The names of one hosted cluster.")
      .def_readonly("hosted_cluster", &ClusterNames::hosted_cluster, "str: \"namespace/name\".")
      .def_readonly("control_plane_namespace", &ClusterNames::control_plane_namespace, "str.")
      .def_readonly("names", &ClusterNames::names, "list[PublishedName].")
      .def_readonly("fallbacks", &ClusterNames::fallbacks, "list[PortFallback]: by port.");
  py::class_<PublishedNames>(m, "PublishedNames", "The names of the HostedClusters of a set.")
      .def_readonly("clusters", &PublishedNames::clusters, "list[ClusterNames]: in the order of the HostedClusters.")
      .def_property_readonly(
          "warnings", [](const PublishedNames& names) { return to_list(names.warnings); },
          "list[Diagnostic]: right and yet worth a look.");
  py::class_<PublishingStrategies>(m, "PublishingStrategies", "HostedClusters that are to be made.")
      .def_property_readonly(
          "hosted_clusters",
          [](const PublishingStrategies& made) {
            return py::module_::import("json").attr("loads")(nlohmann::json(made.hosted_clusters).dump());
          },
          "list[dict[str, object]]: name and spec.services alone; a merge patch for the rest.")
      .def_property_readonly(
          "warnings", [](const PublishingStrategies& made) { return to_list(made.warnings); },
          "list[Diagnostic]: right and yet worth a look.");
}

CheckedFiles check_for_names(const py::dict& texts, const py::dict& observed, const py::dict& record_files) {
  const SourceFiles files{to_sources(texts), to_sources(observed), {}, to_records(record_files)};
  const WithoutGil no_gil;
  return check_files(files, {}, spec::KindSet::names).value();
}

void bind_names(py::module_& m) {
  bind_name_classes(m);
  m.def(
      "make_published_names",
      [](const py::dict& texts, const py::dict& observed, const std::string& apps_domain,
         const py::dict& record_files) {
        const CheckedFiles checked = check_for_names(texts, observed, record_files);
        const WithoutGil no_gil;
        return make_published_names(checked.set, checked.observed, {apps_domain}).value();
      },
      py::arg("texts"), py::kw_only(), py::arg("observed") = py::dict(), py::arg("apps_domain") = "",
      py::arg("record_files") = py::dict(),
      R"doc(Say under which names HyperShift publishes the HostedClusters of a set.

Args:
    texts (dict[str, str]): one set, by the names that findings call them; HostedClusters among them.
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    apps_domain (str): what the management cluster's router serves; empty: as observed.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    PublishedNames: the names of each, with what serves them.
Raises:
    SpecError: the set is wrong, a name can't be known, or an Infra of the set doesn't serve one.
Spec:
    hypershift.openshift.io/v1beta1, HostedCluster.)doc");
  m.def(
      "make_publishing_strategies",
      [](const py::dict& texts, const py::dict& record_files) {
        const CheckedFiles checked = check_for_names(texts, py::dict(), record_files);
        const WithoutGil no_gil;
        return make_publishing_strategies(checked.set).value();
      },
      py::arg("texts"), py::kw_only(), py::arg("record_files") = py::dict(),
      R"doc(Make the spec.services of new HostedClusters, for the names that the Infras of a set serve.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    PublishingStrategies: one HostedCluster for each cluster.
Raises:
    SpecError: the set is wrong, or HyperShift can't publish under the names.
Spec:
    hypershift.openshift.io/v1beta1, HostedCluster.)doc");
}

}  // namespace

void bind_manifest(py::module_& parent) {
  py::module_ m = parent.def_submodule("manifest", "Kubernetes objects that run a set of specs.");
  m.def(
      "render",
      [](const py::dict& texts, const py::dict& observed, const std::string& deployment, const std::string& image,
         const std::string& coredns_image, const std::string& link, const std::vector<std::string>& without,
         const std::string& admission_version, const py::dict& record_files) {
        const BuildOptions options =
            to_build_options(deployment, image, coredns_image, link, without, admission_version);
        const SourceFiles files{to_sources(texts), to_sources(observed), {}, to_records(record_files)};
        std::string text;
        {
          const WithoutGil no_gil;
          const auto checked = check_files(files, {}, spec::KindSet::names).value();
          text = nlohmann::json(build(checked.set, checked.observed, options).value().objects).dump();
        }
        return py::module_::import("json").attr("loads")(text);
      },
      py::arg("texts"), py::kw_only(), py::arg("observed") = py::dict(), py::arg("deployment") = "one",
      py::arg("image") = "", py::arg("coredns_image") = "", py::arg("link") = "",
      py::arg("without") = std::vector<std::string>{}, py::arg("admission_version") = "v1",
      py::arg("record_files") = py::dict(),
      R"doc(Make the Kubernetes objects that run a set.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    deployment (str): "one", "split" or "coredns-envoy".
    image (str): of hcpnet; empty: "hcpnet:" and the version.
    coredns_image (str): of CoreDNS; empty: a released one.
    link (str): makes the network attachments too, such as "bridge:br-vlan7,vlan=7"; empty: they exist.
    without (list[str]): kinds to leave out: "MultiNetworkPolicy", "MutatingAdmissionPolicy",
        "SecurityContextConstraints", "ServiceMonitor".
    admission_version (str): of admissionregistration.k8s.io with MutatingAdmissionPolicy: "v1", "v1beta1", "v1alpha1".
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    list[dict[str, object]]: the objects, in the order in which they can be applied.
Raises:
    SpecError: the set is wrong, or can't be deployed so.
    ValueError: no such deployment, link, kind or version.)doc");
  m.def(
      "render_guest",
      [](const py::dict& texts, const std::string& hosted_cluster, const std::string& metallb_namespace,
         const py::dict& record_files) {
        const SourceFiles files{to_sources(texts), {}, {}, to_records(record_files)};
        std::string text;
        {
          const WithoutGil no_gil;
          const auto checked = check_files(files, {}, spec::KindSet::names).value();
          text = nlohmann::json(build_guest(checked.set, hosted_cluster, {metallb_namespace}).value().objects).dump();
        }
        return py::module_::import("json").attr("loads")(text);
      },
      py::arg("texts"), py::arg("hosted_cluster"), py::kw_only(),
      py::arg("metallb_namespace") = GuestOptions{}.metallb_namespace, py::arg("record_files") = py::dict(),
      R"doc(Make the Kubernetes objects that belong inside of a hosted cluster with appsIngress.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    hosted_cluster (str): "namespace/name".
    metallb_namespace (str): where the MetalLB operator looks for its objects.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    list[dict[str, object]]: the objects, in the order in which they can be applied.
Raises:
    SpecError: the set is wrong, or asks for no appsIngress of that cluster.)doc");
  m.def(
      "cut_name",
      [](const std::string& base, const std::string& suffix, std::size_t limit) {
        if (limit > kMaxNameBytes || limit < suffix.size() + kNameHashDigits + 2)
          throw py::value_error("the limit leaves no room for a name, or is more than 253");
        return cut_name(base, suffix, limit);
      },
      py::arg("base"), py::arg("suffix") = "", py::arg("limit") = kMaxLabelBytes,
      R"doc(Fit a name and its suffix into a limit; a cut one carries a hash of the whole.

Args:
    base (str): the name.
    suffix (str): what always stands at the end.
    limit (int): bytes, at most 253.
Returns:
    str: the name with its suffix.
Raises:
    ValueError: the limit leaves no room.)doc");
  bind_names(m);
  bind_udn(m);
}

}  // namespace hcpnet::python
