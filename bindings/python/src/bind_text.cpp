// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <boost/throw_exception.hpp>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bind.hpp"
#include "interpreter_end.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using Json = nlohmann::json;

/// Python's json module decides what a value of JSON is, so that tuples and subclasses are what they always are.
Json to_json(const py::handle& value) {
  const py::object text = py::module_::import("json").attr("dumps")(value, py::arg("allow_nan") = false);
  try {
    return Json::parse(text.cast<std::string>());
  } catch (const Json::exception&) {
    throw py::value_error("text with half of a surrogate pair has no form in JSON");
  }
}
py::object to_python(const Json& value) {
  return py::module_::import("json").attr("loads")(value.dump());
}

std::optional<text::Release> to_release(const std::optional<std::string>& release) {
  if (!release) return std::nullopt;
  const auto parsed = text::parse_release(*release);
  if (!parsed) throw py::value_error("'" + *release + "' is no release such as 4.19");
  return parsed;
}

/// Without the GIL: a patch may take long.
template <class Function>
auto released(Function function) {
  const WithoutGil release;
  return function();
}

std::string render_yaml(const py::args& documents) {
  std::vector<Json> values;
  for (const py::handle& document : documents) values.push_back(to_json(document));
  return released([&] { return text::render_yaml_documents(values); });
}

py::object apply_json_patch(const py::object& document, const py::object& patch) {
  Json target = to_json(document);
  const Json operations = to_json(patch);
  return to_python(released([&] { return text::apply_json_patch(std::move(target), operations).value(); }));
}

py::object apply_merge_patch(const py::object& document, const py::object& patch) {
  Json target = to_json(document);
  const Json changes = to_json(patch);
  return to_python(released([&] { return text::apply_merge_patch(std::move(target), changes).value(); }));
}

text::HypershiftPatched apply_hypershift_patches(const py::object& vm_template, const std::vector<py::object>& patches,
                                                 const std::optional<std::string>& release) {
  const Json target = to_json(vm_template);
  const auto parsed = to_release(release);
  std::vector<Json> lists;
  for (const py::object& patch : patches) lists.push_back(to_json(patch));
  return released([&] { return text::apply_hypershift_patches(target, lists, parsed).value(); });
}

void bind_patches(py::module_& m) {
  m.def("apply_json_patch", &apply_json_patch, py::arg("document"), py::arg("patch"), R"doc(Apply a JSON Patch.

Args:
    document: any value of JSON; it is not changed.
    patch (list[dict]): the operations.
Returns:
    The patched document.
Raises:
    PatchError: nothing is applied when one operation fails.
    ValueError: an argument is no value of JSON.
Spec:
    RFC 6902.)doc");
  m.def("apply_merge_patch", &apply_merge_patch, py::arg("document"), py::arg("patch"), R"doc(Apply a merge patch.

Args:
    document: any value of JSON; it is not changed.
    patch: any value of JSON.
Returns:
    The patched document.
Raises:
    PatchError: a limit was passed.
Spec:
    RFC 7396.)doc");
  py::class_<text::HypershiftPatched>(m, "HypershiftPatched", "What HyperShift makes of a VM template.")
      .def_property_readonly(
          "patched", [](const text::HypershiftPatched& p) { return to_python(p.patched); },
          "dict: the template after the operations.")
      .def_property_readonly(
          "object", [](const text::HypershiftPatched& p) { return to_python(p.object); },
          "dict: the template that HyperShift goes on with.")
      .def_readonly("kept", &text::HypershiftPatched::kept,
                    "list[str]: pointers of what was removed and is in `object` all the same.");
  m.def("apply_hypershift_patches", &apply_hypershift_patches, py::arg("vm_template"), py::arg("patches"),
        py::kw_only(), py::arg("release") = py::none(),
        R"doc(Apply kubevirt-vm-jsonpatch annotations as HyperShift does.

Args:
    vm_template (dict): metadata and spec of a virtual machine.
    patches (list[list[dict]]): that of the HostedCluster, then that of the NodePool.
    release (str | None): OpenShift release such as "4.19"; None is the newest.
Returns:
    HypershiftPatched: the result before and after HyperShift's decoder.
Raises:
    PatchError: nothing is applied when one operation fails.)doc");
}

}  // namespace

void bind_text(py::module_& parent) {
  py::module_ m = parent.def_submodule("text", "YAML, JSON Patch and merge patch.");
  m.def("render_yaml", &render_yaml, R"doc(Write values of JSON as YAML that every reader gets back unchanged.

Args:
    *documents: any values of JSON, each one document.
Returns:
    str: the documents, "---" between them.
Raises:
    ValueError: a value that JSON lacks, or nesting beyond 512 levels.
Spec:
    YAML 1.2.2; YAML 1.1 types.)doc");
  bind_patches(m);
}

}  // namespace hcpnet::python
