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
  m.def(
      "parse_client_hello",
      [](const py::object& data) { return tls::parse_client_hello(Buffer(data).bytes()).value(); }, py::arg("data"),
      R"doc(Read the ClientHello at the start of a TLS connection.

Args:
    data (bytes | bytearray | memoryview): every byte received so far, contiguous; copied, so it may change afterwards.
Returns:
    ClientHello: server name, kind of host, ALPN, bytes consumed.
Raises:
    WireError: ``code`` is "need_more", "not_tls", "malformed" or "too_large".
    BufferError: the memory is not contiguous.
Spec:
    RFC 8446 section 4.1.2; RFC 6066 section 3.)doc");
}

}  // namespace hcpnet::python
