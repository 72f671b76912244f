// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/stack/files.hpp>
#include <optional>
#include <string>
#include <vector>

/// One grammar for every command: FILE... is one set, -o is always a format, --state-dir finds the running process.
namespace hcpnet::app {

enum ExitStatus : int {
  kGood = 0,      ///< also with warnings
  kProblems = 1,  ///< problems were found, or the work failed
  kWrongUse = 2,
};

/// FILE... --observed --endpoints
struct FileArguments {
  std::vector<std::string> files, observed, endpoints;
  void add_to(CLI::App& command, bool files_required);
  /// Reads everything; what can't be read goes to `problems`.
  [[nodiscard]] SourceFiles read(Diagnostics& problems) const;
  /// Reads and checks everything. Prints what is wrong and returns nullopt; prints warnings otherwise.
  [[nodiscard]] std::optional<CheckedFiles> check(spec::KindSet kinds = spec::KindSet::network) const;
};

/// --state-dir, for `up` and for the commands that ask a running process.
struct StateArguments {
  std::string state_dir;
  void add_to(CLI::App& command);
  /// Throw std::runtime_error where no folder was given and none can be guessed.
  [[nodiscard]] std::string admin_socket() const { return inside("admin.sock"); }
  [[nodiscard]] std::string handover_socket() const { return inside("handover.sock"); }
  [[nodiscard]] std::string lease_database() const { return inside("leases.db"); }
  /// Makes the folder for us alone, where there is none. Throws std::runtime_error.
  void make_folder() const;

 private:
  [[nodiscard]] std::string inside(const char* name) const;
};

/// -o text|json
struct FormatArguments {
  std::string format = "text";
  void add_to(CLI::App& command);
  [[nodiscard]] bool is_json() const { return format == "json"; }
};

/// Prints one line per diagnostic to standard error.
void print(const Diagnostics& diagnostics);

// Each adds its subcommand; the result of the run goes to `status`.
void add_up(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);
void add_status(CLI::App& app, int& status);
void add_reload(CLI::App& app, int& status);
void add_drain(CLI::App& app, int& status);
void add_leases(CLI::App& app, int& status);
void add_route(CLI::App& app, int& status);
void add_dns(CLI::App& app, int& status);
void add_patch(CLI::App& app, int& status);
void add_render(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_names(CLI::App& app, int& status);
void add_bootstrap(CLI::App& app, int& status);
void add_pki(CLI::App& app, int& status);
void add_lint(CLI::App& app, int& status);
void add_documentation(CLI::App& app, int& status);

}  // namespace hcpnet::app
