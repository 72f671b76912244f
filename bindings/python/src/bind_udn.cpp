// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/manifest/udn_slices.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bind.hpp"
#include "casters.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace manifest;
using Json = nlohmann::json;

spec::UdnBinding to_binding(const std::string& text) {
  if (text == "L2Bridge") return spec::UdnBinding::l2bridge;
  if (text == "Passt") return spec::UdnBinding::passt;
  if (text == "PasstPlugin") return spec::UdnBinding::passt_plugin;
  throw py::value_error("'" + text + "' is not a binding: L2Bridge, Passt or PasstPlugin");
}

std::optional<text::Release> to_release(const std::optional<std::string>& text) {
  if (!text) return {};
  const auto release = text::parse_release(*text);
  if (!release) throw py::value_error("'" + *text + "' is not a release such as 4.19");
  return release;
}

Json to_json(const py::handle& value) {
  return Json::parse(
      py::module_::import("json").attr("dumps")(value, py::arg("allow_nan") = false).cast<std::string>());
}

}  // namespace

void bind_udn(py::module_& m) {
  py::class_<PrimaryAddresses>(m, "PrimaryAddresses", "Addresses on a primary network, one of each family at most.")
      .def_readonly("v4", &PrimaryAddresses::v4, "IPv4Address | None.")
      .def_property_readonly(
          "v6",
          [](const PrimaryAddresses& found) { return found.v6 ? std::optional<IpAddress>(*found.v6) : std::nullopt; },
          "IPv6Address | None.");
  py::class_<VmPatchCheck>(m, "VmPatchCheck", "What a JSON Patch makes of HyperShift's machine template.")
      .def_readonly("problem", &VmPatchCheck::problem, "str: a sentence; empty: the one binding is the wanted one.")
      .def_readonly("kept", &VmPatchCheck::kept, "list[str]: JSON pointers of what was to go and stays.");
  m.def(
      "hypershift_vm_patch",
      [](const std::string& binding) {
        return py::module_::import("json").attr("loads")(hypershift_vm_patch(to_binding(binding)).dump());
      },
      py::arg("binding") = "L2Bridge",
      R"doc(Make the JSON Patch that puts HyperShift's machines on a primary network.

Args:
    binding (str): "L2Bridge", "Passt" or "PasstPlugin".
Returns:
    list[dict[str, object]]: the value of the annotation hypershift.openshift.io/kubevirt-vm-jsonpatch, which is JSON.
Raises:
    ValueError: no such binding.
Spec:
    RFC 6902.)doc");
  m.def(
      "check_vm_patch",
      [](const py::object& patch, const std::string& binding, const std::vector<std::string>& additional_networks,
         const std::optional<std::string>& release) {
        return check_vm_patch(to_json(patch), to_binding(binding), additional_networks, to_release(release));
      },
      py::arg("patch"), py::arg("binding") = "L2Bridge", py::kw_only(),
      py::arg("additional_networks") = std::vector<std::string>{}, py::arg("release") = py::none(),
      R"doc(Apply a JSON Patch to HyperShift's machine template as HyperShift does, and look at the first interface.

Args:
    patch (list[dict[str, object]]): the operations.
    binding (str): "L2Bridge", "Passt" or "PasstPlugin": what the first interface has to have, and nothing else.
    additional_networks (list[str]): of the NodePool: "name" or "namespace/name".
    release (str | None): of HyperShift, such as "4.19"; None: the newest.
Returns:
    VmPatchCheck: what is wrong, and what HyperShift keeps.
Raises:
    ValueError: no such binding or release.)doc");
  m.def("ipam_claim_name", &ipam_claim_name, py::arg("machine"), py::arg("network") = "default",
        R"doc(Name the IPAMClaim of a machine as kubevirt/ipam-extensions does.

Args:
    machine (str): of the VirtualMachineInstance.
    network (str): logical name of the network in the machine.
Returns:
    str: at most 253 characters.)doc");
  m.def(
      "parse_pod_networks",
      [](const std::string& annotation) {
        auto parsed = parse_pod_networks(annotation);
        if (!parsed) throw py::value_error(parsed.error());
        return *parsed;
      },
      py::arg("annotation"), R"doc(Read a pod's addresses on its primary network.

Args:
    annotation (str): of the pod: k8s.ovn.org/pod-networks, JSON.
Returns:
    PrimaryAddresses: of the one entry with the role "primary".
Raises:
    ValueError: no JSON, no such entry, two of them, or one that contradicts itself.)doc");
  m.def(
      "first_internal_addresses",
      [](const py::object& addresses) { return first_internal_addresses(to_json(addresses)); }, py::arg("addresses"),
      R"doc(Choose the addresses of a Machine that others reach.

Args:
    addresses (list[dict[str, str]]): status.addresses of a Machine: "type" and "address".
Returns:
    PrimaryAddresses: the first InternalIP of each family that is not link-local.)doc");
}

}  // namespace hcpnet::python
