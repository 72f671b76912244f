// SPDX-License-Identifier: Apache-2.0
// Man pages and shell completion, generated from the grammar itself so that they can't drift from it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <hcpnet/version.hpp>
#include <iostream>
#include <memory>

#include "command.hpp"

namespace hcpnet::app {
namespace {

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands =
      app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
  return commands;
}

/// "hcpnet-leases-list", "hcpnet leases list", with the given separator.
std::string full_name(const CLI::App& command, char separator) {
  return command.get_parent() ? full_name(*command.get_parent(), separator) + separator + command.get_name()
                              : command.get_name();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

void write_man_page(const CLI::App& command, std::ostream& out) {
  std::string title = full_name(command, '-');
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  out << ".TH " << escaped(title) << " 1 \"\" \"hcpnet " << version() << "\" \"hcpnet manual\"\n.SH NAME\n"
      << escaped(full_name(command, '-')) << " \\- " << escaped(command.get_description()) << "\n.SH SYNOPSIS\n.B "
      << escaped(full_name(command, ' ')) << '\n';
  const auto subcommands = visible_commands(command);
  if (!subcommands.empty()) out << ".I COMMAND\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional())
      out << (option->get_required() ? ".I " : ".RI [ ") << escaped(option->get_name(true))
          << (option->get_required() ? "\n" : " ]\n");
  }
  out << "[options]\n.SH OPTIONS\n";
  for (const CLI::Option* option : command.get_options()) {
    out << ".TP\n.B " << escaped(option->get_name(option->get_positional()))
        << (option->get_type_name().empty() ? "" : " ") << escaped(option->get_type_name()) << '\n'
        << escaped(option->get_description()) << ".\n";
  }
  if (!subcommands.empty()) out << ".SH COMMANDS\n";
  for (const CLI::App* subcommand : subcommands)
    out << ".TP\n.BR " << escaped(full_name(*subcommand, '-')) << " (1)\n"
        << escaped(subcommand->get_description()) << ".\n";
  out << ".SH EXIT STATUS\n0: good, also with warnings. 1: problems were found, or the work failed. 2: wrong use.\n";
}

void write_man_pages(const CLI::App& command, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / (full_name(command, '-') + ".1");
  errno = 0;
  std::ofstream out(path);
  write_man_page(command, out);
  if (!out.flush())
    throw std::runtime_error(path.string() + ": can't be written" +
                             (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
  for (const CLI::App* subcommand : visible_commands(command)) write_man_pages(*subcommand, folder);
}

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::App* subcommand : visible_commands(command)) words += ' ' + subcommand->get_name();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
    for (const std::string& name : option->get_snames()) words += " -" + name;
  }
  return words.empty() ? words : words.substr(1);
}

void write_bash_cases(const CLI::App& command, std::ostream& out) {
  out << "    \"" << full_name(command, ' ') << "\") words=\"" << words_of(command) << "\" ;;\n";
  for (const CLI::App* subcommand : visible_commands(command)) write_bash_cases(*subcommand, out);
}

void write_paths(const CLI::App& command, std::ostream& out) {
  for (const CLI::App* subcommand : visible_commands(command)) {
    out << '|' << full_name(*subcommand, ' ');
    write_paths(*subcommand, out);
  }
}

/// zsh reads it through bashcompinit.
void write_bash_completion(const CLI::App& app, std::ostream& out) {
  out << "# bash completion for hcpnet\n_hcpnet() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\" command=hcpnet "
         "words word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"|hcpnet";
  write_paths(app, out);
  out << "|\" in *\"|$command $word|\"*) command=\"$command $word\" ;; esac\n  done\n  case \"$command\" in\n";
  write_bash_cases(app, out);
  out << "  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  [[ $current == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$current\")\n}\n"
         "complete -o filenames -F _hcpnet hcpnet\n";
}

}  // namespace

void add_documentation(CLI::App& app, int&) {
  app.add_subcommand("completion", "print completion for bash; zsh reads it after bashcompinit")->callback([&app] {
    write_bash_completion(app, std::cout);
  });
  auto folder = std::make_shared<std::string>();
  CLI::App* man = app.add_subcommand("man", "write the manual pages");
  man->add_option("--output-dir", *folder, "folder that exists")->required()->type_name("DIR");
  man->callback([&app, folder] { write_man_pages(app, *folder); });
}

}  // namespace hcpnet::app
