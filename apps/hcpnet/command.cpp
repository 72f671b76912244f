// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace hcpnet::app {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// systemd's folder, else the XDG Base Directory Specification's, by which a relative path is ignored.
std::string default_state_dir() {
  if (const std::string systemd = environment("STATE_DIRECTORY"); !systemd.empty())
    return systemd.substr(0, systemd.find(':'));
  if (const std::string xdg = environment("XDG_STATE_HOME"); xdg.starts_with('/')) return xdg + "/hcpnet";
  const std::string home = environment("HOME");
  return home.starts_with('/') ? home + "/.local/state/hcpnet" : std::string();
}

}  // namespace

void print(const Diagnostics& diagnostics) {
  std::cerr << diagnostics.to_string();
}

void FileArguments::add_to(CLI::App& command, bool files_required) {
  CLI::Option* specs =
      command
          .add_option("FILE", files,
                      "specs, YAML or JSON; all files together are one set; - is standard input, a folder its files")
          ->required(files_required)
          ->type_name("");
  // Where FILE may be left out a running process is asked, which has its own.
  command.add_option("--observed", observed, "objects as `kubectl get -o yaml` prints them; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all()
      ->needs(specs);
  command.add_option("--endpoints", endpoints, "map of namespace/service:port to [address:port, ...]; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all()
      ->needs(specs);
}

SourceFiles FileArguments::read(Diagnostics& problems) const {
  return read_source_files(files, observed, endpoints, problems);
}

std::optional<CheckedFiles> FileArguments::check(spec::KindSet kinds) const {
  Diagnostics problems;
  const SourceFiles sources = read(problems);
  if (problems.has_errors()) {
    print(problems);
    return std::nullopt;
  }
  auto checked = check_files(sources, {}, kinds);
  if (checked.has_error()) {
    print(checked.error());
    return std::nullopt;
  }
  print(checked->warnings);
  return std::move(*checked);
}

void StateArguments::add_to(CLI::App& command) {
  state_dir = default_state_dir();
  command
      .add_option("--state-dir", state_dir,
                  "folder of the leases and the admin socket; default $STATE_DIRECTORY, else the XDG state folder")
      ->type_name("DIR")
      ->check(
          CLI::Validator([](const std::string& folder) { return std::string(folder.empty() ? "is empty" : ""); }, ""));
}

std::string StateArguments::inside(const char* name) const {
  if (state_dir.empty())
    throw std::runtime_error(
        "no state directory: $STATE_DIRECTORY, $XDG_STATE_HOME and $HOME are not set; give --state-dir");
  return state_dir + '/' + name;
}

void StateArguments::make_folder() const {
  const mode_t before = ::umask(077);
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  ::umask(before);
  if (error) throw std::runtime_error("state directory " + state_dir + ": " + error.message());
}

void FormatArguments::add_to(CLI::App& command) {
  command.add_option("-o", format, "output format")->check(CLI::IsMember({"text", "json"}))->type_name("text|json");
}

}  // namespace hcpnet::app
