// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::spec {

inline constexpr std::size_t kMaxLabelBytes = 63;
inline constexpr std::size_t kMaxNameBytes = 253;

/// What hcpnet publishes below the domain of each cluster.
inline constexpr std::string_view kServiceLabels[] = {"api.",  "api-int.",  "oauth.",
                                                      "oidc.", "ignition.", "konnectivity."};
/// The names under which guests know the `kubernetes` Service, besides its address (HyperShift puts them into the API
/// server's certificate).
inline constexpr std::string_view kKubernetesNames[] = {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                                                        "kubernetes.default.svc.cluster.local"};

enum class HostForm { exact, wildcard_too, lower_domain };

/// What is wrong with a name, as a sentence; nullopt when nothing is.
[[nodiscard]] std::optional<std::string> label_problem(std::string_view text);
[[nodiscard]] std::optional<std::string> object_name_problem(std::string_view text);
[[nodiscard]] std::optional<std::string> host_name_problem(std::string_view text, HostForm form);
/// HyperShift takes fewer: two labels at least, the last of letters alone and of two at least.
[[nodiscard]] std::optional<std::string> published_host_problem(std::string_view text);

/// Of a label in Kubernetes, such as "app" or "example.com/app".
[[nodiscard]] std::optional<std::string> label_key_problem(std::string_view key);
[[nodiscard]] std::optional<std::string> label_value_problem(std::string_view value);

/// True when `name` equals `domain` or lies below it, label by label. Both in lower case.
[[nodiscard]] bool is_at_or_below(std::string_view name, std::string_view domain);

/// The one of `names` that `typed` was most likely meant to be: few edits away, case aside. Empty when none is near.
[[nodiscard]] std::string_view nearest(std::string_view typed, const std::vector<std::string_view>& names);

/// HyperShift's name of a control-plane namespace: "<namespace>-<name>", dots as dashes.
[[nodiscard]] std::string control_plane_namespace(std::string_view namespace_, std::string_view name);

}  // namespace hcpnet::spec
