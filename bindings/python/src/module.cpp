// SPDX-License-Identifier: Apache-2.0
#include "bind.hpp"
#include "errors.hpp"

// A class must be known before a signature that mentions it, or the docstring shows its C++ name: so errors first, then
// the order in which the modules of the library build on each other.
PYBIND11_MODULE(_core, m) {
  using namespace hcpnet::python;
  m.doc() = "The engine of hcpnet. Use the names in `hcpnet` and its modules instead.";
  m.attr("__version__") = HCPNET_PYTHON_VERSION;
  bind_diagnostic(m);
  bind_errors(m);
  bind_net(m);
  bind_tls(m);
  bind_text(m);
  bind_spec(m);
  bind_proxy(m);
  bind_dhcp(m);
  bind_dhcp6(m);
  bind_dhcp_leases(m);
  bind_dns(m);
  bind_manifest(m);
  bind_reconcile(m);
  bind_pki(m);
  bind_bootstrap(m);
  bind_lint(m);
  bind_stack(m);
}
