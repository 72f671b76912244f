// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/bootstrap/stages.hpp>
#include <set>

namespace hcpnet::bootstrap {
namespace {

/// An identifier that both languages take.
std::string id_of(std::string_view prefix, std::string_view name) {
  std::string id(prefix);
  for (const char c : name) id += c == ' ' || c == '-' ? '_' : c;
  return id;
}
std::string stage_id(const Stage& stage) {
  return id_of("stage_", stage.name);
}
std::string artefact_id(std::string_view name) {
  return id_of("artefact_", name);
}

std::set<std::string, std::less<>> artefacts_of(const std::vector<Stage>& stages) {
  std::set<std::string, std::less<>> names;
  for (const Stage& stage : stages) {
    names.insert(stage.needs.begin(), stage.needs.end());
    names.insert(stage.makes.begin(), stage.makes.end());
  }
  return names;
}

bool is_input(std::string_view name) {
  return std::ranges::find(kStageInputs, name) != kStageInputs.end();
}

/// Each arrow as "FROM ARROW TO".
std::string arrows(const std::vector<Stage>& stages, std::string_view arrow, std::string_view end) {
  std::string text;
  const auto add = [&](const std::string& from, const std::string& to) {
    text += "  " + from + ' ' + std::string(arrow) + ' ' + to + std::string(end) + '\n';
  };
  for (const Stage& stage : stages) {
    for (const std::string& need : stage.needs) add(artefact_id(need), stage_id(stage));
    for (const std::string& made : stage.makes) add(stage_id(stage), artefact_id(made));
  }
  return text;
}

std::string dot(const std::vector<Stage>& stages) {
  std::string text = "digraph bootstrap {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n";
  for (const std::string& name : artefacts_of(stages))
    text +=
        "  " + artefact_id(name) + " [shape=" + (is_input(name) ? "folder" : "note") + ", label=\"" + name + "\"];\n";
  for (const Stage& stage : stages)
    text += "  " + stage_id(stage) + " [shape=box, style=rounded, label=\"" + stage.name + "\", tooltip=\"" +
            stage.title + "\"];\n";
  return text + arrows(stages, "->", ";") + "}\n";
}

std::string mermaid(const std::vector<Stage>& stages) {
  std::string text = "flowchart LR\n";
  for (const std::string& name : artefacts_of(stages))
    text +=
        "  " + artefact_id(name) + (is_input(name) ? "[(\"" : "[\"") + name + (is_input(name) ? "\")]" : "\"]") + '\n';
  for (const Stage& stage : stages) text += "  " + stage_id(stage) + "(\"" + stage.name + "\")\n";
  return text + arrows(stages, "-->", "");
}

}  // namespace

std::string_view to_string(GraphFormat format) noexcept {
  return format == GraphFormat::dot ? "dot" : "mermaid";
}
std::optional<GraphFormat> parse_graph_format(std::string_view text) noexcept {
  for (const GraphFormat format : kGraphFormats)
    if (to_string(format) == text) return format;
  return std::nullopt;
}

std::string render_graph(const std::vector<Stage>& stages, GraphFormat format) {
  return format == GraphFormat::dot ? dot(stages) : mermaid(stages);
}

}  // namespace hcpnet::bootstrap
