// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/text/json.hpp>
#include <hcpnet/text/patch.hpp>
#include <hcpnet/text/to_json.hpp>
#include <hcpnet/text/yaml.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  std::string vm_template, merge_patch, mode = "rfc6902", release, format = "yaml";
  std::vector<std::string> json_patches;
  [[nodiscard]] bool is_hypershift() const { return mode == "hypershift"; }
};

enum class Syntax { by_name, json };

/// The one document of a file. Prints what is wrong and returns nullopt.
std::optional<Json> read_document(const std::string& path, Syntax syntax) {
  auto sources = read_sources({path});
  if (sources.has_error()) {
    print(sources.error());
    return std::nullopt;
  }
  if (sources->size() != 1) {
    std::cerr << "hcpnet: " << path << ": one file is needed here, not a folder of several\n";
    return std::nullopt;
  }
  const spec::SourceText& source = sources->front();
  const bool is_json = syntax == Syntax::json || source.name.ends_with(".json");
  text::Parsed parsed =
      is_json ? text::parse_json(source.name, source.text) : text::parse_yaml(source.name, source.text);
  Diagnostics problems = std::move(parsed.problems);
  if (!problems.has_errors() && parsed.documents.size() != 1) {
    std::cerr << "hcpnet: " << path << ": " << parsed.documents.size() << " documents; one is needed here\n";
    return std::nullopt;
  }
  Json document;
  if (!problems.has_errors()) document = text::to_json(parsed.documents.front(), source.name, problems);
  print(problems);
  if (problems.has_errors()) return std::nullopt;
  return {document};
}

void print(const text::PatchError& error, const std::string& file) {
  std::cerr << "hcpnet: " << file << ": " << error.to_string() << '\n';
}

std::optional<Json> apply_as_hypershift(const Json& vm_template, const std::vector<Json>& patches, const Arguments& a) {
  const auto release = a.release.empty() ? std::nullopt : text::parse_release(a.release);
  auto result = text::apply_hypershift_patches(vm_template, patches, release);
  if (result.has_error()) {
    print(result.error(), a.json_patches[result.error().patch]);
    return std::nullopt;
  }
  for (const std::string& pointer : result->kept)
    std::cerr << "hcpnet: note: " << pointer
              << " stays: HyperShift reads the patched template over the old one, which keeps what is "
              << "not there any more\n";
  return {std::move(result->object)};
}

std::optional<Json> apply_json_patches(Json document, const Arguments& a) {
  std::vector<Json> patches;
  for (const std::string& file : a.json_patches) {
    // An annotation is JSON; HyperShift reads no YAML there.
    auto patch = read_document(file, a.is_hypershift() ? Syntax::json : Syntax::by_name);
    if (!patch) return std::nullopt;
    patches.push_back(std::move(*patch));
  }
  if (a.is_hypershift()) return apply_as_hypershift(document, patches, a);
  for (std::size_t i = 0; i < patches.size(); ++i) {
    auto patched = text::apply_json_patch(std::move(document), patches[i]);
    if (patched.has_error()) {
      print(patched.error(), a.json_patches[i]);
      return std::nullopt;
    }
    document = std::move(*patched);
  }
  return {std::move(document)};
}

std::optional<Json> apply_merge_patch(Json document, const Arguments& a) {
  const auto patch = read_document(a.merge_patch, Syntax::by_name);
  if (!patch) return std::nullopt;
  auto patched = text::apply_merge_patch(std::move(document), *patch);
  if (patched.has_error()) {
    print(patched.error(), a.merge_patch);
    return std::nullopt;
  }
  return {std::move(*patched)};
}

/// Says what is wrong with the use of the options together; empty when nothing is.
std::string misuse(const Arguments& a) {
  if (a.json_patches.empty() == a.merge_patch.empty()) return "give --jsonpatch or --mergepatch";
  if (a.json_patches.empty() && a.is_hypershift()) return "--mode is about --jsonpatch";
  if (!a.release.empty() && !a.is_hypershift()) return "--release is about --mode hypershift";
  if (!a.release.empty() && !text::parse_release(a.release))
    return "--release: " + a.release + " is no release such as 4.19";
  return {};
}

int run(const Arguments& a) {
  if (const std::string problem = misuse(a); !problem.empty()) {
    std::cerr << "hcpnet: " << problem << '\n';
    return kWrongUse;
  }
  auto document = read_document(a.vm_template, Syntax::by_name);
  if (!document) return kProblems;
  const auto result =
      a.merge_patch.empty() ? apply_json_patches(std::move(*document), a) : apply_merge_patch(std::move(*document), a);
  if (!result) return kProblems;
  std::cout << (a.format == "json" ? result->dump(2) + '\n' : text::render_yaml(*result));
  return kGood;
}

}  // namespace

void add_patch(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("patch", "show the object that a JSON Patch or a merge patch makes of a template");
  command
      ->add_option("--template", a->vm_template,
                   "the object, YAML or JSON; for --mode hypershift {metadata, spec} of the VM")
      ->required()
      ->type_name("FILE");
  command->add_option("--jsonpatch", a->json_patches, "JSON Patch (RFC 6902); repeatable, applied in order")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--mode", a->mode, "as the RFC says, or as HyperShift applies its kubevirt-vm-jsonpatch annotation")
      ->check(CLI::IsMember({"rfc6902", "hypershift"}))
      ->type_name("rfc6902|hypershift");
  command->add_option("--release", a->release, "OpenShift release of HyperShift; default the newest")->type_name("X.Y");
  command->add_option("--mergepatch", a->merge_patch, "merge patch (RFC 7396)")->type_name("FILE");
  command->add_option("-o", a->format, "output format")->check(CLI::IsMember({"yaml", "json"}))->type_name("yaml|json");
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
