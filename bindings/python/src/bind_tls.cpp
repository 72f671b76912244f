// SPDX-License-Identifier: Apache-2.0
#include <pybind11/native_enum.h>

#include <hcpnet/tls/client_hello.hpp>

#include "bind.hpp"
#include "buffer.hpp"
#include "text.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

py::object server_name(const tls::ClientHello& hello) {
  if (!hello.server_name) return py::none();
  return peer_text(*hello.server_name);
}

py::list alpn(const tls::ClientHello& hello) {
  py::list protocols;
  for (const std::string& protocol : hello.alpn) protocols.append(raw_bytes(protocol));
  return protocols;
}

}  // namespace

void bind_tls(py::module_& parent) {
  py::module_ m = parent.def_submodule("tls", "TLS ClientHello inspection.");
  py::native_enum<tls::HostKind>(m, "HostKind", "enum.Enum",
                                 "What a server name is. Only a dns_name is routed by name.")
      .value("dns_name", tls::HostKind::dns_name)
      .value("ip_address", tls::HostKind::ip_address)
      .value("unusable", tls::HostKind::unusable)
      .finalize();
  py::class_<tls::ClientHello>(m, "ClientHello", "What routing needs from a ClientHello.")
      .def_property_readonly(
          "server_name", &server_name,
          "str | None: as sent, other bytes than UTF-8 as surrogates (PEP 383); None when the extension is absent.")
      .def_readonly("host_kind", &tls::ClientHello::host_kind, "HostKind: what server_name is.")
      .def_property_readonly("alpn", &alpn, "list[bytes]: protocols in the client's order (RFC 7301).")
      .def_readonly("consumed_bytes", &tls::ClientHello::consumed_bytes, "int: record headers included.");
  py::class_<tls::ClientHelloReader>(
      m, "ClientHelloReader",
      "Reads the ClientHello at the start of a TLS connection while its bytes arrive. One thread at a time.")
      .def(py::init([](std::size_t max_bytes, std::size_t max_alpn_protocols) {
             return tls::ClientHelloReader({max_bytes, max_alpn_protocols});
           }),
           py::kw_only(), py::arg("max_bytes") = tls::ClientHelloLimits{}.max_bytes,
           py::arg("max_alpn_protocols") = tls::ClientHelloLimits{}.max_alpn_protocols, R"doc(Begin.

Args:
    max_bytes (int): record headers included; above 32768 it counts as that.
    max_alpn_protocols (int): known clients offer two or three.)doc")
      .def(
          "read",
          [](tls::ClientHelloReader& reader, const py::object& data) {
            return reader.read(Buffer(data).bytes()).value();
          },
          py::arg("data"), R"doc(Go on where the call before ended: the work over all calls is linear in the bytes.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, beginning with those of the call before.
Returns:
    ClientHello: server name, kind of host, ALPN, bytes consumed.
Raises:
    WireError: as parse_client_hello.
    BufferError: the memory is not contiguous.)doc");
  m.def(
      "classify_host", [](const py::str& name) { return tls::classify_host(peer_bytes(name)); }, py::arg("name"),
      R"doc(Say what a server name is.

Args:
    name (str): as in a ClientHello.
Returns:
    HostKind: only a dns_name is routed by name.)doc");
  m.def(
      "parse_client_hello",
      [](const py::object& data, std::size_t max_bytes, std::size_t max_alpn_protocols) {
        return tls::parse_client_hello(Buffer(data).bytes(), {max_bytes, max_alpn_protocols}).value();
      },
      py::arg("data"), py::kw_only(), py::arg("max_bytes") = tls::ClientHelloLimits{}.max_bytes,
      py::arg("max_alpn_protocols") = tls::ClientHelloLimits{}.max_alpn_protocols,
      R"doc(Read the ClientHello at the start of a TLS connection.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, contiguous; copied, so it may change afterwards.
    max_bytes (int): record headers included; above 32768 it counts as that.
    max_alpn_protocols (int): known clients offer two or three.
Returns:
    ClientHello: server name, kind of host, ALPN, bytes consumed.
Raises:
    WireError: ``code`` is "need_more", "not_tls", "malformed" or "too_large".
    BufferError: the memory is not contiguous.
Spec:
    RFC 8446 section 4.1.2; RFC 6066 section 3.)doc");
}

}  // namespace hcpnet::python
