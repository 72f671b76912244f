// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <chrono>
#include <hcpnet/reconcile/object_write.hpp>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/stack/files.hpp>
#include <nlohmann/json.hpp>

#include "bind.hpp"
#include "build_options.hpp"
#include "durations.hpp"
#include "errors.hpp"
#include "interpreter_end.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace reconcile;

py::object to_python(const nlohmann::json& value) {
  return py::module_::import("json").attr("loads")(value.dump());
}

nlohmann::json to_json(const py::handle& value) {
  return nlohmann::json::parse(
      py::module_::import("json").attr("dumps")(value, py::arg("allow_nan") = false).cast<std::string>());
}

Verb to_verb(const std::string& text) {
  for (const Verb verb : {Verb::get, Verb::create, Verb::update})
    if (to_string(verb) == text) return verb;
  throw py::value_error("'" + text + "' is not a verb: get, create or update");
}

const char* name_of(WriteStep::Kind kind) {
  switch (kind) {
    case WriteStep::Kind::send:
      return "send";
    case WriteStep::Kind::requeue:
      return "requeue";
    case WriteStep::Kind::refused:
      return "refused";
    case WriteStep::Kind::done:
      break;
  }
  return "done";
}

void bind_object_write(py::module_& m) {
  py::class_<WriteStep>(m, "WriteStep", "What follows an answer.")
      .def_property_readonly(
          "kind", [](const WriteStep& step) { return name_of(step.kind); },
          "str: \"done\", \"send\", \"requeue\" or \"refused\".")
      .def_property_readonly(
          "verb", [](const WriteStep& step) { return std::string(to_string(step.verb)); },
          "str: \"get\", \"create\" or \"update\": what to send, or to begin again with.")
      .def_property_readonly("delay", [](const WriteStep& step) { return step.delay; }, "timedelta: to wait before.");
  py::class_<ObjectWrite>(m, "ObjectWrite", "One object on its way to an API server that others write to as well.")
      .def(py::init([](const std::string& first, std::size_t max_conflicts, std::chrono::milliseconds first_delay,
                       std::chrono::milliseconds max_delay) {
             return ObjectWrite(to_verb(first), {max_conflicts, first_delay, max_delay});
           }),
           py::arg("first"), py::kw_only(), py::arg("max_conflicts") = WriteLimits{}.max_conflicts,
           py::arg("first_delay") = WriteLimits{}.first_delay, py::arg("max_delay") = WriteLimits{}.max_delay,
           R"doc(Begin to write one object.

Args:
    first (str): "create" or "update", or "get" where it is not known whether the object is there.
    max_conflicts (int): of one attempt; then other objects come first.
    first_delay (timedelta): after the first conflict or failure; it doubles with each one in a row.
    max_delay (timedelta): the longest one; an API server may ask for more.
Raises:
    ValueError: no such verb.)doc")
      .def_property_readonly(
          "verb", [](const ObjectWrite& write) { return std::string(to_string(write.verb())); },
          "str: what is to be sent, or was sent last.")
      .def(
          "on_answer",
          [](ObjectWrite& write, unsigned status, double chance, const std::string& reason,
             std::optional<std::chrono::seconds> retry_after) {
            return write.on_answer({status, reason, retry_after}, chance);
          },
          py::arg("status"), py::arg("chance"), py::kw_only(), py::arg("reason") = "",
          py::arg("retry_after") = py::none(),
          R"doc(Say what follows an answer of the API server.

Args:
    status (int): of HTTP; 0: no answer came.
    chance (float): from 0 to 1, another one each time: delays are spread by it.
    reason (str): of the Status object: "Conflict", "AlreadyExists".
    retry_after (timedelta | None): header Retry-After, whole seconds.
Returns:
    WriteStep: what to do next.)doc");
  m.def(
      "overlay",
      [](const py::object& observed, const py::object& desired) {
        return to_python(overlay(to_json(observed), to_json(desired)));
      },
      py::arg("observed"), py::arg("desired"),
      R"doc(Put every field of a wanted object over the observed one, for an update.

Args:
    observed (dict[str, object]): as the API server has it.
    desired (dict[str, object]): what is wanted of it.
Returns:
    dict[str, object]: to be sent; what others have added stays, and so does resourceVersion.)doc");
}

}  // namespace

