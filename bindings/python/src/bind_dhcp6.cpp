// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <hcpnet/dhcp6/lease.hpp>

#include "bind.hpp"
#include "casters.hpp"
#include "text.hpp"
#include "utc.hpp"

namespace py = pybind11;

namespace hcpnet::python {

void bind_dhcp6(py::module_& parent) {
  using namespace dhcp6;
  py::module_ m = parent.def_submodule("dhcp6", "Leases of DHCPv6.");
  py::class_<Lease>(m, "Lease", "A binding of an IPv6 address and how long it lasts, as synced to disk.")
      .def_property_readonly(
          "address", [](const Lease& l) { return IpAddress(l.address); }, "IPv6Address.")
      .def_property_readonly(
          "duid", [](const Lease& l) { return l.client.duid.to_string(); }, "str: of the client; lower case, colons.")
      .def_property_readonly(
          "iaid", [](const Lease& l) { return l.client.iaid; }, "int: of its identity association.")
      .def_property_readonly(
          "mac", [](const Lease& l) { return l.client.mac; }, "str | None: of its interface, as far as it is known.")
      .def_property_readonly(
          "host_name", [](const Lease& l) { return peer_text(l.host_name); }, "str: empty when unknown.")
      .def_readonly("subnet", &Lease::subnet, "str: the Infra or DHCPServer, \"namespace/name\".")
      .def_readonly("state", &Lease::state, "dhcp.LeaseState.")
      .def_property_readonly(
          "started", [](const Lease& l) { return utc(l.started); }, "datetime.datetime: UTC.")
      .def_property_readonly("expires", [](const Lease& l) { return utc(l.expires); }, "datetime.datetime: UTC.");
  py::class_<LeaseEvent>(m, "LeaseEvent", "A change of a lease, after it is on disk.")
      .def_readonly("kind", &LeaseEvent::kind, "dhcp.LeaseEventKind.")
      .def_readonly("lease", &LeaseEvent::lease, "Lease: after the change.");
}

}  // namespace hcpnet::python
