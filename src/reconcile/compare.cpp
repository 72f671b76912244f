// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <hcpnet/manifest/udn.hpp>
#include <hcpnet/reconcile/plan.hpp>
#include <hcpnet/text/value.hpp>
#include <utility>

#include "reconcile/identity.hpp"
#include "reconcile/json_fields.hpp"

namespace hcpnet::reconcile {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxToldFields = 3;  ///< in a reason
/// A server-side apply merges it by `uid`, so owners that somebody else has added stay.
constexpr std::string_view kOwners = "/metadata/ownerReferences";

enum class Recreate : std::uint8_t { always, on_request, never };
/// Fields that the API server, or the CRD's own rules, never change.
struct ImmutableField {
  std::string_view kind, pointer;
  Recreate recreate;
};
constexpr ImmutableField kImmutable[] = {
    {"RoleBinding", "/roleRef", Recreate::always},
    {"ClusterRoleBinding", "/roleRef", Recreate::always},
    {"Deployment", "/spec/selector", Recreate::on_request},
    {"Service", "/spec/clusterIP", Recreate::on_request},
    {"EndpointSlice", "/addressType", Recreate::on_request},
    {"StatefulSet", "/spec/selector", Recreate::never},  // it has state, like a claim
    {"PersistentVolumeClaim", "/spec/accessModes", Recreate::never},
    {"PersistentVolumeClaim", "/spec/volumeMode", Recreate::never},
    {"IPAMClaim", "/spec", Recreate::never},
    // A network in use can't go, and takes the addresses of what is on it along. Subnets of Layer3 can be added.
    {"UserDefinedNetwork", "/spec/topology", Recreate::never},
    {"UserDefinedNetwork", "/spec/layer2", Recreate::never},
    {"UserDefinedNetwork", "/spec/layer3/role", Recreate::never},
    {"UserDefinedNetwork", "/spec/layer3/mtu", Recreate::never},
    {"UserDefinedNetwork", "/spec/layer3/joinSubnets", Recreate::never},
    {"UserDefinedNetwork", "/spec/layer3/subnets", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/topology", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/layer2", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/transport", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/noOverlay", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/layer3/role", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/layer3/mtu", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/layer3/joinSubnets", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/network/layer3/subnets", Recreate::never},
    {"ClusterUserDefinedNetwork", "/spec/uplinks", Recreate::never},
    // OVN-Kubernetes looks at it when the namespace is made; OpenShift refuses the change.
    {"Namespace", "/metadata/labels/k8s.ovn.org~1primary-user-defined-network", Recreate::never},
};
/// Of a list that only grows.
constexpr std::string_view kGrowing = "/layer3/subnets";

/// By what the items of two lists belong together; null where the lists are one value.
const char* common_key(const Json& desired, const Json& observed, std::string_view pointer, bool is_whole) {
  if (is_whole && pointer != kOwners) return nullptr;
  const char* key = pointer == kOwners ? "uid" : "name";
  const auto have_key = [&](const Json& list) {
    return std::ranges::all_of(list, [&](const Json& item) { return item.is_object() && item.contains(key); });
  };
  return have_key(desired) && have_key(observed) ? key : nullptr;
}

/// The API server leaves out what is null or empty, or shows an empty list as null.
bool is_left_out(const Json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

class Comparison {
 public:
  explicit Comparison(bool is_whole) : is_whole_(is_whole) {}

  void compare(const Json& desired, const Json& observed, const std::string& pointer) {
    if (desired.is_object() && observed.is_object()) {
      for (const auto& [name, value] : desired.items()) {
        const auto member = observed.find(name);
        if (member != observed.end())
          compare(value, *member, text::child(pointer, name));
        else if (!is_left_out(value))
          fields.push_back(text::child(pointer, name));
      }
    } else if (desired.is_array() && observed.is_array()) {
      compare_lists(desired, observed, pointer);
    } else if (desired != observed && !(is_left_out(desired) && is_left_out(observed))) {
      fields.push_back(pointer);
    }
  }

  std::vector<std::string> fields;

 private:
  void compare_lists(const Json& desired, const Json& observed, const std::string& pointer) {
    if (const char* key = common_key(desired, observed, pointer, is_whole_)) {
      for (const Json& item : desired) {
        const auto same = std::ranges::find_if(observed, [&](const Json& o) { return o[key] == item[key]; });
        if (same == observed.end())
          fields.push_back(pointer);
        else
          compare(item, *same, text::child(pointer, static_cast<std::size_t>(same - observed.begin())));
      }
    } else if (desired.size() != observed.size()) {
      fields.push_back(pointer);
    } else {
      for (std::size_t i = 0; i < desired.size(); ++i) compare(desired[i], observed[i], text::child(pointer, i));
    }
  }

  bool is_whole_;
};

/// An interface of a machine that gets a binding loses the one that it had.
void drop_other_bindings(const Json& desired, Json& observed) {
  const auto is_wanted = [&](const char* binding) { return desired.contains(binding); };
  if (std::ranges::none_of(manifest::kInterfaceBindings, is_wanted)) return;
  for (const char* binding : manifest::kInterfaceBindings)
    if (!is_wanted(binding)) observed.erase(binding);
}

/// Changes `observed` where a Comparison finds it different, and nowhere else.
void put_over(const Json& desired, Json& observed, const std::string& pointer, bool is_whole) {
  if (desired.is_object() && observed.is_object()) {
    for (const auto& [name, value] : desired.items()) {
      const auto member = observed.find(name);
      if (member != observed.end())
        put_over(value, *member, text::child(pointer, name), is_whole);
      else if (!is_left_out(value))
        observed[name] = value;
    }
    return;
  }
  const bool are_lists = desired.is_array() && observed.is_array();
  if (const char* key = are_lists ? common_key(desired, observed, pointer, is_whole) : nullptr) {
    for (const Json& item : desired) {
      const auto same = std::ranges::find_if(observed, [&](const Json& o) { return o[key] == item[key]; });
      if (same == observed.end()) {
        observed.push_back(item);
        continue;
      }
      if (pointer.ends_with("/devices/interfaces")) drop_other_bindings(item, *same);
      put_over(item, *same, text::child(pointer, static_cast<std::size_t>(same - observed.begin())), is_whole);
    }
    return;
  }
  Comparison comparison(is_whole);
  comparison.compare(desired, observed, pointer);
  if (!comparison.fields.empty()) observed = desired;
}

/// Other objects are asked for in parts.
bool is_ours(const Json& desired) {
  return word_of(desired, "labels", "app.kubernetes.io/managed-by") == "hcpnet";
}

bool is_at_or_below(std::string_view field, std::string_view pointer) {
  return field.starts_with(pointer) && (field.size() == pointer.size() || field[pointer.size()] == '/');
}

/// Whether `desired` has every item of the observed list at `pointer`.
bool only_grows(const Json& desired, const Json& observed, std::string_view pointer) {
  const Json &wanted = json_at(desired, pointer), &there = json_at(observed, pointer);
  const auto is_wanted = [&](const Json& item) {
    return std::ranges::any_of(wanted, [&](const Json& other) { return other == item; });
  };
  return there.is_array() && std::ranges::all_of(there, is_wanted);
}

/// What has the field of `field`; null where it may be changed.
const ImmutableField* immutable(const Json& desired, const Json& observed, const std::string& field) {
  const std::string kind = string_at(desired, "/kind");
  for (const ImmutableField& known : kImmutable)
    if (known.kind == kind && (is_at_or_below(field, known.pointer) || is_at_or_below(known.pointer, field)) &&
        !(known.pointer.ends_with(kGrowing) && only_grows(desired, observed, known.pointer)))
      return &known;
  return nullptr;
}

/// Of the label that makes a namespace's network primary only the presence counts, so that its value stays. A claim may
/// have been grown, and the API server lets none shrink.
Json as_it_counts(Json desired, const Json& observed) {
  const std::string kind = string_at(desired, "/kind");
  if (kind == "PersistentVolumeClaim") {
    static constexpr const char* kSize = "/spec/resources/requests/storage";
    const Json& size = json_at(observed, kSize);
    if (size.is_string() && json_at(desired, kSize).is_string())
      desired["spec"]["resources"]["requests"]["storage"] = size;
  }
  if (kind != "Namespace") return desired;
  const std::string label(manifest::kPrimaryNetworkLabel);
  const Json& there = json_at(json_at(observed, "/metadata"), "/labels");
  if (!there.is_object() || !there.contains(label)) return desired;
  if (json_at(desired, "/metadata/labels").contains(label)) desired["metadata"]["labels"][label] = there[label];
  return desired;
}

std::string told(const std::vector<std::string>& fields) {
  std::string text = "differs at ";
  for (std::size_t i = 0; i < std::min(fields.size(), kMaxToldFields); ++i) text += (i > 0 ? ", " : "") + fields[i];
  if (fields.size() > kMaxToldFields) text += " and " + std::to_string(fields.size() - kMaxToldFields) + " more";
  return text;
}

}  // namespace

Step compare(const Json& desired, const Json* observed, bool may_recreate) {
  Step step;
  const bool is_whole = is_ours(desired);
  if (observed == nullptr) {
    if (is_whole)
      step.actions.push_back({ActionKind::create, desired, {}, "it is not there"});
    else
      step.held.push_back({identity(desired), "NotFound", "",
                           "it is not there, and a part of it does not make it: plan again once somebody has made it"});
    return step;
  }
  Comparison comparison(is_whole);
  const Json wanted = as_it_counts(desired, *observed);
  Json content = wanted;
  content.erase("apiVersion");
  comparison.compare(content, *observed, "");
  if (comparison.fields.empty()) return step;
  const auto forces = [&](const std::string& field) {
    const ImmutableField* known = immutable(desired, *observed, field);
    return known != nullptr &&
           (known->recreate == Recreate::always || (known->recreate == Recreate::on_request && may_recreate));
  };
  if (const auto forcing = std::ranges::find_if(comparison.fields, forces); forcing != comparison.fields.end()) {
    const std::string reason = *forcing + " can't be changed: it is made anew";
    step.actions.push_back({ActionKind::remove, identity(desired), {}, reason});
    step.actions.push_back({ActionKind::create, desired, {}, reason});
    return step;
  }
  for (const std::string& field : comparison.fields) {
    const ImmutableField* known = immutable(desired, *observed, field);
    if (known == nullptr) continue;
    step.held.push_back({identity(desired), "ImmutableField", field,
                         known->recreate == Recreate::never
                             ? "it can't be changed, and what depends on the object would go with it"
                             : "it can't be changed: allow that the object is made anew"});
  }
  if (step.held.empty()) step.actions.push_back({ActionKind::update, wanted, {}, told(comparison.fields)});
  return step;
}

Json overlay(Json observed, const Json& desired) {
  put_over(as_it_counts(desired, observed), observed, "", is_ours(desired));
  return observed;
}

}  // namespace hcpnet::reconcile
