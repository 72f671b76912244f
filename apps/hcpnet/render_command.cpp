// SPDX-License-Identifier: Apache-2.0
// hcpnet render
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/manifest/guest.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <iostream>
#include <memory>
#include <random>

#include "build_arguments.hpp"
#include "command.hpp"
#include "target_render.hpp"

namespace hcpnet::app {
namespace {

namespace fs = std::filesystem;

struct Arguments : TargetArguments {
  BuildArguments build;
  std::string format = "yaml", guest;
  manifest::GuestOptions guest_options;
};

/// A folder that is filled aside and then takes the place of the other, so that nobody sees half of it.
class FolderSwap {
 public:
  explicit FolderSwap(fs::path target) : target_(std::move(target)) {
    while (target_.has_relative_path() && target_.filename().empty()) target_ = target_.parent_path();  // "out/"
    const std::string mark = '.' + std::to_string(std::random_device{}());
    incomplete_ = target_.string() + mark + ".new";
    previous_ = target_.string() + mark + ".old";
    fs::create_directories(incomplete_);
  }
  FolderSwap(const FolderSwap&) = delete;
  FolderSwap& operator=(const FolderSwap&) = delete;
  ~FolderSwap() {
    std::error_code ignored;
    fs::remove_all(incomplete_, ignored);
  }

  void write(const RenderedFile& file) {
    std::ofstream stream(incomplete_ / file.name, std::ios::binary);
    stream << file.text;
    stream.close();
    if (!stream) throw std::runtime_error((target_ / file.name).string() + ": can't be written");
  }

  void commit() {
    const bool is_replacing = fs::exists(target_);
    if (is_replacing) fs::rename(target_, previous_);
    std::error_code error;
    fs::rename(incomplete_, target_, error);
    if (error) {
      if (is_replacing) fs::rename(previous_, target_);
      throw std::runtime_error(target_.string() + ": " + error.message());
    }
    if (is_replacing) fs::remove_all(previous_);
  }

 private:
  fs::path target_, incomplete_, previous_;
};

/// Whether a file has a name that to_files() gives.
bool is_rendered(const std::string& name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return name == "kustomization.yaml" || name == "manifests.json" ||
         (digits >= 2 && name.substr(digits).starts_with('-') && name.ends_with(".yaml"));
}

/// Only a folder that holds nothing but earlier output is replaced.
bool may_replace(const fs::path& folder) {
  if (!fs::exists(folder)) return true;
  return std::ranges::all_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    return entry.is_regular_file() && is_rendered(entry.path().filename().string());
  });
}

std::vector<RenderedFile> to_files(const Arguments& a, const std::vector<nlohmann::json>& objects) {
  if (a.format == "json") return {{"manifests.json", manifest::make_list(objects).dump(2) + '\n'}};
  std::vector<RenderedFile> files = manifest::render_kustomize(objects);
  if (a.format == "yaml") files.pop_back();  // kubectl would try to apply the list of files
  return files;
}

int run(const Arguments& a) {
  const auto options = a.build.options();
  if (!options) return kWrongUse;
  if (a.format == "kustomize" && a.output_dir.empty()) {
    std::cerr << "hcpnet: -o kustomize is several files: it needs --output-dir\n";
    return kWrongUse;
  }
  const auto checked = a.files.check(spec::KindSet::names);
  if (!checked) return kProblems;
  const auto built = a.guest.empty() ? manifest::build(checked->set, checked->observed, *options)
                                     : manifest::build_guest(checked->set, a.guest, a.guest_options);
  print(built ? built->warnings : built.error());
  if (!built) return kProblems;
  if (a.output_dir.empty()) {
    std::cout << (a.format == "json" ? manifest::make_list(built->objects).dump(2) + '\n'
                                     : text::render_yaml_documents(built->objects));
    return kGood;
  }
  if (!may_be_folder(a.output_dir)) return kProblems;
  if (!may_replace(a.output_dir)) {
    std::cerr << "hcpnet: --output-dir: " << a.output_dir << " holds something other than rendered files\n";
    return kProblems;
  }
  FolderSwap folder(a.output_dir);
  for (const RenderedFile& file : to_files(a, built->objects)) folder.write(file);
  folder.commit();
  return kGood;
}

/// What only Kubernetes objects have.
std::vector<CLI::Option*> add_object_options(CLI::App& command, Arguments& a) {
  std::vector<CLI::Option*> options = a.build.add_to(command);
  CLI::Option* guest =
      command
          .add_option("--guest", a.guest,
                      "instead of objects for the management cluster those that belong inside of this hosted cluster")
          ->type_name("NAMESPACE/NAME");
  for (CLI::Option* option : options) option->excludes(guest);
  options.push_back(guest);
  options.push_back(command
                        .add_option("--metallb-namespace", a.guest_options.metallb_namespace,
                                    "where the hosted cluster's MetalLB operator looks for its objects")
                        ->type_name("NAME")
                        ->needs(guest));
  options.push_back(command.add_option("-o,--output", a.format, "form of the objects")
                        ->check(CLI::IsMember({"yaml", "json", "kustomize"}))
                        ->type_name("yaml|json|kustomize"));
  return options;
}

}  // namespace

void add_render(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("render", "write the Kubernetes objects that run a set of files, or another program's files");
  CLI::Option* target =
      command
          ->add_option("--target", a->target,
                       "instead of objects the configuration of another program: envoy, haproxy, or one of dns render")
          ->check(CLI::IsMember(all_targets()))
          ->type_name("TARGET");
  for (CLI::Option* option : add_target_options(*command, *a)) option->needs(target);
  for (CLI::Option* option : add_object_options(*command, *a)) option->excludes(target);
  command
      ->add_option("--output-dir", a->output_dir,
                   "write files here, all or none; objects of an earlier run are replaced")
      ->type_name("DIR");
  a->files.add_to(*command, true);
  command->callback([a, &status] { status = a->target.empty() ? run(*a) : render_target(*a); });
}

}  // namespace hcpnet::app
