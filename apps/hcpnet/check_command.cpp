// SPDX-License-Identifier: Apache-2.0
#include <hcpnet/stack/config.hpp>
#include <hcpnet/version.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "stack/to_json.hpp"

namespace hcpnet::app {
namespace {

/// Everything that can be known without running: the specs, the observed objects, and what follows for the servers.
Diagnostics check_all(const FileArguments& arguments) {
  Diagnostics problems;
  const SourceFiles sources = arguments.read(problems);
  auto checked = check_files(sources);  // also when one file is missing: the others have problems of their own
  if (checked.has_error()) {
    problems.append(checked.error());
    return problems;
  }
  problems.append(checked->warnings);
  if (problems.has_errors()) return problems;
  auto config = make_stack_config(checked->set, checked->observed, unknown_place());
  problems.append(config.has_error() ? config.error() : config->warnings);
  return problems;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  struct Arguments {
    FileArguments files;
    FormatArguments format;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("check", "say everything that is wrong with a set of files, and where");
  a->files.add_to(*command, true);
  a->format.add_to(*command);
  command->callback([a, &status] {
    const Diagnostics found = check_all(a->files);
    if (a->format.is_json()) {
      const nlohmann::json body = {{"errors", found.error_count()},
                                   {"warnings", found.warning_count()},
                                   {"dropped", found.dropped_count()},
                                   {"diagnostics", to_json(found)}};
      std::cout << body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    } else {
      std::cout << found.to_string() << counted(found.error_count(), "error") << ", "
                << counted(found.warning_count(), "warning") << '\n';
    }
    status = found.has_errors() ? kProblems : kGood;
  });
}

void add_version(CLI::App& app, int&) {
  app.add_subcommand("version", "print the version")->callback([] { std::cout << "hcpnet " << version() << '\n'; });
}

}  // namespace hcpnet::app
