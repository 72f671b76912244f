// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/reconcile/cluster_objects.hpp>
#include <hcpnet/result.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// What has to be done so that a cluster is as a set says: pure, so that a controller and a person get the same answer.
/// docs/plan.md explains every action.
namespace hcpnet::reconcile {

enum class ActionKind : std::uint8_t { create, update, patch, remove };
inline constexpr std::array kActionKinds{ActionKind::create, ActionKind::update, ActionKind::patch, ActionKind::remove};
/// "create", "update", "patch", "delete"
[[nodiscard]] std::string_view to_string(ActionKind kind) noexcept;

struct Action {
  ActionKind kind = ActionKind::create;
  /// create, update: the object, for a server-side apply. patch, remove: apiVersion, kind, name and namespace.
  nlohmann::json object;
  nlohmann::json patch;  ///< of ActionKind::patch: a JSON Patch (RFC 6902), which tests what it takes away
  std::string reason;    ///< for people
};

/// What is not done, and why.
struct Held {
  nlohmann::json object;  ///< apiVersion, kind, name and namespace
  std::string reason;     ///< in the form of a condition: "ImmutableField", "NotFound"
  std::string field;      ///< JSON pointer; empty: the whole object
  std::string message;
};

struct Plan {
  std::vector<Action> actions;  ///< in the order in which they can be done
  std::vector<Held> held;
  Diagnostics warnings;
  [[nodiscard]] bool is_empty() const noexcept { return actions.empty() && held.empty(); }
};

/// What brings one observed object to `desired`; nothing when it is there already. An object is there when it has every
/// field of `desired` with its value: what the API server or somebody else has added doesn't count. Lists are compared
/// whole, except owners, which others may add, and the lists of an object without the label
/// app.kubernetes.io/managed-by: hcpnet, of which `desired` is a part, where items belong together by their names. Such
/// an object is never made from its part: while it is not there, it is held ("NotFound").
///
/// A field that the API server never changes makes the object anew: always a roleRef, which binds the same at once;
/// with `may_recreate` a Deployment, a Service or an EndpointSlice. Else, and for everything that holds state or makes
/// networks, it is held.
struct Step {
  std::vector<Action> actions;
  std::vector<Held> held;
};
[[nodiscard]] Step compare(const nlohmann::json& desired, const nlohmann::json* observed, bool may_recreate = false);

/// `observed` with every field of `desired`, for an update instead of a server-side apply: compare() finds nothing to
/// do with it. All else of `observed` stays, but for another binding of a machine's interface, of which KubeVirt takes
/// one. So does its resourceVersion, by which the API server refuses the update where somebody else was faster.
[[nodiscard]] nlohmann::json overlay(nlohmann::json observed, const nlohmann::json& desired);

struct PlanOptions {
  manifest::BuildOptions build;
  bool may_recreate = false;
};

/// The objects of manifest::build(), and for each PrimaryUDN the EndpointSlices that the observed Services, pods and
/// machines need, against what is there.
///
/// `objects` are all that the cluster has of the kinds that matter: what is not among them is made. Errors: those of
/// manifest::build(). Throws std::bad_alloc only.
[[nodiscard]] Result<Plan, Diagnostics> make_plan(const spec::ValidSet& set, const spec::Observed& observed,
                                                  const ClusterObjects& objects, const PlanOptions& options = {});

/// The same inside of a hosted cluster ("namespace/name") on a primary network: names of its applications and of its
/// OAuth server lead to Services of the guest itself, since nothing in the guest reaches the management cluster's
/// router. `management` and `guest` are what the two clusters have. What is not known yet is a warning and is left out:
/// Services have to be there before names lead to them, so the plan is complete when it has become empty.
///
/// Errors, by code: "no-primary-network", and those of dns::render(). Throws std::bad_alloc only.
[[nodiscard]] Result<Plan, Diagnostics> make_guest_plan(const spec::ValidSet& set, const spec::Observed& observed,
                                                        const ClusterObjects& management, const ClusterObjects& guest,
                                                        std::string_view hosted_cluster,
                                                        const PlanOptions& options = {});

/// {"actions": [{"action", "object", "patch", "reason"}], "held": [{"object", "reason", "field", "message"}]}
[[nodiscard]] nlohmann::json to_json(const Plan& plan);

}  // namespace hcpnet::reconcile