void bind_reconcile(py::module_& parent) {
  py::module_ m = parent.def_submodule("reconcile", "What brings a cluster to what a set asks for.");
  py::class_<Action>(m, "Action", "One thing to do.")
      .def_property_readonly(
          "kind", [](const Action& action) { return std::string(to_string(action.kind)); },
          "str: \"create\", \"update\", \"patch\" or \"delete\".")
      .def_property_readonly(
          "object", [](const Action& action) { return to_python(action.object); },
          "dict[str, object]: the object; to patch or delete, what identifies it.")
      .def_property_readonly(
          "patch", [](const Action& action) { return to_python(action.patch); },
          "list[dict[str, object]] | None: a JSON Patch, for \"patch\".")
      .def_readonly("reason", &Action::reason, "str.");
  py::class_<Held>(m, "Held", "Something that is not done.")
      .def_property_readonly(
          "object", [](const Held& held) { return to_python(held.object); }, "dict[str, object]: what identifies it.")
      .def_readonly("reason", &Held::reason, "str: as in a condition: \"ImmutableField\", \"NotFound\".")
      .def_readonly("field", &Held::field, "str: JSON pointer; empty: the whole object.")
      .def_readonly("message", &Held::message, "str.");
  py::class_<Plan>(m, "Plan", "Everything that has to be done.")
      .def_readonly("actions", &Plan::actions, "list[Action]: in the order in which they can be done.")
      .def_readonly("held", &Plan::held, "list[Held].")
      .def_property_readonly(
          "warnings", [](const Plan& plan) { return to_list(plan.warnings); },
          "list[Diagnostic]: right and yet worth a look.");
  bind_object_write(m);
  m.def(
      "make_plan",
      [](const py::dict& texts, const py::dict& observed, bool may_recreate, const std::string& deployment,
         const std::string& image, const std::string& coredns_image, const std::string& link,
         const std::vector<std::string>& without, const std::string& admission_version, const py::dict& record_files) {
        const PlanOptions options{to_build_options(deployment, image, coredns_image, link, without, admission_version),
                                  may_recreate};
        const SourceFiles files{to_sources(texts), to_sources(observed), {}, to_records(record_files)};
        const WithoutGil no_gil;
        const auto checked = check_files(files, {}, spec::KindSet::names).value();
        const auto objects = load_cluster_objects(files.observed).value();
        return make_plan(checked.set, checked.observed, objects, options).value();
      },
      py::arg("texts"), py::kw_only(), py::arg("observed") = py::dict(), py::arg("may_recreate") = false,
      py::arg("deployment") = "one", py::arg("image") = "", py::arg("coredns_image") = "", py::arg("link") = "",
      py::arg("without") = std::vector<std::string>{}, py::arg("admission_version") = "v1",
      py::arg("record_files") = py::dict(),
      R"doc(Say what brings a cluster to what a set asks for. Nothing is sent.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    observed (dict[str, str]): objects as read from a cluster, in the same form: all that it has of the kinds that matter.
    may_recreate (bool): make objects without state anew where a field can't be changed.
    deployment (str): "one", "split" or "coredns-envoy".
    image (str): of hcpnet; empty: "hcpnet:" and the version.
    coredns_image (str): of CoreDNS; empty: a released one.
    link (str): makes the network attachments too, such as "bridge:br-vlan7,vlan=7"; empty: they exist.
    without (list[str]): kinds to leave out, as for manifest.render().
    admission_version (str): of admissionregistration.k8s.io with MutatingAdmissionPolicy: "v1", "v1beta1", "v1alpha1".
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    Plan: actions in order, and what is held.
Raises:
    SpecError: the set is wrong, or can't be deployed so.
    ValueError: no such deployment, link, kind or version.)doc");
  m.def(
      "make_guest_plan",
      [](const py::dict& texts, const std::string& hosted_cluster, const py::dict& observed,
         const py::dict& guest_observed, bool may_recreate, const std::string& coredns_image,
         const py::dict& record_files) {
        PlanOptions options;
        options.may_recreate = may_recreate;
        if (!coredns_image.empty()) options.build.coredns_image = coredns_image;
        const SourceFiles files{to_sources(texts), to_sources(observed), {}, to_records(record_files)};
        const std::vector<spec::SourceText> guest = to_sources(guest_observed);
        const WithoutGil no_gil;
        const auto checked = check_files(files, {}, spec::KindSet::names).value();
        return make_guest_plan(checked.set, checked.observed, load_cluster_objects(files.observed).value(),
                               load_cluster_objects(guest).value(), hosted_cluster, options)
            .value();
      },
      py::arg("texts"), py::arg("hosted_cluster"), py::kw_only(), py::arg("observed") = py::dict(),
      py::arg("guest_observed") = py::dict(), py::arg("may_recreate") = false, py::arg("coredns_image") = "",
      py::arg("record_files") = py::dict(),
      R"doc(Say what makes names inside of a hosted cluster on a primary network lead to where they are served.

Args:
    texts (dict[str, str]): one set, by the names that findings call them; PrimaryUDN and HostedCluster among them.
    hosted_cluster (str): "namespace/name".
    observed (dict[str, str]): objects of the management cluster, in the same form.
    guest_observed (dict[str, str]): objects of the hosted cluster.
    may_recreate (bool): make objects without state anew where a field can't be changed.
    coredns_image (str): of CoreDNS; empty: a released one.
    record_files (dict[str, str]): zone files and hosts files that the set names, by path as it is opened.
Returns:
    Plan: actions in order, and what is held; complete when a later one is empty.
Raises:
    SpecError: the set is wrong, or no PrimaryUDN is for that hosted cluster.)doc");
}

}  // namespace hcpnet::python
