// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>

/// One function per area; each adds the names of its C++ namespace to the Python module of the same name.
namespace hcpnet::python {

void bind_diagnostic(pybind11::module_& m);
void bind_net(pybind11::module_& m);
void bind_tls(pybind11::module_& m);
void bind_text(pybind11::module_& m);
void bind_spec(pybind11::module_& m);
void bind_proxy(pybind11::module_& m);
void bind_backend(pybind11::module_& m);                            ///< adds to the module `proxy` itself
void bind_routes(pybind11::module_& parent, pybind11::module_& m);  ///< adds to the module `proxy` itself, and above
void bind_connection_head(pybind11::module_& m);                    ///< likewise
void bind_engine(pybind11::module_& m);                             ///< likewise
void bind_dhcp(pybind11::module_& m);
void bind_dhcp6(pybind11::module_& m);
void bind_dhcp_leases(pybind11::module_& m);  ///< adds to the module `dhcp`
void bind_dns(pybind11::module_& m);
void bind_dns_render(pybind11::module_& m);  ///< adds to the module `dns` itself
void bind_manifest(pybind11::module_& m);
void bind_udn(pybind11::module_& m);  ///< adds to the module `manifest` itself
void bind_reconcile(pybind11::module_& m);
void bind_pki(pybind11::module_& m);
void bind_bootstrap(pybind11::module_& m);
void bind_lint(pybind11::module_& m);
void bind_stack(pybind11::module_& m);

}  // namespace hcpnet::python
