// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/net.hpp>

#include "bind.hpp"
#include "casters.hpp"

namespace py = pybind11;

namespace hcpnet::python {

void bind_net(py::module_& m) {
  py::class_<Endpoint>(m, "Endpoint", "An address and a port of a transport protocol.")
      .def(py::init([](const IpAddress& address, std::uint16_t port) { return Endpoint{address, port}; }),
           py::arg("address"), py::arg("port"), R"doc(Make an endpoint.

Args:
    address (str | IPv4Address | IPv6Address): without zone.
    port (int): 0 to 65535; 0 lets the system choose where that is allowed.
Raises:
    ValueError: the text is no address.)doc")
      .def_readonly("address", &Endpoint::address, "IPv4Address | IPv6Address.")
      .def_readonly("port", &Endpoint::port, "int: 0 to 65535.")
      .def("__str__", &Endpoint::to_string)
      .def(
          "__repr__",
          [](const Endpoint& e) { return "Endpoint('" + e.address.to_string() + "', " + std::to_string(e.port) + ")"; })
      .def("__hash__", [](const Endpoint& e) { return py::hash(py::make_tuple(e.address, e.port)); })
      .def("__eq__", [](const Endpoint& a, const Endpoint& b) { return a == b; }, py::is_operator());
}

}  // namespace hcpnet::python
