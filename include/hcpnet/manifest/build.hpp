// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/manifest/network.hpp>
#include <hcpnet/rendered_file.hpp>
#include <hcpnet/result.hpp>
#include <hcpnet/spec/observed.hpp>
#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// From a validated set to the Kubernetes objects that run it. Pure: the same input gives the same objects.
/// Every object, field and choice: docs/manifests.md.
namespace hcpnet::manifest {

enum class Deployment : std::uint8_t {
  one,            ///< one hcpnet process serves everything of a network
  split,          ///< a pod each for DHCP, DNS and proxy
  coredns_envoy,  ///< CoreDNS and Envoy from rendered configuration; hcpnet serves DHCP, for which they have nothing
};
inline constexpr std::array kDeployments{Deployment::one, Deployment::split, Deployment::coredns_envoy};
/// "one", "split", "coredns-envoy"
[[nodiscard]] std::string_view to_string(Deployment deployment) noexcept;
[[nodiscard]] std::optional<Deployment> parse_deployment(std::string_view text) noexcept;

/// Kinds that BuildOptions::without takes: their API is not served everywhere.
inline constexpr std::array<std::string_view, 4> kOptionalKinds{"MultiNetworkPolicy", "MutatingAdmissionPolicy",
                                                                "SecurityContextConstraints", "ServiceMonitor"};

/// Versions of admissionregistration.k8s.io that have MutatingAdmissionPolicy: v1 from Kubernetes 1.36 on, v1beta1 from
/// 1.34 and v1alpha1 from 1.32 on, both only where they are switched on.
inline constexpr std::array<std::string_view, 3> kAdmissionVersions{"v1", "v1beta1", "v1alpha1"};

/// What the values of a ConfigMap may have together (MaxSecretSize of k8s.io/api/core/v1): an API server refuses more.
inline constexpr std::size_t kMaxConfigMapBytes = 1024 * 1024;

struct BuildOptions {
  Deployment deployment = Deployment::one;
  std::string image;  ///< of hcpnet, where the spec names none; empty: "hcpnet:" and the version
  std::string coredns_image = "coredns/coredns:1.15.0";
  /// Makes the NetworkAttachmentDefinition too; without it the one that the spec names has to exist.
  std::optional<LinkOptions> link;
  std::set<std::string, std::less<>> without;  ///< of kOptionalKinds
  std::string admission_version = "v1";        ///< of kAdmissionVersions
};

struct Built {
  std::vector<nlohmann::json> objects;  ///< in the order in which they can be applied
  Diagnostics warnings;
};

/// Errors, by code: "attachment-missing", "prefix-unknown", "not-a-vlan", "object-collides", "patch-taken",
/// "config-too-large", and those of make_stack_config() and dns::render(). Throws std::bad_alloc only.
[[nodiscard]] Result<Built, Diagnostics> build(const spec::ValidSet& set, const spec::Observed& observed,
                                               const BuildOptions& options = {});

/// One file per object, "NN-kind-name.yaml", NN counting in the order of application, and a kustomization.yaml that
/// lists them.
[[nodiscard]] std::vector<RenderedFile> render_kustomize(const std::vector<nlohmann::json>& objects);
/// A `v1` List.
[[nodiscard]] nlohmann::json make_list(const std::vector<nlohmann::json>& objects);

}  // namespace hcpnet::manifest
