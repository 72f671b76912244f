// SPDX-License-Identifier: Apache-2.0
// hcpnet plan
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/yaml_writer.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "build_arguments.hpp"
#include "command.hpp"

namespace hcpnet::app {
namespace {

using Json = nlohmann::json;

struct Arguments {
  FileArguments files;
  BuildArguments build;
  std::string format = "text";
  bool may_recreate = false;
  std::string guest;
  std::vector<std::string> guest_observed;
};

std::string name_of(const Json& object) {
  const Json& metadata = object["metadata"];
  std::string text = object["kind"].get<std::string>() + ' ';
  if (metadata.contains("namespace")) text += metadata["namespace"].get<std::string>() + '/';
  return text + metadata["name"].get<std::string>();
}

void print_text(const reconcile::Plan& plan, std::ostream& out) {
  for (const reconcile::Action& action : plan.actions)
    out << to_string(action.kind) << ' ' << name_of(action.object) << ": " << action.reason << '\n';
  for (const reconcile::Held& held : plan.held)
    out << "held " << name_of(held.object) << ": " << held.reason << (held.field.empty() ? "" : " ") << held.field
        << ": " << held.message << '\n';
}

/// Objects of the guest. Prints what is wrong and returns nullopt.
std::optional<reconcile::ClusterObjects> read_guest(const Arguments& a) {
  Diagnostics problems;
  const SourceFiles sources = read_source_files({}, a.guest_observed, {}, problems);
  if (!problems.has_errors()) {
    auto objects = reconcile::load_cluster_objects(sources.observed);
    if (objects) return std::move(*objects);
    problems = objects.error();
  }
  print(problems);
  return std::nullopt;
}

int run(const Arguments& a) {
  const auto options = a.build.options();
  if (!options) return kWrongUse;
  Diagnostics problems;
  const SourceFiles sources = a.files.read(problems);
  if (problems.has_errors()) {
    print(problems);
    return kProblems;
  }
  const auto checked = check_files(sources, {}, spec::KindSet::names);
  if (!checked) {
    print(checked.error());
    return kProblems;
  }
  print(checked->warnings);
  const auto objects = reconcile::load_cluster_objects(sources.observed);
  if (!objects) {
    print(objects.error());
    return kProblems;
  }
  std::optional<reconcile::ClusterObjects> guest;
  if (!a.guest.empty() && !(guest = read_guest(a))) return kProblems;
  const reconcile::PlanOptions plan_options{*options, a.may_recreate};
  const auto plan =
      guest ? reconcile::make_guest_plan(checked->set, checked->observed, *objects, *guest, a.guest, plan_options)
            : reconcile::make_plan(checked->set, checked->observed, *objects, plan_options);
  print(plan ? plan->warnings : plan.error());
  if (!plan) return kProblems;
  if (a.format == "text")
    print_text(*plan, std::cout);
  else
    std::cout << (a.format == "json" ? to_json(*plan).dump(2) + '\n' : text::render_yaml(to_json(*plan)));
  return kGood;
}

}  // namespace

void add_plan(CLI::App& app, int& status) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("plan", "say what brings a cluster to what a set asks for; nothing is sent");
  a->files.add_to(*command, true);
  a->build.add_to(*command);
  CLI::Option* guest =
      command
          ->add_option("--guest", a->guest,
                       "plan inside of this hosted cluster on a primary network; --observed is the management cluster")
          ->type_name("NAMESPACE/NAME");
  command->add_option("--guest-observed", a->guest_observed, "objects of the hosted cluster; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->take_all()
      ->needs(guest);
  command->add_flag("--recreate", a->may_recreate,
                    "make objects without state anew where a field can't be changed, instead of holding them");
  command->add_option("-o,--output", a->format, "form of the plan")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("text|json|yaml");
  command->callback([a, &status] { status = run(*a); });
}

}  // namespace hcpnet::app
