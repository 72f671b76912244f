// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>

#include <hcpnet/proxy/http_host.hpp>
#include <hcpnet/proxy/proxy_header.hpp>
#include <string>
#include <vector>

#include "bind.hpp"
#include "buffer.hpp"
#include "casters.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace proxy;

py::object addresses_of(const ProxyHeader& header) {
  return header.addresses ? py::cast(*header.addresses) : py::object(py::none());
}

py::object name_of(const HttpHost& host) {
  return host.name ? py::object(peer_text(*host.name)) : py::object(py::none());
}

py::bytes encode(ProxyHeaderVersion version, const ProxyHeader::Addresses& addresses) {
  const std::vector<std::uint8_t> header = encode_proxy_header(version, addresses);
  return {reinterpret_cast<const char*>(header.data()), header.size()};
}

void bind_proxy_header(py::module_& m) {
  py::native_enum<ProxyHeaderVersion>(m, "ProxyHeaderVersion", "enum.Enum",
                                      "Which header of the PROXY protocol tells a backend who its client is.")
      .value("none", ProxyHeaderVersion::none)
      .value("v1", ProxyHeaderVersion::v1)
      .value("v2", ProxyHeaderVersion::v2)
      .finalize();
  py::class_<ProxyHeader> header(m, "ProxyHeader", "A header in front of a connection that says who the client is.");
  py::class_<ProxyHeader::Addresses>(header, "Addresses", "Both ends of the connection that a client made.")
      .def(py::init([](const Endpoint& source, const Endpoint& destination) {
             return ProxyHeader::Addresses{source, destination};
           }),
           py::arg("source"), py::arg("destination"), R"doc(Say who made a connection, and to where.

Args:
    source (Endpoint): the client.
    destination (Endpoint): where it connected to.)doc")
      .def_readonly("source", &ProxyHeader::Addresses::source, "Endpoint: the client.")
      .def_readonly("destination", &ProxyHeader::Addresses::destination, "Endpoint: where it connected to.")
      .def("__hash__",
           [](const ProxyHeader::Addresses& a) { return py::hash(py::make_tuple(a.source, a.destination)); })
      .def(
          "__eq__", [](const ProxyHeader::Addresses& a, const ProxyHeader::Addresses& b) { return a == b; },
          py::is_operator());
  header
      .def_property_readonly("addresses", &addresses_of,
                             "ProxyHeader.Addresses | None: None: the sender speaks for itself, or does not say.")
      .def_readonly("consumed_bytes", &ProxyHeader::consumed_bytes,
                    "int: of the header; what follows belongs to the connection.");
  m.def(
      "parse_proxy_header", [](const py::object& data) { return parse_proxy_header(Buffer(data).bytes()).value(); },
      py::arg("data"), R"doc(Read a header of the PROXY protocol, of version 1 or 2, at the start of a connection.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, contiguous.
Returns:
    ProxyHeader: who the client is, bytes consumed.
Raises:
    WireError: ``code`` is "need_more", "other_protocol", "malformed" or "too_large".
    BufferError: the memory is not contiguous.
Spec:
    https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt)doc");
  m.def("encode_proxy_header", &encode, py::arg("version"), py::arg("addresses"),
        R"doc(Write a header of the PROXY protocol for a TCP connection.

Args:
    version (ProxyHeaderVersion): with none the header is empty.
    addresses (ProxyHeader.Addresses): where the families differ, the IPv4 address is written as an IPv4-mapped one.
Returns:
    bytes: to be sent first.)doc");
}

void bind_http_host(py::module_& m) {
  py::class_<HttpHost>(m, "HttpHost", "What routing needs from the first request of a connection.")
      .def_property_readonly("name", &name_of,
                             "str | None: without port and brackets, otherwise as sent, other bytes than UTF-8 as "
                             "surrogates (PEP 383); None when the request names no host.");
  py::class_<HttpHostReader>(
      m, "HttpHostReader",
      "Reads the head of the first HTTP/1 request of a connection while its bytes arrive. One thread at a time.")
      .def(py::init(
               [](std::size_t max_bytes, std::size_t max_fields) { return HttpHostReader({max_bytes, max_fields}); }),
           py::kw_only(), py::arg("max_bytes") = HttpHostLimits{}.max_bytes,
           py::arg("max_fields") = HttpHostLimits{}.max_fields, R"doc(Begin.

Args:
    max_bytes (int): request line and header fields together.
    max_fields (int): header fields.)doc")
      .def(
          "read",
          [](HttpHostReader& reader, const py::object& data) { return reader.read(Buffer(data).bytes()).value(); },
          py::arg("data"), R"doc(Go on where the call before ended: the work over all calls is linear in the bytes.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, beginning with those of the call before.
Returns:
    HttpHost: the host of the request target where it has one, otherwise of the Host field.
Raises:
    WireError: as parse_http_host.
    BufferError: the memory is not contiguous.)doc");
  m.def(
      "parse_http_host",
      [](const py::object& data, std::size_t max_bytes, std::size_t max_fields) {
        return parse_http_host(Buffer(data).bytes(), {max_bytes, max_fields}).value();
      },
      py::arg("data"), py::kw_only(), py::arg("max_bytes") = HttpHostLimits{}.max_bytes,
      py::arg("max_fields") = HttpHostLimits{}.max_fields,
      R"doc(Read the host of the first HTTP/1 request of a connection.

Stricter than it must be, because a server behind may understand a doubtful request otherwise: two Host fields, a folded
line or a line that ends without CR are malformed.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, contiguous.
    max_bytes (int): request line and header fields together.
    max_fields (int): header fields.
Returns:
    HttpHost: the host of the request target where it has one, otherwise of the Host field.
Raises:
    WireError: ``code`` is "need_more", "other_protocol", "malformed" or "too_large".
    BufferError: the memory is not contiguous.
Spec:
    RFC 9112 sections 2 to 5.)doc");
}

}  // namespace

void bind_connection_head(py::module_& m) {
  bind_proxy_header(m);
  bind_http_host(m);
}

}  // namespace hcpnet::python
