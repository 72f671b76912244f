// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <hcpnet/manifest/build.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hcpnet::python {

/// What render() and make_plan() take alike. Throws ValueError.
inline manifest::BuildOptions to_build_options(const std::string& deployment, const std::string& image,
                                               const std::string& coredns_image, const std::string& link,
                                               const std::vector<std::string>& without,
                                               const std::string& admission_version) {
  using pybind11::value_error;
  manifest::BuildOptions options;
  const auto form = manifest::parse_deployment(deployment);
  if (!form) throw value_error("'" + deployment + "' is not a deployment");
  options.deployment = *form;
  options.image = image;
  if (!coredns_image.empty()) options.coredns_image = coredns_image;
  if (!link.empty()) {
    auto parsed = manifest::parse_link(link);
    if (!parsed) throw value_error("'" + link + "' " + parsed.error());
    options.link = std::move(*parsed);
  }
  for (const std::string& kind : without) {
    if (std::ranges::find(manifest::kOptionalKinds, kind) == manifest::kOptionalKinds.end())
      throw value_error("'" + kind + "' can't be left out");
    options.without.insert(kind);
  }
  if (std::ranges::find(manifest::kAdmissionVersions, admission_version) == manifest::kAdmissionVersions.end())
    throw value_error("'" + admission_version +
                      "' is not a version of admissionregistration.k8s.io that is known here");
  options.admission_version = admission_version;
  return options;
}

}  // namespace hcpnet::python
