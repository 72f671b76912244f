// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/reconcile/plan.hpp>
#include <iterator>
#include <utility>

#include "reconcile/identity.hpp"
#include "reconcile/json_fields.hpp"
#include "reconcile/udn_names.hpp"
#include "reconcile/udn_plan.hpp"
#include "reconcile/vlan_names.hpp"

namespace hcpnet::reconcile {

using Json = nlohmann::json;

std::string_view to_string(ActionKind kind) noexcept {
  switch (kind) {
    case ActionKind::create:
      return "create";
    case ActionKind::update:
      return "update";
    case ActionKind::patch:
      return "patch";
    case ActionKind::remove:
      break;
  }
  return "delete";
}

Json identity(const Json& object) {
  Json metadata = {{"name", string_at(object, "/metadata/name")}};
  if (std::string ns = string_at(object, "/metadata/namespace"); !ns.empty()) metadata["namespace"] = std::move(ns);
  return {{"apiVersion", string_at(object, "/apiVersion")},
          {"kind", string_at(object, "/kind")},
          {"metadata", std::move(metadata)}};
}

Result<Plan, Diagnostics> make_plan(const spec::ValidSet& set, const spec::Observed& observed,
                                    const ClusterObjects& objects, const PlanOptions& options) {
  auto built = manifest::build(set, observed, options.build);
  if (!built) return built.error();
  Plan plan;
  plan.warnings = std::move(built->warnings);
  for (const Json& desired : built->objects) {
    Step step = compare(desired, objects.find(desired), options.may_recreate);
    std::ranges::move(step.actions, std::back_inserter(plan.actions));
    std::ranges::move(step.held, std::back_inserter(plan.held));
  }
  plan_vlan_names(set, built->objects, objects, options, plan);
  for (const spec::ValidPrimaryUdn& udn : set.primary_udns) {
    plan_machines(udn, objects, plan);
    plan_slices(udn, objects, options.may_recreate, plan);
    if (!udn.hosted_cluster.empty()) plan_management_names(udn, set, observed, objects, options, plan);
  }
  return plan;
}

Result<Plan, Diagnostics> make_guest_plan(const spec::ValidSet& set, const spec::Observed& observed,
                                          const ClusterObjects& management, const ClusterObjects& guest,
                                          std::string_view hosted_cluster, const PlanOptions& options) {
  const auto udn = std::ranges::find(set.primary_udns, hosted_cluster, &spec::ValidPrimaryUdn::hosted_cluster);
  if (udn == set.primary_udns.end() || hosted_cluster.empty()) {
    Diagnostics errors;
    Diagnostic d;
    d.code = "no-primary-network";
    d.message = "no PrimaryUDN of the set is for a hosted cluster " + std::string(hosted_cluster);
    errors.add(std::move(d));
    return errors;
  }
  Plan plan;
  plan_guest_names(*udn, set, observed, management, guest, options, plan);
  if (plan.warnings.has_errors()) return plan.warnings;
  return plan;
}

Json to_json(const Plan& plan) {
  Json actions = Json::array(), held = Json::array();
  for (const Action& action : plan.actions) {
    Json json = {{"action", to_string(action.kind)}, {"object", action.object}, {"reason", action.reason}};
    if (action.kind == ActionKind::patch) json["patch"] = action.patch;
    actions.push_back(std::move(json));
  }
  for (const Held& item : plan.held)
    held.push_back(
        {{"object", item.object}, {"reason", item.reason}, {"field", item.field}, {"message", item.message}});
  return {{"actions", std::move(actions)}, {"held", std::move(held)}};
}

}  // namespace hcpnet::reconcile
