// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/validate.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::bootstrap {

/// Component, as the release calls it ("etcd", "hyperkube", "pod"), to pull spec.
using Images = std::map<std::string, std::string, std::less<>>;

/// What /release-manifests/image-references of a release image says: an ImageStream, its name the release.
struct ImageReferences {
  std::string release;  ///< "4.18.0"; empty when the file does not say
  Images images;
};
/// Error: "bad-image-references".
[[nodiscard]] Result<ImageReferences, Diagnostics> parse_image_references(std::string_view file, std::string_view text);

/// Components whose images the files of this cluster name, sorted.
[[nodiscard]] std::vector<std::string> needed_components(const spec::ValidBootstrapCluster& cluster);

/// The images of the needed components: what the spec says goes before the references. One error for each that neither
/// names: "no-image"; and for each, or for the release image, that is no pull spec: "bad-image".
[[nodiscard]] Result<Images, Diagnostics> resolve_images(const spec::ValidBootstrapCluster& cluster,
                                                         const Images& references);

}  // namespace hcpnet::bootstrap
