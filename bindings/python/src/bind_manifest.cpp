// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <algorithm>

#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/names.hpp>
#include <hcpnet/stack/files.hpp>

#include "bind.hpp"
#include "interpreter_end.hpp"
#include "sources.hpp"

namespace py = pybind11;

namespace hcpnet::python {
namespace {

using namespace manifest;

BuildOptions to_options(const std::string& deployment, const std::string& image, const std::string& coredns_image,
                        const std::string& link, const std::vector<std::string>& without) {
  BuildOptions options;
  const auto form = parse_deployment(deployment);
  if (!form) throw py::value_error("'" + deployment + "' is not a deployment");
  options.deployment = *form;
  options.image = image;
  if (!coredns_image.empty()) options.coredns_image = coredns_image;
  if (!link.empty()) {
    auto parsed = parse_link(link);
    if (!parsed) throw py::value_error("'" + link + "' " + parsed.error());
    options.link = std::move(*parsed);
  }
  for (const std::string& kind : without) {
    if (std::ranges::find(kOptionalKinds, kind) == kOptionalKinds.end())
      throw py::value_error("'" + kind + "' can't be left out");
    options.without.insert(kind);
  }
  return options;
}

}  // namespace

void bind_manifest(py::module_& parent) {
  py::module_ m = parent.def_submodule("manifest", "Kubernetes objects that run a set of specs.");
  m.def(
      "render",
      [](const py::dict& texts, const py::dict& observed, const std::string& deployment, const std::string& image,
         const std::string& coredns_image, const std::string& link, const std::vector<std::string>& without) {
        const BuildOptions options = to_options(deployment, image, coredns_image, link, without);
        const SourceFiles files{to_sources(texts), to_sources(observed), {}};
        std::string text;
        {
          const WithoutGil no_gil;
          const auto checked = check_files(files).value();
          text = nlohmann::json(build(checked.set, checked.observed, options).value().objects).dump();
        }
        return py::module_::import("json").attr("loads")(text);
      },
      py::arg("texts"), py::kw_only(), py::arg("observed") = py::dict(), py::arg("deployment") = "one",
      py::arg("image") = "", py::arg("coredns_image") = "", py::arg("link") = "",
      py::arg("without") = std::vector<std::string>{}, R"doc(Make the Kubernetes objects that run a set.

Args:
    texts (dict[str, str]): one set, by the names that findings call them.
    observed (dict[str, str]): objects as read from a cluster, in the same form.
    deployment (str): "one", "split" or "coredns-envoy".
    image (str): of hcpnet; empty: "hcpnet:" and the version.
    coredns_image (str): of CoreDNS; empty: a released one.
    link (str): makes the network attachments too, such as "bridge:br-vlan7,vlan=7"; empty: they exist.
    without (list[str]): kinds to leave out: "MultiNetworkPolicy", "SecurityContextConstraints", "ServiceMonitor".
Returns:
    list[dict[str, object]]: the objects, in the order in which they can be applied.
Raises:
    SpecError: the set is wrong, or can't be deployed so.
    ValueError: no such deployment, link or kind.)doc");
  m.def(
      "cut_name",
      [](const std::string& base, const std::string& suffix, std::size_t limit) {
        if (limit > kMaxNameBytes || limit < suffix.size() + kNameHashDigits + 2)
          throw py::value_error("the limit leaves no room for a name, or is more than 253");
        return cut_name(base, suffix, limit);
      },
      py::arg("base"), py::arg("suffix") = "", py::arg("limit") = kMaxLabelBytes,
      R"doc(Fit a name and its suffix into a limit; a cut one carries a hash of the whole.

Args:
    base (str): the name.
    suffix (str): what always stands at the end.
    limit (int): bytes, at most 253.
Returns:
    str: the name with its suffix.
Raises:
    ValueError: the limit leaves no room.)doc");
}

}  // namespace hcpnet::python
