// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/pki/file_set.hpp>
#include <hcpnet/pki/plan.hpp>
#include <hcpnet/spec/validate.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::bootstrap {

/// A part of the way from a spec to a cluster: what it needs, what there is afterwards, and what tells that it worked.
struct Stage {
  std::string name;                ///< "04-release"; numbers are those that walk-throughs have for these steps
  std::string title;               ///< one sentence
  std::vector<std::string> needs;  ///< artefacts: of other stages, or of kStageInputs
  std::vector<std::string> makes;
  std::string run, verify;  ///< shell, as the bodies of two functions
};
/// What no stage makes.
inline constexpr std::array<std::string_view, 5> kStageInputs{"spec", "pull secret", "release image",
                                                              "image references", "live ISO"};

/// In an order in which each finds what it needs. Pure. Thread-safe.
[[nodiscard]] std::vector<Stage> make_stages(const spec::ValidBootstrapCluster& cluster, const pki::PkiPlan& plan);

/// "NAME.sh" for each, and common.sh. A script prints its commands; with the word `run` it runs them and verifies, with
/// `verify` it only verifies.
[[nodiscard]] std::vector<pki::OutputFile> render_stages(const spec::ValidBootstrapCluster& cluster,
                                                         const pki::PkiPlan& plan);

enum class GraphFormat : std::uint8_t { dot, mermaid };
inline constexpr std::array kGraphFormats{GraphFormat::dot, GraphFormat::mermaid};
[[nodiscard]] std::string_view to_string(GraphFormat format) noexcept;
[[nodiscard]] std::optional<GraphFormat> parse_graph_format(std::string_view text) noexcept;

/// Stages and artefacts, an arrow from each to what needs it: for Graphviz, or as a Mermaid flowchart.
[[nodiscard]] std::string render_graph(const std::vector<Stage>& stages, GraphFormat format);

}  // namespace hcpnet::bootstrap
